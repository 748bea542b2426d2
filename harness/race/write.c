/* SPDX-License-Identifier: MIT */
/* From a race to the file that says it: the parser's inverse. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"
#include "parser.h"

/* ---- Words -------------------------------------------------------------- */

static void write_word(FILE *file, const char *word)
{
	rr_write_bare_word(file, word, strlen(word));
}

static void write_words(FILE *file, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fputc(' ', file);
		write_word(file, words[i]);
	}
}

/* ---- Steps -------------------------------------------------------------- */

const char *rr_step_expectation(const struct rr_step *step)
{
	return step->expected ? step->expected :
				"a reply that is not an error, as no => stands there";
}

void rr_race_write_step(FILE *file, const struct rr_race *race, const struct rr_step *step)
{
	/* Of the reply; NULL = any reply will do. */
	const char *pattern = step->is_lost                     ? "(lost)" :
			      step->is_waiting                  ? "(waits)" :
			      step->expected && *step->expected ? step->expected :
								  NULL;
	char text[RR_GROUPED_SIZE];

	switch (step->kind) {
	case RR_STEP_RUN:
		write_word(file, race->clients[step->client].name);
		if (step->server > 0) {
			fputc('@', file);
			write_word(file, race->servers[step->server].name);
		}
		fputc('>', file);
		rr_write_command(file, step->words, step->n_words);
		if (pattern)
			fprintf(file, "  => %s", pattern);
		break;
	case RR_STEP_NOTE:
		fprintf(file, "--%s%s", step->text && *step->text ? " " : "",
			step->text ? step->text : "");
		break;
	case RR_STEP_TICK:
		fprintf(file, "tick %s", rr_exact_duration(text, step->amount));
		break;
	case RR_STEP_CLOCK:
		fputs("clock ", file);
		write_word(file, step->peer >= 0 ? race->clients[step->peer].name :
						   race->servers[step->server].name);
		fprintf(file, " %s%s", step->amount < 0 ? "" : "+",
			rr_exact_duration(text, step->amount));
		break;
	case RR_STEP_FAULT:
		fprintf(file, "%s ", rr_fault_name(step->fault));
		write_word(file, race->servers[step->server].name);
		if (step->fault == RR_FAULT_TEAR)
			fprintf(file, " %s %" PRId64, rr_tear_name(step->tear), step->amount);
		if (step->fault == RR_FAULT_SLOW_DISK)
			fprintf(file, " %s", rr_exact_duration(text, step->amount));
		break;
	default: /* a client's name, a verb, and what the verb is about */
		write_word(file, race->clients[step->client].name);
		fprintf(file, " %s", rr_step_word(step->kind));
		if (step->kind == RR_STEP_WRITE) {
			rr_write_command(file, step->words, step->n_words);
		} else if (step->kind == RR_STEP_BYTES) {
			fputs(" bytes ", file);
			rr_write_quoted(file, step->text, step->length);
		} else if (step->text) {
			write_words(file, &step->text, 1);
		}
		if (step->kind == RR_STEP_COMPUTE) {
			fputs(" = now", file);
			if (step->amount)
				fprintf(file, " %c %" PRId64, step->amount < 0 ? '-' : '+',
					step->amount < 0 ? -step->amount : step->amount);
		}
		if (step->kind == RR_STEP_READ)
			fprintf(file, " %s", pattern ? pattern : "*");
		break;
	}
	if (step->remark && step->kind != RR_STEP_NOTE)
		fprintf(file, "  ! %s", step->remark);
}

/* ---- Headings ----------------------------------------------------------- */

static void write_heading(FILE *file, const char *heading, const char *const *words, size_t n)
{
	fprintf(file, "%-7s", heading);
	write_words(file, words, n);
	fputc('\n', file);
}

static bool shares_connection(const struct rr_race *race, size_t i)
{
	const struct rr_race_client *clients = race->clients;

	return clients[i].connection != (int)i ||
	       (i + 1 < race->n_clients && clients[i + 1].connection == (int)i);
}

/* A blank and an option as one word, in quotes where needed. */
static void write_option(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void write_option(FILE *file, const char *format, ...)
{
	va_list arguments;
	char *word;

	va_start(arguments, format);
	word = rr_vasprintf(format, arguments);
	va_end(arguments);
	write_words(file, (const char *const[]){ word }, 1);
	free(word);
}

static bool has_options(const struct rr_race_server *server)
{
	const struct rr_server_options *options = &server->options;

	return options->aof != RR_AOF_NONE || options->rdb || options->debug || options->tcp ||
	       options->maxmemory || options->replica_of || server->config[0];
}

/* Servers without options stand in one line. */
static void write_servers(FILE *file, const struct rr_race *race)
{
	const struct rr_race_server *servers = race->servers;

	for (size_t i = 0; i < race->n_servers; i++) {
		const bool plain = !has_options(&servers[i]);

		if (!plain || i == 0 || has_options(&servers[i - 1]))
			fputs(plain ? "servers" : "server ", file);
		write_words(file, &servers[i].name, 1);

		const struct rr_race_server *server = &servers[i];
		const struct rr_server_options *options = &server->options;

		if (options->aof != RR_AOF_NONE)
			write_option(file, "aof=%s", rr_aof_name(options->aof));
		if (options->rdb)
			write_option(file, "rdb");
		if (options->debug)
			write_option(file, "debug");
		if (options->maxmemory)
			write_option(file, "maxmemory=%lld", options->maxmemory);
		if (options->replica_of)
			write_option(file, "replica-of=%s", options->replica_of);
		else if (options->tcp)
			write_option(file, "tcp");
		for (size_t j = 0; server->config[j]; j++) {
			const char *line = server->config[j];
			const int name = (int)strcspn(line, " ");

			write_option(file, "config=%.*s=%s", name, line, line + name + 1);
		}
		if (!plain || i + 1 == race->n_servers || has_options(&servers[i + 1]))
			fputc('\n', file);
	}
}

static void write_headings(FILE *file, const struct rr_race *race)
{
	const char *lock[] = { race->lock, race->lock_is_count ? "count" : "timestamp" };
	char from[24];
	const char *counter[] = { race->counter, "from", from };

	fprintf(file, "title   %s\n", race->title);
	if (race->claims[0])
		fprintf(file, "claim   %s\n", race->claims);
	if (race->shows)
		fprintf(file, "shows   %s\n", race->shows);
	if (race->safe)
		write_heading(file, "safe", &race->safe, 1);

	/* Clients with a connection of their own stand in one line, those that share
	 * one in a line each group. */
	const char *names[RR_RACE_CLIENTS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < race->n_clients; i++) {
		const bool shares = shares_connection(race, i);
		const bool ends = i + 1 == race->n_clients ||
				  (race->clients[i + 1].connection == (int)i + 1 &&
				   (shares || shares_connection(race, i + 1)));

		names[n++] = race->clients[i].name;
		if (!ends)
			continue;
		write_heading(file, shares ? "connection" : "clients", names, n);
		n = 0;
	}
	write_servers(file, race);
	for (size_t i = 0; i < race->n_needs; i++) {
		const char *need[] = { "no", race->needs[i].command };
		const bool not_there = race->needs[i].not_there;

		write_heading(file, "needs", need + !not_there, not_there ? 2 : 1);
	}
	for (size_t i = 0; i < race->n_keys; i++)
		write_heading(file, "watch", &race->keys[i], 1);
	if (race->lock)
		write_heading(file, "lock", lock,
			      race->lock_is_timestamp || race->lock_is_count ? 2 : 1);
	if (race->limit)
		fprintf(file, "limit   %" PRId64 "\n", race->limit);
	snprintf(from, sizeof(from), "%" PRId64, race->counter_from);
	if (race->counter)
		write_heading(file, "counter", counter, race->counter_from ? 3 : 1);
	if (race->n_together)
		write_heading(file, "together", race->together, race->n_together);
	for (size_t i = 0; i < race->n_given; i++) {
		fputs("given  ", file);
		rr_write_command(file, race->given[i].words, race->given[i].n_words);
		fputc('\n', file);
	}
	fputc('\n', file);
}

/* ---- The whole ---------------------------------------------------------- */

static void write_saying(FILE *file, const struct rr_saying *saying)
{
	write_word(file, saying->claim);
	fprintf(file, " says %s%s\n", saying->step >= 0 ? "=> " : "", saying->says);
}

void rr_race_write(FILE *file, const struct rr_race *race)
{
	char verdict[RR_VERDICT_SIZE];
	size_t sayings = 0; /* that are written */
	bool in_repeat = false;

	write_headings(file, race);
	for (size_t i = 0; i < race->n_steps; i++) {
		const struct rr_step *step = &race->steps[i], *next = step + 1;
		/* Does a round, or the whole repeat, end with this step? */
		const bool ends_round = i + 1 == race->n_steps ||
					next->repetition != step->repetition ||
					next->repetitions != step->repetitions;
		size_t until = sayings;

		if (step->repetition == 1 && !in_repeat)
			fprintf(file, "repeat %d\n", step->repetitions);
		in_repeat = step->repetition == 1 && !ends_round;
		if (step->repetition <= 1) {
			rr_race_write_step(file, race, step);
			fputs(step->skips ? "\nelse skip\n" : "\n", file);
		}
		/* What is said of a step's reply stands below the step; what is said of the end
		 * keeps its place among the sayings. */
		for (size_t j = sayings; j < race->n_sayings; j++) {
			if (race->sayings[j].step == (int)i)
				until = j + 1;
		}
		while (sayings < until)
			write_saying(file, &race->sayings[sayings++]);
		if (step->repetition == 1 && !in_repeat)
			fputs("end\n", file);
	}
	if (sayings < race->n_sayings || race->n_verdicts)
		fputc('\n', file);
	while (sayings < race->n_sayings)
		write_saying(file, &race->sayings[sayings++]);
	if (race->n_verdicts)
		fprintf(file, "verdict %s\n", rr_race_verdict(race, verdict, sizeof(verdict)));
}

char *rr_race_text(const struct rr_race *race)
{
	char *text;
	FILE *file = rr_open_text(&text);

	rr_race_write(file, race);
	fclose(file);
	return text;
}
