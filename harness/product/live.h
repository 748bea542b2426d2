/* SPDX-License-Identifier: MIT */
/*
 * One path through the product, live: the rules are those of the search, but each
 * transition is done once, by the clients' own code and on real servers that stay where
 * that has led them.
 *
 *	look    what each thread is about to do, and who can go on
 *	do      one transition: a command is executed and its client runs on, a
 *		thread goes on with something else, a fault, time passes
 *	look    ...
 *
 * What a search leaves open is settled here. An attempt begins at once, unless the
 * client was refused: then it sleeps first. Connections are opened when they are first
 * used. A server notices at once that a client has crashed, and time stands still but for
 * RR_DO_WAIT. A process that is paused does nothing meanwhile.
 *
 * A command that has to wait (BLPOP) blocks on its server, and its thread is blocked
 * until the server has served it, by what others do or because its time is over.
 */
#ifndef RR_LIVE_H
#define RR_LIVE_H

#include "base/error.h"
#include "replay/replay.h"

enum { RR_LIVE_THREADS = RR_RUN_CLIENTS * RR_RUN_THREADS };

struct rr_live_config {
	const struct rr_program *program;
	struct rr_cluster *cluster;
	struct rr_scripts *scripts; /* those that servers know */
	int64_t day_ns;             /* the time of day at the beginning */
	int64_t skew_ns;            /* the n-th client's clock is n times as much ahead */
	int64_t wait_ns;            /* that a refused client sleeps */
	/* Instead of moving the clocks, or starting a server again empty; NULL:
	 * done by asking the servers. False: it did not work. */
	bool (*pass)(void *context, int64_t ns);
	bool (*restart)(void *context, size_t server);
	/* Told of each action when it is done. May be NULL. */
	void (*note)(void *context, const struct rr_action *action);
	void *context;
};

enum rr_thread_state {
	RR_THREAD_ABSENT, /* not started */
	RR_THREAD_READY,
	RR_THREAD_BLOCKED, /* before ready_ns, or what others do */
	RR_THREAD_PAUSED,  /* its process stands still until ready_ns */
	RR_THREAD_ENDED,
	RR_THREAD_CRASHED
};

struct rr_thread_view {
	enum rr_thread_state state;
	int client;
	struct rr_transition next; /* EXECUTE or GO: what it is about to do */
	uint32_t command;          /* EXECUTE: which; else RR_NO_ID */
	struct rr_stop stop;       /* GO: what it waits for */
	int holder;                /* of the mutex that it wants: a thread's
				    * number, -1 = nobody */
	int64_t ready_ns;          /* when it can go on if nobody else does
				    * anything; RR_NEVER */
};

/* Thread t of client c is number t * n_clients + c. */
struct rr_live_view {
	size_t n_clients, n;
	struct rr_thread_view threads[RR_LIVE_THREADS];
	size_t n_alive, n_ready;
	int64_t now_ns;
	int64_t next_ns; /* when the first of those who are not ready is */
};

struct rr_live;

/* The configuration is copied. */
struct rr_live *rr_live_new(const struct rr_live_config *config);
/* Who has not ended is unwound. */
void rr_live_free(struct rr_live *live);

/* Opens connections to the servers, which must have been started, empties them, and
 * lets clients do what they do before their first attempts, one after the other. May be
 * called again. False: see rr_live_error(). */
bool rr_live_begin(struct rr_live *live);

/* Valid until the next call of any function. */
const struct rr_live_view *rr_live_look(struct rr_live *live);

enum rr_did {
	RR_DID_IT,
	RR_DID_REFUSE, /* nobody can do that now */
	RR_DID_FAIL    /* see rr_live_error() */
};

/* `ns`: of WAIT, PAUSE and JUMP. CRASH and PAUSE are of client `who`'s process. */
enum rr_did rr_live_do(struct rr_live *live, struct rr_transition transition, int64_t ns);

/* A command that no client can notice, answered over a connection of our own: the
 * number of its reply, RR_NO_ID = the server is gone. For a program's `ask`. */
uint32_t rr_live_answer(struct rr_live *live, size_t server, const struct rdl_command *command);

/* What a client says of itself, also when it has crashed. */
struct rr_run_tally rr_live_tally(const struct rr_live *live, size_t client);
bool rr_live_has_crashed(const struct rr_live *live, size_t client);

const struct rr_error *rr_live_error(const struct rr_live *live);

#endif
