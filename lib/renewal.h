/* SPDX-License-Identifier: MIT */
/* The extension of a lease in the background, as the renewed lock's thread and the shared
 * renewer do it, whatever kind of lock it is. */
#ifndef RDL_RENEWAL_H
#define RDL_RENEWAL_H

#include <stdatomic.h>

#include "hold.h"

/* What is needed to know of a lock that is held. */
struct rdl_renewable {
	void *lock;            /* as its user knows it */
	struct rdl_link *link; /* its own: clock, address, errors */
	struct rdl_hold *hold;
	long ttl_ms;
	/* Extends the lease over `link`, which is the renewer's; its patience holds for other
	 * links as well. RDL_LOST: it had ended. Used in the renewer's thread: it may read of the
	 * lock only what does not change while it is held. */
	enum rdl_outcome (*renew)(void *lease, struct rdl_link *link, long ttl_ms);
	void *lease;
	bool is_on_nodes; /* on the servers of rdl_renewer_nodes(), not on that of `link` */
	bool owns_lease;  /* it is freed by free() when nothing renews it any more */
};

struct rdl_renewal {
	enum rdl_outcome (*renew)(void *lease, struct rdl_link *link, long ttl_ms);
	void *lease;
	long ttl_ms, hold_max_ms;
	int64_t held_ns;          /* when the attempt that got it was sent */
	int64_t renewed_ns;       /* when it was last extended */
	_Atomic int64_t until_ns; /* the end of the lease; 0 = lost */
};

/* Begins with the hold that the lock has. */
void rdl_renewal_begin(struct rdl_renewal *renewal, const struct rdl_renewable *renewable,
		       long hold_max_ms);

/* One renewal over `link`. All that it waits for, to connect included, ends at `end_ns` at the
 * latest, or earlier with the lease; INT64_MAX = with the lease. False when the lock is lost.
 * Nothing is asked for that would not reach beyond the lease there is. */
bool rdl_renewal_run(struct rdl_renewal *renewal, struct rdl_link *link, int64_t end_ns);

/* When to look next: after a third of a lease, or at its end if that is nearer, and soon again
 * while the server does not answer. */
int64_t rdl_renewal_pause_ns(const struct rdl_renewal *renewal, const struct rdl_link *link);

#endif
