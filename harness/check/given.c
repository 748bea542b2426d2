/* SPDX-License-Identifier: MIT */
#include "given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"
#include "base/resp.h"
#include "base/files.h"
#include "base/text.h"
#include "verdict.h"

/* A race that is written into memory, of which there is only what is given. */
static struct rr_race *finish_race(struct rr_draft *draft, const char *path, struct rr_error *error)
{
	struct rr_race *race;

	fputs("title what is given\nclients A\nA> PING\nverdict nothing broken\n", draft->out);
	fclose(draft->out);
	race = rr_race_parse(path, draft->text, draft->length, error);
	free(draft->text);
	return race;
}

/* A command as redis-cli reads it, in which a race's signs mean nothing. Quotes that are
 * not balanced there are not in the race either, which says where. */
static void write_given(FILE *out, const char *line, size_t length)
{
	char *copy = rr_memdup(line, length + 1), *at = copy;
	struct rl_word word;
	bool good = true;

	fputs("given", out);
	for (at += strspn(at, " \t"); good && at < copy + length; at += strspn(at, " \t")) {
		good = rr_take_word(&at, copy + length, false, &word);
		fputc(' ', out);
		rr_write_bare_word(out, word.text, word.length);
	}
	fputs(good ? "\n" : " \"\n", out);
	free(copy);
}

static void copy_commands(const struct rr_race *race, struct rl_command *commands)
{
	for (size_t i = 0; i < race->n_given; i++) {
		const struct rr_step *step = &race->given[i];

		commands[i] = (struct rl_command){ .n_words = step->n_words };
		memcpy(commands[i].words, step->words, step->n_words * sizeof(step->words[0]));
	}
}

static bool take_init(struct rr_given *given, struct rr_draft *draft, const char *path,
		      struct rr_error *error)
{
	rr_race_free(given->init);
	given->init = finish_race(draft, path, error);
	if (!given->init)
		return false;
	given->n_commands = given->init->n_given;
	copy_commands(given->init, given->commands);
	return true;
}

bool rr_given_take(struct rr_given *given, const char *lines, const char *whose,
		   struct rr_error *error)
{
	struct rr_draft draft;

	rr_draft_open(&draft);
	fputs(lines, draft.out);
	return take_init(given, &draft, whose, error);
}

/* The n-th line of the file is the n-th of the race. */
static bool read_init(struct rr_given *given, const char *path, struct rr_error *error)
{
	struct rr_draft draft;
	size_t length;
	char *text = rr_files_read(path, RR_ERROR_USAGE, 1024, &length, error);
	char *line = text, *end;

	if (!text)
		return false;
	rr_draft_open(&draft);
	for (; line < text + length; line = end + 1) {
		size_t n;

		end = memchr(line, '\n', (size_t)(text + length - line));
		end = end ? end : text + length;
		for (n = (size_t)(end - line); n > 0 && line[n - 1] == '\r'; n--)
			continue;
		line[n] = '\0';
		if (strspn(line, " \t") < n && line[0] != '#')
			write_given(draft.out, line, n);
		else
			fputc('\n', draft.out);
	}
	free(text);
	return take_init(given, &draft, path, error);
}

static bool read_finals(struct rr_given *given, const struct rr_check_options *options,
			struct rr_error *error)
{
	struct rr_draft draft;

	rr_draft_open(&draft);
	for (size_t i = 0; i < options->n_finals; i++)
		write_given(draft.out, options->finals[i].command,
			    strlen(options->finals[i].command));
	given->finals = finish_race(&draft, "--final", error);
	if (!given->finals)
		return false;
	copy_commands(given->finals, given->questions);
	for (size_t i = 0; i < given->finals->n_given; i++)
		given->expected[i] = (struct rr_expected){ .asked = &given->questions[i],
							   .value = options->finals[i].value };
	return true;
}

bool rr_given_read(struct rr_given *given, const struct rr_check_options *options,
		   struct rr_error *error)
{
	return (!options->init || read_init(given, options->init, error)) &&
	       (options->n_finals == 0 || read_finals(given, options, error));
}

void rr_given_release(struct rr_given *given)
{
	rr_race_free(given->init);
	rr_race_free(given->finals);
}

/* ---- The command of --setup: a program alone, on what --init gives ------- */

/* Why there is nothing to begin with: how it ended, and what it said of it. */
static bool fail_setup(struct rr_programs *programs, const struct rr_outcome *outcome,
		       struct rr_error *error)
{
	const struct rr_ending how = rr_programs_ending(programs, outcome->endings[0]);
	char *line = rr_reason_line(how.output), *plain = rr_plain(line);
	char *text;
	size_t size;
	FILE *out = rr_open_memory(&text, &size);

	fputs("the command of --setup ", out);
	rr_checked_print_status(out, how.status);
	fclose(out);
	rr_error_set(error, RR_ERROR_DATA, "%s%s%.300s", text, plain[0] ? ": " : "", plain);
	free(line);
	free(plain);
	free(text);
	return false;
}

/* Lets it run to its end. */
static bool run_setup(struct rr_check *check, struct rr_programs *programs,
		      struct rr_explore_result *result, struct rr_error *error)
{
	static const char *const name = "setup";
	const struct rr_explore_config config = {
		.programs = rr_checked_programs(programs),
		.n_clients = 1,
		.client_names = &name,
		.given = check->given.commands,
		.n_given = check->given.n_commands,
		.rounds = 2,
		.ttl_ms = check->options->search.ttl_ms,
		.schedule = "",
		.wants_given = true,
		.title = name,
		.progress = rr_explore_progress,
		.context = &check->progress,
	};

	if (!rr_explore(&check->cluster, &config, result)) {
		*error = result->error;
		return false;
	}
	if (check->session.signals.interrupted)
		return false;
	if (result->n_findings == 0 || !result->findings[0].given ||
	    result->findings[0].endings[0] < 0)
		return rr_error_set(error, RR_ERROR_DATA,
				    "the command of --setup does not come to an end");
	return result->findings[0].ended_well == 1 ||
	       fail_setup(programs, &result->findings[0], error);
}

bool rr_check_set_up(struct rr_check *check, struct rr_error *error)
{
	const char *const shell[] = { "sh", "-c", check->options->setup, NULL };
	const struct rr_programs_config config = {
		.instances = rr_check_instances(check),
		.n_clients = 1,
		.argv = { shell },
		.names = { "setup" },
	};
	struct rr_programs *programs = rr_programs_new(&config);
	struct rr_explore_result result = { 0 };
	const bool good = run_setup(check, programs, &result, error) &&
			  rr_given_take(&check->given, result.findings[0].given, "--setup", error);

	rr_explore_release(&result);
	rr_programs_free(programs);
	return good;
}
