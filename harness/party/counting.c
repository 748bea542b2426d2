/* SPDX-License-Identifier: MIT */
#include "counting.h"

#include <stdlib.h>

#include "base/memory.h"
#include "attempt.h"
#include "compare.h"

struct seat {
	struct rr_counting *counting;
	struct rr_client_run *run;
	struct rr_client client;
	struct rr_attempt attempt;
	bool opened;
};

static bool is_alive(const struct seat *seat)
{
	return rr_client_run_is_alive(seat->run);
}

static void acknowledge(void *context)
{
	const struct seat *seat = context;

	if (is_alive(seat))
		rr_client_run_tally(seat->run)->acknowledged++;
}

/* ---- Increments ----------------------------------------------------------- */

static void count_up(void *argument)
{
	struct seat *seat = argument;
	const struct rr_counting *counting = seat->counting;
	const struct rr_strategy *strategy = counting->strategy;
	struct rr_run_tally *tally = rr_client_run_tally(seat->run);
	enum rdl_outcome outcome = RDL_OK;

	seat->opened = true;

	/* A link that does not know yet how its server deletes would do so in another way
	 * the first time: attempts would differ by what went before. */
	const struct rr_client *client = &seat->client;
	rdl_link_learn_release(client->data);
	for (size_t i = 0; i < client->n_lock_nodes; i++)
		rdl_link_learn_release(client->lock_nodes[i]);
	if (strategy->open && strategy->open(&seat->client) != RDL_OK) {
		seat->counting->cannot_open = is_alive(seat);
		return;
	}
	for (long i = 0; i < counting->increments; i++) {
		bool is_refused = true;

		/* Waiting between attempts is the explorer's: it takes as long as it likes. */
		for (tally->refused = 0; is_refused; tally->refused += is_refused) {
			if (!rr_client_run_begin_attempt(seat->run))
				return;
			outcome = rr_attempt_make(&seat->attempt);
			if (!is_alive(seat))
				return;
			is_refused = (outcome == RDL_UNKNOWN && counting->repeats) ||
				     rr_was_refused(strategy, outcome, seat->attempt.entered);
		}
		tally->ok += outcome == RDL_OK;
		tally->unknown += outcome == RDL_UNKNOWN;
		tally->failed += outcome != RDL_OK && outcome != RDL_UNKNOWN;
	}
	tally->refused = 0;
}

/* ---- Making and freeing --------------------------------------------------- */

static void *make(void *context, struct rr_client_run *run, int number, struct rdl_link **links,
		  struct rdl_mutex *mutex)
{
	static const struct rr_attempt_hooks hooks = {
		.acknowledge = acknowledge,
	};
	struct rr_counting *counting = context;
	struct seat *seat = rr_calloc(1, sizeof(*seat));

	(void)number;
	*seat = (struct seat){
		.counting = counting,
		.run = run,
		.client = { .data = links[0],
			    .lock_nodes = links + 1,
			    .n_lock_nodes = counting->n_servers - 1,
			    .counter = counting->counter,
			    .lock = counting->lock,
			    .mutex = mutex,
			    .ttl_ms = counting->ttl_ms,
			    .hold_us = counting->hold_us },
		.attempt = { .strategy = counting->strategy,
			     .client = &seat->client,
			     .hooks = &hooks,
			     .context = seat },
	};
	return seat;
}

/* The run is unwound: whatever close sends goes nowhere. */
static void free_seat(void *argument)
{
	struct seat *seat = argument;
	const struct rr_strategy *strategy = seat->counting->strategy;

	if (seat->opened && strategy->close && seat->client.state)
		strategy->close(&seat->client);
	free(seat);
}

void rr_counting_init(struct rr_counting *counting, struct rr_program *program)
{
	rr_keys_counter(counting->counter, "", 0);
	rr_keys_lock(counting->lock, "", 0);
	program->context = counting;
	program->make = make;
	program->run = count_up;
	program->free = free_seat;
	program->has_attempts = program->is_exact = true;
}

void rr_counting_release(struct rr_counting *counting)
{
	for (int i = 0; i < RR_RUN_CLIENTS; i++)
		rr_renaming_release(&counting->exchanges[i].renaming);
}

static uint32_t heard_as_self(void *context, int client, uint32_t reply)
{
	struct rr_counting *counting = context;

	return rr_exchange_reply(&counting->exchanges[client], counting->terms, 0, client, reply);
}

static uint32_t sent_as_own(void *context, int client, uint32_t command)
{
	struct rr_counting *counting = context;

	return rr_exchange_command(&counting->exchanges[client], counting->terms, 0, client,
				   command);
}

void rr_counting_share(struct rr_counting *counting, struct rr_program *program)
{
	counting->terms = program->terms;
	program->heard_as_self = heard_as_self;
	program->sent_as_own = sent_as_own;
}
