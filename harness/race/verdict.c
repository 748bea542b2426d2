/* SPDX-License-Identifier: MIT */
/* Findings by name, and what a race that was played comes to. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "race.h"

/* ---- Findings ----------------------------------------------------------- */

#define RR_BIT(finding) (1U << (finding))

static const struct {
	const char *name;
	const char *meaning;
	const char *id; /* in JSON, and as races may still spell it; NULL = as the name */
} findings[RR_FINDINGS] = {
	[RR_EXCLUSION_BROKEN] = { .name = "exclusion broken",
				  .meaning =
					  "Two clients were in their critical sections at the same time." },
	[RR_UPDATE_LOST] = { .name = "lost update",
			     .meaning =
				     "An increment that was acknowledged is not in the final value.",
			     .id = "update lost" },
	[RR_COUNTED_TWICE] = { .name = "counted twice",
			       .meaning = "The final value is higher than what was acknowledged." },
	[RR_FOREIGN_RELEASE] = { .name = "foreign release",
				 .meaning =
					 "A client removed a lock that a living other one held." },
	[RR_FOREIGN_CHANGE] = { .name = "foreign change",
				.meaning =
					"A client changed the value or the lease of a lock that a living other one held." },
	[RR_DEADLOCK] = { .name = "deadlock",
			  .meaning =
				  "The holder is dead and its lock never expires: no client can get it any more." },
	[RR_KEPT_ALIVE] = { .name = "dead lock kept alive",
			    .meaning =
				    "The holder is dead, and those who ask for its lock renew the lease." },
	[RR_GHOST_LOCK] = { .name = "ghost lock",
			    .meaning =
				    "The lock is there, and the client that made it does not hold it." },
	[RR_LEFT_BEHIND] = { .name = "lock left behind",
			     .meaning =
				     "The holder has left its section, its lock is still there." },
	[RR_HALF_DONE] = { .name = "half done",
			   .meaning = "Keys that change together have changed in part." },
	[RR_WRITE_LOST] = { .name = "acknowledged write lost",
			    .meaning = "A write that the server had acknowledged is gone." },
	[RR_REPLIES_CROSSED] = { .name = "replies crossed",
				 .meaning =
					 "A client read the reply to a command that was not its own." },
};

/* Phrases that say that none of some findings is there. */
static const struct {
	const char *phrase;
	rr_findings none_of;
} absences[] = {
	{ "nothing broken", ~0U },
	{ "exclusion kept", RR_BIT(RR_EXCLUSION_BROKEN) },
	{ "count exact", RR_BIT(RR_UPDATE_LOST) | RR_BIT(RR_COUNTED_TWICE) },
	{ "all or nothing", RR_BIT(RR_HALF_DONE) },
	{ "writes kept", RR_BIT(RR_WRITE_LOST) },
	{ "replies in order", RR_BIT(RR_REPLIES_CROSSED) },
	{ "progress", RR_BIT(RR_DEADLOCK) | RR_BIT(RR_KEPT_ALIVE) | RR_BIT(RR_GHOST_LOCK) |
			      RR_BIT(RR_LEFT_BEHIND) },
	{ "own locks only", RR_BIT(RR_FOREIGN_RELEASE) | RR_BIT(RR_FOREIGN_CHANGE) },
};

/* Phrases for what a search has found, which nobody sees who plays the race: of the findings above it
 * has none. */
static const char *const searched[] = { RR_NOT_SERIALIZABLE, RR_NOT_AS_EXPECTED, RR_NO_PROGRESS };

const char *rr_finding_name(enum rr_finding finding)
{
	return findings[finding].name;
}

const char *rr_finding_id(const char *phrase)
{
	for (int i = 0; i < RR_FINDINGS; i++) {
		if (findings[i].id && strcmp(phrase, findings[i].name) == 0)
			return findings[i].id;
	}
	return phrase;
}

const char *rr_finding_spelling(const char *phrase)
{
	for (int i = 0; i < RR_FINDINGS; i++) {
		if (findings[i].id && strcmp(phrase, findings[i].id) == 0)
			return findings[i].name;
	}
	return phrase;
}

const char *rr_finding_meaning(const struct rr_race *race, enum rr_finding finding)
{
	if (finding == RR_EXCLUSION_BROKEN && race->limit > 1)
		return "More clients were in their critical sections at the same time than the semaphore allows.";
	return findings[finding].meaning;
}

static bool is_searched(const char *phrase)
{
	size_t i = 0;

	while (i < sizeof(searched) / sizeof(searched[0]) && strcmp(phrase, searched[i]) != 0)
		i++;
	return i < sizeof(searched) / sizeof(searched[0]);
}

bool rr_race_is_found(const struct rr_race *race)
{
	size_t i = 0;

	while (i < race->n_verdicts && !is_searched(race->verdicts[i]))
		i++;
	return i < race->n_verdicts;
}

bool rr_finding_holds(const char *phrase, rr_findings set, bool *known)
{
	*known = true;
	for (size_t i = 0; i < sizeof(absences) / sizeof(absences[0]); i++) {
		if (strcmp(phrase, absences[i].phrase) == 0)
			return (set & absences[i].none_of) == 0;
	}
	for (int i = 0; i < RR_FINDINGS; i++) {
		if (strcmp(phrase, findings[i].name) == 0)
			return (set & RR_BIT(i)) != 0;
	}
	*known = is_searched(phrase);
	return *known && set == 0;
}

/* ---- Traces ------------------------------------------------------------- */

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
	for (size_t k = 0; k < RR_KEYS_SHOWN_MAX; k++) {
		free(trace->beginning[k]);
		trace->beginning[k] = NULL;
	}
	free(trace->events);
	trace->events = NULL;
	trace->n_events = 0;
}

void rr_played_release(struct rr_played *played)
{
	rr_trace_free(&played->trace);
	rr_race_free(played->race);
	played->race = NULL;
}

void rr_trace_verdict(const struct rr_trace *trace, char *text, size_t size)
{
	text[0] = '\0';
	for (int i = 0; i < RR_FINDINGS; i++) {
		if (trace->findings & 1U << i)
			rr_add_text(text, size, "%s%s", text[0] ? ", " : "",
				    rr_finding_name((enum rr_finding)i));
	}
	if (!text[0])
		snprintf(text, size, "nothing broken");
}

void rr_race_set_verdict(struct rr_race *race, rr_findings found)
{
	race->n_verdicts = 0;
	for (int i = 0; i < RR_FINDINGS; i++) {
		if (found & RR_BIT(i) && race->n_verdicts < RR_FINDINGS_NAMED_MAX)
			race->verdicts[race->n_verdicts++] = findings[i].name;
	}
	if (race->n_verdicts == 0)
		race->verdicts[race->n_verdicts++] = "nothing broken";
}

const char *rr_race_verdict(const struct rr_race *race, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < race->n_verdicts; i++)
		rr_add_text(text, size, "%s%s", i ? ", " : "", race->verdicts[i]);
	return text;
}

void rr_trace_write(FILE *file, const struct rr_trace *trace)
{
	const size_t n = trace->n_events;
	struct rr_race race = *trace->race;
	char reply[RR_REPLY_TEXT_SIZE] = "";

	if (trace->as_written) {
		rr_race_write(file, trace->race);
		return;
	}
	if (n > 0 && trace->events[n - 1].reply)
		snprintf(reply, sizeof(reply), "%s", trace->events[n - 1].reply);

	/* The steps that were played, the last one with the reply that came, if it is
	 * another. A repeat that was not finished is written in full. */
	const bool is_whole = n == trace->race->n_steps;
	struct rr_step *steps = rr_calloc(n, sizeof(*steps));

	for (size_t i = 0; i < n; i++) {
		const struct rr_event *event = &trace->events[i];

		steps[i] = *event->step;
		if (!is_whole)
			steps[i].repetition = steps[i].repetitions = 0;
		if (!event->differs)
			continue;
		rr_reply_to_pattern(reply);
		steps[i].expected = reply;
		steps[i].is_lost = steps[i].is_waiting = false;
	}
	race.steps = steps;
	race.n_steps = n;
	/* What is said of the end, and of the replies that came. */
	race.sayings = rr_calloc(race.n_sayings, sizeof(*race.sayings));
	race.n_sayings = 0;
	for (size_t i = 0; i < trace->race->n_sayings; i++) {
		if (trace->race->sayings[i].step < (int)n)
			race.sayings[race.n_sayings++] = trace->race->sayings[i];
	}
	rr_race_set_verdict(&race, trace->broken_off);
	rr_race_write(file, &race);
	free(race.steps);
	free(race.sayings);
}

bool rr_trace_saying_holds(const struct rr_trace *trace, const struct rr_saying *saying)
{
	bool known;

	if (saying->step < 0)
		return rr_finding_holds(saying->says, trace->findings, &known);
	for (size_t i = trace->n_events; i-- > 0;) {
		const struct rr_event *event = &trace->events[i];

		if (event->step == &trace->race->steps[saying->step])
			return event->reply && rr_reply_matches(saying->says, event->reply, NULL);
	}
	return false;
}
