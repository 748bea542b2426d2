/* SPDX-License-Identifier: MIT */
#include "relay.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"

enum { TEXT_SIZE = 300, COMMAND_SHOWN = 200 };

/* ---- Differences -------------------------------------------------------------- */

bool rr_relay_differ(struct rr_relay *relay, const struct rr_action *action, const char *format,
		     ...)
{
	char text[2 * TEXT_SIZE + 100];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return rr_error_set(&relay->error, RR_ERROR_INTERNAL,
			    "played for real, step %zu of the path: client %c %s", relay->step,
			    'A' + action->client, text);
}

static const char *command_text(const struct rr_relay *relay, uint32_t command,
				char text[TEXT_SIZE])
{
	const struct rdl_command *words = &relay->program->terms->command[command].words;
	char *plain = rr_command_text(words->words, words->n_words, COMMAND_SHOWN);

	snprintf(text, TEXT_SIZE, "%s", plain);
	free(plain);
	return text;
}

static const char *reply_text(const struct rr_relay *relay, uint32_t reply, char text[TEXT_SIZE])
{
	FILE *file = rr_open_fixed(text, TEXT_SIZE);

	if (reply == RR_NO_ID)
		fputs("nothing", file);
	else
		rr_write_reply(file, &relay->program->terms->reply[reply].reply);
	fclose(file);
	return text;
}

static bool differ_in_reply(struct rr_relay *relay, const struct rr_action *action, const char *of,
			    uint32_t expected, uint32_t seen)
{
	char texts[2][TEXT_SIZE];

	return rr_relay_differ(relay, action, "%s %s, and the path has %s", of,
			       reply_text(relay, seen, texts[0]),
			       reply_text(relay, expected, texts[1]));
}

/* ---- Connections: which lane of which client each is, and how it ends --------------- */

/* The error is that of the servers. Returns false. */
static bool relay_fail_servers(struct rr_relay *relay)
{
	relay->error = relay->servers.error;
	return false;
}

static const struct rr_run_view *relay_view_of(const struct rr_relay *relay, size_t client)
{
	return rr_client_run_view(relay->runs[client]);
}

static size_t lane_server(const struct rr_relay *relay, uint8_t lane)
{
	return (size_t)rr_lane_server(relay->program, lane);
}

/* Asks a server, and notes which commands that blocked it has served by that. */
static bool relay_ask_server(struct rr_relay *relay, size_t server,
			     const struct rr_question *question, struct rr_heard *heard)
{
	if (!rr_servers_ask(&relay->servers, server, question, heard))
		return relay_fail_servers(relay);

	/* What the server has served of commands that blocked there. */
	struct rr_relay_connection *all = relay->connections[server];

	for (uint16_t i = 0; i < RR_ASKER_SLOTS; i++) {
		if (all[i].is_used && all[i].blocks != RR_NO_ID && !all[i].is_served)
			all[i].is_served = rr_servers_served(&relay->servers, server, i,
							     &all[i].served);
	}
	return true;
}

/* Asks a connection's server. */
static bool relay_ask_of(struct rr_relay *relay, const struct rr_relay_connection *connection,
			 enum rr_question_kind kind, int64_t argument, struct rr_heard *heard)
{
	const size_t server = lane_server(relay, connection->lane);
	const struct rr_question question = {
		.kind = (uint8_t)kind,
		.slot = (uint16_t)(connection - relay->connections[server]),
		.argument = argument,
	};

	return relay_ask_server(relay, server, &question, heard);
}

/* The server has noticed when this returns. */
static bool relay_close_connection(struct rr_relay *relay, struct rr_relay_connection *connection)
{
	struct rr_heard heard;

	if (connection->is_closed)
		return true;
	connection->is_closed = true;
	connection->n_late = 0;
	connection->blocks = RR_NO_ID;
	connection->is_served = false;
	return relay_ask_of(relay, connection, RR_ASK_CLOSE, 0, &heard);
}

/* The client listens no more; the server has not noticed. What was sent may still arrive,
 * unless the connection was closed on that side. */
static void relay_leave_connection(const struct rr_relay *relay,
				   struct rr_relay_connection *connection)
{
	const struct rr_run_view *view = relay_view_of(relay, connection->client);
	size_t answered = connection->n_answers;

	connection->is_left = true;
	for (uint32_t i = 0; i < view->n_sent && !connection->is_closed; i++) {
		if (view->sent[i].lane != connection->lane)
			continue;
		if (answered > 0)
			answered--;
		else
			connection->late[connection->n_late++] = view->sent[i].command;
	}
}

/* One that a client has on a lane, or has left; NULL = none. */
static struct rr_relay_connection *relay_find_connection(struct rr_relay *relay, uint8_t client,
							 uint8_t lane, bool is_left)
{
	struct rr_relay_connection *all = relay->connections[lane_server(relay, lane)];

	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		if (all[i].is_used && all[i].client == client && all[i].lane == lane &&
		    all[i].is_left == is_left && !(is_left && all[i].is_closed))
			return &all[i];
	}
	return NULL;
}

/* What the client has open on a lane is connected to the server, if it was not. NULL: it
 * has nothing open there, or an error. */
static struct rr_relay_connection *relay_connect_lane(struct rr_relay *relay,
						      const struct rr_action *action, uint8_t lane)
{
	const struct rr_client_run *run = relay->runs[action->client];
	const uint32_t ordinal = run ? rr_client_run_connection(run, lane) : 0;
	struct rr_relay_connection *known = relay_find_connection(relay, action->client, lane,
								  false);
	struct rr_relay_connection *all = relay->connections[lane_server(relay, lane)];

	if (known && ordinal && known->ordinal == ordinal)
		return known;
	/* The client has closed it by itself. */
	if (known) {
		known->is_left = true;
		if (!relay_close_connection(relay, known))
			return NULL;
	}
	for (int i = 0; ordinal && i < RR_ASKER_SLOTS - 1; i++) {
		if (all[i].is_used && !(all[i].is_closed && all[i].is_left))
			continue;
		all[i] = (struct rr_relay_connection){ .is_used = true,
						       .client = action->client,
						       .lane = lane,
						       .ordinal = ordinal,
						       .message = RR_NO_ID,
						       .blocks = RR_NO_ID };
		return &all[i];
	}
	rr_relay_differ(relay, action, "has no connection there");
	return NULL;
}

/* ---- Servers are asked ------------------------------------------------------------ */

/* The request that is next on a connection; NULL = none has come. */
static const struct rr_sent *next_request(const struct rr_relay *relay,
					  const struct rr_relay_connection *connection)
{
	const struct rr_run_view *view = relay_view_of(relay, connection->client);
	size_t answered = connection->n_answers;

	for (uint32_t i = 0; i < view->n_sent; i++) {
		if (view->sent[i].lane == connection->lane && answered-- == 0)
			return &view->sent[i];
	}
	return NULL;
}

/* The connection on which the path goes on with a request, which must be there. */
static struct rr_relay_connection *expect_request(struct rr_relay *relay,
						  const struct rr_action *action)
{
	struct rr_relay_connection *connection = relay_connect_lane(relay, action, action->lane);
	const struct rr_sent *sent = connection ? next_request(relay, connection) : NULL;
	char texts[2][TEXT_SIZE];

	if (connection && (!sent || sent->command != action->command)) {
		rr_relay_differ(
			relay, action,
			"has sent '%s' on its connection to server %d, and the path has '%s'",
			sent ? command_text(relay, sent->command, texts[0]) : "", action->server,
			command_text(relay, action->command, texts[1]));
		return NULL;
	}
	return connection;
}

static bool has_lost_answer(const struct rr_relay_connection *connection)
{
	const size_t n = connection->n_answers;

	return n > 0 && connection->answers[n - 1].kind != RR_ANSWER_REPLY;
}

/* The server answers to a request, or the request blocks there, as in the path. */
static bool ask_server(struct rr_relay *relay, struct rr_relay_connection *connection,
		       const struct rr_action *action)
{
	struct rr_heard heard;

	if (connection->is_closed || relay->is_down[action->server])
		return rr_relay_differ(relay, action, "has no connection any more that is open");
	if (connection->blocks != RR_NO_ID)
		return rr_relay_differ(relay, action,
				       "has a command on that connection that blocks");
	if (!relay_ask_of(relay, connection, RR_ASK_COMMAND, action->command, &heard))
		return false;
	if (heard.blocks != action->blocks)
		return rr_relay_differ(relay, action, "%s",
				       heard.blocks ? "has to wait for its reply" :
						      "has not to wait for its reply");
	if (heard.blocks) {
		connection->blocks = action->command;
		return true;
	}
	return heard.reply == action->reply ||
	       differ_in_reply(relay, action, "is answered", action->reply, heard.reply);
}

static bool execute_request(struct rr_relay *relay, const struct rr_action *action)
{
	struct rr_relay_connection *connection = expect_request(relay, action);

	if (!connection)
		return false;
	if (next_request(relay, connection)->is_inside != action->is_inside)
		return rr_relay_differ(relay, action, "has sent it from %s its critical section",
				       action->is_inside ? "outside" : "inside");
	if (has_lost_answer(connection) != (action->answer == RR_ANSWER_UNHEARD))
		return rr_relay_differ(relay, action, "%s receive a reply after one that was lost",
				       action->answer == RR_ANSWER_UNHEARD ? "can" : "cannot");
	if (!ask_server(relay, connection, action))
		return false;
	if (!action->blocks || action->answer != RR_ANSWER_REPLY)
		connection->answers[connection->n_answers++] =
			(struct rr_relay_answer){ action->answer, action->reply };
	return true;
}

/* The request was in a connection that its client has left. */
static bool execute_late(struct rr_relay *relay, const struct rr_action *action)
{
	const int ordinal = action->question.slot % RR_RUN_ORDINALS;
	const uint8_t lane = (uint8_t)(ordinal * (int)relay->program->n_servers + action->server);
	struct rr_relay_connection *all = relay->connections[action->server];
	char text[TEXT_SIZE];

	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		struct rr_relay_connection *connection = &all[i];

		if (!connection->is_used || !connection->is_left || connection->lane != lane ||
		    connection->client != action->client || connection->n_late == 0 ||
		    connection->late[0] != action->command)
			continue;
		connection->n_late--;
		memmove(connection->late, connection->late + 1,
			connection->n_late * sizeof(connection->late[0]));
		return ask_server(relay, connection, action);
	}
	return rr_relay_differ(relay, action, "has left no connection in which '%s' is in flight",
			       command_text(relay, action->command, text));
}

/* The connection on which a command blocks, and has not been served but as `is_served` says. */
static struct rr_relay_connection *expect_blocked(struct rr_relay *relay,
						  const struct rr_action *action, bool is_served)
{
	struct rr_relay_connection *connection = relay_find_connection(relay, action->client,
								       action->lane, false);

	if (!connection)
		connection = relay_find_connection(relay, action->client, action->lane, true);
	if (connection && connection->blocks != RR_NO_ID && connection->is_served == is_served)
		return connection;
	rr_relay_differ(relay, action, "%s",
			is_served ? "has no command that was served by that" :
				    "has no command that blocks");
	return NULL;
}

bool rr_relay_serve(struct rr_relay *relay, const struct rr_action *action)
{
	struct rr_relay_connection *connection = expect_blocked(relay, action, true);

	if (!connection)
		return false;
	if (connection->served != action->reply)
		return differ_in_reply(relay, action, "is served", action->reply,
				       connection->served);
	connection->blocks = RR_NO_ID;
	connection->is_served = false;
	if (action->answer == RR_ANSWER_REPLY)
		connection->answers[connection->n_answers++] =
			(struct rr_relay_answer){ RR_ANSWER_REPLY, action->reply };
	return true;
}

bool rr_relay_has_told_served(struct rr_relay *relay, const struct rr_action *action)
{
	for (size_t i = 0; i < relay->program->n_servers; i++) {
		for (int j = 0; j < RR_ASKER_SLOTS; j++) {
			const struct rr_relay_connection *connection = &relay->connections[i][j];
			char text[TEXT_SIZE];

			if (connection->is_used && connection->is_served)
				return rr_relay_differ(
					relay, action,
					"goes on, and client %c has been served %s, not in the path",
					'A' + connection->client,
					reply_text(relay, connection->served, text));
		}
	}
	return true;
}

static bool read_message(struct rr_relay *relay, const struct rr_action *action)
{
	struct rr_relay_connection *connection = relay_connect_lane(relay, action, action->lane);
	struct rr_heard heard;

	if (!connection || !relay_ask_of(relay, connection, RR_ASK_READ, 0, &heard))
		return false;
	connection->message = heard.reply;
	return heard.reply == action->reply ||
	       differ_in_reply(relay, action, "is sent", action->reply, heard.reply);
}

/* All connections to the server are gone, and their clients do not know. */
static bool restart_server(struct rr_relay *relay, const struct rr_action *action)
{
	static const struct rr_question wipe = { .kind = RR_ASK_WIPE };
	struct rr_relay_connection *all = relay->connections[action->server];
	const int n_lanes = rr_program_lanes(relay->program);
	struct rr_heard heard;

	for (uint8_t i = 0; i < relay->program->n_clients; i++) {
		const struct rr_action of = { .client = i };

		for (uint8_t lane = action->server; relay->runs[i] && lane < n_lanes;
		     lane = (uint8_t)(lane + relay->program->n_servers)) {
			if (rr_client_run_connection(relay->runs[i], lane) &&
			    !relay_connect_lane(relay, &of, lane))
				return false;
		}
	}
	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		all[i].is_closed = true;
		all[i].n_late = 0;
		all[i].blocks = RR_NO_ID;
	}
	return relay_ask_server(relay, action->server, &wipe, &heard);
}

static bool move_clock(struct rr_relay *relay, size_t server, int64_t ns)
{
	const struct rr_question tick = { .kind = RR_ASK_TICK, .argument = ns };
	struct rr_heard heard;

	return relay_ask_server(relay, server, &tick, &heard);
}

bool rr_relay_pass_time(struct rr_relay *relay, int64_t ns)
{
	for (size_t i = 0; i < relay->program->n_servers; i++) {
		if (!move_clock(relay, i, ns))
			return false;
	}
	return true;
}

bool rr_relay_ask(struct rr_relay *relay, const struct rr_action *action)
{
	switch (action->question.kind) {
	case RR_ASK_COMMAND:
		return action->is_late ? execute_late(relay, action) :
					 execute_request(relay, action);
	case RR_ASK_READ:
		return read_message(relay, action);
	case RR_ASK_UNBLOCK: {
		struct rr_relay_connection *connection = expect_blocked(relay, action, false);
		struct rr_heard heard;

		return connection && relay_ask_of(relay, connection, RR_ASK_UNBLOCK, 0, &heard);
	}
	case RR_ASK_CLOSE: {
		/* Of a client that has left it, or will find out. */
		const int ordinal = action->question.slot % RR_RUN_ORDINALS;
		const uint8_t lane =
			(uint8_t)(ordinal * (int)relay->program->n_servers + action->server);
		struct rr_relay_connection *connection =
			relay_find_connection(relay, action->client, lane, false);

		if (!connection)
			connection = relay_find_connection(relay, action->client, lane, true);
		return connection ? relay_close_connection(relay, connection) :
				    rr_relay_differ(relay, action,
						    "has no connection that could be closed");
	}
	case RR_ASK_TICK:
		return move_clock(relay, action->server, action->question.argument);
	case RR_ASK_HOLD: {
		struct rr_heard heard;

		return relay_ask_server(relay, action->server, &action->question, &heard);
	}
	default:
		return restart_server(relay, action);
	}
}

/* A request is never executed; or it blocks, and the client will not hear of it: the server has
 * not noticed yet, and may serve it. */
bool rr_relay_drop(struct rr_relay *relay, const struct rr_action *action)
{
	struct rr_relay_connection *connection = expect_request(relay, action);
	const bool is_refused = action->answer == RR_ANSWER_REFUSED;

	if (!connection)
		return false;
	if (action->answer == RR_ANSWER_LOST) {
		connection->answers[connection->n_answers++] =
			(struct rr_relay_answer){ RR_ANSWER_LOST, 0 };
		return connection->blocks == action->command ||
		       rr_relay_differ(relay, action, "has no command that blocks");
	}
	if (is_refused ? !relay->is_down[action->server] :
			 !action->is_fault && !connection->is_closed)
		return rr_relay_differ(relay, action, "has a connection that is open");
	connection->answers[connection->n_answers++] = (struct rr_relay_answer){ action->answer,
										 0 };
	/* A connection keeps the order: nothing arrives behind what did not. */
	return relay_close_connection(relay, connection);
}

/* ---- Clients are told ---------------------------------------------------------------- */

/* What comes next on the connection is what the client is told. */
static bool hand_reply(struct rr_relay *relay, const struct rr_action *action, uint8_t lane)
{
	struct rr_relay_connection *connection = relay_find_connection(relay, action->client, lane,
								       false);
	const struct rr_relay_answer *first = connection && connection->n_answers ?
						      connection->answers :
						      NULL;
	const bool is_reply = action->input.kind == RR_INPUT_REPLY;

	if (!first)
		return rr_relay_differ(relay, action, "is told something, and nothing has come");
	if (is_reply != (first->kind == RR_ANSWER_REPLY) ||
	    (action->input.kind == RR_INPUT_REFUSED) != (first->kind == RR_ANSWER_REFUSED))
		return rr_relay_differ(relay, action, "%s its reply, which was %slost",
				       is_reply ? "hears" : "loses", is_reply ? "" : "not ");
	if (!is_reply) {
		relay_leave_connection(relay, connection);
		return true;
	}
	if (first->reply != (uint32_t)action->input.value)
		return differ_in_reply(relay, action, "hears", (uint32_t)action->input.value,
				       first->reply);
	memmove(connection->answers, connection->answers + 1,
		--connection->n_answers * sizeof(*first));
	return true;
}

static bool hand_message(struct rr_relay *relay, const struct rr_action *action,
			 const struct rr_stop *stop)
{
	struct rr_relay_connection *connection = relay_find_connection(relay, action->client,
								       stop->lane, false);

	if (action->input.kind == RR_INPUT_TIMEOUT)
		return true;
	if (!connection)
		return rr_relay_differ(relay, action, "listens, and has no connection");
	if (action->input.kind == RR_INPUT_LOST) {
		connection->is_left = true;
		return connection->is_closed ||
		       rr_relay_differ(relay, action, "loses a connection that is open");
	}
	if (connection->message != (uint32_t)action->input.value)
		return differ_in_reply(relay, action, "hears", (uint32_t)action->input.value,
				       connection->message);
	connection->message = RR_NO_ID;
	return true;
}

bool rr_relay_tell(struct rr_relay *relay, const struct rr_action *action,
		   const struct rr_stop *stop)
{
	return stop->kind == RR_STOP_RECEIVE ? hand_reply(relay, action, stop->lane) :
					       hand_message(relay, action, stop);
}

bool rr_relay_leave_all(struct rr_relay *relay, const struct rr_action *action)
{
	for (uint8_t lane = 0; lane < rr_program_lanes(relay->program); lane++) {
		struct rr_relay_connection *connection;

		if (!rr_client_run_connection(relay->runs[action->client], lane))
			continue;
		connection = relay_connect_lane(relay, action, lane);
		if (!connection)
			return false;
		relay_leave_connection(relay, connection);
	}
	return true;
}

/* ---- Looking ------------------------------------------------------------------------- */

size_t rr_relay_count_inside(const struct rr_run_view *view)
{
	size_t n = 0;

	for (uint32_t i = 0; i < view->n_sent; i++)
		n += view->sent[i].is_inside;
	return n;
}

/* In its critical section, or with a request on its way that it has sent from there. */
bool rr_relay_is_inside(struct rr_relay *relay, uint8_t client)
{
	const struct rr_run_view *view = relay_view_of(relay, client);
	size_t sent = rr_relay_count_inside(view);

	for (uint8_t lane = 0; lane < rr_program_lanes(relay->program) && sent > 0; lane++) {
		const struct rr_relay_connection *connection = relay_find_connection(relay, client,
										     lane, false);
		size_t answered = connection ? connection->n_answers : 0;

		for (uint32_t i = 0; i < view->n_sent && answered > 0; i++) {
			if (view->sent[i].lane != lane)
				continue;
			answered--;
			sent -= view->sent[i].is_inside;
		}
	}
	return view->stops[0].kind != RR_STOP_ENDED && (view->is_inside || sent > 0);
}

/* ---- Beginning and ending ------------------------------------------------------------- */

bool rr_relay_begin(struct rr_relay *relay, struct rr_cluster *cluster,
		    const struct rr_scripts *scripts)
{
	struct rr_servers *servers = &relay->servers;

	memset(relay->connections, 0, relay->program->n_servers * sizeof(relay->connections[0]));
	memset(relay->is_down, 0, sizeof(relay->is_down));
	relay->error = (struct rr_error){ .kind = RR_ERROR_NONE };
	return (servers->n ? rr_servers_reset(servers) :
			     rr_servers_open(servers, cluster, relay->program->n_servers,
					     relay->program->terms, scripts)) ||
	       relay_fail_servers(relay);
}
