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
#include "product/product.h"
#include "verdict.h"

/* Of an answer, in bytes. */
enum { ANSWER_SHOWN = 16 * 1024 };

/* What is written. */
struct written {
	struct rr_check *check;
	char *words;   /* the verdict, lines */
	char *drawing; /* the schedule; NULL = there is none */
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

/* The program's own file, if it is below this directory; NULL = nobody knows. */
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

	for (int i = 0; i < RR_BUDGETS; i++) {
		if (rr_budget_rows[i].check_help)
			json_object_set_new(bounds, rr_budget_name(i, name),
					    json_integer(options->search.budget.of[i]));
	}
	return bounds;
}

/* {"exit_status": 0, "http_status": 200, "output": "sold\n", "output_bytes": 5}; null: there is none. Of
 * a long output the head. */
static json_t *answer_as_json(const struct rr_check *check, long ending)
{
	struct rr_ending answer;
	size_t shown;
	char *head, digest[17];
	json_t *json;

	if (ending < 0)
		return json_null();
	answer = rr_programs_ending(check->programs, ending);
	shown = answer.length < ANSWER_SHOWN ? answer.length : ANSWER_SHOWN;
	head = rr_text_of_bytes(answer.output, shown);
	snprintf(digest, sizeof(digest), "%016" PRIx64,
		 rr_bytes_digest(0, answer.output, answer.length));
	json = json_pack("{s:i, s:o, s:o, s:I, s:s}", "exit_status", answer.status >> 8,
			 "http_status", answer.http ? json_integer(answer.http) : json_null(),
			 "output", rr_case_text(head), "output_bytes", (json_int_t)answer.length,
			 "output_digest", digest);
	free(head);
	return json;
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
				  answer_as_json(check,
						 check->apps.lines[i] ? -1 : finding->endings[i]),
				  "nearest_serial_answer",
				  answer_as_json(check,
						 has_order ? finding->nearest_endings[i] : -1)));
	}
	return all;
}

static json_t *finding_as_json(const struct rr_check *check, const struct rr_outcome *finding)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "final_data",
			 rr_case_text(finding->data), "nearest_serial_data",
			 rr_case_text(finding->nearest), "unexpected",
			 rr_case_text(finding->unexpected), "schedule",
			 rr_case_text(finding->words), "why", rr_case_text(finding->why), "anomaly",
			 rr_case_text(finding->anomaly), "requests",
			 requests_as_json(check, finding));
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

/* What is found first stands there itself; with --all, all that is found in a list. */
static json_t *properties_of(const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	json_t *first = finding_as_json(check, &result->findings[0]), *all;
	json_t *properties = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s?, s:o, s:o, s:o, s:o, s:o, s:o}",
		"clients", (json_int_t)check->n_operations, "starts", (json_int_t)figures.starts,
		"states", (json_int_t)result->states, "transitions",
		(json_int_t)result->transitions, "final_states", (json_int_t)result->finals,
		"wrong_final_states", (json_int_t)result->wrong, "wrong_not_shown",
		(json_int_t)result->n_unshown, "found", rr_checked_kind(result->found), "known_as",
		rr_checked_finding_names(check), "not_searched_because",
		rr_case_text(rr_checked_limit(check)), "bounds", bounds_of(check->options), "mend",
		rr_case_text(result->mend), "wrong_in_serial_orders", rr_case_text(result->serial),
		"rests_on", rr_case_text(result->noticed[0] ? result->noticed : NULL));

	json_object_set_new(properties, "loops", loops_as_json(&figures.learning));
	json_object_set_new(properties, "refused", rr_checked_refused(check));
	json_object_set_new(properties, "changes_data",
			    json_boolean(rr_programs_change_data(check->programs)));
	json_object_set_new(properties, "not_compared", rr_checked_not_compared(check));
	json_object_set_new(properties, "skeptic", rr_check_skeptic_as_json(check));
	json_object_update(properties, first);
	json_decref(first);
	if (!check->options->search.shows_all)
		return properties;
	all = json_array();
	for (size_t i = 0; i < result->n_findings; i++)
		json_array_append_new(all, finding_as_json(check, &result->findings[i]));
	json_object_set_new(properties, "findings", all);
	return properties;
}

/* The first line says it, the others and the schedule are details. */
static void add_case(const struct written *written, enum rr_exit code)
{
	struct rr_check *check = written->check;
	const size_t first = strcspn(written->words, "\n");
	char *name = rr_checked_programs_words(check->options);
	char *message = rr_strndup(written->words, first);
	char *details;
	FILE *lines = rr_open_text(&details);

	fprintf(lines, "%s%s", written->words + first + (written->words[first] == '\n'),
		written->drawing ? written->drawing : "");
	fclose(lines);
	rr_cases_add(&check->cases,
		     &(struct rr_case){ .suite = "check",
					.name = name,
					.verdict = rr_case_verdict_of(code),
					.seconds = check->cases.seconds,
					.message = message,
					.details = *details ? details : NULL,
					.file = find_source(check->options),
					.properties = check->result ? properties_of(check) :
								      NULL });
	free(name);
	free(message);
	free(details);
}

/* ---- For people ------------------------------------------------------------------------- */

static void print_words(FILE *out, const struct written *written)
{
	rr_print_verdict(out, written->words);
	if (written->drawing)
		fprintf(out, "\n%s", written->drawing);
}

static void print_check(const void *what, enum rr_format format, FILE *out, struct rr_error *error)
{
	const struct written *written = what;
	const struct rr_explore_result *result = written->check->result;
	const struct rr_style style = { .width = 80 };

	if (result && format == RR_FORMAT_TEXT)
		print_words(out, written);
	else if (result && result->findings[0].transcript)
		rr_conclude_draw(out, result->findings[0].transcript, &written->check->cluster,
				 format, &style, error);
}

static bool save_schedule(const struct rr_check *check, struct rr_error *error)
{
	const struct rr_check_options *options = check->options;
	struct rr_draft draft;

	if (!options->save || !check->result->findings[0].transcript)
		return true;
	rr_draft_open(&draft);
	fputs(check->result->findings[0].transcript, draft.out);
	rr_replay_write(draft.out, options, check->result->day != RR_DAY_GOES_ON,
			check->result->findings[0].words);
	if (!rr_draft_replace(&draft, options->save, error))
		return false;
	fprintf(rr_check_report_file(options), "saved: %s\n", options->save);
	return true;
}

static void name_pictures(const struct rr_check_options *options, const struct rr_outputs *outputs)
{
	for (size_t i = 0; i < outputs->n; i++) {
		const struct rr_output *file = &outputs->files[i];

		if (file->format != RR_FORMATS && RR_CHECK_PICTURES >> file->format & 1)
			fprintf(rr_check_report_file(options), "drawn: %s\n", file->path);
	}
}

/* ---- All of it ----------------------------------------------------------------------- */

/* In words; and drawn as the terminal wants it, for which it is played again: an error of
 * that takes no words away. */
static void write_words(struct written *written, struct rr_error *error)
{
	struct rr_check *check = written->check;
	const struct rr_style style = rr_draw_style(stdout, false);
	FILE *out = rr_open_text(&written->words);

	rr_checked_print(out, check);
	fclose(out);
	if (!check->result->findings[0].transcript)
		return;
	out = rr_open_text(&written->drawing);
	for (size_t i = 0; i < check->result->n_findings && !error->kind; i++) {
		const struct rr_outcome *finding = &check->result->findings[i];

		if (i > 0) {
			fprintf(out, "\nAnother wrong final state, %zu of %zu\n", i + 1,
				check->result->n_findings);
			rr_checked_print_end(out, check, finding);
			fputc('\n', out);
		}
		rr_conclude_draw(out, finding->transcript, &check->cluster, RR_FORMAT_TEXT, &style,
				 error);
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
	add_case(written, code);
	return rr_cases_publish(&check->cases, outputs, print_check, written, error);
}

enum rr_exit rr_check_report(struct rr_check *check, struct rr_error *error)
{
	const enum rr_exit code = rr_checked_exit(check);
	struct rr_outputs outputs = check->options->report;
	struct written written = { .check = check };
	struct rr_error undrawn = { .kind = RR_ERROR_NONE };

	if (!check->result->findings[0].transcript)
		rr_outputs_drop(&outputs, RR_CHECK_PICTURES);
	write_words(&written, &undrawn);
	if (publish_check(&written, code, &outputs, error)) {
		if (RR_CHECK_PICTURES >> outputs.printed & 1)
			rr_print_verdict(stderr, written.words);
		name_pictures(check->options, &outputs);
		if (save_schedule(check, error))
			rr_check_write_game(check, error);
	}
	if (undrawn.kind)
		rr_error_set(error, undrawn.kind, "%s", undrawn.text);
	free(written.words);
	free(written.drawing);
	return code;
}

void rr_check_report_error(struct rr_check *check, const struct rr_error *error)
{
	struct rr_outputs outputs = check->options->report;
	char words[RR_ERROR_SIZE];
	struct written written = { .check = check, .words = words };
	struct rr_error unwritten = { .kind = RR_ERROR_NONE };

	memcpy(words, error->text, sizeof(words));
	rr_outputs_drop(&outputs, ~(unsigned)RR_CASE_FORMATS);
	publish_check(&written, rr_exit_of(error->kind), &outputs, &unwritten);
	rr_report_error(&unwritten);
}
