/* SPDX-License-Identifier: MIT */
/* Every lock, with something happening to its server, connection or process. */
#include "conformance.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct stage stage;
static struct party a, b;

static void open_two(size_t row)
{
	stage_open(&stage, row);
	party_open(&stage, &a, "lock");
	party_open(&stage, &b, "lock");
}

static void close_two(void)
{
	party_close(&a);
	party_close(&b);
	stage_close(&stage);
}

FOR_EVERY_LOCK(conformance_faults, scripts_are_forgotten)
{
	open_two(*row);
	for (int i = 0; i < 2; i++) {
		party_get(&a, 60000);
		stage_command(&stage, "SCRIPT FLUSH");
		stage_expect(&stage, "try", party_try(&b, 60000), RL_BUSY);
		stage_command(&stage, "SCRIPT FLUSH");
		stage_expect(&stage, "release", party_release(&a), RL_OK);
		stage_command(&stage, "SCRIPT FLUSH");
		party_get(&b, 60000);
		stage_expect(&stage, "release", party_release(&b), RL_OK);
		stage_expect_free(&stage, "lock");
	}
	close_two();
}

FOR_EVERY_LOCK(conformance_faults, connections_are_killed)
{
	open_two(*row);
	party_get(&b, 60000);
	stage_expect(&stage, "release", party_release(&b), RL_OK);
	party_get(&a, 60000);
	stage_command(&stage, "CLIENT KILL TYPE normal SKIPME yes");
	stage_command(&stage, "CLIENT KILL TYPE pubsub");
	stage_expect_held(&stage, "lock");
	stage_expect(&stage, "release", party_settle(&a), RL_OK);
	stage_expect_free(&stage, "lock");
	party_get(&b, 60000);
	stage_expect(&stage, "release", party_settle(&b), RL_OK);
	stage_expect_free(&stage, "lock");
	close_two();
}

static void expect_no_answer(const char *what, enum rl_outcome outcome)
{
	cr_assert(outcome == RL_UNKNOWN || outcome == RL_ERROR,
		  "%s: %s without a server is %s", stage.row->name, what,
		  rl_outcome_name(outcome));
}

FOR_EVERY_LOCK(conformance_faults, server_dies_and_comes_back_empty)
{
	open_two(*row);
	party_get(&a, 60000); /* the scripts are known after that */
	stage_expect(&stage, "release", party_release(&a), RL_OK);
	party_get(&a, 60000);
	party_try(&b, 60000);
	stage_kill(&stage);
	expect_no_answer("release", party_release(&a));
	expect_no_answer("try", party_try(&b, 60000));
	stage_restart(&stage);
	stage_expect(&stage, "release after that", party_settle(&a), RL_LOST);
	cr_assert_geq(stage.row->stats(a.lock)->lost, 1, "%s",
		      stage.row->name);
	cr_assert_geq(stage.row->stats(a.lock)->unknown, 1, "%s",
		      stage.row->name);
	party_get(&a, 60000);
	stage_expect(&stage, "release", party_settle(&a), RL_OK);
	party_get(&b, 60000);
	stage_expect(&stage, "release", party_settle(&b), RL_OK);
	stage_expect_free(&stage, "lock");
	stage_expect_free(&stage, "lock:line");
	close_two();
}

/* Late answers of one server and the memory loss of others are no majority. */
static void expect_late_grants_do_not_count(void)
{
	struct rl_reply reply;

	party_get(&b, 60000);
	for (size_t i = 0; i + 1 < stage.n_servers; i += 2)
		cr_assert_eq(rl_run(stage.admins[i], &reply, "DEL lock"),
			     RL_OK);
	stage_expect(&stage, "try", party_try(&a, 60000), RL_BUSY);
	stage_expect(&stage, "release", party_release(&b), RL_OK);
}

/* A server of a minority hangs, and has forgotten its scripts. What it grants
 * when it goes on has been given back before, and its late answers are
 * nobody's. */
FOR_EVERY_LOCK(conformance_faults, minority_hangs_and_answers_late)
{
	if (lock_rows[*row].n_servers < 3)
		cr_skip_test("%s has no minority", lock_rows[*row].name);
	open_two(*row);
	party_get(&a, 60000); /* the scripts are known after that */
	stage_expect(&stage, "release", party_release(&a), RL_OK);
	stage_command(&stage, "SCRIPT FLUSH");
	kill(stage.support.fleet.wards[1].pid, SIGSTOP);
	stage_expect(&stage, "try", party_try(&a, 60000), RL_OK);
	stage_expect(&stage, "release", party_release(&a), RL_OK);
	kill(stage.support.fleet.wards[1].pid, SIGCONT);
	if (!stage.row->acl) { /* else not before the next attempt */
		stage_expect_free(&stage, "lock");
		expect_late_grants_do_not_count();
	}
	for (int i = 0; i < 3; i++) {
		party_get(&a, 60000);
		stage_expect(&stage, "release", party_release(&a), RL_OK);
		stage_expect_free(&stage, "lock");
	}
	party_get(&a, 60000);
	cr_assert_eq(stage_count(&stage, "lock"), stage.n_servers, "%s",
		     stage.row->name);
	stage_expect(&stage, "try", party_try(&b, 60000), RL_BUSY);
	stage_expect(&stage, "release", party_release(&a), RL_OK);
	close_two();
}

/* ---- Fork ----------------------------------------------------------------------- */

static long long connection_of(struct party *party)
{
	struct rl_reply reply;

	return rl_run(party->links[0], &reply, "CLIENT ID") == RL_OK ?
		       reply.integer :
		       -1;
}

/* What a child finds out, as its exit status: 0, or what was wrong. */
static int be_a_child(struct party *held, struct party *free_one,
		      long long connection)
{
	if (party_release(held) != RL_LOST)
		return 1;
	if (party_remaining_ms(held) != 0)
		return 2;
	if (party_try(held, 60000) != RL_BUSY)
		return 3;
	if (held->stage->row->extend &&
	    held->stage->row->extend(held->lock, 60000) != RL_LOST)
		return 4;
	if (party_release(held) != RL_LOST)
		return 5;
	if (party_wait(free_one, 60000, 10000) != RL_OK)
		return 6;
	if (party_release(free_one) != RL_OK)
		return 7;
	return connection_of(held) == connection ? 8 : 0;
}

static int status_of_child(struct party *held, struct party *free_one,
			   long long connection)
{
	const pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(be_a_child(held, free_one, connection));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

FOR_EVERY_LOCK(conformance_faults, child_leaves_its_parents_lock_alone)
{
	struct party other;
	long long connection;
	int status;

	open_two(*row);
	party_open(&stage, &other, "other");
	party_get(&other, 60000);
	stage_expect(&stage, "release", party_release(&other), RL_OK);
	party_get(&a, 3000);
	connection = connection_of(&a);
	status = status_of_child(&a, &other, connection);
	cr_assert_eq(status, 0, "%s: the child said %d", stage.row->name,
		     status);
	cr_assert_eq(connection_of(&a), connection, "%s: another connection",
		     stage.row->name);
	cr_assert_gt(party_remaining_ms(&a), 0, "%s", stage.row->name);
	stage_expect_held(&stage, "lock");
	stage_expect(&stage, "try", party_try(&b, 60000), RL_BUSY);
	stage_expect(&stage, "release", party_release(&b), RL_LOST);
	stage_expect(&stage, "release by the parent", party_release(&a), RL_OK);
	party_get(&other, 60000);
	stage_expect(&stage, "release", party_release(&other), RL_OK);
	stage_expect_free(&stage, "lock");
	party_close(&other);
	close_two();
}
