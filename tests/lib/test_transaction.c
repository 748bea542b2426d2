/* SPDX-License-Identifier: MIT */
/* rdl_exec(): what it says of a transaction's end. */
#include "../support.h"

#include <string.h>

static struct support support;
static struct rdl_link *a, *b;

static void setup(void)
{
	support_open(&support, 1);
	a = support_link(&support, 0);
	b = support_link(&support, 0);
}

static void teardown(void)
{
	rdl_link_free(a);
	rdl_link_free(b);
	support_close(&support);
}

TestSuite(transaction, .init = setup, .fini = teardown);

/* The link answers what it is asked, not what it was asked before. */
static void assert_in_step(struct rdl_link *link)
{
	cr_assert_str_eq(support_ask(link, "ECHO", "next"), "next");
}

Test(transaction, replies_of_the_commands_come_together)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_queue(a, "MULTI"), RDL_OK);
	cr_assert_eq(rdl_queue(a, "SETNX k 7"), RDL_OK);
	cr_assert_eq(rdl_queue(a, "GET k"), RDL_OK);
	cr_assert_eq(rdl_exec(a, 3, &reply), RDL_OK);
	cr_assert_eq(reply.type, RDL_REPLY_ARRAY);
	cr_assert_eq(reply.length, 2);
	cr_assert_eq(reply.elements[0].integer, 1);
	cr_assert_str_eq(reply.elements[1].text, "7");
	assert_in_step(a);
}

Test(transaction, of_a_watched_key_that_was_written_is_nil)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(a, &reply, "WATCH k"), RDL_OK);
	cr_assert_eq(rdl_run(b, &reply, "SET k 1"), RDL_OK);
	cr_assert_eq(rdl_queue(a, "MULTI"), RDL_OK);
	cr_assert_eq(rdl_queue(a, "SET k 2"), RDL_OK);
	cr_assert_eq(rdl_exec(a, 2, &reply), RDL_OK);
	cr_assert(rdl_reply_is_nil(&reply));
	cr_assert_str_eq(support_ask(b, "GET", "k"), "1");
	assert_in_step(a);
}

/* A transaction of SET k `value` and `command` k, which fails with `error`. */
static void assert_transaction_fails(const char *value, const char *command, const char *error)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_queue(a, "MULTI"), RDL_OK);
	cr_assert_eq(rdl_queue(a, "SET k %s", value), RDL_OK);
	cr_assert_eq(rdl_queue(a, "%s k", command), RDL_OK);
	cr_assert_eq(rdl_exec(a, 3, &reply), RDL_ERROR);
	cr_assert(strstr(rdl_link_error(a), error), "%s", rdl_link_error(a));
	assert_in_step(a);
}

Test(transaction, with_a_refused_command_does_nothing_and_says_why)
{
	assert_transaction_fails("1", "NOSUCH", "unknown command");
	cr_assert_str_eq(support_ask(b, "EXISTS", "k"), "0");
}

Test(transaction, with_a_failed_command_is_an_error_and_the_rest_is_done)
{
	assert_transaction_fails("text", "INCR", "not an integer");
	cr_assert_str_eq(support_ask(b, "GET", "k"), "text");
}
