/* SPDX-License-Identifier: MIT */
/*
 * The counting loop at full speed: one run of one strategy, its measurement and
 * verdict; and what the command bench makes of many runs.
 */
#ifndef RR_BENCH_H
#define RR_BENCH_H

#include "base/option.h"
#include "cluster/cluster.h"
#include "party/party.h"
#include "expected.h"

/* ---- One run ------------------------------------------------------------- */

/* A client's time in a critical section, in nanoseconds. */
struct rr_hold {
	int client, key; /* which of them, from 0 */
	int others;      /* that were in it meanwhile */
	int64_t asked_ns, entered_ns, left_ns;
};

/* The last times of each client of a run, and when the run began. */
struct rr_holds {
	size_t most;           /* of each client */
	struct rr_hold *holds; /* the caller's to free; by entered_ns */
	size_t n;
	int64_t start_ns;
};

/* The gaps between planned increments of an open loop. */
enum rr_arrivals { RR_ARRIVALS_EXPONENTIAL, RR_ARRIVALS_EVEN };
extern const char *const rr_arrivals_names[];

/* One measured run of one strategy. */
struct rr_run {
	const struct rr_strategy *strategy;
	const struct rr_cluster *cluster;
	const char *prefix; /* of all keys */
	int threads;        /* in each process, a connection each */
	int processes;
	long increments; /* in total, exactly */
	long warmup;     /* in total, before the measured ones */
	int keys;        /* counters to spread them over */
	long ttl_ms;
	long hold_us;
	uint64_t seed;
	enum rr_policy policy;           /* rr_policy_for(), without objection */
	bool dead_holder;                /* a client has died with the locks (holder.c) */
	long kill_workers;               /* with RR_POLICY_DELAY_QUEUE and one thread */
	long patience_ms;                /* without progress; 0 = 20 s (motion.c) */
	const struct rdl_driver *driver; /* of all connections, or NULL */
	struct rr_holds *trace;          /* filled, if there is one */
	/* NULL, or what is killed meanwhile: the data server and its replicas, or
	 * the lock servers; whole when the run begins and when it ends. */
	struct rr_formation *formation;
	long fail_overs;    /* to happen in the run */
	int64_t cut_ns;     /* replicas are cut off so long before each */
	long wait_replicas; /* by WAIT, after acquiring and after writing */
	/* 0: a closed loop. Else arrivals of all clients together, planned in a window from the start;
	 * exponential gaps, or even ones. */
	double rate_per_s;
	enum rr_arrivals arrivals;
	int64_t window_ns;
	const char *rate_asked; /* "500" or "80%"; NULL: a closed loop */
	double capacity_per_s;  /* the highest rate that was sustained; 0 = not looked for */
};

enum rr_verdict {
	RR_VERDICT_EXACT,        /* promised, and counted exactly */
	RR_VERDICT_LOSSY,        /* expected to lose, and lost */
	RR_VERDICT_VIOLATED,     /* promised exact, and was not */
	RR_VERDICT_INCONCLUSIVE, /* nothing shown either way */
	RR_VERDICT_STUCK,        /* expected to make no progress, and made none */
	RR_VERDICT_FAILED_OVER,  /* lost what no one promises to keep when a
				  * server dies */
};

/* Of all durations, in nanoseconds. Of a quantile with fewer than 100 durations beyond it nothing is
 * known: it is 0, as are the waits of that rank. */
struct rr_times {
	uint64_t min, p50, p90, p99, p999, max;
	double mean;
	uint64_t time_p50; /* half of all time is spent in increments that are longer */
	uint64_t wait_p50, wait_p99, wait_max;
};

/* Disturbances of the machine while runs were measured (disturbance.c). */
struct rr_disturbance {
	int64_t measured_ns, steal_ns;
	int64_t attributed_ns, others_ns; /* where the time of our own is known */
	bool knows_throttling;
	int64_t throttled;           /* times */
	int64_t least_khz, most_khz; /* of the first processor; 0 = not known */
};

/* What a run came to: added up over its clients, and judged. */
struct rr_measurement {
	struct rr_run run;       /* what it points to may be gone, but for the strategy */
	enum rr_promise promise; /* in this configuration */
	long killed;             /* workers, seen dead */
	enum rr_topology topology;
	bool waits_for_all; /* run.wait_replicas: are they all that there are? */
	struct rr_formation_tally tally;
	uint64_t unconfirmed; /* WAITs that too few replicas answered */

	uint64_t attempted, ok, failed, unknown;
	long long expected_value, final_value;
	long long lost, extra;
	uint64_t overlaps; /* entries into an occupied critical section */
	uint64_t overruns; /* critical sections that outlived the lease */
	bool deadlocked;   /* it made no progress any more, against what is
			    * expected: no figures */
	enum rr_verdict verdict;
	const char *remark; /* why, in a few words */

	int dead_holders;    /* locks of a client that had died, at the start ... */
	int64_t recovery_ns; /* ... and after so long the first client got one */
	int64_t wall_ns;
	uint64_t retries, retry_max, commands;
	uint64_t thread_ops_min, thread_ops_max; /* when the first was done */
	double fairness_jain;                    /* 1 = all equal, 1/n = one */
	double luckiest_pct; /* of what was done by then, the share of the client that did the most */
	int64_t client_user_ns, client_sys_ns, server_cpu_ns;
	struct rr_times times; /* all 0 of an open loop that was not sustained */

	/* Of an open loop: arrivals; done in the window; unfinished at its end, of which `undone` were
	 * never done, so that attempted + undone = offered; how late clients woke. */
	uint64_t offered, in_time, unfinished, undone;
	bool is_sustained; /* 99 % were finished, and the backlog did not grow */
	uint64_t wake_p50_ns, wake_p99_ns;

	struct rr_disturbance disturbance;
};

struct rr_spectra; /* every duration: measures.h */

/* Told about four times a second, while clients count, what is done by then. */
struct rr_watcher {
	void (*watch)(void *context, const struct rr_run *run, uint64_t done, int64_t elapsed_ns);
	void *context;
};

/*
 * Runs it and judges it. True: `measurement` and `spectra` are filled, whatever
 * the verdict. False: RR_ERROR_SKIPPED when the server lacks or forbids a
 * command of the strategy, RR_ERROR_INTERRUPTED after a signal, or why it
 * failed. The run's keys are deleted in any case where the server still
 * answers. `watcher` and `spectra` may be NULL.
 */
bool rr_bench_run(const struct rr_run *run, struct rr_signals *signals,
		  const struct rr_watcher *watcher, struct rr_measurement *measurement,
		  struct rr_spectra *spectra, struct rr_error *error);

/* Makes it an open loop of so many seconds; its increments are those that are planned on average. */
void rr_run_open(struct rr_run *run, double rate_per_s, long seconds, enum rr_arrivals arrivals);

/* Increments that were done, in the window of an open loop; an attempt that was refused is none. */
double rr_increments_per_s(const struct rr_measurement *measurement);

/* What the program exits with for it. */
enum rr_exit rr_verdict_exit(enum rr_verdict verdict);

/* ---- demo: counts to look at (live.c) ------------------------------------ */

struct rr_live {
	const char *strategy;
	int threads, processes; /* threads in each process */
	long seconds;           /* it takes, about */
};

/* Prints what is expected and what is there, while clients count on a server of
 * `cluster` and when they have. Returns the verdict's exit code, unless there is
 * an error. */
enum rr_exit rr_live_count(const struct rr_live *live, struct rr_cluster *cluster,
			   struct rr_error *error);

/* ---- bench: many runs, with results on disk ------------------------------ */

enum { RR_SWEEP_MAX = 16, RR_CLIENTS_MAX = 4096 };

/* One of --rate: arrivals a second, or per cent of the capacity. */
struct rr_rate {
	double value;
	bool is_pct;
	char text[16]; /* as it was given */
};

enum rr_pin { RR_PIN_SAME, RR_PIN_NONE, RR_PIN_DEFAULT };

/* What `redrace bench` was asked to do. */
struct rr_bench_options {
	struct rr_chosen_strategies strategies;
	bool all;                   /* strategies, by name or not */
	long threads[RR_SWEEP_MAX]; /* a run for each */
	size_t n_threads;
	long processes, increments, repeats, warmup, keys, ttl_ms, hold_us;
	long seconds_per_cell;              /* instead of increments; 0 = as many as those take */
	struct rr_rate rates[RR_SWEEP_MAX]; /* an open loop for each; none: a closed loop */
	size_t n_rates;
	enum rr_arrivals arrivals; /* of it */
	long seed;
	enum rr_policy policy;
	bool dead_holder;
	long kill_workers;
	long trace; /* times in critical sections to keep of each client */
	enum rr_topology topology;
	long fail_overs, cut_ms, wait_replicas;
	enum rr_persistence persistence;
	enum rr_pin pin;
	const char *redis_server;
	struct rdl_address redis[RR_CLUSTER_SERVERS]; /* the user's own */
	size_t n_redis;
	const char *password_file; /* theirs, where the URI has none */
	bool asks_password;
	const char *output;       /* NULL = a fresh directory under results/ */
	struct rr_outputs report; /* besides */
};

/* For a struct rr_bench_options. */
extern const struct rr_command_line rr_bench_command_line;
struct rr_bench_options rr_bench_defaults(void);

/* Runs each strategy with each number of threads, prints the table, writes the
 * results. What cannot be run is named on stderr and left out. The worst
 * verdict's exit code, RR_EXIT_SKIPPED when nothing was run; an error is left
 * in `error`. */
enum rr_exit rr_bench(const struct rr_bench_options *options, struct rr_session *session,
		      const char *command_line, struct rr_error *error);

/* ---- compare: two results directories ------------------------------------ */

struct rr_compare_options {
	const char *directories[2]; /* before and after */
	size_t n_directories;
	long tolerance_pct; /* a smaller difference does not matter */
	bool anyway;        /* figures, although the environments differ */
	bool fail_if_slower;
	struct rr_outputs outputs;
};

/* Publishes what counts wrongly now, what differs, and what that shows.
 * RR_EXIT_VIOLATED: a count is wrong; RR_EXIT_DATA: not measured alike;
 * RR_EXIT_SLOW: as asked for. */
enum rr_exit rr_compare(const struct rr_compare_options *options, struct rr_error *error);

/* The runs of the first directory as text of Go's benchmarks, for benchstat. */
void rr_write_gobench(const struct rr_compare_options *options, struct rr_error *error);

#endif
