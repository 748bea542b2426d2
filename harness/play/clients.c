/* SPDX-License-Identifier: MIT */
/* What clients send to servers and receive, and the mutexes they share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"
#include "link.h"
#include "player.h"

/* BUSY_TICKS: of a server's own time, in hundredths of a second: so much in a row is a command that
 * computes for long. It is looked at while it computes, LOOK_MS apart. */
enum { REPLY_MS = 3000, SILENCE_MS = 40, LOOK_MS = 5, BUSY_TICKS = 2 };

static const char *name_of_client(const struct player *player, int client)
{
	return player->race->clients[client].name;
}

/* ---- Connections -------------------------------------------------------- */

static struct client_connection *client_connection(struct player *player,
						   const struct rr_step *step)
{
	const int number = player->race->clients[step->client].connection;

	return &player->connections[number][step->server];
}

/* The one that the step's client uses, or that we use in its place. */
static struct client_connection *step_connection(struct player *player, const struct rr_step *step)
{
	return rr_step_is_reserved(step) ? &player->reserved : client_connection(player, step);
}

static void disconnect(struct client_connection *connection)
{
	connection_close(connection->connection);
	connection->connection = NULL;
	connection->n_owed = 0;
	connection->blocked_id = 0;
}

void player_disconnect(struct player *player, int client)
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
		return player_fail(player, RR_ERROR_USAGE, step,
				   "more than %d replies are waited for", OWED_MAX);
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

bool player_send(struct player *player, const struct rr_step *step, struct rr_event *event)
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

/* Bytes that begin a command are owed a reply; those that go on with one, or
 * are cut into somebody else's, are not. */
bool player_write_bytes(struct player *player, const struct rr_step *step)
{
	const bool begins = step->length > 0 && step->text[0] == '*';

	if (!connect_client(player, step))
		return false;
	connection_send_bytes(step_connection(player, step)->connection, step->text, step->length);
	return !begins || expect_reply(player, step);
}

/* ---- Replies ------------------------------------------------------------ */

/* The reply that came is the oldest owed one: was it this client's own, and to
 * what it just said? */
static void settle_reply(struct player *player, const struct rr_step *step)
{
	struct client_connection *connection = step_connection(player, step);
	const int sender = connection->owed[0].client;
	const bool last = step->kind == RR_STEP_READ || connection->owed[0].step == step;

	if (connection->n_owed == 0)
		return; /* a message that nobody asked for */
	connection->n_owed--;
	memmove(&connection->owed[0], &connection->owed[1],
		connection->n_owed * sizeof(connection->owed[0]));
	if (sender != step->client || !last)
		rr_observer_crossed(&player->observer, step->client, sender, player->remark);
}

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

static bool has_blocked(const struct player *player, int server)
{
	struct rdl_link *link = rdl_link_new(rr_cluster_own_address(player->cluster, server),
					     REPLY_MS);
	long long id;
	const bool has = link && find_blocked(player, link, &id) > 0;

	rdl_link_free(link);
	return has;
}

/* Can the command whose reply comes next block? *may_time_out: for so long at most. A server that
 * only computes would not answer when it is asked who blocks. */
static bool may_block(const struct client_connection *connection, bool *may_time_out)
{
	static const char *const names[] = { "BLPOP",  "BRPOP",      "BLMOVE", "BRPOPLPUSH",
					     "BLMPOP", "BZPOPMIN",   "BZMPOP", "BZPOPMAX",
					     "XREAD",  "XREADGROUP", "WAIT",   "WAITAOF" };
	const struct rr_step *step = connection->n_owed ? connection->owed[0].step : NULL;
	struct rdl_command command = { .n_words = 0 };

	*may_time_out = false;
	if (!step || step->kind != RR_STEP_RUN)
		return false;
	for (; command.n_words < step->n_words && command.n_words < RDL_WORDS_MAX;
	     command.n_words++)
		command.words[command.n_words] = step->words[command.n_words];
	*may_time_out = rr_command_time_out_ns(&command) != INT64_MAX;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (rr_word_is(&command.words[0], names[i]))
			return true;
	}
	return false;
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

/* Does its silence, which has lasted that long, say something? Of a server that rests, or computes
 * for long, it does: one that has not had its turn yet, or waits for a disk, is waited for. */
static bool is_silent(const struct player *player, int server, unsigned long begun, int waited_ms)
{
	unsigned long ticks = 0;

	if (strchr("RD", look_at_server(player, server, &ticks)))
		return ticks - begun >= BUSY_TICKS || waited_ms >= REPLY_MS;
	return waited_ms >= SILENCE_MS;
}

/* The next reply, or that there is none for now. */
static enum connection_state read_or_rest(struct player *player, const struct rr_step *step,
					  char text[RR_REPLY_TEXT_SIZE])
{
	struct connection *connection = step_connection(player, step)->connection;
	unsigned long begun = 0;
	enum connection_state state;
	int waited_ms = 0;

	look_at_server(player, step->server, &begun);
	do {
		state = connection_read(connection, LOOK_MS, text);
		waited_ms += LOOK_MS;
	} while (state == CONNECTION_SILENT && !is_silent(player, step->server, begun, waited_ms));
	/* What it has sent before it came to rest. */
	return state == CONNECTION_SILENT ? connection_read(connection, 0, text) : state;
}

/* Executed, and never known to the client, whose connection is gone; those to
 * other servers stay. A command that blocks has no reply yet. */
static bool lose_reply(struct player *player, const struct rr_step *step, struct rr_event *event)
{
	struct client_connection *connection = step_connection(player, step);
	char text[RR_REPLY_TEXT_SIZE];

	if (read_or_rest(player, step, text) == CONNECTION_SILENT && !connection->blocked_id &&
	    !has_blocked(player, step->server) &&
	    connection_read(connection->connection, REPLY_MS, text) == CONNECTION_SILENT)
		return player_fail(player, RR_ERROR_REDIS, step, "the server does not answer");
	disconnect(connection);
	record_reply(player, step, event, "(lost)");
	return true;
}

bool player_read(struct player *player, const struct rr_step *step, struct rr_event *event)
{
	struct client_connection *connection = step_connection(player, step);
	char text[RR_REPLY_TEXT_SIZE] = "(waits)";
	enum connection_state state;
	bool may_time_out;

	if (!connection->connection)
		return player_fail(player, RR_ERROR_USAGE, step,
				   "%s has no connection to read from",
				   name_of_client(player, step->client));
	if (step->is_lost)
		return lose_reply(player, step, event);
	state = read_or_rest(player, step, text);
	if (state == CONNECTION_SILENT && may_block(connection, &may_time_out)) {
		/* A command that blocks may be made to time out, as it would if the clock, which
		 * only ticks move, had gone on: now, or when its client reads the reply. */
		bool is_over = !step->is_waiting && may_time_out;
		struct rdl_link *link = rdl_link_new(
			rr_cluster_own_address(player->cluster, step->server), REPLY_MS);
		struct rdl_reply reply;
		long long id;

		if (link && !connection->blocked_id && find_blocked(player, link, &id) == 1)
			connection->blocked_id = id;
		if (link && is_over && connection->blocked_id)
			rdl_run(link, &reply, "CLIENT UNBLOCK %lld TIMEOUT",
				connection->blocked_id);
		rdl_link_free(link);
	}
	if (state == CONNECTION_SILENT && !step->is_waiting)
		state = connection_read(connection->connection, REPLY_MS, text);
	if (state != CONNECTION_SILENT) {
		connection->blocked_id = 0;
		settle_reply(player, step);
	}
	if (state == CONNECTION_CLOSED)
		disconnect(connection);
	record_reply(player, step, event, text);
	return true;
}

bool player_run(struct player *player, const struct rr_step *step, struct rr_event *event)
{
	struct command command;
	bool good;

	if (step_connection(player, step)->connection ||
	    rr_cluster_state(player->cluster, step->server) != RR_SERVER_DOWN) {
		good = player_send(player, step, event) && player_read(player, step, event);
		disconnect(&player->reserved);
		return good;
	}
	/* Nobody listens where this client would have to connect to. */
	make_command(player, step, event, &command);
	free_command(&command);
	record_reply(player, step, event, "(refused)");
	return true;
}

/* ---- Mutexes ------------------------------------------------------------ */

/* A mutex, free when it is new; NULL when there are too many. */
static struct mutex *find_mutex(struct player *player, const char *name)
{
	struct mutex *mutex = player->mutexes;

	for (; mutex < player->mutexes + player->n_mutexes; mutex++) {
		if (strcmp(mutex->name, name) == 0)
			return mutex;
	}
	if (player->n_mutexes == MUTEXES_MAX)
		return NULL;
	player->n_mutexes++;
	*mutex = (struct mutex){ .name = name, .holder = -1 };
	return mutex;
}

bool player_use_mutex(struct player *player, const struct rr_step *step)
{
	const char *client = name_of_client(player, step->client);
	struct mutex *mutex = find_mutex(player, step->text);
	const bool locks = step->kind == RR_STEP_LOCK;

	if (!mutex)
		return player_fail(player, RR_ERROR_USAGE, step, "more than %d mutexes",
				   MUTEXES_MAX);
	if (locks && mutex->holder >= 0)
		return player_fail(player, RR_ERROR_USAGE, step,
				   "%s would wait for the mutex %s, which %s holds", client,
				   mutex->name, name_of_client(player, mutex->holder));
	if (!locks && mutex->holder != step->client)
		return player_fail(player, RR_ERROR_USAGE, step, "%s does not hold the mutex %s",
				   client, mutex->name);
	mutex->holder = locks ? step->client : -1;
	return true;
}
