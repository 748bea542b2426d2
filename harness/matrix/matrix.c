/* SPDX-License-Identifier: MIT */
#include "matrix.h"

#include <sys/mman.h>

#include "bounds.h"
#include "matrix_inside.h"
#include "base/text.h"

/* ---- Cells ---------------------------------------------------------------- */

bool rr_matrix_has(const struct rr_matrix *matrix, int hazard)
{
	return matrix->hazards >> hazard & 1;
}

struct rr_cell *rr_matrix_cell(const struct rr_matrix *matrix, size_t row,
			       int hazard)
{
	return &matrix->cells[row * RR_HAZARDS + (size_t)hazard];
}

static void init_cell(struct rr_cell *cell, const struct rr_strategy *strategy,
		      enum rr_hazard hazard, unsigned long most)
{
	cell->strategy = strategy;
	cell->hazard = hazard;
	cell->bounds = rr_bounds_of(strategy, hazard);
	if (most && (!cell->bounds.most || most < cell->bounds.most))
		cell->bounds.most = most;
}

/* Memory that forks share, all zero. */
static void *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static size_t n_cells(const struct rr_matrix *matrix)
{
	return matrix->n_strategies * RR_HAZARDS;
}

bool rr_matrix_init(struct rr_matrix *matrix,
		    const struct rr_strategy *const *strategies,
		    size_t n_strategies, unsigned hazards, unsigned long most)
{
	*matrix = (struct rr_matrix){ .n_strategies = n_strategies,
				      .strategies = strategies,
				      .hazards = hazards };
	matrix->cells = map(n_cells(matrix) * sizeof(struct rr_cell));
	matrix->shared = map(sizeof(struct rr_matrix_shared));
	if (matrix->shared)
		matrix->shared->orders = map(n_cells(matrix) * sizeof(size_t));
	if (!matrix->cells || !matrix->shared || !matrix->shared->orders) {
		rr_matrix_release(matrix);
		return false;
	}
	for (size_t i = 0; i < n_strategies; i++) {
		for (int k = 0; k < RR_HAZARDS; k++)
			init_cell(rr_matrix_cell(matrix, i, k), strategies[i],
				  (enum rr_hazard)k, most);
	}
	return true;
}

void rr_matrix_release(struct rr_matrix *matrix)
{
	if (matrix->shared && matrix->shared->orders)
		munmap(matrix->shared->orders,
		       n_cells(matrix) * sizeof(size_t));
	if (matrix->shared)
		munmap(matrix->shared, sizeof(*matrix->shared));
	if (matrix->cells)
		munmap(matrix->cells, n_cells(matrix) * sizeof(struct rr_cell));
	matrix->shared = NULL;
	matrix->cells = NULL;
}

/* ---- The sum -------------------------------------------------------------- */

static bool counts(const struct rr_matrix *matrix, const struct rr_cell *cell)
{
	return rr_matrix_has(matrix, cell->hazard) &&
	       cell->verdict != RR_CELL_NONE &&
	       cell->verdict != RR_CELL_SKIPPED &&
	       cell->verdict != RR_CELL_UNDONE;
}

size_t rr_matrix_count(const struct rr_matrix *matrix,
		       enum rr_cell_standing standing)
{
	size_t n = 0;

	for (size_t i = 0; i < n_cells(matrix); i++)
		n += counts(matrix, &matrix->cells[i]) &&
		     rr_cell_standing(&matrix->cells[i]) == standing;
	return n;
}

static size_t count_verdict(const struct rr_matrix *matrix,
			    enum rr_cell_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < n_cells(matrix); i++)
		n += rr_matrix_has(matrix, matrix->cells[i].hazard) &&
		     matrix->cells[i].verdict == verdict;
	return n;
}

enum rr_exit rr_matrix_exit(const struct rr_matrix *matrix)
{
	const size_t good = rr_matrix_count(matrix, RR_CELL_AS_EXPECTED);
	enum rr_exit code = RR_EXIT_OK;

	if (rr_matrix_count(matrix, RR_CELL_DIFFERS))
		code = RR_EXIT_VIOLATED;
	else if (rr_matrix_count(matrix, RR_CELL_UNDECIDED))
		code = RR_EXIT_INCONCLUSIVE;
	else if (good == 0 && count_verdict(matrix, RR_CELL_SKIPPED))
		code = RR_EXIT_SKIPPED;
	for (size_t i = 0; i < n_cells(matrix); i++) {
		if (matrix->cells[i].verdict == RR_CELL_FAILED)
			code = rr_exit_worse(code, matrix->cells[i].code);
	}
	return code;
}

void rr_matrix_summarise(const struct rr_matrix *matrix, char *text,
			 size_t size)
{
	const size_t good = rr_matrix_count(matrix, RR_CELL_AS_EXPECTED);
	const size_t bad = rr_matrix_count(matrix, RR_CELL_DIFFERS);
	const size_t open = rr_matrix_count(matrix, RR_CELL_UNDECIDED);
	const size_t skipped = count_verdict(matrix, RR_CELL_SKIPPED);
	const size_t undone = count_verdict(matrix, RR_CELL_UNDONE);
	unsigned long states = 0;
	char number[RR_GROUPED_SIZE], left_out[40] = "", missing[40] = "";

	for (size_t i = 0; i < n_cells(matrix); i++)
		states += matrix->cells[i].states;
	if (skipped)
		snprintf(left_out, sizeof(left_out), ", %zu skipped", skipped);
	if (undone)
		snprintf(missing, sizeof(missing), ", %zu not done", undone);
	snprintf(text, size,
		 "%zu cells: %zu as expected, %zu %s, %zu undecided%s%s; %s states, %.1f s",
		 good + bad + open, good, bad, bad == 1 ? "differs" : "differ",
		 open, left_out, missing,
		 rr_grouped(number, (long long)states), matrix->seconds);
}
