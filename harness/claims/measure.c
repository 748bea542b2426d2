/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* ---- Results ---------------------------------------------------------------------- */

void rr_measure_say(struct rr_measuring *measuring, const char *format, ...)
{
	char *text = measuring->result->text;
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, RR_JOB_TEXT - used, format, arguments);
	va_end(arguments);
}

void rr_measure_judge(struct rr_measuring *measuring, bool is_right, bool was_seen)
{
	const enum rr_measured measured = !is_right ? RR_MEASURED_BROKEN :
					  was_seen  ? RR_MEASURED_SHOWN :
						      RR_MEASURED_OPEN;

	if (measured > measuring->result->measured)
		measuring->result->measured = measured;
}

bool rr_measure_fail(struct rr_measuring *measuring, enum rr_exit code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(measuring->result->text, RR_JOB_TEXT, format, arguments);
	va_end(arguments);
	measuring->result->code = code;
	return false;
}

/* ---- Servers and runs --------------------------------------------------------------- */

/* A connected link to the server; NULL: see rr_measure_fail(). */
static struct rdl_link *connect_link(struct rr_measuring *measuring)
{
	struct rdl_link *link = rdl_link_new(&measuring->cluster.servers[0].address, RR_TIMEOUT_MS);

	if (link && rdl_link_connect(link) == RDL_OK)
		return link;
	rr_measure_fail(measuring, RR_EXIT_REDIS, "%s",
			link ? rdl_link_error(link) : "out of memory");
	rdl_link_free(link);
	return NULL;
}

bool rr_measure_open(struct rr_measuring *measuring, enum rr_persistence persistence)
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
		return rr_measure_fail(measuring, rr_report_error(&error), "no server");
	measuring->link = connect_link(measuring);
	return measuring->link != NULL;
}

void rr_measure_close(struct rr_measuring *measuring)
{
	rdl_link_free(measuring->link);
	measuring->link = NULL;
	rr_cluster_close(&measuring->cluster);
}

bool rr_measure_bench(struct rr_measuring *measuring, const char *strategy, int threads,
		      int processes, long increments, struct rr_measurement *measurement)
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
		return rr_measure_fail(measuring, rr_exit_of(error.kind), "%s", error.text);
	return !measurement->deadlocked || rr_measure_fail(measuring, RR_EXIT_VIOLATED, "%s: %s",
							   strategy, measurement->remark);
}

/* ---- Threads --------------------------------------------------------------------------- */

struct start {
	struct rr_measure_thread thread;
	void (*body)(struct rr_measure_thread *thread);
	pthread_t id;
};

static void *run_body(void *argument)
{
	struct start *start = argument;

	start->body(&start->thread);
	return NULL;
}

/* All of them or none, for bodies may wait for one another. */
static bool start_bodies(struct start *starts, int n)
{
	for (int i = 0; i < n; i++) {
		if (!starts[i].thread.link)
			return false;
	}
	for (int i = 0; i < n; i++) {
		if (pthread_create(&starts[i].id, NULL, run_body, &starts[i]) != 0)
			_exit(rr_complain(RR_EXIT_INTERNAL, "cannot start a thread"));
	}
	return true;
}

bool rr_measure_threads(struct rr_measuring *measuring, int n,
			void (*body)(struct rr_measure_thread *thread), void *context)
{
	struct start starts[RR_MEASURE_THREADS] = { 0 };
	bool good;

	for (int i = 0; i < n; i++)
		starts[i] = (struct start){
			.thread = { .number = i,
				    .link = connect_link(measuring),
				    .context = context },
			.body = body,
		};
	good = start_bodies(starts, n);
	for (int i = 0; good && i < n; i++)
		pthread_join(starts[i].id, NULL);
	for (int i = 0; i < n; i++) {
		if (good && starts[i].thread.failed)
			good = rr_measure_fail(measuring, RR_EXIT_REDIS, "%s",
					       rdl_link_error(starts[i].thread.link));
		rdl_link_free(starts[i].thread.link);
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

enum { N_LOOPS = sizeof(loops) / sizeof(loops[0]) };

static bool run_loop(struct rr_measuring *measuring, const struct loop *loop)
{
	char value[RR_GROUPED_SIZE];
	struct rr_measurement m;

	if (!rr_measure_bench(measuring, loop->strategy, loop->threads, loop->processes,
			      loop->increments, &m))
		return false;
	if (loop->is_lossy)
		rr_measure_judge(measuring, !m.extra && m.final_value >= 2, m.lost > 0);
	else
		rr_measure_judge(measuring, !m.extra && !m.lost && !m.overlaps, true);
	rr_measure_say(measuring, "%s%s %s", measuring->result->text[0] ? ", " : "", loop->text,
		       rr_grouped(value, m.final_value));
	return true;
}

static bool count_increments(struct rr_measuring *measuring)
{
	for (int i = 0; i < N_LOOPS; i++) {
		if (loops[i].measure == measuring->measure && !run_loop(measuring, &loops[i]))
			return false;
	}
	return true;
}

/* ---- All --------------------------------------------------------------------------------- */

static rr_measurement_taken *const measures[RR_MEASURES] = {
	[RR_MEASURE_LOST_UPDATES] = count_increments,
	[RR_MEASURE_INCR] = count_increments,
	[RR_MEASURE_TORN_READS] = rr_measure_torn_reads,
	[RR_MEASURE_OWN_CONNECTIONS] = rr_measure_own_connections,
	[RR_MEASURE_SHARED_CONNECTION] = rr_measure_shared_connection,
	[RR_MEASURE_MUTEX_PER_OPERATION] = count_increments,
	[RR_MEASURE_MUTEX_ON_CONNECTION] = rr_measure_mutex_on_connection,
	[RR_MEASURE_MUTEX_IN_PROCESSES] = count_increments,
	[RR_MEASURE_LOCK_IN_REDIS] = count_increments,
	[RR_MEASURE_TAKE_OVER] = rr_measure_take_over,
	[RR_MEASURE_STALLED_GETSET] = rr_measure_stalled_getset,
	[RR_MEASURE_EVALSHA] = rr_measure_evalsha,
	[RR_MEASURE_PIPELINE_SIZE] = rr_measure_pipeline_size,
	[RR_MEASURE_PIPELINE_GAIN] = rr_measure_pipeline_gain,
	[RR_MEASURE_METHODS] = rr_measure_methods,
	[RR_MEASURE_PERSISTENCE] = rr_measure_persistence,
};

void rr_measure_take(enum rr_measure measure, struct rr_session *session, const char *program,
		     struct rr_job_result *result)
{
	struct rr_measuring measuring = {
		.measure = measure,
		.session = session,
		.program = program,
		.result = result,
	};

	if (rr_measure_open(&measuring, RR_PERSIST_NONE) && !measures[measure](&measuring) &&
	    result->code == RR_EXIT_OK)
		rr_measure_fail(&measuring, RR_EXIT_REDIS, "%s", rdl_link_error(measuring.link));
	rr_measure_close(&measuring);
}
