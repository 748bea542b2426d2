/* SPDX-License-Identifier: MIT */
/* What is left when nobody says any more who goes next: client after client. */
#ifndef RR_REST_H
#define RR_REST_H

#include "rehearsal.h"

struct rr_rest {
	size_t n_marks; /* of the rehearsal, at the last look */
	int idle;       /* times that time has passed since then */
	int passes;     /* in all */
	bool has_given_up;
	char note[160];
};

/*
 * The next move. Who waits for a lock asks again and again: after two vain
 * attempts time passes until something else than an attempt can happen (a lease
 * ends, somebody goes on), and if nothing ever does, a second, ten, a hundred, a
 * thousand. Then it says who is left, and stops.
 */
struct rr_move rr_rest_move(struct rr_rest *rest,
			    const struct rr_rehearsal *rehearsal,
			    const struct rr_view *view);

#endif
