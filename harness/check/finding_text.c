/* SPDX-License-Identifier: MIT */
/* What a schedule ends in, in words: its data, how each client ended, what each request was
 * answered, and what a serial order has instead. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/processes.h"
#include "base/reply.h"
#include "base/text.h"
#include "verdict.h"

/* Of what a program printed: characters, and those of them before a difference. */
enum { OUTPUT_SHOWN = 200, OUTPUT_BEFORE = 60 };

static void print_indented(FILE *out, const char *lines)
{
	while (*lines) {
		const char *line = lines;

		fprintf(out, "  %.*s\n", (int)rr_take_line(&lines), line);
	}
}

void rr_checked_print_lines(FILE *out, const char *heading, const char *lines)
{
	if (!lines)
		return;
	fprintf(out, "%s\n", heading);
	print_indented(out, lines);
}

const char *rr_checked_noun(const struct rr_check *check)
{
	return check->options->app ? "request" : "client";
}

void rr_checked_print_status(FILE *out, int status)
{
	char end[RR_PROCESS_END_SIZE];

	fputs(rr_process_end(status, end), out);
}

/* What is shown of an output begins where it differs from another one, if that would be cut
 * off. */
static const char *shown_from(const struct rr_check *check, int ending, int other)
{
	const struct rr_ending printed = rr_programs_ending(check->programs, ending);
	const struct rr_ending beside = rr_programs_ending(check->programs, other);
	const char *output = printed.output, *at, *at_other;
	size_t n = 0;

	if (printed.length <= OUTPUT_SHOWN || other < 0 ||
	    !rr_endings_differ(&check->programs->endings, (uint32_t)ending, (uint32_t)other, &at,
			       &at_other))
		return output;
	while (at + n < output + printed.length && at_other + n < beside.output + beside.length &&
	       at[n] == at_other[n])
		n++;
	if (at + n < output + OUTPUT_SHOWN - OUTPUT_BEFORE)
		return output;
	return n > OUTPUT_BEFORE ? at + n - OUTPUT_BEFORE : at;
}

static void print_output(FILE *out, const struct rr_check *check, int ending, int other)
{
	const struct rr_ending printed = rr_programs_ending(check->programs, ending);
	const char *from = shown_from(check, ending, other);
	const size_t length = (size_t)(printed.output + printed.length - from);

	if (printed.length == 0)
		return;
	fprintf(out, ", printed %s", from > printed.output ? "..." : "");
	rr_write_quoted(out, from, length < OUTPUT_SHOWN ? length : OUTPUT_SHOWN);
	fputs(length > OUTPUT_SHOWN ? "..." : "", out);
}

/* How each client ended: those that did not succeed; or, where they are compared with
 * `others`, all, with what they printed, on one line. */
static void print_endings(FILE *out, const struct rr_check *check, const int *endings,
			  const int *others)
{
	for (size_t i = 0; i < check->n_operations; i++) {
		const struct rr_ending ending = rr_programs_ending(check->programs, endings[i]);

		if (endings[i] >= 0 && !ending.status && !others)
			continue;
		fprintf(out, "  %s ", check->names[i]);
		if (endings[i] < 0)
			fputs(others ? "crashed, or did not run" : "crashed", out);
		else
			rr_checked_print_status(out, ending.status);
		if (others && endings[i] >= 0)
			print_output(out, check, endings[i], others[i]);
		fputc('\n', out);
	}
}

/* What each request was answered: the body and, if it is not 0, the status. */
static void print_answers(FILE *out, const struct rr_check *check, const int *endings,
			  const int *others)
{
	for (size_t i = 0; i < check->n_operations; i++) {
		const struct rr_ending ending = rr_programs_ending(check->programs, endings[i]);
		char *request = rr_programs_describe_request(check->programs, i, -1);

		fprintf(out, "  %s (%s)", check->names[i], request);
		free(request);
		if (endings[i] < 0)
			fputs(" has no answer", out);
		else
			print_output(out, check, endings[i], others[i]);
		if (endings[i] >= 0 && ending.http >= 400)
			fprintf(out, ", HTTP %d", ending.http);
		if (endings[i] >= 0 && ending.status) {
			fputs(", ", out);
			rr_checked_print_status(out, ending.status);
		}
		fputc('\n', out);
	}
}

static void print_data(FILE *out, const struct rr_check *check, const struct rr_outcome *finding)
{
	char *names;
	FILE *list;

	rr_checked_print_lines(out, "Final data:", finding->data);
	/*
	 * How operations ended, next to the data: all of an app's; of clients those that did not
	 * succeed.
	 */
	if (check->options->app)
		print_answers(out, check, finding->endings, finding->nearest_endings);
	else
		print_endings(out, check, finding->endings, NULL);
	if (!(finding->found & RR_OUTCOME_NOT_SERIAL))
		return;
	rr_print_sentence(out, 0, 2, "No serial execution of the %ss produces this.%s",
			  rr_checked_noun(check), finding->nearest ? " The closest gives:" : "");
	print_indented(out, finding->nearest ? finding->nearest : "");
	if (finding->nearest) {
		if (check->options->app)
			print_answers(out, check, finding->nearest_endings, finding->endings);
		return;
	}
	/* No serial order has done all of their work, whatever its data. */
	list = rr_open_text(&names);
	for (size_t i = 0; i < check->n_operations; i++) {
		if (finding->ended_well & 1U << i)
			fprintf(list, "%s%s", ftell(list) ? ", " : "", check->names[i]);
	}
	fclose(list);
	rr_print_sentence(out, 0, 2, "%s succeeded. One after the other, not all of them can.",
			  names);
	free(names);
}

void rr_checked_print_end(FILE *out, const struct rr_check *check, const struct rr_outcome *finding)
{
	const unsigned found = finding->found;

	if (!found || found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_UNEXPECTED))
		print_data(out, check, finding);
	rr_checked_print_lines(
		out, "After the crash, the program was run once more, alone. Then the data are:",
		finding->successor);
	rr_checked_print_lines(out, "Not as expected:", finding->unexpected);
	if (found & RR_OUTCOME_OUTPUTS) {
		void (*print)(FILE *, const struct rr_check *, const int *,
			      const int *) = check->options->app ? print_answers : print_endings;

		fputs(check->options->app ? "Answers:\n" : "Outputs and exit statuses:\n", out);
		print(out, check, finding->endings, finding->nearest_endings);
		fprintf(out,
			"No serial execution of the %ss with these data produces them. One "
			"gives:\n",
			rr_checked_noun(check));
		print(out, check, finding->nearest_endings, finding->endings);
		rr_print_sentence(
			out, 0, 2,
			"If it does not matter who prints what, as with workers that share a "
			"queue, --data-only compares the data alone.");
	}
	if (finding->is_untimely)
		rr_print_sentence(out, 0, 2,
				  "It is serializable, but not strictly: a request would have to "
				  "precede one that was answered before it began.");
}

void rr_checked_print_why(FILE *out, const struct rr_outcome *finding)
{
	if (!finding->why)
		return;
	fprintf(out, finding->anomaly ? "Why (%s):\n" : "Why:\n",
		rr_anomaly_name(finding->anomaly));
	rr_print_sentences(out, 2, finding->why);
}

struct rr_checked_kind rr_checked_kind(unsigned found)
{
	static const struct {
		unsigned bit;
		struct rr_checked_kind kind;
	} kinds[] = {
		{ RR_OUTCOME_NOT_SERIAL, { "not_serializable", "not serializable" } },
		{ RR_OUTCOME_UNEXPECTED, { "not_as_expected", "not as expected" } },
		{ RR_OUTCOME_OUTPUTS,
		  { "outputs_not_serializable", "outputs are not serializable" } },
		{ RR_OUTCOME_EXCLUSION,
		  { "exclusion", "two clients are in their critical sections" } },
		{ RR_OUTCOME_OWNERSHIP, { "foreign_release", "release of another client's lock" } },
		{ RR_OUTCOME_STUCK, { "no_progress", "no progress" } },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (found & kinds[i].bit)
			return kinds[i].kind;
	}
	return (struct rr_checked_kind){ .id = NULL };
}

struct rr_checked_kind rr_checked_kind_of(const struct rr_outcome *finding)
{
	if (finding->anomaly)
		return (struct rr_checked_kind){ rr_anomaly_id(finding->anomaly),
						 rr_anomaly_name(finding->anomaly) };
	return rr_checked_kind(finding->found);
}

/* ---- What findings are called ---------------------------------------- */

/* So that one that is known is known again: by its anomaly and the keys that it is about, and not
 * by values, schedules or bounds, which change with the program. */

enum { KEYS_NAMED = 8 };

/* Is the line one of the text? */
static bool has_line(const char *text, const char *line, size_t length)
{
	while (text && *text) {
		const char *at = text;

		if (rr_take_line(&text) == length && memcmp(at, line, length) == 0)
			return true;
	}
	return false;
}

/* The subjects of the lines that the other text does not have. */
static void add_subjects(json_t *keys, const char *text, const char *other)
{
	/* What a line is about stands before that. */
	static const char *const ends[] = { " = ", " => ", " exited ", " was ended " };

	while (text && *text && json_array_size(keys) < KEYS_NAMED) {
		const char *line = text, *end = NULL;
		const size_t length = rr_take_line(&text);
		char *subject;

		if (has_line(other, line, length) ||
		    (length == strlen(RR_NO_KEYS) && memcmp(line, RR_NO_KEYS, length) == 0))
			continue;
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && !end; i++)
			end = memmem(line, length, ends[i], strlen(ends[i]));
		subject = rr_strndup(line, end ? (size_t)(end - line) : length);
		json_array_append_new(keys, rr_case_text(subject));
		free(subject);
	}
}

json_t *rr_checked_keys(const struct rr_outcome *finding)
{
	json_t *keys = json_array();

	if (finding->found & RR_OUTCOME_UNEXPECTED)
		add_subjects(keys, finding->unexpected, NULL);
	else if (finding->found & RR_OUTCOME_NOT_SERIAL && finding->nearest)
		add_subjects(keys, finding->data, finding->nearest);
	if (json_array_size(keys) == 0 && finding->found & RR_OUTCOME_NOT_SERIAL)
		add_subjects(keys, finding->nearest, finding->data);
	return keys;
}

json_t *rr_checked_keys_or_named(const struct rr_outcome *finding)
{
	const struct rr_race *race = finding->played.race;
	json_t *keys = rr_checked_keys(finding);

	if (json_array_size(keys) > 0)
		return keys;
	for (size_t i = 0; race && i < race->n_keys; i++)
		json_array_append_new(keys, rr_case_text(race->keys[i]));
	return keys;
}

/* Once. */
static void add_text(json_t *texts, const char *what)
{
	json_t *text = rr_case_text(what);
	const json_t *other;
	size_t i;

	json_array_foreach(texts, i, other) {
		if (json_equal(other, text)) {
			json_decref(text);
			return;
		}
	}
	json_array_append_new(texts, text);
}

/* Adds what a finding is called: "lost update (a, b)", so that another one of its kind is another one. */
static void add_name(json_t *texts, struct rr_checked_kind kind, const struct rr_outcome *finding,
		     bool is_kind)
{
	json_t *keys = rr_checked_keys_or_named(finding);
	const json_t *key;
	char *name;
	size_t i;
	FILE *out = rr_open_text(&name);

	fputs(is_kind ? kind.id : kind.name, out);
	json_array_foreach(keys, i, key) {
		if (!is_kind)
			fprintf(out, "%s%s", i ? ", " : " (", json_string_value(key));
	}
	fputs(!is_kind && json_array_size(keys) ? ")" : "", out);
	fclose(out);
	add_text(texts, name);
	json_decref(keys);
	free(name);
}

json_t *rr_checked_findings(const struct rr_check *check, bool are_kinds)
{
	static const unsigned of_ends = RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_UNEXPECTED |
					RR_OUTCOME_OUTPUTS;
	const struct rr_explore_result *result = check->result;
	unsigned left = result->found & ~of_ends;
	json_t *texts = json_array();

	for (size_t i = 0; i < result->n_findings; i++) {
		struct rr_outcome finding = result->findings[i];

		if (finding.found & of_ends) {
			finding.found &= of_ends;
			add_name(texts, rr_checked_kind_of(&finding), &finding, are_kinds);
		} else if (finding.found) {
			left &= ~finding.found;
			add_name(texts, rr_checked_kind(finding.found), &finding, are_kinds);
		}
	}
	/* No schedule shows these: they have the keys of the one that is shown. */
	for (unsigned bit = 1; left; left &= ~bit, bit <<= 1) {
		if (left & bit)
			add_name(texts, rr_checked_kind(bit), &result->findings[0], are_kinds);
	}
	return texts;
}
