/* SPDX-License-Identifier: MIT */
/* What became of increments, added up. */
#include "subject_inside.h"

void rr_tally_add(struct rr_tally *sum, const struct rr_tally *tally)
{
	sum->ok += tally->ok;
	sum->unknown += tally->unknown;
	sum->cut += tally->cut;
	sum->failed += tally->failed;
}

long rr_subject_acknowledged(const struct rr_subject *subject, int client)
{
	return subject->clients[client].acknowledged;
}

bool rr_subject_is_exact(const struct rr_subject_result *result)
{
	const struct rr_tally *sum = &result->sum;

	return sum->ok <= result->final &&
	       result->final <= sum->ok + sum->unknown + sum->cut;
}
