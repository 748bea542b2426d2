/* SPDX-License-Identifier: MIT */
#include "scenery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MS = 2000 };

#define JITTER_NS INT64_C(100000000)

/* ---- Asking ------------------------------------------------------------------------ */

static bool answers(struct rr_scenery *scenery, int server)
{
	return rr_world_state(scenery->world, server) == RR_SERVER_RUNNING;
}

static void hang_up(struct rr_scenery *scenery, int server)
{
	rr_wire_close(scenery->wires[server]);
	scenery->wires[server] = NULL;
}

/* A command of our own; false when no reply can be had. */
static bool ask(struct rr_scenery *scenery, int server, size_t n,
		const char *const words[], char text[RR_REPLY_TEXT_SIZE])
{
	size_t lengths[RR_WORDS_MAX];
	char error[200];

	for (size_t i = 0; i < n; i++)
		lengths[i] = strlen(words[i]);
	/* A connection that a fault has closed is opened again, once. */
	for (int i = 0; i < 2 && answers(scenery, server); i++) {
		struct rr_wire **wire = &scenery->wires[server];

		if (!*wire)
			*wire = rr_wire_open(rr_world_address(scenery->world,
							      server),
					     error, sizeof(error));
		if (*wire && rr_wire_send(*wire, n, words, lengths) &&
		    rr_wire_read(*wire, ANSWER_MS, text) == RR_WIRE_REPLY)
			return true;
		hang_up(scenery, server);
	}
	return false;
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
	{ "zset", 5, { "ZRANGE", NULL, "0", "-1", "WITHSCORES" } },
};

/* A key's value, whatever its type; "(nil)" when it is not there. */
static bool read_key(struct rr_scenery *scenery, int server, const char *key,
		     char text[RR_REPLY_TEXT_SIZE])
{
	const char *const type[] = { "TYPE", key };

	if (!ask(scenery, server, 2, type, text))
		return false;
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		const char *words[5];

		if (strcmp(text, readers[i].type) != 0)
			continue;
		for (size_t w = 0; w < readers[i].n; w++)
			words[w] = readers[i].words[w] ? readers[i].words[w] :
							 key;
		return ask(scenery, server, readers[i].n, words, text);
	}
	snprintf(text, RR_REPLY_TEXT_SIZE, "(nil)");
	return true;
}

/* KEY, or KEY@SERVER: the key's name into `name`, its server's number. */
static int split_key(const struct rr_scenery *scenery, const char *key,
		     char name[RR_VALUE_SIZE])
{
	const char *at = strrchr(key, '@');
	int server = 0;

	for (size_t i = 0; at && i < scenery->race->n_servers; i++) {
		if (strcmp(scenery->race->servers[i].name, at + 1) == 0)
			server = (int)i;
	}
	snprintf(name, RR_VALUE_SIZE, "%.*s",
		 at ? (int)(at - key) : (int)strlen(key), key);
	return server;
}

/* When a key's lease ends, in virtual time; -1 = never, or it is not there. */
static bool read_end(struct rr_scenery *scenery, int server, const char *key,
		     int64_t *ends_ns)
{
	const char *const words[] = { "PTTL", key };
	char text[RR_REPLY_TEXT_SIZE];
	long long left_ms;

	if (!ask(scenery, server, 2, words, text))
		return false;
	left_ms = atoll(text + strcspn(text, "-0123456789"));
	*ends_ns = left_ms < 0 ? -1 :
				 rr_world_now_ns(scenery->world) +
					 left_ms * INT64_C(1000000);
	return true;
}

static bool read_shown(struct rr_scenery *scenery, const char *key,
		       char value[RR_VALUE_SIZE])
{
	char name[RR_VALUE_SIZE], text[RR_REPLY_TEXT_SIZE];
	const int server = split_key(scenery, key, name);

	if (!read_key(scenery, server, name, text))
		return false;
	snprintf(value, RR_VALUE_SIZE, "%.*s", RR_VALUE_SIZE - 1, text);
	return true;
}

/* ---- Looking -------------------------------------------------------------------------- */

/* One key, as it is or as it must have become while nobody could be asked. */
static void look_at(struct rr_scenery *scenery, size_t i)
{
	int64_t *ends_ns = &scenery->ends_ns[i];
	char name[RR_VALUE_SIZE];
	const int server = split_key(scenery, scenery->race->keys[i], name);

	if (read_shown(scenery, scenery->race->keys[i], scenery->keys[i]) &&
	    read_end(scenery, server, name, ends_ns))
		return;
	if (*ends_ns >= 0 && rr_world_now_ns(scenery->world) > *ends_ns)
		snprintf(scenery->keys[i], RR_VALUE_SIZE, "(nil)");
}

void rr_scenery_look(struct rr_scenery *scenery, char *keys[RR_KEYS_SHOWN_MAX])
{
	for (size_t i = 0; i < scenery->race->n_keys; i++) {
		look_at(scenery, i);
		keys[i] = strdup(scenery->keys[i]);
	}
}

/* By a clock that goes on, one end is never read twice the same. */
static void settle_end(const struct rr_scenery *scenery, int64_t before_ns,
		       int64_t *ends_ns)
{
	if (!rr_world_has_time(scenery->world) && before_ns >= 0 &&
	    *ends_ns >= 0 && llabs(*ends_ns - before_ns) < JITTER_NS)
		*ends_ns = before_ns;
}

void rr_scenery_look_at_lock(struct rr_scenery *scenery, int actor,
			     struct rr_observer *observer,
			     char remark[RR_REMARK_SIZE])
{
	const char *key = scenery->race->lock;
	const int64_t now_ns = rr_world_now_ns(scenery->world);
	char name[RR_VALUE_SIZE], text[RR_REPLY_TEXT_SIZE];
	struct rr_lock_state lock = { .expires_ns = -1 };
	int server;

	if (!key)
		return;
	server = split_key(scenery, key, name);
	if (!read_key(scenery, server, name, text))
		return;
	snprintf(lock.value, sizeof(lock.value), "%.*s", RR_VALUE_SIZE - 1,
		 text);
	if (!read_end(scenery, server, name, &lock.expires_ns))
		return;
	settle_end(scenery, observer->lock.expires_ns, &lock.expires_ns);
	rr_observer_lock(observer, actor, &lock, now_ns / 1000000000, remark);
}

/* ---- Faults ----------------------------------------------------------------------------- */

/* Is what `of` held to be looked for: on itself, or on who takes its place? */
static bool stands_in(const struct rr_race *race, const struct rr_step *step,
		      int of)
{
	const char *master = race->servers[step->server].options.replica_of;

	if (step->server == of)
		return true;
	return step->fault == RR_FAULT_PROMOTE && master &&
	       strcmp(master, race->servers[of].name) == 0;
}

/* After a server is back, or another has taken its place: is what was seen last
 * still there? */
static void look_for_losses(struct rr_scenery *scenery,
			    const struct rr_step *step,
			    struct rr_observer *observer,
			    char remark[RR_REMARK_SIZE])
{
	for (size_t i = 0; i < scenery->race->n_keys; i++) {
		char name[RR_VALUE_SIZE], text[RR_REPLY_TEXT_SIZE];
		const int of = split_key(scenery, scenery->race->keys[i], name);

		if (stands_in(scenery->race, step, of) &&
		    read_key(scenery, step->server, name, text))
			rr_observer_survived(observer, name, scenery->keys[i],
					     text, remark);
	}
}

static enum rr_exit strike(struct rr_scenery *scenery,
			   const struct rr_step *step,
			   char error[RR_WORLD_ERROR])
{
	struct rr_world *world = scenery->world;
	const int server = step->server;

	switch (step->fault) {
	case RR_FAULT_KILL:
		return rr_world_kill(world, server, error);
	case RR_FAULT_SHUT_DOWN:
		return rr_world_shut_down(world, server, error);
	case RR_FAULT_AWAIT_END:
		return rr_world_await_end(world, server, ANSWER_MS, error);
	case RR_FAULT_RESTART:
		return rr_world_restart(world, server, false, error);
	case RR_FAULT_RESTART_FAILS:
		return rr_world_restart_fails(world, server, error);
	case RR_FAULT_WIPE:
		return rr_world_restart(world, server, true, error);
	case RR_FAULT_HANG:
		return rr_world_hang(world, server, error);
	case RR_FAULT_RESUME:
		return rr_world_go_on(world, server, error);
	case RR_FAULT_CUT:
		return rr_world_cut(world, server, error);
	case RR_FAULT_JOIN:
		return rr_world_join(world, server, error);
	case RR_FAULT_PROMOTE:
		return rr_world_promote(world, server, error);
	case RR_FAULT_CATCH_UP:
		return rr_world_catch_up(world, server, error);
	case RR_FAULT_POWER:
		return rr_world_power_cut(world, server, error);
	case RR_FAULT_AWAIT_SYNC:
		return rr_world_await_sync(world, server, ANSWER_MS, error);
	case RR_FAULT_AWAIT_SAVE:
		return rr_world_await_save(world, server, ANSWER_MS, error);
	case RR_FAULT_TEAR:
		return rr_world_tear(world, server, step->tear,
				     (long)step->amount, error);
	case RR_FAULT_SLOW_DISK:
		return rr_world_slow_disk(world, server, step->amount / 1000,
					  error);
	case RR_FAULT_DIE_IN_SYNC:
		return rr_world_die_in_sync(world, server, error);
	case RR_FAULT_BREAK_DISK:
		return rr_world_break_saving(world, server, error);
	case RR_FAULT_MEND_DISK:
		return rr_world_mend_saving(world, server, error);
	default:
		return rr_world_fill(world, server,
				     step->fault == RR_FAULT_FILL, error);
	}
}

enum rr_exit rr_scenery_fault(struct rr_scenery *scenery,
			      const struct rr_step *step,
			      struct rr_observer *observer,
			      char remark[RR_REMARK_SIZE],
			      char error[RR_WORLD_ERROR])
{
	const enum rr_exit code = strike(scenery, step, error);

	if (code == RR_EXIT_OK && (step->fault == RR_FAULT_RESTART ||
				   step->fault == RR_FAULT_WIPE ||
				   step->fault == RR_FAULT_PROMOTE))
		look_for_losses(scenery, step, observer, remark);
	return code;
}

/* ---- Beginning and end -------------------------------------------------------------------- */

static enum rr_exit declare(struct rr_scenery *scenery,
			    char error[RR_WORLD_ERROR])
{
	enum rr_exit code = RR_EXIT_OK;

	rr_world_reset(scenery->world);
	for (size_t i = 0; i < scenery->race->n_servers && code == RR_EXIT_OK;
	     i++) {
		const struct rr_race_server *server =
			&scenery->race->servers[i];
		struct rr_server_options options = server->options;
		int number;

		if (server->config[0])
			options.config = server->config;
		for (size_t j = i + 1; j < scenery->race->n_servers; j++) {
			const char *of =
				scenery->race->servers[j].options.replica_of;

			if (of && strcmp(of, server->name) == 0)
				options.tcp = true;
		}
		code = rr_world_declare(scenery->world, server->name, &options,
					&number, error);
	}
	return code == RR_EXIT_OK ? rr_world_start(scenery->world, error) :
				    code;
}

static enum rr_exit catch_up(struct rr_scenery *scenery,
			     char error[RR_WORLD_ERROR])
{
	enum rr_exit code = RR_EXIT_OK;

	for (size_t i = 0; i < scenery->race->n_servers && code == RR_EXIT_OK;
	     i++) {
		if (scenery->race->servers[i].options.replica_of)
			code = rr_world_catch_up(scenery->world, (int)i,
						 error);
	}
	return code;
}

static bool has_command(struct rr_scenery *scenery, const char *command)
{
	const char *words[] = { "COMMAND", "INFO", command };
	char text[RR_REPLY_TEXT_SIZE];

	return ask(scenery, 0, 3, words, text) && strcmp(text, "[(nil)]") != 0;
}

static enum rr_exit see_what_is_needed(struct rr_scenery *scenery,
				       char error[RR_WORLD_ERROR])
{
	for (size_t i = 0; i < scenery->race->n_needs; i++) {
		const struct rr_need *need = &scenery->race->needs[i];
		const bool has = has_command(scenery, need->command);

		if (has != need->not_there)
			continue;
		snprintf(error, RR_WORLD_ERROR, "this server has %s%.100s",
			 has ? "" : "no ", need->command);
		return RR_EXIT_SKIPPED;
	}
	return RR_EXIT_OK;
}

static enum rr_exit do_given(struct rr_scenery *scenery,
			     char error[RR_WORLD_ERROR])
{
	for (size_t i = 0; i < scenery->race->n_given; i++) {
		const struct rr_step *given = &scenery->race->given[i];
		char text[RR_REPLY_TEXT_SIZE] = "no reply";

		if (!ask(scenery, 0, given->n_words, given->words, text) ||
		    strncmp(text, "(error)", 7) == 0) {
			snprintf(error, RR_WORLD_ERROR, "given %.60s: %.300s",
				 given->words[0], text);
			return RR_EXIT_USAGE;
		}
	}
	return RR_EXIT_OK;
}

/* Sets the counter to where it begins, and notes how everything looks. */
static void look_first(struct rr_scenery *scenery, struct rr_observer *observer)
{
	const struct rr_race *race = scenery->race;
	char from[24], text[RR_REPLY_TEXT_SIZE];
	char *keys[RR_KEYS_SHOWN_MAX] = { NULL };
	const char *words[] = { "SET", race->counter, from };

	snprintf(from, sizeof(from), "%lld", (long long)race->counter_from);
	if (race->counter && race->counter_from)
		ask(scenery, 0, 3, words, text);
	for (size_t i = 0; i < race->n_keys; i++) {
		snprintf(scenery->keys[i], RR_VALUE_SIZE, "(nil)");
		scenery->ends_ns[i] = -1;
	}
	rr_scenery_look(scenery, keys);
	for (size_t i = 0; i < race->n_keys; i++)
		free(keys[i]);
	for (size_t i = 0; i < race->n_together; i++)
		read_shown(scenery, race->together[i], observer->together[i]);
}

enum rr_exit rr_scenery_begin(struct rr_scenery *scenery,
			      const struct rr_race *race,
			      struct rr_world *world,
			      struct rr_observer *observer,
			      char error[RR_WORLD_ERROR])
{
	enum rr_exit code;

	*scenery = (struct rr_scenery){ .race = race, .world = world };
	code = declare(scenery, error);
	if (code == RR_EXIT_OK)
		code = see_what_is_needed(scenery, error);
	if (code == RR_EXIT_OK)
		code = do_given(scenery, error);
	if (code == RR_EXIT_OK)
		code = catch_up(scenery, error);
	if (code == RR_EXIT_OK)
		look_first(scenery, observer);
	return code;
}

void rr_scenery_close(struct rr_scenery *scenery)
{
	for (int i = 0; i < RR_RACE_SERVERS_MAX; i++)
		hang_up(scenery, i);
}

void rr_scenery_end(struct rr_scenery *scenery, struct rr_observer *observer)
{
	const struct rr_race *race = scenery->race;
	char counter[RR_VALUE_SIZE] = "(nil)";
	char values[RR_KEYS_SHOWN_MAX][RR_VALUE_SIZE];
	char *together[RR_KEYS_SHOWN_MAX];

	if (race->counter)
		read_shown(scenery, race->counter, counter);
	for (size_t i = 0; i < race->n_together; i++) {
		snprintf(values[i], RR_VALUE_SIZE, "%s", observer->together[i]);
		read_shown(scenery, race->together[i], values[i]);
		together[i] = values[i];
	}
	rr_observer_end(observer, counter, together);
}
