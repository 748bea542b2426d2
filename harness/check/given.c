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

/* Before what --setup leaves in {jar}, in the answer of its request. */
static const char jar_mark[] = "redrace:jar\n";

/* A request that says besides what it has left in its jar, malloc'd. The line ends a comment. */
static char *wrap_setup(const char *setup)
{
	return rr_asprintf("(%s\n)\nredrace=$?\nprintf '%s'\ncat {jar}\nexit $redrace", setup,
			   "redrace:jar\\n");
}

/* Where the cookies begin in what it has printed; NULL = it leaves none. */
static const char *find_jar(struct rr_ending how)
{
	const char *found = NULL, *at = how.output;

	while (at && (at = memmem(at, (size_t)(how.output + how.length - at), jar_mark,
				  strlen(jar_mark))))
		found = at, at += strlen(jar_mark);
	return found;
}

/* Why there is nothing to begin with: how it ended, and what it said of it. */
static bool fail_setup(struct rr_ending how, struct rr_error *error)
{
	const char *jar = find_jar(how);
	char *line = rr_reason_line(how.output, jar ? (size_t)(jar - how.output) : how.length);
	char *plain = rr_plain(line);
	char *text;
	FILE *out = rr_open_text(&text);

	fputs("the command of --setup ", out);
	if (how.status == 0 && how.http)
		fprintf(out, "was answered with HTTP %d", how.http);
	else
		rr_checked_print_status(out, how.status);
	fclose(out);
	rr_error_set(error, RR_ERROR_DATA,
		     "%s%s%.300s: run it by hand, with REDIS_URL set%s, and see why", text,
		     plain[0] ? ": " : "", plain, jar || how.http ? " and the app up" : "");
	free(line);
	free(plain);
	free(text);
	return false;
}

/* Keeps the cookies for the requests to come. */
static bool keep_jar(struct rr_check *check, struct rr_ending how, struct rr_error *error)
{
	const char *jar = find_jar(how);
	size_t length;

	if (!jar)
		return true;
	jar += strlen(jar_mark);
	length = (size_t)(how.output + how.length - jar);
	check->cookies = rr_strndup(jar, length);
	snprintf(check->jar, sizeof(check->jar), "%s/jar", check->session.guardian.base);
	return rr_files_replace(check->jar, jar, length, error);
}

/* Lets it run to its end. `apps`: it is a request to one of these; NULL = it is a program. */
static bool run_setup(struct rr_check *check, struct rr_programs *programs,
		      const struct rr_apps *apps, struct rr_explore_result *result,
		      struct rr_error *error)
{
	static const char *const name = "setup";
	const struct rr_explore_config config = {
		.programs = rr_programs_explored(programs),
		.n_clients = 1,
		.client_names = apps ? apps->name_of : &name,
		.given = check->given.init,
		.ttl_ms = check->options->search.ttl_ms,
		.schedule = "",
		.wants_given = true,
		.title = name,
		.progress = rr_explore_progress,
		.context = &check->progress,
	};
	struct rr_ending how;

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
	how = rr_programs_ending(programs, result->findings[0].endings[0]);
	if (check->answer) {
		*check->answer = rr_strndup(how.output, how.length);
		return true;
	}
	/* A request that is answered with 401 has its end as any other. */
	if (result->findings[0].ended_well != 1 || how.http >= 400)
		return fail_setup(how, error);
	return keep_jar(check, how, error);
}

bool rr_check_set_up(struct rr_check *check, struct rr_error *error)
{
	const char *const shell[] = { "sh", "-c", check->options->setup, NULL };
	struct rr_check_options options = *check->options;
	struct rr_programs_config config = {
		.instances = rr_check_instances(check),
		.n_clients = 1,
		.argv = { shell },
		.names = { "setup" },
	};
	struct rr_explore_result result = { 0 };
	const bool is_request = strstr(options.setup, "{app}") != NULL;
	struct rr_apps apps = { .n = 0 };
	struct rr_programs *programs;
	char *request = NULL;
	bool good;

	if (is_request) {
		request = strstr(options.setup, "{jar}") ? wrap_setup(options.setup) :
							   rr_strdup(options.setup);
		options.requests[0] = request;
		options.is_line[0] = false;
		options.n_requests = 1;
		options.n_apps = 1;
		options.search.compare.restarts = false;
		rr_apps_make(&apps, &options, 1, "", &config);
	}
	programs = rr_programs_new(&config);
	good = run_setup(check, programs, is_request ? &apps : NULL, &result, error);
	if (good) {
		rr_command_list_release(&check->given.init);
		check->given.init = result.findings[0].given;
		result.findings[0].given = (struct rr_command_list){ .n = 0 };
	}
	rr_explore_release(&result);
	rr_programs_free(programs);
	rr_apps_release(&apps);
	free(request);
	/* It has filled the copy of --fresh, too. */
	if (good)
		rr_fresh_keep_last(&check->fresh);
	return good;
}
