/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/text.h"
#include "party/party.h"
#include "verdict.h"

enum {
	HTTP_REFUSED = 400, /* from this status on */
	NOT_FOUND = 127     /* a shell's status: no such command */
};

/* ---- Beginning and end ----------------------------------------------------------- */

struct rr_instance_config rr_check_instances(struct rr_check *check)
{
	struct rr_instance_config config = { .refused = NULL };

	config.process = (struct rr_process_config){
		.guardian = &check->session.guardian,
		.signals = &check->session.signals,
		.preload = check->preload[0] ? check->preload : NULL,
		.node_preload = check->node_preload[0] ? check->node_preload : NULL,
		.seed = check->seed,
		.pids = &check->pids,
		.until_ns = check->progress.until_ns + RR_LATE_S * INT64_C(1000000000),
		.start_ns = RR_CLUSTER_START_NS,
		.holds_day = check->options->holds_day,
		.patience_ms = check->options->patience_s * 1000,
		.strangers = &check->strangers,
		.unwatched = &check->unwatched,
		.places = &check->places,
		.fresh = check->options->fresh ? &check->fresh : NULL,
		.opened = check->record.may_be_kept ? &check->opened : NULL,
		.left_out = (const char *const *)check->left_out,
		.unfixed = &check->unfixed,
	};
	return config;
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

/* The clients once more, each with random values of its own; after a restart by its own name, else
 * as another one. */
static void make_successors(struct rr_check *check, const struct rr_programs_config *clients)
{
	const struct rr_explore_config *search = &check->options->search;

	if (check->options->app || search->compare.is_partial ||
	    !(search->budget.of[RR_CRASHES] || search->budget.of[RR_LOST_REPLIES]))
		return;
	for (int i = 0; i < RR_SUCCESSORS; i++) {
		struct rr_programs_config config = *clients;

		config.instances.process.life = 1;
		if (i == RR_SUCCESSOR_LATER)
			config.instances.process.start_ns += RR_SUCCESSOR_LATER_NS;
		for (size_t j = 0; j < config.n_clients && !search->compare.restarts; j++)
			snprintf(config.names[j], RR_CLIENT_NAME, "%.*s2", RR_CLIENT_NAME - 2,
				 clients->names[j]);
		check->successors[i] = rr_programs_new(&config);
	}
}

void rr_check_open_programs(struct rr_check *check)
{
	const struct rr_check_options *options = check->options;
	struct rr_programs_config config = {
		.instances = rr_check_instances(check),
		.compares_outputs = !options->data_only,
		.pids = &check->pids,
		.tries_seeds = check->seed == (uint64_t)options->seed,
		.n_audits = options->search.audit,
		.allowed = options->allowed,
		.n_allowed = options->n_allowed,
		.n_clients = check->n_operations,
		.starts = &check->starts,
	};

	config.instances.refused = options->refused;
	config.instances.process.touched = &check->touched;
	for (size_t i = 0; i < config.n_clients && !options->app; i++) {
		const struct rr_check_client *named = &options->named[i];

		config.argv[i] = options->n_named ? named->shell : options->command;
		snprintf(config.names[i], RR_CLIENT_NAME, "%s",
			 options->n_named ? named->name : (char[]){ (char)('A' + i), '\0' });
	}
	if (options->app)
		rr_apps_make(&check->apps, options, check->n_operations, check->jar, &config);
	check->touched.are_equal = options->app ? check->apps.n == 1 : !options->n_named;
	check->programs = rr_programs_new(&config);
	make_successors(check, &config);
	const struct rr_programs_config checking = {
		.instances = rr_check_instances(check),
		.n_clients = 1,
		.argv = { check->options->checker },
		.names = { "check" },
		.starts = &check->starts,
	};

	if (check->options->checker[0])
		check->checker = rr_programs_new(&checking);
}

void rr_check_close_programs(struct rr_check *check)
{
	rr_programs_free(check->programs);
	rr_programs_free(check->checker);
	for (int i = 0; i < RR_SUCCESSORS; i++) {
		rr_programs_free(check->successors[i]);
		check->successors[i] = NULL;
	}
	check->programs = check->checker = NULL;
	rr_apps_release(&check->apps);
}

static bool open_check(struct rr_check *check, struct rr_error *error)
{
	struct rr_cluster_options servers = {
		.program = check->options->redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};

	if (access("/proc/self/stat", R_OK) != 0)
		return rr_error_set(
			error, RR_ERROR_INTERNAL,
			"there is no /proc here, by which check sees what a program waits for: mount it");
	rr_preload_find("redrace-program.so", check->preload, sizeof(check->preload));
	rr_preload_find("redrace-node.cjs", check->node_preload, sizeof(check->node_preload));
	rr_check_outside_open(check);
	for (size_t i = 0; i < check->options->n_redis_at; i++)
		rr_redis_places_add(&check->places, check->options->redis_at[i]);
	if (check->places.named.n_places > 1)
		servers.databases = RR_PLACE_DATABASES * (int)check->places.named.n_places;
	if (!rr_session_open(&check->session, error))
		return false;
	if (!rr_check_build(check, error) || !rr_check_finds_scripts(check->options, error))
		return false;
	check->opened.own = check->session.guardian.base;
	if (!rr_cluster_open(&check->cluster, &check->session, &servers, error))
		return false;
	check->begun_ns = rr_clock_files_ns();
	if (check->options->fresh && !rr_fresh_open(&check->fresh, check->options->fresh,
						    check->session.guardian.base, error))
		return false;
	rr_record_open(check);
	if (!rr_given_read(&check->given, check->options, error) ||
	    (check->options->setup && !rr_check_set_up(check, error)))
		return false;
	rr_check_open_programs(check);
	if (check->options->app && !check->apps.driver[0])
		return rr_error_set(
			error, RR_ERROR_INTERNAL,
			"redrace-app is missing, next to redrace or in ../libexec/redrace: --app needs it");
	return true;
}

/* ---- The whole ---------------------------------------------------------------------- */

struct rr_explore_config rr_check_search(struct rr_check *check)
{
	struct rr_explore_config config = check->options->search;

	config.programs = rr_programs_explored(check->programs);
	config.compare.checker = rr_programs_explored(check->checker);
	for (int i = 0; i < RR_SUCCESSORS; i++)
		config.compare.successors[i] = rr_programs_explored(check->successors[i]);
	config.n_clients = check->options->app ? check->apps.n : check->n_operations;
	config.client_names = check->options->app ? check->apps.name_of : check->names;
	config.given = check->given.init;
	config.compare.ignored = check->options->ignored;
	config.compare.expected = check->given.expected;
	config.compare.n_expected = check->options->n_finals;
	config.title = "Found by redrace check";
	config.covers = true;
	config.progress = rr_explore_progress;
	config.context = &check->progress;
	return config;
}

/* A line of the shell. One that a terminal does not show as it is becomes a word of sh -c. */
static void print_shell_line(FILE *out, const char *text)
{
	char *plain = rr_plain(text);

	if (strcmp(plain, text) == 0) {
		fprintf(out, "  %s\n", text);
	} else {
		fputs("  sh -c ", out);
		rr_shell_word(out, text);
		putc('\n', out);
	}
	free(plain);
}

/* Prints each command in a line of its own, however long, that can be pasted into a shell. */
static void print_warning(const struct rr_check_options *options, FILE *out)
{
	const char *const *words = options->n_named ? NULL : options->command;

	fprintf(out, "Runs many times, with all that %s outside Redis:\n",
		options->app || options->n_named > 1 ? "they do" : "it does");
	if (options->app)
		print_shell_line(out, options->app);
	for (size_t i = 0; i < options->n_requests; i++)
		print_shell_line(out, options->requests[i]);
	for (size_t i = 0; words && words[i]; i++) {
		fputs(i ? " " : "  ", out);
		rr_shell_word(out, words[i]);
	}
	if (words)
		putc('\n', out);
	for (size_t i = 0; i < options->n_named; i++)
		print_shell_line(out, options->named[i].shell[2]);
	fflush(out);
}

static void make_all_anew(struct rr_check *check)
{
	rr_check_close_programs(check);
	rr_check_open_programs(check);
}

/* Searches with each seed with which the programs do something else than with the first, until one
 * is no plain yes. */
static bool explore(struct rr_check *check)
{
	struct rr_explore_result *result = check->explored;
	uint64_t seeds[RR_SEEDS - 1];
	size_t n_seeds = 0;
	bool good;

	for (;;) {
		const struct rr_explore_config config = rr_check_search(check);

		good = rr_explore(&check->cluster, &config, result);
		if (check->n_searches++ == 0) {
			n_seeds = rr_programs_other_seeds(check->programs, seeds);
			check->n_seeds = rr_programs_figures(check->programs).n_seeds;
		}
		if (!good || result->found || result->explored != RR_EXPLORED_ALL ||
		    check->n_searches > n_seeds || check->options->search.schedule ||
		    check->session.signals.interrupted)
			return good;
		check->n_starts += rr_programs_figures(check->programs).starts;
		rr_explore_release(result);
		check->seed = seeds[check->n_searches - 1];
		make_all_anew(check);
	}
}

/* The likely reason if no command was sent. */
static void say_why_nothing_was_sent(struct rr_check *check)
{
	const struct rr_redis_places *places = &check->places;
	const size_t size = sizeof(check->nothing_sent);
	char *text = check->nothing_sent;
	int http = 0, status = 0;

	/* The first client's or request's end, if all have ended so. */
	for (size_t i = 0; i < check->n_operations; i++) {
		struct rr_ending ending = { 0 };

		rr_programs_last_ending(check->programs, i, &ending);
		http = i == 0 || ending.http == http ? ending.http : 0;
		status = i == 0 || ending.status == status ? ending.status : 0;
	}
	rr_add_text(text, size,
		    "nothing was checked: no %s sent a command to REDIS_URL or port 6379",
		    check->options->app ? "app" : "client");
	if (places->other[0])
		rr_add_text(text, size,
			    ", but one connected to %s: if its Redis is there, add --redis-at %s",
			    places->other, places->other);
	else if (places->lost[0])
		rr_add_text(text, size,
			    ", but one asked for the host %s, which has no address here: if its "
			    "Redis is there, add --redis-at %s%s",
			    places->lost, places->lost, strchr(places->lost, ':') ? "" : ":6379");
	else if (http >= HTTP_REFUSED)
		rr_add_text(text, size,
			    "; it answered each request with HTTP %d: are path and method right?",
			    http);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		rr_add_text(text, size,
			    "; each command exited with %d: is a program missing that it runs?",
			    NOT_FOUND);
	else
		rr_add_text(text, size, "; is its Redis elsewhere? --redis-at HOST:PORT");
}

/* Where a client does something else because another one has changed what both share outside Redis, the
 * search cannot follow it: it has learned each client alone. The skeptic runs them together. False: it
 * has found nothing. */
static bool ask_instead(struct rr_check *check)
{
	struct rr_explore_result *result = check->explored;
	const enum rr_error_kind kind = result->error.kind;

	if (!check->options->fresh || check->options->search.schedule ||
	    check->options->skeptic != RR_SKEPTIC_JUDGES || check->session.signals.interrupted ||
	    (kind != RR_ERROR_DATA && kind != RR_ERROR_INTERNAL))
		return false;
	result->explored = RR_EXPLORED_ALL;
	check->depends_on_fresh = true;
	check->result = result;
	rr_check_run_skeptic(check, result->seconds / 3, SIZE_MAX, RR_SKEPTIC_RUNS);
	if (check->skeptic.verdict == RR_SKEPTIC_DISAGREES)
		return true;
	rr_skeptic_release(&check->skeptic);
	check->depends_on_fresh = false;
	check->result = NULL;
	return false;
}

/* Searches from nothing: what a record's replay has learned of the programs is forgotten. */
static bool search(struct rr_check *check, struct rr_error *error)
{
	struct rr_explore_result *result = check->explored;
	bool good;

	if (check->record.remark[0])
		make_all_anew(check);
	if (rr_check_search_pairs(check)) {
		rr_record_keep(check);
		return true;
	}
	good = explore(check);
	if (!good && ask_instead(check))
		return true;
	if (!good)
		*error = result->error;
	check->result = good ? result : NULL;
	const char *phase = result->cut ? result->cut : "it was checked";

	if (good)
		say_why_nothing_was_sent(check);
	if (check->starts.was_refused)
		snprintf(check->out_of_budget, sizeof(check->out_of_budget),
			 "out of starts: --starts %" PRIu64 " were used while %s; try more of them",
			 check->starts.most, phase);
	else
		snprintf(check->out_of_budget, sizeof(check->out_of_budget),
			 "out of time: --seconds ended while %s", phase);
	if (!good)
		return false;
	rr_check_ask_skeptic(check);
	if (!check->session.signals.interrupted)
		rr_record_keep(check);
	return true;
}

static enum rr_exit run_check(struct rr_check *check, struct rr_error *error)
{
	struct rr_explore_result result = { .explored = RR_EXPLORED_ALL };
	enum rr_exit code = RR_EXIT_OK;
	bool good;

	check->explored = &result;
	print_warning(check->options, rr_check_report_file(check->options));
	good = rr_record_use(check) || search(check, error);
	rr_progress_end(&check->progress.line);
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

static struct rr_check *new_check(const struct rr_check_options *options)
{
	struct rr_check *check = rr_calloc(1, sizeof(*check));

	check->options = options;
	check->left_out = rr_variables_left_out(options->given, options->n_given);
	check->seed = (uint64_t)options->seed;
	check->pids = options->fixes_pids ? RR_PIDS_FIXED : RR_PIDS_OF_KERNEL;
	check->n_operations = options->n_named        ? options->n_named :
			      options->n_requests > 1 ? options->n_requests :
							(size_t)options->n_clients;
	check->progress = (struct rr_explore_progress){ .signals = &check->session.signals,
							.name = "check",
							.unit = "states" };
	check->starts.most = (uint64_t)options->starts;
	rr_cases_init(&check->cases, "redrace check");
	static const char *const letters[] = { "A", "B", "C", "D", "E", "F", "G", "H" };
	const bool are_plain = are_plain_names(options);

	for (size_t i = 0; i < check->n_operations; i++) {
		snprintf(check->requests[i], sizeof(check->requests[i]), "request %zu", i + 1);
		check->names[i] = options->app ? check->requests[i] :
				  are_plain    ? options->named[i].name :
						 letters[i];
	}
	check->progress.until_ns = rr_clock_ns() + options->seconds * INT64_C(1000000000);
	return check;
}

/* Opened or not. */
static void free_check(struct rr_check *check)
{
	rr_check_close_programs(check);
	rr_fresh_release(&check->fresh);
	rr_cluster_close(&check->cluster);
	rr_session_close(&check->session);
	rr_given_release(&check->given);
	rr_record_release(&check->record);
	rr_opened_release(&check->opened);
	rr_check_outside_release(check);
	rr_variables_free(check->left_out);
	rr_cases_release(&check->cases);
	free(check->cookies);
	free(check);
}

enum rr_exit rr_check(const struct rr_check_options *options, struct rr_error *error)
{
	struct rr_check *check = new_check(options);
	enum rr_exit code = RR_EXIT_OK;

	if ((options->build || rr_check_finds_scripts(options, error)) && open_check(check, error))
		code = run_check(check, error);
	else if (error->kind != RR_ERROR_USAGE)
		rr_check_report_error(check, error);
	free_check(check);
	return code;
}

char *rr_check_ask(const struct rr_check_options *options, const char *request,
		   struct rr_error *error)
{
	struct rr_check_options asked = *options;
	char *answer = NULL;
	struct rr_check *check;

	asked.setup = asked.requests[0] = request;
	asked.n_requests = 1;
	asked.no_cache = true;
	check = new_check(&asked);
	check->answer = &answer;
	if ((asked.build || rr_check_finds_scripts(&asked, error)))
		open_check(check, error);
	rr_progress_end(&check->progress.line);
	if (!answer && check->session.signals.interrupted)
		rr_error_set(error, RR_ERROR_INTERRUPTED, "interrupted");
	else if (!answer && (error->kind == RR_ERROR_NONE || error->kind == RR_ERROR_INTERRUPTED))
		rr_error_set(
			error, RR_ERROR_DATA,
			"the app has not answered within %ld s: start it by hand, with PORT and REDIS_URL set, and see why",
			options->seconds);
	free_check(check);
	return answer;
}
