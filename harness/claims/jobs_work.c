/* SPDX-License-Identifier: MIT */
/* A worker: a cluster of its own, and one job after another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#include "jobs_parts.h"
#include "measures.h"
#include "play/player.h"

struct worker {
	struct rr_jobs *jobs;
	struct rr_session session;
	struct rr_cluster cluster;
	struct rr_error error; /* why there is no cluster */
};

/* ---- Races --------------------------------------------------------------------- */

/* The command and the reply that something is said of. */
static void note_reply(const struct rr_trace *trace,
		       const struct rr_saying *saying,
		       struct rr_saying_result *result)
{
	for (size_t i = trace->n_events; saying->step >= 0 && i-- > 0;) {
		const struct rr_event *event = &trace->events[i];

		if (event->step != &trace->race->steps[saying->step])
			continue;
		snprintf(result->reply, sizeof(result->reply), "%.*s%s=> %s",
			 50, event->command ? event->command : "",
			 event->command ? " " : "",
			 event->reply ? event->reply : "nothing");
		return;
	}
}

/* The first reply that was another one. */
static void note_difference(const struct rr_trace *trace,
			    struct rr_job_result *result)
{
	char verdict[200];

	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_event *event = &trace->events[i];

		if (!event->differs)
			continue;
		snprintf(result->text, sizeof(result->text),
			 "line %d: expected %.150s, got %.150s",
			 event->step->line, event->step->expected,
			 event->reply);
		return;
	}
	rr_trace_verdict(trace, verdict, sizeof(verdict));
	snprintf(result->text, sizeof(result->text),
		 "line %d: the verdict is %s", trace->race->verdict_line,
		 verdict);
}

static void play(struct worker *worker, const struct rr_race *race,
		 struct rr_job_result *result)
{
	struct rr_trace trace;

	result->code = rr_player_play(race, &worker->cluster, NULL, &trace);
	result->as_written = trace.as_written;
	for (size_t i = 0; i < race->n_sayings; i++) {
		result->sayings[i].holds =
			rr_trace_saying_holds(&trace, &race->sayings[i]);
		note_reply(&trace, &race->sayings[i], &result->sayings[i]);
	}
	if (result->code != RR_EXIT_OK)
		memcpy(result->text, trace.error, sizeof(trace.error));
	else if (!trace.as_written)
		note_difference(&trace, result);
	else
		rr_trace_verdict(&trace, result->text, sizeof(result->text));
	rr_trace_free(&trace);
}

/* ---- Jobs ------------------------------------------------------------------------ */

static void do_job(struct worker *worker, struct rr_job *job)
{
	struct rr_job_result *result = job->result;

	if (worker->error.kind) {
		result->code = rr_exit_of(worker->error.kind);
		snprintf(result->text, sizeof(result->text), "%.500s",
			 worker->error.text);
	} else if (job->race) {
		play(worker, job->race, result);
	} else {
		rr_measure_take(job->measure, &worker->session,
				worker->jobs->program, result);
	}
}

static void do_jobs(struct worker *worker, int number)
{
	struct rr_jobs *jobs = worker->jobs;
	size_t i;

	while ((i = atomic_fetch_add(&jobs->shared->next, 1)) < jobs->n) {
		struct rr_job *job = &jobs->jobs[i];

		if (job->result->state == RR_JOB_DONE)
			continue;
		job->result->worker = number;
		job->result->state = RR_JOB_RUNNING;
		do_job(worker, job);
		job->result->state = RR_JOB_DONE;
	}
}

_Noreturn void rr_jobs_work(struct rr_jobs *jobs, int number, pid_t program,
			    const struct rr_signals *signals,
			    const struct rr_guardian *guardian)
{
	const struct rr_cluster_options options = { .program = jobs->program,
						    .cpu = -1 };
	struct worker *worker = calloc(1, sizeof(*worker));

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!worker || getppid() != program)
		_exit(RR_EXIT_INTERNAL);
	worker->jobs = jobs;
	worker->session.signals = *signals;
	worker->session.guardian = *guardian;
	if (!rr_keys_fresh_prefix(worker->session.prefix))
		_exit(RR_EXIT_INTERNAL);
	if (rr_cluster_open(&worker->cluster, &worker->session, &options,
			    &worker->error))
		rr_cluster_version(&worker->cluster,
				   jobs->shared->versions[number],
				   RR_VERSION_SIZE);
	do_jobs(worker, number);
	rr_cluster_close(&worker->cluster);
	free(worker);
	_exit(RR_EXIT_OK);
}
