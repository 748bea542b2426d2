/* SPDX-License-Identifier: MIT */
#include "free_replay.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"

enum { MUTEXES = 160, TEXT_SIZE = 300, COMMAND_SHOWN = 200 };

/* Its number among those to its server is that of the asker's slot. */
struct connection {
	bool is_used;
	bool is_left;   /* by its client, who hears nothing of it any more */
	bool is_closed; /* no request arrives any more, and the server knows */
	uint8_t client, lane;
	uint32_t ordinal; /* its number among those of its lane */
	uint32_t message; /* that was read and is to be heard next; RR_NO_ID = none */
	uint32_t blocks;  /* the command, on the server; RR_NO_ID = none does */
	bool is_served;   /* it has its reply, of which the path has said nothing yet */
	uint32_t served;  /* its reply then */
	size_t n_answers; /* to requests of which the client has not heard yet */
	struct answer {
		uint8_t kind; /* enum rr_answer_kind */
		uint32_t reply;
	} answers[RR_RUN_SENT];
	size_t n_late; /* commands that its client had sent when it left it */
	uint32_t late[RR_RUN_SENT];
};

struct client {
	struct rr_run_tally tally; /* of one that has crashed */
	bool was_busy;             /* then, in the middle of an attempt */
	int64_t read_ns;           /* when it last read its clock */
	int64_t since_ns[RR_RUN_THREADS];
};

struct rr_free_replay {
	struct rr_free_replay_config config;
	struct rr_program program;                  /* the configuration's, on sockets */
	struct rr_client_run *runs[RR_RUN_CLIENTS]; /* NULL: it has crashed */
	struct client clients[RR_RUN_CLIENTS];
	struct rr_servers servers;
	bool is_down[RR_CLUSTER_SERVERS];
	struct connection connections[RR_CLUSTER_SERVERS][RR_ASKER_SLOTS];
	int owners[MUTEXES]; /* of mutexes: threads' numbers + 1; 0 = free */
	int64_t now_ns;
	bool saw_two_inside;
	size_t step; /* of the path, for errors */
	struct rr_error error;
};

/* A function that returns false has set replay->error. */

static const struct rr_run_view *view_of(const struct rr_free_replay *replay, size_t client)
{
	return rr_client_run_view(replay->runs[client]);
}

/* ---- Differences -------------------------------------------------------------- */

/* Where the client differs from the path, and how. Returns false. */
__attribute__((format(printf, 3, 4))) static bool
differ(struct rr_free_replay *replay, const struct rr_action *action, const char *format, ...)
{
	char text[2 * TEXT_SIZE + 100];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return rr_error_set(&replay->error, RR_ERROR_INTERNAL,
			    "played for real, step %zu of the path: client %c %s", replay->step,
			    'A' + action->client, text);
}

static const char *command_text(const struct rr_free_replay *replay, uint32_t command,
				char text[TEXT_SIZE])
{
	const struct rdl_command *words = &replay->program.terms->command[command].words;
	char *plain = rr_command_text(words->words, words->n_words, COMMAND_SHOWN);

	snprintf(text, TEXT_SIZE, "%s", plain);
	free(plain);
	return text;
}

static const char *reply_text(const struct rr_free_replay *replay, uint32_t reply,
			      char text[TEXT_SIZE])
{
	FILE *file = rr_open_fixed(text, TEXT_SIZE);

	if (reply == RR_NO_ID)
		fputs("nothing", file);
	else
		rr_write_reply(file, &replay->program.terms->reply[reply].reply);
	fclose(file);
	return text;
}

static bool differ_in_reply(struct rr_free_replay *replay, const struct rr_action *action,
			    const char *of, uint32_t expected, uint32_t seen)
{
	char texts[2][TEXT_SIZE];

	return differ(replay, action, "%s %s, and the path has %s", of,
		      reply_text(replay, seen, texts[0]), reply_text(replay, expected, texts[1]));
}

/* ---- Connections: which lane of which client each is, and how it ends --------------- */

/* The error is that of the servers. Returns false. */
static bool fail_servers(struct rr_free_replay *replay)
{
	replay->error = replay->servers.error;
	return false;
}

static size_t lane_server(const struct rr_free_replay *replay, uint8_t lane)
{
	return (size_t)rr_lane_server(&replay->program, lane);
}

/* Asks a server, and notes which commands that blocked it has served by that. */
static bool ask(struct rr_free_replay *replay, size_t server, const struct rr_question *question,
		struct rr_heard *heard)
{
	if (!rr_servers_ask(&replay->servers, server, question, heard))
		return fail_servers(replay);

	/* What the server has served of commands that blocked there. */
	struct connection *all = replay->connections[server];

	for (uint16_t i = 0; i < RR_ASKER_SLOTS; i++) {
		if (all[i].is_used && all[i].blocks != RR_NO_ID && !all[i].is_served)
			all[i].is_served = rr_servers_served(&replay->servers, server, i,
							     &all[i].served);
	}
	return true;
}

/* Asks a connection's server. */
static bool ask_of(struct rr_free_replay *replay, const struct connection *connection,
		   enum rr_question_kind kind, int64_t argument, struct rr_heard *heard)
{
	const size_t server = lane_server(replay, connection->lane);
	const struct rr_question question = {
		.kind = (uint8_t)kind,
		.slot = (uint16_t)(connection - replay->connections[server]),
		.argument = argument,
	};

	return ask(replay, server, &question, heard);
}

/* The server has noticed when this returns. */
static bool close_connection(struct rr_free_replay *replay, struct connection *connection)
{
	struct rr_heard heard;

	if (connection->is_closed)
		return true;
	connection->is_closed = true;
	connection->n_late = 0;
	connection->blocks = RR_NO_ID;
	connection->is_served = false;
	return ask_of(replay, connection, RR_ASK_CLOSE, 0, &heard);
}

/* The client listens no more; the server has not noticed. What was sent may still arrive,
 * unless the connection was closed on that side. */
static void leave_connection(const struct rr_free_replay *replay, struct connection *connection)
{
	const struct rr_run_view *view = view_of(replay, connection->client);
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
static struct connection *find_connection(struct rr_free_replay *replay, uint8_t client,
					  uint8_t lane, bool is_left)
{
	struct connection *all = replay->connections[lane_server(replay, lane)];

	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		if (all[i].is_used && all[i].client == client && all[i].lane == lane &&
		    all[i].is_left == is_left && !(is_left && all[i].is_closed))
			return &all[i];
	}
	return NULL;
}

/* What the client has open on a lane is connected to the server, if it was not. NULL: it
 * has nothing open there, or an error. */
static struct connection *connect_lane(struct rr_free_replay *replay,
				       const struct rr_action *action, uint8_t lane)
{
	const struct rr_client_run *run = replay->runs[action->client];
	const uint32_t ordinal = run ? rr_client_run_connection(run, lane) : 0;
	struct connection *known = find_connection(replay, action->client, lane, false);
	struct connection *all = replay->connections[lane_server(replay, lane)];

	if (known && ordinal && known->ordinal == ordinal)
		return known;
	/* The client has closed it by itself. */
	if (known) {
		known->is_left = true;
		if (!close_connection(replay, known))
			return NULL;
	}
	for (int i = 0; ordinal && i < RR_ASKER_SLOTS - 1; i++) {
		if (all[i].is_used && !(all[i].is_closed && all[i].is_left))
			continue;
		all[i] = (struct connection){ .is_used = true,
					      .client = action->client,
					      .lane = lane,
					      .ordinal = ordinal,
					      .message = RR_NO_ID,
					      .blocks = RR_NO_ID };
		return &all[i];
	}
	differ(replay, action, "has no connection there");
	return NULL;
}

/* ---- Servers are asked ------------------------------------------------------------ */

/* The request that is next on a connection; NULL = none has come. */
static const struct rr_sent *next_request(const struct rr_free_replay *replay,
					  const struct connection *connection)
{
	const struct rr_run_view *view = view_of(replay, connection->client);
	size_t answered = connection->n_answers;

	for (uint32_t i = 0; i < view->n_sent; i++) {
		if (view->sent[i].lane == connection->lane && answered-- == 0)
			return &view->sent[i];
	}
	return NULL;
}

/* The connection on which the path goes on with a request, which must be there. */
static struct connection *expect_request(struct rr_free_replay *replay,
					 const struct rr_action *action)
{
	struct connection *connection = connect_lane(replay, action, action->lane);
	const struct rr_sent *sent = connection ? next_request(replay, connection) : NULL;
	char texts[2][TEXT_SIZE];

	if (connection && (!sent || sent->command != action->command)) {
		differ(replay, action,
		       "has sent '%s' on its connection to server %d, and the path has '%s'",
		       sent ? command_text(replay, sent->command, texts[0]) : "", action->server,
		       command_text(replay, action->command, texts[1]));
		return NULL;
	}
	return connection;
}

static bool has_lost_answer(const struct connection *connection)
{
	const size_t n = connection->n_answers;

	return n > 0 && connection->answers[n - 1].kind != RR_ANSWER_REPLY;
}

/* The server answers to a request, or the request blocks there, as in the path. */
static bool ask_server(struct rr_free_replay *replay, struct connection *connection,
		       const struct rr_action *action)
{
	struct rr_heard heard;

	if (connection->is_closed || replay->is_down[action->server])
		return differ(replay, action, "has no connection any more that is open");
	if (connection->blocks != RR_NO_ID)
		return differ(replay, action, "has a command on that connection that blocks");
	if (!ask_of(replay, connection, RR_ASK_COMMAND, action->command, &heard))
		return false;
	if (heard.blocks != action->blocks)
		return differ(replay, action, "%s",
			      heard.blocks ? "has to wait for its reply" :
					     "has not to wait for its reply");
	if (heard.blocks) {
		connection->blocks = action->command;
		return true;
	}
	return heard.reply == action->reply ||
	       differ_in_reply(replay, action, "is answered", action->reply, heard.reply);
}

static bool execute_request(struct rr_free_replay *replay, const struct rr_action *action)
{
	struct connection *connection;

	if (replay->runs[action->client])
		rr_client_run_wake(replay->runs[action->client]);
	connection = expect_request(replay, action);
	if (!connection)
		return false;
	if (next_request(replay, connection)->is_inside != action->is_inside)
		return differ(replay, action, "has sent it from %s its critical section",
			      action->is_inside ? "outside" : "inside");
	if (has_lost_answer(connection) != (action->answer == RR_ANSWER_UNHEARD))
		return differ(replay, action, "%s receive a reply after one that was lost",
			      action->answer == RR_ANSWER_UNHEARD ? "can" : "cannot");
	if (!ask_server(replay, connection, action))
		return false;
	if (!action->blocks || action->answer != RR_ANSWER_REPLY)
		connection->answers[connection->n_answers++] = (struct answer){ action->answer,
										action->reply };
	return true;
}

/* The request was in a connection that its client has left. */
static bool execute_late(struct rr_free_replay *replay, const struct rr_action *action)
{
	const int ordinal = action->question.slot % RR_RUN_ORDINALS;
	const uint8_t lane = (uint8_t)(ordinal * (int)replay->program.n_servers + action->server);
	struct connection *all = replay->connections[action->server];
	char text[TEXT_SIZE];

	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		struct connection *connection = &all[i];

		if (!connection->is_used || !connection->is_left || connection->lane != lane ||
		    connection->client != action->client || connection->n_late == 0 ||
		    connection->late[0] != action->command)
			continue;
		connection->n_late--;
		memmove(connection->late, connection->late + 1,
			connection->n_late * sizeof(connection->late[0]));
		return ask_server(replay, connection, action);
	}
	return differ(replay, action, "has left no connection in which '%s' is in flight",
		      command_text(replay, action->command, text));
}

/* The connection on which a command blocks, and has not been served but as `is_served` says. */
static struct connection *expect_blocked(struct rr_free_replay *replay,
					 const struct rr_action *action, bool is_served)
{
	struct connection *connection = find_connection(replay, action->client, action->lane,
							false);

	if (!connection)
		connection = find_connection(replay, action->client, action->lane, true);
	if (connection && connection->blocks != RR_NO_ID && connection->is_served == is_served)
		return connection;
	differ(replay, action, "%s",
	       is_served ? "has no command that was served by that" : "has no command that blocks");
	return NULL;
}

static bool serve(struct rr_free_replay *replay, const struct rr_action *action)
{
	struct connection *connection = expect_blocked(replay, action, true);

	if (!connection)
		return false;
	if (connection->served != action->reply)
		return differ_in_reply(replay, action, "is served", action->reply,
				       connection->served);
	connection->blocks = RR_NO_ID;
	connection->is_served = false;
	if (action->answer == RR_ANSWER_REPLY)
		connection->answers[connection->n_answers++] = (struct answer){ RR_ANSWER_REPLY,
										action->reply };
	return true;
}

static bool has_told_served(struct rr_free_replay *replay, const struct rr_action *action)
{
	for (size_t i = 0; i < replay->program.n_servers; i++) {
		for (int j = 0; j < RR_ASKER_SLOTS; j++) {
			const struct connection *connection = &replay->connections[i][j];
			char text[TEXT_SIZE];

			if (connection->is_used && connection->is_served)
				return differ(
					replay, action,
					"goes on, and client %c has been served %s, not in the path",
					'A' + connection->client,
					reply_text(replay, connection->served, text));
		}
	}
	return true;
}

static bool read_message(struct rr_free_replay *replay, const struct rr_action *action)
{
	struct connection *connection = connect_lane(replay, action, action->lane);
	struct rr_heard heard;

	if (!connection || !ask_of(replay, connection, RR_ASK_READ, 0, &heard))
		return false;
	connection->message = heard.reply;
	return heard.reply == action->reply ||
	       differ_in_reply(replay, action, "is sent", action->reply, heard.reply);
}

/* All connections to the server are gone, and their clients do not know. */
static bool restart_server(struct rr_free_replay *replay, const struct rr_action *action)
{
	static const struct rr_question wipe = { .kind = RR_ASK_WIPE };
	struct connection *all = replay->connections[action->server];
	const int n_lanes = rr_program_lanes(&replay->program);
	struct rr_heard heard;

	for (uint8_t i = 0; i < replay->program.n_clients; i++) {
		const struct rr_action of = { .client = i };

		for (uint8_t lane = action->server; replay->runs[i] && lane < n_lanes;
		     lane = (uint8_t)(lane + replay->program.n_servers)) {
			if (rr_client_run_connection(replay->runs[i], lane) &&
			    !connect_lane(replay, &of, lane))
				return false;
		}
	}
	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		all[i].is_closed = true;
		all[i].n_late = 0;
		all[i].blocks = RR_NO_ID;
	}
	return ask(replay, action->server, &wipe, &heard);
}

static bool act_on_server(struct rr_free_replay *replay, const struct rr_action *action)
{
	switch (action->question.kind) {
	case RR_ASK_COMMAND:
		return action->is_late ? execute_late(replay, action) :
					 execute_request(replay, action);
	case RR_ASK_READ:
		return read_message(replay, action);
	case RR_ASK_UNBLOCK: {
		struct connection *connection = expect_blocked(replay, action, false);
		struct rr_heard heard;

		return connection && ask_of(replay, connection, RR_ASK_UNBLOCK, 0, &heard);
	}
	case RR_ASK_CLOSE: {
		/* Of a client that has left it, or will find out. */
		const int ordinal = action->question.slot % RR_RUN_ORDINALS;
		const uint8_t lane =
			(uint8_t)(ordinal * (int)replay->program.n_servers + action->server);
		struct connection *connection = find_connection(replay, action->client, lane,
								false);

		if (!connection)
			connection = find_connection(replay, action->client, lane, true);
		return connection ?
			       close_connection(replay, connection) :
			       differ(replay, action, "has no connection that could be closed");
	}
	case RR_ASK_TICK:
	case RR_ASK_HOLD: {
		struct rr_heard heard;

		return ask(replay, action->server, &action->question, &heard);
	}
	default:
		return restart_server(replay, action);
	}
}

/* A request is never executed; or it blocks, and the client will not hear of it: the server has
 * not noticed yet, and may serve it. */
static bool drop_request(struct rr_free_replay *replay, const struct rr_action *action)
{
	struct connection *connection = expect_request(replay, action);
	const bool is_refused = action->answer == RR_ANSWER_REFUSED;

	if (!connection)
		return false;
	if (action->answer == RR_ANSWER_LOST) {
		connection->answers[connection->n_answers++] = (struct answer){ RR_ANSWER_LOST, 0 };
		return connection->blocks == action->command ||
		       differ(replay, action, "has no command that blocks");
	}
	if (is_refused ? !replay->is_down[action->server] :
			 !action->is_fault && !connection->is_closed)
		return differ(replay, action, "has a connection that is open");
	connection->answers[connection->n_answers++] = (struct answer){ action->answer, 0 };
	/* A connection keeps the order: nothing arrives behind what did not. */
	return close_connection(replay, connection);
}

/* ---- Clients are told ---------------------------------------------------------------- */

/* What comes next on the connection is what the client is told. */
static bool hand_reply(struct rr_free_replay *replay, const struct rr_action *action, uint8_t lane)
{
	struct connection *connection = find_connection(replay, action->client, lane, false);
	const struct answer *first = connection && connection->n_answers ? connection->answers :
									   NULL;
	const bool is_reply = action->input.kind == RR_INPUT_REPLY;

	if (!first)
		return differ(replay, action, "is told something, and nothing has come");
	if (is_reply != (first->kind == RR_ANSWER_REPLY) ||
	    (action->input.kind == RR_INPUT_REFUSED) != (first->kind == RR_ANSWER_REFUSED))
		return differ(replay, action, "%s its reply, which was %slost",
			      is_reply ? "hears" : "loses", is_reply ? "" : "not ");
	if (!is_reply) {
		leave_connection(replay, connection);
		return true;
	}
	if (first->reply != (uint32_t)action->input.value)
		return differ_in_reply(replay, action, "hears", (uint32_t)action->input.value,
				       first->reply);
	memmove(connection->answers, connection->answers + 1,
		--connection->n_answers * sizeof(*first));
	return true;
}

static bool hand_message(struct rr_free_replay *replay, const struct rr_action *action,
			 const struct rr_stop *stop)
{
	struct connection *connection = find_connection(replay, action->client, stop->lane, false);

	if (action->input.kind == RR_INPUT_TIMEOUT)
		return true;
	if (!connection)
		return differ(replay, action, "listens, and has no connection");
	if (action->input.kind == RR_INPUT_LOST) {
		connection->is_left = true;
		return connection->is_closed ||
		       differ(replay, action, "loses a connection that is open");
	}
	if (connection->message != (uint32_t)action->input.value)
		return differ_in_reply(replay, action, "hears", (uint32_t)action->input.value,
				       connection->message);
	connection->message = RR_NO_ID;
	return true;
}

static bool leave_all(struct rr_free_replay *replay, const struct rr_action *action)
{
	for (uint8_t lane = 0; lane < rr_program_lanes(&replay->program); lane++) {
		struct connection *connection;

		if (!rr_client_run_connection(replay->runs[action->client], lane))
			continue;
		connection = connect_lane(replay, action, lane);
		if (!connection)
			return false;
		leave_connection(replay, connection);
	}
	return true;
}

/* ---- Looking ------------------------------------------------------------------------- */

static size_t count_inside(const struct rr_run_view *view)
{
	size_t n = 0;

	for (uint32_t i = 0; i < view->n_sent; i++)
		n += view->sent[i].is_inside;
	return n;
}

/* In its critical section, or with a request on its way that it has sent from there. */
static bool is_inside(struct rr_free_replay *replay, uint8_t client)
{
	const struct rr_run_view *view = view_of(replay, client);
	size_t sent = count_inside(view);

	for (uint8_t lane = 0; lane < rr_program_lanes(&replay->program) && sent > 0; lane++) {
		const struct connection *connection = find_connection(replay, client, lane, false);
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

/* ---- Clients go on ------------------------------------------------------------------ */

/* Is what a thread waits for there? */
static bool give_input(struct rr_free_replay *replay, const struct rr_action *action,
		       const struct rr_stop *stop)
{
	const uint8_t kind = action->input.kind;
	const int64_t waited_ns = replay->now_ns -
				  replay->clients[action->client].since_ns[action->input.thread];

	if ((stop->kind == RR_STOP_SLEEP || kind == RR_INPUT_TIMEOUT) &&
	    (stop->duration_ns == RR_NEVER || waited_ns < stop->duration_ns))
		return differ(replay, action, "wakes up before its time is over");
	if (kind == RR_INPUT_CLOCK && stop->kind != RR_STOP_CLOCK)
		return true;
	switch (stop->kind) {
	case RR_STOP_RECEIVE:
		return hand_reply(replay, action, stop->lane);
	case RR_STOP_LISTEN:
		return hand_message(replay, action, stop);
	case RR_STOP_WAIT:
	case RR_STOP_JOIN:
		return stop->is_ready || kind == RR_INPUT_TIMEOUT ||
		       differ(replay, action, "goes on, and what it waits for has not come");
	case RR_STOP_CLOCK:
		return action->input.value == replay->config.day_ns + replay->now_ns +
						      action->client * replay->config.skew_ns ||
		       differ(replay, action, "reads another time of day");
	case RR_STOP_LOCK:
	case RR_STOP_UNLOCK: {
		const int self = 1 + action->client * RR_RUN_THREADS + action->input.thread;
		int *owner = &replay->owners[stop->mutex % MUTEXES];

		if (stop->kind == RR_STOP_LOCK && *owner)
			return differ(replay, action, "takes a mutex that client %c has",
				      'A' + (*owner - 1) / RR_RUN_THREADS);
		if (stop->kind == RR_STOP_LOCK)
			*owner = self;
		else if (*owner == self)
			*owner = 0;
		return true;
	}
	default:
		return true;
	}
}

static void look_who_is_inside(struct rr_free_replay *replay, uint8_t entered)
{
	for (uint8_t i = 0; i < replay->program.n_clients; i++) {
		if (i != entered && replay->runs[i] && is_inside(replay, i))
			replay->saw_two_inside = true;
	}
}

/* What the client has done since: what it says of that is what the path says. */
static bool compare_marks(struct rr_free_replay *replay, const struct rr_action *action,
			  const struct rr_run_view *before)
{
	const struct rr_run_view *after = view_of(replay, action->client);

	if (after->has_entered != action->has_entered)
		return differ(replay, action, "%s its critical section, and in the path it %s",
			      after->has_entered ? "enters" : "does not enter",
			      action->has_entered ? "does" : "does not");
	if (before->is_inside != action->was_inside || after->is_inside != action->is_inside)
		return differ(replay, action,
			      "%s inside its critical section, and in the path it %s",
			      after->is_inside ? "is" : "is not",
			      action->is_inside ? "is" : "is not");
	if (count_inside(after) != action->n_inside)
		return differ(replay, action,
			      "has %zu requests in flight from inside, and in the path %d",
			      count_inside(after), action->n_inside);
	if ((uint8_t)(after->tally.acknowledged - before->tally.acknowledged) != action->n_counted)
		return differ(replay, action, "has counted %ld more, and in the path %d",
			      after->tally.acknowledged - before->tally.acknowledged,
			      action->n_counted);
	if (after->has_entered)
		look_who_is_inside(replay, action->client);
	return true;
}

/* The client runs on until all of its threads wait again. */
static bool let_run(struct rr_free_replay *replay, const struct rr_action *action)
{
	struct client *client = &replay->clients[action->client];
	struct rr_client_run *run = replay->runs[action->client];
	const struct rr_run_view before = *rr_client_run_view(run);
	const struct rr_run_view *after;
	const struct rr_error *problem;
	enum rr_going going;

	rr_client_run_feed(run, &action->input, replay->now_ns - client->read_ns);
	going = rr_client_run_going(run, &problem);
	if (going != RR_GO_ON)
		return rr_error_set(&replay->error, RR_ERROR_INTERNAL, "%s",
				    going == RR_AGAIN ? "it does not do what it did before" :
							problem->text);
	after = rr_client_run_view(run);
	if (after->has_read)
		client->read_ns = replay->now_ns;
	for (uint32_t i = 0; i < RR_RUN_THREADS; i++) {
		if (i == action->input.thread ||
		    !rr_stop_is_same(&before.stops[i], &after->stops[i]))
			client->since_ns[i] = replay->now_ns;
	}
	return compare_marks(replay, action, &before);
}

/* ---- The path ------------------------------------------------------------------------- */

static bool act_again(struct rr_free_replay *replay, const struct rr_action *action)
{
	if (action->kind != RR_ACTION_SERVE && !has_told_served(replay, action))
		return false;
	switch (action->kind) {
	case RR_ACTION_SERVE:
		return serve(replay, action);
	case RR_ACTION_ASK:
		return act_on_server(replay, action);
	case RR_ACTION_FEED: {
		const struct rr_stop *stop;

		if (!replay->runs[action->client])
			return differ(replay, action, "has crashed, and goes on in the path");
		stop = &view_of(replay, action->client)->stops[action->input.thread];
		if (!rr_stop_is_same(stop, &action->stop) || stop->mutex != action->stop.mutex)
			return differ(replay, action, "waits for something else than in the path");
		return give_input(replay, action, stop) && let_run(replay, action);
	}
	case RR_ACTION_CRASH: {
		struct client *client = &replay->clients[action->client];
		struct rr_client_run **run = &replay->runs[action->client];

		if (!*run)
			return differ(replay, action, "has crashed before");
		client->tally = rr_client_run_view(*run)->tally;
		client->was_busy = rr_client_run_view(*run)->stops[0].kind != RR_STOP_ATTEMPT;
		if (!leave_all(replay, action))
			return false;
		rr_client_run_free(*run);
		*run = NULL;
		return true;
	}
	case RR_ACTION_ANSWER:
		return drop_request(replay, action);
	case RR_ACTION_TIME: {
		const struct rr_question tick = { .kind = RR_ASK_TICK, .argument = action->ns };
		struct rr_heard heard;

		replay->now_ns += action->ns;
		for (size_t i = 0; i < replay->program.n_servers; i++) {
			if (!ask(replay, i, &tick, &heard))
				return false;
		}
		return true;
	}
	case RR_ACTION_CLOCK:
		replay->clients[action->client].read_ns -= action->ns;
		return true;
	case RR_ACTION_DOWN:
		replay->is_down[action->server] = true;
		return act_on_server(replay, action);
	default:
		replay->is_down[action->server] = false;
		return true;
	}
}

static void end_clients(struct rr_free_replay *replay)
{
	for (int i = 0; i < RR_RUN_CLIENTS; i++) {
		if (replay->runs[i])
			rr_client_run_free(replay->runs[i]);
		replay->runs[i] = NULL;
	}
}

static bool begin_anew(struct rr_free_replay *replay)
{
	const struct rr_free_replay_config *config = &replay->config;
	const size_t n_servers = replay->program.n_servers;
	struct rr_servers *servers = &replay->servers;

	end_clients(replay);
	memset(replay->clients, 0, sizeof(replay->clients));
	memset(replay->owners, 0, sizeof(replay->owners));
	replay->now_ns = 0;
	replay->saw_two_inside = false;
	memset(replay->connections, 0, n_servers * sizeof(replay->connections[0]));
	memset(replay->is_down, 0, sizeof(replay->is_down));
	replay->error = (struct rr_error){ .kind = RR_ERROR_NONE };
	if (!(servers->n ? rr_servers_reset(servers) :
			   rr_servers_open(servers, config->cluster, n_servers,
					   replay->program.terms, config->scripts)))
		return fail_servers(replay);
	rr_client_run_begin_together(&replay->program);
	for (uint8_t i = 0; i < replay->program.n_clients; i++)
		replay->runs[i] = rr_client_run_new(&replay->program, (int)i);
	/* All of them begin at once. */
	for (uint8_t i = 0; i < replay->program.n_clients; i++) {
		if (view_of(replay, i)->is_inside)
			look_who_is_inside(replay, i);
	}
	return true;
}

bool rr_free_replay_run(struct rr_free_replay *replay, const struct rr_actions *path)
{
	bool good = begin_anew(replay);

	for (replay->step = 1; replay->step <= path->n && good; replay->step++)
		good = act_again(replay, &path->all[replay->step - 1]);
	/* Who has sent nothing. */
	for (uint8_t i = 0; i < replay->program.n_clients && good; i++) {
		if (replay->runs[i])
			rr_client_run_wake(replay->runs[i]);
	}
	return good && (path->n == 0 || has_told_served(replay, &path->all[path->n - 1]));
}

/* ---- Making, freeing, looking ------------------------------------------------------------ */

struct rr_free_replay *rr_free_replay_new(const struct rr_free_replay_config *config)
{
	struct rr_free_replay *replay = rr_calloc(1, sizeof(*replay));

	replay->config = *config;
	replay->program = *config->program;
	replay->program.on_sockets = true;
	return replay;
}

void rr_free_replay_free(struct rr_free_replay *replay)
{
	if (!replay)
		return;
	end_clients(replay);
	rr_servers_close(&replay->servers);
	free(replay);
}

const struct rr_error *rr_free_replay_error(const struct rr_free_replay *replay)
{
	return &replay->error;
}

struct rr_replayed_client rr_free_replay_client(const struct rr_free_replay *replay, size_t client)
{
	const struct client *it = &replay->clients[client];
	const bool has_crashed = !replay->runs[client];

	return (struct rr_replayed_client){
		.has_crashed = has_crashed,
		.was_busy = it->was_busy,
		.has_ended = has_crashed || view_of(replay, client)->stops[0].kind == RR_STOP_ENDED,
		.tally = has_crashed ? it->tally : view_of(replay, client)->tally,
	};
}

bool rr_free_replay_saw_two_inside(const struct rr_free_replay *replay)
{
	return replay->saw_two_inside;
}

struct rr_asker *rr_free_replay_server(struct rr_free_replay *replay, size_t server)
{
	return replay->servers.askers[server];
}
