/* SPDX-License-Identifier: MIT */
#include "cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "draw/draw.h"

enum { ID_SIZE = 96, COMMAND_SIZE = 200 };

/* ---- The transcript ------------------------------------------------------- */

static void keep_finding(struct rr_cell *cell)
{
	struct rr_played *played = &cell->result.findings[0].played;

	/* Says which cell it belongs to. */
	struct rr_race *race = played->race;
	char breaks[120];
	char *title = rr_asprintf("%s, %s: %s", cell->strategy->name,
				  rr_hazard_texts[cell->hazard].title,
				  rr_breaks_text(cell->result.breaks, breaks, sizeof(breaks)));

	race->title = rr_race_keep(race, title, strlen(title));
	free(title);
	cell->transcript = rr_race_text(played->race);

	/* For the page. */
	const struct rr_trace *trace = &played->trace;
	const struct rr_cell_words words = rr_cell_words(cell);
	char id[ID_SIZE], command[COMMAND_SIZE];
	const struct rr_article article = {
		.id = id,
		.command = command,
		.is_part = true,
	};
	FILE *file = rr_open_text(&cell->drawing);

	snprintf(id, sizeof(id), "race-%s-%s", cell->strategy->name,
		 rr_hazard_texts[cell->hazard].name);
	snprintf(command, sizeof(command), "redrace matrix --save DIR && redrace play DIR/%s",
		 words.file);
	rr_draw_article(file, trace, &article);
	fclose(file);
	rr_race_verdict(played->race, cell->verdict_text, sizeof(cell->verdict_text));
}

/* ---- The verdict ---------------------------------------------------------- */

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

static void judge_cell(struct rr_cell *cell)
{
	const struct rr_explore_result *result = &cell->result;

	if (!result->breaks) {
		cell->verdict = verdict_unbroken(result);
		return;
	}
	cell->verdict = RR_CELL_BREAKS;
	cell->was_cut = result->explored != RR_EXPLORED_ALL;
	if (result->findings[0].played.trace.as_written)
		keep_finding(cell);
}

enum rr_exit rr_cell_run(struct rr_cell *cell, struct rr_cluster *cluster)
{
	const bool good = rr_explore(cluster, &cell->bounds, &cell->result);

	cell->code = rr_exit_of(cell->result.error.kind);
	if (good && cell->result.explored != RR_EXPLORED_STOPPED)
		judge_cell(cell);

	const struct rr_ends *ends = &cell->result.final_ends;
	uint64_t *digests = rr_calloc(ends->n + 1, sizeof(*digests));

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
