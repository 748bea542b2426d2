/* SPDX-License-Identifier: MIT */
#include "cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "canary.h"
#include "conclude.h"
#include "draw.h"
#include "hazards.h"
#include "player.h"

enum { WIDTH = 100 };

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- The transcript ------------------------------------------------------- */

/* With a first line that says which cell it belongs to; malloc'd. */
static char *with_title(const struct rr_cell *cell, const char *transcript)
{
	const size_t size = strlen(transcript) + 300;
	const char *rest = strchr(transcript, '\n');
	char breaks[120];
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "title   %s, %s: %s%s",
			 cell->strategy->name,
			 rr_hazard_texts[cell->hazard].title,
			 rr_breaks_text(cell->breaks, breaks, sizeof(breaks)),
			 rest ? rest : "\n");
	return text;
}

static void draw(struct rr_cell *cell, const struct rr_trace *trace)
{
	const struct rr_style style = { .width = WIDTH };
	size_t size;
	FILE *file = open_memstream(&cell->drawing, &size);

	if (!file)
		return;
	rr_draw(file, trace, RR_FORMAT_TEXT, &style);
	fclose(file);
}

/* Plays what will be saved once more, as a reader would, and draws it. */
static void replay(struct rr_cell *cell, struct rr_world *world)
{
	struct rr_trace trace = { 0 };
	struct rr_race *race = rr_race_parse("transcript", cell->transcript,
					     strlen(cell->transcript),
					     cell->problem,
					     sizeof(cell->problem));

	if (!race)
		return;
	if (rr_player_play(race, world, NULL, &trace) != RR_EXIT_OK)
		snprintf(cell->problem, sizeof(cell->problem),
			 "the transcript does not replay: %s", trace.error);
	else if (!trace.as_written)
		snprintf(cell->problem, sizeof(cell->problem),
			 "the transcript plays differently the second time");
	else if (!trace.findings)
		snprintf(cell->problem, sizeof(cell->problem),
			 "the transcript shows nothing that is broken");
	rr_trace_verdict(&trace, cell->verdict_text,
			 sizeof(cell->verdict_text));
	draw(cell, &trace);
	rr_trace_free(&trace);
	rr_race_free(race);
}

static void conclude(struct rr_cell *cell, struct rr_world *world,
		     const char *transcript)
{
	char *titled = with_title(cell, transcript);
	char error[400] = "out of memory";

	if (titled)
		cell->transcript = rr_conclude(titled, world, error,
					       sizeof(error));
	free(titled);
	if (cell->transcript)
		replay(cell, world);
	else
		snprintf(cell->problem, sizeof(cell->problem),
			 "the transcript does not replay: %s", error);
}

/* ---- The verdict ---------------------------------------------------------- */

static void note(struct rr_cell *cell, const struct rr_explore_result *result)
{
	cell->schedules = result->schedules;
	cell->failing = result->failing;
	cell->breaks = result->breaks & ((1U << RR_INVARIANTS) - 1);
	memcpy(cell->broken, result->broken, sizeof(cell->broken));
}

/* No schedule failed. */
static enum rr_exit judge_unbroken(struct rr_cell *cell,
				   struct rr_world *world,
				   enum rr_explored explored)
{
	enum rr_exit code;
	char error[RR_WORLD_ERROR] = "";

	if (explored == RR_EXPLORED_MOST) {
		cell->verdict = RR_CELL_MOST;
		return RR_EXIT_OK;
	}
	cell->canary = rr_canary_seek(world, &cell->bounds, &code, error);
	if (code != RR_EXIT_OK) {
		snprintf(cell->problem, sizeof(cell->problem), "%s", error);
		return code;
	}
	cell->verdict = explored == RR_EXPLORED_ROUNDS ? RR_CELL_ROUNDS :
			cell->canary		       ? RR_CELL_SAFE :
							 RR_CELL_NO_CANARY;
	return RR_EXIT_OK;
}

static enum rr_exit judge(struct rr_cell *cell, struct rr_world *world,
			  const struct rr_explore_result *result)
{
	if (result->explored == RR_EXPLORED_STOPPED)
		return RR_EXIT_INTERRUPTED;
	note(cell, result);
	if (!result->failing)
		return judge_unbroken(cell, world, result->explored);
	cell->verdict = RR_CELL_BREAKS;
	cell->was_cut = result->explored != RR_EXPLORED_ALL;
	if (result->transcript)
		conclude(cell, world, result->transcript);
	return RR_EXIT_OK;
}

static bool was_interrupted(const struct rr_world *world)
{
	return world->session->signals.interrupted;
}

static enum rr_exit search(struct rr_cell *cell, struct rr_world *world)
{
	struct rr_explore_result result;
	enum rr_exit code = rr_explore(world, &cell->bounds, &result);

	if (code == RR_EXIT_OK)
		code = judge(cell, world, &result);
	else
		snprintf(cell->problem, sizeof(cell->problem), "%s",
			 result.error);
	rr_explore_release(&result);
	if (was_interrupted(world)) {
		cell->verdict = RR_CELL_UNDONE;
		return RR_EXIT_INTERRUPTED;
	}
	if (code != RR_EXIT_OK)
		cell->verdict = code == RR_EXIT_SKIPPED ? RR_CELL_SKIPPED :
							  RR_CELL_FAILED;
	return code;
}

enum rr_exit rr_cell_run(struct rr_cell *cell, struct rr_world *world)
{
	cell->seconds = seconds();
	cell->code = search(cell, world);
	cell->seconds = seconds() - cell->seconds;
	return cell->code;
}
