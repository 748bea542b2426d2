/* SPDX-License-Identifier: MIT */
/* Runs of clients, alone: brought to a state of the table, and kept there. */
#include <stdlib.h>

#include "base/memory.h"
#include "client_table.h"

/* ---- Bringing ----------------------------------------------------------------- */

bool rr_client_table_check_run(struct rr_client_table *table, const struct rr_client_run *run)
{
	const struct rr_error *problem;
	const enum rr_going going = rr_client_run_going(run, &problem);

	if (going == RR_AGAIN)
		return false;
	if (going != RR_GO_ON)
		return rr_error_set(&table->error, problem->kind, "%s", problem->text);
	if (!rr_client_run_view(run)->is_too_much)
		return true;
	return rr_error_set(
		&table->error, RR_ERROR_INTERNAL,
		"a client has more threads, connections, mutexes or commands in flight than there is room for (18, 4 to each server, 16, 96)");
}

/* A run has come to a state that is known. Does it do the same there? */
static bool does_as_known(struct rr_client_table *table, struct rr_client_run *run, int client,
			  struct rr_client_state *state)
{
	const struct rr_run_view known = rr_client_state_view(state);

	rr_client_run_compare(run, &known, state->client);
	state->is_seen_again = rr_client_table_check_run(table, run);
	if (state->is_seen_again)
		state->clients |= 1U << client;
	return state->is_seen_again;
}

static bool feed_to(struct rr_client_table *table, struct rr_client_run *run, int client,
		    uint32_t to)
{
	const uint32_t depth = table->states[to].depth;
	uint32_t *way = rr_malloc((depth + 1) * sizeof(*way));
	bool good = rr_client_table_check_run(table, run);

	for (uint32_t i = depth + 1; i-- > 0; to = table->states[to].parent)
		way[i] = to;
	for (uint32_t i = 0; i <= depth && good; i++) {
		struct rr_client_state *state = &table->states[way[i]];

		if (i > 0)
			rr_client_run_feed(run, &state->input, state->passed_ns);
		good = does_as_known(table, run, client, state);
	}
	free(way);
	return good;
}

/* A new run, brought to a state. NULL: table->error. */
static struct rr_client_run *bring_run(struct rr_client_table *table, int client, uint32_t to)
{
	struct rr_client_run *run = rr_client_run_new(table->program, client);

	table->n_runs++;
	if (table->n_states == 0 ? rr_client_table_check_run(table, run) :
				   feed_to(table, run, client, to))
		return run;
	rr_client_run_free(run);
	return NULL;
}

int rr_client_table_first_client(const struct rr_client_table *table)
{
	return __builtin_ctz(table->clients);
}

int rr_client_table_next_client(struct rr_client_table *table)
{
	int client;

	if (table->is_of_first)
		return rr_client_table_first_client(table);
	do
		client = table->next_client++ % (int)table->program->n_clients;
	while (!(table->clients >> client & 1));
	return client;
}

bool rr_client_table_run_again(struct rr_client_table *table, int client, uint32_t state,
			       const struct rr_client_row *row)
{
	struct rr_client_run *run = bring_run(table, client, state);
	bool good = run != NULL;

	if (run && row) {
		rr_client_run_feed(run, &row->input, row->passed_ns);
		good = does_as_known(table, run, client, &table->states[row->to]);
	}
	/* Such a run may learn what nobody has seen before. */
	if (run && good && !row && !table->states[state].has_ended &&
	    (!table->is_of_first || client == rr_client_table_first_client(table)))
		rr_client_table_keep_run(table, state, client, run, 0);
	else if (run)
		rr_client_run_free(run);
	return good;
}

/* ---- Keeping ------------------------------------------------------------------ */

static struct rr_kept_run *find_kept(const struct rr_client_table *table, uint32_t state)
{
	struct rr_kept_runs *kept = table->kept;

	for (size_t i = 0; i < kept->n; i++) {
		if (kept->all[i].table == table && kept->all[i].at == state)
			return &kept->all[i];
	}
	return NULL;
}

static void forget_kept(struct rr_kept_runs *kept, struct rr_kept_run *which)
{
	*which = kept->all[--kept->n];
}

struct rr_client_run *rr_client_table_take_run(struct rr_client_table *table, uint32_t state,
					       int64_t passed_ns, int *client)
{
	struct rr_kept_run *kept = find_kept(table, state);
	struct rr_client_run *run;

	if (!kept || kept->unread_ns > passed_ns) {
		*client = rr_client_table_next_client(table);
		return bring_run(table, *client, state);
	}
	run = kept->run;
	*client = kept->client;
	table->kept->taken = kept->used;
	forget_kept(table->kept, kept);
	return run;
}

void rr_client_table_keep_run(struct rr_client_table *table, uint32_t state, int client,
			      struct rr_client_run *run, int64_t unread_ns)
{
	struct rr_kept_runs *kept = table->kept;

	if (find_kept(table, state)) {
		rr_client_run_free(run);
		return;
	}
	if (kept->n == kept->most) {
		struct rr_kept_run *oldest = &kept->all[0], *newest = &kept->all[0];
		struct rr_kept_run *least;

		for (size_t i = 1; i < kept->n; i++) {
			if (kept->all[i].used < oldest->used)
				oldest = &kept->all[i];
			if (kept->all[i].used > newest->used)
				newest = &kept->all[i];
		}
		least = oldest->used < kept->taken ? oldest : newest;

		rr_client_run_free(least->run);
		forget_kept(kept, least);
	}
	kept->all[kept->n++] = (struct rr_kept_run){
		.table = table,
		.at = state,
		.client = client,
		.run = run,
		.unread_ns = unread_ns,
		.used = ++kept->n_uses,
	};
}

void rr_client_table_drop_run(struct rr_client_table *table, uint32_t state)
{
	struct rr_kept_run *kept = find_kept(table, state);

	if (!kept)
		return;
	rr_client_run_free(kept->run);
	forget_kept(table->kept, kept);
}

void rr_client_table_drop_runs(struct rr_client_table *table)
{
	struct rr_kept_runs *kept = table->kept;

	for (size_t i = kept->n; i-- > 0;) {
		if (kept->all[i].table != table)
			continue;
		rr_client_run_free(kept->all[i].run);
		forget_kept(kept, &kept->all[i]);
	}
}
