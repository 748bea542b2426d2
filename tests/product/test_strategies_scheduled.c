/* SPDX-License-Identifier: MIT */
/* Strategies, unchanged, in interleavings made on purpose. */
#include <string.h>

#include "scheduled.h"

TestSuite(scheduled, .timeout = 600);

static struct scheduled it;

/* ---- Steps ------------------------------------------------------------------ */

Test(scheduled, none_loses_an_update_in_four_steps)
{
	scheduled_open(&it, "none", NULL);
	scheduled_play(&it, "A B A B");
	cr_assert_str_eq(it.trace, "A> GET counter:0 => (nil)\n"
				   "B> GET counter:0 => (nil)\n"
				   "A> SET counter:0 1 => OK\n"
				   "B> SET counter:0 1 => OK\n");
	cr_assert_eq(scheduled_ok(&it), 2);
	cr_assert_eq(scheduled_count(&it), 1);
	scheduled_play(&it, "A A B B");
	cr_assert_eq(scheduled_count(&it), 2);
	cr_assert_eq(scheduled_view(&it)->n_alive, 0);
	scheduled_close(&it);
}

static void share_a_process(struct scheduled *scheduled)
{
	scheduled->program.separate = false;
}

/* While A holds it, B is blocked; the play ends with both of them through. */
Test(scheduled, mutex_of_one_process_blocks_the_other_thread)
{
	const struct rr_live_view *view;

	scheduled_open(&it, "local-mutex", share_a_process);
	scheduled_begin(&it);
	view = scheduled_view(&it);
	cr_assert_eq(rr_live_do(it.live, view->threads[0].next, 0), RR_DID_IT);
	view = scheduled_view(&it);
	cr_assert_eq(view->threads[1].state, RR_THREAD_BLOCKED);
	cr_assert_eq(view->threads[1].stop.kind, RR_STOP_LOCK);
	cr_assert_eq(view->threads[1].holder, 0);
	cr_assert_eq(view->threads[1].ready_ns, RR_NEVER);
	scheduled_play(&it, "A A A A B");
	cr_assert_eq(scheduled_count(&it), 2);
	cr_assert_eq(it.overlaps, 0);
	scheduled_close(&it);
}

Test(scheduled, mutexes_of_two_processes_do_not)
{
	scheduled_open(&it, "local-mutex", NULL);
	scheduled_play(&it, "A A B B A B");
	cr_assert_eq(scheduled_count(&it), 1);
	cr_assert_eq(it.overlaps, 1);
	scheduled_close(&it);
}

Test(scheduled, five_servers_are_five_steps)
{
	scheduled_open(&it, "redlock", NULL);
	scheduled_play(&it, "A A B A A A");
	cr_assert_eq(scheduled_line(&it, "A@1> SET"), 0);
	cr_assert_eq(scheduled_line(&it, "A@2> SET"), 1);
	cr_assert_eq(scheduled_line(&it, "B@1> SET"), 2);
	cr_assert_eq(scheduled_line(&it, "A@3> SET"), 3);
	cr_assert_eq(scheduled_line(&it, "A@5> SET"), 5);
	cr_assert_eq(scheduled_count(&it), 2);
	scheduled_close(&it);
}

Test(scheduled, clients_wait_until_they_are_woken)
{
	scheduled_open(&it, "fair-queue", NULL);
	for (int i = 0; i < 20; i++) {
		scheduled_play(&it, "A A B B A A B");
		cr_assert_neq(scheduled_line(&it, "B waited: woken"), -1, "%s", it.trace);
		cr_assert_eq(scheduled_count(&it), 2);
	}
	scheduled_close(&it);
}

/* ---- Time ------------------------------------------------------------------- */

Test(scheduled, reading_the_time_of_day_is_a_step)
{
	scheduled_open(&it, "setnx-getset", NULL);
	scheduled_play(&it, "A A");
	cr_assert_eq(scheduled_line(&it, "A reads the clock"), 0);
	cr_assert_eq(scheduled_line(&it, "A> SETNX lock:0 1000000011"), 1, "%s", it.trace);
	scheduled_close(&it);
}

/* A has read the clock, and its lock is dead as soon as it is there. */
Test(scheduled, time_passes_between_reading_and_sending)
{
	scheduled_open(&it, "setnx-getset", NULL);
	scheduled_play(&it, "A + A B B B B B B B");
	cr_assert_neq(scheduled_line(&it, "B> GETSET"), -1, "%s", it.trace);
	cr_assert_eq(it.overlaps, 1);
	scheduled_close(&it);
}

static void put_clocks_an_hour_apart(struct scheduled *scheduled)
{
	scheduled->config.skew_ns = INT64_C(3600000000000);
}

Test(scheduled, skewed_clock_takes_over_a_living_lock)
{
	scheduled_open(&it, "setnx-getset", NULL);
	scheduled_play(&it, "A A B B B");
	cr_assert_eq(it.overlaps, 0);
	scheduled_close(&it);
	scheduled_open(&it, "setnx-getset", put_clocks_an_hour_apart);
	scheduled_play(&it, "A A B B B B B B B");
	cr_assert_eq(it.overlaps, 1, "%s", it.trace);
	scheduled_close(&it);
}

Test(scheduled, paused_client_goes_on_when_its_time_has_come)
{
	scheduled_open(&it, "none", NULL);
	scheduled_play(&it, "A ~A B B . A");
	cr_assert_neq(scheduled_line(&it, "5000000 us pass"), -1, "%s", it.trace);
	cr_assert_eq(scheduled_count(&it), 1);
	scheduled_close(&it);
}

static int64_t passed_ns;

static bool note_passing(void *context, int64_t ns)
{
	(void)context;
	passed_ns += ns;
	return true;
}

static void note_time(struct scheduled *scheduled)
{
	scheduled->config.pass = note_passing;
}

Test(scheduled, owner_is_told_how_much_time_passes)
{
	passed_ns = 0;
	scheduled_open(&it, "none", note_time);
	scheduled_play(&it, "A + B");
	cr_assert_eq(passed_ns, INT64_C(3600000000000));
	scheduled_close(&it);
}

/* ---- Faults ----------------------------------------------------------------- */

Test(scheduled, crashed_holder_of_setnx_blocks_for_ever)
{
	scheduled_open(&it, "setnx", NULL);
	scheduled_play(&it, "A !A");
	cr_assert_eq(scheduled_count(&it), 0);
	cr_assert(rr_live_has_crashed(it.live, 0));
	cr_assert_eq(scheduled_view(&it)->threads[0].state, RR_THREAD_CRASHED);
	cr_assert_eq(scheduled_view(&it)->threads[1].stop.kind, RR_STOP_ATTEMPT);
	cr_assert_eq(scheduled_line(&it, "A> DEL"), -1);
	scheduled_play(&it, "");
	cr_assert_eq(scheduled_count(&it), 2, "the next run is whole again");
	scheduled_close(&it);
}

static void bring_a_third(struct scheduled *scheduled)
{
	scheduled->program.n_clients = 3;
}

/* B stands in line. Nobody listens for it any more, so that A's release passes it
 * over, and C need not wait. */
Test(scheduled, crash_ends_the_connections)
{
	scheduled_open(&it, "fair-queue", bring_a_third);
	scheduled_play(&it, "A A B B !B A A");
	cr_assert_eq(scheduled_line(&it, "C waited"), -1, "%s", it.trace);
	cr_assert_eq(scheduled_count(&it), 2);
	scheduled_close(&it);
}

Test(scheduled, crash_is_of_a_process)
{
	scheduled_open(&it, "none", share_a_process);
	scheduled_play(&it, "A B !A");
	cr_assert(rr_live_has_crashed(it.live, 1));
	cr_assert_eq(scheduled_view(&it)->n_alive, 0);
	scheduled_close(&it);
}

Test(scheduled, lost_reply_leaves_the_outcome_indeterminate)
{
	scheduled_open(&it, "incr", NULL);
	scheduled_play(&it, "?A B");
	cr_assert_eq(rr_live_tally(it.live, 0).unknown, 1);
	cr_assert_eq(rr_live_tally(it.live, 1).ok, 1);
	cr_assert_eq(scheduled_count(&it), 2);
	cr_assert_eq(scheduled_line(&it, "A> INCR counter:0 => (integer) 1 (lost)"), 0);
	scheduled_close(&it);
}

/* MULTI, SET and EXEC are sent in one: what is behind the lost reply is executed
 * before the client knows, and it counts twice. */
Test(scheduled, what_was_sent_behind_a_lost_reply_is_executed)
{
	scheduled_open(&it, "multi-watch", NULL);
	scheduled_play(&it, "A A A ?A A");
	cr_assert_neq(scheduled_line(&it, "A> EXEC => [OK] (lost)"), -1, "%s", it.trace);
	cr_assert_geq(scheduled_count(&it), 2);
	scheduled_close(&it);
}

Test(scheduled, server_that_comes_back_has_closed_its_connections)
{
	const struct rr_transition restart = { .kind = RR_DO_RESTART };

	scheduled_open(&it, "none", NULL);
	scheduled_play(&it, "A B A B");
	scheduled_begin(&it);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(rr_live_do(it.live, i ? restart : scheduled_view(&it)->threads[0].next,
					0),
			     RR_DID_IT);
	cr_assert_eq(rr_live_do(it.live, scheduled_view(&it)->threads[0].next, 0), RR_DID_IT);
	cr_assert_eq(rr_live_tally(it.live, 0).unknown, 1);
	cr_assert_eq(rr_live_tally(it.live, 1).unknown, 0);
	scheduled_close(&it);
}

/* A's lease is over by the server's clock alone. */
Test(scheduled, clock_of_a_server_jumps)
{
	const struct rr_transition jump = { .kind = RR_DO_JUMP };

	scheduled_open(&it, "set-nx-ex", NULL);
	scheduled_begin(&it);
	cr_assert_eq(rr_live_do(it.live, scheduled_view(&it)->threads[0].next, 0), RR_DID_IT);
	cr_assert_eq(rr_live_do(it.live, jump, INT64_C(12000000000)), RR_DID_IT);
	cr_assert_eq(rr_live_do(it.live, scheduled_view(&it)->threads[1].next, 0), RR_DID_IT);
	cr_assert_eq(it.overlaps, 1);
	cr_assert_eq(scheduled_view(&it)->now_ns, 0);
	scheduled_close(&it);
}

/* What a server that is gone does to a client is no lost reply of a schedule. */
Test(scheduled, server_that_is_gone_is_an_error)
{
	struct stage *stage;

	scheduled_open(&it, "none", NULL);
	stage = &it.stage;
	scheduled_play(&it, "");
	scheduled_begin(&it);
	stage_good(stage, stage_inject(stage, 0, RR_FAULT_KILL));
	cr_assert_eq(rr_live_do(it.live, scheduled_view(&it)->threads[0].next, 0), RR_DID_FAIL);
	cr_assert_eq(rr_live_error(it.live)->kind, RR_ERROR_REDIS);
	cr_assert_eq(rr_live_tally(it.live, 0).unknown, 0);
	scheduled_close(&it);
}

/* ---- The renewer ------------------------------------------------------------ */

static void work_alone_for_half_a_lease(struct scheduled *scheduled)
{
	scheduled->program.n_clients = 1;
	scheduled->counting.hold_us = scheduled->counting.ttl_ms * 1000 / 2;
}

Test(scheduled, renewer_is_a_thread_that_ends_with_the_lock)
{
	int renewed, stored, joined, released;

	scheduled_open(&it, "lua-renewed", work_alone_for_half_a_lease);
	scheduled_play(&it, "A A . A' A'");
	renewed = scheduled_line(&it, "A'> EVAL");
	stored = scheduled_line(&it, "A> SET counter:0 1");
	joined = scheduled_line(&it, "A has joined");
	released = scheduled_line(&it, "A> EVALSHA");
	cr_assert(0 < renewed && renewed < stored, "%s", it.trace);
	cr_assert(stored < joined && joined < released, "%s", it.trace);
	cr_assert_eq(scheduled_count(&it), 1);
	scheduled_close(&it);
}

Test(scheduled, crash_takes_the_renewer_along)
{
	scheduled_open(&it, "lua-renewed", work_alone_for_half_a_lease);
	scheduled_play(&it, "A A !A");
	cr_assert_eq(scheduled_view(&it)->n_alive, 0);
	cr_assert_eq(scheduled_line(&it, "A'>"), -1);
	scheduled_close(&it);
}
