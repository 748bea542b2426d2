/* SPDX-License-Identifier: MIT */
/*
 * The gate: drives client programs, unchanged, one visible operation at a time.
 *
 * Each client is a fiber (the first one is the caller of rr_gate_run(), which has
 * nothing else to do) that runs until its next visible operation (enum
 * rr_op_kind) and stops there. What it does next, and who goes next, is
 * the chooser's to say, a callback of the gate's owner:
 *
 *	client    runs up to a visible operation, and stops
 *	chooser   is shown all actors and what each is about to do; picks one
 *	actor     performs the operation, runs on, stops at its next one
 *	chooser   ...
 *
 * Whoever stops asks the chooser, on its own stack, and hands on to whom it
 * picked, so that a step costs no change of threads. What happens inside
 * rr_gate_run() needs no lock, in the chooser neither; what blocks other than at
 * the seam blocks all of them.
 *
 * Commands. A command has been executed and answered when its step is over
 * (lib/driven.c). Commands that touch nothing that another client could notice
 * (SCRIPT LOAD, COMMAND, and connecting) are executed without being a step and
 * are not in the trace: whether they are needed depends on earlier runs.
 *
 * Blocking pops (BLPOP, BRPOP, BLMOVE, BRPOPLPUSH, BLMPOP, BZPOPMIN, BZPOPMAX,
 * BZMPOP). An actor before one is blocked while none of the pop's source keys
 * exists, until its time-out is over, counted from when the actor came there; a
 * time-out of 0 is never over. So no pop ever waits in a server. Nothing is lost
 * by that: a server serves a pop that waits there when the command that pushed is
 * over and before it looks at any other, just as if the pop arrived then; that it
 * waited, nobody can notice (but by CLIENT LIST and INFO); and who of several is
 * served is the chooser's to say, as it is who has come first. Two things are
 * beyond this: when one command fills several of a waiting pop's keys, a server
 * takes the one filled first, and here it is the one named first; and a key that
 * comes into being with another type leaves a waiting pop waiting, while here the
 * pop is answered with the error, having arrived late. A pop whose time is over
 * gets nil without being sent: GET of its first key, which is not there, is sent
 * instead, for a server would wait by its own clock. In the trace it is the pop.
 * Between MULTI and EXEC pops are queued like everything. A run begins with no
 * transaction open.
 *
 * Messages. While some actor has subscribed or waits on a socket, every command of another is
 * followed by a PING of the gate's own to the same server. A server answers it
 * only after it has written the messages that the command has published. So
 * when the step is over they lie in the sockets of all who listen, and who is
 * waiting for them is ready.
 *
 * Time belongs to the gate: nanoseconds from 0 at the beginning of a run, moved
 * by the chooser alone. Clients see it as their monotonic clock and, moved by
 * their skew, as time of day. The owner's `advance` is told, so that servers'
 * time can go along. A reading of the time of day is a step, since time may pass
 * between it and what is done with it; one of the monotonic clock is not.
 *
 * What a client starts beside itself (a renewer) is an actor too, of the same
 * process, named after its client: A' for A's. The start itself is no step, the
 * new actor runs up to its first operation at once.
 *
 * A server that is down refuses connections: each command to it is a step that
 * ends with RL_ERROR.
 *
 * A crash is of a process: all its actors stop for good where they are, and their
 * connections are closed without a word; the servers know before anybody else
 * goes on. Their code is unwound at once: each operation fails without touching
 * the server, sends with RL_ERROR; waits, sleeps and locks return; clocks have
 * run on for years. A client's routine must come to its end then; it may ask
 * rr_gate_is_dead().
 */
#ifndef RR_GATE_H
#define RR_GATE_H

#include "gate_trace.h"

/* EVENTS: a run that has more does not come to an end, as far as anybody can
 * tell. */
enum {
	RR_GATE_CLIENTS = 16,
	RR_GATE_ACTORS = 48,
	RR_GATE_EVENTS = 20000,
};

#define RR_NEVER INT64_MAX

struct rr_gate;

enum rr_state {
	RR_ABSENT,  /* not started in this run */
	RR_READY,   /* may go on with its `op` */
	RR_BLOCKED, /* cannot, before ready_ns or what others do */
	RR_PAUSED,  /* stands still until ready_ns */
	RR_ENDED,
	RR_CRASHED, /* for good; so are its locks, and not the server's */
};

struct rr_actor_view {
	const char *name;        /* "A", "B", ... and "A'" */
	int client;              /* itself, or the one it belongs to */
	enum rr_state state;
	const struct rr_op *op;  /* what it is about to do; unless it has ended */
	int64_t ready_ns;        /* when it may go on if nobody else does
				  * anything: in the past, or RR_NEVER */
};

struct rr_view {
	size_t n_actors; /* clients first, in order */
	struct rr_actor_view actors[RR_GATE_ACTORS];
	size_t n_ready;
	int64_t now_ns;
	int64_t next_ns; /* when the first of those not ready may go on */
	int last;        /* the actor of the last step, -1 = none yet */
	const struct rr_gate_trace *trace; /* so far, the last step's reply included */
};

enum rr_choice_kind {
	RR_CHOOSE_STEP,  /* a ready actor goes on */
	RR_CHOOSE_LOSE,  /* the same with a SEND, whose reply gets lost */
	RR_CHOOSE_PASS,  /* time passes until until_ns, later than now */
	RR_CHOOSE_CRASH, /* the actor's process crashes */
	RR_CHOOSE_RESTART, /* server `actor` comes back empty; with until_ns > 0
			    * it stays down until RR_CHOOSE_RETURN */
	RR_CHOOSE_RETURN,  /* and there it is */
	RR_CHOOSE_JUMP,  /* its clock jumps forward by until_ns */
	RR_CHOOSE_PAUSE, /* the actor's process stands still until until_ns */
	RR_CHOOSE_STOP,  /* the run is over; who has not ended is unwound */
};

struct rr_choice {
	enum rr_choice_kind kind;
	int actor;
	int64_t until_ns;
};

typedef struct rr_choice (*rr_choose)(void *context,
				      const struct rr_view *view);

enum rr_gate_end {
	RR_GATE_DONE,      /* all have ended or crashed */
	RR_GATE_STOPPED,   /* the chooser has said so */
	RR_GATE_DEADLOCK,  /* nobody could go on, now or ever */
	RR_GATE_BAD_CHOICE, /* the chooser chose what cannot be */
	RR_GATE_NO_MEMORY,
	RR_GATE_SILENT,    /* a server did not answer, and no choice explains it
			    * (with `servers_stay`) */
	RR_GATE_TOO_LONG,  /* more than RR_GATE_EVENTS */
};

/* Why a run that ended so shows nothing, in words; NULL = it does. */
const char *rr_gate_failure(enum rr_gate_end end);

/* One client: what it does in a run. */
struct rr_gate_client {
	void (*routine)(void *argument);
	void *argument;
	int process;     /* clients of the same number crash and pause as one */
	int64_t skew_ns; /* its time of day is ahead of the gate's */
};

struct rr_gate_config {
	size_t n_clients;
	const struct rr_gate_client *clients;
	const struct rl_address *addresses; /* of the servers, data first */
	size_t n_addresses;
	int64_t day_ns; /* the time of day at the beginning of each run */
	int64_t yield_ns; /* a sleep no longer than this may end at once: it is
			   * a waiter's pause, nobody counts on its length */
	/* Nobody but a RESTART stops a server: one that does not answer ends
	 * the run, so that real time never looks like a lost reply. */
	bool servers_stay;
	void (*advance)(void *context, int64_t duration_ns); /* may be NULL */
	/* Does to a server what was chosen: RESTART or JUMP. */
	void (*strike)(void *context, enum rr_choice_kind kind, int server,
		       int64_t by_ns);
	void *context;
};

/*
 * Puts the calling thread on the servers' processor `cpu` (-1 = leaves it), where
 * a round trip costs a quarter. SCHED_BATCH, so that a process that is woken lets
 * the one that woke it go to sleep first.
 */
void rr_gate_settle(int cpu);

/*
 * A gate and its clients' stacks. All of the configuration is copied, but not what
 * `argument` and `context` point to. One thread makes it, runs it and frees it.
 * NULL when out of memory.
 */
struct rr_gate *rr_gate_new(const struct rr_gate_config *config);
void rr_gate_free(struct rr_gate *gate);

/* What to put on all links of a client; valid as long as the gate. Outside of
 * rr_gate_run() such a link must not be used: take the driver off first. */
const struct rl_driver *rr_gate_driver(struct rr_gate *gate, int client);

/* One execution from its beginning to its end. The first client runs on the
 * calling stack, and the chooser on any. */
enum rr_gate_end rr_gate_run(struct rr_gate *gate, rr_choose choose,
			     void *context);

/* Of the last run: how everything stood when it ended, before those who were left
 * were unwound; its trace. Valid until the next one. */
const struct rr_view *rr_gate_last_view(const struct rr_gate *gate);
const struct rr_gate_trace *rr_gate_last_trace(const struct rr_gate *gate);

/* Has this client crashed, or is the run over? For its routine. */
bool rr_gate_is_dead(const struct rr_gate *gate, int client);

/* Has the last run left something on the client's links that would show in the
 * next one: a reply was lost, or a message has not been read? The servers must
 * have been asked something since, so that all messages have come. */
bool rr_gate_has_left(const struct rr_gate *gate, int client);

/* From now on, and in the runs to come. */
void rr_gate_set_skew(struct rr_gate *gate, int client, int64_t skew_ns);

/* A fault: the driver's `send` may change a command before it becomes a step; with
 * a `mutex`, that is called instead of taking and giving back a mutex. NULL, as
 * at first, = none. It must outlive the runs. */
void rr_gate_plant(struct rr_gate *gate, const struct rl_driver *planted);

/* The text of a script that a client has loaded, by its hash; NULL = unknown. */
const char *rr_gate_script(const struct rr_gate *gate, const char *sha1);

/* The client's links are about to be freed. */
void rr_gate_forget_links(struct rr_gate *gate, int client);

#endif
