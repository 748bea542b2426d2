/* SPDX-License-Identifier: MIT */
/*
 * One started program, with a Redis of its own to connect to, a TCP port of 127.0.0.1 and a unix
 * socket, and a clock of its own (program_clock.h). Whole requests are read from its connections and
 * handed on in their order; replies are written when the owner says so. It is run until it has nothing left to do but wait for us:
 * all threads of its process tree sleep, and all that it has sent was read.
 */
#ifndef RR_PROCESS_H
#define RR_PROCESS_H

#include "base/machine.h"
#include "base/wire.h"
#include "cluster/cluster.h"
#include "opened.h"
#include "outside.h"
#include "process_tree.h"
#include "sockets.h"
#include "watch.h"

/* Bytes of its output that are kept; those behind them are counted and digested. */
enum { RR_PROCESS_OUTPUT = 16 * 1024 * 1024, RR_PROCESS_BLOCK = 4096 };

/* Connections that it may have open at once. */
enum { RR_PROCESS_CONNECTIONS = 32 };

/* How many threads libuv has for files, names and hashes: one, unless the user says so. */
#define RR_UV_THREADS "UV_THREADPOOL_SIZE"

/* Process ids that programs see: those of the kernel, or made of the seed and so the same in each run;
 * or those of the kernel because a program has named a file by its own, which runs that go on side by
 * side must not share. */
enum rr_pids { RR_PIDS_OF_KERNEL, RR_PIDS_FIXED, RR_PIDS_NAME_FILES };

/* How all programs of a check are run. */
struct rr_process_config {
	struct rr_guardian *guardian;
	struct rr_signals *signals; /* that end a wait; NULL = none */
	int64_t until_ns;           /* which ends one, too; 0 = nothing */
	const char *preload;        /* the shim, for LD_PRELOAD; NULL = none */
	const char *node_preload;   /* what Node requires beside it; NULL = none */
	uint64_t seed;              /* of all random values; 0 = another one at every start */
	const enum rr_pids *pids;   /* NULL = RR_PIDS_OF_KERNEL */
	unsigned life;      /* 0; 1: of a client that takes the place of one that has crashed */
	int64_t start_ns;   /* the time of day when programs begin, since 1970 */
	bool holds_day;     /* it stands still while they wait */
	bool is_unbuffered; /* Python prints at once, and not at its end */
	long patience_ms;   /* until one that neither asks nor ends hangs */
	struct rr_strangers *strangers; /* whose connections were refused: counted there */
	int *unwatched; /* an errno goes there: what a program connected to was not seen */
	struct rr_redis_places *places; /* where programs take Redis to be */
	struct rr_touched *touched;     /* what they touch besides Redis, too */
	struct rr_fresh *fresh;         /* a directory of which each run has a copy; NULL = none */
	bool runs_together;             /* it shares that with the other clients of the execution */
	struct rr_opened *opened;    /* what programs have opened is noted there; NULL = nowhere */
	const char *const *left_out; /* names of variables that programs are not given; NULL = none */
	int *unfixed; /* an errno goes there: its addresses were random; NULL = nobody asks */
};

struct rr_process_plan {
	const struct rr_process_config *config;
	const char *const *argv; /* with {url}, {host}, {port}, {socket} */
	const char *name;        /* of the client, in errors and as REDRACE_CLIENT */
	bool is_app;             /* it may listen, on PORT */
	void *context;           /* of what follows */
	/* Told of each request in its order; `command` is valid until it returns. False: it cannot be
	 * dealt with (the owner knows why). */
	bool (*on_request)(void *context, int connection, const struct rdl_command *command);
	/* Told of a connection that the program has closed: its number may be used again. */
	void (*on_close)(void *context, int connection);
	/* Is it owed a reply, so that it may well wait? `left_ns`: of its time, until the next that waits for it; INT64_MAX = nobody does. */
	bool (*owes)(void *context, int64_t left_ns);
};

struct rr_process {
	const struct rr_process_plan *plan;
	struct rr_guarded guarded;
	struct rr_redis_port {
		int tcp_fd, unix_fd; /* that listen; -1 = not */
		unsigned port;
		char socket_path[108];
	} listeners[RR_REDIS_AT_MAX]; /* of each place of redis_at.h; the first is that of REDIS_URL */
	struct rr_wire connections[RR_PROCESS_CONNECTIONS];
	uint8_t places[RR_PROCESS_CONNECTIONS]; /* to which they have come */
	int64_t spent_ns; /* of its time by the program, since it connected or sent something last */
	struct rr_outside outside;
	struct rr_watch watch;
	char copy[RR_FRESH_PATH]; /* of the directory of --fresh; "" = it has none */
	struct rr_touches writes; /* that the watch has seen */
	unsigned n_answered;      /* as it was at the last look */
	/* With the shim: time goes on by itself to the end of whatever the program sleeps
	 * for, when it is owed nothing. */
	struct rr_program_clock clock;
	int output_fd; /* -1 = closed */
	char *output;  /* so far */
	size_t n_output, output_size;
	uint64_t n_more; /* bytes behind it, and what they are: whole blocks, and the last one */
	uint64_t digests[2];
	char block[RR_PROCESS_BLOCK];
	unsigned app_port;           /* of an app; 0 = nobody talks to it */
	struct rr_queues queues;     /* bytes that wait there, and */
	struct rr_queue_ends ends;   /* of the connections on which they do */
	int64_t queued_ns;           /* since when; 0 = none */
	int64_t busy_ns;             /* since when it computes */
	int64_t looked_ns;           /* when its threads were looked at last */
	struct rr_process_look look; /* the last one at its threads */
	struct rr_threads threads;   /* as that saw them; of an app */
	struct rr_process_files files;
	bool has_ended; /* itself: others of its group may go on */
	int status;     /* of one that has ended: of wait(2) */
};

enum rr_process_end {
	RR_PROCESS_STOPPED, /* it waits for us */
	RR_PROCESS_ENDED,   /* with all of its process group */
	RR_PROCESS_HANGS,   /* it neither asks anything nor ends */
	RR_PROCESS_FAILED,  /* the error, or on_request said so */
};

/* NULL: the error. It runs from now on. */
struct rr_process *rr_process_start(const struct rr_process_plan *plan, struct rr_error *error);

/* Kills it with all its children. */
void rr_process_free(struct rr_process *process);

/* Until it waits for us, and is owed a reply. */
enum rr_process_end rr_process_wait(struct rr_process *process, struct rr_error *error);

/* Writes a whole reply; what has been closed takes it silently. */
void rr_process_write(struct rr_process *process, int connection, const char *text, size_t length);

/* What it has printed so far, with a NUL behind: all bytes, or RR_PROCESS_OUTPUT of them and a line
 * that tells what comes behind them from anything else. Valid until the next wait. */
struct rdl_word rr_process_output(struct rr_process *process);

/* Closes a connection without a word. */
void rr_process_cut(struct rr_process *process, int connection);

#endif
