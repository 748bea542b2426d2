/* SPDX-License-Identifier: MIT */
/* Strategies, unchanged, in interleavings made on purpose. */
#include "gated.h"

static struct gated gated;

/* ---- Steps ---------------------------------------------------------------- */

Test(subject, none_loses_an_update_in_four_steps)
{
	gated_open(&gated, "none", NULL);
	gated_play(&gated, "A B A B");
	cr_assert_str_eq(gated.trace, "A> GET counter:0 => (nil)\n"
				      "B> GET counter:0 => (nil)\n"
				      "A> SET counter:0 1 => OK\n"
				      "A ends\n"
				      "B> SET counter:0 1 => OK\n"
				      "B ends\n");
	cr_assert_eq(gated.result.sum.ok, 2);
	cr_assert_eq(gated.result.final, 1);
	cr_assert_not(rr_subject_is_exact(&gated.result));
	gated_play(&gated, "A A B B");
	cr_assert_eq(gated.result.final, 2);
	cr_assert(rr_subject_is_exact(&gated.result));
	gated_close(&gated);
}

static void share_a_process(struct rr_subject_config *config)
{
	config->separate = false;
}

static struct rr_choice look_then_stop(void *context,
				       const struct rr_view *view)
{
	int *steps = context;

	if ((*steps)++ == 0)
		return (struct rr_choice){ .kind = RR_CHOOSE_STEP, .actor = 0 };
	return (struct rr_choice){ .kind = RR_CHOOSE_STOP,
				   .actor = (int)view->n_actors };
}

Test(subject, mutex_of_one_process_blocks_the_other_thread)
{
	const struct rr_actor_view *b;
	int steps = 0;

	gated_open(&gated, "local-mutex", share_a_process);
	gated_run(&gated, look_then_stop, &steps);
	b = &gated_view(&gated)->actors[1];
	cr_assert_eq(gated.result.end, RR_GATE_STOPPED);
	cr_assert_eq(b->state, RR_BLOCKED);
	cr_assert_eq(b->op->kind, RR_OP_LOCK);
	cr_assert_eq(b->op->whom, 0);
	gated_play(&gated, "A A A A B");
	cr_assert_eq(gated.result.final, 2);
	cr_assert_eq(gated.result.overlaps, 0);
	gated_close(&gated);
}

Test(subject, mutexes_of_two_processes_do_not)
{
	gated_open(&gated, "local-mutex", NULL);
	gated_play(&gated, "A A B B A B");
	cr_assert_eq(gated.result.final, 1);
	cr_assert_eq(gated.result.overlaps, 1);
	gated_close(&gated);
}

Test(subject, five_servers_are_five_steps)
{
	gated_open(&gated, "redlock", NULL);
	gated_play(&gated, "A A B A A A");
	cr_assert_eq(gated_line(&gated, "A@1> SET"), 0);
	cr_assert_eq(gated_line(&gated, "A@2> SET"), 1);
	cr_assert_eq(gated_line(&gated, "B@1> SET"), 2);
	cr_assert_eq(gated_line(&gated, "A@3> SET"), 3);
	cr_assert_eq(gated_line(&gated, "A@5> SET"), 5);
	cr_assert_eq(gated.result.final, 2);
	gated_close(&gated);
}

Test(subject, clients_wait_until_they_are_woken)
{
	gated_open(&gated, "fair-queue", NULL);
	for (int i = 0; i < 200; i++) {
		gated_play(&gated, "A B A A B");
		cr_assert_neq(gated_line(&gated, "B waited: woken"), -1, "%s",
			      gated.trace);
		cr_assert_eq(gated.result.final, 2);
	}
	gated_close(&gated);
}

/* ---- Time ----------------------------------------------------------------- */

Test(subject, reading_the_time_of_day_is_a_step)
{
	gated_open(&gated, "setnx-getset", NULL);
	gated_play(&gated, "A A");
	cr_assert_eq(gated_line(&gated, "A reads the clock: "), 0);
	cr_assert_eq(gated_line(&gated, "A> SETNX lock:0 1000000011"), 1, "%s",
		     gated.trace);
	gated_close(&gated);
}

/* A has read the clock, and its lock is dead as soon as it is there. */
Test(subject, time_passes_between_reading_and_sending)
{
	gated_open(&gated, "setnx-getset", NULL);
	gated_play(&gated, "A + A B B B B B B B");
	cr_assert_neq(gated_line(&gated, "B> GETSET"), -1, "%s", gated.trace);
	cr_assert_eq(gated.result.overlaps, 1);
	gated_close(&gated);
}

Test(subject, skewed_clock_takes_over_a_living_lock)
{
	gated_open(&gated, "setnx-getset", NULL);
	gated_play(&gated, "A A B B B");
	cr_assert_eq(gated.result.overlaps, 0);
	rr_gate_set_skew(rr_subject_gate(gated.subject), 1,
			 3600 * INT64_C(1000000000));
	gated_play(&gated, "A A B B B B B B B");
	cr_assert_eq(gated.result.overlaps, 1, "%s", gated.trace);
	gated_close(&gated);
}

Test(subject, paused_client_goes_on_when_its_time_has_come)
{
	gated_open(&gated, "none", NULL);
	gated_play(&gated, "A ~A B B . A");
	cr_assert_neq(gated_line(&gated, "A stands still until 5000000 us"),
		      -1);
	cr_assert_neq(gated_line(&gated, "time passes until 5000000 us"), -1);
	cr_assert_eq(gated.result.final, 1);
	gated_close(&gated);
}

static int64_t passed_ns;

static void note_advance(void *context, int64_t duration_ns)
{
	(void)context;
	passed_ns += duration_ns;
}

static void note_time(struct rr_subject_config *config)
{
	config->advance = note_advance;
}

Test(subject, owner_is_told_how_much_time_passes)
{
	passed_ns = 0;
	gated_open(&gated, "none", note_time);
	gated_play(&gated, "A + B");
	cr_assert_eq(passed_ns, 3600 * INT64_C(1000000000));
	gated_close(&gated);
}

/* ---- Faults --------------------------------------------------------------- */

Test(subject, crashed_holder_of_setnx_blocks_for_ever)
{
	gated_open(&gated, "setnx", NULL);
	gated_play(&gated, "A !A");
	cr_assert_eq(gated.result.end, RR_GATE_STOPPED);
	cr_assert_eq(gated.result.final, 0);
	cr_assert_eq(gated_view(&gated)->actors[0].state, RR_CRASHED);
	cr_assert_eq(gated_view(&gated)->actors[1].op->kind, RR_OP_SLEEP);
	cr_assert_eq(gated_line(&gated, "A> DEL"), -1);
	gated_play(&gated, "");
	cr_assert_eq(gated.result.final, 2, "the next run is whole again");
	gated_close(&gated);
}

static void bring_a_third(struct rr_subject_config *config)
{
	config->n_clients = 3;
}

/* B stands in line and is about to ask again. Nobody listens for it any more, so
 * that A's release passes it over, and C need not wait. */
Test(subject, crash_ends_the_connections)
{
	gated_open(&gated, "fair-queue", bring_a_third);
	gated_play(&gated, "A B . B !B A A");
	cr_assert_neq(gated_line(&gated, "B waited: in vain"), -1, "%s",
		      gated.trace);
	cr_assert_eq(gated_line(&gated, "C waited"), -1, "%s", gated.trace);
	cr_assert_eq(gated.result.final, 2);
	gated_close(&gated);
}

Test(subject, lost_reply_leaves_the_client_in_doubt)
{
	gated_open(&gated, "incr", NULL);
	gated_play(&gated, "?A B");
	cr_assert_eq(gated.result.clients[0].unknown, 1);
	cr_assert_eq(gated.result.clients[1].ok, 1);
	cr_assert_eq(gated.result.final, 2);
	cr_assert(rr_subject_is_exact(&gated.result));
	cr_assert_eq(gated_line(&gated, "A> INCR counter:0 => (integer) 1 (lost)"),
		     0);
	gated_close(&gated);
}

/* ---- The renewer ---------------------------------------------------------- */

static void work_alone_for_half_a_lease(struct rr_subject_config *config)
{
	config->n_clients = 1;
	config->hold_us = config->ttl_ms * 1000 / 2;
}

Test(subject, renewer_is_an_actor_that_ends_with_the_lock)
{
	int renewed, stored, ended, released;

	gated_open(&gated, "lua-renewed", work_alone_for_half_a_lease);
	gated_play(&gated, "A A . A' A'");
	renewed = gated_line(&gated, "A'> EVAL");
	stored = gated_line(&gated, "A> SET counter:0 1");
	ended = gated_line(&gated, "A' ends");
	released = gated_line(&gated, "A> EVALSHA");
	cr_assert(0 < renewed && renewed < stored, "%s", gated.trace);
	cr_assert(stored < ended && ended < released, "%s", gated.trace);
	cr_assert_eq(gated.result.final, 1);
	cr_assert_eq(gated_view(&gated)->actors[1].state, RR_ENDED);
	gated_close(&gated);
}

Test(subject, crash_takes_the_renewer_along)
{
	gated_open(&gated, "lua-renewed", work_alone_for_half_a_lease);
	gated_play(&gated, "A A !A");
	cr_assert_eq(gated_view(&gated)->actors[0].state, RR_CRASHED);
	cr_assert_eq(gated_view(&gated)->actors[1].state, RR_CRASHED);
	cr_assert_str_eq(gated_view(&gated)->actors[1].name, "A'");
	cr_assert_eq(gated_line(&gated, "A'>"), -1);
	gated_close(&gated);
}
