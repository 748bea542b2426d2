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
#include "requests.h"
#include "verdict.h"

/* Parses the draft of a race that has nothing but what is given. */
static struct rr_race *finish_race(struct rr_draft *draft, const char *path, struct rr_error *error)
{
	struct rr_race *race;

	fputs("title what is given\nclients A\nA> PING\nverdict nothing broken\n", draft->out);
	fclose(draft->out);
	race = rr_race_parse(path, draft->text, draft->length, error);
	free(draft->text);
	return race;
}

/* Writes a command as redis-cli reads it; in its words the signs of a race mean nothing. False:
 * a quote does not end, or a word goes on after one. */
static bool write_given(FILE *out, const char *line, size_t length)
{
	char *copy = rr_memdup(line, length + 1), *at = copy;
	struct rl_word word;
	bool good = true;

	fputs("given", out);
	for (at += strspn(at, " \t"); good && at < copy + length; at += strspn(at, " \t")) {
		good = rr_take_word(&at, copy + length, false, &word);
		if (!good)
			break;
		fputc(' ', out);
		rr_write_bare_word(out, word.text, word.length);
	}
	fputc('\n', out);
	free(copy);
	return good;
}

static bool fail_quotes(const char *where, enum rr_error_kind kind, struct rr_error *error)
{
	return rr_error_set(
		error, kind,
		"%.300s: expected each quote to end in its line, with a blank or the end of the line after it",
		where);
}

/* Fails for what a checked program may not send, and for what changes the connection that the
 * commands are sent on. */
static bool refuse_commands(const struct rr_race *race, enum rr_error_kind kind,
			    struct rr_error *error)
{
	static const unsigned refused = RR_REQUEST_REFUSED | RR_REQUEST_MUST_FAIL |
					RR_REQUEST_NAMES | RR_REQUEST_SUBSCRIBES |
					RR_REQUEST_RESETS | RR_REQUEST_QUITS | RR_REQUEST_BEGINS |
					RR_REQUEST_ANSWERS | RR_REQUEST_ENDS;
	const struct rr_step *queues = NULL;

	for (size_t i = 0; i < race->n_given; i++) {
		const struct rr_step *step = &race->given[i];
		struct rl_command command = { .n_words = step->n_words };
		unsigned traits;

		memcpy(command.words, step->words, step->n_words * sizeof(step->words[0]));
		traits = rr_request_traits(&command);
		if (traits & refused)
			return rr_error_set(
				error, kind,
				"%.300s:%d: %.60s is not a command that redrace check can give: leave it out",
				race->path, step->line, step->words[0].text);
		if (traits & (RR_REQUEST_QUEUES | RR_REQUEST_ENDS_QUEUE))
			queues = traits & RR_REQUEST_QUEUES ? step : NULL;
	}
	return !queues || rr_error_set(error, kind, "%.300s:%d: expected EXEC after this MULTI",
				       race->path, queues->line);
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
	if (!given->init || !refuse_commands(given->init, RR_ERROR_DATA, error))
		return false;
	given->n_commands = given->init->n_given;
	free(given->commands);
	given->commands = rr_calloc(given->n_commands + 1, sizeof(*given->commands));
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
	char where[RR_ERROR_SIZE / 2];
	size_t length;
	char *text = rr_files_read(path, RR_ERROR_USAGE, 1024, &length, error);
	char *line = text, *end;
	size_t number = 0;
	bool good = true;

	if (!text)
		return false;
	rr_draft_open(&draft);
	for (; good && line < text + length; line = end + 1) {
		size_t n;

		end = memchr(line, '\n', (size_t)(text + length - line));
		end = end ? end : text + length;
		for (n = (size_t)(end - line); n > 0 && line[n - 1] == '\r'; n--)
			continue;
		line[n] = '\0';
		number++;
		if (strspn(line, " \t") < n && line[0] != '#')
			good = write_given(draft.out, line, n);
		else
			fputc('\n', draft.out);
	}
	free(text);
	if (good)
		return take_init(given, &draft, path, error);
	fclose(draft.out);
	free(draft.text);
	snprintf(where, sizeof(where), "%.250s:%zu", path, number);
	return fail_quotes(where, RR_ERROR_DATA, error);
}

static bool read_finals(struct rr_given *given, const struct rr_check_options *options,
			struct rr_error *error)
{
	struct rr_draft draft;

	size_t n_good = 0;

	rr_draft_open(&draft);
	while (n_good < options->n_finals && write_given(draft.out, options->finals[n_good].command,
							 strlen(options->finals[n_good].command)))
		n_good++;
	if (n_good < options->n_finals) {
		fclose(draft.out);
		free(draft.text);
		return fail_quotes("--final", RR_ERROR_USAGE, error);
	}
	given->finals = finish_race(&draft, "--final", error);
	if (!given->finals) {
		error->kind = RR_ERROR_USAGE;
		return false;
	}
	if (!refuse_commands(given->finals, RR_ERROR_USAGE, error))
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
	free(given->commands);
}

/* ---- The command of --setup: a program alone, on what --init gives ------- */

/* Why there is nothing to begin with: how it ended, and what it said of it. */
static bool fail_setup(struct rr_programs *programs, const struct rr_outcome *outcome,
		       struct rr_error *error)
{
	const struct rr_ending how = rr_programs_ending(programs, outcome->endings[0]);
	char *line = rr_reason_line(how.output, how.length), *plain = rr_plain(line);
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
