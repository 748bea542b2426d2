/* SPDX-License-Identifier: MIT */
/* Runs random programs under the search. */
#include "programs_inside.h"

#include <sched.h>
#include <stdlib.h>

#include "link.h"

enum { N_STARTS = 4, PATIENCE_MS = 30000 };

/* Longer than any pop waits. */
#define LEASE_NS INT64_C(10000000000)

/* ---- Running -------------------------------------------------------------- */

void programs_make(struct programs *programs, uint64_t seed)
{
	programs->start = seed % N_STARTS;
	programs->n_clients = program_make(programs->programs, seed);
	programs_reset(programs, 0);
	for (size_t i = 0; i < programs->n_clients; i++) {
		struct program_client *client = &programs->clients[i];

		client->gate = programs->gates[programs->n_clients];
		rl_link_set_driver(client->link,
				   rr_gate_driver(client->gate, (int)i));
	}
}

char *programs_text(const struct programs *programs)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	cr_assert_not_null(file);
	fprintf(file, " start %d", programs->start);
	program_print(file, programs->programs, programs->n_clients);
	fclose(file);
	return text;
}

static void count(struct programs_run *run, enum rr_run_end how)
{
	run->schedules += how != RR_RUN_AGAIN;
	run->blocked += how == RR_RUN_BLOCKED;
	run->stuck += how == RR_RUN_STUCK;
}

void programs_run(struct programs *programs, struct programs_run *run)
{
	struct rr_gate *gate = programs->gates[programs->n_clients];
	struct rr_search *search = rr_search_new(&(struct rr_search_config){
		.n_clients = programs->n_clients,
		.separate = true,
		.all = run->all,
		.budget = run->budget,
		.lease_ns = LEASE_NS,
		.access = programs->access,
		.distort = run->distort,
		.never_wakes = run->never_wakes,
		.forgets_stuck = run->forgets_stuck,
	});

	cr_assert_not_null(search);
	programs->states[1] = programs->states[0];
	programs->states[0].n = 0;
	do {
		enum rr_gate_end end;
		enum rr_run_end how;

		rr_search_begin(search);
		end = rr_gate_run(gate, rr_search_choose, search);
		how = rr_search_learn(search, end, rr_gate_last_view(gate));
		cr_assert_neq(how, RR_RUN_BROKEN);
		programs_note(programs, how != RR_RUN_BLOCKED &&
						how != RR_RUN_AGAIN);
		count(run, how);
	} while (rr_search_next(search));
	rr_search_free(search);
}

/* ---- Opening -------------------------------------------------------------- */

static struct rr_gate *make_gate(struct programs *programs,
				 struct support *support, size_t n)
{
	struct rr_gate_client clients[PROGRAM_CLIENTS];
	struct rr_gate *gate;

	for (size_t i = 0; i < n; i++)
		clients[i] = (struct rr_gate_client){
			program_live, &programs->clients[i], (int)i, 0
		};
	gate = rr_gate_new(&(struct rr_gate_config){
		.n_clients = n,
		.clients = clients,
		.addresses = support->fleet.addresses,
		.n_addresses = 1,
	});
	cr_assert_not_null(gate);
	return gate;
}

static struct rl_link *connect_to(struct support *support)
{
	struct rl_link *link =
		rl_link_new(&support->fleet.addresses[0], PATIENCE_MS);

	cr_assert_eq(rl_link_connect(link), RL_OK, "%s", rl_link_error(link));
	return link;
}

/* The server and the clients share the processor that the test happens to be
 * on. */
struct programs *programs_open(struct support *support)
{
	struct programs *programs = calloc(1, sizeof(*programs));

	cr_assert_not_null(programs);
	rr_gate_settle(sched_getcpu());
	support_open(support, 1);
	programs->link = connect_to(support);
	programs->access = rr_access_new(support->fleet.addresses, 1);
	cr_assert_not_null(programs->access);
	for (int i = 0; i < PROGRAM_CLIENTS; i++)
		programs->clients[i] = (struct program_client){
			.link = connect_to(support),
			.program = &programs->programs[i],
			.number = i,
		};
	for (size_t n = 2; n < GATES; n++)
		programs->gates[n] = make_gate(programs, support, n);
	return programs;
}

void programs_close(struct programs *programs)
{
	for (int i = 0; i < PROGRAM_CLIENTS; i++) {
		rl_link_set_driver(programs->clients[i].link, NULL);
		rl_link_free(programs->clients[i].link);
	}
	for (size_t n = 2; n < GATES; n++)
		rr_gate_free(programs->gates[n]);
	rl_link_free(programs->link);
	rr_access_free(programs->access);
	free(programs);
}
