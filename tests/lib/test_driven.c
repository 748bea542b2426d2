/* SPDX-License-Identifier: MIT */
/* A link whose driver looks at every command. */
#include "../support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static struct support support;
static struct rdl_link *link_, *other;

/* What the driver does, and has seen. */
struct observer {
	int sent, done, received;
	int lose;   /* the n-th reply, counted from 1 */
	int refuse; /* the n-th command */
	char last[32];
};

static struct observer observer;

static enum rdl_outcome on_send(void *context, struct rdl_link *link, struct rdl_command *command)
{
	struct observer *seen = context;

	(void)link;
	(void)command;
	return ++seen->sent == seen->refuse ? RDL_LOST : RDL_OK;
}

static enum rdl_outcome on_done(void *context, struct rdl_link *link, const struct rdl_reply *reply,
				enum rdl_outcome outcome)
{
	struct observer *seen = context;

	(void)link;
	if (reply->text)
		snprintf(seen->last, sizeof(seen->last), "%s", reply->text);
	return ++seen->done == seen->lose ? RDL_UNKNOWN : outcome;
}

static enum rdl_outcome on_receive(void *context, struct rdl_link *link, struct rdl_reply *reply,
				   enum rdl_outcome outcome)
{
	struct observer *seen = context;

	(void)link;
	(void)reply;
	seen->received++;
	return outcome;
}

static const struct rdl_driver_ops ops = { .send = on_send,
					   .done = on_done,
					   .receive = on_receive };
static const struct rdl_driver driver = { &ops, &observer };

static void setup(void)
{
	support_open(&support, 1);
	observer = (struct observer){ 0 };
	link_ = support_link(&support, 0);
	other = support_link(&support, 0);
	rdl_link_set_driver(link_, &driver);
}

static void teardown(void)
{
	rdl_link_free(link_);
	rdl_link_free(other);
	support_close(&support);
}

TestSuite(driven, .init = setup, .fini = teardown);

Test(driven, command_has_been_executed_when_it_is_queued)
{
	for (int i = 1; i <= 100; i++) {
		cr_assert_eq(rdl_queue(link_, "INCR k"), RDL_OK);
		cr_assert_eq(atoi(support_ask(other, "GET", "k")), i);
	}
	cr_assert_eq(observer.done, 100);
	cr_assert_eq(observer.received, 0);
}

Test(driven, replies_are_kept_in_their_order)
{
	struct rdl_reply reply;

	for (int i = 0; i < 20; i++)
		cr_assert_eq(rdl_queue(link_, "ECHO %d", i), RDL_OK);
	cr_assert_str_eq(observer.last, "19");
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(rdl_receive(link_, &reply), RDL_OK);
		cr_assert_eq(atoi(reply.text), i);
	}
	cr_assert_eq(rdl_receive(link_, &reply), RDL_UNKNOWN);
}

Test(driven, arrays_and_refusals_are_kept_whole)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_queue(link_, "EVAL %s 0", "return {1, {'a', false}}"), RDL_OK);
	cr_assert_eq(rdl_queue(link_, "NOSUCH"), RDL_OK);
	cr_assert_eq(rdl_queue(link_, "PING"), RDL_OK);
	cr_assert_eq(rdl_receive(link_, &reply), RDL_OK);
	cr_assert_eq(reply.length, 2);
	cr_assert_str_eq(reply.elements[1].elements[0].text, "a");
	cr_assert(rdl_reply_is_nil(&reply.elements[1].elements[1]));
	cr_assert_eq(rdl_receive(link_, &reply), RDL_ERROR);
	cr_assert(strstr(rdl_link_error(link_), "unknown command"));
	cr_assert_eq(rdl_receive(link_, &reply), RDL_OK);
	cr_assert_str_eq(reply.text, "PONG");
}

Test(driven, refused_command_is_not_sent)
{
	struct rdl_reply reply;

	observer.refuse = 2;
	cr_assert_eq(rdl_run(link_, &reply, "INCR k"), RDL_OK);
	cr_assert_eq(rdl_run(link_, &reply, "INCR k"), RDL_LOST);
	cr_assert_str_eq(support_ask(other, "GET", "k"), "1");
	cr_assert_eq(rdl_run(link_, &reply, "INCR k"), RDL_OK);
	cr_assert_eq(reply.integer, 2);
}

/* The connection dies on the way back. */
Test(driven, lost_reply_takes_along_those_behind_it)
{
	struct rdl_reply reply;

	observer.lose = 2;
	for (int i = 0; i < 3; i++)
		cr_assert_eq(rdl_queue(link_, "INCR k"), RDL_OK);
	cr_assert_str_eq(support_ask(other, "GET", "k"), "3");
	cr_assert_eq(rdl_receive(link_, &reply), RDL_OK);
	cr_assert_eq(reply.integer, 1);
	cr_assert_eq(rdl_receive(link_, &reply), RDL_UNKNOWN);
	cr_assert_str_eq(rdl_link_error(link_), "the reply was lost");
	cr_assert_eq(rdl_receive(link_, &reply), RDL_UNKNOWN);
	cr_assert_eq(rdl_run(link_, &reply, "INCR k"), RDL_OK);
	cr_assert_eq(reply.integer, 4);
}

Test(driven, lost_reply_ends_a_watch)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link_, &reply, "WATCH k"), RDL_OK);
	observer.lose = 2;
	cr_assert_eq(rdl_run(link_, &reply, "GET k"), RDL_UNKNOWN);
	support_ask(other, "INCR", "k");
	cr_assert_eq(rdl_run(link_, &reply, "MULTI"), RDL_OK);
	cr_assert_eq(rdl_run(link_, &reply, "EXEC"), RDL_OK);
	cr_assert_not(rdl_reply_is_nil(&reply), "a new connection watches nothing");
}

/* The first two went with the connection, the third is not sent at all. */
Test(driven, dead_connection_ends_a_batch)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_queue(link_, "INCR k"), RDL_OK);
	cr_assert_eq(rdl_run(other, &reply, "CLIENT KILL TYPE normal SKIPME yes"), RDL_OK);
	cr_assert_eq(rdl_queue(link_, "INCR k"), RDL_OK);
	cr_assert_eq(rdl_queue(link_, "INCR k"), RDL_UNKNOWN);
	cr_assert_str_eq(support_ask(other, "GET", "k"), "1");
	cr_assert_eq(rdl_run(link_, &reply, "INCR k"), RDL_OK);
	cr_assert_eq(reply.integer, 2);
}

Test(driven, disconnect_drops_what_was_kept)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_queue(link_, "ECHO old"), RDL_OK);
	rdl_link_disconnect(link_);
	cr_assert_eq(rdl_run(link_, &reply, "ECHO new"), RDL_OK);
	cr_assert_str_eq(reply.text, "new");
}

/* A clock far from the machine's, and how often it was read. */
struct far_clock {
	int64_t now_ns;
	int n_reads;
};

static int64_t far_now(void *context, enum rdl_clock clock)
{
	struct far_clock *far = context;

	(void)clock;
	far->n_reads++;
	return far->now_ns;
}

/* AUTH and SELECT are waited for by the real clock, which the driver's is not. */
static void introduce_at(int64_t now_ns)
{
	static const struct rdl_driver_ops far_ops = { .now = far_now };
	struct far_clock far = { .now_ns = now_ns };
	const struct rdl_driver far_driver = { &far_ops, &far };
	struct rdl_address address = support.cluster.servers[0].address;
	struct rdl_link *late;

	snprintf(address.password, sizeof(address.password), "pw");
	address.db = 3;
	late = rdl_link_new(&address, 5000);
	rdl_link_set_driver(late, &far_driver);
	cr_assert_eq(rdl_link_connect(late), RDL_OK, "%s", rdl_link_error(late));
	cr_assert_eq(far.n_reads, 0, "%d", far.n_reads);
	rdl_link_free(late);
}

Test(driven, a_connection_is_introduced_by_the_real_clock)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "CONFIG SET requirepass pw"), RDL_OK);
	introduce_at(0);
	introduce_at(INT64_MAX / 2);
}
