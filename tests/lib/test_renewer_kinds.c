/* SPDX-License-Identifier: MIT */
/* The shared renewer with every kind of lock that it can extend. */
#include "conformance.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../party.h"

enum { HOLD_MS = 60000, SHORT_MS = 1000, LEASE_MS = 5000, ATTEMPTS = 3 };

struct losses {
	const struct scene *scene;
	_Atomic int n;
	_Atomic(void *) last;
	_Atomic int64_t at_ms;
};

/* Rows whose lock a renewer takes. */
static struct criterion_test_params every_renewable(void)
{
	static size_t rows[32];
	size_t n = 0;

	for (size_t i = 0; i < n_lock_rows; i++) {
		if (lock_rows[i].renew)
			rows[n++] = i;
	}
	return cr_make_param_array(size_t, rows, n);
}

#define FOR_EVERY_RENEWABLE(name)                        \
	ParameterizedTestParameters(renewer_kinds, name) \
	{                                                \
		return every_renewable();                \
	}                                                \
	ParameterizedTest(size_t *row, renewer_kinds, name)

static struct scene scene;
static struct rival party;
static struct losses losses;
static struct rdl_renewer *renewer;

static void on_loss(void *context, void *lock)
{
	struct losses *lost = context;

	lost->at_ms = scene_now_ms(lost->scene);
	lost->last = lock;
	lost->n++;
}

static void begin(size_t row)
{
	scene_open(&scene, row);
	rival_open(&scene, &party, "key");
	losses.scene = &scene;
	renewer = rdl_renewer_new(party.links[0], on_loss, &losses);
}

static void end(void)
{
	rival_close(&party);
	rdl_renewer_free(renewer);
	scene_close(&scene);
}

static void expect(const char *what, enum rdl_outcome got, enum rdl_outcome wanted)
{
	scene_expect(&scene, what, got, wanted);
}

static void add(long hold_max_ms)
{
	expect("add", scene.row->renew(renewer, party.lock, hold_max_ms), RDL_OK);
}

static void await_losses(int n)
{
	for (int i = 0; losses.n < n; i++) {
		cr_assert_lt(i, 4000, "%s: %d of %d losses", scene.row->name, losses.n, n);
		scene_sleep_ms(&scene, 5);
	}
	cr_assert_eq(losses.last, party.lock);
	cr_assert_eq(rival_remaining_ms(&party), 0);
}

FOR_EVERY_RENEWABLE(it_is_kept_beyond_its_lease)
{
	struct rival other;

	begin(*row);
	rival_open(&scene, &other, "key");
	expect("not held", scene.row->renew(renewer, party.lock, HOLD_MS), RDL_LOST);
	rival_get(&party, SHORT_MS);
	expect("no time", scene.row->renew(renewer, party.lock, 0), RDL_ERROR);
	add(HOLD_MS);
	expect("twice", scene.row->renew(renewer, party.lock, HOLD_MS), RDL_BUSY);
	scene_sleep_ms(&scene, SHORT_MS + SHORT_MS / 2);
	cr_assert_gt(rival_remaining_ms(&party), 0, "%s", scene.row->name);
	expect("a rival", rival_try(&other, SHORT_MS), RDL_BUSY);
	rival_release(&other); /* out of a line */
	expect("again", rival_try(&party, SHORT_MS), RDL_BUSY);
	if (scene.row->extend)
		expect("extend", scene.row->extend(party.lock, LEASE_MS), RDL_ERROR);
	expect("release", rival_release(&party), RDL_OK);
	scene_expect_free(&scene, "key");
	cr_assert_eq(losses.n, 0);
	rival_close(&other);
	end();
}

FOR_EVERY_RENEWABLE(it_may_be_removed_and_freed)
{
	begin(*row);
	rival_get(&party, LEASE_MS);
	add(HOLD_MS);
	expect("remove", rdl_renewer_remove(renewer, party.lock), RDL_OK);
	expect("remove twice", rdl_renewer_remove(renewer, party.lock), RDL_LOST);
	cr_assert_gt(rival_remaining_ms(&party), 0);
	add(HOLD_MS);
	scene_sleep_ms(&scene, LEASE_MS / 2);
	rdl_renewer_free(renewer);
	renewer = NULL;
	cr_assert_gt(rival_remaining_ms(&party), LEASE_MS / 2, "%s: nothing was extended",
		     scene.row->name);
	expect("release", rival_release(&party), RDL_OK);
	renewer = rdl_renewer_new(party.links[0], on_loss, &losses);
	rival_get(&party, SHORT_MS);
	add(HOLD_MS);
	rival_close(&party); /* frees it while it is in the list */
	rival_open(&scene, &party, "key");
	scene_sleep_ms(&scene, SHORT_MS + SHORT_MS / 4);
	rival_get(&party, SHORT_MS);
	end();
}

FOR_EVERY_RENEWABLE(loss_is_reported_and_it_may_be_acquired_again)
{
	begin(*row);
	rival_get(&party, SHORT_MS);
	add(HOLD_MS);
	scene_command(&scene, "FLUSHALL");
	await_losses(1);
	rival_get(&party, SHORT_MS);
	add(2 * SHORT_MS);
	scene_sleep_ms(&scene, SHORT_MS + SHORT_MS / 2);
	cr_assert_gt(rival_remaining_ms(&party), 0, "%s", scene.row->name);
	await_losses(2); /* its hold_max_ms have passed */
	scene_sleep_ms(&scene, SHORT_MS / 2);
	scene_expect_free(&scene, "key");
	cr_assert_eq(losses.n, 2);
	end();
}

/* A server that is silent from the acquire on: the holder knows before the lease ends there.
 * On a loaded machine the thread may wake late, so that there are several attempts. */
static void expect_loss_in_time(void (*begin_silence)(void), void (*end_silence)(void))
{
	for (int attempt = 0;; attempt++) {
		int64_t begun_ms, heard_ms;

		scene_command(&scene, "FLUSHALL");
		begun_ms = scene_now_ms(&scene);
		rival_get(&party, LEASE_MS);
		add(HOLD_MS);
		begin_silence();
		await_losses(attempt + 1);
		heard_ms = losses.at_ms - begun_ms;
		end_silence();
		if (heard_ms < LEASE_MS)
			return;
		cr_assert_lt(attempt, ATTEMPTS, "%s: lost after %lld ms", scene.row->name,
			     (long long)heard_ms);
	}
}

static void stop(void)
{
	servers_signal(&scene.support, 0, scene.n_servers, SIGSTOP);
}

static void carry_on(void)
{
	servers_signal(&scene.support, 0, scene.n_servers, SIGCONT);
}

FOR_EVERY_RENEWABLE(stopped_server_is_a_loss_before_the_lease_ends)
{
	begin(*row);
	expect_loss_in_time(stop, carry_on);
	end();
}

static void kill_servers(void)
{
	scene_kill(&scene);
}

static void restart_servers(void)
{
	scene_restart(&scene);
}

FOR_EVERY_RENEWABLE(killed_server_is_a_loss_before_the_lease_ends)
{
	begin(*row);
	expect_loss_in_time(kill_servers, restart_servers);
	end();
}

/* A short absence is bridged, as long as the server remembers; here it was only stopped. */
FOR_EVERY_RENEWABLE(short_silence_is_no_loss)
{
	begin(*row);
	rival_get(&party, LEASE_MS);
	add(HOLD_MS);
	stop();
	scene_sleep_ms(&scene, LEASE_MS / 2);
	carry_on();
	scene_sleep_ms(&scene, LEASE_MS);
	cr_assert_eq(losses.n, 0, "%s", scene.row->name);
	expect("release", rival_release(&party), RDL_OK);
	end();
}

static int use_in_child(void)
{
	struct rival own;

	if (rival_remaining_ms(&party) != 0 || rival_release(&party) != RDL_LOST)
		return 1;
	rival_open(&scene, &own, "childs");
	rival_get(&own, SHORT_MS);
	if (scene.row->renew(renewer, own.lock, HOLD_MS) != RDL_ERROR)
		return 2;
	rival_close(&own);
	scene.row->free(party.lock);
	rdl_renewer_free(renewer);
	return 0;
}

FOR_EVERY_RENEWABLE(child_leaves_its_parents_renewal_alone)
{
	int status;
	pid_t pid;

	begin(*row);
	rival_get(&party, SHORT_MS);
	add(HOLD_MS);
	pid = fork();
	if (pid == 0)
		_exit(use_in_child());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "%s: %d", scene.row->name, status);
	scene_sleep_ms(&scene, SHORT_MS + SHORT_MS / 2);
	cr_assert_gt(rival_remaining_ms(&party), 0);
	expect("release", rival_release(&party), RDL_OK);
	cr_assert_eq(losses.n, 0);
	end();
}
