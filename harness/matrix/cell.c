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

/* With a first line that says which cell it belongs to; malloc'd. */
static char *with_title(const struct rr_cell *cell, const char *transcript)
{
	const char *rest = strchr(transcript, '\n');
	char breaks[120];

	return rr_asprintf("title   %s, %s: %s%s", cell->strategy->name,
			   rr_hazard_texts[cell->hazard].title,
			   rr_breaks_text(cell->result.breaks, breaks, sizeof(breaks)),
			   rest ? rest : "\n");
}

/* Plays what will be saved once more, as a reader would, and draws it for the page. */
static bool draw_transcript(struct rr_cell *cell, struct rr_cluster *cluster,
			    struct rr_error *error)
{
	const struct rr_cell_words words = rr_cell_words(cell);
	char id[ID_SIZE], command[COMMAND_SIZE];
	const struct rr_article article = {
		.id = id,
		.command = command,
		.is_part = true,
	};
	const struct rr_style style = { .article = &article };
	FILE *file = rr_open_text(&cell->drawing);
	bool good;

	snprintf(id, sizeof(id), "race-%s-%s", cell->strategy->name,
		 rr_hazard_texts[cell->hazard].name);
	snprintf(command, sizeof(command), "redrace matrix --save DIR && redrace play DIR/%s",
		 words.file);
	good = rr_conclude_draw(file, cell->transcript, cluster, RR_FORMAT_HTML, &style, error);
	fclose(file);
	return good;
}

/* What does not show when it is played is no finding. */
static enum rr_exit conclude_cell(struct rr_cell *cell, struct rr_cluster *cluster)
{
	static const char heading[] = "\nverdict ";
	struct rr_error error = { 0 };
	const char *verdict;
	char *titled = cell->result.transcript ? with_title(cell, cell->result.transcript) : NULL;

	cell->transcript = rr_conclude(titled, cell->result.shortest_breaks, NULL, cluster, &error);
	free(titled);
	if (cell->transcript && draw_transcript(cell, cluster, &error)) {
		verdict = strstr(cell->transcript, heading) + strlen(heading);
		snprintf(cell->verdict_text, sizeof(cell->verdict_text), "%.*s",
			 (int)strcspn(verdict, "\n"), verdict);
		return RR_EXIT_OK;
	}
	rr_error_set(&cell->result.error, RR_ERROR_INTERNAL, "%s%.500s",
		     cell->transcript ? "" : "the finding does not show when it is played: ",
		     error.text);
	free(cell->transcript);
	free(cell->drawing);
	cell->transcript = cell->drawing = NULL;
	cell->was_cut = false;
	return RR_EXIT_INTERNAL;
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

static enum rr_exit judge_cell(struct rr_cell *cell, struct rr_cluster *cluster)
{
	const struct rr_explore_result *result = &cell->result;

	if (!result->breaks) {
		cell->verdict = verdict_unbroken(result);
		return RR_EXIT_OK;
	}
	cell->verdict = RR_CELL_BREAKS;
	cell->was_cut = result->explored != RR_EXPLORED_ALL;
	return conclude_cell(cell, cluster);
}

enum rr_exit rr_cell_run(struct rr_cell *cell, struct rr_cluster *cluster)
{
	const bool good = rr_explore(cluster, &cell->bounds, &cell->result);

	cell->code = rr_exit_of(cell->result.error.kind);
	if (good && cell->result.explored != RR_EXPLORED_STOPPED)
		cell->code = judge_cell(cell, cluster);
	rr_explore_release(&cell->result);
	if (cluster->session->signals.interrupted) {
		cell->verdict = RR_CELL_UNDONE;
		cell->code = RR_EXIT_INTERRUPTED;
	} else if (cell->code != RR_EXIT_OK) {
		cell->verdict = cell->code == RR_EXIT_SKIPPED ? RR_CELL_SKIPPED : RR_CELL_FAILED;
	}
	return cell->code;
}
