/* SPDX-License-Identifier: MIT */
/* Commands that block do so on the real server, and are served in its order. */
#include <stdio.h>
#include <string.h>

#include "../cluster/stage.h"
#include "base/reply.h"
#include "replay/replay.h"
#include "server/server.h"

static struct stage stage;
static struct rr_terms terms;
static struct rr_servers servers;

static void setup(void)
{
	static const struct rr_scripts none = { 0 };

	stage_open(&stage, RR_CLUSTER_FROZEN);
	stage_server(&stage, "s", (struct rr_server_options){ 0 });
	cr_assert(rr_servers_open(&servers, &stage.cluster, 1, &terms, &none), "%s",
		  servers.error.text);
}

static void teardown(void)
{
	rr_servers_close(&servers);
	rr_terms_release(&terms);
	stage_close(&stage);
}

TestSuite(blocking, .init = setup, .fini = teardown);

static const char *text_of(uint32_t reply, char text[200])
{
	FILE *file = fmemopen(text, 200, "w");

	rr_write_reply(file, &terms.reply[reply].reply);
	fclose(file);
	return text;
}

static struct rr_heard ask(uint16_t slot, const char *line)
{
	struct rdl_command command = { .n_words = 0 };
	struct rr_question question = { .kind = RR_ASK_COMMAND, .slot = slot };
	struct rr_heard heard;
	char words[200];

	snprintf(words, sizeof(words), "%s", line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		command.words[command.n_words++] = (struct rdl_word){ word, strlen(word) };
	question.argument = rr_terms_command(&terms, &command);
	cr_assert(rr_servers_ask(&servers, 0, &question, &heard), "%s: %s", line,
		  servers.error.text);
	return heard;
}

static void assert_blocks(uint16_t slot, const char *line)
{
	cr_assert(ask(slot, line).blocks, "%s does not block", line);
}

/* `reply`: as it is printed; NULL: it blocks still. */
static void assert_served(uint16_t slot, const char *reply)
{
	uint32_t number;
	char text[200];
	const bool is_served = rr_servers_served(&servers, 0, slot, &number);

	cr_assert(is_served == !!reply, "connection %d is %sserved", slot, is_served ? "" : "not ");
	if (reply)
		cr_assert_str_eq(text_of(number, text), reply);
}

static void ask_of(enum rr_question_kind kind, uint16_t slot, int64_t argument)
{
	const struct rr_question question = { .kind = (uint8_t)kind,
					      .slot = slot,
					      .argument = argument };
	struct rr_heard heard;

	cr_assert(rr_servers_ask(&servers, 0, &question, &heard), "%s", servers.error.text);
}

Test(blocking, the_first_that_blocks_is_served_first)
{
	assert_blocks(5, "BLPOP jobs 0");
	assert_blocks(4, "BLPOP jobs 0");
	ask(3, "RPUSH jobs one");
	assert_served(4, NULL);
	assert_served(5, "[\"jobs\", \"one\"]");
	ask(3, "RPUSH jobs two");
	assert_served(4, "[\"jobs\", \"two\"]");
}

Test(blocking, of_several_keys_the_one_that_was_ready_first_is_served)
{
	assert_blocks(1, "BLPOP high low 0");
	ask(2, "MULTI");
	ask(2, "RPUSH low mail");
	ask(2, "RPUSH high alarm");
	ask(2, "EXEC");
	assert_served(1, "[\"low\", \"mail\"]");
	cr_assert_not(ask(1, "BLPOP high low 0").blocks, "there is something");
}

Test(blocking, a_stream_that_is_deleted_unblocks_its_reader)
{
	uint32_t reply;
	char text[200];

	ask(1, "XGROUP CREATE s g 0 MKSTREAM");
	assert_blocks(2, "XREADGROUP GROUP g b BLOCK 0 STREAMS s >");
	ask(1, "DEL s");
	cr_assert(rr_servers_served(&servers, 0, 2, &reply));
	cr_assert(strstr(text_of(reply, text), "UNBLOCKED"), "%s", text);
}

Test(blocking, the_last_id_is_that_of_the_moment_when_it_blocked)
{
	ask(1, "XADD s 1-1 a b");
	assert_blocks(2, "XREAD BLOCK 0 STREAMS s $");
	ask(1, "XADD s 2-1 a b");
	assert_served(2, "[[\"s\", [[\"2-1\", [\"a\", \"b\"]]]]]");
}

Test(blocking, a_time_out_ends_by_the_servers_clock_or_when_it_is_told_to)
{
	assert_blocks(1, "BLPOP jobs 2");
	assert_blocks(2, "BLPOP jobs 5");
	ask_of(RR_ASK_TICK, 0, INT64_C(1999000000));
	assert_served(1, NULL);
	ask_of(RR_ASK_TICK, 0, INT64_C(1000000));
	assert_served(1, "(nil)");
	assert_served(2, NULL);
	ask_of(RR_ASK_UNBLOCK, 2, 0);
	assert_served(2, "(nil)");
	ask(3, "RPUSH jobs one");
	assert_served(2, NULL);
}

Test(blocking, who_closes_its_connection_is_served_no_more)
{
	assert_blocks(1, "BLPOP jobs 0");
	ask_of(RR_ASK_CLOSE, 1, 0);
	ask(2, "RPUSH jobs one");
	assert_served(1, NULL);
	assert_blocks(1, "BLPOP others 0");
	cr_assert(rr_servers_reset(&servers));
	ask(2, "RPUSH others one");
	assert_served(1, NULL);
}
