/* SPDX-License-Identifier: MIT */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

/* A reply of the same kind that did not come. */
static const char *other_reply(const char *expected)
{
	if (strspn(expected, "-0123456789") == strlen(expected))
		return strcmp(expected, "17") == 0 ? "18" : "17";
	return strcmp(expected, "OK") == 0 ? "(nil)" : "OK";
}

bool mutate_reply(struct rr_race *race)
{
	for (size_t i = race->n_steps; i-- > 0;) {
		struct rr_step *step = &race->steps[i];

		if (!step->expected || step->is_lost || step->is_waiting ||
		    strcmp(step->expected, "*") == 0)
			continue;
		step->expected = other_reply(step->expected);
		return true;
	}
	return false;
}

int mutate_deciding_line(const struct rr_race *race, int n)
{
	int last = 0;

	for (size_t i = 0; i < race->n_steps; i++) {
		const struct rr_step *step = &race->steps[i];

		if (!step->remark || step->repetition > 1 || step->line == last)
			continue;
		if (n-- == 0)
			return step->line;
		last = step->line;
	}
	return 0;
}

void mutate_drop_line(struct rr_race *race, int line)
{
	size_t kept = 0;

	for (size_t i = 0; i < race->n_steps; i++) {
		if (race->steps[i].line != line)
			race->steps[kept++] = race->steps[i];
	}
	race->n_steps = kept;
}

/* Those that only wait for something change nothing. */
static bool is_fault(const struct rr_step *step)
{
	switch (step->kind) {
	case RR_STEP_TICK:
	case RR_STEP_CLOCK:
	case RR_STEP_CRASH:
		return true;
	case RR_STEP_FAULT:
		return step->fault != RR_FAULT_AWAIT_END && step->fault != RR_FAULT_AWAIT_SYNC &&
		       step->fault != RR_FAULT_CATCH_UP;
	default:
		return step->is_lost;
	}
}

bool mutate_fault(struct rr_race *race)
{
	for (size_t i = 0; i < race->n_steps; i++) {
		if (!is_fault(&race->steps[i]))
			continue;
		mutate_drop_line(race, race->steps[i].line);
		return true;
	}
	return false;
}
