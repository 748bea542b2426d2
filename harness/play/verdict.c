/* SPDX-License-Identifier: MIT */
/* What a rehearsal has broken so far. */
#include <string.h>

#include "rehearsal.h"

static void set_verdict(struct rr_race *race, const struct rr_trace *trace)
{
	race->n_verdicts = 0;
	for (int i = 0; i < RR_FINDINGS; i++) {
		if (trace->findings & 1U << i &&
		    race->n_verdicts < RR_FINDINGS_NAMED_MAX)
			race->verdicts[race->n_verdicts++] =
				rr_finding_name((enum rr_finding)i);
	}
	if (race->n_verdicts == 0)
		race->verdicts[race->n_verdicts++] = "nothing broken";
}

void rr_rehearsal_judge(struct rr_rehearsal *rehearsal)
{
	struct rr_trace *trace = &rehearsal->trace;
	struct rr_observer end = rehearsal->observer;

	if (rehearsal->is_over)
		return;
	rr_scenery_end(&rehearsal->scenery, &end);
	trace->findings = end.findings;
	memcpy(trace->conclusion, end.conclusion, sizeof(trace->conclusion));
	trace->as_written = true;
	set_verdict(rehearsal->race, trace);
}
