/* SPDX-License-Identifier: MIT */
#include "counterexample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race_text.h"


struct writer {
	FILE *file;
	const struct rr_explore_config *config;
	const struct rr_gate *gate;
	const struct rr_gate_trace *trace;
	long counts[RR_GATE_CLIENTS]; /* that it has still to say */
	const struct rl_mutex *mutexes[RR_GATE_CLIENTS];
};

void rr_counterexample_server_name(char name[RR_SERVER_NAME], size_t server)
{
	if (server == 0)
		snprintf(name, RR_SERVER_NAME, "data");
	else
		snprintf(name, RR_SERVER_NAME, "n%zu", server);
}

/* ---- Names ---------------------------------------------------------------- */

/* "A", and "A2" for what the gate calls A'. */
static void write_actor(const struct writer *writer, int actor)
{
	const int n = (int)writer->config->n_clients;

	fputc('A' + actor % n, writer->file);
	if (actor >= n)
		fprintf(writer->file, "%d", actor / n + 1);
}

static int mutex_number(struct writer *writer, const struct rl_mutex *mutex)
{
	int i = 0;

	while (i < RR_GATE_CLIENTS - 1 && writer->mutexes[i] &&
	       writer->mutexes[i] != mutex)
		i++;
	writer->mutexes[i] = mutex;
	return i + 1;
}

/* ---- Steps ---------------------------------------------------------------- */

/* A script that is known by its hash elsewhere is sent whole. */
static void write_command(struct writer *writer, const struct rr_op *op)
{
	const char *source =
		strcmp(op->words[0].text, "EVALSHA") == 0 && op->n_words > 1 ?
			rr_gate_script(writer->gate, op->words[1].text) :
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

static void write_send(struct writer *writer,
		       const struct rr_gate_event *event)
{
	char server[RR_SERVER_NAME];

	if (event->op.server > 0) {
		rr_counterexample_server_name(server, (size_t)event->op.server);
		fprintf(writer->file, "@%s", server);
	}
	fputc('>', writer->file);
	write_command(writer, &event->op);
	fputs("  => ", writer->file);
	if (event->lost)
		fputs("(lost)", writer->file);
	else
		rr_write_reply(writer->file, &event->reply);
	fputc('\n', writer->file);
}

static void write_note(struct writer *writer, int actor, const char *text)
{
	fputs("-- ", writer->file);
	write_actor(writer, actor);
	fprintf(writer->file, " %s\n", text);
}

static void write_step(struct writer *writer,
		       const struct rr_gate_event *event)
{
	char text[64];

	switch (event->op.kind) {
	case RR_OP_SEND:
		write_actor(writer, event->actor);
		write_send(writer, event);
		break;
	case RR_OP_LOCK:
	case RR_OP_UNLOCK:
		write_actor(writer, event->actor);
		fprintf(writer->file, " %s mutex%d\n",
			event->op.kind == RR_OP_LOCK ? "locks" : "unlocks",
			mutex_number(writer, event->op.mutex));
		break;
	case RR_OP_CLOCK:
		snprintf(text, sizeof(text), "reads the clock: %" PRId64 " s",
			 event->value / 1000000000);
		write_note(writer, event->actor, text);
		break;
	case RR_OP_WAIT:
		write_note(writer, event->actor,
			   event->value ? "is woken" : "waited in vain");
		break;
	case RR_OP_SLEEP:
	case RR_OP_JOIN:
		break;
	}
}

/* Says which of its increments a client was told of, while it can. */
static void write_counts(struct writer *writer, int actor)
{
	if (actor >= (int)writer->config->n_clients)
		return;
	for (; writer->counts[actor] > 0; writer->counts[actor]--) {
		write_actor(writer, actor);
		fputs(" counts\n", writer->file);
	}
}

static void write_crash(struct writer *writer, int actor)
{
	const struct rr_view *view = rr_gate_last_view(writer->gate);
	const int n = (int)writer->config->n_clients;

	for (int i = 0; i < (int)view->n_actors; i++) {
		if ((writer->config->separate && i % n != actor % n) ||
		    view->actors[i].state == RR_ABSENT)
			continue;
		write_counts(writer, i);
		write_actor(writer, i);
		fputs(" crashes\n", writer->file);
	}
}

static void write_strike(struct writer *writer,
			 const struct rr_gate_event *event)
{
	char server[RR_SERVER_NAME];

	rr_counterexample_server_name(server, (size_t)event->op.server);
	if (event->kind == RR_EVENT_JUMP)
		fprintf(writer->file, "clock %s +%" PRId64 "us\n", server,
			event->value / 1000);
	else if (event->kind == RR_EVENT_RESTART && event->value)
		fprintf(writer->file, "kill %s\n", server);
	else
		fprintf(writer->file, "wipe %s\n", server);
}

static void write_event(struct writer *writer,
			const struct rr_gate_event *event)
{
	switch (event->kind) {
	case RR_EVENT_STEP:
		write_step(writer, event);
		break;
	case RR_EVENT_ENTER:
	case RR_EVENT_LEAVE:
		write_actor(writer, event->actor);
		fprintf(writer->file, " %s\n",
			event->kind == RR_EVENT_ENTER ? "enters" : "leaves");
		break;
	case RR_EVENT_END:
		write_counts(writer, event->actor);
		break;
	case RR_EVENT_PASS:
		fprintf(writer->file, "tick %" PRId64 "us\n",
			(event->value - event->at_ns) / 1000);
		break;
	case RR_EVENT_CRASH:
		write_crash(writer, event->actor);
		break;
	case RR_EVENT_RESTART:
	case RR_EVENT_RETURN:
	case RR_EVENT_JUMP:
		write_strike(writer, event);
		break;
	case RR_EVENT_SPAWN:
	case RR_EVENT_PAUSE:
		break;
	}
}

/* ---- Headings ------------------------------------------------------------- */

static bool reads_clock(const struct rr_gate_trace *trace)
{
	for (size_t i = 0; i < trace->n_events; i++) {
		if (trace->events[i].kind == RR_EVENT_STEP &&
		    trace->events[i].op.kind == RR_OP_CLOCK)
			return true;
	}
	return false;
}

static void write_headings(struct writer *writer)
{
	const struct rr_strategy *strategy = writer->config->strategy;
	const struct rr_view *view = rr_gate_last_view(writer->gate);
	const bool has_lock = strategy->acquire && !strategy->uses_mutex &&
			      strategy->lock_servers == 0;
	char server[RR_SERVER_NAME];

	fprintf(writer->file, "title   %s: found by redrace explore\nclients",
		strategy->name);
	for (size_t i = 0; i < view->n_actors; i++) {
		if (view->actors[i].state == RR_ABSENT)
			continue;
		fputc(' ', writer->file);
		write_actor(writer, (int)i);
	}
	fputs("\nservers", writer->file);
	for (size_t i = 0; i < rr_explore_servers(writer->config); i++) {
		rr_counterexample_server_name(server, i);
		fprintf(writer->file, " %s", server);
	}
	fputs("\nwatch   counter:0\n", writer->file);
	if (has_lock)
		fprintf(writer->file, "watch   lock:0\nlock    lock:0%s\n",
			reads_clock(writer->trace) ? " timestamp" : "");
	fputs("counter counter:0\n\n", writer->file);
}

char *rr_counterexample_write(const struct rr_explore_config *config,
			  const struct rr_gate *gate,
			  const struct rr_subject_result *run)
{
	struct writer writer = { .config = config,
				 .gate = gate,
				 .trace = rr_gate_last_trace(gate) };
	char *text = NULL;
	size_t size;

	writer.file = open_memstream(&text, &size);
	if (!writer.file)
		return NULL;
	for (size_t i = 0; i < config->n_clients; i++)
		writer.counts[i] = run->clients[i].ok;
	write_headings(&writer);
	for (size_t i = 0; i < writer.trace->n_events; i++)
		write_event(&writer, &writer.trace->events[i]);
	fclose(writer.file);
	return text;
}
