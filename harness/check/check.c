/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/text.h"
#include "verdict.h"

/* ---- Beginning and end ----------------------------------------------------------- */

struct rr_instance_config rr_check_instances(struct rr_check *check)
{
	return (struct rr_instance_config){ .process = {
						    .guardian = &check->session.guardian,
						    .signals = &check->session.signals,
						    .preload = check->preload[0] ? check->preload :
										   NULL,
						    .until_ns = check->progress.until_ns +
								RR_LATE_S * INT64_C(1000000000),
						    .start_ns = RR_CLUSTER_START_NS,
						    .holds_day = check->options->holds_day,
						    .patience_ms = check->options->patience_s *
								   1000,
						    .strangers = &check->strangers,
						    .unwatched = &check->unwatched,
					    } };
}

/* Names of --client that a race can have: the server has one, too, and a client's second
 * connection is its name with a number. */
static bool are_plain_names(const struct rr_check_options *options)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (size_t i = 0; i < options->n_named; i++) {
		const char *name = options->named[i].name;
		const size_t length = strlen(name);

		if (strspn(name, letters) < length || strcmp(name, "redis") == 0)
			return false;
		for (size_t j = 0; j < options->n_named; j++) {
			if (j != i && strncmp(options->named[j].name, name, length) == 0 &&
			    strlen(options->named[j].name) <= length + 1)
				return false;
		}
	}
	return options->n_named > 0;
}

static void name_clients(struct rr_check *check)
{
	static const char *const letters[] = { "A", "B", "C", "D", "E", "F", "G", "H" };
	const bool are_plain = are_plain_names(check->options);

	for (size_t i = 0; i < check->n_operations; i++) {
		snprintf(check->requests[i], sizeof(check->requests[i]), "request %zu", i + 1);
		check->names[i] = check->options->app ? check->requests[i] :
				  are_plain           ? check->options->named[i].name :
							letters[i];
	}
}

/* What is asked of the programs, beside what they are: the bounds, what is right, and the first
 * data. */
static void put_question(FILE *out, const struct rr_check *check)
{
	const struct rr_check_options *options = check->options;
	const struct rr_explore_config *search = &options->search;

	for (int i = 0; i < RR_BUDGETS; i++)
		fprintf(out, "%d ", search->budget.of[i]);
	fprintf(out, "%d %ld %lu %lu %d %d %d %d %d %d\n", search->rounds, search->ttl_ms,
		search->most, search->audit, search->is_partial, search->shows_all,
		options->data_only, search->restarts, search->allows_repeats, search->strict_exits);
	fprintf(out, "%s\n%s\n", search->schedule ? search->schedule : "",
		options->checker[0] ? options->checker[2] : "");
	for (size_t i = 0; i < options->n_finals; i++)
		fprintf(out, "%s\n%s\n", options->finals[i].command, options->finals[i].value);
	for (size_t i = 0; i < search->n_ignored; i++)
		fprintf(out, "%s\n", options->ignored[i]);
	for (size_t i = 0; i < options->n_allowed; i++)
		fprintf(out, "%s\n", options->allowed[i]);
	for (size_t i = 0; i < check->given.n_commands; i++)
		rr_command_write(out, &check->given.commands[i]);
}

static uint64_t question_of(const struct rr_check *check)
{
	char *text;
	size_t size;
	FILE *out = rr_open_memory(&text, &size);
	uint64_t digest;

	put_question(out, check);
	fclose(out);
	digest = rr_bytes_digest(0, text, size);
	free(text);
	return digest;
}

/* The clients once more, each with random values of its own; after a restart by its own name, else
 * as another one. */
static void make_successors(struct rr_check *check, const struct rr_programs_config *clients)
{
	const struct rr_explore_config *search = &check->options->search;

	if (check->options->app || search->is_partial ||
	    !(search->budget.of[RR_CRASHES] || search->budget.of[RR_LOST_REPLIES]))
		return;
	for (int i = 0; i < RR_SUCCESSORS; i++) {
		struct rr_programs_config config = *clients;

		config.kept = (struct rr_kept_config){ .cluster = NULL };
		if (i == RR_SUCCESSOR_LATER)
			config.instances.process.start_ns += RR_SUCCESSOR_LATER_NS;
		for (size_t j = 0; j < config.n_clients && !search->restarts; j++)
			snprintf(config.names[j], RR_CLIENT_NAME, "%.*s2", RR_CLIENT_NAME - 2,
				 clients->names[j]);
		check->successors[i] = rr_programs_new(&config);
	}
}

static void make_programs(struct rr_check *check)
{
	const struct rr_check_options *options = check->options;
	struct rr_programs_config config = {
		.instances = rr_check_instances(check),
		.compares_outputs = !options->data_only,
		.n_audits = options->search.audit,
		.allowed = options->allowed,
		.n_allowed = options->n_allowed,
		.n_clients = check->n_operations,
		.kept = { .cluster = options->no_cache ? NULL : &check->cluster,
			  .question = question_of(check),
			  .plays = options->search.audit > 0 },
	};

	config.instances.refused = options->refused;
	for (size_t i = 0; i < config.n_clients && !options->app; i++) {
		const struct rr_check_client *named = &options->named[i];

		config.argv[i] = options->n_named ? named->shell : options->command;
		snprintf(config.names[i], RR_CLIENT_NAME, "%s",
			 options->n_named ? named->name : (char[]){ (char)('A' + i), '\0' });
	}
	if (options->app)
		rr_apps_make(&check->apps, options, check->n_operations, &config);
	check->programs = rr_programs_new(&config);
	make_successors(check, &config);
}

static void make_checker(struct rr_check *check)
{
	const struct rr_programs_config config = {
		.instances = rr_check_instances(check),
		.n_clients = 1,
		.argv = { check->options->checker },
		.names = { "check" },
	};

	if (check->options->checker[0])
		check->checker = rr_programs_new(&config);
}

static bool open_check(struct rr_check *check, struct rr_error *error)
{
	const struct rr_cluster_options servers = {
		.program = check->options->redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};

	if (access("/proc/self/stat", R_OK) != 0)
		return rr_error_set(
			error, RR_ERROR_INTERNAL,
			"there is no /proc here, by which check sees what a program waits for: mount it");
	rr_preload_find("redrace-program.so", check->preload, sizeof(check->preload));
	if (!rr_session_open(&check->session, error) ||
	    !rr_cluster_open(&check->cluster, &check->session, &servers, error) ||
	    !rr_given_read(&check->given, check->options, error) ||
	    (check->options->setup && !rr_check_set_up(check, error)))
		return false;
	make_programs(check);
	if (check->options->app && !check->apps.driver[0])
		return rr_error_set(
			error, RR_ERROR_INTERNAL,
			"redrace-app is missing, beside redrace or in ../libexec/redrace: --app needs it");
	make_checker(check);
	return true;
}

/* ---- The whole ---------------------------------------------------------------------- */

static void describe_ending(struct rr_programs *checker, long ending, FILE *out)
{
	const struct rr_ending how = rr_programs_ending(checker, ending);
	char *reason = rr_reason_line(how.output, how.length);

	fputs("the command of --check ", out);
	rr_checked_print_status(out, how.status);
	fprintf(out, reason[0] ? ": %s\n" : "\n", reason);
	free(reason);
}

struct rr_explored_programs rr_checked_programs(struct rr_programs *programs)
{
	return (struct rr_explored_programs){
		.init = programs ? rr_programs_init : NULL,
		.begin_search = rr_programs_begin_search,
		.verify = rr_programs_verify,
		.verify_places = rr_programs_verify_places,
		.next_rounds = rr_programs_next_rounds,
		.verify_rounds = rr_programs_verify_rounds,
		.is_settled = rr_programs_is_settled,
		.hold_day = rr_programs_hold_day,
		.take_back = rr_programs_take_back,
		.finish = rr_programs_finish,
		.set_live = rr_programs_set_live,
		.set_unfinished = rr_programs_set_unfinished,
		.pair_values = rr_programs_pair_values,
		.compare_times = rr_programs_compare_times,
		.note_serial = rr_programs_note_serial,
		.note_step = rr_programs_note_step,
		.note_change = rr_programs_note_change,
		.set_answers = rr_programs_set_answers,
		.end_alike = rr_programs_end_alike,
		.fails = rr_programs_fails,
		.have_same_status = rr_programs_have_same_status,
		.own_ending = rr_programs_own_ending,
		.describe = describe_ending,
		.describe_request = rr_programs_describe_request,
		.programs = programs,
	};
}

static struct rr_explore_config config_of(struct rr_check *check)
{
	struct rr_explore_config config = check->options->search;

	config.programs = rr_checked_programs(check->programs);
	config.checker = rr_checked_programs(check->checker);
	for (int i = 0; i < RR_SUCCESSORS; i++)
		config.successors[i] = rr_checked_programs(check->successors[i]);
	config.n_clients = check->options->app ? check->apps.n : check->n_operations;
	config.client_names = check->options->app ? check->apps.name_of : check->names;
	config.given = check->given.commands;
	config.n_given = check->given.n_commands;
	config.ignored = check->options->ignored;
	config.expected = check->given.expected;
	config.n_expected = check->options->n_finals;
	config.title = "Found by redrace check";
	config.progress = rr_explore_progress;
	config.context = &check->progress;
	return config;
}

static void print_foreign(FILE *out, const char *before, const char *text)
{
	char *plain = rr_plain(text);

	fprintf(out, "%s%s", before, plain);
	free(plain);
}

static void describe_programs(const struct rr_check_options *options, FILE *out)
{
	const char *const *words = options->n_named ? NULL : options->command;

	if (options->app)
		print_foreign(out, "", options->app);
	for (size_t i = 0; i < options->n_requests; i++)
		print_foreign(out, i ? "', '" : "' with requests '", options->requests[i]);
	for (size_t i = 0; words && words[i]; i++)
		print_foreign(out, i ? " " : "", words[i]);
	for (size_t i = 0; i < options->n_named; i++)
		print_foreign(out, i ? "', '" : "", options->named[i].shell[2]);
}

static void print_warning(const struct rr_check_options *options, FILE *out)
{
	char *text;
	FILE *line = rr_open_text(&text);

	fputs("Runs '", line);
	describe_programs(options, line);
	fprintf(line, "' many times: what %s outside Redis is really done.",
		options->app ? "they do" : "it does");
	fclose(line);
	rr_print_verdict(out, text);
	fflush(out);
	free(text);
}

static enum rr_exit run_check(struct rr_check *check, struct rr_error *error)
{
	const struct rr_explore_config config = config_of(check);
	struct rr_explore_result result;
	enum rr_exit code = RR_EXIT_OK;
	bool good;

	print_warning(check->options, rr_check_report_file(check->options));
	good = rr_explore(&check->cluster, &config, &result);
	if (!good)
		*error = result.error;
	rr_progress_end(&check->progress.line);
	check->result = good ? &result : NULL;
	snprintf(check->out_of_time, sizeof(check->out_of_time),
		 "out of time: --seconds ended while %s",
		 result.cut ? result.cut : "it was checked");
	if (good)
		rr_check_ask_skeptic(check);
	if (check->session.signals.interrupted)
		code = RR_EXIT_INTERRUPTED;
	else if (good)
		code = rr_check_report(check, error);
	else
		rr_check_report_error(check, error);
	if (code == RR_EXIT_INTERRUPTED)
		error->kind = RR_ERROR_NONE;
	rr_skeptic_release(&check->skeptic);
	rr_explore_release(&result);
	return code;
}

enum rr_exit rr_check(const struct rr_check_options *options, struct rr_error *error)
{
	struct rr_check *check = rr_calloc(1, sizeof(*check));
	enum rr_exit code = RR_EXIT_OK;

	check->options = options;
	check->n_operations = options->n_named        ? options->n_named :
			      options->n_requests > 1 ? options->n_requests :
							(size_t)options->n_clients;
	check->progress = (struct rr_explore_progress){ .signals = &check->session.signals,
							.name = "check",
							.unit = "states" };
	rr_cases_init(&check->cases, "redrace check");
	name_clients(check);
	check->progress.until_ns = rr_clock_ns() + options->seconds * INT64_C(1000000000);
	if (open_check(check, error)) {
		code = run_check(check, error);
	} else if (error->kind != RR_ERROR_USAGE) {
		rr_check_report_error(check, error);
	}
	rr_programs_free(check->programs);
	rr_programs_free(check->checker);
	for (int i = 0; i < RR_SUCCESSORS; i++)
		rr_programs_free(check->successors[i]);
	rr_cluster_close(&check->cluster);
	rr_session_close(&check->session);
	rr_given_release(&check->given);
	rr_apps_release(&check->apps);
	rr_cases_release(&check->cases);
	free(check);
	return code;
}
