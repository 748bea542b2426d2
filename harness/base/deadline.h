/* SPDX-License-Identifier: MIT */
/*
 * When a long computation is to end. Each phase that may be long asks now and then, and says what
 * it is: "final states were compared". A phase without which nothing can be said ends with
 * RR_ERROR_INTERRUPTED, and what was found before is concluded from. What proves a finding goes on
 * until rr_deadline_is_late(), RR_LATE_S later.
 */
#ifndef RR_DEADLINE_H
#define RR_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/* So many seconds a search may take, when it is to end, to prove what it has found. */
enum { RR_LATE_S = 3 };

struct rr_deadline {
	/* Told now and then how much is done; false: it is over. NULL = it never is. */
	bool (*goes_on)(void *context, unsigned long n, double share);
	void *context;
	const uint32_t *n; /* that is done */
	const char *cut;   /* the phase in which `goes_on` said so; NULL = in none */
	double cut_s;      /* and when */
	bool is_lifted;    /* what is left is done to its end */
};

/* Is it over? Of a deadline that is lifted: no. */
bool rr_deadline_is_over(struct rr_deadline *deadline, const char *phase);
bool rr_deadline_is_late(const struct rr_deadline *deadline);

/* Tells that `n` are done, and about what share of the whole that is, 0 = not known. False: it is
 * over. */
bool rr_deadline_tell(const struct rr_deadline *deadline, unsigned long n, double share);

/* It is over in that phase, unless it was before. */
void rr_deadline_cut(struct rr_deadline *deadline, const char *phase);

#endif
