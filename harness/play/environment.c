/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/reply.h"
#include "parser.h"

enum { CONNECT_MS = 2000, ANSWER_MS = 2000 };

#define JITTER_NS INT64_C(100000000)

/* ---- Connections -------------------------------------------------------- */

struct connection {
	redisContext *context;
	struct rdl_arena arena; /* the last reply */
	bool is_unsorted;       /* what the last command lists is in no order */
};

struct connection *connection_open(const struct rdl_address *address, struct rr_error *error)
{
	const struct rdl_word login[] = { { "AUTH", 4 },
					  { address->user, strlen(address->user) },
					  { address->password, strlen(address->password) } };
	const struct rdl_word password[] = { login[0], login[2] };
	const bool has_user = address->user[0] != '\0';
	const struct timeval timeout = { .tv_sec = CONNECT_MS / 1000 };
	char text[RR_REPLY_TEXT_SIZE];
	struct connection *connection = rr_calloc(1, sizeof(*connection));
	redisContext *context =
		address->is_unix ? redisConnectUnixWithTimeout(address->host, timeout) :
				   redisConnectWithTimeout(address->host, address->port, timeout);

	if (!context)
		rr_out_of_memory();
	connection->context = context;
	rdl_parser_attach(context->reader, &connection->arena);
	if (!context->err &&
	    (!address->password[0] ||
	     (connection_send(connection, has_user ? 3 : 2, has_user ? login : password) &&
	      connection_read(connection, CONNECT_MS, text) == CONNECTION_REPLY &&
	      strcmp(text, "OK") == 0)))
		return connection;
	rr_error_set(error, RR_ERROR_REDIS, "cannot connect: %s",
		     context->err ? context->errstr : "refused");
	connection_close(connection);
	return NULL;
}

void connection_close(struct connection *connection)
{
	if (!connection)
		return;
	redisFree(connection->context);
	rdl_arena_reset(&connection->arena);
	free(connection);
}

static bool write_all(struct connection *connection)
{
	int done = 0;

	while (!done) {
		if (redisBufferWrite(connection->context, &done) != REDIS_OK)
			return false;
	}
	return true;
}

bool connection_send_bytes(struct connection *connection, const char *bytes, size_t length)
{
	return redisAppendFormattedCommand(connection->context, bytes, length) == REDIS_OK &&
	       write_all(connection);
}

bool connection_send(struct connection *connection, size_t n_words, const struct rdl_word *words)
{
	const char *texts[RR_WORDS_MAX];
	size_t lengths[RR_WORDS_MAX];

	for (size_t i = 0; i < n_words; i++) {
		texts[i] = words[i].text;
		lengths[i] = words[i].length;
	}
	connection->is_unsorted = rr_lists_without_order(texts[0]);
	return redisAppendCommandArgv(connection->context, (int)n_words, texts, lengths) ==
		       REDIS_OK &&
	       write_all(connection);
}

enum connection_state connection_read(struct connection *connection, int timeout_ms,
				      char text[RR_REPLY_TEXT_SIZE])
{
	const int64_t deadline_ns = rr_clock_ns() + timeout_ms * INT64_C(1000000);
	redisReader *reader = connection->context->reader;
	enum connection_state state = CONNECTION_REPLY;
	void *reply = NULL;

	while (state == CONNECTION_REPLY) {
		struct pollfd ready = { .fd = connection->context->fd, .events = POLLIN };
		int64_t left_ms;
		char bytes[4096];
		ssize_t n;

		if (redisReaderGetReply(reader, &reply) != REDIS_OK)
			state = CONNECTION_CLOSED;
		if (reply || state == CONNECTION_CLOSED)
			break;
		left_ms = (deadline_ns - rr_clock_ns()) / 1000000;
		if (poll(&ready, 1, left_ms > 0 ? (int)left_ms : 0) < 1) {
			state = CONNECTION_SILENT;
			break;
		}
		n = recv(ready.fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n < 1 || redisReaderFeed(reader, bytes, (size_t)n) != REDIS_OK)
			state = CONNECTION_CLOSED;
	}
	if (state == CONNECTION_CLOSED)
		snprintf(text, RR_REPLY_TEXT_SIZE, "(closed)");
	if (state != CONNECTION_REPLY)
		return state;
	if (connection->is_unsorted)
		rr_reply_sort_list(reply);
	rr_reply_text(reply, text, RR_REPLY_TEXT_SIZE);
	rdl_arena_reset(&connection->arena);
	return CONNECTION_REPLY;
}

/* ---- Asking ------------------------------------------------------------- */

static void stop_looking(struct environment *env, int server)
{
	connection_close(env->connections[server]);
	env->connections[server] = NULL;
}

/* A command of our own; false when no reply can be had. */
static bool query_words(struct environment *env, int server, size_t n, const struct rdl_word *words,
			char text[RR_REPLY_TEXT_SIZE])
{
	struct connection **connection = &env->connections[server];

	/* A connection that a fault has closed is opened again, once. */
	for (int i = 0; i < 2 && rr_cluster_state(env->cluster, server) == RR_SERVER_RUNNING; i++) {
		struct rr_error error = { 0 };

		if (!*connection)
			*connection = connection_open(rr_cluster_own_address(env->cluster, server),
						      &error);
		if (*connection && connection_send(*connection, n, words) &&
		    connection_read(*connection, ANSWER_MS, text) == CONNECTION_REPLY)
			return true;
		stop_looking(env, server);
	}
	return false;
}

static bool query_server(struct environment *env, int server, size_t n, const char *const texts[],
			 char text[RR_REPLY_TEXT_SIZE])
{
	struct rdl_word words[RR_WORDS_MAX];

	for (size_t i = 0; i < n; i++)
		words[i] = (struct rdl_word){ texts[i], strlen(texts[i]) };
	return query_words(env, server, n, words, text);
}

/* How a key of each type is read whole. */
static const struct {
	const char *type;
	size_t n;
	const char *words[5]; /* NULL = the key */
} readers[] = {
	{ "string", 2, { "GET", NULL } },
	{ "list", 4, { "LRANGE", NULL, "0", "-1" } },
	{ "set", 2, { "SMEMBERS", NULL } },
	{ "hash", 2, { "HGETALL", NULL } },
	{ "stream", 4, { "XRANGE", NULL, "-", "+" } },
	{ "zset", 5, { "ZRANGE", NULL, "0", "-1", "WITHSCORES" } },
};

/* A key's value, whatever its type; "(nil)" when it is not there. */
static bool read_key(struct environment *env, int server, const char *key,
		     char text[RR_REPLY_TEXT_SIZE])
{
	const char *const type[] = { "TYPE", key };

	if (!query_server(env, server, 2, type, text))
		return false;
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		const char *words[5];

		if (strcmp(text, readers[i].type) != 0)
			continue;
		for (size_t w = 0; w < readers[i].n; w++)
			words[w] = readers[i].words[w] ? readers[i].words[w] : key;
		return query_server(env, server, readers[i].n, words, text);
	}
	snprintf(text, RR_REPLY_TEXT_SIZE, "(nil)");
	return true;
}

/* The key's own name into `name`; its server's number. */
static int split_key(const struct environment *env, const char *key, char name[RR_VALUE_SIZE])
{
	size_t length;
	const int server = rr_race_key_server(env->race, key, &length);

	snprintf(name, RR_VALUE_SIZE, "%.*s", (int)length, key);
	return server;
}

/* When a key's lease ends, in virtual time; -1 = never, or it is not there. */
static bool read_end(struct environment *env, int server, const char *key, int64_t *ends_ns)
{
	const char *const words[] = { "PTTL", key };
	char text[RR_REPLY_TEXT_SIZE];
	long long left_ms;

	if (!query_server(env, server, 2, words, text))
		return false;
	left_ms = atoll(text + strcspn(text, "-0123456789"));
	*ends_ns = left_ms < 0 ? -1 : rr_cluster_now_ns(env->cluster) + left_ms * INT64_C(1000000);
	return true;
}

/* The value of KEY or KEY@SERVER, as much as is shown. */
static bool read_shown(struct environment *env, const char *key, char value[RR_VALUE_SIZE])
{
	char name[RR_VALUE_SIZE], text[RR_REPLY_TEXT_SIZE];
	const int server = split_key(env, key, name);

	if (!read_key(env, server, name, text))
		return false;
	snprintf(value, RR_VALUE_SIZE, "%.*s", RR_VALUE_SIZE - 1, text);
	return true;
}

/* ---- Looking ------------------------------------------------------------ */

static void look_at_keys(struct environment *env)
{
	for (size_t i = 0; i < env->race->n_keys; i++) {
		/* One key, as it is or as it must have become while nobody could be asked. */
		int64_t *ends_ns = &env->ends_ns[i];
		char name[RR_VALUE_SIZE];
		const int server = split_key(env, env->race->keys[i], name);

		if (!read_shown(env, env->race->keys[i], env->keys[i]) ||
		    !read_end(env, server, name, ends_ns)) {
			if (*ends_ns >= 0 && rr_cluster_now_ns(env->cluster) > *ends_ns)
				snprintf(env->keys[i], RR_VALUE_SIZE, "(nil)");
		}
	}
}

void environment_look(struct environment *env, int client, char remark[RR_REMARK_SIZE],
		      struct rr_event *event)
{
	const int64_t before_ns = env->observer->lock.expires_ns;
	const char *key = env->race->lock;
	struct rr_lock_state lock = { .expires_ns = -1 };
	char name[RR_VALUE_SIZE];

	look_at_keys(env);
	for (size_t i = 0; i < env->race->n_keys; i++)
		event->keys[i] = rr_strdup(env->keys[i]);
	if (key && read_shown(env, key, lock.value) &&
	    read_end(env, split_key(env, key, name), name, &lock.expires_ns)) {
		/* By a clock that goes on, one end is never read twice the same. */
		if (!rr_cluster_has_time(env->cluster) && before_ns >= 0 && lock.expires_ns >= 0 &&
		    llabs(lock.expires_ns - before_ns) < JITTER_NS)
			lock.expires_ns = before_ns;
		rr_observer_lock(env->observer, client, &lock,
				 rr_cluster_now_ns(env->cluster) / 1000000000, remark);
	}
	if (remark[0])
		event->remark = rr_strdup(remark);
}

/* ---- Faults ------------------------------------------------------------- */

bool environment_fault(struct environment *env, const struct rr_step *step,
		       char remark[RR_REMARK_SIZE], struct rr_error *error)
{
	const struct rr_injection injection = { .fault = step->fault,
						.tear = step->tear,
						.amount = step->amount };

	if (!rr_cluster_inject(env->cluster, step->server, &injection, error))
		return false;
	if (step->fault == RR_FAULT_RESTART || step->fault == RR_FAULT_WIPE ||
	    step->fault == RR_FAULT_PROMOTE) {
		/* After a server is back, or another has taken its place: is what was seen last
		 * on it, or on who was master, still there? */
		const char *replica_of = env->race->servers[step->server].options.replica_of;
		const char *master = step->fault == RR_FAULT_PROMOTE ? replica_of : NULL;

		for (size_t i = 0; i < env->race->n_keys; i++) {
			char name[RR_VALUE_SIZE], text[RR_REPLY_TEXT_SIZE];
			const int of = split_key(env, env->race->keys[i], name);

			if ((of == step->server ||
			     (master && strcmp(master, env->race->servers[of].name) == 0)) &&
			    read_key(env, step->server, name, text))
				rr_observer_survived(env->observer, name, env->keys[i], text,
						     remark);
		}
	}
	return true;
}

/* ---- Beginning and end -------------------------------------------------- */

static bool is_master(const struct rr_race *race, const char *name)
{
	for (size_t i = 0; i < race->n_servers; i++) {
		const char *of = race->servers[i].options.replica_of;

		if (of && strcmp(of, name) == 0)
			return true;
	}
	return false;
}

size_t environment_add_denied(const struct environment *env, const struct rr_step *step, int server,
			      struct rdl_word words[RR_WORDS_MAX])
{
	const char *rules = env->cluster->servers[server].denied;
	size_t n = step->n_words;

	while (rr_step_makes_user(step) && *rules && n < RR_WORDS_MAX) {
		const size_t length = strcspn(rules, " ");

		words[n++] = (struct rdl_word){ rules, length };
		rules += length + (rules[length] == ' ');
	}
	return n;
}

/* What is there before the first step: as a client does it, unless none may. */
static bool execute_given(struct environment *env, struct rr_error *error)
{
	const struct rr_race *race = env->race;
	struct connection *client = NULL;
	bool good = true;

	if (race->n_given > 0) {
		client = connection_open(rr_cluster_address(env->cluster, 0), error);
		good = client != NULL;
	}
	for (size_t i = 0; good && i < race->n_given; i++) {
		const struct rr_step *given = &race->given[i];
		char text[RR_REPLY_TEXT_SIZE] = "no reply";
		struct rdl_word words[RR_WORDS_MAX];

		memcpy(words, given->words, given->n_words * sizeof(*words));
		if (rr_step_is_reserved(given))
			good = query_words(env, 0, environment_add_denied(env, given, 0, words),
					   words, text);
		else
			good = connection_send(client, given->n_words, words) &&
			       connection_read(client, ANSWER_MS, text) == CONNECTION_REPLY;
		if (!good || strncmp(text, "(error)", 7) == 0)
			good = rr_error_set(error, RR_ERROR_USAGE, "given %.60s: %.300s",
					    given->words[0].text, text);
	}
	connection_close(client);
	return good;
}

bool environment_open(struct environment *env, const struct rr_race *race,
		      struct rr_cluster *cluster, struct rr_observer *observer,
		      struct rr_error *error)
{
	const struct rr_injection await = { .fault = RR_FAULT_CATCH_UP };
	char from[24], text[RR_REPLY_TEXT_SIZE];
	const char *const set[] = { "SET", race->counter, from };

	*env = (struct environment){ .race = race, .cluster = cluster, .observer = observer };
	rr_cluster_reset(cluster);
	env->rights = rr_race_rights();
	for (size_t i = 0; i < race->n_servers; i++) {
		const struct rr_race_server *server = &race->servers[i];
		struct rr_server_options options = server->options;
		int number;

		options.config = server->config[0] ? server->config : NULL;
		options.rights = env->rights;
		options.tcp = options.tcp || is_master(race, server->name);
		if (!rr_cluster_declare(cluster, server->name, &options, &number, error))
			return false;
	}
	if (!rr_cluster_start(cluster, error))
		return false;
	for (size_t i = 0; i < race->n_needs; i++) {
		const struct rr_need *need = &race->needs[i];
		const char *const words[] = { "COMMAND", "INFO", need->command };
		const bool has = query_server(env, 0, 3, words, text) &&
				 strcmp(text, "[(nil)]") != 0;

		if (has == need->not_there)
			return rr_error_set(error, RR_ERROR_SKIPPED, "this server has %s%.100s",
					    has ? "" : "no ", need->command);
	}
	if (!execute_given(env, error))
		return false;
	for (size_t i = 0; i < race->n_servers; i++) {
		if (race->servers[i].options.replica_of &&
		    !rr_cluster_inject(cluster, (int)i, &await, error))
			return false;
	}
	/* Sets the counter to where it begins, and notes how everything looks. */
	snprintf(from, sizeof(from), "%lld", (long long)race->counter_from);
	if (race->counter && race->counter_from)
		query_server(env, 0, 3, set, text);
	for (size_t i = 0; i < race->n_keys; i++) {
		snprintf(env->keys[i], RR_VALUE_SIZE, "(nil)");
		env->ends_ns[i] = -1;
	}
	look_at_keys(env);
	for (size_t i = 0; i < race->n_together; i++)
		read_shown(env, race->together[i], observer->together[i]);
	return true;
}

void environment_end(struct environment *env, struct rr_observer *observer)
{
	const struct rr_race *race = env->race;
	char counter[RR_VALUE_SIZE] = "(nil)";
	char values[RR_KEYS_SHOWN_MAX][RR_VALUE_SIZE];
	char *together[RR_KEYS_SHOWN_MAX];

	if (race->counter)
		read_shown(env, race->counter, counter);
	for (size_t i = 0; i < race->n_together; i++) {
		snprintf(values[i], RR_VALUE_SIZE, "%s", observer->together[i]);
		read_shown(env, race->together[i], values[i]);
		together[i] = values[i];
	}
	rr_observer_end(observer, counter, together);
}

void environment_close(struct environment *env)
{
	for (int i = 0; i < RR_RACE_SERVERS_MAX; i++)
		stop_looking(env, i);
	free(env->rights);
}
