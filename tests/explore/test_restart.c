/* SPDX-License-Identifier: MIT */
/* A server that the explorer wipes is what one is that was killed and started
 * again without its files. */
#include <stdio.h>
#include <string.h>

#include "../cluster/stage.h"
#include "replay/replay.h"

enum { SEEN_SIZE = 1024, SLOT = 5 };

static const char *const before[] = {
	"SET key 1", "SET lease 1 PX 10000", "SCRIPT LOAD return(1)", "WATCH key", "MULTI",
};

static const char *const after[] = {
	"EXEC",   "GET key",    "DEL key",
	"DBSIZE", "PTTL lease", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0",
};

enum { N_BEFORE = sizeof(before) / sizeof(before[0]), N_AFTER = sizeof(after) / sizeof(after[0]) };

static void note(char *seen, const struct rdl_reply *reply)
{
	const size_t used = strlen(seen);

	snprintf(seen + used, SEEN_SIZE - used, "%d %lld %s\n", reply->type, reply->integer,
		 reply->text ? reply->text : "");
}

static void ask(struct rr_asker *asker, const char *line, char *seen)
{
	const struct rr_question question = { .kind = RR_ASK_COMMAND, .slot = SLOT };
	struct rdl_command command = { .n_words = 0 };
	struct rdl_reply reply;
	char words[100];
	bool blocks;

	snprintf(words, sizeof(words), "%s", line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		command.words[command.n_words++] = (struct rdl_word){ word, strlen(word) };
	cr_assert(rr_asker_ask(asker, &question, &command, &reply, &blocks), "%s: %s", line,
		  rr_asker_error(asker));
	if (seen)
		note(seen, &reply);
}

static void see_wiped(struct stage *stage, int server, char *seen)
{
	const struct rr_question wipe = { .kind = RR_ASK_WIPE };
	const struct rr_scripts scripts = { 0 };
	struct rr_asker *asker = rr_asker_new(&stage->cluster, server, &scripts, &stage->error);
	struct rdl_reply reply;
	bool blocks;

	cr_assert_not_null(asker, "%s", stage->error.text);
	for (int i = 0; i < N_BEFORE; i++)
		ask(asker, before[i], NULL);
	cr_assert(rr_asker_ask(asker, &wipe, NULL, &reply, &blocks));
	for (int i = 0; i < N_AFTER; i++)
		ask(asker, after[i], seen);
	rr_asker_free(asker);
}

static void see_killed(struct stage *stage, int server, char *seen)
{
	struct rdl_link *link = stage_link(stage, server);
	struct rdl_reply reply;

	for (int i = 0; i < N_BEFORE; i++)
		stage_say(link, before[i]);
	stage_good(stage, stage_inject(stage, server, RR_FAULT_WIPE));
	stage_say(link, "PING"); /* finds out that its connection is gone */
	for (int i = 0; i < N_AFTER; i++) {
		char format[100];

		snprintf(format, sizeof(format), "%s", after[i]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
		rdl_run(link, &reply, format);
#pragma GCC diagnostic pop
		note(seen, &reply);
	}
	rdl_link_free(link);
}

Test(restart, wiped_server_is_one_that_was_killed_and_came_back_empty)
{
	char wiped[SEEN_SIZE] = "", killed[SEEN_SIZE] = "";
	struct stage stage;
	int server;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	server = stage_server(&stage, "n1", (struct rr_server_options){ 0 });
	see_wiped(&stage, server, wiped);
	see_killed(&stage, server, killed);
	cr_assert_str_eq(wiped, killed);
	cr_assert(strstr(wiped, "NOSCRIPT"), "%s", wiped);
	cr_assert(strstr(wiped, "without MULTI"), "%s", wiped);
	stage_close(&stage);
}
