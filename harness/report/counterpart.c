/* SPDX-License-Identifier: MIT */
/* What keeps what a race breaks, played to stand beside it. */
#include "play/play.h"
#include "race/race.h"
#include "report.h"

bool rr_counterpart_play(struct rr_counterpart *counterpart, const struct rr_race *race,
			 struct rr_cluster *cluster, struct rr_error *error)
{
	*counterpart = (struct rr_counterpart){ 0 };
	if (!race->safe)
		return true;
	counterpart->race = rr_library_open(race->safe, error);
	if (!counterpart->race)
		return false;
	counterpart->is_played = rr_player_play(counterpart->race, cluster, NULL,
						&counterpart->trace, error);
	return counterpart->is_played || rr_error_set_aside(error, RR_ERROR_SKIPPED);
}

void rr_counterpart_free(struct rr_counterpart *counterpart)
{
	rr_trace_free(&counterpart->trace);
	rr_race_free(counterpart->race);
}

void rr_counterpart_show(const struct rr_counterpart *counterpart, const struct rr_race *race,
			 struct rr_article *article)
{
	if (!counterpart->is_played)
		return;
	article->safe = &counterpart->trace;
	article->safe_name = race->safe;
}
