/* SPDX-License-Identifier: MIT */
/* A client whose data server may die and be replaced: what it tries again, what it
 * must not, and what it asks of replicas. */
#include <string.h>

#include "client.h"

enum { TROUBLE_MS = 30000, PAUSE_NS = 5000000, CONFIRM_MS = 100 };

/* The lock servers that stand alone are asked by a lock that expects them to be
 * gone. */
static bool data_may_move(const struct rr_run *run)
{
	return run->formation && run->formation->kind != RR_TOPOLOGY_ALONE;
}

/* No server will ever say anything else. */
static bool is_final(const char *why)
{
	return strstr(why, "NOPERM") || strstr(why, "ERR unknown command");
}

static bool has_been_troubled_for_long(struct rr_runner *runner)
{
	const int64_t now_ns = rr_count_now_ns(runner);

	if (runner->troubled_ns == 0)
		runner->troubled_ns = now_ns;
	return now_ns - runner->troubled_ns > TROUBLE_MS * INT64_C(1000000);
}

/*
 * A new connection, to whoever is the primary now. It is open before anything is
 * asked for: a lease is counted from the request, and to find a primary may take
 * longer. False: there is none for too long, or the run is over.
 */
static bool find_primary(struct rr_runner *runner)
{
	rl_link_disconnect(runner->data);
	do {
		if (rr_board_is_stopped(runner->board))
			return false;
		if (has_been_troubled_for_long(runner)) {
			rr_runner_give_up(runner, RR_ERROR_REDIS,
					  "nothing has worked for %d s: %.200s",
					  TROUBLE_MS / 1000,
					  rl_link_error(runner->data));
			return false;
		}
		rl_sleep_ns(runner->data, PAUSE_NS);
	} while (rl_link_connect(runner->data) != RL_OK);
	return true;
}

bool rr_endure_failure(struct rr_runner *runner, enum rl_outcome outcome,
		       const char *why)
{
	if (!data_may_move(runner->run) ||
	    (outcome == RL_ERROR && is_final(why)))
		return false;
	find_primary(runner);
	return true;
}

bool rr_endure_retry(struct rr_runner *runner, enum rl_outcome outcome)
{
	const bool is_undone = outcome == RL_ERROR ||
			       (outcome == RL_LOST && !runner->entered);

	if (!data_may_move(runner->run))
		return false;
	if (!is_undone) {
		runner->troubled_ns = 0;
		return false;
	}
	if (outcome == RL_ERROR && is_final(rl_link_error(runner->data)))
		return false;
	return find_primary(runner);
}

bool rr_endure_is_replicated(struct rr_runner *runner)
{
	const long wanted = runner->run->wait_replicas;
	struct rl_reply reply;
	long long n;

	if (rl_run(runner->data, &reply, "WAIT %ld %d", wanted, CONFIRM_MS) ==
		    RL_OK &&
	    rl_reply_number(&reply, &n) && n >= wanted)
		return true;
	runner->slot->unconfirmed++;
	return false;
}
