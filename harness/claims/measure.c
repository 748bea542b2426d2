/* SPDX-License-Identifier: MIT */
#include "claims.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/random.h"
#include "base/text.h"
#include "bench/bench.h"

/* One being taken: a server of its own, and its result. */
struct measuring {
	enum rr_measure measure;
	struct rr_session *session;
	const char *program;
	struct rr_cluster cluster;
	struct rdl_link *link; /* to its server */
	struct rr_job_result *result;
};

/* ---- Results ---------------------------------------------------------------------- */

/* The figures, as printf(); the first call sets them, later ones add. */
__attribute__((format(printf, 2, 3))) static void say(struct measuring *measuring,
						      const char *format, ...)
{
	char *text = measuring->result->text;
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, RR_JOB_TEXT - used, format, arguments);
	va_end(arguments);
}

/* What the figures come to: is it as it must be, and was what is claimed seen? Of several judgements
 * the worst counts. */
static void judge(struct measuring *measuring, bool is_right, bool was_seen)
{
	const enum rr_measured measured = !is_right ? RR_MEASURED_BROKEN :
					  was_seen  ? RR_MEASURED_SHOWN :
						      RR_MEASURED_OPEN;

	if (measured > measuring->result->measured)
		measuring->result->measured = measured;
}

/* It could not be taken; false. */
__attribute__((format(printf, 3, 4))) static bool fail(struct measuring *measuring,
						       enum rr_exit code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(measuring->result->text, RR_JOB_TEXT, format, arguments);
	va_end(arguments);
	measuring->result->code = code;
	return false;
}

/* ---- Servers and runs --------------------------------------------------------------- */

/* A connected link to the server; NULL: the result says why. */
static struct rdl_link *connect_link(struct measuring *measuring)
{
	struct rdl_link *link = rdl_link_new(&measuring->cluster.servers[0].address, RR_TIMEOUT_MS);

	if (link && rdl_link_connect(link) == RDL_OK)
		return link;
	fail(measuring, RR_EXIT_REDIS, "%s", link ? rdl_link_error(link) : "out of memory");
	rdl_link_free(link);
	return NULL;
}

/* Starts the server that is measured. */
static bool open_server(struct measuring *measuring, enum rr_persistence persistence)
{
	const struct rr_cluster_options options = {
		.program = measuring->program,
		.clock = RR_CLUSTER_REAL,
		.persistence = persistence,
		.cpu = -1,
	};
	struct rr_error error = { 0 };

	if (!rr_cluster_open(&measuring->cluster, measuring->session, &options, &error) ||
	    !rr_cluster_need(&measuring->cluster, 1, &error))
		return fail(measuring, rr_report_error(&error), "no server");
	measuring->link = connect_link(measuring);
	return measuring->link != NULL;
}

static void close_server(struct measuring *measuring)
{
	rdl_link_free(measuring->link);
	measuring->link = NULL;
	rr_cluster_close(&measuring->cluster);
}

/* `increments` under a strategy, by the bench. */
static bool run_bench(struct measuring *measuring, const char *strategy, int threads, int processes,
		      long increments, struct rr_measurement *measurement)
{
	const struct rr_run run = {
		.strategy = rr_strategy_find(strategy),
		.cluster = &measuring->cluster,
		.prefix = measuring->session->prefix,
		.threads = threads,
		.processes = processes,
		.increments = increments,
		.keys = 1,
		.ttl_ms = 10000,
		.seed = 1,
	};
	struct rr_error error = { .kind = RR_ERROR_NONE };

	if (!rr_bench_run(&run, &measuring->session->signals, NULL, measurement, NULL, &error))
		return fail(measuring, rr_exit_of(error.kind), "%s", error.text);
	return !measurement->deadlocked ||
	       fail(measuring, RR_EXIT_VIOLATED, "%s: %s", strategy, measurement->remark);
}

/* ---- Threads --------------------------------------------------------------------------- */

enum { THREADS_MAX = 8 };

struct thread {
	int number;            /* from 0 */
	struct rdl_link *link; /* of its own */
	void (*body)(struct thread *thread);
	void *context;
	bool failed; /* set by the body when a command did not work */
	pthread_t id;
};

static void *run_body(void *argument)
{
	struct thread *thread = argument;

	thread->body(thread);
	return NULL;
}

/* Runs `body` in `n` threads at once: all of them or none, for bodies may wait for one another.
 * False: it could not be taken, and the result says why. */
static bool run_threads(struct measuring *measuring, int n, void (*body)(struct thread *thread),
			void *context)
{
	struct thread threads[THREADS_MAX] = { { 0 } };
	bool good = true;

	for (int i = 0; i < n; i++) {
		threads[i] = (struct thread){ .number = i,
					      .link = connect_link(measuring),
					      .body = body,
					      .context = context };
		good &= threads[i].link != NULL;
	}
	for (int i = 0; i < n && good; i++) {
		if (pthread_create(&threads[i].id, NULL, run_body, &threads[i]) != 0)
			_exit(rr_complain(RR_EXIT_INTERNAL, "cannot start a thread"));
	}
	for (int i = 0; i < n && good; i++)
		pthread_join(threads[i].id, NULL);
	for (int i = 0; i < n; i++) {
		if (good && threads[i].failed)
			good = fail(measuring, RR_EXIT_REDIS, "%s",
				    rdl_link_error(threads[i].link));
		rdl_link_free(threads[i].link);
	}
	return good;
}

/* ---- Counting loops: which of them lose updates -------------------------------------------- */

/* Lossy is what is claimed of some; more than was counted can never be. */
static const struct loop {
	enum rr_measure measure; /* one may have several */
	const char *text, *strategy;
	int threads, processes;
	long increments;
	bool is_lossy;
} loops[] = {
	{ RR_MEASURE_LOST_UPDATES, "two threads, 10,000 increments:", "none", 2, 1, 10000, true },
	{ RR_MEASURE_INCR, "two threads, 10,000 increments:", "incr", 2, 1, 10000, false },
	{ RR_MEASURE_MUTEX_PER_OPERATION, "of 10,000 with a mutex in each operation",
	  "local-mutex-per-op", 2, 1, 10000, true },
	{ RR_MEASURE_MUTEX_PER_OPERATION, "around the whole", "local-mutex", 2, 1, 10000, false },
	{ RR_MEASURE_MUTEX_IN_PROCESSES, "two processes, 10,000 increments:", "local-mutex", 1, 2,
	  10000, true },
	{ RR_MEASURE_LOCK_IN_REDIS, "two processes, 3,000 increments:", "lua-delifequals", 1, 2,
	  3000, false },
};

static bool count_increments(struct measuring *measuring)
{
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		const struct loop *loop = &loops[i];
		char value[RR_GROUPED_SIZE];
		struct rr_measurement m;

		if (loop->measure != measuring->measure)
			continue;
		if (!run_bench(measuring, loop->strategy, loop->threads, loop->processes,
			       loop->increments, &m))
			return false;
		if (loop->is_lossy)
			judge(measuring, !m.extra && m.final_value >= 2, m.lost > 0);
		else
			judge(measuring, !m.extra && !m.lost && !m.overlaps, true);
		say(measuring, "%s%s %s", measuring->result->text[0] ? ", " : "", loop->text,
		    rr_grouped(value, m.final_value));
	}
	return true;
}

enum { ROUNDS = 1000, THREADS = 4 };

/* ---- One writes three keys again and again, another reads --------------------------- */

struct interference {
	int rounds;
	bool (*read)(struct rdl_link *link, struct interference *interference);
	_Atomic bool done;
	/* Reads, of two sorts, that the writer came between. */
	long first, second;
};

/* Thread 0 writes, thread 1 reads. */
static void write_or_read(struct thread *thread)
{
	struct interference *interference = thread->context;
	struct rdl_reply reply;

	if (thread->number == 0) {
		for (long i = 0; !interference->done && !thread->failed; i++)
			thread->failed = rdl_run(thread->link, &reply, "MSET a %ld b %ld c %ld", i,
						 i, i) != RDL_OK;
		return;
	}
	for (int i = 0; i < interference->rounds && !thread->failed; i++)
		thread->failed = !interference->read(thread->link, interference);
	interference->done = true;
}

static bool interfere(struct measuring *measuring, struct interference *interference)
{
	struct rdl_reply reply;

	return rdl_run(measuring->link, &reply, "MSET a 0 b 0 c 0") == RDL_OK &&
	       run_threads(measuring, 2, write_or_read, interference);
}

/* ---- Reads of several keys ------------------------------------------------------------ */

static bool read_number(struct rdl_link *link, const char *key, long long *value)
{
	struct rdl_reply reply;

	return rdl_run(link, &reply, "GET %s", key) == RDL_OK && rdl_reply_number(&reply, value);
}

/* By one command, and by three. */
static bool read_three(struct rdl_link *link, struct interference *torn)
{
	struct rdl_reply reply;
	long long a, b, c;

	if (rdl_run(link, &reply, "MGET a b c") != RDL_OK)
		return false;
	torn->first += strcmp(reply.elements[0].text, reply.elements[1].text) != 0 ||
		       strcmp(reply.elements[0].text, reply.elements[2].text) != 0;
	if (!read_number(link, "c", &c) || !read_number(link, "b", &b) ||
	    !read_number(link, "a", &a))
		return false;
	torn->second += a != b || b != c;
	return true;
}

static bool measure_torn_reads(struct measuring *measuring)
{
	struct interference torn = { .rounds = ROUNDS, .read = read_three };

	if (!interfere(measuring, &torn))
		return false;
	say(measuring, "torn in 1,000 reads: %ld by one MGET, %ld by three GETs", torn.first,
	    torn.second);
	judge(measuring, torn.first == 0, torn.second > 0);
	return true;
}

/* ---- Pipelines ------------------------------------------------------------------------- */

enum { SHORT = 100, LONG = 5000, TRIES = 20 };

/* One write with `n` reads of a key: did the value change in between? */
static bool read_pipeline(struct rdl_link *link, int n, long *interrupted)
{
	long long first = 0, value = 0;
	struct rdl_reply reply;

	for (int i = 0; i < n; i++) {
		if (rdl_queue(link, "GET a") != RDL_OK)
			return false;
	}
	if (rdl_flush(link) != RDL_OK)
		return false;
	for (int i = 0; i < n; i++) {
		if (rdl_receive(link, &reply) != RDL_OK || !rdl_reply_number(&reply, &value))
			return false;
		if (i == 0)
			first = value;
	}
	*interrupted += value != first;
	return true;
}

static bool read_pipelines(struct rdl_link *link, struct interference *cut)
{
	return read_pipeline(link, SHORT, &cut->first) && read_pipeline(link, LONG, &cut->second);
}

static bool measure_pipeline_size(struct measuring *measuring)
{
	struct interference cut = { .rounds = TRIES, .read = read_pipelines };

	if (!interfere(measuring, &cut))
		return false;
	say(measuring, "interrupted: %ld of %d pipelines of %d commands, %ld of %d of %d",
	    cut.first, TRIES, SHORT, cut.second, TRIES, LONG);
	judge(measuring, true, cut.second > 0);
	return true;
}

/* ---- A connection each ------------------------------------------------------------------ */

static void read_own(struct thread *thread)
{
	_Atomic long *wrong = thread->context;
	const int own = thread->number; /* the key, and its value */
	struct rdl_reply reply;
	long long value;

	thread->failed = rdl_run(thread->link, &reply, "SET %d %d", own, own) != RDL_OK;
	for (int i = 0; i < ROUNDS && !thread->failed; i++) {
		thread->failed = rdl_run(thread->link, &reply, "GET %d", own) != RDL_OK;
		if (!thread->failed && (!rdl_reply_number(&reply, &value) || value != own))
			++*wrong;
	}
}

static bool measure_own_connections(struct measuring *measuring)
{
	_Atomic long wrong = 0;

	if (!run_threads(measuring, THREADS, read_own, &wrong))
		return false;
	say(measuring, "four threads, a connection each: %ld of 4,000 replies were not their own",
	    wrong);
	judge(measuring, wrong == 0, true);
	return true;
}

/* ---- One connection for all --------------------------------------------------------------- */

struct shared {
	int socket;
	_Atomic long wrong;
};

/* ECHO of its number: each reply is seven bytes, and tells whose it is. */
static void echo_own(struct thread *thread)
{
	struct shared *shared = thread->context;
	char command[64], reply[7];
	const int length = snprintf(command, sizeof(command), "*2\r\n$4\r\nECHO\r\n$1\r\n%d\r\n",
				    thread->number);

	for (int i = 0; i < ROUNDS; i++) {
		if (send(shared->socket, command, (size_t)length, MSG_NOSIGNAL) != length)
			return;
		if (recv(shared->socket, reply, sizeof(reply), MSG_WAITALL) !=
		    (ssize_t)sizeof(reply))
			return;
		shared->wrong += reply[4] != '0' + thread->number;
	}
}

static bool measure_shared_connection(struct measuring *measuring)
{
	/* A bare socket: rdl_link would be used by two threads at once. */
	struct shared shared = { .socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	const struct timeval limit = { .tv_usec = 200000 };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char wrong[RR_GROUPED_SIZE];
	bool good;

	snprintf(name.sun_path, sizeof(name.sun_path), "%.*s", (int)sizeof(name.sun_path) - 1,
		 measuring->cluster.servers[0].address.host);
	if (setsockopt(shared.socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
	    connect(shared.socket, (const struct sockaddr *)&name, sizeof(name)) != 0) {
		close(shared.socket);
		return fail(measuring, RR_EXIT_REDIS, "cannot connect");
	}
	good = run_threads(measuring, THREADS, echo_own, &shared);
	close(shared.socket);
	if (!good)
		return false;
	say(measuring, "four threads on one connection: %s of 4,000 replies were not their own",
	    rr_grouped(wrong, shared.wrong));
	judge(measuring, true, shared.wrong > 0);
	return true;
}

/* ---- One connection, a mutex around each command -------------------------------------------- */

struct guarded {
	struct rdl_link *link;
	struct rdl_mutex mutex;
	_Atomic long crossed;
};

/* Reads into `value`, or writes `store` if that is NULL. */
static bool run_guarded(struct guarded *guarded, long long *value, long long store)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	rdl_mutex_lock(guarded->link, &guarded->mutex);
	outcome = value ? rdl_run(guarded->link, &reply, "GET x") :
			  rdl_run(guarded->link, &reply, "SET x %lld", store);
	if (outcome == RDL_OK && value && !rdl_reply_number(&reply, value))
		guarded->crossed++;
	rdl_mutex_unlock(guarded->link, &guarded->mutex);
	return outcome == RDL_OK;
}

static void count_guarded(struct thread *thread)
{
	struct guarded *guarded = thread->context;
	long long value = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (!run_guarded(guarded, &value, 0) || !run_guarded(guarded, NULL, value + 1))
			return;
	}
}

static bool measure_mutex_on_connection(struct measuring *measuring)
{
	struct guarded guarded = { .link = measuring->link };
	long long final = 0;
	bool good;

	rdl_mutex_init(&guarded.mutex);
	good = run_guarded(&guarded, NULL, 0) &&
	       run_threads(measuring, 2, count_guarded, &guarded) &&
	       run_guarded(&guarded, &final, 0);
	rdl_mutex_destroy(&guarded.mutex);
	if (!good)
		return false;
	say(measuring,
	    "two threads, one connection, a mutex around each command: %ld replies crossed, 2,000 increments left %lld",
	    guarded.crossed, final);
	judge(measuring, guarded.crossed == 0, final != 2 * ROUNDS);
	return true;
}

static double seconds_since(const struct rdl_link *link, int64_t start_ns)
{
	return (double)(rdl_now_ns(link, RDL_CLOCK_MONOTONIC) - start_ns) / 1e9;
}

/* ---- Pipelines --------------------------------------------------------------------- */

enum { TRANSACTIONS = 1000 };

/* Seconds; negative: a transaction did not work. */
static double time_transactions(struct rdl_link *link, bool in_one_round_trip)
{
	const int64_t start_ns = rdl_now_ns(link, RDL_CLOCK_MONOTONIC);
	struct rdl_reply reply;

	for (int i = 0; i < TRANSACTIONS; i++) {
		const bool good = in_one_round_trip ?
					  rdl_queue(link, "MULTI") == RDL_OK &&
						  rdl_queue(link, "INCR a") == RDL_OK &&
						  rdl_queue(link, "INCR b") == RDL_OK &&
						  rdl_exec(link, 3, &reply) == RDL_OK :
					  rdl_run(link, &reply, "MULTI") == RDL_OK &&
						  rdl_run(link, &reply, "INCR a") == RDL_OK &&
						  rdl_run(link, &reply, "INCR b") == RDL_OK &&
						  rdl_run(link, &reply, "EXEC") == RDL_OK;

		if (!good)
			return -1;
	}
	return seconds_since(link, start_ns);
}

static bool measure_pipeline_gain(struct measuring *measuring)
{
	struct rdl_link *link = measuring->link;
	const double four = time_transactions(link, false);
	const double one = four < 0 ? -1 : time_transactions(link, true);

	if (one < 0)
		return false;
	say(measuring, "1,000 transactions: %.2f s in four round trips each, %.2f s in one", four,
	    one);
	judge(measuring, true, four > one);
	return true;
}

/* ---- Scripts ------------------------------------------------------------------------ */

enum { SCRIPT_SIZE = 2048, SCRIPT_RUNS = 2000 };

/* Negative: it did not work, or the replies are not as they should be. */
static double time_scripts(struct rdl_link *link, const char *command, const char *script,
			   long long from)
{
	const int64_t start_ns = rdl_now_ns(link, RDL_CLOCK_MONOTONIC);
	struct rdl_reply reply;

	for (int i = 1; i <= SCRIPT_RUNS; i++) {
		if (rdl_run(link, &reply, "%s %s 0", command, script) != RDL_OK ||
		    reply.integer != from + i)
			return -1;
	}
	return seconds_since(link, start_ns);
}

static bool measure_evalsha(struct measuring *measuring)
{
	struct rdl_link *link = measuring->link;
	char script[SCRIPT_SIZE], hash[64] = "";
	double whole, by_hash;
	struct rdl_reply reply;

	/* Two kilobytes of comment, and a command. */
	static const char body[] = "\nreturn redis.call('INCR', 'x')";

	memset(script, '-', SCRIPT_SIZE);
	memcpy(script + SCRIPT_SIZE - sizeof(body), body, sizeof(body));
	if (rdl_run(link, &reply, "SCRIPT LOAD %s", script) != RDL_OK ||
	    reply.length >= sizeof(hash))
		return false;
	memcpy(hash, reply.text, reply.length + 1);
	whole = time_scripts(link, "EVAL", script, 0);
	by_hash = time_scripts(link, "EVALSHA", hash, SCRIPT_RUNS);
	if (whole < 0 || by_hash < 0)
		return false;
	say(measuring, "2,000 runs of a script of 2 kB: %.2f s sent whole, %.2f s by its hash",
	    whole, by_hash);
	judge(measuring, true, 2 * by_hash > whole);
	return true;
}

/* ---- Methods and persistence ---------------------------------------------------------- */

/* Increments per second of four threads. A wrong count is what must not be. */
static bool measure_rate(struct measuring *measuring, const char *strategy, long increments,
			 const char *name, double *per_s)
{
	char text[RR_GROUPED_SIZE];
	struct rr_measurement m;

	if (!run_bench(measuring, strategy, 4, 1, increments, &m))
		return false;
	judge(measuring, !m.lost && !m.extra, true);
	*per_s = rr_increments_per_s(&m);
	say(measuring, "%s%s %s/s", measuring->result->text[0] ? ", " : "", name,
	    rr_grouped(text, (long long)*per_s));
	return true;
}

static bool measure_methods(struct measuring *measuring)
{
	double incr, script, watch, lock;

	if (!measure_rate(measuring, "incr", 4000, "INCR", &incr) ||
	    !measure_rate(measuring, "lua-incr", 4000, "script", &script) ||
	    !measure_rate(measuring, "multi-watch", 1000, "WATCH", &watch) ||
	    !measure_rate(measuring, "lua-delifequals", 1000, "lock", &lock))
		return false;
	judge(measuring, true, script > lock);
	return true;
}

/* The same server program with each way of keeping data. */
static bool measure_persistence(struct measuring *measuring)
{
	static const enum rr_persistence kinds[] = { RR_PERSIST_NONE, RR_PERSIST_EVERYSEC,
						     RR_PERSIST_ALWAYS };
	double rates[3];

	for (int i = 0; i < 3; i++) {
		close_server(measuring);
		if (!open_server(measuring, kinds[i]) ||
		    !measure_rate(measuring, "incr", 4000, rr_persistence_names[kinds[i]],
				  &rates[i]))
			return false;
	}
	judge(measuring, true, rates[0] > rates[2]);
	return true;
}

/* ---- Eight clients find one dead lock ------------------------------------------------ */

enum { CONTESTS = 50 };

struct contest {
	const struct rr_strategy *strategy;
	pthread_barrier_t barrier;
	_Atomic int holders; /* in this contest */
	int crowded;         /* contests with more than one */
	_Atomic bool failed;
};

static void contend(struct thread *thread)
{
	struct contest *contest = thread->context;
	struct rr_client client = {
		.data = thread->link, .counter = "x", .lock = "lock", .ttl_ms = 10000
	};
	const struct rr_strategy *strategy = contest->strategy;

	if (strategy->open && strategy->open(&client) != RDL_OK)
		contest->failed = true;
	for (int i = 0; i < CONTESTS; i++) {
		if (thread->number == 0) {
			struct rdl_reply reply;

			contest->holders = 0;
			/* A timestamp long past: its holder is dead. */
			if (rdl_run(thread->link, &reply, "SET lock 1000") != RDL_OK)
				contest->failed = true;
		}
		pthread_barrier_wait(&contest->barrier);
		if (!contest->failed && strategy->acquire(&client) == RDL_OK)
			contest->holders++;
		pthread_barrier_wait(&contest->barrier);
		if (thread->number == 0)
			contest->crowded += contest->holders > 1;
	}
	if (strategy->close)
		strategy->close(&client);
}

/* Rounds with more than one holder; negative: it failed. */
static int count_crowded(struct measuring *measuring, const char *strategy)
{
	struct contest contest = { .strategy = rr_strategy_find(strategy) };
	bool good;

	pthread_barrier_init(&contest.barrier, NULL, THREADS_MAX);
	good = run_threads(measuring, THREADS_MAX, contend, &contest);
	pthread_barrier_destroy(&contest.barrier);
	if (good && contest.failed)
		good = fail(measuring, RR_EXIT_REDIS, "%s did not work", strategy);
	return good ? contest.crowded : -1;
}

static bool measure_take_over(struct measuring *measuring)
{
	const int del = count_crowded(measuring, "setnx-del-takeover");
	const int getset = del < 0 ? -1 : count_crowded(measuring, "setnx-getset");

	if (getset < 0)
		return false;
	say(measuring,
	    "eight clients, a dead lock, %d rounds: more than one holder in %d by DEL and SETNX, in %d by GETSET",
	    CONTESTS, del, getset);
	judge(measuring, true, del > 0);
	return true;
}

/* ---- SETNX and GETSET with clients that stall --------------------------------------------- */

enum { LEASE_MS = 30, WORK_MS = 1, STALL_MS = 60, RUN_MS = 600, STALLS_IN_TEN = 7 };

struct stall {
	bool stalls;
	int64_t end_ns;
	_Atomic int inside;
	_Atomic long acquired, overlaps;
};

static int64_t now_ms(const struct rdl_link *link)
{
	return rdl_now_ns(link, RDL_CLOCK_REALTIME) / 1000000;
}

/* By the printed rule, with milliseconds for seconds: the old value is past. A
 * stall may come between computing the new value and sending it. */
static bool take_lock(struct thread *thread, struct rr_random *random, int64_t *end_ms)
{
	const struct stall *stall = thread->context;
	struct rdl_link *link = thread->link;
	struct rdl_reply reply;
	long long old;

	*end_ms = now_ms(link) + LEASE_MS;
	if (rdl_run(link, &reply, "SETNX lock %lld", (long long)*end_ms) != RDL_OK)
		return false;
	if (reply.integer == 1)
		return true;
	if (rdl_run(link, &reply, "GET lock") != RDL_OK || !rdl_reply_number(&reply, &old) ||
	    old >= now_ms(link))
		return false;
	*end_ms = now_ms(link) + LEASE_MS;
	if (stall->stalls && rr_random_below(random, 10) < STALLS_IN_TEN)
		rdl_sleep_ns(link, 1000000 * (int64_t)rr_random_below(random, STALL_MS));
	return rdl_run(link, &reply, "GETSET lock %lld", (long long)*end_ms) == RDL_OK &&
	       rdl_reply_number(&reply, &old) && old < now_ms(link);
}

/* Works well within the lease; half of the holders die with the lock. */
static void hold_lock(struct thread *thread, struct rr_random *random, int64_t end_ms)
{
	struct stall *stall = thread->context;
	struct rdl_reply reply;
	bool crowded = stall->inside++ > 0;

	rdl_sleep_ns(thread->link, WORK_MS * INT64_C(1000000));
	crowded = (stall->inside-- > 1) || crowded;
	if (now_ms(thread->link) >= end_ms)
		return; /* overran its lease: proves nothing */
	stall->acquired++;
	stall->overlaps += crowded;
	if (rr_random_below(random, 2))
		thread->failed |= rdl_run(thread->link, &reply, "DEL lock") != RDL_OK;
}

static void take_in_turns(struct thread *thread)
{
	struct stall *stall = thread->context;
	struct rr_random random = { .state = (uint64_t)thread->number };
	int64_t end_ms;

	while (rdl_now_ns(thread->link, RDL_CLOCK_MONOTONIC) < stall->end_ns && !thread->failed) {
		if (take_lock(thread, &random, &end_ms))
			hold_lock(thread, &random, end_ms);
		else
			rdl_sleep_ns(thread->link, 500000);
	}
}

static bool run_stalls(struct measuring *measuring, bool stalls)
{
	struct stall stall = {
		.stalls = stalls,
		.end_ns = rdl_now_ns(measuring->link, RDL_CLOCK_MONOTONIC) +
			  RUN_MS * INT64_C(1000000),
	};

	if (!run_threads(measuring, THREADS_MAX, take_in_turns, &stall))
		return false;
	say(measuring, "%s stalls %ld of %ld holders overlapped", stalls ? ", with" : "without",
	    stall.overlaps, stall.acquired);
	judge(measuring, true, !stalls || stall.overlaps > 0);
	return true;
}

static bool measure_stalled_getset(struct measuring *measuring)
{
	return run_stalls(measuring, false) && run_stalls(measuring, true);
}

/* ---- All --------------------------------------------------------------------------------- */

/* Each fills the result's text and judges; false: it could not be taken, and the code and the text
 * say why. */
static bool (*const measures[RR_MEASURES])(struct measuring *measuring) = {
	[RR_MEASURE_LOST_UPDATES] = count_increments,
	[RR_MEASURE_INCR] = count_increments,
	[RR_MEASURE_TORN_READS] = measure_torn_reads,
	[RR_MEASURE_OWN_CONNECTIONS] = measure_own_connections,
	[RR_MEASURE_SHARED_CONNECTION] = measure_shared_connection,
	[RR_MEASURE_MUTEX_PER_OPERATION] = count_increments,
	[RR_MEASURE_MUTEX_ON_CONNECTION] = measure_mutex_on_connection,
	[RR_MEASURE_MUTEX_IN_PROCESSES] = count_increments,
	[RR_MEASURE_LOCK_IN_REDIS] = count_increments,
	[RR_MEASURE_TAKE_OVER] = measure_take_over,
	[RR_MEASURE_STALLED_GETSET] = measure_stalled_getset,
	[RR_MEASURE_EVALSHA] = measure_evalsha,
	[RR_MEASURE_PIPELINE_SIZE] = measure_pipeline_size,
	[RR_MEASURE_PIPELINE_GAIN] = measure_pipeline_gain,
	[RR_MEASURE_METHODS] = measure_methods,
	[RR_MEASURE_PERSISTENCE] = measure_persistence,
};

void rr_measure_take(enum rr_measure measure, struct rr_session *session, const char *program,
		     struct rr_job_result *result)
{
	struct measuring measuring = {
		.measure = measure,
		.session = session,
		.program = program,
		.result = result,
	};

	if (open_server(&measuring, RR_PERSIST_NONE) && !measures[measure](&measuring) &&
	    result->code == RR_EXIT_OK)
		fail(&measuring, RR_EXIT_REDIS, "%s", rdl_link_error(measuring.link));
	close_server(&measuring);
}
