/* SPDX-License-Identifier: MIT */
/* Commands under a gate, told as steps of a race. */
#include <stdio.h>
#include <string.h>

#include "link.h"
#include "record_parts.h"
#include "script.h"
#include "wording_ops.h"

/* A script that is called by its hash is told whole: no other server knows it.
 * NULL = it is something else, or this one did not know it either. */
static const char *source_of(const struct rr_gate_event *event)
{
	const struct rr_op *op = &event->op;

	if (strcmp(op->words[0].text, "EVALSHA") != 0 || op->n_words < 2 ||
	    rl_script_is_forgotten(&event->reply))
		return NULL;
	return rl_script_source(op->link, op->words[1].text);
}

static bool keep_words(struct rr_rehearsal *rehearsal, struct rr_step *step,
		       const struct rr_gate_event *event)
{
	const char *source = source_of(event);
	const char *words[RL_WORDS_MAX];

	step->n_words = event->op.n_words;
	for (size_t i = 0; i < step->n_words; i++) {
		const char *word = event->op.words[i].text;

		if (source && i < 2)
			word = i == 0 ? "EVAL" : source;
		words[i] = record_keep(rehearsal, word);
		if (!words[i])
			return false;
	}
	step->words = (const char *const *)rr_race_keep(
		rehearsal->race, (const char *)words,
		step->n_words * sizeof(words[0]));
	return step->words != NULL;
}

/* What came: the client's side of it. */
static void reply_of(const struct rr_gate_event *event, bool lost, char *text,
		     size_t size)
{
	const bool answered = event->outcome == RL_OK ||
			      event->reply.type == RL_REPLY_FAILED;

	if (answered && !lost)
		rr_reply_text_of(&event->reply, text, size);
	else
		snprintf(text, size, lost ? "(lost)" : "(closed)");
}

/* Is the reply lost, on purpose or with one before it? Then only the last one
 * is a race's (lost), for that ends the connection. */
static bool note_loss(struct rr_rehearsal *rehearsal, int client,
		      const struct rr_gate_event *event, struct rr_step *step)
{
	struct rr_loss *loss = &rehearsal->losses[client];
	const struct rl_link *link = event->op.link;
	const bool follows = loss->link == link;

	if (!event->lost && !follows)
		return false;
	if (follows)
		loss->step->expected = NULL;
	step->is_lost = true;
	*loss = (struct rr_loss){ rl_link_connection(link) ? link : NULL,
				  step };
	return true;
}

void record_command(struct rr_rehearsal *rehearsal, int client,
			   const struct rr_gate_event *gate_event)
{
	char text[RR_REPLY_TEXT_SIZE], remark[RR_REMARK_SIZE] = "";
	struct rr_step *step;
	struct rr_event *event = record_add(rehearsal, RR_STEP_RUN, client, &step);

	if (!event)
		return;
	step->server = gate_event->op.server;
	if (!keep_words(rehearsal, step, gate_event)) {
		rr_rehearsal_fail(rehearsal, RR_EXIT_INTERNAL, "out of memory");
		return;
	}
	reply_of(gate_event, note_loss(rehearsal, client, gate_event, step),
		 text, sizeof(text));
	step->expected = record_keep(rehearsal, text);
	event->command = rr_join_words(gate_event->op.words,
				       gate_event->op.n_words);
	event->reply = strdup(text);
	record_look(rehearsal, event, remark);
}
