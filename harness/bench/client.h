/* SPDX-License-Identifier: MIT */
/* A client of a run: one thread, its links, and the counting loop. */
#ifndef RR_CLIENT_H
#define RR_CLIENT_H

#include "base/random.h"
#include "worker.h"

/* One counter as one client sees it. */
struct rr_target {
	char counter[RR_KEY_SIZE];
	char lock[RR_KEY_SIZE];
	struct rr_client client;
	bool opened;
};

struct rr_runner {
	const struct rr_run *run;
	struct rr_board *board;
	struct rr_slot *slot;
	struct rl_mutex *mutexes; /* this process's, one per counter */
	int number;               /* among all clients of all processes */
	struct rr_random random;
	struct rl_link *data;
	struct rl_link *lock_nodes[RR_CLUSTER_SERVERS];
	size_t n_lock_nodes;
	struct rr_target *targets; /* one per counter */
	struct rl_delay_queue *queue; /* only with RR_POLICY_DELAY_QUEUE */
	uint64_t commands_before;  /* the measured part */
	bool resumes;              /* goes on for a client that has died */
	bool entered;              /* the last attempt got its lock ... */
	enum rl_outcome released;  /* ... and gave it back; RL_OK: it had none */
	int silences;              /* unknown outcomes in a row */
	int quorums_missed;        /* in a row: too few lock servers answered */
};

/* Connects; false with slot->code and slot->error set when it cannot. */
bool rr_runner_open(struct rr_runner *runner);

/* Does this client's share of `total` increments, without a queue; what it
 * counts and measures goes to the slot. Ends early when the board says stop. */
void rr_runner_count(struct rr_runner *runner, long total);

/* The measured part begins and ends: commands in between are its own. */
void rr_runner_enter(struct rr_runner *runner);
void rr_runner_leave(struct rr_runner *runner);

void rr_runner_close(struct rr_runner *runner);

/* Leaves the reason in the slot and stops everybody. */
void rr_runner_give_up(struct rr_runner *runner, enum rr_exit code,
		       const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
