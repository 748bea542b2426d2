/* SPDX-License-Identifier: MIT */
/* A transcript's verdict: what comes of playing it. */
#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"
#include "play/player.h"
#include "strategy.h"

static char *with_verdict(const char *transcript, const char *verdict)
{
	const size_t size = strlen(transcript) + strlen(verdict) + 16;
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "%s\nverdict %s\n", transcript, verdict);
	return text;
}

/* Was every reply as it was written? */
static bool is_as_written(const struct rr_race *race,
			  const struct rr_trace *trace, char *error,
			  size_t size)
{
	const struct rr_event *last;

	if (trace->n_events == 0)
		return true;
	last = &trace->events[trace->n_events - 1];
	if (trace->n_events == race->n_steps && !last->differs)
		return true;
	snprintf(error, size, "line %d: %.80s answers %.80s", last->step->line,
		 last->command ? last->command : "",
		 last->reply ? last->reply : "nothing");
	return false;
}

/* The findings of which one is there when that is broken. */
static rr_findings shown_by(unsigned breaks)
{
	rr_findings findings = 0;

	if (breaks & RR_BREAKS_COUNT)
		findings |= 1U << RR_UPDATE_LOST | 1U << RR_COUNTED_TWICE;
	if (breaks & (RR_BREAKS_EXCLUSION | RR_BREAKS_LEASE))
		findings |= 1U << RR_EXCLUSION_BROKEN;
	return findings ? findings : (1U << RR_FINDINGS) - 1;
}

/* Does the player find what it is said to break? */
static bool is_shown(const struct rr_trace *trace, unsigned breaks,
		     char *error, size_t size)
{
	char verdict[300];

	if (trace->findings & shown_by(breaks))
		return true;
	rr_trace_verdict(trace, verdict, sizeof(verdict));
	snprintf(error, size, "played, it shows: %s", verdict);
	return false;
}

static char *play(const char *transcript, const struct rr_race *race,
		  unsigned breaks, struct rr_cluster *cluster, char *error,
		  size_t size)
{
	struct rr_trace trace = { 0 };
	char verdict[300];
	char *text = NULL;

	if (rr_player_play(race, cluster, NULL, &trace) != RR_EXIT_OK) {
		snprintf(error, size, "%s", trace.error);
	} else if (is_as_written(race, &trace, error, size) &&
		   is_shown(&trace, breaks, error, size)) {
		rr_trace_verdict(&trace, verdict, sizeof(verdict));
		text = with_verdict(transcript, verdict);
	}
	rr_trace_free(&trace);
	return text;
}

char *rr_conclude(const char *transcript, unsigned breaks,
		  struct rr_cluster *cluster, char *error, size_t size)
{
	char *draft = with_verdict(transcript, "nothing broken");
	struct rr_error why = { 0 };
	struct rr_race *race = draft ? rr_race_parse("transcript", draft,
						     strlen(draft), &why) :
				       NULL;
	char *text = NULL;

	if (race)
		text = play(transcript, race, breaks, cluster, error, size);
	else
		snprintf(error, size, "%s", draft ? why.text : "out of memory");
	rr_race_free(race);
	free(draft);
	return text;
}

bool rr_conclude_draw(FILE *out, const char *transcript,
		      struct rr_cluster *cluster, const struct rr_style *style)
{
	struct rr_error error = { 0 };
	struct rr_trace trace = { 0 };
	struct rr_race *race = rr_race_parse("transcript", transcript,
					     strlen(transcript), &error);
	const bool drawn = race &&
			   rr_player_play(race, cluster, NULL, &trace) ==
				   RR_EXIT_OK &&
			   rr_draw(out, &trace, RR_FORMAT_TEXT, style);

	rr_trace_free(&trace);
	rr_race_free(race);
	return drawn;
}
