/* SPDX-License-Identifier: MIT */
/* The cells, each searched and judged, by a pool of workers with servers of their own. */
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/pool.h"
#include "cell.h"
#include "draw/draw.h"

enum { STALL_S = 120, CASE_NAME = 120, ID_SIZE = 96, COMMAND_SIZE = 200 };

/* ---- One cell --------------------------------------------------------------------- */

/* The transcript. */
static void keep_finding(struct rr_cell *cell)
{
	struct rr_played *played = &cell->result.findings[0].played;
	struct rr_race *race = played->race;
	const struct rr_cell_words words = rr_cell_words(cell);
	char breaks[120], id[ID_SIZE], command[COMMAND_SIZE];
	const struct rr_article article = { .id = id, .command = command, .is_part = true };
	/* Says which cell it belongs to. */
	char *title = rr_asprintf("%s, %s: %s", words.strategy, words.hazard,
				  rr_breaks_text(cell->result.breaks, breaks, sizeof(breaks)));
	FILE *file;

	race->title = rr_race_keep(race, title, strlen(title));
	free(title);
	cell->transcript = rr_race_text(race);
	/* For the page. */
	file = rr_open_text(&cell->drawing);
	snprintf(id, sizeof(id), "race-%s-%s", words.strategy, rr_hazard_texts[cell->hazard].name);
	snprintf(command, sizeof(command), "redrace matrix --save DIR && redrace play DIR/%s",
		 words.file);
	rr_draw_article(file, &played->trace, &article);
	fclose(file);
	rr_race_verdict(race, cell->verdict_text, sizeof(cell->verdict_text));
}

/* Of a cell in which nothing failed. */
static enum rr_cell_verdict verdict_unbroken(const struct rr_explore_result *result)
{
	switch (result->explored) {
	case RR_EXPLORED_ALL:
		return result->noticed[0] ? RR_CELL_SAFE : RR_CELL_NO_MUTANT;
	case RR_EXPLORED_ROUNDS:
		return RR_CELL_ROUNDS;
	case RR_EXPLORED_RANDOM_REPLIES:
	case RR_EXPLORED_DRAWS:
		return RR_CELL_RANDOM;
	default:
		return RR_CELL_MOST;
	}
}

/* Searches a cell, whose strategy, hazard and bounds are there, in `cluster` (which is reset), and
 * fills in the rest. RR_EXIT_INTERRUPTED: called off. Other codes are in the cell as well, and the
 * next one can be done. */
static enum rr_exit run_cell(struct rr_cell *cell, struct rr_cluster *cluster)
{
	const bool good = rr_explore(cluster, &cell->bounds, &cell->result);
	const struct rr_explore_result *result = &cell->result;
	const struct rr_ends *ends = &result->final_ends;
	uint64_t *digests = rr_calloc(ends->n + 1, sizeof(*digests));

	cell->code = rr_exit_of(result->error.kind);
	if (good && result->explored != RR_EXPLORED_STOPPED) {
		cell->verdict = result->breaks ? RR_CELL_BREAKS : verdict_unbroken(result);
		cell->was_cut = result->breaks && result->explored != RR_EXPLORED_ALL;
		if (result->breaks && result->findings[0].played.trace.as_written)
			keep_finding(cell);
	}
	for (size_t i = 0; i < ends->n; i++)
		digests[i] = ends->all[i].data;
	cell->knows_ends = ends->is_known;
	cell->n_ends = ends->n;
	cell->ends = rr_ends_fold(digests, &cell->n_ends);
	free(digests);
	rr_explore_release(&cell->result);
	if (cluster->session->signals.interrupted) {
		cell->verdict = RR_CELL_UNDONE;
		cell->code = RR_EXIT_INTERRUPTED;
	} else if (cell->code != RR_EXIT_OK) {
		cell->verdict = cell->code == RR_EXIT_SKIPPED ? RR_CELL_SKIPPED : RR_CELL_FAILED;
	}
	return cell->code;
}

/* ---- Workers -------------------------------------------------------------------- */

/* A matrix while it is computed. */
struct computation {
	struct rr_matrix *matrix;
	const struct rr_cluster_options *servers;
	struct rr_cell **jobs; /* the longest first */
};

/* What comes back, followed by the transcript and the drawing, "" for none.
 * Pointers in it are the worker's. */
struct found {
	struct rr_cell cell;
	char version[RR_VERSION_SIZE];
};

static bool begin_worker(void *context, struct rr_pool_worker *worker, struct rr_error *error)
{
	const struct computation *computation = context;
	struct rr_cluster_options options = *computation->servers;

	options.cpu = rr_placement_nth(worker->number);
	options.is_told = worker->number > 0;
	rr_placement_settle(options.cpu);
	worker->state = rr_workplace_new(&options, error);
	return worker->state != NULL;
}

static void end_worker(void *context, struct rr_pool_worker *worker)
{
	(void)context;
	rr_workplace_free(worker->state);
}

/* Told by a search now and then. */
static bool tell_progress(void *context, unsigned long states, double share)
{
	struct rr_pool_worker *worker = context;
	struct rr_workplace *workplace = worker->state;

	(void)share;
	rr_pool_progress(worker, states);
	return rr_signals_wait(&workplace->session.signals, 0);
}

static void add_text(struct rr_pool_worker *worker, char *text)
{
	fputs(text ? text : "", worker->result);
	fputc('\0', worker->result);
	free(text);
}

static bool compute_cell(void *context, struct rr_pool_worker *worker, size_t job)
{
	const struct computation *computation = context;
	struct rr_workplace *workplace = worker->state;
	struct found found = { .cell = *computation->jobs[job] };
	struct rr_cell *cell = &found.cell;

	memcpy(found.version, workplace->version, sizeof(found.version));
	cell->bounds.progress = tell_progress;
	cell->bounds.context = worker;
	if (!tell_progress(worker, 0, 0) ||
	    run_cell(cell, &workplace->cluster) == RR_EXIT_INTERRUPTED)
		return false;
	fwrite(&found, sizeof(found), 1, worker->result);
	add_text(worker, cell->transcript);
	add_text(worker, cell->drawing);
	return true;
}

/* ---- Results ---------------------------------------------------------------------- */

/* A copy of the next text that came back; NULL = there is none. */
static char *take_text(const char **at)
{
	char *copy = **at ? rr_strdup(*at) : NULL;

	*at += strlen(*at) + 1;
	return copy;
}

static void take_cell(void *context, size_t job, const char *result, size_t size, double seconds)
{
	const struct computation *computation = context;
	struct rr_matrix *matrix = computation->matrix;
	struct rr_cell *cell = computation->jobs[job];
	const struct rr_explore_config bounds = cell->bounds;
	const char *at = result + sizeof(struct found);
	struct found found;

	(void)size;
	memcpy(&found, result, sizeof(found));
	if (found.version[0])
		memcpy(matrix->version, found.version, sizeof(matrix->version));
	*cell = found.cell;
	cell->bounds = bounds;
	cell->seconds = seconds;
	cell->transcript = take_text(&at);
	cell->drawing = take_text(&at);
}

static void lose_cell(void *context, size_t job, const char *why, double seconds)
{
	const struct computation *computation = context;
	struct rr_cell *cell = computation->jobs[job];

	cell->verdict = RR_CELL_FAILED;
	cell->code = RR_EXIT_INTERNAL;
	cell->seconds = seconds;
	rr_error_set(&cell->result.error, RR_ERROR_INTERNAL, "%s", why);
}

static void name_cell(void *context, size_t job, char text[RR_POOL_NAME])
{
	const struct computation *computation = context;
	const struct rr_cell *cell = computation->jobs[job];

	snprintf(text, RR_POOL_NAME, "%s, %s", cell->strategy->name,
		 rr_hazard_texts[cell->hazard].title);
}

/* ---- The whole -------------------------------------------------------------------- */

/* The cells that are to be computed, and how many: the longest first, so that nobody is
 * left alone with one at the end. */
static size_t order_cells(struct rr_matrix *matrix, struct rr_cell **cells)
{
	static const enum rr_hazard longest_first[RR_HAZARDS] = {
		RR_PAUSE, RR_SKEW,       RR_RESTART,   RR_SLOW_WORK,
		RR_CRASH, RR_LOST_REPLY, RR_PROCESSES, RR_THREADS,
	};
	size_t n = 0;

	for (int i = 0; i < RR_HAZARDS; i++) {
		const enum rr_hazard hazard = longest_first[i];

		for (size_t j = matrix->n_strategies; matrix->hazards >> hazard & 1 && j-- > 0;) {
			struct rr_cell *cell = rr_matrix_cell(matrix, j, hazard);

			if (hazard == RR_RESTART && !cell->strategy->lock.servers)
				cell->verdict = RR_CELL_NONE;
			else if (cell->verdict != RR_CELL_ELSEWHERE)
				cells[n++] = cell;
		}
	}
	return n;
}

/* As its case is called. */
static const char *name_of_case(const struct rr_cell *cell, char name[CASE_NAME])
{
	snprintf(name, CASE_NAME, "matrix.%s %s", cell->strategy->name,
		 rr_hazard_texts[cell->hazard].name);
	return name;
}

/* Those that take longest come first: so each shard gets some of each column. */
bool rr_matrix_deal(struct rr_matrix *matrix, struct rr_shard *shard, struct rr_error *error)
{
	struct rr_cell **cells = rr_calloc(matrix->n_strategies * RR_HAZARDS, sizeof(*cells));
	const size_t n = order_cells(matrix, cells);
	const struct rr_cell *cell = NULL;
	json_t *seconds = json_object();
	char name[CASE_NAME];
	bool good;

	while ((cell = rr_matrix_next(matrix, cell))) {
		if (cell->verdict != RR_CELL_NONE)
			json_object_set_new(seconds, name_of_case(cell, name), json_null());
	}
	for (size_t i = 0; i < n; i++)
		json_object_set_new(seconds, name_of_case(cells[i], name),
				    json_real((double)(n - i)));
	good = rr_shard_deal(shard, seconds, error);
	for (size_t i = 0; i < n; i++) {
		if (!rr_shard_owns(shard, name_of_case(cells[i], name)))
			cells[i]->verdict = RR_CELL_ELSEWHERE;
	}
	free(cells);
	return good;
}

bool rr_matrix_run(struct rr_matrix *matrix, const struct rr_cluster_options *servers,
		   int n_workers, struct rr_signals *signals, struct rr_error *error)
{
	struct computation computation = {
		.matrix = matrix,
		.servers = servers,
		.jobs = rr_calloc(matrix->n_strategies * RR_HAZARDS, sizeof(struct rr_cell *)),
	};
	struct rr_pool pool = { .n_workers = n_workers,
				.context = &computation,
				.begin = begin_worker,
				.run = compute_cell,
				.end = end_worker,
				.take = take_cell,
				.lost = lose_cell,
				.name = name_cell,
				.stall_s = STALL_S,
				.unit = "new state" };
	const double begun = rr_clock_s();
	bool good;

	pool.n_jobs = order_cells(matrix, computation.jobs);
	good = rr_pool_run(&pool, signals, error);
	matrix->seconds = rr_clock_s() - begun;
	free(computation.jobs);
	return good;
}
