/* SPDX-License-Identifier: MIT */
/* A transcript's commands, and what their clients hear. */
#include <string.h>

#include "counterexample_inside.h"
#include "race_text.h"

static bool is_forgotten(const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_FAILED &&
	       strncmp(reply->text, "NOSCRIPT", 8) == 0;
}

/* A script that is known by its hash elsewhere is sent whole, unless the server
 * has forgotten it, too. */
static void write_command(struct rr_writer *writer,
			  const struct rr_gate_event *event)
{
	const struct rr_op *op = &event->op;
	const char *source = strcmp(op->words[0].text, "EVALSHA") == 0 &&
					     op->n_words > 1 &&
					     !is_forgotten(&event->reply) ?
				     rr_gate_script(writer->gate,
						    op->words[1].text) :
				     NULL;

	for (size_t i = 0; i < op->n_words; i++) {
		struct rl_word word = op->words[i];

		if (source && i == 0)
			word = (struct rl_word){ "EVAL", 4 };
		if (source && i == 1)
			word = (struct rl_word){ source, strlen(source) };
		rr_write_word(writer->file, &word);
	}
}

static void write_answer(struct rr_writer *writer,
			 const struct rr_gate_event *event,
			 enum rr_answer answer)
{
	fputs("  => ", writer->file);
	if (answer == RR_ANSWER_LOST)
		fputs("(lost)", writer->file);
	else if (answer == RR_ANSWER_CLOSED)
		fputs("(closed)", writer->file);
	else if (answer == RR_ANSWER_REFUSED)
		fputs("(refused)", writer->file);
	else
		rr_write_reply(writer->file, &event->reply);
	fputc('\n', writer->file);
}

/* After a lost reply the rest of what was sent at once is executed on the same
 * connection, and nobody hears of it. */
static void write_later(struct rr_writer *writer, const struct rr_gate_event *event,
			bool is_last)
{
	fputs(" writes", writer->file);
	write_command(writer, event);
	fputc('\n', writer->file);
	if (!is_last)
		return;
	rr_counterexample_actor(writer, event->actor);
	fputs(" < (lost)\n", writer->file);
}

static void write_server(struct rr_writer *writer, int server)
{
	char name[RR_SERVER_NAME];

	if (server > 0) {
		rr_counterexample_server_name(name, (size_t)server);
		fprintf(writer->file, "@%s", name);
	}
	fputc('>', writer->file);
}

void rr_counterexample_send(struct rr_writer *writer, const struct rr_gate_event *event)
{
	const size_t i = (size_t)(event - writer->trace->events);
	bool was_open;
	const enum rr_answer answer = rr_wires_answer(
		&writer->wires, writer->trace, i, &was_open);

	rr_counterexample_actor(writer, event->actor);
	if (rr_counterexample_subscribes(event))
		fputc('w', writer->file);
	if (answer == RR_ANSWER_LATER) {
		write_later(writer, event, rr_wires_is_last(writer->trace, i));
		return;
	}
	write_server(writer, event->op.server);
	write_command(writer, event);
	write_answer(writer, event, answer);
}


void rr_counterexample_connections(struct rr_writer *writer)
{
	const struct rr_gate_trace *trace = writer->trace;
	struct rr_wires wires = { 0 };

	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_gate_event *event = &trace->events[i];
		bool was_open;

		if (event->kind != RR_EVENT_STEP ||
		    event->op.kind != RR_OP_SEND ||
		    rr_wires_answer(&wires, trace, i, &was_open) !=
			    RR_ANSWER_CLOSED ||
		    was_open)
			continue;
		rr_counterexample_actor(writer, event->actor);
		write_server(writer, event->op.server);
		fputs(" PING  => PONG\n", writer->file);
		writer->wires.open[event->actor][event->op.server] = true;
	}
}
