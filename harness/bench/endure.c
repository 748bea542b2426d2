/* SPDX-License-Identifier: MIT */
/* A client whose data server may die and be replaced: what it tries again, what it
 * must not, and what it asks of replicas. */

#include "client.h"

enum { TROUBLE_MS = 30000, PAUSE_NS = 5000000, CONFIRM_MS = 100 };

/* The run is over, or nothing has worked for too long. */
static bool is_hopeless(struct rr_runner *runner)
{
	const int64_t now_ns = rr_count_now_ns(runner);
	const char *why = rdl_link_error(runner->data);

	if (runner->troubled_ns == 0)
		runner->troubled_ns = now_ns;
	if (rr_board_is_stopped(runner->board))
		return true;
	if (now_ns - runner->troubled_ns <= TROUBLE_MS * INT64_C(1000000))
		return false;
	rr_runner_give_up(runner, RR_ERROR_REDIS, "nothing has worked for %d s: %.200s",
			  TROUBLE_MS / 1000, why[0] ? why : "too few lock servers answered");
	return true;
}

/*
 * Waits a little. Where the primary may be another by now, for a new connection to
 * whoever it is; it is open before anything is asked for, because a lease is
 * counted from the request, and to find a primary may take longer than that.
 */
static bool come_back(struct rr_runner *runner)
{
	/* Of lock servers that stand alone a majority is left; the data server is none of
	 * them. */
	const bool moves = runner->run->formation->kind != RR_TOPOLOGY_ALONE;

	if (moves)
		rdl_link_disconnect(runner->data);
	do {
		if (is_hopeless(runner))
			return false;
		rdl_sleep_ns(runner->data, PAUSE_NS);
	} while (moves && rdl_link_connect(runner->data) != RDL_OK);
	return true;
}

bool rr_endure_failure(struct rr_runner *runner, enum rdl_outcome outcome, const char *why)
{
	if (!runner->run->formation || (outcome == RDL_ERROR && rr_runner_is_refused(why)))
		return false;
	come_back(runner);
	return true;
}

bool rr_endure_retry(struct rr_runner *runner, enum rdl_outcome outcome)
{
	const bool is_undone = outcome == RDL_ERROR || (outcome == RDL_LOST && !runner->entered);

	if (!runner->run->formation)
		return false;
	if (!is_undone) {
		runner->troubled_ns = 0;
		return false;
	}
	if (outcome == RDL_ERROR && rr_runner_is_refused(rdl_link_error(runner->data)))
		return false;
	return come_back(runner);
}

bool rr_endure_is_replicated(struct rr_runner *runner)
{
	const long wanted = runner->run->wait_replicas;
	struct rdl_reply reply;
	long long n;

	if (rdl_run(runner->data, &reply, "WAIT %ld %d", wanted, CONFIRM_MS) == RDL_OK &&
	    rdl_reply_number(&reply, &n) && n >= wanted)
		return true;
	runner->slot->unconfirmed++;
	return false;
}
