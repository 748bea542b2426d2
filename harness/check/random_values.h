/* SPDX-License-Identifier: MIT */
/*
 * The random values of a command line: texts in which two processes with the same history
 * differ. In its table they are those of the process that was there first; every other
 * one has its own, which are renamed in what it sends and hears.
 *
 * A value counts as random as long as it hardly ever comes twice. With more repetitions
 * it is a choice among few values, which other clients may make, too.
 */
#ifndef RR_RANDOM_VALUES_H
#define RR_RANDOM_VALUES_H

#include "instance.h"

struct rr_random_values {
	size_t n;
	struct rl_word names[RR_NAMES_MAX]; /* as the table has them */
	struct {
		unsigned long n, repeats;
	} draws[RR_NAMES_MAX];  /* by other processes */
	struct rr_intern drawn; /* what they had */
};

/* An instance has done `seen` instead of `known`. If the first commands that differ do so
 * in a value that may be random, that is renamed in the instance. */
bool rr_random_values_rename(struct rr_random_values *values, const struct rr_terms *terms,
			     struct rr_instance *instance, const struct rr_run_view *known,
			     const struct rr_run_view *seen);

/* An instance has done what is known. Has it sent the table's own values? Each is counted
 * once, by a bit of *counted. */
void rr_random_values_count(struct rr_random_values *values, const struct rr_terms *terms,
			    const struct rr_instance *instance, const struct rr_run_view *known,
			    uint32_t *counted);

/* Have there been too few draws of one to know whether it is random? */
bool rr_random_values_are_few(const struct rr_random_values *values);

enum { RR_DRAWS_MIN = 8 };

void rr_random_values_release(struct rr_random_values *values);

#endif
