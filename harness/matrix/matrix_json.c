/* SPDX-License-Identifier: MIT */
/* The matrix for other programs. */
#include <jansson.h>

#include "bounds.h"
#include "hazards.h"
#include "explore/explore.h"
#include "matrix.h"

enum { SCHEMA = 2 };

static json_t *list_of(unsigned breaks)
{
	json_t *list = json_array();

	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (breaks >> i & 1)
			json_array_append_new(
				list, json_string(rr_invariant_name(i)));
	}
	return list;
}

/* How many moves and states break each. */
static json_t *broken_of(const struct rr_cell *cell)
{
	json_t *object = json_object();

	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (cell->broken[i])
			json_object_set_new(
				object, rr_invariant_name(i),
				json_integer((json_int_t)cell->broken[i]));
	}
	return object;
}

static json_t *text_of(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

/* Of interleavings, which are not always counted. */
static json_t *counted(const struct rr_cell *cell, uint64_t n)
{
	return cell->interleavings ? json_integer((json_int_t)n) : json_null();
}

static json_t *cell_of(const struct rr_cell *cell)
{
	static const char *const verdicts[] = {
		[RR_CELL_UNDONE] = "undone",
		[RR_CELL_NONE] = "not applicable",
		[RR_CELL_BREAKS] = "breaks",
		[RR_CELL_SAFE] = "safe",
		[RR_CELL_ROUNDS] = "no failure found: rounds",
		[RR_CELL_MOST] = "no failure found: limit",
		[RR_CELL_RANDOM] = "no failure found: random replies",
		[RR_CELL_NO_MUTANT] = "no failure found: no mutant",
		[RR_CELL_SKIPPED] = "skipped",
		[RR_CELL_FAILED] = "failed",
	};
	static const char *const standings[] = { "as expected", "differs",
						 "undecided" };
	const unsigned expected = cell->strategy->breaks[cell->hazard];
	char bounds[160], file[100] = "";

	if (cell->transcript)
		rr_cell_file(cell, file, sizeof(file));
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:s, s:i, s:I, s:o, s:o, s:o, s:f}",
		"strategy", cell->strategy->name, "hazard",
		rr_hazard_texts[cell->hazard].name, "verdict",
		verdicts[cell->verdict], "standing",
		standings[rr_cell_standing(cell)], "breaks",
		list_of(cell->breaks), "expected", list_of(expected),
		"expected_loops", !!(expected & RR_LOOPS), "cut",
		(int)cell->was_cut, "states", (json_int_t)cell->states,
		"transitions", (json_int_t)cell->transitions, "interleavings",
		counted(cell, cell->interleavings), "failing_interleavings",
		counted(cell, cell->failing), "breaking", broken_of(cell),
		"mutant", text_of(cell->mutant), "bounds",
		rr_bounds_text(&cell->bounds, bounds, sizeof(bounds)),
		"rounds", cell->bounds.rounds, "most",
		(json_int_t)cell->bounds.most, "transcript", text_of(file),
		"transcript_verdict", text_of(cell->verdict_text), "problem",
		text_of(cell->problem), "seconds", cell->seconds);
}

static json_t *hazard_of(int hazard)
{
	const struct rr_explore_config bounds =
		rr_bounds_of(NULL, (enum rr_hazard)hazard);
	char text[160];

	return json_pack("{s:s, s:s, s:s}", "name",
			 rr_hazard_texts[hazard].name, "meaning",
			 rr_hazard_texts[hazard].meaning, "bounds",
			 rr_bounds_text(&bounds, text, sizeof(text)));
}

void rr_matrix_json(const struct rr_matrix *matrix, FILE *file)
{
	json_t *hazards = json_array(), *cells = json_array();
	json_t *root;

	for (int i = 0; i < RR_HAZARDS; i++) {
		if (rr_matrix_has(matrix, i))
			json_array_append_new(hazards, hazard_of(i));
	}
	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++) {
		if (rr_matrix_has(matrix, matrix->cells[i].hazard))
			json_array_append_new(cells,
					      cell_of(&matrix->cells[i]));
	}
	root = json_pack("{s:i, s:s, s:f, s:o, s:o}", "schema", SCHEMA,
			 "redis_version", matrix->version, "seconds",
			 matrix->seconds, "hazards", hazards, "cells", cells);
	json_dumpf(root, file, JSON_INDENT(2));
	fputc('\n', file);
	json_decref(root);
}
