/* SPDX-License-Identifier: MIT */
/*
 * Our locks beside those that people use, in the same loop on the same servers
 * and the same processor. Whoever is refused waits alike: 5 ms, as a fixed time
 * or on the average.
 */
#include "peers.h"

#include <stdlib.h>

const int rr_peer_clients[RR_PEER_SWEEP] = { 1, 2, 8 };

/* Between half of it and all of it, at random: 5 ms on the average. */
static const struct rr_wait same_wait = { .min_us = 6667, .max_us = 6667 };

/* An increment under a quorum takes several times as long. */
enum { QUORUM_SHARE = 2 };

static const struct rr_peer_lock locks[] = {
	{ .name = "lua-delifequals",
	  .guarantee = RR_GUARANTEE_TOKEN,
	  .is_ours = true,
	  .note = "four round trips: SET NX PX, GET, SET, compare-and-delete" },
	{ .name = "lua-pipelined",
	  .guarantee = RR_GUARANTEE_TOKEN,
	  .is_ours = true,
	  .note = "the same four commands in two round trips, SET NX PX with GET and SET with the release: for data on the server that has the lock" },
	{ .name = "redis-py",
	  .guarantee = RR_GUARANTEE_TOKEN,
	  .peer = { .name = "redis-py" },
	  .note = "its Lock; clients are threads" },
	{ .name = "redis-semaphore",
	  .guarantee = RR_GUARANTEE_TOKEN,
	  .peer = { .name = "redis-semaphore" },
	  .note = "its Mutex, not renewed; one token for all holds of an object" },
	{ .name = "ioredis-lock",
	  .guarantee = RR_GUARANTEE_TOKEN,
	  .peer = { .name = "ioredis-lock" },
	  .note = "one token for all holds of an object" },
	{ .name = "warlock",
	  .guarantee = RR_GUARANTEE_TOKEN,
	  .peer = { .name = "warlock" },
	  .note = "its tokens are UUIDs of version 1: of time and machine, not random" },
	{ .name = "symfony-lock",
	  .guarantee = RR_GUARANTEE_TOKEN,
	  .peer = { .name = "symfony-lock" },
	  .note = "clients are processes; a sorted set instead of a string, since it can be shared by readers, and one token for all holds of an object" },
	{ .name = "redlock",
	  .guarantee = RR_GUARANTEE_QUORUM,
	  .is_ours = true,
	  .note = "asks all five at once and waits for all" },
	{ .name = "node-redlock",
	  .guarantee = RR_GUARANTEE_QUORUM,
	  .peer = { .name = "node-redlock", .lock_servers = 5 },
	  .note = "asks all five at once and waits for all; waits 4 to 6 ms" },
	{ .name = "redis-semaphore-redlock",
	  .guarantee = RR_GUARANTEE_QUORUM,
	  .peer = { .name = "redis-semaphore-redlock", .lock_servers = 5 },
	  .note = "its RedlockMutex, not renewed; a weaker guarantee: it does not look whether the lease was over before a majority had answered; one token for all holds of an object" },
	{ .name = "symfony-redlock",
	  .guarantee = RR_GUARANTEE_QUORUM,
	  .peer = { .name = "symfony-redlock", .lock_servers = 5 },
	  .note = "its CombinedStore, which asks one server after the other; clients are processes" },
};

static const struct rr_peer_bar bars[] = {
	{ "lua-delifequals", "redis-py", 1.4 }, { "lua-delifequals", "redis-semaphore", 1.4 },
	{ "lua-pipelined", "redis-py", 2.5 },   { "lua-pipelined", "redis-semaphore", 2.5 },
	{ "redlock", "node-redlock", 2 },
};

enum { N_LOCKS = sizeof(locks) / sizeof(locks[0]) };

/* ---- Who takes part ------------------------------------------------------ */

static void enter_ours(struct rr_peers *peers, const struct rr_peer_lock *lock)
{
	struct rr_contestant *one = &peers->contestants[peers->n++];

	one->lock = lock;
	one->strategy = *rr_strategy_find(lock->name);
	one->strategy.wait = same_wait;
}

/* What is not installed is named. False after another error. */
static bool invite_theirs(struct rr_peers *peers, const struct rr_peer_lock *lock,
			  struct rr_signals *signals, struct rr_error *error)
{
	struct rr_contestant *one = &peers->contestants[peers->n];

	one->lock = lock;
	if (rr_lock_peer_probe(&lock->peer, signals, &one->versions, error))
		peers->n++;
	else if (!rr_error_set_aside(error, RR_ERROR_SKIPPED))
		return false;
	return true;
}

/* Ours, and those of theirs that are installed. */
static bool invite_contestants(struct rr_peers *peers, struct rr_signals *signals,
			       struct rr_error *error)
{
	for (size_t i = 0; i < N_LOCKS; i++) {
		if (locks[i].is_ours)
			enter_ours(peers, &locks[i]);
		else if (!invite_theirs(peers, &locks[i], signals, error))
			return false;
	}
	return true;
}

static bool are_ours_alone(const struct rr_peers *peers)
{
	for (size_t i = 0; i < peers->n; i++) {
		if (!peers->contestants[i].lock->is_ours)
			return false;
	}
	return true;
}

/* ---- Measuring ----------------------------------------------------------- */

static void plan_series(struct rr_contestant *one, struct rr_series *series, size_t sweep,
			long increments)
{
	one->series[sweep] = series;
	series->clients = rr_peer_clients[sweep];
	series->increments = one->lock->guarantee == RR_GUARANTEE_QUORUM ?
				     increments / QUORUM_SHARE :
				     increments;
	if (one->lock->is_ours) {
		series->strategy = &one->strategy;
	} else {
		series->program = &one->lock->peer;
		series->run_program = rr_lock_peer_run;
	}
}

static bool measure_contestants(struct rr_peers *peers)
{
	const long increments = peers->comparison.options->increments;
	size_t n = 0;

	for (size_t sweep = 0; sweep < RR_PEER_SWEEP; sweep++) {
		for (size_t i = 0; i < peers->n; i++)
			plan_series(&peers->contestants[i], &peers->series[n++], sweep, increments);
	}
	return rr_comparison_measure(&peers->comparison, peers->series, n);
}

static enum rr_exit compare_peers(struct rr_peers *peers,
				  const struct rr_comparison_options *options, bool as_document,
				  struct rr_session *session, struct rr_error *error)
{
	const size_t servers = 1 + rr_strategy_find("redlock")->lock.servers;

	peers->bars = bars;
	peers->n_bars = sizeof(bars) / sizeof(bars[0]);
	if (!invite_contestants(peers, &session->signals, error))
		return RR_EXIT_OK;
	if (are_ours_alone(peers))
		return RR_EXIT_SKIPPED;
	if (rr_comparison_open(&peers->comparison, options, session, servers, true, error) &&
	    measure_contestants(peers)) {
		if (as_document)
			rr_peers_print_document(peers);
		else
			rr_peers_print_text(peers);
	}
	rr_comparison_close(&peers->comparison);
	return peers->comparison.verdict;
}

enum rr_exit rr_peers_compare(const struct rr_comparison_options *options, bool as_document,
			      struct rr_session *session, struct rr_error *error)
{
	struct rr_peers *peers = calloc(1, sizeof(*peers));
	enum rr_exit code = RR_EXIT_OK;

	if (peers)
		code = compare_peers(peers, options, as_document, session, error);
	else
		rr_error_no_memory(error);
	free(peers);
	return code;
}
