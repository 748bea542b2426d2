/* SPDX-License-Identifier: MIT */
/* Blocking pops: when they are ready, and what is sent of one that has waited in
 * vain. */
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#include "inside.h"
#include "link.h"

/* Where in a command its time-out and its source keys are. */
struct shape {
	const char *name;
	size_t time_out; /* 0 = the last word */
	size_t source;   /* the first */
	size_t n_sources; /* 0 = until the last word, COUNTED = word 2 says */
};

enum { COUNTED = RL_WORDS_MAX + 1 };

static const struct shape shapes[] = {
	{ .name = "BLPOP", .source = 1 },
	{ .name = "BRPOP", .source = 1 },
	{ .name = "BZPOPMIN", .source = 1 },
	{ .name = "BZPOPMAX", .source = 1 },
	{ .name = "BLMOVE", .source = 1, .n_sources = 1 },
	{ .name = "BRPOPLPUSH", .source = 1, .n_sources = 1 },
	{ .name = "BLMPOP", .time_out = 1, .source = 3, .n_sources = COUNTED },
	{ .name = "BZMPOP", .time_out = 1, .source = 3, .n_sources = COUNTED },
};

static const struct shape *shape_of(const struct rr_op *op)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (strcasecmp(op->words[0].text, shapes[i].name) == 0)
			return &shapes[i];
	}
	return NULL;
}

static size_t n_sources(const struct shape *shape, const struct rr_op *op)
{
	if (shape->n_sources == COUNTED)
		return strtoul(op->words[2].text, NULL, 10);
	return shape->n_sources ? shape->n_sources : op->n_words - 2;
}

/* False: the server answers it with an error, at once. */
static bool is_time_out(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return *end == '\0' && end != text && *seconds >= 0 &&
	       *seconds * 1000 < (double)LLONG_MAX;
}

/* From now on; 0 is for ever. */
static int64_t time_out_ns(const struct rr_gate *gate, double seconds)
{
	const double end_ns = (double)gate->now_ns + seconds * 1e9;

	if (seconds == 0 || end_ns >= (double)RR_NEVER)
		return RR_NEVER;
	return (int64_t)end_ns;
}

void rr_gate_see_pop(struct rr_actor *actor)
{
	struct rr_op *op = &actor->op;
	const struct shape *shape = op->n_words < 3 ? NULL : shape_of(op);
	double seconds;
	size_t n;

	if (!shape || op->server < 0 ||
	    rr_gate_link_of(actor, op->link)->in_multi)
		return;
	n = n_sources(shape, op);
	if (n == 0 || n >= op->n_words || shape->source + n >= op->n_words ||
	    n > RL_WORDS_MAX - 1)
		return;
	if (!is_time_out(op->words[shape->time_out ? shape->time_out :
						     op->n_words - 1]
				 .text,
			 &seconds))
		return;
	op->source = shape->source;
	op->n_sources = n;
	op->until_ns = time_out_ns(actor->gate, seconds);
	if (op->until_ns != RR_NEVER)
		rr_gate_note_reading(actor);
	actor->asked_at = SIZE_MAX;
}

/* ---- Is there an element? ------------------------------------------------- */

/* Can this have made or removed keys of the server? */
static bool may_matter(const struct rr_gate_event *event, int server)
{
	switch (event->kind) {
	case RR_EVENT_STEP:
		return event->op.kind == RR_OP_SEND &&
		       event->op.server == server;
	case RR_EVENT_ENTER:
	case RR_EVENT_LEAVE:
	case RR_EVENT_SPAWN:
	case RR_EVENT_END:
		return false;
	default:
		return true;
	}
}

static bool is_known(const struct rr_gate *gate, const struct rr_actor *actor)
{
	if (actor->asked_at == SIZE_MAX)
		return false;
	for (size_t i = actor->asked_at; i < gate->trace.n_events; i++) {
		if (may_matter(&gate->trace.events[i], actor->op.server))
			return false;
	}
	return true;
}

/* A list or a sorted set that exists has an element, and a key of another type is
 * answered at once as well. So is everything when the server is gone. */
static bool ask(struct rr_gate *gate, const struct rr_op *op)
{
	struct rl_command command = { .n_words = 1 + op->n_sources };
	struct rl_link *probe = rr_gate_probe(gate, op->server);
	struct rl_reply reply;

	command.words[0] = (struct rl_word){ "EXISTS", 6 };
	for (size_t i = 0; i < op->n_sources; i++)
		command.words[1 + i] = op->words[op->source + i];
	if (!probe || rl_run_command(probe, &reply, &command) != RL_OK)
		return true;
	return reply.integer > 0;
}

int64_t rr_gate_pop_ready_ns(struct rr_gate *gate, struct rr_actor *actor)
{
	if (actor->op.n_sources == 0 || gate->is_down[actor->op.server])
		return gate->now_ns;
	if (!is_known(gate, actor))
		actor->has_element = ask(gate, &actor->op);
	actor->asked_at = gate->trace.n_events;
	return actor->has_element ? gate->now_ns : actor->op.until_ns;
}

void rr_gate_send_pop(const struct rr_actor *actor, struct rl_command *command)
{
	if (actor->op.n_sources == 0 || actor->has_element)
		return;
	command->words[0] = (struct rl_word){ "GET", 3 };
	command->words[1] = actor->op.words[actor->op.source];
	command->n_words = 2;
}
