/* SPDX-License-Identifier: MIT */
#include "gated.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES_MAX = 50, TOKEN_LENGTH = 40 };
#define SECOND_NS INT64_C(1000000000)

void gated_open(struct gated *gated, const char *strategy,
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

	*gated = (struct gated){ 0 };
	cr_assert_not_null(config.strategy, "no %s", strategy);
	support_open(&gated->support, 1 + config.strategy->lock.servers);
	config.addresses = gated->support.addresses;
	if (change)
		change(&config);
	gated->subject = rr_subject_new(&config, error, sizeof(error));
	cr_assert_not_null(gated->subject, "%s", error);
}

void gated_close(struct gated *gated)
{
	free(gated->trace);
	rr_subject_free(gated->subject);
	support_close(&gated->support);
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

static void write_trace(struct gated *gated)
{
	const struct rr_gate_trace *trace =
		rr_gate_last_trace(rr_subject_gate(gated->subject));
	FILE *file;
	size_t size;

	free(gated->trace);
	file = open_memstream(&gated->trace, &size);
	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_gate_event *event = &trace->events[i];
		const char *name = "";

		if (event->actor >= 0)
			name = gated_view(gated)->actors[event->actor].name;
		rr_gate_event_print(file, event, name);
	}
	fclose(file);
	mask_tokens(gated->trace);
}

void gated_run(struct gated *gated, rr_choose choose, void *context)
{
	cr_assert(rr_subject_run(gated->subject, choose, context,
				 &gated->result),
		  "%s", rr_subject_error(gated->subject));
	write_trace(gated);
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

void gated_play(struct gated *gated, const char *script)
{
	struct script state = { .rest = script };

	gated_run(gated, follow, &state);
	cr_assert_neq(gated->result.end, RR_GATE_BAD_CHOICE, "before '%s':\n%s",
		      state.rest, gated->trace);
}

const struct rr_view *gated_view(const struct gated *gated)
{
	return rr_gate_last_view(rr_subject_gate(gated->subject));
}

int gated_line(const struct gated *gated, const char *part)
{
	const char *found = strstr(gated->trace, part);
	int line = 0;

	for (const char *at = gated->trace; found && at < found; at++)
		line += *at == '\n';
	return found ? line : -1;
}
