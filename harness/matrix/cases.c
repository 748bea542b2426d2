/* SPDX-License-Identifier: MIT */
/* The matrix as cases, for other programs. */
#include <inttypes.h>
#include <stdio.h>

#include "base/cases.h"
#include "cell.h"

/* ---- What is known of a cell ------------------------------------------------ */

/* How many transitions and states break each. */
static json_t *broken_of(const struct rr_cell *cell)
{
	json_t *object = json_object();

	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (cell->result.broken[i])
			json_object_set_new(object, rr_invariant_name(i),
					    json_integer((json_int_t)cell->result.broken[i]));
	}
	return object;
}

/* Of interleavings, which are not always counted. */
static json_t *counted(const struct rr_cell *cell, uint64_t n)
{
	return rr_explore_has_counted(&cell->result) ? json_integer((json_int_t)n) : json_null();
}

/* Of final states: how many differ, and a digest of all of them. */
static json_t *ends_of(const struct rr_cell *cell)
{
	char digest[17];

	snprintf(digest, sizeof(digest), "%016" PRIx64, cell->ends);
	return cell->knows_ends ? json_pack("{s:{s:I, s:s}}", "final", "n",
					    (json_int_t)cell->n_ends, "digest", digest) :
				  json_pack("{s:n}", "final");
}

static json_t *properties_of_cell(const struct rr_cell *cell)
{
	static const char *const standings[] = { "as expected", "differs", "undecided" };
	const struct rr_cell_words words = rr_cell_words(cell);
	const unsigned expected = rr_expected_row(cell->strategy)->breaks[cell->hazard];
	char smallest[RR_SMALLEST_SIZE];

	return json_pack(
		"{s:o, s:I, s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:i, s:I, s:o, s:o, s:o}",
		"ends", ends_of(cell), "runs", (json_int_t)cell->result.stats.client_runs,
		"strategy", words.strategy, "hazard", rr_hazard_texts[cell->hazard].name, "found",
		words.verdict->json, "standing", standings[words.standing], "breaks",
		rr_invariants_json(cell->result.breaks), "expected", rr_invariants_json(expected),
		"expected_loops", !!(expected & RR_LOOPS), "cut", (int)cell->was_cut, "states",
		(json_int_t)cell->result.states, "transitions",
		(json_int_t)cell->result.transitions, "interleavings",
		counted(cell, cell->result.interleavings), "failing_interleavings",
		counted(cell, cell->result.failing_interleavings), "breaking", broken_of(cell),
		"smallest", rr_case_text(rr_smallest_text(cell->result.smallest, smallest)),
		"mutant", rr_case_text(cell->result.noticed), "bounds", words.bounds, "rounds",
		cell->bounds.rounds, "most", (json_int_t)cell->bounds.most, "transcript",
		rr_case_text(cell->transcript ? words.file : NULL), "transcript_verdict",
		rr_case_text(cell->verdict_text), "problem", rr_case_text(cell->result.error.text));
}

/* ---- Cases -------------------------------------------------------------------- */

static enum rr_case_verdict verdict_of_cell(const struct rr_cell *cell)
{
	static const enum rr_case_verdict verdicts[] = {
		[RR_CELL_AS_EXPECTED] = RR_CASE_PASSED,
		[RR_CELL_DIFFERS] = RR_CASE_FAILED,
		[RR_CELL_UNDECIDED] = RR_CASE_INCONCLUSIVE,
	};

	if (cell->verdict == RR_CELL_SKIPPED)
		return RR_CASE_SKIPPED;
	if (cell->verdict == RR_CELL_FAILED)
		return RR_CASE_ERROR;
	return verdicts[rr_cell_standing(cell)];
}

/* "count, exclusion, as expected", "safe, but count is expected". */
static void describe_cell(const struct rr_cell *cell, char *text, size_t size)
{
	const struct rr_cell_words words = rr_cell_words(cell);

	if (cell->result.error.text[0])
		snprintf(text, size, "%s: %s", words.text, cell->result.error.text);
	else if (cell->verdict == RR_CELL_UNDONE)
		snprintf(text, size, "%s", words.text);
	else if (words.standing == RR_CELL_AS_EXPECTED)
		snprintf(text, size, "%s, as expected", words.text);
	else
		snprintf(text, size, "%s; expected: %s%s", words.text, words.expected,
			 words.standing == RR_CELL_UNDECIDED ? " (undecided)" : "");
}

static json_t *describe_hazard(int hazard)
{
	const struct rr_explore_config bounds = rr_bounds_of(NULL, (enum rr_hazard)hazard);
	char text[RR_BOUNDS_SIZE];

	return json_pack("{s:s, s:s}", "meaning", rr_hazard_texts[hazard].meaning, "bounds",
			 rr_bounds_text(&bounds, text));
}

/* Cells that the hazard does not concern are no cases, nor are those of other
 * shards. */
void rr_matrix_as_cases(const struct rr_matrix *matrix, struct rr_cases *cases)
{
	const struct rr_cell *cell = NULL;
	json_t *hazards = json_object();

	rr_cases_init(cases, "redrace matrix");
	cases->seconds = matrix->seconds;
	for (int i = rr_matrix_column(matrix, -1); i < RR_HAZARDS; i = rr_matrix_column(matrix, i))
		json_object_set_new(hazards, rr_hazard_texts[i].name, describe_hazard(i));
	rr_cases_note_server(cases, matrix->version);
	json_object_set_new(cases->properties, "hazards", hazards);
	while ((cell = rr_matrix_next(matrix, cell))) {
		if (cell->verdict != RR_CELL_NONE && cell->verdict != RR_CELL_ELSEWHERE) {
			const struct rr_cell_words words = rr_cell_words(cell);
			char suite[120], file[120], message[RR_ERROR_SIZE + 200];

			snprintf(suite, sizeof(suite), "matrix.%s", words.strategy);
			snprintf(file, sizeof(file), "scenarios/%s.c", words.strategy);
			describe_cell(cell, message, sizeof(message));
			rr_cases_add(cases,
				     &(struct rr_case){ .suite = suite,
							.name = rr_hazard_texts[cell->hazard].name,
							.verdict = verdict_of_cell(cell),
							.seconds = cell->seconds,
							.message = message,
							.details = cell->transcript,
							.file = file,
							.properties = properties_of_cell(cell) });
		}
	}
}
