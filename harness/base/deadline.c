/* SPDX-License-Identifier: MIT */
#include "deadline.h"

#include "machine.h"

void rr_deadline_cut(struct rr_deadline *deadline, const char *phase)
{
	if (deadline->cut)
		return;
	deadline->cut = phase;
	deadline->cut_s = rr_clock_s();
}

bool rr_deadline_tell(const struct rr_deadline *deadline, unsigned long n, double share)
{
	return !deadline->goes_on || deadline->goes_on(deadline->context, n, share);
}

bool rr_deadline_is_over(struct rr_deadline *deadline, const char *phase)
{
	if (!deadline->goes_on || deadline->is_lifted)
		return false;
	if (!deadline->cut && !rr_deadline_tell(deadline, *deadline->n, 1))
		rr_deadline_cut(deadline, phase);
	return deadline->cut != NULL;
}

bool rr_deadline_is_late(const struct rr_deadline *deadline)
{
	return deadline->cut && rr_clock_s() - deadline->cut_s > RR_LATE_S;
}
