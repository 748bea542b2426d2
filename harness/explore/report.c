/* SPDX-License-Identifier: MIT */
/* Explores one strategy and prints what came of it. */
#include "explore.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "draw/draw.h"

enum { RR_DIFFERENCE_SIZE = 2 * RR_SMALLEST_SIZE + RR_BOUNDS_SIZE + 300 };

struct report {
	struct rr_cluster *cluster;
	const struct rr_explore_options *options;
	struct rr_explore_config config;
	struct rr_explore_result result;
	FILE *out;
	struct rr_explore_progress progress;
};

/* Why there may be more states. */
static const char *cut_by(enum rr_explored explored)
{
	switch (explored) {
	case RR_EXPLORED_MOST:
		return ", not all of them";
	case RR_EXPLORED_MEMORY:
		return ", out of memory";
	case RR_EXPLORED_STOPPED:
		return ", interrupted";
	default:
		return "";
	}
}

/* ---- What is printed below the verdict: mutants, figures, chances ---------- */

/* Those that fail by what rests on them, the others by what they do. */
static void print_mutants(FILE *out, const struct rr_explore_result *result, bool fails,
			  const char *title)
{
	char *list;
	FILE *names = rr_open_text(&list);

	for (size_t i = 0; i < result->n_mutants; i++) {
		const struct rr_mutant_result *mutant = &result->mutants[i];

		if (mutant->fails == fails)
			fprintf(names, "%s%s", ftell(names) ? ", " : "",
				fails ? mutant->rests_on : mutant->name);
	}
	fclose(names);
	if (*list)
		rr_print_sentence(out, 2, 4, "%s %s", title, list);
	free(list);
}

/* "  questions        1,234 (56 replayed on the way)"; without the brackets if
 * `of_what` is NULL. */
static void print_stat(FILE *out, const char *what, unsigned long n, unsigned long m,
		       const char *of_what)
{
	char number[RR_GROUPED_SIZE];

	fprintf(out, "  %-16s %s", what, rr_grouped(number, (long long)n));
	if (of_what)
		fprintf(out, " (%s %s)", rr_grouped(number, (long long)m), of_what);
	fputc('\n', out);
}

/* ---- Failures ------------------------------------------------------------- */

static const struct rr_played *finding_of(const struct report *report)
{
	return &report->result.findings[0].played;
}

/* Is there one, and no signal came before it was played? */
static bool is_shown(const struct report *report)
{
	return report->result.n_findings && finding_of(report)->trace.as_written;
}

static void show_failure(struct report *report, struct rr_error *error)
{
	const struct rr_explore_result *result = &report->result;
	const unsigned shows = report->config.shows;
	char wanted[120];
	struct rr_style style;
	char verdict[RR_VERDICT_SIZE];
	const bool is_counted = rr_explore_has_counted(result);
	char some[RR_GROUPED_SIZE], all[RR_GROUPED_SIZE], breaks[120], bounds[RR_BOUNDS_SIZE];
	const struct rr_outcome *finding = &result->findings[0];

	/* Of random schedules, of all, of the interleavings, or of states. */
	fprintf(report->out, "%s: ", report->config.strategy->name);
	if (result->schedules)
		fprintf(report->out,
			"%s of %s %sschedules fail: ", rr_grouped(some, (long long)result->failing),
			rr_grouped(all, (long long)result->schedules),
			report->config.random.runs ? "random " : "");
	else if (is_counted)
		fprintf(report->out, "%s of %s interleavings fail: ",
			rr_grouped(some, (long long)result->failing_interleavings),
			rr_grouped(all, (long long)result->interleavings));
	else
		fprintf(report->out, "fails: ");
	fprintf(report->out, "%s (", rr_breaks_text(result->breaks, breaks, sizeof(breaks)));
	if (!result->schedules && !is_counted)
		fprintf(report->out, "%s states, %s transitions%s; ",
			rr_grouped(some, (long long)result->states),
			rr_grouped(all, (long long)result->transitions), cut_by(result->explored));
	fprintf(report->out, "%s)\n", rr_bounds_text(&report->config, bounds));
	rr_breaks_text(shows, wanted, sizeof(wanted));
	if (shows && !(shows & result->breaks))
		fprintf(report->out, "  within these bounds nothing breaks %s\n", wanted);
	/* The numbers are those of the steps below. */
	if (finding->why) {
		fprintf(report->out, "  why%s%s%s:\n", finding->anomaly ? " (" : "",
			finding->anomaly ? rr_anomaly_name(finding->anomaly) : "",
			finding->anomaly ? ")" : "");
		rr_print_sentences(report->out, 4, finding->why);
	}
	const struct rr_race *race = finding_of(report)->race;

	/* As the picture below numbers them. */
	fprintf(report->out, "  shortest%s%s, %zu steps, %d context switch%s",
		shows & result->breaks ? " that breaks " : "", shows & result->breaks ? wanted : "",
		race->n_steps ? rr_step_number(race, &race->steps[race->n_steps - 1]) : 0,
		result->switches, result->switches == 1 ? "" : "es");
	if (report->config.random.runs)
		fprintf(report->out, ", --random 1 --seed %" PRIu64, result->seed);
	fputs(":\n", report->out);
	/* As `play` draws it, and what comes of it. */
	style = rr_draw_style(stdout, false);
	rr_draw(report->out, &finding_of(report)->trace, RR_FORMAT_TEXT, &style);
	fprintf(report->out, "\nverdict %s\n\n",
		rr_race_verdict(finding_of(report)->race, verdict, sizeof(verdict)));
	if (report->options->save) {
		const char *save = report->options->save;
		const size_t length = strlen(save);
		const bool is_folder = length && save[length - 1] == '/';
		char path[RR_PATH_SIZE];
		char *text = rr_race_text(finding_of(report)->race);

		snprintf(path, sizeof(path), "%s%s%s", save,
			 is_folder ? report->config.strategy->name : "", is_folder ? ".race" : "");
		if (rr_files_replace(path, text, strlen(text), error))
			fprintf(report->out, "  saved: %s\n", path);
		free(text);
	}
}

/* ---- No failure ----------------------------------------------------------- */

/* False: no mutant showed. */
static bool print_complete(const struct report *report)
{
	static const char *const broken[RR_INVARIANTS] = {
		"the count is wrong",
		"two clients are in the critical section",
		"two clients are in the critical section while a lease runs",
		"a lock is changed by another client",
		"clients wait indefinitely",
		"clients wait indefinitely",
	};
	const struct rr_explore_result *result = &report->result;
	const struct rr_explore_config *config = &report->config;
	char states[RR_GROUPED_SIZE], number[RR_GROUPED_SIZE], bounds[RR_BOUNDS_SIZE];
	bool is_told = config->all_mutants;

	rr_grouped(states, (long long)result->states);
	if (!result->noticed[0]) {
		fprintf(report->out, "%s: no failure found in %s states of %s (no mutant is %s)\n",
			config->strategy->name, states, rr_bounds_text(config, bounds),
			config->all ? "tried with --stateless" : "noticed");
		return false;
	}
	fprintf(report->out, "%s: safe: all %s states, %s transitions", config->strategy->name,
		states, rr_grouped(number, (long long)result->transitions));
	if (rr_explore_has_counted(result))
		fprintf(report->out, " (%s interleavings)",
			rr_grouped(number, (long long)result->interleavings));
	else if (result->interleavings)
		fprintf(report->out, " (more than 9 * 10^18 interleavings)");
	fprintf(report->out, " of %s", rr_bounds_text(config, bounds));
	if (result->followed)
		fprintf(report->out, "; %d refusals in a row were followed", result->followed);
	if (result->unfollowed)
		fprintf(report->out, ", but not from %lu beginnings of attempts",
			result->unfollowed);
	/* "; rests on SET lock:0 1 NX (without it the count is wrong)": of the first mutant that
	 * fails. */
	for (size_t i = 0; i < result->n_mutants && !is_told; i++) {
		const struct rr_mutant_result *mutant = &result->mutants[i];

		if (!mutant->fails)
			continue;
		is_told = true;
		fprintf(report->out, "; relies on %s", mutant->rests_on);
		if (mutant->breaks)
			fprintf(report->out, " (without it %s)",
				broken[__builtin_ctz(mutant->breaks)]);
	}
	fputc('\n', report->out);
	return true;
}

/* ---- Compared with what is expected ------------------------------------------ */

/* Why the exit code is 1, in a sentence without an end. */
static const char *describe_difference(const struct report *report, char text[RR_DIFFERENCE_SIZE])
{
	const struct rr_explore_config *config = &report->config;
	const struct rr_explore_result *result = &report->result;
	const unsigned expected = rr_expected_breaks(config) & ~(unsigned)RR_LOOPS;
	const unsigned more = result->breaks & ~expected;
	char bounds[RR_BOUNDS_SIZE], names[120], allowed[120], found[RR_SMALLEST_SIZE],
		recorded[RR_SMALLEST_SIZE];

	rr_bounds_text(config, bounds);
	rr_breaks_text(expected, allowed, sizeof(allowed));
	if (more)
		snprintf(text, RR_DIFFERENCE_SIZE,
			 "not as expected: %s must not break with %s (expected at most: %s)",
			 rr_breaks_text(more, names, sizeof(names)), bounds,
			 allowed[0] ? allowed : RR_NOTHING_FOUND);
	else if (!rr_is_smallest_expected(config, result))
		snprintf(text, RR_DIFFERENCE_SIZE,
			 "not as expected: the smallest findings with %s are %s (expected: %s)",
			 bounds,
			 rr_smallest_text(result->smallest, found)[0] ? found : RR_NOTHING_FOUND,
			 rr_smallest_expected(config, recorded) && recorded[0] ? recorded :
										 RR_NOTHING_FOUND);
	else
		snprintf(text, RR_DIFFERENCE_SIZE, "not as expected: %s must break with %s",
			 allowed, bounds);
	return text;
}

/* ---- The whole ------------------------------------------------------------ */

static enum rr_exit print_result(struct report *report, struct rr_error *error)
{
	const struct rr_explore_result *result = &report->result;
	bool is_safe = false;
	enum rr_exit code;
	char text[RR_DIFFERENCE_SIZE];

	if (is_shown(report)) {
		show_failure(report, error);
	} else if (!result->breaks && result->explored == RR_EXPLORED_ALL) {
		is_safe = print_complete(report);
	} else if (!result->breaks) {
		const struct rr_explore_config *config = &report->config;
		char states[RR_GROUPED_SIZE], bounds[RR_BOUNDS_SIZE];

		rr_grouped(states, (long long)result->states);
		rr_bounds_text(config, bounds);
		fprintf(report->out, "%s: no failure found ", config->strategy->name);
		if (config->random.runs)
			fprintf(report->out,
				"in %s random schedules%s of %s (--seed %" PRIu64 ")\n",
				rr_grouped(states, (long long)result->schedules),
				result->explored == RR_EXPLORED_STOPPED ? ", interrupted," : "",
				bounds, config->random.seed);
		else if (result->explored == RR_EXPLORED_ROUNDS)
			fprintf(report->out, "(%d round%s), %s states of %s\n", config->rounds,
				config->rounds == 1 ? "" : "s", states, bounds);
		else if (result->explored == RR_EXPLORED_RANDOM_REPLIES)
			fprintf(report->out, "(random replies: %s), %s states of %s\n",
				result->random_command, states, bounds);
		else if (result->explored == RR_EXPLORED_DRAWS)
			fprintf(report->out,
				"(random choices: clients look at their random values; %u draws were compared), %s states of %s\n",
				result->stats.draws, states, bounds);
		else
			fprintf(report->out, "(%s states%s; %s)\n", states,
				cut_by(result->explored), bounds);
		if (result->explored == RR_EXPLORED_MOST)
			fprintf(report->out, "  Try: --max-states %lu searches for longer.\n",
				2 * config->most);
		else if (result->explored == RR_EXPLORED_ROUNDS)
			fprintf(report->out, "  Try: --rounds %d follows clients further.\n",
				2 * config->rounds);
	}
	if (report->config.all_mutants) {
		/* A line of those that fail, and one of those that do not. */
		print_mutants(report->out, result, true, "relies on");
		print_mutants(report->out, result, false, "not noticed:");
	}
	if (report->config.random.runs && result->schedules) {
		char chance[RR_GROUPED_SIZE + 2];
		const double one_in = ceil((1 - 1e-9) / result->bound.once);
		char number[RR_GROUPED_SIZE];

		/* How likely random schedules are to show a failure, rounded so that it is none
		 * too good, but for what is lost in calculating. */
		if (one_in < 1e15)
			snprintf(chance, sizeof(chance), "1/%s",
				 rr_grouped(number, (long long)one_in));
		else
			snprintf(chance, sizeof(chance), "%.1e", result->bound.once);
		rr_print_sentence(
			report->out, 2, 2,
			"a failure of depth %d, of %zu clients within %zu steps, shows with "
			"probability at least %s in each schedule, %.3g in all",
			result->bound.depth, result->bound.n_clients, result->bound.steps, chance,
			result->bound.in_all);
	}
	if (report->cluster->session->signals.interrupted) {
		rr_error_set(error, RR_ERROR_INTERRUPTED, "interrupted");
		return RR_EXIT_OK;
	}
	code = rr_judge_search(&report->config, &report->result, is_safe);
	if (code == RR_EXIT_VIOLATED)
		rr_print_sentence(report->out, 2, 4, "%s", describe_difference(report, text));
	return code;
}

/* ---- A case for other programs --------------------------------------------- */

/* The keys that are about what it breaks, their values at the end, and the steps. */
static json_t *findings_of_search(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	const struct rr_outcome *finding = &result->findings[0];
	const struct rr_race *race = finding->played.race;
	const struct rr_trace *trace = &finding->played.trace;
	const bool is_count = result->shortest_breaks & RR_BREAKS_COUNT;
	const char *kind = rr_anomaly_id(finding->anomaly), *about;
	json_t *all = json_array(), *keys = json_array(), *data = json_array();
	const struct rr_event *last = NULL;

	for (size_t i = 0; is_shown(report) && i < trace->n_events; i++)
		last = trace->events[i].step->kind != RR_STEP_NOTE ? &trace->events[i] : last;
	if (!last) {
		json_decref(keys);
		json_decref(data);
		return all;
	}
	about = is_count ? race->counter : race->lock;
	if (about)
		json_array_append_new(keys, rr_case_text(about));
	for (size_t i = 0; i < race->n_keys; i++) {
		char *line = rr_asprintf("%s = %s", race->keys[i], last->keys[i]);

		json_array_append_new(data, rr_case_text(line));
		free(line);
	}
	for (int bit = 0; !kind; bit++)
		kind = result->shortest_breaks >> bit & 1 ? rr_invariant_name(bit) : NULL;
	json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:o, s:{s:o}, s:n, s:o}", "found_by",
					     "search", "kind", kind, "keys", keys, "steps",
					     rr_trace_steps(trace), "final", "data", data,
					     "nearest_serial", "why", rr_case_text(finding->why)));
	return all;
}

/* How likely random schedules are to show a failure; null: there are none. */
static json_t *bound_as_json(const struct report *report)
{
	const struct rr_random_bound *bound = &report->result.bound;

	if (!report->config.random.runs)
		return json_null();
	return json_pack("{s:i, s:I, s:I, s:f, s:f}", "depth", bound->depth, "clients",
			 (json_int_t)bound->n_clients, "steps", (json_int_t)bound->steps, "once",
			 bound->once, "in_all", bound->in_all);
}

static json_t *mutants_as_json(const struct rr_explore_result *result)
{
	json_t *all = json_array();

	for (size_t i = 0; i < result->n_mutants; i++)
		json_array_append_new(all,
				      json_pack("{s:o, s:o, s:b}", "name",
						rr_case_text(result->mutants[i].name), "rests_on",
						rr_case_text(result->mutants[i].rests_on), "fails",
						(int)result->mutants[i].fails));
	return all;
}

/* What is counted, and what is not: null. */
static void add_counts(json_t *properties, const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	const bool is_counted = rr_explore_has_counted(result);

	json_object_set_new(properties, "interleavings",
			    is_counted ? json_integer((json_int_t)result->interleavings) :
					 json_null());
	json_object_set_new(properties, "failing_interleavings",
			    is_counted ? json_integer((json_int_t)result->failing_interleavings) :
					 json_null());
	json_object_set_new(properties, "seed",
			    report->config.random.runs ? json_integer((json_int_t)result->seed) :
							 json_null());
	json_object_set_new(properties, "bound", bound_as_json(report));
	json_object_set_new(properties, "mutants", mutants_as_json(result));
}

static json_t *properties_of_search(const struct report *report, enum rr_exit code)
{
	static const char *const explored[] = {
		[RR_EXPLORED_ALL] = "all",
		[RR_EXPLORED_ROUNDS] = "rounds",
		[RR_EXPLORED_RANDOM_REPLIES] = "random replies",
		[RR_EXPLORED_DRAWS] = "random choices",
		[RR_EXPLORED_MOST] = "limit of states",
		[RR_EXPLORED_MEMORY] = "limit of memory",
		[RR_EXPLORED_STOPPED] = "interrupted",
		[RR_EXPLORED_RANDOM] = "random schedules",
		[RR_EXPLORED_FOUND] = "up to a finding",
	};
	const struct rr_explore_result *result = &report->result;
	const struct rr_explore_config *config = &report->config;
	const unsigned expected = rr_expected_breaks(config);
	char name[RR_BUDGET_NAME], smallest[RR_SMALLEST_SIZE], recorded[RR_SMALLEST_SIZE],
		bounds[RR_BOUNDS_SIZE], more[30];
	char *transcript = is_shown(report) ? rr_race_text(finding_of(report)->race) : NULL;
	json_t *shortest = json_null(), *how_far, *properties;

	if (result->n_findings)
		shortest = json_pack("{s:o, s:i, s:I, s:o, s:o}", "breaks",
				     rr_invariants_json(result->shortest_breaks), "switches",
				     result->switches, "steps", (json_int_t)result->steps, "why",
				     rr_case_text(result->findings[0].why), "anomaly",
				     rr_case_text(rr_anomaly_name(result->findings[0].anomaly)));
	how_far = json_pack("{s:I, s:I, s:b, s:i, s:I, s:I}", "clients",
			    (json_int_t)config->n_clients, "increments",
			    (json_int_t)config->increments, "separate", (int)config->separate,
			    "rounds", config->rounds, "ttl_ms", (json_int_t)config->ttl_ms, "most",
			    (json_int_t)config->most);
	for (int i = 0; i < RR_BUDGETS; i++)
		json_object_set_new(how_far, rr_budget_name(i, name),
				    json_integer(config->budget.of[i]));
	properties = json_pack(
		"{s:o, s:o, s:s, s:o, s:s, s:o, s:s, s:i, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
		"breaks", rr_invariants_json(result->breaks), "expected",
		rr_invariants_json(expected), "smallest",
		rr_smallest_text(result->smallest, smallest), "smallest_expected",
		rr_smallest_expected(config, recorded) ? json_string(recorded) : json_null(),
		"within", rr_bounds_text(config, bounds), "bounds", how_far, "explored",
		explored[result->explored], "followed", result->followed, "shortest", shortest,
		"states", (json_int_t)result->states, "transitions",
		(json_int_t)result->transitions, "schedules", (json_int_t)result->schedules,
		"failing", (json_int_t)result->failing, "questions",
		(json_int_t)result->stats.questions, "rests_on", rr_case_text(result->noticed),
		"transcript", rr_case_text(transcript));

	free(transcript);
	add_counts(properties, report);
	snprintf(more, sizeof(more), "--clients %zu", config->n_clients + 1);
	json_object_set_new(properties, "coverage",
			    rr_coverage_as_json(config, result,
						&(struct rr_coverage_options){
							.noun = "clients", .more_clients = more }));
	json_object_set_new(properties, "exit", json_integer(code));
	json_object_set_new(properties, "findings", findings_of_search(report));
	json_object_set_new(properties, "not_compared", json_array());
	return properties;
}

/* `text`: what is printed of it, whose first line begins with the name. */
static void add_search(const struct report *report, enum rr_exit code, const struct rr_error *error,
		       const char *text, struct rr_cases *cases)
{
	const char *name = report->config.strategy->name;
	const size_t lead = strlen(name) + 2, first = strcspn(text, "\n");
	char message[RR_ERROR_SIZE + RR_DIFFERENCE_SIZE], file[120];
	char difference[RR_DIFFERENCE_SIZE] = "";

	if (!error->kind && code == RR_EXIT_VIOLATED)
		describe_difference(report, difference);

	snprintf(file, sizeof(file), "scenarios/%s.c", name);
	if (error->kind)
		snprintf(message, sizeof(message), "%s", error->text);
	else
		snprintf(message, sizeof(message), "%.*s%s%s",
			 first > lead ? (int)(first - lead) : 0, text + lead,
			 difference[0]      ? "; " :
			 code == RR_EXIT_OK ? ", as expected" :
					      "",
			 difference);
	rr_cases_add(
		cases,
		&(struct rr_case){
			.suite = "explore",
			.name = name,
			.verdict = rr_case_verdict_of(error->kind ? rr_exit_of(error->kind) : code),
			.seconds = report->result.seconds,
			.message = message,
			.details = text[first] && text[first + 1] ? text + first + 1 : NULL,
			.file = file,
			.properties = properties_of_search(
				report, error->kind ? rr_exit_of(error->kind) : code) });
}

/* ---- All of it --------------------------------------------------------------- */

enum rr_exit rr_explore_report(struct rr_cluster *cluster, const struct rr_strategy *strategy,
			       const struct rr_explore_options *options,
			       struct rr_explore_said *said, struct rr_cases *cases,
			       struct rr_error *error)
{
	struct report report = {
		.cluster = cluster,
		.options = options,
		.config = rr_explore_config_of(options, strategy),
		.progress = { .signals = &cluster->session->signals,
			      .name = strategy->name,
			      .unit = options->config.random.runs ? "schedules" : "states" },
	};
	enum rr_exit code = RR_EXIT_OK;
	bool was_explored;

	report.config.progress = rr_explore_progress;
	report.config.context = &report.progress;
	/* Only programs read it. */
	report.config.covers = !report.config.all &&
			       rr_outputs_have(&options->report, 1U << RR_FORMAT_JSON);
	report.out = rr_open_text(&said->text);
	was_explored = rr_explore(cluster, &report.config, &report.result);
	rr_progress_end(&report.progress.line);
	if (was_explored) {
		code = print_result(&report, error);
	} else {
		const struct rr_error *why = &report.result.error;
		const char *name = report.config.strategy->name;

		/* A search that failed: of which strategy? */
		if (why->kind == RR_ERROR_FILE)
			*error = *why;
		else if (why->kind == RR_ERROR_SKIPPED)
			rr_error_set(error, why->kind, "%s skipped: this server has %s", name,
				     why->text);
		else
			rr_error_set(error, why->kind, "%s: %s", name, why->text);
	}
	if (was_explored && options->stats) {
		const struct rr_explore_stats *stats = &report.result.stats;

		/* States, questions, bytes and seconds, a line each. */
		print_stat(report.out, "states", report.result.states, 0, NULL);
		print_stat(report.out, "transitions", report.result.transitions, 0, NULL);
		print_stat(report.out, "client states", stats->client_states, stats->client_runs,
			   "runs of clients");
		print_stat(report.out, "server states", stats->server_states, 0, NULL);
		print_stat(report.out, "questions", stats->questions, stats->replayed,
			   "replayed on the way");
		print_stat(report.out, "bytes per state", stats->bytes_per_state, 0, NULL);
		print_stat(report.out, "rows asked again", stats->checked_servers,
			   stats->checked_clients, "runs of clients made again");
		print_stat(report.out, "paths played", stats->audited, 0, NULL);
		print_stat(report.out, "draws compared", stats->draws, 0, NULL);
		fprintf(report.out, "  %-16s %.2f searching, %.2f checking\n", "seconds",
			stats->searching, stats->checking);
	}
	fclose(report.out);
	add_search(&report, code, error, said->text, cases);
	if (is_shown(&report)) {
		said->played = report.result.findings[0].played;
		report.result.findings[0].played = (struct rr_played){ .race = NULL };
	}
	said->is_judged = !error->kind;
	rr_explore_release(&report.result);
	return code;
}
