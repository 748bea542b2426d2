/* SPDX-License-Identifier: MIT */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bounds.h"
#include "hazards.h"
#include "text.h"

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

bool rr_matrix_init(struct rr_matrix *matrix,
		    const struct rr_strategy *const *strategies,
		    size_t n_strategies, unsigned hazards, unsigned long most)
{
	*matrix = (struct rr_matrix){
		.n_strategies = n_strategies,
		.strategies = strategies,
		.hazards = hazards,
		.cells = calloc(n_strategies * RR_HAZARDS,
				sizeof(struct rr_cell)),
	};
	for (size_t i = 0; matrix->cells && i < n_strategies; i++) {
		for (int k = 0; k < RR_HAZARDS; k++)
			init_cell(rr_matrix_cell(matrix, i, k), strategies[i],
				  (enum rr_hazard)k, most);
	}
	return matrix->cells != NULL;
}

void rr_matrix_release(struct rr_matrix *matrix)
{
	for (size_t i = 0;
	     matrix->cells && i < matrix->n_strategies * RR_HAZARDS; i++)
		rr_cell_release(&matrix->cells[i]);
	free(matrix->cells);
	matrix->cells = NULL;
}

/* ---- Progress ------------------------------------------------------------- */

struct progress {
	const struct rr_matrix *matrix;
	struct rr_signals *signals;
	const struct rr_cell *cell;
	size_t index, total; /* of the cell, from 1 */
	double begun;
	bool visible;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void draw_progress(const struct progress *progress,
			  unsigned long schedules)
{
	const double elapsed = seconds() - progress->begun;
	const double done = (double)(progress->index - 1);
	char number[RR_GROUPED_SIZE];

	fprintf(stderr, "\r\033[K%zu of %zu  %s, %s  %s schedules  %.0f s",
		progress->index, progress->total,
		progress->cell->strategy->name,
		rr_hazard_texts[progress->cell->hazard].title,
		rr_grouped(number, (long long)schedules), elapsed);
	if (done > 0)
		fprintf(stderr, "  about %.0f s left",
			elapsed / done * ((double)progress->total - done));
	fflush(stderr);
}

/* Told by a search now and then. */
static bool watch(void *context, unsigned long schedules)
{
	const struct progress *progress = context;

	if (progress->visible)
		draw_progress(progress, schedules);
	rr_signals_wait(progress->signals, 0);
	return !progress->signals->interrupted;
}

/* ---- Running -------------------------------------------------------------- */

static bool is_to_do(const struct rr_matrix *matrix,
		     const struct rr_cell *cell)
{
	return rr_matrix_has(matrix, cell->hazard) &&
	       rr_bounds_apply(cell->strategy, cell->hazard);
}

static size_t count_to_do(struct rr_matrix *matrix)
{
	size_t n = 0;

	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++) {
		struct rr_cell *cell = &matrix->cells[i];

		n += is_to_do(matrix, cell);
		if (rr_matrix_has(matrix, cell->hazard) &&
		    !rr_bounds_apply(cell->strategy, cell->hazard))
			cell->verdict = RR_CELL_NONE;
	}
	return n;
}

static enum rr_exit run_cells(struct rr_matrix *matrix, struct rr_world *world,
			      struct progress *progress)
{
	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++) {
		struct rr_cell *cell = &matrix->cells[i];

		if (!is_to_do(matrix, cell))
			continue;
		progress->cell = cell;
		progress->index++;
		cell->bounds.progress = watch;
		cell->bounds.context = progress;
		if (!watch(progress, 0) ||
		    rr_cell_run(cell, world) == RR_EXIT_INTERRUPTED)
			return RR_EXIT_INTERRUPTED;
	}
	return RR_EXIT_OK;
}

static void note_version(struct rr_matrix *matrix,
			 const struct rr_world *world)
{
	static const char field[] = "redis_version:";
	struct rl_reply reply;
	const char *found;

	if (world->n_pool == 0 ||
	    rl_run(world->pool[0].admin, &reply, "INFO server") != RL_OK)
		return;
	found = reply.text ? strstr(reply.text, field) : NULL;
	if (found)
		snprintf(matrix->version, sizeof(matrix->version), "%.*s",
			 (int)strcspn(found + strlen(field), "\r\n"),
			 found + strlen(field));
}

enum rr_exit rr_matrix_run(struct rr_matrix *matrix, struct rr_world *world)
{
	struct progress progress = {
		.matrix = matrix,
		.signals = &world->session->signals,
		.total = count_to_do(matrix),
		.begun = seconds(),
		.visible = isatty(STDERR_FILENO) == 1,
	};
	enum rr_exit code;

	note_version(matrix, world);
	code = run_cells(matrix, world, &progress);
	matrix->seconds = seconds() - progress.begun;
	if (progress.visible)
		fputs("\r\033[K", stderr);
	return code == RR_EXIT_OK ? rr_matrix_exit(matrix) : code;
}

/* ---- The sum -------------------------------------------------------------- */

static bool counts(const struct rr_matrix *matrix, const struct rr_cell *cell)
{
	return rr_matrix_has(matrix, cell->hazard) &&
	       cell->verdict != RR_CELL_NONE &&
	       cell->verdict != RR_CELL_SKIPPED;
}

size_t rr_matrix_count(const struct rr_matrix *matrix,
		       enum rr_cell_standing standing)
{
	size_t n = 0;

	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++)
		n += counts(matrix, &matrix->cells[i]) &&
		     rr_cell_standing(&matrix->cells[i]) == standing;
	return n;
}

static size_t count_verdict(const struct rr_matrix *matrix,
			    enum rr_cell_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++)
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
	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++) {
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
	unsigned long schedules = 0;
	char number[RR_GROUPED_SIZE], left_out[40] = "";

	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++)
		schedules += matrix->cells[i].schedules;
	if (skipped)
		snprintf(left_out, sizeof(left_out), ", %zu skipped", skipped);
	snprintf(text, size,
		 "%zu cells: %zu as expected, %zu %s, %zu undecided%s; %s schedules, %.1f s",
		 good + bad + open, good, bad, bad == 1 ? "differs" : "differ",
		 open, left_out, rr_grouped(number, (long long)schedules),
		 matrix->seconds);
}
