/* SPDX-License-Identifier: MIT */
/* The headings of a rehearsal's race. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster/cluster.h"
#include "record.h"

static const char *keepf(struct rr_race *race, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static const char *keepf(struct rr_race *race, const char *format, ...)
{
	char text[120];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return rr_race_keep(race, text, (size_t)length);
}

static void add_servers(struct rr_race *race, size_t lock_servers)
{
	race->servers[race->n_servers++].name =
		lock_servers ? "data" : "redis";
	for (size_t i = 1; i <= lock_servers; i++)
		race->servers[race->n_servers++].name = keepf(race, "n%zu", i);
}

/* A quorum's lock is held in no single key, and one that is handed on changes
 * its holder by its holder's command: nobody keeps an eye on those. */
static void add_keys(struct rr_race *race, const struct rr_strategy *strategy)
{
	char counter[RR_KEY_SIZE], lock[RR_KEY_SIZE];

	rr_keys_counter(counter, "", 0);
	rr_keys_lock(lock, "", 0);
	race->counter = keepf(race, "%s", counter);
	race->keys[race->n_keys++] = race->counter;
	for (size_t i = 1; i <= strategy->lock.servers; i++)
		race->keys[race->n_keys++] = keepf(race, "%s@n%zu", lock, i);
	if (!rr_lock_has_key(strategy))
		return;
	race->keys[race->n_keys++] = keepf(race, "%s", lock);
	if (strategy->lock.kind == RR_LOCK_QUEUE)
		return;
	race->lock = race->keys[race->n_keys - 1];
	race->lock_is_timestamp = strategy->lock.kind == RR_LOCK_TIMESTAMP;
	race->lock_is_count = strategy->lock.kind == RR_LOCK_COUNTER;
}

static const char *title_of(struct rr_race *race,
			    const struct rr_rehearsal_setup *setup)
{
	const struct rr_strategy *strategy = setup->strategy;

	return keepf(race, "%s: %zu client%s, %ld increment%s each%s",
		     strategy->name, setup->n_clients,
		     setup->n_clients == 1 ? "" : "s", setup->increments,
		     setup->increments == 1 ? "" : "s",
		     setup->one_process ? ", one process" : "");
}

struct rr_race *rr_record_race(const struct rr_rehearsal_setup *setup)
{
	struct rr_race *race = calloc(1, sizeof(*race));

	if (!race)
		return NULL;
	race->steps = calloc(RR_STEPS_MAX, sizeof(*race->steps));
	race->path = setup->strategy->name;
	race->title = title_of(race, setup);
	race->claims = "";
	for (size_t i = 0; i < setup->n_clients; i++)
		race->actors[race->n_actors++] = (struct rr_race_actor){
			keepf(race, "%c", 'A' + (int)i), (int)i
		};
	add_servers(race, setup->strategy->lock.servers);
	add_keys(race, setup->strategy);
	if (race->steps && race->title && race->counter)
		return race;
	rr_race_free(race);
	return NULL;
}
