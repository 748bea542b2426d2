/* SPDX-License-Identifier: MIT */
#include "ahead.h"

#include <string.h>

#include "base/machine.h"

void rr_ahead_init(struct rr_ahead *ahead, const struct rr_programs_config *programs,
		   const struct rr_instance_config *instances, size_t memory)
{
	const size_t n_others = (size_t)rr_placement_count() - 1;

	*ahead = (struct rr_ahead){ .programs = programs, .instances = instances };
	ahead->most = n_others < memory ? n_others : memory;
	/* Of these it is not known yet with whom they will run. */
	if (programs->instances.process.fresh)
		ahead->most = 0;
}

void rr_ahead_expect(struct rr_ahead *ahead, uint32_t clients)
{
	ahead->is_known = true;
	ahead->expected = clients;
	for (size_t i = 0; i < ahead->n; i++)
		ahead->expected &= ~(1U << rr_instance_client(ahead->begun[i]));
}

void rr_ahead_expect_any(struct rr_ahead *ahead)
{
	ahead->is_known = false;
}

/* ---- Those that were begun ----------------------------------------------------------- */

static struct rr_instance *remove_begun(struct rr_ahead *ahead, size_t i)
{
	struct rr_instance *instance = ahead->begun[i];

	ahead->n--;
	memmove(&ahead->begun[i], &ahead->begun[i + 1], (ahead->n - i) * sizeof(ahead->begun[0]));
	return instance;
}

static bool is_same_line(const struct rr_ahead *ahead, size_t a, size_t b)
{
	return ahead->programs->argv[a] == ahead->programs->argv[b];
}

void rr_ahead_release(struct rr_ahead *ahead)
{
	while (ahead->n > 0)
		rr_instance_free(remove_begun(ahead, ahead->n - 1));
}

/* There is no room for more than what is used at once. */
static void give_up(struct rr_ahead *ahead)
{
	rr_ahead_release(ahead);
	ahead->most = 0;
}

/* One that could not stand is enough. */
static void note_line(struct rr_ahead *ahead, size_t client, bool can_stand)
{
	const bool stands = can_stand && ahead->lines[client] != RR_AHEAD_DOES_NOT;

	for (size_t i = 0; i < ahead->programs->n_clients; i++) {
		if (is_same_line(ahead, i, client))
			ahead->lines[i] = stands ? RR_AHEAD_STANDS : RR_AHEAD_DOES_NOT;
	}
	if (!stands) {
		for (size_t i = ahead->n; i-- > 0;) {
			if (is_same_line(ahead, rr_instance_client(ahead->begun[i]), client))
				rr_instance_free(remove_begun(ahead, i));
		}
	}
}

/* ---- Beginning ----------------------------------------------------------------------- */

static struct rr_instance *begin(const struct rr_ahead *ahead, size_t client, uint64_t seed,
				 int64_t late_ns, struct rr_error *error)
{
	return rr_instance_begin(ahead->instances, ahead->programs->argv[client], client,
				 ahead->programs->names[client], seed, late_ns, error);
}

/* Those that come next, behind one that is started now. */
static void begin_next(struct rr_ahead *ahead, size_t client)
{
	const bool is_first = ahead->lines[client] == RR_AHEAD_UNKNOWN;
	const size_t n_wanted = is_first && ahead->most > 0 ? 1 : ahead->most;
	size_t turns[RR_RUN_CLIENTS] = { 0 };

	if (ahead->lines[client] == RR_AHEAD_DOES_NOT)
		return;
	for (size_t i = 0; i < n_wanted && ahead->n < RR_AHEAD_MAX; i++) {
		/* Clients with the same command line take turns. */
		const size_t self = client;

		do
			client = (client + 1) % ahead->programs->n_clients;
		while (!is_same_line(ahead, self, client));
		if (ahead->is_known && !(ahead->expected >> client & 1))
			continue;
		size_t n = 0;

		for (size_t k = 0; k < ahead->n; k++)
			n += rr_instance_client(ahead->begun[k]) == client;
		if (n == turns[client]) {
			struct rr_error ignored = { 0 };
			struct rr_instance *instance =
				begin(ahead, client, rr_ahead_seed(ahead, client), 0, &ignored);

			if (!instance) {
				give_up(ahead);
				return;
			}
			ahead->expected &= ~(1U << client);
			ahead->begun[ahead->n++] = instance;
			ahead->n_unused++;
		}
		turns[client]++;
	}
}

/* ---- Starting ------------------------------------------------------------------------ */

uint64_t rr_ahead_seed(const struct rr_ahead *ahead, size_t client)
{
	return ahead->free >> client & 1 ? 0 : ahead->instances->process.seed;
}

void rr_ahead_set_free(struct rr_ahead *ahead, size_t client)
{
	rr_ahead_release(ahead);
	ahead->free |= 1U << client;
}

/* At its first stop. NULL: it is freed. */
static struct rr_instance *settle(struct rr_instance *instance, struct rr_error *error)
{
	if (!instance || rr_instance_settle(instance, error))
		return instance;
	rr_instance_free(instance);
	return NULL;
}

struct rr_instance *rr_ahead_start_other(struct rr_ahead *ahead, size_t client, uint64_t seed,
					 int64_t late_ns, struct rr_error *error)
{
	return settle(begin(ahead, client, seed, late_ns, error), error);
}

struct rr_instance *rr_ahead_start(struct rr_ahead *ahead, size_t client, struct rr_error *error)
{
	const uint64_t seed = rr_ahead_seed(ahead, client);
	struct rr_instance *instance = NULL;
	size_t i = 0;

	while (i < ahead->n && rr_instance_client(ahead->begun[i]) != client)
		i++;
	if (i < ahead->n && rr_instance_is_as_begun(ahead->begun[i])) {
		instance = remove_begun(ahead, i);
		ahead->n_unused--;
	} else if (i < ahead->n) {
		/* It could not stand until now. */
		note_line(ahead, client, false);
	}
	if (!instance)
		instance = begin(ahead, client, seed, 0, error);
	if (!instance && ahead->n > 0) {
		give_up(ahead);
		error->kind = RR_ERROR_NONE;
		instance = begin(ahead, client, seed, 0, error);
	}
	if (!instance)
		return NULL;
	ahead->expected &= ~(1U << client);
	begin_next(ahead, client);
	instance = settle(instance, error);
	if (instance) {
		note_line(ahead, client, rr_instance_can_stand(instance));
		return instance;
	}
	if (ahead->n == 0 || error->kind != RR_ERROR_DATA)
		return NULL;
	/* One that has failed beside others that were begun ahead, may have done so for them: they
	 * want the same port. It is tried once more without. */
	give_up(ahead);
	error->kind = RR_ERROR_NONE;
	return settle(begin(ahead, client, seed, 0, error), error);
}
