/* SPDX-License-Identifier: MIT */
#include "stage.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link.h"

/* The shim of the build whose program is tested. */
static const char *shim(void)
{
	static char path[512];
	const char *program = getenv("REDRACE");
	char copy[400];

	snprintf(copy, sizeof(copy), "%s", program ? program : "build/redrace");
	snprintf(path, sizeof(path), "%s/redrace-clock.so", dirname(copy));
	return path;
}

void stage_open(struct stage *stage, enum rr_cluster_clock clock)
{
	const struct rr_cluster_options options = {
		.program = "redis-server",
		.shim = shim(),
		.clock = clock,
		.cpu = -1,
	};

	stage->error = (struct rr_error){ 0 };
	stage_good(stage, rr_session_open(&stage->session, &stage->error));
	stage_good(stage,
		   rr_cluster_open(&stage->cluster, &stage->session, &options, &stage->error));
	cr_assert_eq(rr_cluster_has_time(&stage->cluster), clock != RR_CLUSTER_REAL);
}

void stage_close(struct stage *stage)
{
	rr_cluster_close(&stage->cluster);
	rr_session_close(&stage->session);
	cr_assert_neq(access(stage->session.guardian.base, F_OK), 0);
}

void stage_good(const struct stage *stage, bool good)
{
	cr_assert(good, "%d: %s", stage->error.kind, stage->error.text);
}

void stage_bad(struct stage *stage, bool good, enum rr_error_kind kind)
{
	cr_assert_not(good);
	cr_assert_eq(stage->error.kind, kind, "%d: %s", stage->error.kind, stage->error.text);
	stage->error.kind = RR_ERROR_NONE;
}

int stage_server(struct stage *stage, const char *name, struct rr_server_options options)
{
	int server = -1;

	stage_good(stage,
		   rr_cluster_declare(&stage->cluster, name, &options, &server, &stage->error));
	stage_good(stage, rr_cluster_start(&stage->cluster, &stage->error));
	return server;
}

struct rdl_link *stage_link(struct stage *stage, int server)
{
	struct rdl_link *link = rdl_link_new(rr_cluster_address(&stage->cluster, server),
					     RR_TIMEOUT_MS);

	cr_assert_eq(rdl_link_connect(link), RDL_OK, "%s", rdl_link_error(link));
	return link;
}

static void print(char *text, size_t size, const struct rdl_reply *reply)
{
	const size_t used = strlen(text);

	if (reply->type == RDL_REPLY_INTEGER) {
		snprintf(text + used, size - used, "%lld", reply->integer);
	} else if (reply->type == RDL_REPLY_ARRAY) {
		for (size_t i = 0; i < reply->length; i++) {
			strncat(text, i ? "," : "[", size - strlen(text) - 1);
			print(text, size, &reply->elements[i]);
		}
		strncat(text, "]", size - strlen(text) - 1);
	} else {
		snprintf(text + used, size - used, "%s%s",
			 reply->type == RDL_REPLY_FAILED ? "-" : "",
			 reply->text ? reply->text : "(nil)");
	}
}

const char *stage_say(struct rdl_link *link, const char *line)
{
	static char texts[4][4096];
	static int turn;
	char *text = texts[turn++ % 4];
	struct rdl_command command;
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	memset(&command, 0, sizeof(command));
	while (*line) {
		const size_t length = strcspn(line, " ");

		command.words[command.n_words++] = (struct rdl_word){ line, length };
		line += length + (line[length] == ' ');
	}
	outcome = rdl_run_command(link, &reply, &command);
	text[0] = '\0';
	if (outcome == RDL_UNKNOWN)
		return strcpy(text, "(lost)");
	if (outcome != RDL_OK && reply.type != RDL_REPLY_FAILED)
		return strcpy(text, "(refused)");
	print(text, sizeof(texts[0]), &reply);
	return text;
}

const char *stage_ask(struct stage *stage, int server, const char *line)
{
	struct rdl_link *link = stage_link(stage, server);
	const char *text = stage_say(link, line);

	rdl_link_free(link);
	return text;
}

void stage_tick_ms(struct stage *stage, int64_t ms)
{
	cr_assert_eq(rr_cluster_tick(&stage->cluster, ms * 1000000), RR_TICK_MOVED);
}

bool stage_inject(struct stage *stage, int server, enum rr_fault fault)
{
	return stage_inject_ms(stage, server, fault, 0);
}

bool stage_inject_ms(struct stage *stage, int server, enum rr_fault fault, int64_t ms)
{
	const struct rr_injection injection = { .fault = fault, .amount = ms * 1000000 };

	return rr_cluster_inject(&stage->cluster, server, &injection, &stage->error);
}

bool stage_tear(struct stage *stage, int server, enum rr_tear tear, long n)
{
	const struct rr_injection injection = { .fault = RR_FAULT_TEAR, .tear = tear, .amount = n };

	return rr_cluster_inject(&stage->cluster, server, &injection, &stage->error);
}
