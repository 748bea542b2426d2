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
			   rr_breaks_text(cell->breaks, breaks, sizeof(breaks)),
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
	size_t size;
	FILE *file = rr_open_memory(&cell->drawing, &size);
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
static enum rr_exit conclude_cell(struct rr_cell *cell, struct rr_cluster *cluster,
				  const struct rr_explore_result *result)
{
	static const char heading[] = "\nverdict ";
	struct rr_error error = { 0 };
	const char *verdict;
	char *titled = result->transcript ? with_title(cell, result->transcript) : NULL;

	cell->transcript = rr_conclude(titled, result->shortest_breaks, cluster, &error);
	free(titled);
	if (cell->transcript && draw_transcript(cell, cluster, &error)) {
		verdict = strstr(cell->transcript, heading) + strlen(heading);
		snprintf(cell->verdict_text, sizeof(cell->verdict_text), "%.*s",
			 (int)strcspn(verdict, "\n"), verdict);
		return RR_EXIT_OK;
	}
	snprintf(cell->problem, sizeof(cell->problem), "%s%.500s",
		 cell->transcript ? "" : "the finding does not show when it is played: ",
		 error.text);
	free(cell->transcript);
	free(cell->drawing);
	cell->transcript = cell->drawing = NULL;
	cell->was_cut = false;
	return RR_EXIT_INTERNAL;
}

/* ---- The verdict ---------------------------------------------------------- */

static void note_result(struct rr_cell *cell, const struct rr_explore_result *result)
{
	cell->states = result->states;
	cell->transitions = result->transitions;
	cell->breaks = result->breaks & ((1U << RR_INVARIANTS) - 1);
	memcpy(cell->broken, result->broken, sizeof(cell->broken));
	if (result->explored == RR_EXPLORED_ALL && result->interleavings <= INT64_MAX) {
		cell->interleavings = result->interleavings;
		cell->failing = result->failing_interleavings;
	}
	if (result->noticed)
		snprintf(cell->mutant, sizeof(cell->mutant), "%s", result->noticed);
}

/* Of a cell in which nothing failed. */
static enum rr_cell_verdict verdict_unbroken(const struct rr_explore_result *result)
{
	switch (result->explored) {
	case RR_EXPLORED_ALL:
		return result->noticed ? RR_CELL_SAFE : RR_CELL_NO_MUTANT;
	case RR_EXPLORED_ROUNDS:
		return RR_CELL_ROUNDS;
	case RR_EXPLORED_RANDOM_REPLIES:
		return RR_CELL_RANDOM;
	default:
		return RR_CELL_MOST;
	}
}

static enum rr_exit judge_search(struct rr_cell *cell, struct rr_cluster *cluster,
				 const struct rr_explore_result *result)
{
	if (result->explored == RR_EXPLORED_STOPPED)
		return RR_EXIT_INTERRUPTED;
	note_result(cell, result);
	cell->verdict = result->breaks ? RR_CELL_BREAKS : verdict_unbroken(result);
	cell->was_cut = result->breaks && result->explored != RR_EXPLORED_ALL;
	return result->breaks ? conclude_cell(cell, cluster, result) : RR_EXIT_OK;
}

static enum rr_exit search_cell(struct rr_cell *cell, struct rr_cluster *cluster)
{
	struct rr_explore_result result;
	enum rr_exit code = RR_EXIT_OK;

	if (rr_explore(cluster, &cell->bounds, &result))
		code = judge_search(cell, cluster, &result);
	else
		code = rr_exit_of(result.error.kind);
	if (result.error.kind)
		snprintf(cell->problem, sizeof(cell->problem), "%.600s", result.error.text);
	rr_explore_release(&result);
	if (cluster->session->signals.interrupted) {
		cell->verdict = RR_CELL_UNDONE;
		return RR_EXIT_INTERRUPTED;
	}
	if (code != RR_EXIT_OK)
		cell->verdict = code == RR_EXIT_SKIPPED ? RR_CELL_SKIPPED : RR_CELL_FAILED;
	return code;
}

enum rr_exit rr_cell_run(struct rr_cell *cell, struct rr_cluster *cluster)
{
	cell->seconds = rr_clock_s();
	cell->code = search_cell(cell, cluster);
	cell->seconds = rr_clock_s() - cell->seconds;
	return cell->code;
}
