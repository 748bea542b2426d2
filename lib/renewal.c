/* SPDX-License-Identifier: MIT */
#include "renewal.h"

#include "link.h"

enum { RENEWALS_PER_LEASE = 3, RETRY_NS = 20000000 };

void rdl_renewal_begin(struct rdl_renewal *renewal, const struct rdl_renewable *renewable,
		       long hold_max_ms)
{
	renewal->renew = renewable->renew;
	renewal->lease = renewable->lease;
	renewal->ttl_ms = renewable->ttl_ms;
	renewal->hold_max_ms = hold_max_ms;
	renewal->held_ns = renewal->renewed_ns = renewable->hold->sent_ns;
	atomic_store(&renewal->until_ns, renewable->hold->until_ns);
}

bool rdl_renewal_run(struct rdl_renewal *renewal, struct rdl_link *link, int64_t end_ns)
{
	const int64_t sent_ns = rdl_now_ns(link, RDL_CLOCK_MONOTONIC);
	const long left_ms = renewal->hold_max_ms - (long)((sent_ns - renewal->held_ns) / 1000000);
	/* So that the hold as a whole keeps its limit. */
	const long ttl_ms = left_ms < renewal->ttl_ms ? left_ms : renewal->ttl_ms;
	const int64_t until_ns = rdl_lease_end_ns(sent_ns, ttl_ms);
	const int64_t before_ns = atomic_load(&renewal->until_ns);
	/* A server that hangs is waited for until the lease is over, and no longer. */
	const struct rdl_patience patience = { .until_ns = before_ns < end_ns ? before_ns : end_ns,
					       .cancel_fd = -1 };
	enum rdl_outcome outcome;

	if (sent_ns >= before_ns)
		return false;
	if (until_ns <= before_ns)
		return true;
	link->patience = rdl_is_driven(link) ? NULL : &patience;
	outcome = renewal->renew(renewal->lease, link, ttl_ms);
	link->patience = NULL;
	if (outcome == RDL_OK) {
		atomic_store(&renewal->until_ns, until_ns);
		renewal->renewed_ns = rdl_now_ns(link, RDL_CLOCK_MONOTONIC);
	}
	return outcome != RDL_LOST;
}

int64_t rdl_renewal_pause_ns(const struct rdl_renewal *renewal, const struct rdl_link *link)
{
	const int64_t third_ns = rdl_span(renewal->ttl_ms, RDL_NS_PER_MS) / RENEWALS_PER_LEASE;
	const int64_t now = rdl_now_ns(link, RDL_CLOCK_MONOTONIC);
	const int64_t left_ns = atomic_load(&renewal->until_ns) - now;
	int64_t pause = renewal->renewed_ns + third_ns - now;

	if (pause < RETRY_NS && third_ns > RETRY_NS)
		pause = RETRY_NS;
	else if (pause < third_ns / 8)
		pause = third_ns / 8;
	return pause < left_ns ? pause : left_ns;
}
