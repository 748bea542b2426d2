/* SPDX-License-Identifier: MIT */
/*
 * A run's clients, and the piece of memory that they share with the program:
 * mapped before worker processes are forked. Each client writes to a slot of
 * its own; what others read while it runs is atomic.
 */
#ifndef RR_BENCH_CLIENT_H
#define RR_BENCH_CLIENT_H

#include <semaphore.h>
#include <stdatomic.h>

#include "measures.h"
#include "cluster/cluster.h"

/* ---- The servers of a run (run.c) ---------------------------------------- */

/* Where the data server is (0), and the lock servers (from 1 on). */
const struct rdl_address *rr_run_address(const struct rr_run *run, size_t i);

/* After how many milliseconds a reply counts as lost. With an append-only file it is longer: the
 * server answers no client while it waits for the disk, whose fsync(2) may take seconds. */
int rr_run_timeout_ms(const struct rr_run *run);

/* ---- The shared memory (worker.c) ---------------------------------------- */

enum { RR_CACHE_LINE = 64 };

/* One client's results. Plain fields are read after its process has ended. */
struct rr_slot {
	_Alignas(RR_CACHE_LINE) _Atomic uint64_t done; /* increments tried */
	uint64_t ok, failed, unknown;
	uint64_t retries, retry_max;
	uint64_t commands;
	uint64_t overlaps;
	uint64_t overruns;        /* critical sections that outlived the lease */
	uint64_t unconfirmed;     /* WAITs that too few replicas answered */
	uint64_t done_at_first;   /* when the first client was through */
	_Atomic uint64_t handled; /* own increments done or put off */
	uint64_t unsettled;       /* ... of which it is not known */
	_Atomic uint64_t deaths;  /* times it has killed its own process ... */
	uint64_t replaced;        /* ... and another went on: the program's */
	int64_t start_ns, end_ns;
	int64_t first_ns; /* when it got a lock for the first time; 0 = it did not */
	/* Of an open loop: arrivals of the window; of them unfinished halfway; at its end not done, and
	 * done after it; and how late a client woke for one. */
	uint64_t offered, halfway, unfinished, late;
	struct rr_histogram *wake;
	struct rr_error error; /* why it gave up */
	uint64_t n_holds;      /* noted so far, with a trace */
	struct rr_hold *holds; /* the last of them, a ring */
	struct rr_histogram latency;
	struct rr_histogram waiting;
};

/* One worker process's use of the processor while it ran, and of those whose
 * place it took. */
struct rr_usage {
	_Atomic int64_t user_ns, sys_ns;
};

/* How many clients are in the critical section of one counter. */
struct rr_section {
	_Alignas(RR_CACHE_LINE) _Atomic int occupants;
};

struct rr_board {
	sem_t go;            /* posted once per waiting thread */
	_Atomic int n_ready; /* clients that have come to the barrier, in all rounds */
	_Atomic bool stop;   /* everybody: finish this increment and end */
	_Atomic bool someone_done;
	_Atomic bool works; /* somebody has counted twice */
	_Atomic long kills; /* claimed by workers that are to die */
	size_t size;
	size_t n_clients;
	size_t n_processes;
	struct rr_slot *slots;
	struct rr_usage *usage;
	struct rr_section *sections;
};

/* Shared with every process forked afterwards. */
struct rr_board *rr_board_new(const struct rr_run *run);
void rr_board_free(struct rr_board *board);

/* Increments tried so far, by all clients together. */
uint64_t rr_board_done(const struct rr_board *board);

/* Has somebody called the run off? */
bool rr_board_is_stopped(const struct rr_board *board);
void rr_board_stop(struct rr_board *board);

/* Stands at the barrier until the program opens it for all clients. */
void rr_board_meet(struct rr_board *board);

/* The calling process's use of the processor counts from +1 to -1. */
void rr_usage_add(struct rr_usage *usage, int sign);

/*
 * The life of worker number `process`, called in a fork: connects its clients,
 * stands at the barrier, runs their share, leaves the results on the board. One
 * that comes after a dead one goes on where that one was. Returns its exit
 * code.
 */
int rr_worker(const struct rr_run *run, struct rr_board *board, int process);

/* ---- Progress (motion.c) ------------------------------------------------- */

/* How a run has moved so far. */
struct rr_motion {
	uint64_t done;
	int64_t moved_ns; /* when that was seen first */
	uint64_t window_done;
	int64_t window_ns;
};

struct rr_motion rr_motion_begin(int64_t now_ns);

/* So many increments are done by now: NULL, or why that is no progress. */
const char *rr_motion_look(struct rr_motion *motion, const struct rr_run *run, uint64_t done,
			   int64_t now_ns);

/* ---- A client (client.c) ------------------------------------------------- */

/* One counter as one client sees it. */
struct rr_target {
	char counter[RR_KEY_SIZE];
	char lock[RR_KEY_SIZE];
	struct rr_client client;
};

/* A client of a run: one thread and its connections. */
struct rr_runner {
	const struct rr_run *run;
	struct rr_board *board;
	struct rr_slot *slot;
	struct rdl_mutex *mutexes; /* this process's, one per counter */
	int number;                /* among all clients of all processes */
	struct rr_random random;
	struct rdl_link *data;
	struct rdl_link *lock_nodes[RR_CLUSTER_SERVERS];
	size_t n_lock_nodes;
	struct rr_target *targets;     /* one per counter */
	struct rdl_delay_queue *queue; /* only with RR_POLICY_DELAY_QUEUE */
	uint64_t commands_before;      /* the measured part */
	bool resumes;                  /* goes on for a client that has died */
	/* Of an attempt, and of one that was put off; with a trace others. */
	struct rr_attempt_hooks hooks[2];
	int64_t troubled_ns;       /* since when nothing works; 0 = it does */
	bool entered;              /* the last attempt got its lock ... */
	enum rdl_outcome released; /* ... and gave it back */
	int counted;               /* increments, up to two: see board->works */
	int silences;              /* unknown outcomes in a row */
	int quorums_missed;        /* in a row: too few lock servers answered */
};

/* Connects; false after rr_runner_give_up() when it cannot. Close it in any
 * case. */
bool rr_runner_open(struct rr_runner *runner);
void rr_runner_close(struct rr_runner *runner);

/* Commands sent so far, over all connections. */
uint64_t rr_runner_commands(const struct rr_runner *runner);

/* Leaves the reason in the slot and stops everybody. */
void rr_runner_give_up(struct rr_runner *runner, enum rr_error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * One attempt at one increment: asks for the lock once, if there is one, and
 * counts if it was granted; then `entered_ns` is the time at which it was our
 * turn. `item` is NULL, or the id of an increment that was put off and has been
 * taken from the queue. An acquire without a known end has counted nothing:
 * RDL_LOST, as is an item that is not ours any more; runner->entered tells them
 * apart.
 */
enum rdl_outcome rr_runner_attempt(struct rr_runner *runner, struct rr_target *target,
				   const char *item, int64_t *entered_ns);

/* After a failure: is the data server still there? If not, gives up. `target`
 * NULL: it was not about that one's lock. */
void rr_runner_check_server(struct rr_runner *runner, const struct rr_target *target,
			    enum rdl_outcome outcome);

/* Has this attempt certainly done nothing, because of a fail-over, so that it
 * may be made again? Then it has waited a little. Gives up when nothing has
 * worked for too long. */
bool rr_runner_may_endure(struct rr_runner *runner, enum rdl_outcome outcome);

/* ---- The counting loop (count.c) ----------------------------------------- */

/* Does this client's share of `total` increments, without a queue, in `rounds` parts, before
 * each of which but the first all clients meet; what it counts and measures goes to the slot.
 * Ends early when the board says stop. */
void rr_count(struct rr_runner *runner, long total, int rounds);

int64_t rr_count_now_ns(const struct rr_runner *runner);

/* Client `number`'s part of `total` increments. */
long rr_count_share(const struct rr_board *board, size_t number, long total);

/* One of the counters, at random. */
struct rr_target *rr_count_choose(struct rr_runner *runner);

/* Tries until it is not refused any more, or `deadline_ns` is over; RDL_BUSY:
 * that, or it was told to stop. With `item` as rr_runner_attempt(). */
enum rdl_outcome rr_count_insist(struct rr_runner *runner, struct rr_target *target,
				 const char *item, int64_t deadline_ns, int64_t *entered_ns);

/* Was it refused, and may it be tried again? Not when the run is called off,
 * nor after too many quorums missed in a row. */
bool rr_count_may_retry(struct rr_runner *runner, enum rdl_outcome outcome);

/* So many refusals of one increment. */
void rr_count_note_refusals(struct rr_slot *slot, uint64_t refusals);

/* One increment as the run's policy has it: with fail-fast one attempt, RDL_BUSY if it was refused;
 * else as rr_count_insist(). */
enum rdl_outcome rr_count_once(struct rr_runner *runner, struct rr_target *target,
			       int64_t deadline_ns, int64_t *entered_ns);

/* An increment has ended so at end_ns, asked for at start_ns, its turn at entered_ns. One that was
 * certainly not done has no latency. */
void rr_count_note(struct rr_runner *runner, const struct rr_target *target,
		   enum rdl_outcome outcome, int64_t start_ns, int64_t entered_ns, int64_t end_ns);

/* This client is through with its share. */
void rr_count_note_first_done(struct rr_board *board);

/* ---- An open loop: --rate (open.c) ---------------------------------------- */

/* Does this client's planned arrivals, until the run's window is over; what it counts and measures
 * goes to the slot. Ends early when the board says stop. */
void rr_count_open(struct rr_runner *runner);

/* ---- The loop of --wait delay-queue (document 001, QF-3; postpone.c) ----- */

/*
 * Does this client's share of the run's increments, or what is left of it. One
 * that is refused goes into the queue that all clients share, and the client
 * goes on; between its own ones, and when it is through, it takes what is due.
 * Ends when all clients are through and the queue is empty, or the board says
 * stop.
 */
void rr_postpone(struct rr_runner *runner);

/*
 * --kill-workers: a client that has just taken an item kills its process when
 * it is time for one of the run's kills, which are spread evenly over the run.
 * Each such worker is one client, and dies with no other increment in flight;
 * so its slot tells what is left to do. In the program: has worker `process`,
 * which ended with `status`, done that? Then its place at the barrier is free
 * for another rr_worker(). True once for each death.
 */
bool rr_postpone_died_on_purpose(const struct rr_run *run, struct rr_board *board, int process,
				 int status);

/* ---- A holder that has died (holder.c) ---------------------------------------- */

/* Returns in how many rounds the clients count, each of which begins with the locks of a dead
 * holder; 1 where it leaves none: it takes none, or its process takes it along. */
int rr_holder_rounds(const struct rr_run *run);

/* Returns how many locks it leaves in all of them. */
int rr_holder_locks(const struct rr_run *run);

/* The life of a process that takes all locks of the run as the strategy does, and dies by
 * SIGKILL before it has done anything. It exits with 0 when it could not: why stands on the
 * board. */
int rr_holder(const struct rr_run *run, struct rr_board *board);

/* ---- What the run came to (measurement.c) -------------------------------- */

/* Adds up the board, the durations into `spectra`. Final value and server time
 * are the caller's to fill. */
void rr_measurement_gather(struct rr_measurement *measurement, struct rr_spectra *spectra,
			   const struct rr_run *run, const struct rr_board *board);

/* ---- Who was in a critical section when (trace.c) ------------------------ */

/* Takes all rings from the board, in order. */
void rr_trace_gather(struct rr_holds *trace, const struct rr_board *board);

#endif
