/* SPDX-License-Identifier: MIT */
/* The gate with programs of its own: mutexes, choices that cannot be. */
#include <stdlib.h>

#include "gated.h"

enum { CLIENTS = 2, MUTEXES = 2 };

struct program {
	struct rl_link *link;
	struct rl_mutex *first, *second;
};

/* Philosophers, with two forks. */
static void lock_both(void *argument)
{
	struct program *program = argument;

	rl_mutex_lock(program->link, program->first);
	rl_mutex_lock(program->link, program->second);
	rl_mutex_unlock(program->link, program->second);
	rl_mutex_unlock(program->link, program->first);
}

static void sleep_thrice(void *argument)
{
	struct program *program = argument;

	for (int i = 0; i < 3; i++)
		rl_sleep_ns(program->link, 1000);
}

struct table {
	struct rr_gate *gate;
	struct rl_mutex mutexes[MUTEXES];
	struct program programs[CLIENTS];
};

static void table_open(struct table *table, void (*routine)(void *))
{
	const struct rl_address nowhere = { .is_unix = true };
	struct rr_gate_client clients[CLIENTS];

	for (int i = 0; i < CLIENTS; i++) {
		rl_mutex_init(&table->mutexes[i]);
		table->programs[i] = (struct program){
			.link = rl_link_new(&nowhere, 100),
			.first = &table->mutexes[i],
			.second = &table->mutexes[1 - i],
		};
		clients[i] = (struct rr_gate_client){
			routine, &table->programs[i], i, 0
		};
	}
	table->gate = rr_gate_new(&(struct rr_gate_config){
		.n_clients = CLIENTS, .clients = clients });
	cr_assert_not_null(table->gate);
	for (int i = 0; i < CLIENTS; i++)
		rl_link_set_driver(table->programs[i].link,
				   rr_gate_driver(table->gate, i));
}

static void table_close(struct table *table)
{
	rr_gate_free(table->gate);
	for (int i = 0; i < CLIENTS; i++) {
		rl_link_free(table->programs[i].link);
		rl_mutex_destroy(&table->mutexes[i]);
	}
}

Test(gate, deadlock_is_reported_with_who_waits_for_whom)
{
	const struct rr_view *view;
	struct table table;

	table_open(&table, lock_both);
	cr_assert_eq(rr_gate_run(table.gate, rr_choose_serial, NULL),
		     RR_GATE_DONE);
	cr_assert_eq(rr_gate_run(table.gate, rr_choose_in_turn, NULL),
		     RR_GATE_DEADLOCK);
	view = rr_gate_last_view(table.gate);
	for (int i = 0; i < CLIENTS; i++) {
		cr_assert_eq(view->actors[i].state, RR_BLOCKED);
		cr_assert_eq(view->actors[i].op->kind, RR_OP_LOCK);
		cr_assert_eq(view->actors[i].op->whom, 1 - i);
		cr_assert_eq(view->actors[i].ready_ns, RR_NEVER);
	}
	cr_assert_eq(rr_gate_run(table.gate, rr_choose_serial, NULL),
		     RR_GATE_DONE, "the next run is as if nothing had been");
	table_close(&table);
}

Test(gate, time_stands_still_but_for_the_chooser)
{
	struct table table;

	table_open(&table, sleep_thrice);
	cr_assert_eq(rr_gate_run(table.gate, rr_choose_serial, NULL),
		     RR_GATE_DONE);
	cr_assert_eq(rr_gate_last_view(table.gate)->now_ns, 3000);
	table_close(&table);
}

static struct rr_choice choose_the_blocked(void *context,
					   const struct rr_view *view)
{
	(void)context;
	(void)view;
	return (struct rr_choice){ .kind = RR_CHOOSE_STEP, .actor = 1 };
}

static struct rr_choice choose_the_past(void *context,
					const struct rr_view *view)
{
	(void)context;
	return (struct rr_choice){ .kind = RR_CHOOSE_PASS,
				   .until_ns = view->now_ns };
}

static struct rr_choice choose_nobody(void *context, const struct rr_view *view)
{
	(void)context;
	return (struct rr_choice){ .kind = RR_CHOOSE_CRASH,
				   .actor = (int)view->n_actors };
}

Test(gate, choices_that_cannot_be_end_the_run)
{
	struct table table;

	table_open(&table, sleep_thrice);
	cr_assert_eq(rr_gate_run(table.gate, choose_the_blocked, NULL),
		     RR_GATE_BAD_CHOICE);
	cr_assert_eq(rr_gate_run(table.gate, choose_the_past, NULL),
		     RR_GATE_BAD_CHOICE);
	cr_assert_eq(rr_gate_run(table.gate, choose_nobody, NULL),
		     RR_GATE_BAD_CHOICE);
	table_close(&table);
}
