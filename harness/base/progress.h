/* SPDX-License-Identifier: MIT */
/*
 * How far a long command is, on standard error: on a terminal one line that is
 * written over, elsewhere a line every ten seconds.
 *
 *	rr_progress_begin(&progress);
 *	while (...)
 *		if (rr_progress_is_due(&progress))
 *			rr_progress_show(&progress, left_s, "%d of %d", i, n);
 *	rr_progress_end(&progress);
 */
#ifndef RR_PROGRESS_H
#define RR_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct rr_progress {
	double begun; /* seconds; 0 = not yet */
	double shown; /* when the line was written last, or when it first began */
	bool is_terminal;
	bool is_visible; /* a line stands there that has to be taken away */
};

/* Of zeroes. What is begun again counts its time anew. */
void rr_progress_begin(struct rr_progress *progress);

/* Is it time for another line? Cheap. */
bool rr_progress_is_due(const struct rr_progress *progress);

/* How many seconds are left when `share` of the whole, 0 to 1, is done; 0: that is not
 * known, as it is in the first second. */
double rr_progress_left(const struct rr_progress *progress, double share);

/* Writes the line, without its end: what is done and how far; `left_s` = 0: the time
 * left is unknown. */
void rr_progress_show(struct rr_progress *progress, double left_s, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a line that stays, of what happens on the way, in place of the other. */
void rr_progress_tell(struct rr_progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Takes the line away, before anything else is printed. It can be shown again. */
void rr_progress_end(struct rr_progress *progress);

/* ---- When it is to end ------------------------------------------------------- */

/*
 * When a long computation is to end. Each phase that may be long asks now and then, and says what
 * it is: "final states were compared". A phase without which nothing can be said ends with
 * RR_ERROR_INTERRUPTED, and what was found before is concluded from. What proves a finding goes on
 * until rr_deadline_is_late(), RR_LATE_S later.
 */

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
