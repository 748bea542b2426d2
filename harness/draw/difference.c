/* SPDX-License-Identifier: MIT */
#include "draw.h"
#include "base/plain.h"
#include "wording.h"

#include <stdlib.h>

static void reply_differs(FILE *out, const struct rr_trace *trace,
			  const struct rr_event *event)
{
	char *step = rr_wording_step(trace, event);
	char *expected = rr_plain(event->step->expected);
	char *actual = rr_plain(event->reply);

	fprintf(out, "%s:%d: step %zu, %s: %s\n", trace->race->path,
		event->step->line,
		rr_rows_number(trace, (int)(event->step - trace->race->steps)),
		trace->race->actors[event->step->actor].name, step ? step : "");
	fprintf(out, "  expected  %s\n", expected ? expected : "");
	fprintf(out, "  actual    %s\n", actual ? actual : "nothing");
	free(step);
	free(expected);
	free(actual);
}

static void verdict_differs(FILE *out, const struct rr_trace *trace)
{
	const struct rr_race *race = trace->race;
	char computed[400];

	rr_trace_verdict(trace, computed, sizeof(computed));
	fprintf(out, "%s:%d: the verdict is another one\n", race->path,
		race->verdict_line);
	fputs("  expected  ", out);
	for (size_t i = 0; i < race->n_verdicts; i++)
		fprintf(out, "%s%s", i ? ", " : "", race->verdicts[i]);
	fprintf(out, "\n  computed  %s\n", computed);
}

void rr_draw_difference(FILE *out, const struct rr_trace *trace)
{
	const struct rr_event *last = trace->n_events ?
					      &trace->events[trace->n_events - 1] :
					      NULL;

	if (trace->as_written || !last)
		return;
	if (last->differs)
		reply_differs(out, trace, last);
	else if (trace->n_events == trace->race->n_steps)
		verdict_differs(out, trace);
}
