/* SPDX-License-Identifier: MIT */
#include "scenery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "look.h"

enum { ANSWER_MS = 2000 };

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
		const int of = rr_look_split(scenery, scenery->race->keys[i], name);

		if (stands_in(scenery->race, step, of) &&
		    rr_look_read(scenery, step->server, name, text))
			rr_observer_survived(observer, name, scenery->keys[i],
					     text, remark);
	}
}

static bool strike(struct rr_scenery *scenery, const struct rr_step *step,
		   struct rr_error *error)
{
	struct rr_cluster *cluster = scenery->cluster;
	const int server = step->server;

	switch (step->fault) {
	case RR_FAULT_KILL:
		return rr_cluster_kill(cluster, server, error);
	case RR_FAULT_SHUT_DOWN:
		return rr_cluster_shut_down(cluster, server, error);
	case RR_FAULT_AWAIT_END:
		return rr_cluster_await_end(cluster, server, ANSWER_MS, error);
	case RR_FAULT_RESTART:
		return rr_cluster_restart(cluster, server, false, error);
	case RR_FAULT_RESTART_FAILS:
		return rr_cluster_restart_fails(cluster, server, error);
	case RR_FAULT_WIPE:
		return rr_cluster_restart(cluster, server, true, error);
	case RR_FAULT_HANG:
		return rr_cluster_hang(cluster, server, error);
	case RR_FAULT_RESUME:
		return rr_cluster_go_on(cluster, server, error);
	case RR_FAULT_CUT:
		return rr_cluster_cut(cluster, server, error);
	case RR_FAULT_JOIN:
		return rr_cluster_join(cluster, server, error);
	case RR_FAULT_PROMOTE:
		return rr_cluster_promote(cluster, server, error);
	case RR_FAULT_CATCH_UP:
		return rr_cluster_catch_up(cluster, server, error);
	case RR_FAULT_POWER:
		return rr_cluster_power_cut(cluster, server, error);
	case RR_FAULT_AWAIT_SYNC:
		return rr_cluster_await_sync(cluster, server, ANSWER_MS, error);
	case RR_FAULT_AWAIT_SAVE:
		return rr_cluster_await_save(cluster, server, ANSWER_MS, error);
	case RR_FAULT_TEAR:
		return rr_cluster_tear(cluster, server, step->tear,
				       (long)step->amount, error);
	case RR_FAULT_SLOW_DISK:
		return rr_cluster_slow_disk(cluster, server,
					    step->amount / 1000, error);
	case RR_FAULT_DIE_IN_SYNC:
		return rr_cluster_die_in_sync(cluster, server, error);
	case RR_FAULT_BREAK_DISK:
		return rr_cluster_break_saving(cluster, server, error);
	case RR_FAULT_MEND_DISK:
		return rr_cluster_mend_saving(cluster, server, error);
	default:
		return rr_cluster_fill(cluster, server,
				       step->fault == RR_FAULT_FILL, error);
	}
}

bool rr_scenery_fault(struct rr_scenery *scenery, const struct rr_step *step,
		      struct rr_observer *observer, char remark[RR_REMARK_SIZE],
		      struct rr_error *error)
{
	if (!strike(scenery, step, error))
		return false;
	if (step->fault == RR_FAULT_RESTART || step->fault == RR_FAULT_WIPE ||
	    step->fault == RR_FAULT_PROMOTE)
		look_for_losses(scenery, step, observer, remark);
	return true;
}

/* ---- Beginning and end -------------------------------------------------------------------- */

static bool declare(struct rr_scenery *scenery, struct rr_error *error)
{
	rr_cluster_reset(scenery->cluster);
	for (size_t i = 0; i < scenery->race->n_servers; i++) {
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
		if (!rr_cluster_declare(scenery->cluster, server->name,
					&options, &number, error))
			return false;
	}
	return rr_cluster_start(scenery->cluster, error);
}

static bool catch_up(struct rr_scenery *scenery, struct rr_error *error)
{
	for (size_t i = 0; i < scenery->race->n_servers; i++) {
		if (scenery->race->servers[i].options.replica_of &&
		    !rr_cluster_catch_up(scenery->cluster, (int)i, error))
			return false;
	}
	return true;
}

static bool has_command(struct rr_scenery *scenery, const char *command)
{
	const char *words[] = { "COMMAND", "INFO", command };
	char text[RR_REPLY_TEXT_SIZE];

	return rr_look_ask(scenery, 0, 3, words, text) && strcmp(text, "[(nil)]") != 0;
}

static bool see_what_is_needed(struct rr_scenery *scenery,
			       struct rr_error *error)
{
	for (size_t i = 0; i < scenery->race->n_needs; i++) {
		const struct rr_need *need = &scenery->race->needs[i];
		const bool has = has_command(scenery, need->command);

		if (has != need->not_there)
			continue;
		return rr_error_set(error, RR_ERROR_SKIPPED,
				    "this server has %s%.100s",
				    has ? "" : "no ", need->command);
	}
	return true;
}

static bool do_given(struct rr_scenery *scenery, struct rr_error *error)
{
	for (size_t i = 0; i < scenery->race->n_given; i++) {
		const struct rr_step *given = &scenery->race->given[i];
		char text[RR_REPLY_TEXT_SIZE] = "no reply";

		if (!rr_look_ask(scenery, 0, given->n_words, given->words,
				 text) ||
		    strncmp(text, "(error)", 7) == 0)
			return rr_error_set(error, RR_ERROR_USAGE,
					    "given %.60s: %.300s",
					    given->words[0], text);
	}
	return true;
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
		rr_look_ask(scenery, 0, 3, words, text);
	for (size_t i = 0; i < race->n_keys; i++) {
		snprintf(scenery->keys[i], RR_VALUE_SIZE, "(nil)");
		scenery->ends_ns[i] = -1;
	}
	rr_scenery_look(scenery, keys);
	for (size_t i = 0; i < race->n_keys; i++)
		free(keys[i]);
	for (size_t i = 0; i < race->n_together; i++)
		rr_look_read_shown(scenery, race->together[i], observer->together[i]);
}

bool rr_scenery_begin(struct rr_scenery *scenery, const struct rr_race *race,
		      struct rr_cluster *cluster, struct rr_observer *observer,
		      struct rr_error *error)
{
	*scenery = (struct rr_scenery){ .race = race, .cluster = cluster };
	if (!declare(scenery, error) || !see_what_is_needed(scenery, error) ||
	    !do_given(scenery, error) || !catch_up(scenery, error))
		return false;
	look_first(scenery, observer);
	return true;
}

void rr_scenery_end(struct rr_scenery *scenery, struct rr_observer *observer)
{
	const struct rr_race *race = scenery->race;
	char counter[RR_VALUE_SIZE] = "(nil)";
	char values[RR_KEYS_SHOWN_MAX][RR_VALUE_SIZE];
	char *together[RR_KEYS_SHOWN_MAX];

	if (race->counter)
		rr_look_read_shown(scenery, race->counter, counter);
	for (size_t i = 0; i < race->n_together; i++) {
		snprintf(values[i], RR_VALUE_SIZE, "%s", observer->together[i]);
		rr_look_read_shown(scenery, race->together[i], values[i]);
		together[i] = values[i];
	}
	rr_observer_end(observer, counter, together);
}
