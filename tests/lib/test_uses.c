/* SPDX-License-Identifier: MIT */
/* What a user of the library does that its authors did not think of first: frees what is held,
 * asks a server that hangs, is refused or has closed an idle connection. */
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hold.h"
#include "link.h"
#include "relay.h"

enum { LONG_MS = 60000 };

TestSuite(uses, .init = pair_setup, .fini = pair_teardown);

static int64_t now_ms(void)
{
	return rdl_now_ns(other, RDL_CLOCK_MONOTONIC) / 1000000;
}

static void sleep_ms(long ms)
{
	rdl_sleep_ns(other, ms * INT64_C(1000000));
}

static pid_t server(void)
{
	return support.cluster.servers[0].process.pid;
}

static void command(const char *text)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "EVAL %s 0", text), RDL_OK, "%s",
		     rdl_link_error(other));
}

/* ---- Freeing ----------------------------------------------------------- */

Test(uses, renewed_lock_that_is_held_may_be_freed)
{
	for (int i = 0; i < 20; i++) {
		struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", LONG_MS);
		const struct rdl_policy policy = { .wait_ms = LONG_MS };

		cr_assert_eq(rdl_renewed_acquire(renewed, 30, &policy), RDL_OK);
		sleep_ms(i);
		rdl_renewed_free(renewed);
		sleep_ms(50); /* nothing renews it, and it was not released */
		cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	}
}

Test(uses, renewed_lock_that_was_lost_may_be_freed)
{
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", LONG_MS);

	cr_assert_eq(rdl_renewed_try(renewed, 1500), RDL_OK);
	cr_assert_str_eq(support_ask(other, "DEL", "lock"), "1");
	while (rdl_renewed_check(renewed) == RDL_OK)
		sleep_ms(1);
	rdl_renewed_free(renewed);
}

/* ---- A release without an answer ---------------------------------------- */

/* Releases while the server is stopped. */
static void stop_server_for(enum rdl_outcome (*release)(void *lock), void *lock)
{
	rdl_link_set_timeout(link_, 200);
	kill(server(), SIGSTOP);
	cr_assert_eq(release(lock), RDL_UNKNOWN);
}

static void resume(void)
{
	kill(server(), SIGCONT);
	rdl_link_set_timeout(link_, RR_TIMEOUT_MS);
}

static enum rdl_outcome release_token_lock(void *lock)
{
	return rdl_lock_release(lock);
}

static enum rdl_outcome release_renewed(void *lock)
{
	return rdl_renewed_release(lock);
}

static enum rdl_outcome release_fair(void *lock)
{
	return rdl_fair_release(lock);
}

static enum rdl_outcome release_quorum(void *lock)
{
	return rdl_quorum_release(lock);
}

Test(uses, released_token_lock_is_not_held_whatever_the_server_says)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");

	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	stop_server_for(release_token_lock, lock);
	cr_assert_eq(rdl_lock_remaining_ms(lock), 0);
	resume();
	cr_assert_eq(rdl_lock_extend(lock, LONG_MS), RDL_LOST, "it was given up");
	cr_assert_neq(rdl_lock_release(lock), RDL_UNKNOWN);
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	cr_assert_gt(rdl_lock_remaining_ms(lock), 0);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	rdl_lock_free(lock);
}

Test(uses, queued_release_is_a_release)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");

	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	cr_assert_eq(rdl_lock_queue_release(lock), RDL_OK);
	cr_assert_eq(rdl_lock_remaining_ms(lock), 0);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	cr_assert_eq(rdl_lock_receive_release(lock), RDL_OK);
	rdl_lock_free(lock);
}

Test(uses, released_renewed_lock_is_lost_whatever_the_server_says)
{
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", LONG_MS);

	cr_assert_eq(rdl_renewed_try(renewed, 30000), RDL_OK);
	stop_server_for(release_renewed, renewed);
	cr_assert_eq(rdl_renewed_remaining_ms(renewed), 0);
	cr_assert_eq(rdl_renewed_check(renewed), RDL_LOST);
	resume();
	cr_assert_eq(rdl_renewed_try(renewed, 30000), RDL_OK);
	cr_assert_eq(rdl_renewed_check(renewed), RDL_OK);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	rdl_renewed_free(renewed);
}

Test(uses, released_fair_lock_is_not_held_whatever_the_server_says)
{
	struct rdl_fair *fair = rdl_fair_new(link_, "lock", NULL);

	cr_assert_eq(rdl_fair_try(fair, LONG_MS), RDL_OK);
	stop_server_for(release_fair, fair);
	cr_assert_eq(rdl_fair_remaining_ms(fair), 0);
	resume();
	cr_assert_eq(rdl_fair_acquire(fair, LONG_MS, &(struct rdl_policy){ .wait_ms = LONG_MS }),
		     RDL_OK);
	cr_assert_gt(rdl_fair_remaining_ms(fair), 0);
	cr_assert_eq(rdl_fair_release(fair), RDL_OK);
	rdl_fair_free(fair);
}

Test(uses, released_quorum_is_not_held_whatever_the_servers_say)
{
	struct rdl_quorum *quorum = rdl_quorum_new(&link_, 1, "lock", 1000);

	cr_assert_eq(rdl_quorum_try(quorum, LONG_MS), RDL_OK);
	stop_server_for(release_quorum, quorum);
	cr_assert_eq(rdl_quorum_remaining_ms(quorum), 0);
	kill(server(), SIGCONT);
	for (int i = 0; i < 100 && rdl_quorum_release(quorum) == RDL_UNKNOWN; i++)
		sleep_ms(10);
	cr_assert_eq(rdl_quorum_try(quorum, LONG_MS), RDL_OK);
	cr_assert_gt(rdl_quorum_remaining_ms(quorum), 0);
	rdl_quorum_free(quorum);
}

/* ---- A request without an answer ---------------------------------------- */

Test(uses, attempt_that_may_be_granted_is_not_called_an_error)
{
	struct relay relay;
	struct rdl_link *through;
	struct rdl_lock *lock;
	const struct rdl_policy policy = { .wait_ms = 300 };

	cr_assert(relay_start(&relay, &support.cluster.servers[0].address));
	through = rdl_link_new(&relay.address, RR_TIMEOUT_MS);
	lock = rdl_lock_new(through, "lock");
	cr_assert_eq(rdl_link_connect(through), RDL_OK);
	relay_cut(&relay, RELAY_REPLIES, 0); /* done, and the reply is lost; then: refused */
	unlink(relay.address.host);
	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &policy), RDL_UNKNOWN);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "1");
	cr_assert_eq(rdl_lock_remaining_ms(lock), 0);
	rdl_lock_free(lock);
	rdl_link_free(through);
	relay_stop(&relay);
}

/* ---- Limits of waiting --------------------------------------------------- */

Test(uses, wait_bounds_a_server_that_hangs)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct rdl_fair *fair = rdl_fair_new(link_, "fair", NULL);
	const struct rdl_policy policy = { .wait_ms = 100 };
	int64_t start_ms;

	cr_assert_eq(rdl_fair_try(fair, LONG_MS), RDL_OK); /* connects */
	cr_assert_eq(rdl_fair_release(fair), RDL_OK);
	rdl_link_set_timeout(link_, 20000);
	kill(server(), SIGSTOP);
	start_ms = now_ms();
	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &policy), RDL_UNKNOWN);
	cr_expect_leq(now_ms() - start_ms, 10000, "token lock: %ld ms",
		      (long)(now_ms() - start_ms));
	start_ms = now_ms();
	cr_assert_neq(rdl_fair_acquire(fair, LONG_MS, &policy), RDL_OK);
	cr_expect_leq(now_ms() - start_ms, 10000, "fair lock: %ld ms", (long)(now_ms() - start_ms));
	resume();
	rdl_fair_free(fair);
	rdl_lock_free(lock);
}

struct cancel {
	int fd;
	long after_ms;
};

static void *cancel_later(void *argument)
{
	const struct cancel *cancel = argument;
	const struct timespec pause = { 0, cancel->after_ms * 1000000 };

	nanosleep(&pause, NULL);
	eventfd_write(cancel->fd, 1);
	return NULL;
}

Test(uses, cancellation_ends_the_wait_for_a_reply)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct cancel cancel = { eventfd(0, 0), 100 };
	const struct rdl_policy policy = { .wait_ms = LONG_MS, .cancel_fd = &cancel.fd };
	pthread_t thread;
	int64_t start_ms;

	cr_assert_eq(rdl_link_connect(link_), RDL_OK);
	rdl_link_set_timeout(link_, 20000);
	kill(server(), SIGSTOP);
	start_ms = now_ms();
	pthread_create(&thread, NULL, cancel_later, &cancel);
	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &policy), RDL_UNKNOWN);
	cr_assert_leq(now_ms() - start_ms, 5000);
	pthread_join(thread, NULL);
	resume();
	close(cancel.fd);
	rdl_lock_free(lock);
}

Test(uses, policy_of_zeroes_does_not_listen_to_standard_input)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	const struct rdl_policy policy = { .wait_ms = LONG_MS };
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "x", 1), 1);
	cr_assert_eq(dup2(ends[0], 0), 0);
	command("return redis.call('SET', 'lock', 'theirs', 'PX', 100)");
	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &policy), RDL_OK);
	rdl_lock_free(lock);
}

/* A caller that was compiled when a policy ended with wait_ms. */
Test(uses, shorter_policy_counts_as_zeroes_behind_its_end)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	const struct rdl_policy policy = { .size = offsetof(struct rdl_policy, pause_min_us),
					   .wait_ms = LONG_MS,
					   .pause_min_us = 3600000000,
					   .pause_max_us = 3600000000,
					   .least_ms = 10 * LONG_MS };

	command("return redis.call('SET', 'lock', 'theirs', 'PX', 100)");
	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &policy), RDL_OK);
	rdl_lock_free(lock);
}

Test(uses, negative_pauses_are_the_default_ones)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	const struct rdl_policy policy = { .wait_ms = LONG_MS,
					   .pause_min_us = -5000000,
					   .pause_max_us = -1 };

	command("return redis.call('SET', 'lock', 'theirs', 'PX', 100)");
	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &policy), RDL_OK);
	cr_assert_leq(rdl_lock_stats(lock)->attempts, 300);
	rdl_lock_free(lock);
}

/* ---- A server that is not there ------------------------------------------ */

struct comeback {
	struct relay relay;
	long after_ms;
};

static void *come_back(void *argument)
{
	struct comeback *comeback = argument;
	const struct timespec pause = { 0, comeback->after_ms * 1000000 };

	nanosleep(&pause, NULL);
	cr_assert(relay_start(&comeback->relay, &support.cluster.servers[0].address));
	return NULL;
}

/* A lock on a server where nobody listens yet. */
static struct rdl_lock *lock_behind_the_relay(struct rdl_link **through)
{
	struct rdl_address address = support.cluster.servers[0].address;

	strcat(address.host, ".relay");
	*through = rdl_link_new(&address, RR_TIMEOUT_MS);
	return rdl_lock_new(*through, "lock");
}

Test(uses, refused_connection_is_waited_through)
{
	struct comeback comeback = { .after_ms = 200 };
	const struct rdl_policy policy = { .wait_ms = LONG_MS };
	struct rdl_link *through;
	struct rdl_lock *lock = lock_behind_the_relay(&through);
	pthread_t thread;

	pthread_create(&thread, NULL, come_back, &comeback);
	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &policy), RDL_OK, "%s",
		     rdl_link_error(through));
	pthread_join(thread, NULL);
	rdl_lock_free(lock);
	rdl_link_free(through);
	relay_stop(&comeback.relay);
}

Test(uses, refused_connection_ends_it_where_the_policy_says_so)
{
	const struct rdl_policy fast = { .wait_ms = LONG_MS, .fails_fast = true };
	const struct rdl_policy slow = { .wait_ms = 1000 };
	struct rdl_link *through;
	struct rdl_lock *lock = lock_behind_the_relay(&through);

	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &fast), RDL_ERROR);
	cr_assert_eq(rdl_lock_stats(lock)->attempts, 1);
	cr_assert_eq(rdl_link_reason(through), RDL_REASON_UNREACHABLE);
	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &slow), RDL_ERROR);
	cr_assert_gt(rdl_lock_stats(lock)->attempts, 2);
	rdl_lock_free(lock);
	rdl_link_free(through);
}

/* ---- Reasons --------------------------------------------------------------- */

Test(uses, errors_have_a_kind)
{
	struct rdl_reply reply;
	const char *bad = "GET a%s";

	command("return redis.call('SET', 'k', 'v')");
	cr_assert_eq(rdl_run(link_, &reply, "LPUSH k x"), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_TYPE);
	cr_assert_eq(rdl_run(link_, &reply, "NOSUCHCOMMAND"), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_SERVER);
	cr_assert_eq(rdl_run(link_, &reply, bad, "b"), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_CALLER);
	cr_assert_eq(rdl_run(link_, &reply, "AUTH nobody wrong"), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_AUTH);
	cr_assert_eq(rdl_run(link_, &reply, "CONFIG SET maxmemory 1"), RDL_OK);
	cr_assert_eq(rdl_run(link_, &reply, "SET k w"), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_MEMORY);
	cr_assert_eq(rdl_run(link_, &reply, "CONFIG SET maxmemory 0"), RDL_OK);
}

Test(uses, replica_is_read_only)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "REPLICAOF 127.0.0.1 1"), RDL_OK);
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_READ_ONLY);
	rdl_lock_free(lock);
}

Test(uses, lock_on_a_full_server_is_out_of_memory)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct rdl_fair *fair = rdl_fair_new(link_, "fair", NULL);
	struct rdl_reply reply;
	long long number;

	cr_assert_eq(rdl_run(other, &reply, "CONFIG SET maxmemory 1"), RDL_OK);
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_MEMORY);
	cr_assert_eq(rdl_lock_try_fenced(lock, LONG_MS, &number), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_MEMORY, "in a script: %s",
		     rdl_link_error(link_));
	cr_assert_eq(rdl_fair_try(fair, LONG_MS), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_MEMORY, "in a script: %s",
		     rdl_link_error(link_));
	cr_assert_eq(rdl_run(other, &reply, "CONFIG SET maxmemory 0"), RDL_OK);
	rdl_fair_free(fair);
	rdl_lock_free(lock);
}

Test(uses, script_that_meets_another_type_says_so)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct rdl_fair *fair = rdl_fair_new(link_, "fair", NULL);
	long long number;

	command("redis.call('LPUSH', 'lock:fence', 'x') return redis.call('SET', 'fair:line', 'x')");
	cr_assert_eq(rdl_lock_try_fenced(lock, LONG_MS, &number), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_TYPE, "%s", rdl_link_error(link_));
	command("return redis.call('SET', 'fair', 'theirs')");
	cr_assert_eq(rdl_fair_try(fair, LONG_MS), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_TYPE, "%s", rdl_link_error(link_));
	command("redis.call('DEL', 'fair') return redis.call('DEL', 'fair:line')");
	rdl_fair_free(fair);
	rdl_lock_free(lock);
}

Test(uses, error_inside_exec_has_its_kind)
{
	struct rdl_reply reply;

	command("return redis.call('LPUSH', 'k', 'x')");
	cr_assert_eq(rdl_queue(link_, "MULTI"), RDL_OK);
	cr_assert_eq(rdl_queue(link_, "INCR k"), RDL_OK);
	cr_assert_eq(rdl_exec(link_, 2, &reply), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_TYPE);
	cr_assert_eq(rdl_run(other, &reply, "CONFIG SET maxmemory 1"), RDL_OK);
	cr_assert_eq(rdl_queue(link_, "MULTI"), RDL_OK);
	cr_assert_eq(rdl_queue(link_, "SET k v"), RDL_OK);
	cr_assert_eq(rdl_exec(link_, 2, &reply), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_MEMORY);
	cr_assert_eq(rdl_run(other, &reply, "CONFIG SET maxmemory 0"), RDL_OK);
}

Test(uses, wrong_password_is_no_server_that_is_away)
{
	struct rdl_address address = support.addresses[0];
	struct rdl_lock *lock;
	struct rdl_link *link;
	struct rdl_reply reply;
	const struct rdl_policy policy = { .wait_ms = LONG_MS };

	strcpy(address.password, "wrong");
	link = rdl_link_new(&address, RR_TIMEOUT_MS);
	lock = rdl_lock_new(link, "lock");
	cr_assert_eq(rdl_run(other, &reply, "CONFIG SET requirepass right"), RDL_OK);
	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &policy), RDL_ERROR); /* at once */
	cr_assert_eq(rdl_link_reason(link), RDL_REASON_AUTH, "%s", rdl_link_error(link));
	rdl_lock_free(lock);
	rdl_link_free(link);
	address.password[0] = '\0';
	link = rdl_link_new(&address, RR_TIMEOUT_MS);
	cr_assert_eq(rdl_run(link, &reply, "GET k"), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link), RDL_REASON_AUTH, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_run(other, &reply, "CONFIG SET requirepass %s", ""), RDL_OK);
	rdl_link_free(link);
}

Test(uses, silence_is_not_an_answer)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct rdl_link *late;
	struct rdl_reply reply;

	cr_assert_eq(rdl_link_connect(link_), RDL_OK);
	rdl_link_set_timeout(link_, 100);
	kill(server(), SIGSTOP);
	cr_assert_eq(rdl_run(link_, &reply, "INCR n"), RDL_UNKNOWN);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_NO_REPLY);
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_UNKNOWN);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_NO_REPLY);
	late = rdl_link_new(&support.addresses[0], 100);
	cr_assert_eq(rdl_run(late, &reply, "INCR n"), RDL_UNKNOWN); /* the kernel connects */
	cr_assert_eq(rdl_link_reason(late), RDL_REASON_NO_REPLY);
	resume();
	rdl_link_free(late);
	rdl_lock_free(lock);
}

/* A second server that reads what the first has saved, at 5 ms a key. */
static pid_t start_slow_reader(const char *socket)
{
	struct rdl_reply reply;
	char directory[512];
	pid_t pid;

	command("for i = 1, 400 do redis.call('SET', 'k' .. i, string.rep('x', 4096)) end");
	cr_assert_eq(rdl_run(other, &reply, "CONFIG SET rdbcompression no"), RDL_OK);
	cr_assert_eq(rdl_run(other, &reply, "SAVE"), RDL_OK, "%s", rdl_link_error(other));
	cr_assert_eq(rdl_run(other, &reply, "CONFIG GET dir"), RDL_OK);
	snprintf(directory, sizeof(directory), "%s", reply.elements[1].text);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(open("/dev/null", O_WRONLY), 1);
		execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket,
		       "--dir", directory, "--key-load-delay", "5000",
		       "--loading-process-events-interval-bytes", "1024", "--save", "", NULL);
		_exit(127);
	}
	return pid;
}

Test(uses, server_that_reads_its_data_says_so)
{
	const struct rdl_policy fast = { .wait_ms = LONG_MS, .fails_fast = true };
	const struct rdl_policy patient = { .wait_ms = LONG_MS };
	struct rdl_address address = support.addresses[0];
	struct rdl_link *link;
	struct rdl_lock *lock;
	pid_t pid;

	strcat(address.host, ".slow");
	pid = start_slow_reader(address.host);
	link = rdl_link_new(&address, RR_TIMEOUT_MS);
	lock = rdl_lock_new(link, "lock");
	while (rdl_lock_acquire(lock, LONG_MS, &fast) == RDL_ERROR &&
	       rdl_link_reason(link) == RDL_REASON_UNREACHABLE)
		sleep_ms(2);
	cr_assert_eq(rdl_link_reason(link), RDL_REASON_LOADING, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_lock_acquire(lock, LONG_MS, &patient), RDL_OK, "%s", rdl_link_error(link));
	rdl_lock_free(lock);
	rdl_link_free(link);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(uses, busy_lock_has_no_error)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct rdl_reply reply;

	command("return redis.call('SET', 'lock', 'theirs')");
	cr_assert_eq(rdl_run(link_, &reply, "LPUSH lock x"), RDL_ERROR);
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_BUSY);
	cr_assert_str_eq(rdl_link_error(link_), "");
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_NONE);
	rdl_lock_free(lock);
}

Test(uses, outcome_that_is_none_has_a_name)
{
	cr_assert_str_eq(rdl_outcome_name((enum rdl_outcome)77), "no outcome");
	cr_assert_str_eq(rdl_outcome_name((enum rdl_outcome) - 1), "no outcome");
}

/* ---- Connections that lie idle ---------------------------------------------- */

static void close_idle_connections(void)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "CLIENT KILL TYPE normal"), RDL_OK);
	sleep_ms(50);
}

Test(uses, first_command_on_a_closed_connection_is_not_lost)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link_, &reply, "INCR n"), RDL_OK);
	close_idle_connections();
	cr_assert_eq(rdl_run(link_, &reply, "INCR n"), RDL_OK, "%s", rdl_link_error(link_));
	cr_assert_eq(reply.integer, 2);
}

Test(uses, closed_connection_takes_its_watch_along)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link_, &reply, "WATCH n"), RDL_OK);
	close_idle_connections();
	cr_assert_eq(rdl_run(other, &reply, "SET n theirs"), RDL_OK);
	cr_assert_neq(rdl_run(link_, &reply, "MULTI"), RDL_OK, "what was watched is forgotten");
}

/* ---- Words, levels, pieces ------------------------------------------------ */

Test(uses, negative_precision_is_no_precision)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link_, &reply, "SET k %.*s", -1, "value"), RDL_OK);
	cr_assert_str_eq(support_ask(other, "GET", "k"), "value");
	cr_assert_eq(rdl_run(link_, &reply, "SET k %.*s", 3, "value"), RDL_OK);
	cr_assert_str_eq(support_ask(other, "GET", "k"), "val");
}

Test(uses, words_of_an_array_may_hold_anything)
{
	const char *const words[] = { "SET", "a\0b", "\r\n\0%s", "x" };
	const size_t lengths[] = { 3, 3, 5 };
	const char *many[200];
	struct rdl_reply reply;

	cr_assert_eq(rdl_run_argv(link_, &reply, 3, words, lengths), RDL_OK);
	cr_assert_eq(rdl_run_argv(other, &reply, 2, (const char *const[]){ "GET", "a\0b" },
				  lengths),
		     RDL_OK);
	cr_assert_eq(reply.length, 5);
	cr_assert_arr_eq(reply.text, "\r\n\0%s", 6);
	cr_assert_eq(rdl_run_argv(other, &reply, 2, (const char *const[]){ "EXISTS", "a" }, NULL),
		     RDL_OK);
	cr_assert_eq(reply.integer, 0, "a NUL ended the word");
	cr_assert_eq(rdl_queue_argv(link_, 3, words, lengths), RDL_OK);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	cr_assert_eq(rdl_receive(link_, &reply), RDL_OK);
	for (int i = 0; i < 200; i++)
		many[i] = i ? "x" : "DEL";
	cr_assert_eq(rdl_run_argv(link_, &reply, 128, many, NULL), RDL_OK);
	cr_assert_eq(rdl_run_argv(link_, &reply, 129, many, NULL), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_CALLER);
	cr_assert_eq(rdl_run_argv(link_, &reply, 0, NULL, NULL), RDL_ERROR);
	cr_assert_str_eq(rdl_version(), RDL_VERSION);
}

Test(uses, inner_level_does_not_shorten_the_lease)
{
	struct rdl_reentrant *lock = rdl_reentrant_new(link_, "lock");
	long before_ms;

	cr_assert_eq(rdl_reentrant_try(lock, LONG_MS), RDL_OK);
	before_ms = rdl_reentrant_remaining_ms(lock);
	cr_assert_eq(rdl_reentrant_try(lock, 100), RDL_OK);
	cr_assert_geq(rdl_reentrant_remaining_ms(lock), before_ms - 20000);
	cr_assert_geq(atol(support_ask(other, "PTTL", "lock")), LONG_MS - 20000);
	cr_assert_eq(rdl_reentrant_try(lock, 2 * LONG_MS), RDL_OK);
	cr_assert_geq(rdl_reentrant_remaining_ms(lock), 2 * LONG_MS - 20000);
	cr_assert_eq(rdl_reentrant_try(lock, 0), RDL_ERROR);
	rdl_reentrant_free(lock);
}

Test(uses, lease_that_is_kept_ends_no_earlier)
{
	for (int64_t left_ms = 1; left_ms < 100000000; left_ms = left_ms * 3 + 1) {
		const int64_t sent_ns = INT64_C(5000000000);
		const int64_t until_ns = sent_ns + left_ms * 1000000;
		const int64_t end_ns = rdl_lease_end_ns(sent_ns,
							rdl_ttl_reaching_ms(sent_ns, until_ns));

		cr_assert_geq(end_ns, until_ns);
		cr_assert_leq(end_ns, until_ns + 2000000);
	}
}

/* 122,880 of 512 bytes otherwise. */
Test(uses, long_reply_is_read_in_long_pieces)
{
	struct rdl_reply reply;
	int64_t start_ms;

	rdl_link_set_timeout(other, LONG_MS);
	rdl_link_set_timeout(link_, LONG_MS);
	command("redis.call('SET', 'long', string.rep('x', 60 * 1024 * 1024))");
	start_ms = now_ms();
	cr_assert_eq(rdl_run(link_, &reply, "GET long"), RDL_OK, "%s", rdl_link_error(link_));
	cr_assert_eq(reply.length, 60 * 1024 * 1024);
	cr_log_info("%ld ms", (long)(now_ms() - start_ms));
	cr_assert_geq(link_->piece.capacity, 65536);
	cr_assert_eq(rdl_run(link_, &reply, "PING"), RDL_OK);
}

/* ---- Clocks ---------------------------------------------------------------- */

/* In a time namespace whose machine was suspended for a thousand seconds. */
Test(uses, suspended_machine_is_time_that_passes)
{
	struct timespec monotonic;
	int offsets, status;
	pid_t pid;

	if (unshare(CLONE_NEWTIME) != 0)
		cr_skip("no time namespace: %s", strerror(errno));
	offsets = open("/proc/self/timens_offsets", O_WRONLY);
	cr_assert_geq(write(offsets, "boottime 1000 0", 15), 15);
	close(offsets);
	pid = fork();
	if (pid == 0) {
		const int64_t now_ns = rdl_now_ns(link_, RDL_CLOCK_MONOTONIC);

		clock_gettime(CLOCK_MONOTONIC, &monotonic);
		_exit(now_ns / 1000000000 - monotonic.tv_sec < 990);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
}

/* ---- Signals ------------------------------------------------------------------ */

static void on_alarm(int signal)
{
	(void)signal;
}

Test(uses, signals_do_not_end_a_fair_wait)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct rdl_fair *theirs = rdl_fair_new(other, "lock", NULL);
	struct rdl_fair *ours = rdl_fair_new(link_, "lock", NULL);
	const struct rdl_policy policy = { .wait_ms = 1000 };
	uint64_t before;

	cr_assert_eq(rdl_fair_try(theirs, LONG_MS), RDL_OK);
	cr_assert_eq(rdl_link_connect(link_), RDL_OK);
	sigaction(SIGALRM, &action, NULL);
	before = rdl_link_commands(link_);
	setitimer(ITIMER_REAL, &often, NULL);
	cr_assert_eq(rdl_fair_acquire(ours, LONG_MS, &policy), RDL_BUSY);
	setitimer(ITIMER_REAL, &never, NULL);
	cr_assert_leq(rdl_link_commands(link_) - before, 20);
	rdl_fair_free(ours);
	cr_assert_eq(rdl_fair_release(theirs), RDL_OK);
	rdl_fair_free(theirs);
}

/* ---- Names -------------------------------------------------------------------- */

static void assert_name(enum rdl_address_kind kind, const char *key, const char *wanted)
{
	struct rdl_address address = { .kind = RDL_ADDRESS_SERVER };
	struct rdl_link *link = rdl_link_new(&address, 100);
	char name[64];

	link->address.kind = kind;
	cr_assert(rdl_name_beside(link, key, ":line", name, sizeof(name)));
	cr_assert_str_eq(name, wanted);
	cr_assert_lt(strlen(name), rdl_name_size(key, ":line"));
	link->address.kind = RDL_ADDRESS_SERVER;
	rdl_link_free(link);
}

Test(uses, keys_of_one_lock_are_in_one_slot_of_a_cluster)
{
	assert_name(RDL_ADDRESS_SERVER, "lock", "lock:line");
	assert_name(RDL_ADDRESS_CLUSTER, "lock", "{lock}:line");
	assert_name(RDL_ADDRESS_CLUSTER, "{user}lock", "{user}lock:line");
	assert_name(RDL_ADDRESS_CLUSTER, "a{user}lock", "a{user}lock:line");
	assert_name(RDL_ADDRESS_CLUSTER, "a{", "{a{}:line");
	assert_name(RDL_ADDRESS_CLUSTER, "a}", "a}:line");
}
