/* SPDX-License-Identifier: MIT */
/*
 * Races changed a little, in memory: one that is played as written although
 * something that decides is missing shows nothing. Each changes `race` in place;
 * lines stay as they were, what is said of replies does not.
 */
#ifndef RR_TEST_MUTATE_H
#define RR_TEST_MUTATE_H

#include "race/race.h"

/* Expects another reply at some step; false: no reply is expected anywhere. */
bool mutate_reply(struct rr_race *race);

/* The line of the n-th deciding step, from 0, marked by !; 0 = there is none. */
int mutate_deciding_line(const struct rr_race *race, int n);

/* Leaves out the steps of a line: all rounds of it, in a repeat. */
void mutate_drop_line(struct rr_race *race, int line);

/* The first tick, change of a clock, failure of a server or a client, or
 * command whose reply is lost does not happen; false: there is none. */
bool mutate_fault(struct rr_race *race);

#endif
