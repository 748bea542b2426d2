/* SPDX-License-Identifier: MIT */
/* A connection of a checked program: its requests in their order, and what it is subscribed to. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "party/lane.h"

static struct rr_lane lane;
static struct rr_terms terms;

static void setup(void)
{
	rr_lane_clear(&lane);
	lane.connection = 0;
}

static void teardown(void)
{
	rr_lane_release(&lane);
	rr_terms_release(&terms);
}

TestSuite(lane, .init = setup, .fini = teardown);

/* The ring goes round, and the one that is full takes no more. */
Test(lane, requests_are_answered_in_their_order)
{
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < RR_LANE_REQUESTS; i++)
			cr_assert(rr_lane_push(&lane, (struct rr_request){ .command = i }));
		cr_assert_not(rr_lane_push(&lane, (struct rr_request){ .command = 0 }));
		cr_assert_eq(rr_lane_request(&lane, 7)->command, 7);
		for (uint32_t i = 0; i < RR_LANE_REQUESTS; i++)
			cr_assert_eq(rr_lane_pop(&lane).command, i);
		cr_assert_eq(lane.n, 0);
		/* The next round begins in the middle. */
		cr_assert(rr_lane_push(&lane, (struct rr_request){ .command = 0 }));
		rr_lane_pop(&lane);
	}
}

Test(lane, is_new_again_when_it_is_cleared)
{
	lane.n_channels = 2;
	lane.protocol = 3;
	cr_assert(rr_lane_push(&lane, (struct rr_request){ .command = 1 }));
	rr_lane_clear(&lane);
	cr_assert_eq(lane.n, 0);
	cr_assert_eq(lane.protocol, 0);
	cr_assert_eq(lane.connection, -1);
	cr_assert_eq(lane.name, RR_NO_ID);
	cr_assert_not(rr_lane_is_subscribed(&lane));
}

static void hear(const struct rr_request *request, const char *word, long long n)
{
	struct rdl_reply elements[] = {
		{ .type = RDL_REPLY_STRING, .text = (char *)word, .length = strlen(word) },
		{ .type = RDL_REPLY_STRING, .text = "a", .length = 1 },
		{ .type = RDL_REPLY_INTEGER, .integer = n },
	};
	const struct rdl_reply reply = { .type = RDL_REPLY_ARRAY,
					 .elements = elements,
					 .length = 3 };

	rr_lane_note_reply(&lane, &terms, request, &reply);
}

/* Three channels are confirmed one after the other; until then a message may come. */
Test(lane, each_channel_is_confirmed)
{
	static const char *const words[] = { "SUBSCRIBE", "a", "b", "c", NULL };
	const struct rr_request request = { .command = rr_terms_words(&terms, words),
					    .subscribes = true };

	cr_assert_not(rr_lane_is_subscribed(&lane));
	rr_lane_push(&lane, request);
	cr_assert_not(rr_lane_is_subscribed(&lane));
	cr_assert(rr_lane_will_be_subscribed(&lane), "once it is answered");
	rr_lane_pop(&lane);
	hear(&request, "subscribe", 1);
	cr_assert_eq(lane.n_owed, 2);
	hear(NULL, "subscribe", 2);
	hear(NULL, "subscribe", 3);
	cr_assert_eq(lane.n_owed, 0);
	cr_assert_eq(lane.n_channels, 3);
	cr_assert(rr_lane_is_subscribed(&lane));
}

/* Those of shards are counted by themselves; and nothing comes on one that is closed. */
Test(lane, is_left_when_nothing_is_subscribed_any_more)
{
	hear(NULL, "subscribe", 1);
	hear(NULL, "ssubscribe", 1);
	hear(NULL, "unsubscribe", 0);
	cr_assert(rr_lane_is_subscribed(&lane), "to a shard");
	hear(NULL, "sunsubscribe", 0);
	cr_assert_not(rr_lane_is_subscribed(&lane));
	hear(NULL, "subscribe", 1);
	hear(NULL, "message", 0);
	cr_assert(rr_lane_is_subscribed(&lane), "a message says no number");
	lane.connection = -1;
	cr_assert_not(rr_lane_is_subscribed(&lane));
}

static void assert_text(const struct rr_request *request, const struct rdl_reply *reply,
			const char *expected)
{
	size_t length;
	char *text = rr_lane_reply_text(&lane, &terms, request, reply, &length);

	cr_assert_eq(length, strlen(expected), "%s", text);
	cr_assert_eq(memcmp(text, expected, length), 0, "%s", text);
	free(text);
}

/* HELLO 3 is answered as a map already, and what comes after it, too. */
Test(lane, speaks_a_protocol_from_the_answer_on)
{
	static const char *const hgetall[] = { "HGETALL", "h", NULL };
	struct rdl_reply field[] = {
		{ .type = RDL_REPLY_STRING, .text = "n", .length = 1 },
		{ .type = RDL_REPLY_STRING, .text = "1", .length = 1 },
	};
	const struct rdl_reply reply = { .type = RDL_REPLY_ARRAY, .elements = field, .length = 2 };
	struct rr_request request = { .command = rr_terms_words(&terms, hgetall) };

	assert_text(&request, &reply, "*2\r\n$1\r\nn\r\n$1\r\n1\r\n");
	request.protocol = 3;
	assert_text(&request, &reply, "%1\r\n$1\r\nn\r\n$1\r\n1\r\n");
	request.protocol = 0;
	assert_text(&request, &reply, "%1\r\n$1\r\nn\r\n$1\r\n1\r\n");
}

/* What was queued is answered by EXEC, each as its own command is. */
Test(lane, exec_answers_what_was_queued)
{
	static const char *const hgetall[] = { "HGETALL", "h", NULL };
	static const char *const exec[] = { "EXEC", NULL };
	const struct rdl_reply queued = { .type = RDL_REPLY_STATUS, .text = "QUEUED", .length = 6 };
	struct rdl_reply field[] = {
		{ .type = RDL_REPLY_STRING, .text = "n", .length = 1 },
		{ .type = RDL_REPLY_STRING, .text = "1", .length = 1 },
	};
	struct rdl_reply all = { .type = RDL_REPLY_ARRAY, .elements = field, .length = 2 };
	const struct rdl_reply reply = { .type = RDL_REPLY_ARRAY, .elements = &all, .length = 1 };
	const struct rr_request asks = { .command = rr_terms_words(&terms, hgetall) };
	const struct rr_request ends = { .command = rr_terms_words(&terms, exec),
					 .ends_queue = true };

	lane.protocol = 3;
	assert_text(&asks, &queued, "+QUEUED\r\n");
	cr_assert_eq(lane.n_queued, 1);
	assert_text(&ends, &reply, "*1\r\n%1\r\n$1\r\nn\r\n$1\r\n1\r\n");
	cr_assert_eq(lane.n_queued, 0);
}
