/* SPDX-License-Identifier: MIT */
/* Every lock, with something happening to its server, connection or process. */
#include "conformance.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct scene scene;
static struct rival a, b;

static void open_two(size_t row)
{
	scene_open(&scene, row);
	rival_open(&scene, &a, "lock");
	rival_open(&scene, &b, "lock");
}

static void close_two(void)
{
	rival_close(&a);
	rival_close(&b);
	scene_close(&scene);
}

FOR_EVERY_LOCK(conformance_faults, scripts_are_forgotten)
{
	open_two(*row);
	for (int i = 0; i < 2; i++) {
		rival_get(&a, 60000);
		scene_command(&scene, "SCRIPT FLUSH");
		scene_expect(&scene, "try", rival_try(&b, 60000), RDL_BUSY);
		scene_command(&scene, "SCRIPT FLUSH");
		scene_expect(&scene, "release", rival_release(&a), RDL_OK);
		scene_command(&scene, "SCRIPT FLUSH");
		rival_get(&b, 60000);
		scene_expect(&scene, "release", rival_release(&b), RDL_OK);
		scene_expect_free(&scene, "lock");
	}
	close_two();
}

FOR_EVERY_LOCK(conformance_faults, connections_are_killed)
{
	open_two(*row);
	rival_get(&b, 60000);
	scene_expect(&scene, "release", rival_release(&b), RDL_OK);
	rival_get(&a, 60000);
	scene_command(&scene, "CLIENT KILL TYPE normal SKIPME yes");
	scene_command(&scene, "CLIENT KILL TYPE pubsub");
	/* A connection that was read within the last millisecond is not asked whether it is
	 * closed: a release down it gets no answer, and a quorum that has enough others leaves
	 * that server's key to its next attempt (test_quorum_left.c). */
	scene_sleep_ms(&scene, 5);
	scene_expect_held(&scene, "lock");
	scene_expect(&scene, "release", rival_settle(&a), RDL_OK);
	scene_expect_free(&scene, "lock");
	rival_get(&b, 60000);
	scene_expect(&scene, "release", rival_settle(&b), RDL_OK);
	scene_expect_free(&scene, "lock");
	close_two();
}

static void expect_no_answer(const char *what, enum rdl_outcome outcome)
{
	cr_assert(outcome == RDL_UNKNOWN || outcome == RDL_ERROR, "%s: %s without a server is %s",
		  scene.row->name, what, rdl_outcome_name(outcome));
}

FOR_EVERY_LOCK(conformance_faults, server_dies_and_comes_back_empty)
{
	open_two(*row);
	rival_get(&a, 60000); /* the scripts are known after that */
	scene_expect(&scene, "release", rival_release(&a), RDL_OK);
	rival_get(&a, 60000);
	rival_try(&b, 60000);
	scene_kill(&scene);
	expect_no_answer("release", rival_release(&a));
	expect_no_answer("try", rival_try(&b, 60000));
	scene_restart(&scene);
	scene_expect(&scene, "release after that", rival_settle(&a), RDL_LOST);
	cr_assert_geq(scene.row->stats(a.lock)->lost, 1, "%s", scene.row->name);
	rival_get(&a, 60000);
	scene_expect(&scene, "release", rival_settle(&a), RDL_OK);
	rival_get(&b, 60000);
	scene_expect(&scene, "release", rival_settle(&b), RDL_OK);
	scene_expect_free(&scene, "lock");
	scene_expect_free(&scene, "lock:line");
	close_two();
}

/* Late answers of one server and the memory loss of others are no majority. */
static void expect_late_grants_do_not_count(void)
{
	struct rdl_reply reply;

	rival_get(&b, 60000);
	for (size_t i = 0; i + 1 < scene.n_servers; i += 2)
		cr_assert_eq(rdl_run(scene.admins[i], &reply, "DEL lock"), RDL_OK);
	scene_expect(&scene, "try", rival_try(&a, 60000), RDL_BUSY);
	scene_expect(&scene, "release", rival_release(&b), RDL_OK);
}

/* A server of a minority hangs, and has forgotten its scripts. What it grants
 * when it goes on has been given back before, and its late answers are
 * nobody's. */
FOR_EVERY_LOCK(conformance_faults, minority_hangs_and_answers_late)
{
	if (lock_rows[*row].n_servers < 3)
		cr_skip_test("%s: no minority", lock_rows[*row].name);
	open_two(*row);
	rival_get(&a, 60000); /* the scripts are known after that */
	scene_expect(&scene, "release", rival_release(&a), RDL_OK);
	scene_command(&scene, "SCRIPT FLUSH");
	kill(scene.support.cluster.servers[1].process.pid, SIGSTOP);
	scene_expect(&scene, "try", rival_try(&a, 60000), RDL_OK);
	scene_expect(&scene, "release", rival_release(&a), RDL_OK);
	kill(scene.support.cluster.servers[1].process.pid, SIGCONT);
	/* Of what comes in one turn of a server the last may be answered first; before the next
	 * turn all of it is. */
	for (int i = 0; i < 2; i++)
		scene_count(&scene, "lock");
	if (!scene.row->acl) { /* else not before a later attempt */
		scene_expect_free(&scene, "lock");
		expect_late_grants_do_not_count();
	}
	for (int i = 0; i < 3; i++) {
		rival_get(&a, 60000);
		scene_expect(&scene, "release", rival_release(&a), RDL_OK);
		if (!scene.row->acl || i == 2)
			scene_expect_free(&scene, "lock");
	}
	rival_get(&a, 60000);
	cr_assert_eq(scene_count(&scene, "lock"), scene.n_servers, "%s", scene.row->name);
	scene_expect(&scene, "try", rival_try(&b, 60000), RDL_BUSY);
	scene_expect(&scene, "release", rival_release(&a), RDL_OK);
	close_two();
}

/* ---- Fork ----------------------------------------------------------------------- */

static long long connection_of(struct rival *party)
{
	struct rdl_reply reply;

	return rdl_run(party->links[0], &reply, "CLIENT ID") == RDL_OK ? reply.integer : -1;
}

/* What a child finds out, as its exit status: 0, or what was wrong. */
static int be_a_child(struct rival *held, struct rival *free_one, long long connection)
{
	if (rival_release(held) != RDL_LOST)
		return 1;
	if (rival_remaining_ms(held) != 0)
		return 2;
	if (rival_try(held, 60000) != RDL_BUSY)
		return 3;
	if (held->scene->row->extend && held->scene->row->extend(held->lock, 60000) != RDL_LOST)
		return 4;
	if (rival_release(held) != RDL_LOST)
		return 5;
	if (rival_wait(free_one, 60000, 10000) != RDL_OK)
		return 6;
	if (rival_release(free_one) != RDL_OK)
		return 7;
	return connection_of(held) == connection ? 8 : 0;
}

static int status_of_child(struct rival *held, struct rival *free_one, long long connection)
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
	struct rival other;
	long long connection;
	int status;

	open_two(*row);
	rival_open(&scene, &other, "other");
	rival_get(&other, 60000);
	scene_expect(&scene, "release", rival_release(&other), RDL_OK);
	rival_get(&a, 60000);
	connection = connection_of(&a);
	status = status_of_child(&a, &other, connection);
	cr_assert_eq(status, 0, "%s: the child said %d", scene.row->name, status);
	cr_assert_eq(connection_of(&a), connection, "%s: another connection", scene.row->name);
	cr_assert_gt(rival_remaining_ms(&a), 0, "%s", scene.row->name);
	scene_expect_held(&scene, "lock");
	scene_expect(&scene, "try", rival_try(&b, 60000), RDL_BUSY);
	scene_expect(&scene, "release", rival_release(&b), RDL_LOST);
	scene_expect(&scene, "release by the parent", rival_release(&a), RDL_OK);
	rival_get(&other, 60000);
	scene_expect(&scene, "release", rival_release(&other), RDL_OK);
	scene_expect_free(&scene, "lock");
	rival_close(&other);
	close_two();
}
