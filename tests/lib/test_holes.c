/* SPDX-License-Identifier: MIT */
/* Batches that locks share a link with, forks in the middle of one, and what is
 * left of one that nobody finished. */
#include "pair.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rdl_lock *a, *b;

static void setup(void)
{
	pair_setup();
	a = rdl_lock_new(link_, "a");
	b = rdl_lock_new(link_, "b");
}

static void teardown(void)
{
	rdl_lock_free(a);
	rdl_lock_free(b);
	pair_teardown();
}

TestSuite(holes, .init = setup, .fini = teardown);

static void set(const char *key, const char *value)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "SET %s %s", key, value), RDL_OK);
}

/* Its lease is over, and nobody has told the server. */
static void let_expire(struct rdl_lock *lock)
{
	const struct rdl_policy policy = { .wait_ms = 10000 };

	cr_assert_eq(rdl_lock_acquire(lock, 50, &policy), RDL_OK);
	rdl_sleep_ns(other, 60000000);
}

/* ---- Replies of a batch ------------------------------------------------------- */

Test(holes, expired_lock_in_a_batch_leaves_the_replies_of_others_alone)
{
	let_expire(b);
	set("a", "theirs");
	cr_assert_eq(rdl_lock_queue_try(a, 60000), RDL_OK);
	cr_assert_eq(rdl_lock_queue_try(b, 60000), RDL_ERROR);
	cr_assert(strstr(rdl_link_error(link_), "release it before"));
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	cr_assert_eq(rdl_lock_receive_try(a), RDL_BUSY);
	cr_assert_eq(rdl_lock_release(b), RDL_LOST);
	cr_assert_eq(rdl_lock_queue_try(b, 60000), RDL_OK);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	cr_assert_eq(rdl_lock_receive_try(b), RDL_OK);
}

Test(holes, expired_lock_behind_a_command_leaves_its_reply_alone)
{
	struct rdl_reply reply;

	let_expire(a);
	set("v", "value");
	cr_assert_eq(rdl_queue(link_, "GET v"), RDL_OK);
	cr_assert_eq(rdl_lock_queue_try(a, 60000), RDL_ERROR);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	cr_assert_eq(rdl_receive(link_, &reply), RDL_OK);
	cr_assert_eq(reply.type, RDL_REPLY_STRING);
	cr_assert_str_eq(reply.text, "value");
}

/* Two in one batch: what is said to be free is free, and the rest goes free at
 * the second time of asking. */
static void assert_released_one_by_one(void)
{
	enum rdl_outcome first, second;

	cr_assert_eq(rdl_lock_queue_release(a), RDL_OK);
	cr_assert_eq(rdl_lock_queue_release(b), RDL_OK);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	first = rdl_lock_receive_release(a);
	second = rdl_lock_receive_release(b);
	cr_assert_eq(second, RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "b"), "0");
	if (first != RDL_OK)
		cr_assert_eq(rdl_lock_release(a), RDL_OK, "after %s", rdl_outcome_name(first));
	cr_assert_str_eq(support_ask(other, "EXISTS", "a"), "0");
}

static void hold_both(void)
{
	cr_assert_eq(rdl_lock_try(a, 60000), RDL_OK);
	cr_assert_eq(rdl_lock_try(b, 60000), RDL_OK);
}

Test(holes, releases_of_a_forgotten_script_take_no_reply_of_each_other)
{
	struct rdl_reply reply;

	hold_both();
	cr_assert_eq(rdl_lock_release(a), RDL_OK);
	cr_assert_eq(rdl_lock_release(b), RDL_OK);
	hold_both();
	cr_assert_eq(rdl_run(other, &reply, "SCRIPT FLUSH"), RDL_OK);
	assert_released_one_by_one();
}

Test(holes, releases_without_scripts_take_no_reply_of_each_other)
{
	struct rdl_address address = support.cluster.servers[0].address;
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "ACL SETUSER u on >pw ~* &* %s %s", "+@all",
			     "-@scripting"),
		     RDL_OK);
	strcpy(address.user, "u");
	strcpy(address.password, "pw");
	rdl_lock_free(a);
	rdl_lock_free(b);
	rdl_link_free(link_);
	link_ = rdl_link_new(&address, RR_TIMEOUT_MS);
	a = rdl_lock_new(link_, "a");
	b = rdl_lock_new(link_, "b");
	hold_both();
	assert_released_one_by_one(); /* finding out */
	hold_both();
	assert_released_one_by_one();
}

/* ---- A batch that nobody finished ---------------------------------------------- */

Test(holes, abandoned_try_does_not_keep_its_own_lock_out)
{
	cr_assert_eq(rdl_lock_queue_try(a, 60000), RDL_OK);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	rdl_link_disconnect(link_);
	for (int i = 0; i < 12000 && strcmp(support_ask(other, "EXISTS", "a"), "1") != 0; i++)
		rdl_sleep_ns(other, 10000000);
	cr_assert_eq(rdl_lock_try(a, 60000), RDL_OK);
	cr_assert_eq(rdl_lock_release(a), RDL_OK);
}

Test(holes, command_that_was_never_sent_has_no_reply)
{
	struct rdl_reply reply = { .type = RDL_REPLY_STRING, .text = "old" };
	const char *format = "GET a%s";

	cr_assert_eq(rdl_run(link_, &reply, format, "b"), RDL_ERROR);
	cr_assert(rdl_reply_is_nil(&reply));
	reply.type = RDL_REPLY_STRING;
	cr_assert_eq(rdl_run_script(link_, &reply, "return 1", format, "b"), RDL_ERROR);
	cr_assert(rdl_reply_is_nil(&reply));
	reply.type = RDL_REPLY_STRING;
	cr_assert_eq(rdl_receive(link_, &reply), RDL_UNKNOWN);
	cr_assert(rdl_reply_is_nil(&reply));
}

/* ---- Scripts -------------------------------------------------------------------- */

Test(holes, many_scripts_on_a_link_leave_the_method_as_it_is)
{
	static const char spaces[] = "                              return 1";
	struct rdl_lock *plain = rdl_lock_new(other, "plain");
	struct rdl_reply reply;

	cr_assert_eq(rdl_lock_try(plain, 60000), RDL_OK);
	cr_assert_eq(rdl_lock_release(plain), RDL_OK);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(rdl_run_script(link_, &reply, spaces + i, "0"), RDL_OK);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(rdl_lock_try(a, 60000), RDL_OK);
		cr_assert_eq(rdl_lock_extend(a, 60000), RDL_OK);
		cr_assert_eq(rdl_lock_release(a), RDL_OK);
	}
	cr_assert_eq(rdl_lock_release_method(a), rdl_lock_release_method(plain));
	rdl_lock_free(plain);
}

/* ---- Fork ------------------------------------------------------------------------ */

static void assert_child_ends_well(pid_t pid)
{
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "the child ended with %d", status);
}

static bool is_refused(enum rdl_outcome outcome)
{
	return outcome == RDL_UNKNOWN && strstr(rdl_link_error(link_), "the parent's connection");
}

Test(holes, child_does_not_send_what_its_parent_has_queued)
{
	struct rdl_reply reply;
	pid_t pid;

	cr_assert_eq(rdl_queue(link_, "INCR n"), RDL_OK);
	pid = fork();
	if (pid == 0)
		_exit(!is_refused(rdl_flush(link_)));
	assert_child_ends_well(pid);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	cr_assert_eq(rdl_receive(link_, &reply), RDL_OK);
	cr_assert_eq(reply.integer, 1);
	cr_assert_str_eq(support_ask(other, "GET", "n"), "1");
}

Test(holes, child_does_not_take_a_reply_of_its_parent)
{
	struct rdl_reply reply;
	pid_t pid;

	cr_assert_eq(rdl_queue(link_, "INCR n"), RDL_OK);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	pid = fork();
	if (pid == 0) {
		const bool spared = is_refused(rdl_receive(link_, &reply)) &&
				    rdl_run(link_, &reply, "PING") == RDL_OK;

		_exit(!spared);
	}
	assert_child_ends_well(pid);
	cr_assert_eq(rdl_receive(link_, &reply), RDL_OK);
	cr_assert_eq(reply.integer, 1);
}

Test(holes, child_does_not_inherit_levels_that_were_lost)
{
	struct rdl_reentrant *lock = rdl_reentrant_new(link_, "lock");
	pid_t pid;

	cr_assert_eq(rdl_reentrant_try(lock, 60000), RDL_OK);
	cr_assert_str_eq(support_ask(other, "DEL", "lock"), "1");
	cr_assert_eq(rdl_reentrant_try(lock, 60000), RDL_LOST);
	pid = fork();
	if (pid == 0)
		_exit(rdl_reentrant_depth(lock) != 0 || rdl_reentrant_try(lock, 60000) != RDL_OK ||
		      rdl_reentrant_release(lock) != RDL_OK);
	assert_child_ends_well(pid);
	cr_assert_eq(rdl_reentrant_depth(lock), 1);
	rdl_reentrant_free(lock);
}
