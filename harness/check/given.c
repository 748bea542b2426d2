/* SPDX-License-Identifier: MIT */
/* Commands that the user gives, in a file, with --final or by --setup. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/resp.h"
#include "base/text.h"
#include "race/race.h"
#include "party/party.h"
#include "verdict.h"

enum { WHERE_SIZE = 300 };

/* Where commands are read from. */
struct reading {
	struct rr_command_list *list;
	enum rr_error_kind kind;
	char where[WHERE_SIZE];   /* "init:2" */
	char open_at[WHERE_SIZE]; /* a MULTI that no EXEC has followed; "" = there is none */
	struct rr_error *error;
};

/* Fails for what a checked program may not send, for what a race may not have, and for what changes the
 * connection that the commands are sent on. */
static bool allow_command(struct reading *reading, const struct rdl_command *command)
{
	static const unsigned refused = RR_REQUEST_REFUSED | RR_REQUEST_MUST_FAIL |
					RR_REQUEST_NAMES | RR_REQUEST_SUBSCRIBES |
					RR_REQUEST_RESETS | RR_REQUEST_QUITS | RR_REQUEST_BEGINS |
					RR_REQUEST_ANSWERS | RR_REQUEST_ENDS;
	const struct rr_step step = { .n_words = command->n_words, .words = command->words };
	const unsigned traits = rr_request_traits(command);

	if (traits & refused || !rr_step_is_allowed(&step))
		return rr_error_set(
			reading->error, reading->kind,
			"%s: %.60s is not a command that redrace check can give: leave it out",
			reading->where, command->words[0].text);
	if (traits & RR_REQUEST_QUEUES)
		memcpy(reading->open_at, reading->where, sizeof(reading->where));
	else if (traits & RR_REQUEST_ENDS_QUEUE)
		reading->open_at[0] = '\0';
	return true;
}

/* Reads a command, which ends in a NUL, as redis-cli reads it. */
static bool read_command(struct reading *reading, const char *line, size_t length)
{
	char *copy = rr_memdup(line, length + 1), *at = copy;
	struct rdl_word words[RDL_WORDS_MAX + 1];
	size_t n = 0;
	bool good = true;

	for (at += strspn(at, " \t"); at < copy + length && n <= RDL_WORDS_MAX && good;
	     at += strspn(at, " \t"))
		good = rr_take_word(&at, copy + length, false, &words[n++]);
	if (!good)
		rr_error_set(
			reading->error, reading->kind,
			"%s: expected each quote to end in its line, with a blank or the end of the line after it",
			reading->where);
	else if (n == 0 || n > RDL_WORDS_MAX)
		good = rr_error_set(reading->error, reading->kind,
				    "%s: expected a command of at most %d words", reading->where,
				    RDL_WORDS_MAX);
	if (good)
		rr_command_list_add(reading->list, words, n);
	free(copy);
	return good && allow_command(reading, &reading->list->all[reading->list->n - 1]);
}

static bool end_reading(const struct reading *reading)
{
	return !reading->open_at[0] ||
	       rr_error_set(reading->error, reading->kind, "%s: expected EXEC after this MULTI",
			    reading->open_at);
}

static bool read_init(struct rr_given *given, const char *path, struct rr_error *error)
{
	struct reading reading = { &given->init, RR_ERROR_DATA, .error = error };
	size_t length, number = 0;
	char *text = rr_files_read(path, RR_ERROR_USAGE, 1024, &length, error);
	bool good = text != NULL;
	char *end;

	for (char *line = text; good && line < text + length; line = end + 1) {
		size_t n;

		end = memchr(line, '\n', (size_t)(text + length - line));
		end = end ? end : text + length;
		for (n = (size_t)(end - line); n > 0 && line[n - 1] == '\r'; n--)
			continue;
		line[n] = '\0';
		snprintf(reading.where, sizeof(reading.where), "%.250s:%zu", path, ++number);
		if (strspn(line, " \t") < n && line[0] != '#')
			good = read_command(&reading, line, n);
	}
	free(text);
	return good && end_reading(&reading);
}

bool rr_given_read(struct rr_given *given, const struct rr_check_options *options,
		   struct rr_error *error)
{
	struct reading finals = { &given->questions, RR_ERROR_USAGE, .where = "--final",
				  .error = error };
	bool good = !options->init || read_init(given, options->init, error);

	for (size_t i = 0; i < options->n_finals && good; i++)
		good = read_command(&finals, options->finals[i].command,
				    strlen(options->finals[i].command));
	if (!good || !end_reading(&finals))
		return false;
	for (size_t i = 0; i < options->n_finals; i++)
		given->expected[i] = (struct rr_expected){ .asked = &given->questions.all[i],
							   .value = options->finals[i].value };
	return true;
}

void rr_given_release(struct rr_given *given)
{
	rr_command_list_release(&given->init);
	rr_command_list_release(&given->questions);
}

/* ---- The command of --setup: a program alone, on what --init gives ------- */

/* Why there is nothing to begin with: how it ended, and what it said of it. */
static bool fail_setup(struct rr_programs *programs, const struct rr_outcome *outcome,
		       struct rr_error *error)
{
	const struct rr_ending how = rr_programs_ending(programs, outcome->endings[0]);
	char *line = rr_reason_line(how.output, how.length), *plain = rr_plain(line);
	char *text;
	FILE *out = rr_open_text(&text);

	fputs("the command of --setup ", out);
	rr_checked_print_status(out, how.status);
	fclose(out);
	rr_error_set(error, RR_ERROR_DATA,
		     "%s%s%.300s: run it by hand, with REDIS_URL set, and see why", text,
		     plain[0] ? ": " : "", plain);
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
		.programs = rr_programs_explored(programs),
		.n_clients = 1,
		.client_names = &name,
		.given = check->given.init,
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
	if (result->n_findings == 0 || !result->findings[0].has_given ||
	    result->findings[0].endings[0] < 0)
		return rr_error_set(
			error, RR_ERROR_DATA,
			"the command of --setup does not come to an end: it must exit when it has filled the server");
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
	const bool good = run_setup(check, programs, &result, error);

	if (good) {
		rr_command_list_release(&check->given.init);
		check->given.init = result.findings[0].given;
		result.findings[0].given = (struct rr_command_list){ .n = 0 };
	}
	rr_explore_release(&result);
	rr_programs_free(programs);
	return good;
}
