/* SPDX-License-Identifier: MIT */
#include "explore_transcript.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/reply.h"

struct writer {
	FILE *file;
	const struct rr_product *product;
	const struct rr_scripts *scripts;
	const struct rr_actions *actions;
	bool open[RR_PRODUCT_SERVERS][RR_ASKER_SLOTS]; /* connections */
	int64_t ahead_ns[RR_PRODUCT_SERVERS];
	/* Commands that a client sent before it left its critical section, and
	 * that are still to be executed: it leaves then. */
	uint32_t leaves_after[RR_PRODUCT_CLIENTS];
};

void rr_explore_server_name(char name[RR_SERVER_NAME], size_t server)
{
	if (server == 0)
		snprintf(name, RR_SERVER_NAME, "data");
	else
		snprintf(name, RR_SERVER_NAME, "n%zu", server);
}

/* ---- Clients -------------------------------------------------------------- */

static const struct rr_terms *terms_of(const struct writer *writer)
{
	return writer->product->config.program->terms;
}

static bool is_command(const struct rr_action *action)
{
	return action->kind == RR_ACTION_ASK &&
	       action->question.kind == RR_ASK_COMMAND;
}

static const char *name_of(const struct writer *writer, uint32_t command)
{
	return terms_of(writer)->command[command].words.words[0].text;
}

/* Does it subscribe on that connection, at any time? */
static bool listens(const struct writer *writer, uint16_t slot)
{
	for (size_t i = 0; i < writer->actions->n; i++) {
		const struct rr_action *action = &writer->actions->all[i];

		if (is_command(action) && action->question.slot == slot &&
		    strcasecmp(name_of(writer, action->command),
			       "SUBSCRIBE") == 0)
			return true;
	}
	return false;
}

/* "A"; "A2" for its second connection to a server, "Aw" where that listens. */
static void write_client(const struct writer *writer, size_t client,
			 size_t ordinal)
{
	const uint16_t slot = (uint16_t)(client * RR_RUN_ORDINALS + ordinal);

	fputc('A' + (int)client, writer->file);
	if (ordinal && listens(writer, slot))
		fputc('w', writer->file);
	else if (ordinal)
		fprintf(writer->file, "%zu", ordinal + 1);
}

static void write_slot(const struct writer *writer, uint16_t slot)
{
	write_client(writer, slot / RR_RUN_ORDINALS, slot % RR_RUN_ORDINALS);
}

static void write_server(const struct writer *writer, size_t server)
{
	char name[RR_SERVER_NAME];

	if (server > 0) {
		rr_explore_server_name(name, server);
		fprintf(writer->file, "@%s", name);
	}
	fputc('>', writer->file);
}

/* Which connections a client uses, as bits. */
static unsigned ordinals_of(const struct writer *writer, size_t client)
{
	unsigned bits = 1;

	for (size_t i = 0; i < writer->actions->n; i++) {
		const struct rr_action *action = &writer->actions->all[i];

		if (is_command(action) && !action->is_late &&
		    action->question.slot / RR_RUN_ORDINALS == client)
			bits |= 1U << action->question.slot % RR_RUN_ORDINALS;
	}
	return bits;
}

/* ---- Commands ------------------------------------------------------------- */

static bool is_forgotten(const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_FAILED &&
	       strncmp(reply->text, "NOSCRIPT", 8) == 0;
}

/* A script that is known by its hash elsewhere is sent whole, unless the server has
 * forgotten it, too. */
static void write_command(const struct writer *writer, uint32_t command,
			  const struct rl_reply *reply)
{
	const struct rl_command *words =
		&terms_of(writer)->command[command].words;
	const char *source = NULL;

	if (words->n_words > 1 &&
	    strcasecmp(words->words[0].text, "EVALSHA") == 0 &&
	    !(reply && is_forgotten(reply)))
		source = rr_scripts_find(writer->scripts, words->words[1].text);
	for (size_t i = 0; i < words->n_words; i++) {
		struct rl_word word = words->words[i];

		if (source && i == 0)
			word = (struct rl_word){ "EVAL", 4 };
		if (source && i == 1)
			word = (struct rl_word){ source, strlen(source) };
		rr_write_word(writer->file, &word);
	}
}

/* Is another command executed on this connection before its client notices that a
 * reply was lost? */
static bool goes_on_unheard(const struct writer *writer, size_t i)
{
	const struct rr_action *action = &writer->actions->all[i];

	for (size_t j = i + 1; j < writer->actions->n; j++) {
		const struct rr_action *other = &writer->actions->all[j];

		if (other->kind == RR_ACTION_CRASH &&
		    other->client == action->client)
			return false;
		if (!is_command(other) ||
		    other->question.slot != action->question.slot ||
		    other->server != action->server)
			continue;
		return other->answer == RR_ANSWER_UNHEARD;
	}
	return false;
}

/* What was sent behind a lost reply goes down the same connection. */
static void write_unheard(const struct writer *writer, size_t i)
{
	const struct rr_action *action = &writer->actions->all[i];
	const bool goes_on = goes_on_unheard(writer, i);

	write_slot(writer, action->question.slot);
	if (action->answer == RR_ANSWER_LOST && !goes_on) {
		write_server(writer, action->server);
		write_command(writer, action->command, NULL);
		fputs("  => (lost)\n", writer->file);
		return;
	}
	fputs(" writes", writer->file);
	write_command(writer, action->command, NULL);
	fputc('\n', writer->file);
	if (goes_on)
		return;
	write_slot(writer, action->question.slot);
	fputs(" < (lost)\n", writer->file);
}

static void write_executed(struct writer *writer, size_t i)
{
	const struct rr_action *action = &writer->actions->all[i];
	const struct rl_reply *reply =
		&terms_of(writer)->reply[action->reply].reply;

	writer->open[action->server][action->question.slot] =
		action->answer == RR_ANSWER_REPLY;
	if (action->is_late) {
		fprintf(writer->file, "-- A command of %c's arrives late.\n",
			'A' + action->client);
		fprintf(writer->file, "%cl", 'A' + action->client);
	} else if (action->answer != RR_ANSWER_REPLY) {
		write_unheard(writer, i);
		return;
	} else {
		write_slot(writer, action->question.slot);
	}
	write_server(writer, action->server);
	write_command(writer, action->command, reply);
	fputs("  => ", writer->file);
	rr_write_reply(writer->file, reply);
	fputc('\n', writer->file);
}

/* One that was answered by no server. */
static void write_answer(struct writer *writer, const struct rr_action *action)
{
	const size_t ordinal = (size_t)rr_lane_ordinal(
		writer->product->config.program, action->lane);
	const size_t slot = action->client * RR_RUN_ORDINALS + ordinal;

	if (action->is_fault) {
		fprintf(writer->file, "-- %c's command never arrives:",
			'A' + action->client);
		write_command(writer, action->command, NULL);
		fputc('\n', writer->file);
		if (!writer->open[action->server][slot])
			return;
		/* Its connection is gone as well. */
		write_client(writer, action->client, ordinal);
		write_server(writer, action->server);
		fputs(" PING  => (lost)\n", writer->file);
	} else {
		write_client(writer, action->client, ordinal);
		write_server(writer, action->server);
		write_command(writer, action->command, NULL);
		fputs(action->answer == RR_ANSWER_REFUSED ?
			      "  => (refused)\n" :
			      "  => (closed)\n",
		      writer->file);
	}
	writer->open[action->server][slot] = false;
}

/* ---- Clients' doings ------------------------------------------------------ */

static void write_leaving(struct writer *writer,
			  const struct rr_action *action)
{
	if (action->n_inside > 0)
		writer->leaves_after[action->client] = action->n_inside;
	else
		fprintf(writer->file, "%c leaves\n", 'A' + action->client);
}

static void write_marks(struct writer *writer, const struct rr_action *action)
{
	const char name = (char)('A' + action->client);

	if (action->was_inside && (action->has_entered || !action->is_inside))
		write_leaving(writer, action);
	if (action->has_entered)
		fprintf(writer->file, "%c enters\n", name);
	if (action->has_entered && !action->is_inside)
		write_leaving(writer, action);
	for (uint8_t i = 0; i < action->n_counted; i++)
		fprintf(writer->file, "%c counts\n", name);
}

static void write_feed(struct writer *writer, const struct rr_action *action)
{
	const struct rr_stop *stop = &action->stop;
	const char name = (char)('A' + action->client);

	if (action->input.kind == RR_INPUT_CLOCK)
		fprintf(writer->file,
			"-- %c reads the clock: %" PRId64 " s\n", name,
			action->input.value / 1000000000);
	else if (stop->kind == RR_STOP_LOCK || stop->kind == RR_STOP_UNLOCK)
		fprintf(writer->file, "%c %s mutex%d\n", name,
			stop->kind == RR_STOP_LOCK ? "locks" : "unlocks",
			stop->mutex + 1);
	else if (action->input.kind == RR_INPUT_TIMEOUT &&
		 stop->kind == RR_STOP_LISTEN)
		fprintf(writer->file, "-- %c waited in vain\n", name);
	write_marks(writer, action);
}

static void write_crash(struct writer *writer, const struct rr_action *action)
{
	const unsigned ordinals = ordinals_of(writer, action->client);

	for (uint8_t i = 0; i < action->n_counted; i++)
		fprintf(writer->file, "%c counts\n", 'A' + action->client);
	for (size_t i = 0; i < RR_RUN_ORDINALS; i++) {
		const uint16_t slot =
			(uint16_t)(action->client * RR_RUN_ORDINALS + i);

		if (!(ordinals >> i & 1) || (i && listens(writer, slot)))
			continue;
		write_client(writer, action->client, i);
		fputs(" crashes\n", writer->file);
	}
}

/* A server notices that a dead client listens no more. */
static void write_notice(struct writer *writer, const struct rr_action *action)
{
	const uint16_t slot = action->question.slot;

	if (!listens(writer, slot) || slot % RR_RUN_ORDINALS == 0)
		return;
	write_slot(writer, slot);
	fputs(" crashes\n", writer->file);
}

/* ---- Time and servers ----------------------------------------------------- */

/* In the largest unit without a fraction. */
static void write_duration(const struct writer *writer, int64_t ns)
{
	const int64_t us = ns / 1000;

	if (us % 1000000 == 0)
		fprintf(writer->file, "%" PRId64 "s\n", us / 1000000);
	else if (us % 1000 == 0)
		fprintf(writer->file, "%" PRId64 "ms\n", us / 1000);
	else
		fprintf(writer->file, "%" PRId64 "us\n", us);
}

static void write_about_server(struct writer *writer, const char *verb,
			       size_t server)
{
	char name[RR_SERVER_NAME];

	rr_explore_server_name(name, server);
	fprintf(writer->file, "%s %s\n", verb, name);
	memset(writer->open[server], 0, sizeof(writer->open[server]));
}

static void write_jump(struct writer *writer, const struct rr_action *action)
{
	char name[RR_SERVER_NAME];

	rr_explore_server_name(name, action->server);
	writer->ahead_ns[action->server] += action->question.argument;
	fprintf(writer->file, "clock %s +", name);
	write_duration(writer, writer->ahead_ns[action->server]);
}

static void write_ask(struct writer *writer, size_t i, bool is_dead)
{
	const struct rr_action *action = &writer->actions->all[i];

	switch (action->question.kind) {
	case RR_ASK_COMMAND:
		write_executed(writer, i);
		if (action->is_inside && !action->is_late &&
		    writer->leaves_after[action->client] &&
		    --writer->leaves_after[action->client] == 0)
			fprintf(writer->file, "%c leaves\n",
				'A' + action->client);
		break;
	case RR_ASK_READ:
		write_slot(writer, action->question.slot);
		fputs(" < ", writer->file);
		rr_write_reply(writer->file,
			       &terms_of(writer)->reply[action->reply].reply);
		fputc('\n', writer->file);
		break;
	case RR_ASK_TICK:
		write_jump(writer, action);
		break;
	case RR_ASK_WIPE:
		write_about_server(writer, "wipe", action->server);
		break;
	case RR_ASK_CLOSE:
		if (is_dead)
			write_notice(writer, action);
		break;
	}
}

/* ---- The whole ------------------------------------------------------------ */

static void write_headings(const struct writer *writer)
{
	const struct rr_strategy *strategy = writer->product->config.strategy;
	const enum rr_lock_kind kind = strategy->lock.kind;
	char name[RR_SERVER_NAME];

	fprintf(writer->file, "title   %s: found by redrace explore\nclients",
		strategy->name);
	for (size_t i = 0; i < writer->product->n_clients; i++) {
		const unsigned ordinals = ordinals_of(writer, i);

		for (size_t j = 0; j < RR_RUN_ORDINALS; j++) {
			if (!(ordinals >> j & 1))
				continue;
			fputc(' ', writer->file);
			write_client(writer, i, j);
		}
	}
	for (size_t i = 0; i < writer->actions->n; i++) {
		if (writer->actions->all[i].is_late)
			fprintf(writer->file, " %cl",
				'A' + writer->actions->all[i].client);
	}
	fputs("\nservers", writer->file);
	for (size_t i = 0; i < writer->product->n_servers; i++) {
		rr_explore_server_name(name, i);
		fprintf(writer->file, " %s", name);
	}
	fputs("\nwatch   counter:0\n", writer->file);
	if (rr_lock_has_key(strategy))
		fprintf(writer->file, "watch   lock:0\nlock    lock:0%s\n",
			kind == RR_LOCK_TIMESTAMP ? " timestamp" :
			kind == RR_LOCK_COUNTER	  ? " count" :
						    "");
	fputs("counter counter:0\n\n", writer->file);
}

/* Whose clock is ahead from the beginning. */
static void write_clocks(const struct writer *writer)
{
	const int64_t skew_ns = writer->product->config.skew_ns;

	for (size_t i = 1; skew_ns && i < writer->product->n_clients; i++) {
		const unsigned ordinals = ordinals_of(writer, i);

		for (size_t j = 0; j < RR_RUN_ORDINALS; j++) {
			if (!(ordinals >> j & 1))
				continue;
			fputs("clock ", writer->file);
			write_client(writer, i, j);
			fputs(" +", writer->file);
			write_duration(writer, (int64_t)i * skew_ns);
		}
	}
}

/* Who finds its connection closed must have had one. */
static void write_connections(struct writer *writer)
{
	bool used[RR_PRODUCT_SERVERS][RR_ASKER_SLOTS] = { { false } };

	for (size_t i = 0; i < writer->actions->n; i++) {
		const struct rr_action *action = &writer->actions->all[i];
		const size_t slot =
			action->client * RR_RUN_ORDINALS +
			(size_t)rr_lane_ordinal(writer->product->config.program,
						action->lane);

		if (is_command(action))
			used[action->server][action->question.slot] = true;
		if (action->kind != RR_ACTION_ANSWER || action->is_fault ||
		    action->answer != RR_ANSWER_SHUT ||
		    used[action->server][slot])
			continue;
		used[action->server][slot] = true;
		write_client(writer, action->client, slot % RR_RUN_ORDINALS);
		write_server(writer, action->server);
		fputs(" PING  => PONG\n", writer->file);
		writer->open[action->server][slot] = true;
	}
}

static void write_actions(struct writer *writer)
{
	bool is_dead[RR_PRODUCT_CLIENTS] = { false };

	for (size_t i = 0; i < writer->actions->n; i++) {
		const struct rr_action *action = &writer->actions->all[i];

		switch (action->kind) {
		case RR_ACTION_ASK:
			write_ask(writer, i, is_dead[action->client]);
			break;
		case RR_ACTION_ANSWER:
			write_answer(writer, action);
			break;
		case RR_ACTION_FEED:
			write_feed(writer, action);
			break;
		case RR_ACTION_CRASH:
			write_crash(writer, action);
			is_dead[action->client] = true;
			break;
		case RR_ACTION_TIME:
			fputs("tick ", writer->file);
			write_duration(writer, action->ns);
			break;
		case RR_ACTION_DOWN:
			write_about_server(writer, "kill", action->server);
			break;
		case RR_ACTION_UP:
			write_about_server(writer, "wipe", action->server);
			break;
		}
	}
}

char *rr_explore_transcript(const struct rr_product *product,
			    const struct rr_scripts *scripts,
			    const struct rr_actions *actions)
{
	struct writer writer = { .product = product,
				 .scripts = scripts,
				 .actions = actions };
	char *text = NULL;
	size_t size;

	writer.file = open_memstream(&text, &size);
	if (!writer.file)
		return NULL;
	write_headings(&writer);
	write_clocks(&writer);
	write_connections(&writer);
	write_actions(&writer);
	fclose(writer.file);
	return text;
}
