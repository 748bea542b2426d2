/* SPDX-License-Identifier: MIT */
/* What happened when a race was played: for drawing, comparing and judging. */
#ifndef RR_TRACE_H
#define RR_TRACE_H

#include "findings.h"
#include "race.h"

/* One step as it went. Texts belong to the trace. */
struct rr_event {
	const struct rr_step *step;
	char *command;  /* as sent, variables filled in; NULL = none */
	char *reply;    /* what came, "(lost)" and "(waits)" too; NULL = none */
	char *remark;   /* what it broke: "two inside: A B"; NULL = nothing */
	char *keys[RR_KEYS_SHOWN_MAX]; /* their values after it, "(nil)" too */
	bool differs;   /* the reply is not the one that was expected */
	int64_t at_ns;  /* virtual time since the beginning */
};

struct rr_trace {
	const struct rr_race *race;
	size_t n_events;
	struct rr_event *events;
	rr_findings findings;
	char conclusion[RR_FINDINGS][160]; /* what each finding was, in figures */
	bool as_written;   /* every reply as expected, and the verdict too */
	char error[512];   /* why it could not be played to its end, or "" */
	const char *time;  /* how time was made to pass: "virtual", "real" */
};

void rr_trace_free(struct rr_trace *trace);

/* The findings' names, comma separated, or "nothing broken". */
void rr_trace_verdict(const struct rr_trace *trace, char *text, size_t size);

/* Does what the document says hold? */
bool rr_trace_saying_holds(const struct rr_trace *trace,
			   const struct rr_saying *saying);

#endif
