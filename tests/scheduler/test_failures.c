/* SPDX-License-Identifier: MIT */
/* Runs that show nothing about the clients, and say so. */
#include "gated.h"

/* ---- Runs that do not end ------------------------------------------------- */

struct sleeper {
	struct rr_gate *gate;
	struct rl_link *link;
};

static void sleep_for_ever(void *argument)
{
	const struct sleeper *sleeper = argument;

	while (!rr_gate_is_dead(sleeper->gate, 0))
		rl_sleep_ns(sleeper->link, 1000);
}

Test(failures, run_that_does_not_end_is_cut)
{
	const struct rl_address nowhere = { .is_unix = true };
	struct sleeper sleeper = { .link = rl_link_new(&nowhere, 100) };
	const struct rr_gate_client client = { sleep_for_ever, &sleeper, 0, 0 };
	enum rr_gate_end end;

	sleeper.gate = rr_gate_new(&(struct rr_gate_config){
		.n_clients = 1, .clients = &client });
	cr_assert_not_null(sleeper.gate);
	rl_link_set_driver(sleeper.link, rr_gate_driver(sleeper.gate, 0));
	end = rr_gate_run(sleeper.gate, rr_choose_serial, NULL);
	cr_assert_eq(end, RR_GATE_TOO_LONG);
	cr_assert_not_null(rr_gate_failure(end));
	cr_assert_eq(rr_gate_last_trace(sleeper.gate)->n_events,
		     RR_GATE_EVENTS);
	rl_link_free(sleeper.link);
	rr_gate_free(sleeper.gate);
}

/* ---- Servers that do not answer ------------------------------------------- */

static void stay(struct rr_subject_config *config)
{
	config->servers_stay = true;
}

/* Before the second step, all connections are cut from outside. */
static struct rr_choice cut_connections(void *context,
					const struct rr_view *view)
{
	struct rl_link *link = context;
	struct rl_reply reply;

	if (view->trace->n_events == 1)
		rl_run(link, &reply, "CLIENT KILL TYPE normal SKIPME yes");
	return rr_choose_serial(NULL, view);
}

static void run_and_cut(struct gated *gated)
{
	struct rl_link *link =
		rl_link_new(&gated->support.cluster.servers[0].address, 2000);

	rr_subject_run(gated->subject, cut_connections, link, &gated->result);
	rl_link_free(link);
}

Test(failures, silent_server_is_no_lost_reply)
{
	struct gated gated;

	gated_open(&gated, "none", stay);
	run_and_cut(&gated);
	cr_assert_eq(gated.result.end, RR_GATE_SILENT);
	gated_close(&gated);
}

Test(failures, server_that_need_not_stay_leaves_the_client_in_doubt)
{
	struct gated gated;

	gated_open(&gated, "none", NULL);
	run_and_cut(&gated);
	cr_assert_eq(gated.result.end, RR_GATE_DONE);
	cr_assert_eq(gated.result.clients[0].unknown, 1);
	gated_close(&gated);
}

Test(failures, chosen_loss_is_none)
{
	struct gated gated;

	gated_open(&gated, "none", stay);
	gated_play(&gated, "A ?A B B");
	cr_assert_eq(gated.result.end, RR_GATE_DONE);
	cr_assert_eq(gated.result.clients[0].unknown, 1);
	gated_close(&gated);
}
