/* SPDX-License-Identifier: MIT */
/* Strategies, unchanged, in interleavings made on purpose. */
#include "stage.h"

static struct stage stage;

/* ---- Steps ---------------------------------------------------------------- */

Test(subject, none_loses_an_update_in_four_steps)
{
	stage_open(&stage, "none", NULL);
	stage_play(&stage, "A B A B");
	cr_assert_str_eq(stage.trace, "A> GET counter:0 => (nil)\n"
				      "B> GET counter:0 => (nil)\n"
				      "A> SET counter:0 1 => OK\n"
				      "A ends\n"
				      "B> SET counter:0 1 => OK\n"
				      "B ends\n");
	cr_assert_eq(stage.result.sum.ok, 2);
	cr_assert_eq(stage.result.final, 1);
	cr_assert_not(rr_subject_is_exact(&stage.result));
	stage_play(&stage, "A A B B");
	cr_assert_eq(stage.result.final, 2);
	cr_assert(rr_subject_is_exact(&stage.result));
	stage_close(&stage);
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

	stage_open(&stage, "local-mutex", share_a_process);
	stage_run(&stage, look_then_stop, &steps);
	b = &stage_view(&stage)->actors[1];
	cr_assert_eq(stage.result.end, RR_GATE_STOPPED);
	cr_assert_eq(b->state, RR_BLOCKED);
	cr_assert_eq(b->op->kind, RR_OP_LOCK);
	cr_assert_eq(b->op->whom, 0);
	stage_play(&stage, "A A A A B");
	cr_assert_eq(stage.result.final, 2);
	cr_assert_eq(stage.result.overlaps, 0);
	stage_close(&stage);
}

Test(subject, mutexes_of_two_processes_do_not)
{
	stage_open(&stage, "local-mutex", NULL);
	stage_play(&stage, "A A B B A B");
	cr_assert_eq(stage.result.final, 1);
	cr_assert_eq(stage.result.overlaps, 1);
	stage_close(&stage);
}

Test(subject, five_servers_are_five_steps)
{
	stage_open(&stage, "redlock", NULL);
	stage_play(&stage, "A A B A A A");
	cr_assert_eq(stage_line(&stage, "A@1> SET"), 0);
	cr_assert_eq(stage_line(&stage, "A@2> SET"), 1);
	cr_assert_eq(stage_line(&stage, "B@1> SET"), 2);
	cr_assert_eq(stage_line(&stage, "A@3> SET"), 3);
	cr_assert_eq(stage_line(&stage, "A@5> SET"), 5);
	cr_assert_eq(stage.result.final, 2);
	stage_close(&stage);
}

Test(subject, clients_wait_until_they_are_woken)
{
	stage_open(&stage, "fair-queue", NULL);
	for (int i = 0; i < 200; i++) {
		stage_play(&stage, "A B A A B");
		cr_assert_neq(stage_line(&stage, "B waited: woken"), -1, "%s",
			      stage.trace);
		cr_assert_eq(stage.result.final, 2);
	}
	stage_close(&stage);
}

/* ---- Time ----------------------------------------------------------------- */

Test(subject, reading_the_time_of_day_is_a_step)
{
	stage_open(&stage, "setnx-getset", NULL);
	stage_play(&stage, "A A");
	cr_assert_eq(stage_line(&stage, "A reads the clock: "), 0);
	cr_assert_eq(stage_line(&stage, "A> SETNX lock:0 1000000011"), 1, "%s",
		     stage.trace);
	stage_close(&stage);
}

/* A has read the clock, and its lock is dead as soon as it is there. */
Test(subject, time_passes_between_reading_and_sending)
{
	stage_open(&stage, "setnx-getset", NULL);
	stage_play(&stage, "A + A B B B B B B B");
	cr_assert_neq(stage_line(&stage, "B> GETSET"), -1, "%s", stage.trace);
	cr_assert_eq(stage.result.overlaps, 1);
	stage_close(&stage);
}

Test(subject, skewed_clock_takes_over_a_living_lock)
{
	stage_open(&stage, "setnx-getset", NULL);
	stage_play(&stage, "A A B B B");
	cr_assert_eq(stage.result.overlaps, 0);
	rr_gate_set_skew(rr_subject_gate(stage.subject), 1,
			 3600 * INT64_C(1000000000));
	stage_play(&stage, "A A B B B B B B B");
	cr_assert_eq(stage.result.overlaps, 1, "%s", stage.trace);
	stage_close(&stage);
}

Test(subject, paused_client_goes_on_when_its_time_has_come)
{
	stage_open(&stage, "none", NULL);
	stage_play(&stage, "A ~A B B . A");
	cr_assert_neq(stage_line(&stage, "A stands still until 5000000 us"),
		      -1);
	cr_assert_neq(stage_line(&stage, "time passes until 5000000 us"), -1);
	cr_assert_eq(stage.result.final, 1);
	stage_close(&stage);
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
	stage_open(&stage, "none", note_time);
	stage_play(&stage, "A + B");
	cr_assert_eq(passed_ns, 3600 * INT64_C(1000000000));
	stage_close(&stage);
}

/* ---- Faults --------------------------------------------------------------- */

Test(subject, crashed_holder_of_setnx_blocks_for_ever)
{
	stage_open(&stage, "setnx", NULL);
	stage_play(&stage, "A !A");
	cr_assert_eq(stage.result.end, RR_GATE_STOPPED);
	cr_assert_eq(stage.result.final, 0);
	cr_assert_eq(stage_view(&stage)->actors[0].state, RR_CRASHED);
	cr_assert_eq(stage_view(&stage)->actors[1].op->kind, RR_OP_SLEEP);
	cr_assert_eq(stage_line(&stage, "A> DEL"), -1);
	stage_play(&stage, "");
	cr_assert_eq(stage.result.final, 2, "the next run is whole again");
	stage_close(&stage);
}

static void bring_a_third(struct rr_subject_config *config)
{
	config->n_clients = 3;
}

/* B stands in line and is about to ask again. Nobody listens for it any more, so
 * that A's release passes it over, and C need not wait. */
Test(subject, crash_ends_the_connections)
{
	stage_open(&stage, "fair-queue", bring_a_third);
	stage_play(&stage, "A B . B !B A A");
	cr_assert_neq(stage_line(&stage, "B waited: in vain"), -1, "%s",
		      stage.trace);
	cr_assert_eq(stage_line(&stage, "C waited"), -1, "%s", stage.trace);
	cr_assert_eq(stage.result.final, 2);
	stage_close(&stage);
}

Test(subject, lost_reply_leaves_the_client_in_doubt)
{
	stage_open(&stage, "incr", NULL);
	stage_play(&stage, "?A B");
	cr_assert_eq(stage.result.clients[0].unknown, 1);
	cr_assert_eq(stage.result.clients[1].ok, 1);
	cr_assert_eq(stage.result.final, 2);
	cr_assert(rr_subject_is_exact(&stage.result));
	cr_assert_eq(stage_line(&stage, "A> INCR counter:0 => (integer) 1 (lost)"),
		     0);
	stage_close(&stage);
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

	stage_open(&stage, "lua-renewed", work_alone_for_half_a_lease);
	stage_play(&stage, "A A . A' A'");
	renewed = stage_line(&stage, "A'> EVALSHA");
	stored = stage_line(&stage, "A> SET counter:0 1");
	ended = stage_line(&stage, "A' ends");
	released = stage_line(&stage, "A> EVALSHA");
	cr_assert(0 < renewed && renewed < stored, "%s", stage.trace);
	cr_assert(stored < ended && ended < released, "%s", stage.trace);
	cr_assert_eq(stage.result.final, 1);
	cr_assert_eq(stage_view(&stage)->actors[1].state, RR_ENDED);
	stage_close(&stage);
}

Test(subject, crash_takes_the_renewer_along)
{
	stage_open(&stage, "lua-renewed", work_alone_for_half_a_lease);
	stage_play(&stage, "A A !A");
	cr_assert_eq(stage_view(&stage)->actors[0].state, RR_CRASHED);
	cr_assert_eq(stage_view(&stage)->actors[1].state, RR_CRASHED);
	cr_assert_str_eq(stage_view(&stage)->actors[1].name, "A'");
	cr_assert_eq(stage_line(&stage, "A'>"), -1);
	stage_close(&stage);
}
