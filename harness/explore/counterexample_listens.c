/* SPDX-License-Identifier: MIT */
/*
 * A transcript's connections for messages. A client that is woken listens on a
 * connection of its own, which has subscribed since before the run: "Aw" beside
 * "A". Its channel is known by the client's tokens, OBJECT:ATTEMPT:TTL.
 */
#include <string.h>
#include <strings.h>

#include "counterexample_inside.h"

static bool is_send(const struct rr_gate_event *event)
{
	return event->kind == RR_EVENT_STEP && event->op.kind == RR_OP_SEND;
}

/* How long a token's OBJECT is, 0 = this is no token. */
static size_t object_length(const struct rl_word *word)
{
	const size_t length = strspn(word->text, "0123456789abcdef");
	const char *attempt = word->text + length + 1;
	size_t digits;

	if (length == 0 || word->text[length] != ':')
		return 0;
	digits = strspn(attempt, "0123456789");
	return digits && attempt[digits] == ':' ? length : 0;
}

/* The first token that the client sends; NULL = none. */
static const struct rl_word *token_of(const struct rr_writer *writer, int actor)
{
	const struct rr_gate_trace *trace = writer->trace;

	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_gate_event *event = &trace->events[i];

		if (event->actor != actor || !is_send(event))
			continue;
		for (size_t w = 3; w < event->op.n_words; w++) {
			if (object_length(&event->op.words[w]))
				return &event->op.words[w];
		}
	}
	return NULL;
}

bool rr_counterexample_listens(const struct rr_writer *writer, int actor)
{
	return writer->config->strategy->is_woken && token_of(writer, actor);
}

bool rr_counterexample_subscribes(const struct rr_gate_event *event)
{
	return strcasecmp(event->op.words[0].text, "SUBSCRIBE") == 0;
}

void rr_counterexample_subscribe(struct rr_writer *writer)
{
	const int n = (int)writer->config->n_clients;

	for (int i = 0; i < n; i++) {
		const struct rl_word *token;

		if (!rr_counterexample_listens(writer, i))
			continue;
		token = token_of(writer, i);
		rr_counterexample_actor(writer, i);
		fprintf(writer->file, "w> SUBSCRIBE lock:0:wake:%.*s\n",
			(int)object_length(token), token->text);
	}
}
