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

static json_t *properties_of_cell(const struct rr_cell *cell)
{
	static const char *const standings[] = { "as expected", "differs", "undecided" };
	const struct rr_cell_words words = rr_cell_words(cell);
	const unsigned expected = rr_expected_row(cell->strategy)->breaks[cell->hazard];
	char smallest[RR_SMALLEST_SIZE], digest[17];
	json_t *ends;

	/* Of final states: how many differ, and a digest of all of them. */
	snprintf(digest, sizeof(digest), "%016" PRIx64, cell->ends);
	ends = cell->knows_ends ? json_pack("{s:{s:I, s:s}}", "final", "n",
					    (json_int_t)cell->n_ends, "digest", digest) :
				  json_pack("{s:n}", "final");
	return json_pack(
		"{s:o, s:I, s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:i, s:I, s:o, s:o, s:o}",
		"ends", ends, "runs", (json_int_t)cell->result.stats.client_runs, "strategy",
		words.strategy, "hazard", rr_hazard_texts[cell->hazard].name, "found",
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

/* Cells that the hazard does not concern are no cases, nor are those of other
 * shards. */
void rr_matrix_as_cases(const struct rr_matrix *matrix, struct rr_cases *cases)
{
	static const enum rr_case_verdict verdicts[] = {
		[RR_CELL_AS_EXPECTED] = RR_CASE_PASSED,
		[RR_CELL_DIFFERS] = RR_CASE_FAILED,
		[RR_CELL_UNDECIDED] = RR_CASE_INCONCLUSIVE,
	};
	const struct rr_cell *cell = NULL;
	json_t *hazards = json_object();

	rr_cases_init(cases, "redrace matrix");
	cases->seconds = matrix->seconds;
	for (int i = rr_matrix_column(matrix, -1); i < RR_HAZARDS;
	     i = rr_matrix_column(matrix, i)) {
		const struct rr_explore_config bounds = rr_bounds_of(NULL, (enum rr_hazard)i);
		char text[RR_BOUNDS_SIZE];

		json_object_set_new(hazards, rr_hazard_texts[i].name,
				    json_pack("{s:s, s:s}", "meaning", rr_hazard_texts[i].meaning,
					      "bounds", rr_bounds_text(&bounds, text)));
	}
	rr_cases_note_server(cases, matrix->version);
	json_object_set_new(cases->properties, "hazards", hazards);
	while ((cell = rr_matrix_next(matrix, cell))) {
		const struct rr_cell_words words = rr_cell_words(cell);
		const char *problem = cell->result.error.text;
		char suite[120], file[120], message[RR_ERROR_SIZE + 200];

		if (cell->verdict == RR_CELL_NONE || cell->verdict == RR_CELL_ELSEWHERE)
			continue;
		snprintf(suite, sizeof(suite), "matrix.%s", words.strategy);
		snprintf(file, sizeof(file), "scenarios/%s.c", words.strategy);
		/* "count, exclusion, as expected", "safe; expected: count". */
		if (problem[0] || cell->verdict == RR_CELL_UNDONE)
			snprintf(message, sizeof(message), "%s%s%s", words.text,
				 problem[0] ? ": " : "", problem);
		else if (words.standing == RR_CELL_AS_EXPECTED)
			snprintf(message, sizeof(message), "%s, as expected", words.text);
		else
			snprintf(message, sizeof(message), "%s; expected: %s%s", words.text,
				 words.expected,
				 words.standing == RR_CELL_UNDECIDED ? " (undecided)" : "");
		rr_cases_add(cases, &(struct rr_case){ .suite = suite,
						       .name = rr_hazard_texts[cell->hazard].name,
						       .verdict = cell->verdict == RR_CELL_SKIPPED ?
									  RR_CASE_SKIPPED :
								  cell->verdict == RR_CELL_FAILED ?
									  RR_CASE_ERROR :
									  verdicts[words.standing],
						       .seconds = cell->seconds,
						       .message = message,
						       .details = cell->transcript,
						       .file = file,
						       .properties = properties_of_cell(cell) });
	}
}
