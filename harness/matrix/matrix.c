/* SPDX-License-Identifier: MIT */
#include "matrix.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cell.h"

/* ---- Rows and columns --------------------------------------------------------- */

static size_t count_cells(const struct rr_matrix *matrix)
{
	return matrix->n_strategies * RR_HAZARDS;
}

struct rr_cell *rr_matrix_cell(const struct rr_matrix *matrix, size_t row, int hazard)
{
	return &matrix->cells[row * RR_HAZARDS + (size_t)hazard];
}

int rr_matrix_column(const struct rr_matrix *matrix, int hazard)
{
	do
		hazard++;
	while (hazard < RR_HAZARDS && !(matrix->hazards >> hazard & 1));
	return hazard;
}

struct rr_cell *rr_matrix_next(const struct rr_matrix *matrix, const struct rr_cell *cell)
{
	size_t i = cell ? (size_t)(cell - matrix->cells) + 1 : 0;

	while (i < count_cells(matrix) && !(matrix->hazards >> matrix->cells[i].hazard & 1))
		i++;
	return i < count_cells(matrix) ? &matrix->cells[i] : NULL;
}

void rr_matrix_init(struct rr_matrix *matrix, const struct rr_strategy *const *strategies,
		    size_t n_strategies, unsigned hazards, unsigned long most)
{
	*matrix = (struct rr_matrix){ .n_strategies = n_strategies,
				      .hazards = hazards,
				      .most = most };
	matrix->cells = rr_calloc(count_cells(matrix), sizeof(*matrix->cells));
	for (size_t i = 0; i < count_cells(matrix); i++) {
		struct rr_cell *cell = &matrix->cells[i];

		cell->strategy = strategies[i / RR_HAZARDS];
		cell->hazard = (enum rr_hazard)(i % RR_HAZARDS);
		cell->bounds = rr_bounds_of(cell->strategy, cell->hazard);
		if (most && (!cell->bounds.most || most < cell->bounds.most))
			cell->bounds.most = most;
	}
}

void rr_matrix_release(struct rr_matrix *matrix)
{
	for (size_t i = 0; i < count_cells(matrix); i++) {
		free(matrix->cells[i].transcript);
		free(matrix->cells[i].drawing);
	}
	free(matrix->cells);
}

/* ---- The sum ---------------------------------------------------------------------- */

/* How many of the cells asked for are so; skipped ones and those without
 * meaning have no standing. */
struct sum {
	size_t standing[RR_CELL_UNDECIDED + 1];
	size_t verdicts[RR_CELL_FAILED + 1];
	unsigned long states;
	enum rr_exit failure; /* the worst reason why one was not computed */
};

static struct sum add_up(const struct rr_matrix *matrix)
{
	const struct rr_cell *cell = NULL;
	struct sum sum = { .failure = RR_EXIT_OK };

	while ((cell = rr_matrix_next(matrix, cell))) {
		sum.verdicts[cell->verdict]++;
		sum.states += cell->result.states;
		if (cell->verdict == RR_CELL_FAILED)
			sum.failure = rr_exit_worse(sum.failure, cell->code);
		if (cell->verdict != RR_CELL_NONE && cell->verdict != RR_CELL_SKIPPED &&
		    cell->verdict != RR_CELL_ELSEWHERE && cell->verdict != RR_CELL_UNDONE)
			sum.standing[rr_cell_standing(cell)]++;
	}
	return sum;
}

enum rr_exit rr_matrix_exit(const struct rr_matrix *matrix)
{
	const struct sum sum = add_up(matrix);
	enum rr_exit code = RR_EXIT_OK;

	if (sum.standing[RR_CELL_DIFFERS])
		code = RR_EXIT_VIOLATED;
	else if (sum.standing[RR_CELL_UNDECIDED])
		code = RR_EXIT_INCONCLUSIVE;
	else if (!sum.standing[RR_CELL_AS_EXPECTED] && sum.verdicts[RR_CELL_SKIPPED])
		code = RR_EXIT_SKIPPED;
	return rr_exit_worse(code, sum.failure);
}

const struct rr_cell *rr_matrix_failed(const struct rr_matrix *matrix, size_t *n)
{
	const struct rr_cell *cell = NULL, *first = NULL;

	*n = 0;
	while ((cell = rr_matrix_next(matrix, cell))) {
		if (cell->verdict != RR_CELL_FAILED)
			continue;
		if (!first)
			first = cell;
		++*n;
	}
	return first;
}

bool rr_matrix_is_whole(const struct rr_matrix *matrix, const char **why)
{
	const struct sum sum = add_up(matrix);

	*why = NULL;
	if (matrix->n_strategies < rr_n_strategies)
		*why = "some of the strategies";
	else if (matrix->hazards != RR_ALL_HAZARDS)
		*why = "some of the hazards";
	else if (matrix->most)
		*why = "some of the states";
	else if (sum.verdicts[RR_CELL_UNDONE] + sum.verdicts[RR_CELL_FAILED] +
		 sum.verdicts[RR_CELL_ELSEWHERE])
		*why = "some of the cells";
	return !*why;
}

void rr_matrix_summarise(const struct rr_matrix *matrix, FILE *file)
{
	const struct sum sum = add_up(matrix);
	const size_t good = sum.standing[RR_CELL_AS_EXPECTED];
	const size_t bad = sum.standing[RR_CELL_DIFFERS];
	const size_t open = sum.standing[RR_CELL_UNDECIDED];
	char number[RR_GROUPED_SIZE];

	fprintf(file, "%zu cells: %zu as expected, %zu %s, %zu undecided", good + bad + open, good,
		bad, bad == 1 ? "differs" : "differ", open);
	if (sum.verdicts[RR_CELL_SKIPPED])
		fprintf(file, ", %zu skipped", sum.verdicts[RR_CELL_SKIPPED]);
	if (sum.verdicts[RR_CELL_ELSEWHERE])
		fprintf(file, ", %zu in other shards", sum.verdicts[RR_CELL_ELSEWHERE]);
	if (sum.verdicts[RR_CELL_UNDONE])
		fprintf(file, ", %zu not done", sum.verdicts[RR_CELL_UNDONE]);
	fprintf(file, "; %s states, %.1f s", rr_grouped(number, (long long)sum.states),
		matrix->seconds);
}
