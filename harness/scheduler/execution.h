/* SPDX-License-Identifier: MIT */
/*
 * An execution: all clients of a program live together, on real servers, one
 * visible operation at a time.
 *
 *	look    what each thread is about to do, and who can go on
 *	do      one transition: a command is executed and its client runs on, a
 *		thread goes on with something else, a fault, time passes
 *	look    ...
 *
 * A visible operation is a command, a clock reading, a sleep, a wait for a message
 * or a file, a mutex, the end of a thread that is waited for. A command is executed
 * on the server in the order of its connection, against all others in any order; its
 * reply is handed over as soon as its client waits for it. What is behind a lost
 * reply was sent as well: the client notices when all of that is executed. A
 * connection counts as open from its first command on.
 *
 * A client that is refused sleeps and asks again. Time stands still but for
 * RR_DO_WAIT. A crash is of a process: its connections are closed, and the servers
 * know it, before anybody else goes on; its code is unwound.
 *
 * A command that would have to wait (BLPOP) is known to when it is tried: the
 * transition is not done then, RR_DID_NOTHING, and the thread is blocked until
 * something else has happened or the command's time is over.
 */
#ifndef RR_EXECUTION_H
#define RR_EXECUTION_H

#include "actions.h"

enum { RR_EXECUTION_CLIENTS = 8, RR_EXECUTION_THREADS = RR_EXECUTION_CLIENTS * RR_RUN_THREADS };

struct rr_execution_config {
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
struct rr_execution_view {
	size_t n_clients, n;
	struct rr_thread_view threads[RR_EXECUTION_THREADS];
	size_t n_alive, n_ready;
	int64_t now_ns;
	int64_t next_ns; /* when the first of those who are not ready is */
};

struct rr_execution;

/* The configuration is copied. */
struct rr_execution *rr_execution_new(const struct rr_execution_config *config);
/* Who has not ended is unwound. */
void rr_execution_free(struct rr_execution *execution);

/* Opens connections to the servers, which must have been started, and lets clients
 * do what they do before their first attempts, one after the other. False: see
 * rr_execution_error(). */
bool rr_execution_begin(struct rr_execution *execution);

/* Valid until the next call of any function. */
const struct rr_execution_view *rr_execution_look(struct rr_execution *execution);

enum rr_did {
	RR_DID_IT,
	RR_DID_NOTHING, /* the command would wait */
	RR_DID_REFUSE,  /* nobody can do that now */
	RR_DID_FAIL     /* see rr_execution_error() */
};

/* `ns`: of WAIT, PAUSE and JUMP. CRASH and PAUSE are of client `who`'s process. */
enum rr_did rr_execution_do(struct rr_execution *execution, struct rr_transition transition,
			    int64_t ns);

/* A command that no client can notice, answered over a connection of our own: the
 * number of its reply, RR_NO_ID = the server is gone. For a program's `ask`. */
uint32_t rr_execution_answer(struct rr_execution *execution, size_t server,
			     const struct rl_command *command);

/* What a client says of itself, also when it has crashed. */
const struct rr_run_tally *rr_execution_tally(const struct rr_execution *execution, size_t client);
bool rr_execution_has_crashed(const struct rr_execution *execution, size_t client);

const struct rr_error *rr_execution_error(const struct rr_execution *execution);

/* ---- Again ------------------------------------------------------------------ */

/* Begins anew and does these actions, as they were noted of a search: every reply,
 * and all that clients do next, must be what was noted. False: RR_ERROR_INTERNAL and
 * what differs, or why it could not be done. */
bool rr_execution_replay(struct rr_execution *execution, const struct rr_actions *actions);

#endif
