/* SPDX-License-Identifier: MIT */
/* Plays a race: what clients send to servers and receive, what each kind of step does, and what
 * comes of them all. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/reply.h"
#include "environment.h"
#include "link.h"
#include "play.h"

/* Ticks: of a server's own time, in hundredths of a second: BUSY_TICKS in a row are a command that
 * computes for long, REPLY_TICKS one that does not end. It is looked at while it computes, LOOK_MS apart. */
enum {
	REPLY_MS = 3000,
	SILENCE_MS = 40,
	LOOK_MS = 5,
	BUSY_TICKS = 2,
	REPLY_TICKS = 200,
	BUSY_REPLIES = 20
};
enum { OWED_MAX = 64, MUTEXES_MAX = 8 };

/* A client's connection to a server, and whose commands have not been answered
 * over it yet, the oldest first. */
struct client_connection {
	struct connection *connection; /* NULL = none is open */
	long long blocked_id;          /* the server's number of it, while a command blocks
					* there; 0 = none does */
	size_t n_owed;
	struct {
		int client;
		const struct rr_step *step;
	} owed[OWED_MAX];
};

struct player {
	const struct rr_race *race;
	struct rr_cluster *cluster;
	struct rr_trace *trace;
	struct rr_error *error;
	struct rr_observer observer;
	char remark[RR_REMARK_SIZE]; /* of the step on its way */
	struct environment environment;
	struct client_connection connections[RR_RACE_CLIENTS_MAX][RR_RACE_SERVERS_MAX];
	struct client_connection reserved; /* of the program, for one step at a time */
	bool crashed[RR_RACE_CLIENTS_MAX];
	int64_t skew_ns[RR_RACE_CLIENTS_MAX];
	struct rr_variables variables;
	size_t n_mutexes;
	struct mutex {
		const char *name;
		int holder; /* -1 = free */
	} mutexes[MUTEXES_MAX];
};

/* Sets PATH:LINE and the message as the error; false. `step` NULL: it is about
 * the race as a whole. */
__attribute__((format(printf, 4, 5))) static bool player_fail(struct player *player,
							      enum rr_error_kind kind,
							      const struct rr_step *step,
							      const char *format, ...)
{
	char what[RR_ERROR_SIZE - 300];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	/* What cannot be done the file asks for, not the command line. */
	if (kind == RR_ERROR_USAGE)
		kind = RR_ERROR_DATA;
	return rr_error_set(player->error, kind, "%.200s:%d: %s", player->race->path,
			    step ? step->line : 1, what);
}

static const char *name_of_client(const struct player *player, int client)
{
	return player->race->clients[client].name;
}

/* ---- Connections -------------------------------------------------------- */

/* The one that the step's client uses, or that we use in its place. */
static struct client_connection *step_connection(struct player *player, const struct rr_step *step)
{
	const int number = player->race->clients[step->client].connection;

	return rr_step_is_reserved(step) ? &player->reserved :
					   &player->connections[number][step->server];
}

static void disconnect(struct client_connection *connection)
{
	connection_close(connection->connection);
	connection->connection = NULL;
	connection->n_owed = 0;
	connection->blocked_id = 0;
}

/* Closes what a client has open, to all servers. */
static void disconnect_client(struct player *player, int client)
{
	const int number = player->race->clients[client].connection;

	for (size_t s = 0; s < RR_RACE_SERVERS_MAX; s++)
		disconnect(&player->connections[number][s]);
}

/* Opens it if it is not open. */
static bool connect_client(struct player *player, const struct rr_step *step)
{
	struct client_connection *connection = step_connection(player, step);
	struct rr_error error = { 0 };

	if (connection->connection)
		return true;
	connection->n_owed = 0;
	connection->connection = connection_open(
		rr_step_is_reserved(step) ? rr_cluster_own_address(player->cluster, step->server) :
					    rr_cluster_address(player->cluster, step->server),
		&error);
	return connection->connection ||
	       player_fail(player, error.kind, step, "%s: %s", name_of_client(player, step->client),
			   error.text);
}

/* One more reply will come over it. */
static bool expect_reply(struct player *player, const struct rr_step *step)
{
	struct client_connection *connection = step_connection(player, step);

	if (connection->n_owed == OWED_MAX)
		return player_fail(
			player, RR_ERROR_USAGE, step,
			"more than %d replies are waited for: let the client read some ('%s < *')",
			OWED_MAX, name_of_client(player, step->client));
	connection->owed[connection->n_owed].client = step->client;
	connection->owed[connection->n_owed].step = step;
	connection->n_owed++;
	return true;
}

/* ---- Commands ----------------------------------------------------------- */

struct command {
	size_t n_words;
	struct rdl_word words[RR_WORDS_MAX];
};

static void free_command(struct command *command)
{
	while (command->n_words > 0)
		free((char *)command->words[--command->n_words].text);
}

/* The step's command with its variables filled in; noted as the event's. */
static void make_command(struct player *player, const struct rr_step *step, struct rr_event *event,
			 struct command *command)
{
	command->n_words = step->n_words;
	for (size_t i = 0; i < step->n_words; i++)
		command->words[i] = rr_variables_expand(&player->variables, &step->words[i]);
	event->command = rr_join_words(command->words, step->n_words);
}

static bool send_command(struct player *player, const struct rr_step *step, struct rr_event *event)
{
	struct command command;
	size_t n_words;

	if (!connect_client(player, step))
		return false;
	make_command(player, step, event, &command);
	n_words = environment_add_denied(&player->environment, step, step->server, command.words);
	/* A closed connection shows at the next reply. */
	connection_send(step_connection(player, step)->connection, n_words, command.words);
	free_command(&command);
	return expect_reply(player, step);
}

/* ---- Replies ------------------------------------------------------------ */

/* Without a => any reply will do that is no error. */
static void record_reply(struct player *player, const struct rr_step *step, struct rr_event *event,
			 const char *text)
{
	event->reply = rr_strdup(text);
	if (step->is_lost)
		return;
	event->differs = step->expected ?
				 !rr_reply_matches(step->expected, text, &player->variables) :
				 strncmp(text, "(error)", strlen("(error)")) == 0;
}

/* Is the number of a connection that blocks known as that of one of the clients? */
static bool is_known_blocked(const struct player *player, long long id)
{
	for (size_t i = 0; i < RR_RACE_CLIENTS_MAX; i++) {
		for (size_t s = 0; s < RR_RACE_SERVERS_MAX; s++) {
			if (player->connections[i][s].blocked_id == id)
				return true;
		}
	}
	return false;
}

/* On how many connections commands block since the last step. *id: the number of one of them. */
static size_t find_blocked(const struct player *player, struct rdl_link *link, long long *id)
{
	struct rdl_reply reply;
	size_t n = 0;

	if (rdl_run(link, &reply, "CLIENT LIST") != RDL_OK)
		return 0;
	for (const char *line = reply.text; line && *line; line += strcspn(line, "\n") + 1) {
		const char *flags = strstr(line, " flags=");
		long long found;

		if (!flags || !memchr(flags + 7, 'b', strcspn(flags + 7, " ")) ||
		    sscanf(line, "id=%lld", &found) != 1 || is_known_blocked(player, found))
			continue;
		n++;
		*id = found;
	}
	return n;
}

/* Can the command whose reply comes next block? *may_time_out: for so long at most. A server that
 * only computes would not answer when it is asked who blocks. */
static bool may_block(const struct client_connection *connection, bool *may_time_out)
{
	static const char names[] = "BLPOP BRPOP BLMOVE BRPOPLPUSH BLMPOP BZPOPMIN BZMPOP BZPOPMAX "
				    "XREAD XREADGROUP WAIT WAITAOF";
	const struct rr_step *step = connection->n_owed ? connection->owed[0].step : NULL;
	struct rdl_command command = { .n_words = 0 };

	*may_time_out = false;
	if (!step || step->kind != RR_STEP_RUN)
		return false;
	for (; command.n_words < step->n_words && command.n_words < RDL_WORDS_MAX;
	     command.n_words++)
		command.words[command.n_words] = step->words[command.n_words];
	*may_time_out = rr_command_time_out_ns(&command) != INT64_MAX;
	return rr_word_is_one_of(&command.words[0], names);
}

/* How a server's process is: 'S' = it waits for what comes; and its own time until now. */
static char look_at_server(const struct player *player, int server, unsigned long *ticks)
{
	char path[40], line[400] = "", state = 'S';
	const char *name_end;
	unsigned long in_kernel = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", player->cluster->servers[server].process.pid);
	file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file) && (name_end = strrchr(line, ')')))
		sscanf(name_end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state,
		       ticks, &in_kernel);
	*ticks += in_kernel;
	if (file)
		fclose(file);
	return state;
}

/* The next reply, or that there is none for now. */
static enum connection_state read_or_rest(struct player *player, const struct rr_step *step,
					  char text[RR_REPLY_TEXT_SIZE])
{
	struct connection *connection = step_connection(player, step)->connection;
	unsigned long begun = 0;
	enum connection_state state;
	int waited_ms = 0;
	bool is_done;

	look_at_server(player, step->server, &begun);
	do {
		unsigned long ticks = 0;

		state = connection_read(connection, LOOK_MS, text);
		waited_ms += LOOK_MS;
		is_done = state != CONNECTION_SILENT;
		/* Does the silence say something? Of a server that rests, or computes for long, it
		 * does: one that has not had its turn yet, or waits for a disk, is waited for. */
		if (!is_done && strchr("RD", look_at_server(player, step->server, &ticks)))
			is_done = ticks - begun >= BUSY_TICKS || waited_ms >= REPLY_MS;
		else if (!is_done)
			is_done = waited_ms >= SILENCE_MS;
	} while (!is_done);
	/* What it has sent before it came to rest. */
	return state == CONNECTION_SILENT ? connection_read(connection, 0, text) : state;
}

/* The reply to a step that has to have one. A server that computes is waited for in its own time, however
 * little it gets of the processors. */
static enum connection_state await_reply(struct player *player, const struct rr_step *step,
					 char text[RR_REPLY_TEXT_SIZE])
{
	struct connection *connection = step_connection(player, step)->connection;
	enum connection_state state = CONNECTION_SILENT;
	unsigned long begun = 0;

	look_at_server(player, step->server, &begun);
	for (int i = 0; i < BUSY_REPLIES && state == CONNECTION_SILENT; i++) {
		unsigned long ticks = 0;

		state = connection_read(connection, REPLY_MS, text);
		if (!strchr("RD", look_at_server(player, step->server, &ticks)) ||
		    ticks - begun >= REPLY_TICKS)
			break;
	}
	/* A reply may have come just before it rested. */
	return state == CONNECTION_SILENT ? connection_read(connection, 0, text) : state;
}

static bool read_reply(struct player *player, const struct rr_step *step, struct rr_event *event)
{
	struct client_connection *connection = step_connection(player, step);
	char text[RR_REPLY_TEXT_SIZE] = "(waits)";
	enum connection_state state;
	struct rdl_link *link = NULL;
	bool may_time_out;
	long long id;

	if (!connection->connection)
		return player_fail(player, RR_ERROR_USAGE, step,
				   "%s has no connection to read from: let it send a command first",
				   name_of_client(player, step->client));
	state = read_or_rest(player, step, text);
	if (step->is_lost) {
		/* Executed, and never known to the client, whose connection is gone; those to
		 * other servers stay. A command that blocks has no reply yet. */
		bool blocks = connection->blocked_id != 0;

		if (state == CONNECTION_SILENT && !blocks) {
			link = rdl_link_new(rr_cluster_own_address(player->cluster, step->server),
					    REPLY_MS);
			blocks = link && find_blocked(player, link, &id) > 0;
			rdl_link_free(link);
		}
		if (state == CONNECTION_SILENT && !blocks &&
		    await_reply(player, step, text) == CONNECTION_SILENT)
			return player_fail(player, RR_ERROR_REDIS, step,
					   "the server does not answer");
		disconnect(connection);
		record_reply(player, step, event, "(lost)");
		return true;
	}
	if (state == CONNECTION_SILENT && may_block(connection, &may_time_out)) {
		/* A command that blocks may be made to time out, as it would if the clock, which
		 * only ticks move, had gone on: now, or when its client reads the reply. */
		bool is_over = !step->is_waiting && may_time_out;
		struct rdl_reply reply;

		link = rdl_link_new(rr_cluster_own_address(player->cluster, step->server),
				    REPLY_MS);
		if (link && !connection->blocked_id && find_blocked(player, link, &id) == 1)
			connection->blocked_id = id;
		if (link && is_over && connection->blocked_id)
			rdl_run(link, &reply, "CLIENT UNBLOCK %lld TIMEOUT",
				connection->blocked_id);
		rdl_link_free(link);
	}
	if (state == CONNECTION_SILENT && !step->is_waiting)
		state = await_reply(player, step, text);
	if (state != CONNECTION_SILENT)
		connection->blocked_id = 0;
	if (state != CONNECTION_SILENT && connection->n_owed > 0) { /* else nobody asked for it */
		/* It is the oldest owed one: was it this client's own, and to what it just said? */
		const int sender = connection->owed[0].client;
		const bool last = step->kind == RR_STEP_READ || connection->owed[0].step == step;

		connection->n_owed--;
		memmove(&connection->owed[0], &connection->owed[1],
			connection->n_owed * sizeof(connection->owed[0]));
		if (sender != step->client || !last)
			rr_observer_crossed(&player->observer, step->client, sender,
					    player->remark);
	}
	if (state == CONNECTION_CLOSED)
		disconnect(connection);
	record_reply(player, step, event, text);
	return true;
}

static bool run_command(struct player *player, const struct rr_step *step, struct rr_event *event)
{
	struct command command;
	bool good;

	if (step_connection(player, step)->connection ||
	    rr_cluster_state(player->cluster, step->server) != RR_SERVER_DOWN) {
		good = send_command(player, step, event) && read_reply(player, step, event);
		disconnect(&player->reserved);
		return good;
	}
	/* No server listens where this client would have to connect to. */
	make_command(player, step, event, &command);
	free_command(&command);
	record_reply(player, step, event, "(refused)");
	return true;
}

/* ---- Steps -------------------------------------------------------------- */

/* Locks or unlocks a mutex, which is free when it is new. */
static bool use_mutex(struct player *player, const struct rr_step *step)
{
	const char *client = name_of_client(player, step->client);
	const bool locks = step->kind == RR_STEP_LOCK;
	struct mutex *mutex = player->mutexes;

	while (mutex < player->mutexes + player->n_mutexes && strcmp(mutex->name, step->text) != 0)
		mutex++;
	if (mutex == player->mutexes + MUTEXES_MAX)
		return player_fail(player, RR_ERROR_USAGE, step,
				   "more than %d mutexes: let some be one", MUTEXES_MAX);
	if (mutex == player->mutexes + player->n_mutexes) {
		player->n_mutexes++;
		*mutex = (struct mutex){ .name = step->text, .holder = -1 };
	}
	if (locks && mutex->holder >= 0)
		return player_fail(
			player, RR_ERROR_USAGE, step,
			"%s would wait for the mutex %s, which %s holds: let %s unlock it first",
			client, mutex->name, name_of_client(player, mutex->holder),
			name_of_client(player, mutex->holder));
	if (!locks && mutex->holder != step->client)
		return player_fail(player, RR_ERROR_USAGE, step,
				   "%s does not hold the mutex %s: let it lock it first", client,
				   mutex->name);
	mutex->holder = locks ? step->client : -1;
	return true;
}

/* False: the race cannot go on. */
static bool do_step(struct player *player, const struct rr_step *step, struct rr_event *event)
{
	if (step->client >= 0 && player->crashed[step->client] && step->kind != RR_STEP_CONNECT)
		return player_fail(player, RR_ERROR_USAGE, step,
				   "%s has crashed; '%s connects' first",
				   player->race->clients[step->client].name,
				   player->race->clients[step->client].name);
	switch (step->kind) {
	case RR_STEP_RUN:
		return run_command(player, step, event);
	case RR_STEP_WRITE:
		return send_command(player, step, event);
	case RR_STEP_BYTES:
		if (!connect_client(player, step))
			return false;
		connection_send_bytes(step_connection(player, step)->connection, step->text,
				      step->length);
		/* Bytes that begin a command are owed a reply; those that go on with one, or
		 * are cut into somebody else's, are not. */
		return step->length == 0 || step->text[0] != '*' || expect_reply(player, step);
	case RR_STEP_READ:
		return read_reply(player, step, event);
	case RR_STEP_LOCK:
	case RR_STEP_UNLOCK:
		return use_mutex(player, step);
	case RR_STEP_COMPUTE: {
		const int64_t now_ns = rr_cluster_now_ns(player->cluster) +
				       player->skew_ns[step->client];
		char value[32];

		snprintf(value, sizeof(value), "%lld",
			 (long long)(now_ns / 1000000000 + step->amount));
		event->reply = rr_strdup(value);
		return rr_variable_set(&player->variables, step->text, strlen(step->text), value,
				       strlen(value)) ||
		       player_fail(player, RR_ERROR_USAGE, step,
				   "more than %d variables: use a name again", RR_VARIABLES_MAX);
	}
	case RR_STEP_TICK:
		return rr_cluster_tick(player->cluster, step->amount) != RR_TICK_FAILED ||
		       player_fail(player, RR_ERROR_REDIS, step, "the clocks do not move");
	case RR_STEP_CLOCK: {
		struct rr_error error = { 0 };

		if (step->peer >= 0) {
			player->skew_ns[step->peer] = step->amount;
			return true;
		}
		return rr_cluster_skew(player->cluster, step->server, step->amount, &error) ||
		       player_fail(player, error.kind, step, "%s", error.text);
	}
	case RR_STEP_FAULT: {
		struct rr_error error = { 0 };

		return environment_fault(&player->environment, step, player->remark, &error) ||
		       player_fail(player, error.kind, step, "%s", error.text);
	}
	case RR_STEP_NOTE:
		return true;
	default: {
		if (step->kind == RR_STEP_CRASH)
			disconnect_client(player, step->client);
		player->crashed[step->client] = step->kind == RR_STEP_CRASH;
		rr_observer_mark(&player->observer, step, player->remark);
		return true;
	}
	}
}

/* False: the race ends here. */
static bool play_step(struct player *player, const struct rr_step *step,
		      const struct rr_listener *listener)
{
	struct rr_trace *trace = player->trace;
	struct rr_event *event = &trace->events[trace->n_events];

	if (listener && listener->before && !listener->before(listener->context, trace, step))
		return false;
	*event = (struct rr_event){ .step = step };
	player->remark[0] = '\0';
	trace->n_events++;
	if (!do_step(player, step, event))
		return false;
	if (step->kind != RR_STEP_NOTE) {
		environment_look(&player->environment, step->client, player->remark, event);
		event->at_ns = rr_cluster_now_ns(player->cluster) - RR_CLUSTER_START_NS;
	}
	trace->findings = player->observer.findings;
	if (listener && listener->after)
		listener->after(listener->context, trace, event);
	if (event->differs && step->skips)
		return player_fail(player, RR_ERROR_SKIPPED, step, "this server answers %.200s",
				   event->reply);
	return !event->differs;
}

/* ---- The whole ---------------------------------------------------------- */

/* What the race has broken by now, and whether it went as it was written. */
static void judge_race(struct player *player)
{
	const struct rr_race *race = player->race;
	struct rr_trace *trace = player->trace;
	const bool complete = trace->n_events == race->n_steps &&
			      !trace->events[trace->n_events - 1].differs;
	struct rr_observer end = player->observer;
	const struct rr_observer *seen = complete ? &end : &player->observer;
	rr_findings wanted = 0;
	bool known;

	environment_end(&player->environment, &end);
	trace->broken_off = end.findings;
	trace->findings = seen->findings;
	memcpy(trace->conclusion, seen->conclusion, sizeof(trace->conclusion));
	for (size_t i = 0; i < race->n_verdicts; i++) {
		for (int f = 0; f < RR_FINDINGS; f++) {
			if (strcmp(race->verdicts[i], rr_finding_name((enum rr_finding)f)) == 0)
				wanted |= 1U << f;
		}
	}
	if (race->n_verdicts == 1 && !wanted)
		trace->as_written = rr_finding_holds(race->verdicts[0], trace->findings, &known) &&
				    known;
	else
		trace->as_written = wanted == trace->findings;
	trace->as_written = trace->as_written && complete;
}

/* What a race shows without one of its servers is nothing. A server's connections close a little
 * before it counts as ended: has the race ended because one was closed that was not to be? */
static void blame_servers(struct player *player)
{
	const struct rr_trace *trace = player->trace;
	const struct rr_event *last = trace->n_events ? &trace->events[trace->n_events - 1] : NULL;
	const bool is_cut_off = last && last->differs && last->reply &&
				strcmp(last->reply, "(closed)") == 0;
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct rr_error error = { 0 };
	int left = is_cut_off ? 30 : 0;

	if (trace->as_written || player->error->kind == RR_ERROR_INTERRUPTED)
		return;
	while (rr_cluster_is_whole(player->cluster, &error)) {
		if (left-- == 0)
			return;
		nanosleep(&pause, NULL);
	}
	*player->error = (struct rr_error){ 0 };
	player_fail(player, error.kind, NULL, "%s", error.text);
}

bool rr_player_play(const struct rr_race *race, struct rr_cluster *cluster,
		    const struct rr_listener *listener, struct rr_trace *trace,
		    struct rr_error *error)
{
	struct player *player = rr_calloc(1, sizeof(*player));
	struct rr_error why = { 0 };
	size_t i = 0;

	*trace = (struct rr_trace){ .race = race };
	trace->events = rr_calloc(race->n_steps, sizeof(*trace->events));
	player->race = race;
	player->cluster = cluster;
	player->trace = trace;
	player->error = error;
	rr_observer_begin(&player->observer, race);
	if (environment_open(&player->environment, race, cluster, &player->observer, &why)) {
		for (size_t k = 0; k < race->n_keys; k++)
			trace->beginning[k] = rr_strdup(player->environment.keys[k]);
		while (i < race->n_steps && play_step(player, &race->steps[i], listener))
			i++;
	} else {
		player_fail(player, why.kind, NULL, "%s", why.text);
	}
	if (!error->kind)
		judge_race(player);
	blame_servers(player);
	for (i = 0; i < race->n_clients; i++)
		disconnect_client(player, (int)i);
	environment_close(&player->environment);
	free(player);
	return !error->kind;
}
