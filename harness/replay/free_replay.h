/* SPDX-License-Identifier: MIT */
/*
 * A path of a search, gone once more by real clients on real servers: the judge of every
 * finding and of every audit.
 *
 * Clients run freely, a strategy's own code on sockets or programs as processes, until
 * they wait. In between stands a relay that holds back whole requests and whole replies
 * of each connection, closes connections, ends clients and moves clocks, in the order of
 * the path. It knows no table and none of the search's rules, only what is true of any
 * network: a server executes what a connection brings in the order in which it was sent;
 * a client hears what the server has answered, in that order, or that its connection is
 * closed; nothing comes out of a closed connection but what was in it.
 *
 * What is compared, step by step: the request that is there is the one that the path
 * executes; the reply that the server gives is the path's; a client waits for what the
 * path gives it; who enters and leaves the critical section, and what counts. At the
 * end, what was really there can be looked at.
 */
#ifndef RR_FREE_REPLAY_H
#define RR_FREE_REPLAY_H

#include "actions.h"

struct rr_free_replay_config {
	const struct rr_program *program;
	struct rr_cluster *cluster;
	const struct rr_scripts *scripts; /* those that servers know */
	int64_t day_ns;                   /* the time of day at the beginning */
	int64_t skew_ns;                  /* the n-th client's clock is n times as much ahead */
};

struct rr_free_replay;

/* The configuration is copied, what it points to must outlive the replay. */
struct rr_free_replay *rr_free_replay_new(const struct rr_free_replay_config *config);
void rr_free_replay_free(struct rr_free_replay *replay);

/* Begins anew and goes a path. False: rr_free_replay_error(), of kind RR_ERROR_INTERNAL
 * where something differs: in which step, what was expected and what was seen. */
bool rr_free_replay_run(struct rr_free_replay *replay, const struct rr_actions *path);
const struct rr_error *rr_free_replay_error(const struct rr_free_replay *replay);

/* ---- What was there at the end of the path ------------------------------------ */

struct rr_replayed_client {
	bool has_crashed, was_busy; /* in the middle of an attempt */
	bool has_ended;             /* or crashed */
	struct rr_run_tally tally;  /* what it said of itself last */
};

struct rr_replayed_client rr_free_replay_client(const struct rr_free_replay *replay, size_t client);

/* Has a client entered its critical section while another was in there, or while what
 * another had sent from there was on its way? */
bool rr_free_replay_saw_two_inside(const struct rr_free_replay *replay);

/* A server that was in use: it holds what the path has left. */
struct rr_asker *rr_free_replay_server(struct rr_free_replay *replay, size_t server);

#endif
