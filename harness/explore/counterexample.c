/* SPDX-License-Identifier: MIT */
#include "counterexample_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rr_counterexample_server_name(char name[RR_SERVER_NAME], size_t server)
{
	if (server == 0)
		snprintf(name, RR_SERVER_NAME, "data");
	else
		snprintf(name, RR_SERVER_NAME, "n%zu", server);
}

/* ---- Names ---------------------------------------------------------------- */

/* In the largest unit without a fraction. */
static void write_duration(struct rr_writer *writer, int64_t ns)
{
	const int64_t us = ns / 1000;

	if (us % 1000000 == 0)
		fprintf(writer->file, "%" PRId64 "s\n", us / 1000000);
	else if (us % 1000 == 0)
		fprintf(writer->file, "%" PRId64 "ms\n", us / 1000);
	else
		fprintf(writer->file, "%" PRId64 "us\n", us);
}

void rr_counterexample_actor(const struct rr_writer *writer, int actor)
{
	const int n = (int)writer->config->n_clients;

	fputc('A' + actor % n, writer->file);
	if (actor >= n)
		fprintf(writer->file, "%d", actor / n + 1);
}

static int mutex_number(struct rr_writer *writer, const struct rl_mutex *mutex)
{
	int i = 0;

	while (i < RR_GATE_CLIENTS - 1 && writer->mutexes[i] &&
	       writer->mutexes[i] != mutex)
		i++;
	writer->mutexes[i] = mutex;
	return i + 1;
}

/* ---- Steps ---------------------------------------------------------------- */

static void write_note(struct rr_writer *writer, int actor, const char *text)
{
	fputs("-- ", writer->file);
	rr_counterexample_actor(writer, actor);
	fprintf(writer->file, " %s\n", text);
}

/* What has woken it. */
static void write_message(struct rr_writer *writer,
			  const struct rr_gate_event *event)
{
	if (!event->value || !rr_counterexample_listens(writer, event->actor))
		return;
	rr_counterexample_actor(writer, event->actor);
	fputs("w < *\n", writer->file);
}

static void write_step(struct rr_writer *writer,
		       const struct rr_gate_event *event)
{
	char text[64];

	switch (event->op.kind) {
	case RR_OP_SEND:
		rr_counterexample_send(writer, event);
		break;
	case RR_OP_LOCK:
	case RR_OP_UNLOCK:
		rr_counterexample_actor(writer, event->actor);
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
		write_message(writer, event);
		break;
	case RR_OP_SLEEP:
	case RR_OP_JOIN:
		break;
	}
}

/* Says which of its increments a client was told of, while it can. */
static void write_counts(struct rr_writer *writer, int actor)
{
	if (actor >= (int)writer->config->n_clients)
		return;
	for (; writer->counts[actor] > 0; writer->counts[actor]--) {
		rr_counterexample_actor(writer, actor);
		fputs(" counts\n", writer->file);
	}
}

static void write_crash(struct rr_writer *writer, int actor)
{
	const struct rr_view *view = rr_gate_last_view(writer->gate);
	const int n = (int)writer->config->n_clients;

	for (int i = 0; i < (int)view->n_actors; i++) {
		if ((writer->config->separate && i % n != actor % n) ||
		    view->actors[i].state == RR_ABSENT)
			continue;
		write_counts(writer, i);
		rr_counterexample_actor(writer, i);
		fputs(" crashes\n", writer->file);
		if (!rr_counterexample_listens(writer, i))
			continue;
		rr_counterexample_actor(writer, i);
		fputs("w crashes\n", writer->file);
	}
}

static void write_strike(struct rr_writer *writer,
			 const struct rr_gate_event *event)
{
	char server[RR_SERVER_NAME];

	rr_counterexample_server_name(server, (size_t)event->op.server);
	if (event->kind == RR_EVENT_JUMP) {
		fprintf(writer->file, "clock %s +", server);
		write_duration(writer, event->value);
		return;
	}
	if (event->kind == RR_EVENT_RESTART && event->value)
		fprintf(writer->file, "kill %s\n", server);
	else
		fprintf(writer->file, "wipe %s\n", server);
}

static void write_event(struct rr_writer *writer,
			const struct rr_gate_event *event)
{
	switch (event->kind) {
	case RR_EVENT_STEP:
		write_step(writer, event);
		break;
	case RR_EVENT_ENTER:
	case RR_EVENT_LEAVE:
		rr_counterexample_actor(writer, event->actor);
		fprintf(writer->file, " %s\n",
			event->kind == RR_EVENT_ENTER ? "enters" : "leaves");
		break;
	case RR_EVENT_END:
		write_counts(writer, event->actor);
		break;
	case RR_EVENT_PASS:
		fputs("tick ", writer->file);
		write_duration(writer, event->value - event->at_ns);
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

static bool counts_lock(const struct rr_op *op)
{
	return op->kind == RR_OP_SEND && op->n_words == 2 &&
	       strcmp(op->words[0].text, "INCR") == 0 &&
	       strcmp(op->words[1].text, "lock:0") == 0;
}

/* What the lock's value says, in the words of its heading. */
static const char *kind_of_lock(const struct rr_gate_trace *trace)
{
	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_gate_event *event = &trace->events[i];

		if (event->kind != RR_EVENT_STEP)
			continue;
		if (event->op.kind == RR_OP_CLOCK)
			return " timestamp";
		if (counts_lock(&event->op))
			return " count";
	}
	return "";
}

static void write_headings(struct rr_writer *writer)
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
		rr_counterexample_actor(writer, (int)i);
		if (!rr_counterexample_listens(writer, (int)i))
			continue;
		fputc(' ', writer->file);
		rr_counterexample_actor(writer, (int)i);
		fputc('w', writer->file);
	}
	fputs("\nservers", writer->file);
	for (size_t i = 0; i < rr_explore_servers(writer->config); i++) {
		rr_counterexample_server_name(server, i);
		fprintf(writer->file, " %s", server);
	}
	fputs("\nwatch   counter:0\n", writer->file);
	if (has_lock)
		fprintf(writer->file, "watch   lock:0\nlock    lock:0%s\n",
			kind_of_lock(writer->trace));
	fputs("counter counter:0\n\n", writer->file);
}

/* Whose clock is ahead from the beginning. */
static void write_clocks(struct rr_writer *writer)
{
	const struct rr_explore_config *config = writer->config;
	const struct rr_view *view = rr_gate_last_view(writer->gate);

	for (size_t i = 1; config->skew_ns && i < view->n_actors; i++) {
		const int64_t client = (int64_t)(i % config->n_clients);

		if (client == 0 || view->actors[i].state == RR_ABSENT)
			continue;
		fputs("clock ", writer->file);
		rr_counterexample_actor(writer, (int)i);
		fputs(" +", writer->file);
		write_duration(writer, client * config->skew_ns);
	}
}

char *rr_counterexample_write(const struct rr_explore_config *config,
			  const struct rr_gate *gate,
			  const struct rr_subject_result *run)
{
	struct rr_writer writer = { .config = config,
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
	write_clocks(&writer);
	rr_counterexample_connections(&writer);
	rr_counterexample_subscribe(&writer);
	for (size_t i = 0; i < writer.trace->n_events; i++)
		write_event(&writer, &writer.trace->events[i]);
	fclose(writer.file);
	return text;
}
