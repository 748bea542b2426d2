/* SPDX-License-Identifier: MIT */
#include "beliefs.h"

void rr_belief_withdraw(struct rr_beliefs *beliefs, enum rr_belief kind, const void *who)
{
	size_t i = 0;

	if (!beliefs)
		return;
	beliefs->withdrawn |= 1U << kind;
	while (i < beliefs->n && beliefs->of[i].who != who)
		i++;
	if (!who || i == RR_BELIEVERS_MAX)
		return;
	if (i == beliefs->n) {
		beliefs->of[i].who = who;
		beliefs->n++;
	}
	beliefs->of[i].withdrawn |= 1U << kind;
}

unsigned rr_beliefs_begin(struct rr_beliefs *beliefs)
{
	const unsigned withdrawn = beliefs->withdrawn;

	*beliefs = (struct rr_beliefs){ 0 };
	return withdrawn;
}

unsigned rr_beliefs_withdrawn_of(const struct rr_beliefs *beliefs, const void *who)
{
	for (size_t i = 0; beliefs && beliefs->withdrawn && i < beliefs->n; i++) {
		if (beliefs->of[i].who == who)
			return beliefs->of[i].withdrawn;
	}
	return 0;
}
