/* SPDX-License-Identifier: MIT */
/* What came of a check, written: for people and for other programs, the schedule as a
 * picture and as a file to be followed again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/cases.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "draw/draw.h"
#include "product/product.h"
#include "verdict.h"

/* What is written. */
struct written {
	struct rr_check *check;
	char *words;                    /* the verdict and the wrong end: lines */
	char *drawing;                  /* the schedule; NULL = there is none */
	char *rest;                     /* why, what would fix it, and how to go on */
	const struct rr_error *failure; /* why there is none; NULL = there is a verdict */
};

FILE *rr_check_report_file(const struct rr_check_options *options)
{
	return options->report.printed == RR_FORMAT_TEXT ? stdout : stderr;
}

/* ---- A case for other programs ------------------------------------------------------- */

char *rr_checked_programs_words(const struct rr_check_options *options)
{
	const char *const *words = options->n_named ? NULL : options->command;
	char *text;
	FILE *out = rr_open_text(&text);

	if (options->app)
		fputs(options->app, out);
	for (size_t i = 0; words && words[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", words[i]);
	for (size_t i = 0; i < options->n_named; i++)
		fprintf(out, "%s%s: %s", i ? "; " : "", options->named[i].name,
			options->named[i].shell[2]);
	fclose(out);
	return text;
}

/* The program's own file, if it is below this directory; NULL = not known. */
static const char *find_source(const struct rr_check_options *options)
{
	const char *const *words = options->n_named ? NULL : options->command;
	struct stat info;

	for (size_t i = 0; words && words[i]; i++) {
		if (words[i][0] != '/' && words[i][0] != '.' && stat(words[i], &info) == 0 &&
		    S_ISREG(info.st_mode))
			return words[i];
	}
	return NULL;
}

static json_t *bounds_of(const struct rr_check_options *options)
{
	json_t *bounds = json_pack("{s:i, s:I, s:I, s:I}", "rounds", options->search.rounds,
				   "ttl_ms", (json_int_t)options->search.ttl_ms, "most",
				   (json_int_t)options->search.most, "seconds",
				   (json_int_t)options->seconds);
	char name[RR_BUDGET_NAME];

	json_object_set_new(bounds, "starts",
			    options->starts ? json_integer(options->starts) : json_null());
	for (int i = 0; i < RR_BUDGETS; i++) {
		if (rr_budget_rows[i].check_help)
			json_object_set_new(bounds, rr_budget_name(i, name),
					    json_integer(options->search.budget.of[i]));
	}
	return bounds;
}

/* How an operation ended; null: it did not, unless the client is named. */
static json_t *ending_as_json(const struct rr_check *check, long number, const char *client)
{
	struct rr_ending ending = { .output = "" };

	if (number < 0 && !client)
		return json_null();
	if (number >= 0)
		ending = rr_programs_ending(check->programs, number);
	return rr_case_ending(&(struct rr_case_ending){ .client = client,
							.status = number < 0 ? -1 : ending.status,
							.http = ending.http,
							.output = ending.output,
							.length = ending.length });
}

/* To an app, with what each was answered, and what in the serial order that is nearest. */
static json_t *requests_as_json(const struct rr_check *check, const struct rr_outcome *finding)
{
	const struct rr_check_options *options = check->options;
	json_t *all = json_array();

	for (size_t i = 0; options->app && finding->words && i < check->n_operations; i++) {
		const size_t which = options->n_requests == 1 ? 0 : i;
		const bool has_order = finding->nearest && !check->apps.lines[i];

		json_array_append_new(
			all,
			json_pack("{s:o, s:o, s:o}", options->is_line[which] ? "line" : "request",
				  rr_case_text(options->requests[which]), "answer",
				  ending_as_json(check,
						 check->apps.lines[i] ? -1 : finding->endings[i],
						 NULL),
				  "nearest_serial_answer",
				  ending_as_json(check,
						 has_order ? finding->nearest_endings[i] : -1,
						 NULL)));
	}
	return all;
}

/* {"data": ["n = \"1\""], "endings": [{"client": "A", "exit_status": 0, ...}]}: what is there, and how
 * each operation ended; null: there is no such end. */
static json_t *end_as_json(const struct rr_check *check, const char *data, const int *endings)
{
	json_t *all = json_array();

	if (!data) {
		json_decref(all);
		return json_null();
	}
	for (size_t i = 0; i < check->n_operations; i++) {
		char *name = check->options->app ? rr_asprintf("request%zu", i + 1) :
						   rr_strdup(check->names[i]);

		json_array_append_new(all, ending_as_json(check, endings[i], name));
		free(name);
	}
	return json_pack("{s:o, s:o}", "data", rr_case_lines(data), "endings", all);
}

/* What the properties say of what is found first, and each finding. */
static json_t *outcome_as_json(const struct rr_check *check, const struct rr_outcome *finding)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "final_data",
			 rr_case_text(finding->data), "nearest_serial_data",
			 rr_case_text(finding->nearest), "unexpected",
			 rr_case_text(finding->unexpected), "schedule",
			 rr_case_text(finding->words), "why", rr_case_text(finding->why), "anomaly",
			 rr_case_text(rr_anomaly_name(finding->anomaly)), "requests",
			 requests_as_json(check, finding), "is_untimely",
			 (int)finding->is_untimely);
}

static json_t *finding_as_json(const struct rr_check *check, const struct rr_outcome *finding)
{
	json_t *outcome = outcome_as_json(check, finding);
	json_t *json;

	json = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "found_by", "search", "kind",
			 rr_checked_kind_of(finding).id, "keys", rr_checked_keys_or_named(finding),
			 "steps", rr_trace_steps(&finding->played.trace), "final",
			 end_as_json(check, finding->data, finding->endings), "nearest_serial",
			 end_as_json(check, finding->nearest, finding->nearest_endings));

	json_object_update(json, outcome);
	json_decref(outcome);
	return json;
}

/* Of the search; or of the skeptic, if it disagrees with that. */
static json_t *findings_as_json(const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;
	const struct rr_skeptic_result *skeptic = &check->skeptic;
	json_t *all = json_array();

	for (size_t i = 0; result && i < result->n_findings; i++) {
		if (result->findings[i].found)
			json_array_append_new(all, finding_as_json(check, &result->findings[i]));
	}
	if (skeptic->verdict == RR_SKEPTIC_DISAGREES)
		json_array_append_new(
			all, json_pack("{s:s, s:s, s:O, s:O, s:O, s:O, s:o}", "found_by", "skeptic",
				       "kind",
				       rr_checked_kind(skeptic->is_stuck ? RR_OUTCOME_STUCK :
									   RR_OUTCOME_NOT_SERIAL)
					       .id,
				       "keys", skeptic->keys, "steps", skeptic->trace, "final",
				       skeptic->final, "nearest_serial", skeptic->nearest_serial,
				       "why", rr_case_text(skeptic->why)));
	return all;
}

/* How far loops were followed, and after how many rounds they were left; null: there are none. */
static json_t *loops_as_json(const struct rr_learning_figures *learning)
{
	json_t *left = json_array();

	for (size_t i = 0; i < RR_LOOP_NUMBERS; i++) {
		if (learning->left >> i & 1)
			json_array_append_new(left, json_integer(rr_learning_rounds(i)));
	}
	if (learning->loops > 0)
		return json_pack("{s:i, s:o}", "followed", RR_LOOP_ROUNDS, "left_after", left);
	json_decref(left);
	return json_null();
}

/* Why the time of day stood still while programs waited; null: it went on. */
static json_t *held_clock_as_json(const struct rr_check *check)
{
	switch (check->result->day) {
	case RR_DAY_HELD_TO_END:
		return json_string("no_end");
	case RR_DAY_HELD_TO_REPEAT:
		return json_string("differs");
	default:
		return check->options->holds_day ? json_string("option") : json_null();
	}
}

/* Lines of output that differ between runs with the same replies: what stands for each of them. */
static json_t *varying_as_json(const struct rr_endings *endings)
{
	json_t *all = json_array();

	for (size_t i = 0; i < endings->n_varying; i++) {
		const struct rr_varying *varying = &endings->varying[i];
		char *pattern = rr_varying_text(varying->pattern, varying->pattern.length);

		json_array_append_new(
			all, json_pack("{s:o, s:o}", "pattern", rr_case_text(pattern), "line",
				       varying->line ? json_integer((json_int_t)varying->line) :
						       json_null()));
		free(pattern);
	}
	return all;
}

/* Adds the facts on which the verdict remarks in words. */
static void add_remarks(json_t *properties, const struct rr_check *check,
			const struct rr_programs_figures *figures)
{
	const struct rr_learning_figures *learning = &figures->learning;
	const struct rr_strangers *strangers = &check->strangers;

	json_object_set_new(properties, "held_clock", held_clock_as_json(check));
	json_object_set_new(properties, "has_leases", json_boolean(check->result->has_leases));
	json_object_set_new(properties, "has_own_keys", json_boolean(check->result->has_own_keys));
	json_object_set_new(properties, "has_one_uv_thread",
			    json_boolean(figures->has_uv && !getenv(RR_UV_THREADS)));
	json_t *led = json_array();

	for (size_t i = 0; i < check->places.n_led; i++)
		json_array_append_new(led, rr_case_text(check->places.led[i]));
	json_object_set_new(properties, "redis_at", led);
	json_object_set_new(properties, "outside", rr_checked_outside(check));
	json_object_set_new(properties, "strangers",
			    strangers->n ? json_pack("{s:I, s:o}", "n", (json_int_t)strangers->n,
						     "first", rr_case_text(strangers->first)) :
					   json_null());
	json_object_set_new(properties, "varying_outputs",
			    varying_as_json(&check->programs->endings));
	json_object_set_new(properties, "unused_starts", json_integer((json_int_t)figures->unused));
	json_object_set_new(
		properties, "learned",
		json_pack("{s:I, s:I, s:I, s:I}", "states", (json_int_t)learning->states, "merges",
			  (json_int_t)learning->merges, "tests", (json_int_t)learning->tests,
			  "walks", (json_int_t)learning->walks));
}

/* How many there are, and a digest of all of them in an order of their own; null: not all are known. */
static json_t *ends_as_json(const struct rr_check *check, const struct rr_ends *ends)
{
	uint64_t *digests = rr_calloc(ends->n + 1, sizeof(*digests));
	size_t n = ends->n;
	char text[17];

	for (size_t i = 0; i < n; i++) {
		/* What is compared of an end. */
		const struct rr_endings *endings = &check->programs->endings;
		uint64_t digest = ends->all[i].data;

		for (size_t k = 0; k < check->n_operations && !check->options->data_only; k++) {
			const int ending = ends->all[i].endings[k];
			const uint64_t how = ending < 0 ?
						     0 :
						     rr_endings_digest(endings, (uint32_t)ending);

			digest = rr_bytes_digest(digest, &how, sizeof(how));
		}
		digests[i] = digest;
	}
	snprintf(text, sizeof(text), "%016" PRIx64, rr_ends_fold(digests, &n));
	free(digests);
	return ends->is_known ? json_pack("{s:I, s:s}", "n", (json_int_t)n, "digest", text) :
				json_null();
}

/* What is found first stands there itself, too. */
json_t *rr_checked_properties(const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	json_t *first = outcome_as_json(check, &result->findings[0]);
	const bool changes_data = check->programs->change_data;
	char smallest[RR_SMALLEST_SIZE];
	json_t *properties = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s?, s:o, s:o, s:o, s:o, s:o, s:o}",
		"clients", (json_int_t)check->n_operations, "starts",
		(json_int_t)(check->n_starts + figures.starts), "states",
		(json_int_t)result->states, "transitions", (json_int_t)result->transitions,
		"final_states", (json_int_t)result->finals, "wrong_final_states",
		(json_int_t)result->wrong, "wrong_not_shown", (json_int_t)result->n_unshown,
		"found", rr_checked_kind(result->found).name, "known_as",
		rr_checked_findings(check, false), "not_searched_because",
		rr_case_text(rr_checked_limit(check).text), "bounds", bounds_of(check->options),
		"mend", rr_case_text(result->mend), "wrong_in_serial_orders",
		rr_case_text(result->serial), "rests_on",
		rr_case_text(result->noticed[0] ? result->noticed : NULL));

	char *replay = result->found && !check->options->search.schedule ?
			       rr_checked_replay(check->options) :
			       NULL;

	json_object_set_new(properties, "replay", rr_case_text(replay));
	free(replay);
	json_object_set_new(properties, "search", rr_checked_search(check));
	json_object_set_new(properties, "kinds", rr_checked_findings(check, true));
	json_object_set_new(properties, "coverage", rr_checked_coverage(check));
	json_object_set_new(properties, "smallest",
			    rr_case_text(rr_smallest_text(result->smallest, smallest)));
	json_object_set_new(properties, "ends",
			    json_pack("{s:o, s:o}", "final",
				      ends_as_json(check, &result->final_ends), "serial",
				      ends_as_json(check, &result->serial_ends)));
	json_object_set_new(properties, "refinements",
			    json_integer((json_int_t)figures.learning.refinements));
	json_object_set_new(properties, "pairs",
			    json_pack("{s:I, s:b}", "searched", (json_int_t)check->n_pairs,
				      "found_by", check->is_of_pair));
	json_object_set_new(properties, "loops", loops_as_json(&figures.learning));
	json_object_set_new(properties, "rounds_without_end", json_integer(check->result->rounds));
	json_object_set_new(properties, "refused", rr_checked_refused(check));
	json_object_set_new(properties, "failing", rr_checked_failing(check));
	/* Where the search did not come to its end, it is not known what it would have seen. */
	json_object_set_new(properties, "changes_data",
			    changes_data || !rr_checked_limit(check).id ?
				    json_boolean(changes_data) :
				    json_null());
	json_object_set_new(properties, "seed", json_integer((json_int_t)check->seed));
	/* Whether the programs draw the same at every start with the same seed. */
	json_object_set_new(properties, "randomness",
			    json_pack("{s:b, s:b, s:b, s:b, s:I, s:I}", "is_controlled",
				      (int)!figures.is_uncontrolled, "has_own_clock",
				      (int)figures.has_own_clock, "has_fixed_addresses",
				      (int)(check->unfixed == 0), "has_fixed_pids",
				      (int)(check->pids == RR_PIDS_FIXED), "seeds",
				      (json_int_t)check->n_seeds, "searches",
				      (json_int_t)check->n_searches));
	json_object_set_new(properties, "not_compared", rr_checked_not_compared(check));
	json_object_set_new(properties, "ignored",
			    result->ignored ? json_incref(result->ignored) : json_array());
	json_object_set_new(properties, "skeptic", rr_check_skeptic_as_json(check));
	add_remarks(properties, check, &figures);
	json_object_update(properties, first);
	json_decref(first);
	json_object_set_new(properties, "findings", findings_as_json(check));
	return properties;
}

/* Those of a yes that was kept are believed where they say how much was searched. */
static json_t *properties_of(const struct written *written, enum rr_exit code)
{
	const struct rr_check *check = written->check;
	const struct rr_record *record = &check->record;
	json_t *properties = rr_record_text(record, false) ? rr_record_properties(record) : NULL;

	if (!check->result)
		return json_pack("{s:i, s:o, s:[], s:[], s:[]}", "exit", (int)code, "error",
				 rr_case_error(written->failure), "findings", "not_compared",
				 "outside");
	if (properties) {
		json_object_set_new(properties, "starts",
				    json_integer((json_int_t)check->n_skeptical));
		json_object_set_new(properties, "found", json_null());
		json_object_set_new(properties, "known_as", json_array());
		json_object_set_new(properties, "kinds", json_array());
		json_object_set_new(properties, "skeptic", rr_check_skeptic_as_json(check));
		json_object_set_new(properties, "findings", findings_as_json(check));
	} else {
		properties = rr_checked_properties(check);
	}
	json_object_set_new(properties, "exit", json_integer(code));
	json_object_set_new(
		properties, "kept",
		json_pack("{s:b, s:b, s:s?, s:s?, s:o, s:o}", "is_used", record->is_used, "is_kept",
			  record->is_used || !record->why[0], "why",
			  record->why[0] ? record->why : NULL, "earlier", record->earlier,
			  "changed", record->changed ? json_incref(record->changed) : json_array(),
			  "again", rr_case_text(record->again)));
	return properties;
}

/* ---- For people ------------------------------------------------------------------------- */

/* As a page: what is on the terminal, and the steps to be clicked through. */
static void draw_page(FILE *out, const struct written *written)
{
	static char replay[] = "--replay";
	const struct rr_check *check = written->check;
	char *file = rr_strdup(check->options->save ? check->options->save : "schedule.race");
	const char *words = written->words, *figures = strstr(words, " (");
	const size_t first = strcspn(words, "\n");
	char *command = rr_checked_command(check->options, replay, file);
	char *heading = rr_strndup(
		words, figures && figures < words + first ? (size_t)(figures - words) : first);
	char *why;
	FILE *lines = rr_open_text(&why);

	rr_checked_print_advice(lines, check);
	fclose(lines);
	const struct rr_article article = {
		.id = "race",
		.command = command,
		.heading = heading,
		.ends = words[first] ? words + first + 1 : NULL,
		.why = *why ? why : NULL,
	};
	const struct rr_style style = { .article = &article };

	rr_draw(out, &check->result->findings[0].played.trace, RR_FORMAT_HTML, &style);
	free(file);
	free(command);
	free(heading);
	free(why);
}

static void print_check(const void *what, enum rr_format format, FILE *out, struct rr_error *error)
{
	(void)error;
	const struct written *written = what;
	const struct rr_explore_result *result = written->check->result;
	const struct rr_style style = { .width = 80 };

	if (result && format == RR_FORMAT_TEXT) {
		rr_print_verdict(out, written->words);
		if (written->drawing)
			fprintf(out, "\n%s%s", written->drawing, *written->rest ? "\n" : "");
		fputs(written->rest, out);
	} else if (result && result->findings[0].played.race && format == RR_FORMAT_HTML) {
		draw_page(out, written);
	} else if (result && result->findings[0].played.race) {
		rr_draw(out, &result->findings[0].played.trace, format, &style);
	}
}

static bool save_schedule(const struct rr_check *check, struct rr_error *error)
{
	const struct rr_check_options *options = check->options;
	struct rr_draft draft;

	if (!options->save || !check->result->findings[0].played.race)
		return true;
	rr_draft_open(&draft);
	rr_race_write(draft.out, check->result->findings[0].played.race);
	rr_replay_write(draft.out, options, check->result->day != RR_DAY_GOES_ON,
			check->pids == RR_PIDS_FIXED, check->seed,
			check->result->findings[0].words);
	if (!rr_draft_replace(&draft, options->save, error))
		return false;
	fprintf(rr_check_report_file(options), "saved: %s\n", options->save);
	return true;
}

/* ---- All of it ----------------------------------------------------------------------- */

/* In words; and drawn as the terminal wants it. */
static void write_words(struct written *written)
{
	struct rr_check *check = written->check;
	struct rr_style style = rr_draw_style(stdout, false);
	FILE *out = rr_open_text(&written->words);

	style.only_steps = true;

	rr_checked_print(out, check);
	fclose(out);
	out = rr_open_text(&written->rest);
	rr_checked_print_rest(out, check);
	fclose(out);
	if (!check->result->findings[0].played.race)
		return;
	out = rr_open_text(&written->drawing);
	for (size_t i = 0; i < check->result->n_findings; i++) {
		const struct rr_outcome *finding = &check->result->findings[i];

		if (i > 0) {
			fprintf(out, "\nAnother finding, %zu of %zu: %s\n", i + 1,
				check->result->n_findings, rr_checked_kind_of(finding).name);
			rr_checked_print_end(out, check, finding);
			fputc('\n', out);
		}
		rr_draw(out, &finding->played.trace, RR_FORMAT_TEXT, &style);
		if (check->result->n_findings > 1 && finding->why) {
			fputc('\n', out);
			rr_checked_print_why(out, finding);
		}
	}
	if (check->result->n_unshown)
		fprintf(out, "\nFurther wrong final states, which are not shown: %lu\n",
			check->result->n_unshown);
	fclose(out);
}

static bool publish_check(const struct written *written, enum rr_exit code,
			  const struct rr_outputs *outputs, struct rr_error *error)
{
	struct rr_check *check = written->check;

	check->cases.seconds = check->result ? check->result->seconds : rr_cases_age(&check->cases);
	/* The first line says it, the others and the schedule are details. */
	const size_t first = strcspn(written->words, "\n");
	char *name = rr_checked_programs_words(check->options);
	char *message = rr_strndup(written->words, first);
	char *details;
	FILE *lines = rr_open_text(&details);

	fprintf(lines, "%s%s%s%s", written->words + first + (written->words[first] == '\n'),
		written->drawing ? "\n" : "", written->drawing ? written->drawing : "",
		written->drawing && *written->rest ? "\n" : "");
	fputs(written->rest, lines);
	fclose(lines);
	rr_cases_add(&check->cases,
		     &(struct rr_case){ .suite = "check",
					.name = name,
					.verdict = rr_case_verdict_of(code),
					.seconds = check->cases.seconds,
					.message = message,
					.details = *details ? details : NULL,
					.file = find_source(check->options),
					.properties = properties_of(written, code) });
	free(name);
	free(message);
	free(details);
	return rr_cases_publish(&check->cases, outputs, print_check, written, error);
}

enum rr_exit rr_check_report(struct rr_check *check, struct rr_error *error)
{
	const enum rr_exit code = rr_checked_exit(check);
	struct rr_outputs outputs = check->options->report;
	struct written written = { .check = check };

	if (!check->result->findings[0].played.race)
		rr_outputs_drop(&outputs, RR_CHECK_PICTURES);
	write_words(&written);
	if (publish_check(&written, code, &outputs, error)) {
		if (RR_CHECK_PICTURES >> outputs.printed & 1) {
			rr_print_verdict(stderr, written.words);
			fputs(written.rest, stderr);
		}
		for (size_t i = 0; i < outputs.n; i++) {
			const struct rr_output *file = &outputs.files[i];

			if (file->format != RR_FORMATS && RR_CHECK_PICTURES >> file->format & 1)
				fprintf(rr_check_report_file(check->options), "drawn: %s\n",
					file->path);
		}
		if (save_schedule(check, error))
			rr_check_write_game(check, error);
	}
	free(written.words);
	free(written.drawing);
	free(written.rest);
	return code;
}

void rr_check_report_error(struct rr_check *check, const struct rr_error *error)
{
	struct rr_outputs outputs = check->options->report;
	char words[RR_ERROR_SIZE];
	static char nothing[] = "";
	struct written written = {
		.check = check, .words = words, .rest = nothing, .failure = error
	};
	struct rr_error unwritten = { .kind = RR_ERROR_NONE };

	memcpy(words, error->text, sizeof(words));
	rr_outputs_drop(&outputs, ~(unsigned)RR_CASE_FORMATS);
	publish_check(&written, rr_exit_of(error->kind), &outputs, &unwritten);
	rr_report_error(&unwritten);
}
