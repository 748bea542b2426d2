/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reply_text.h"

void rr_trace_free(struct rr_trace *trace)
{
	for (size_t i = 0; i < trace->n_events; i++) {
		struct rr_event *event = &trace->events[i];

		free(event->command);
		free(event->reply);
		free(event->remark);
		for (size_t k = 0; k < RR_KEYS_SHOWN_MAX; k++)
			free(event->keys[k]);
	}
	free(trace->events);
	trace->events = NULL;
	trace->n_events = 0;
}

void rr_trace_verdict(const struct rr_trace *trace, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < RR_FINDINGS; i++) {
		if (!(trace->findings & 1U << i) || used >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 used ? ", " : "",
					 rr_finding_name((enum rr_finding)i));
	}
	if (used == 0)
		snprintf(text, size, "nothing broken");
}

/* Variables have no value any more: any text will do. */
static bool any_value(void *context, const char *name, size_t name_length,
		      const char *value, size_t length)
{
	(void)context;
	(void)name;
	(void)name_length;
	(void)value;
	(void)length;
	return true;
}

bool rr_trace_saying_holds(const struct rr_trace *trace,
			   const struct rr_saying *saying)
{
	const struct rr_matcher matcher = { any_value, NULL };
	bool known;

	if (saying->step < 0)
		return rr_finding_holds(saying->says, trace->findings, &known);
	for (size_t i = trace->n_events; i-- > 0;) {
		const struct rr_event *event = &trace->events[i];

		if (event->step == &trace->race->steps[saying->step])
			return event->reply &&
			       rr_reply_matches(saying->says, event->reply,
						&matcher);
	}
	return false;
}
