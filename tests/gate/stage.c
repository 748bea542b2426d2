/* SPDX-License-Identifier: MIT */
#include "stage.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES_MAX = 50, TOKEN_LENGTH = 40 };
#define SECOND_NS INT64_C(1000000000)

void stage_open(struct stage *stage, const char *strategy,
		void (*change)(struct rr_subject_config *config))
{
	struct rr_subject_config config = {
		.strategy = rr_strategy_find(strategy),
		.prefix = "",
		.n_clients = 2,
		.separate = true,
		.increments = 1,
		.ttl_ms = 10000,
		.day_ns = INT64_C(1000000000) * SECOND_NS,
	};
	char error[320];

	*stage = (struct stage){ 0 };
	cr_assert_not_null(config.strategy, "no %s", strategy);
	support_open(&stage->support, 1 + config.strategy->lock_servers);
	config.addresses = stage->support.fleet.addresses;
	if (change)
		change(&config);
	stage->subject = rr_subject_new(&config, error, sizeof(error));
	cr_assert_not_null(stage->subject, "%s", error);
}

void stage_close(struct stage *stage)
{
	free(stage->trace);
	rr_subject_free(stage->subject);
	support_close(&stage->support);
}

static void mask_digits(char *text)
{
	for (; isdigit((unsigned char)*text); text++)
		*text = 'n';
}

/* Tokens differ from run to run, and so does the number behind a fair one. */
static void mask_tokens(char *text)
{
	size_t length = 0;

	for (; *text; text++) {
		length = isxdigit((unsigned char)*text) ? length + 1 : 0;
		if (length < TOKEN_LENGTH)
			continue;
		memset(text - TOKEN_LENGTH + 1, 'x', TOKEN_LENGTH);
		if (text[1] == ':')
			mask_digits(text + 2);
	}
}

static void write_trace(struct stage *stage)
{
	const struct rr_trace *trace =
		rr_gate_trace(rr_subject_gate(stage->subject));
	FILE *file;
	size_t size;

	free(stage->trace);
	file = open_memstream(&stage->trace, &size);
	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_event *event = &trace->events[i];
		const char *name = "";

		if (event->actor >= 0)
			name = stage_view(stage)->actors[event->actor].name;
		rr_event_print(file, event, name);
	}
	fclose(file);
	mask_tokens(stage->trace);
}

void stage_run(struct stage *stage, rr_choose choose, void *context)
{
	cr_assert(rr_subject_run(stage->subject, choose, context,
				 &stage->result),
		  "%s", rr_subject_error(stage->subject));
	write_trace(stage);
}

/* ---- Scripts -------------------------------------------------------------- */

struct script {
	const char *rest;
	int passes;
};

static int actor_named(const struct rr_view *view, const char *name,
		       size_t length)
{
	for (size_t i = 0; i < view->n_actors; i++) {
		if (strlen(view->actors[i].name) == length &&
		    memcmp(view->actors[i].name, name, length) == 0)
			return (int)i;
	}
	return -1;
}

static struct rr_choice read_choice(const struct rr_view *view,
				    const char *word, size_t length)
{
	const size_t skip = strchr("!?~", *word) != NULL;
	struct rr_choice choice = { .kind = RR_CHOOSE_STEP };

	choice.actor = actor_named(view, word + skip, length - skip);
	if (*word == '!') {
		choice.kind = RR_CHOOSE_CRASH;
	} else if (*word == '?') {
		choice.kind = RR_CHOOSE_LOSE;
	} else if (*word == '~') {
		choice.kind = RR_CHOOSE_PAUSE;
		choice.until_ns = 5 * SECOND_NS;
	} else if (*word == '.') {
		choice.kind = RR_CHOOSE_PASS;
		choice.until_ns = view->next_ns;
	} else if (*word == '+') {
		choice.kind = RR_CHOOSE_PASS;
		choice.until_ns = view->now_ns + 3600 * SECOND_NS;
	}
	return choice;
}

static struct rr_choice follow(void *context, const struct rr_view *view)
{
	struct script *script = context;
	const size_t length = strcspn(script->rest, " ");
	struct rr_choice choice;

	if (length) {
		choice = read_choice(view, script->rest, length);
		script->rest += length + (script->rest[length] == ' ');
		return choice;
	}
	choice = rr_choose_serial(NULL, view);
	if (choice.kind == RR_CHOOSE_PASS && ++script->passes == PASSES_MAX)
		choice.kind = RR_CHOOSE_STOP;
	return choice;
}

void stage_play(struct stage *stage, const char *script)
{
	struct script state = { .rest = script };

	stage_run(stage, follow, &state);
	cr_assert_neq(stage->result.end, RR_GATE_BAD_CHOICE, "before '%s':\n%s",
		      state.rest, stage->trace);
}

const struct rr_view *stage_view(const struct stage *stage)
{
	return rr_gate_view(rr_subject_gate(stage->subject));
}

int stage_line(const struct stage *stage, const char *part)
{
	const char *found = strstr(stage->trace, part);
	int line = 0;

	for (const char *at = stage->trace; found && at < found; at++)
		line += *at == '\n';
	return found ? line : -1;
}
