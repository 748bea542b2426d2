/* SPDX-License-Identifier: MIT */
/* What has to be done to check claims, and the workers that do it. */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/pool.h"
#include "claims.h"
#include "play/play.h"
#include "race/race.h"

enum {
	STALL_S = 300, /* for one job */
	CASE_NAME = RR_CLAIM_CASE + 8
};

/* ---- Which there are ------------------------------------------------------------ */

/* As its case is called. */
static const char *name_of_case(const struct rr_claim *claim, char name[CASE_NAME])
{
	char text[RR_CLAIM_CASE];

	snprintf(name, CASE_NAME, "claims %s", rr_claim_case_name(claim, text));
	return name;
}

static bool is_named(const struct rr_claims_choice *choice, const struct rr_claim *claim)
{
	for (size_t i = 0; i < choice->n; i++) {
		if (choice->claims[i] == claim)
			return true;
	}
	return choice->n == 0;
}

bool rr_claims_chosen(const struct rr_claims_choice *choice, const struct rr_claim *claim)
{
	char name[CASE_NAME];

	return is_named(choice, claim) && rr_shard_owns(&choice->shard, name_of_case(claim, name));
}

bool rr_claims_deal(struct rr_claims_choice *choice, struct rr_error *error)
{
	json_t *seconds = json_object();
	const struct rr_claim *claim;
	char name[CASE_NAME];

	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		if (is_named(choice, claim))
			json_object_set_new(seconds, name_of_case(claim, name), json_real(1));
	}
	return rr_shard_deal(&choice->shard, seconds, error);
}

bool rr_race_names_claim(const struct rr_race *race, const char *id)
{
	return rr_has_word(race->claims, ", \t", id);
}

static struct rr_job *add_job(struct rr_jobs *jobs, const char *name)
{
	struct rr_job *job = &jobs->jobs[jobs->n++];

	snprintf(job->name, sizeof(job->name), "%s", name);
	return job;
}

static void add_race(struct rr_jobs *jobs, const char *name, const struct rr_claims_choice *choice)
{
	struct rr_error error = { 0 };
	struct rr_race *race = rr_library_open(name, &error);
	const struct rr_claim *claim;
	struct rr_job *job;
	bool is_wanted = !race;

	for (size_t i = 0; !is_wanted && (claim = rr_claim_at(i)); i++)
		is_wanted = rr_claims_chosen(choice, claim) && rr_race_names_claim(race, claim->id);
	if (!is_wanted) {
		rr_race_free(race);
		return;
	}
	job = add_job(jobs, name);
	job->race = race;
	if (race && race->n_sayings <= RR_JOB_SAYINGS)
		return;
	job->result.code = RR_EXIT_USAGE;
	job->result.is_done = true;
	if (race)
		rr_error_set(&error, RR_ERROR_USAGE,
			     "%.200s:1: expected at most %d lines that say something", race->path,
			     RR_JOB_SAYINGS);
	snprintf(job->result.text, sizeof(job->result.text), "%.500s", error.text);
}

bool rr_jobs_collect(struct rr_jobs *jobs, const char *program,
		     const struct rr_claims_choice *choice, struct rr_error *error)
{
	size_t n;
	char **names = rr_library_names(&n);
	const struct rr_claim *claim;

	*jobs = (struct rr_jobs){
		.program = program,
		.jobs = rr_calloc(n + RR_MEASURES, sizeof(*jobs->jobs)),
	};
	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		if (claim->measure && rr_claims_chosen(choice, claim))
			add_job(jobs, claim->id)->measure = claim->measure;
	}
	for (size_t i = 0; i < n; i++)
		add_race(jobs, names[i], choice);
	rr_files_free_list(names, n);
	if (n > 0)
		return true;
	rr_jobs_free(jobs);
	return rr_error_set(
		error, RR_ERROR_INTERNAL,
		"no races can be read here; run it in the project's root, or install it with its races");
}

void rr_jobs_free(struct rr_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n; i++)
		rr_race_free(jobs->jobs[i].race);
	free(jobs->jobs);
}

/* ---- Races, played by a worker ---------------------------------------------------- */

static void play_race(const struct rr_race *race, struct rr_cluster *cluster,
		      struct rr_job_result *result)
{
	struct rr_error error = { 0 };
	struct rr_trace trace;

	/* It could end otherwise, and nothing would be shown by that. */
	if (!rr_cluster_has_time(cluster) && rr_race_needs_time(race)) {
		result->code = RR_EXIT_SKIPPED;
		snprintf(result->text, sizeof(result->text),
			 "it needs the library of the clocks, which this server does not run with");
		return;
	}
	rr_player_play(race, cluster, NULL, &trace, &error);
	result->code = rr_exit_of(error.kind);
	result->as_written = trace.as_written;
	for (size_t i = 0; i < race->n_sayings; i++) {
		const struct rr_saying *saying = &race->sayings[i];
		const struct rr_event *about = NULL;

		result->sayings[i].holds = rr_trace_saying_holds(&trace, saying);
		/* The command and the reply that something is said of. */
		for (size_t j = 0; saying->step >= 0 && j < trace.n_events; j++) {
			if (trace.events[j].step == &race->steps[saying->step])
				about = &trace.events[j];
		}
		if (about)
			snprintf(result->sayings[i].reply, sizeof(result->sayings[i].reply),
				 "%.*s%s=> %s", 50, about->command ? about->command : "",
				 about->command ? " " : "",
				 about->reply ? about->reply : "nothing");
	}
	if (error.kind) {
		snprintf(result->text, sizeof(result->text), "%.500s", error.text);
	} else if (!trace.as_written) {
		/* The first reply that was another one. */
		const struct rr_event *event = trace.events;
		char verdict[200];

		while (event < trace.events + trace.n_events && !event->differs)
			event++;
		rr_trace_verdict(&trace, verdict, sizeof(verdict));
		if (event < trace.events + trace.n_events)
			snprintf(result->text, sizeof(result->text),
				 "line %d: expected %.150s, got %.150s", event->step->line,
				 rr_step_expectation(event->step), event->reply);
		else
			snprintf(result->text, sizeof(result->text), "line %d: the verdict is %s",
				 race->verdict_line, verdict);
	} else {
		/* What was found, each with its figures, or "nothing broken". */
		FILE *out = rr_open_fixed(result->text, sizeof(result->text));

		for (int i = 0; i < RR_FINDINGS; i++) {
			if (!(trace.findings & 1U << i))
				continue;
			fprintf(out, "%s%s", ftell(out) ? ", " : "",
				rr_finding_name((enum rr_finding)i));
			if (trace.conclusion[i][0])
				fprintf(out, " (%s)", trace.conclusion[i]);
		}
		if (!trace.findings)
			fputs("nothing broken", out);
		fclose(out);
	}
	rr_trace_free(&trace);
}

/* ---- Workers ------------------------------------------------------------------------ */

/* What comes back. */
struct outcome {
	struct rr_job_result result;
	char version[RR_VERSION_SIZE];
};

/* What a worker has for itself. */
struct checker {
	struct rr_workplace *place;
	struct rr_error error; /* why there is none */
};

/* Without a workplace, the jobs say so: each claim has its row. */
static bool begin_checking(void *context, struct rr_pool_worker *worker, struct rr_error *error)
{
	const struct rr_jobs *jobs = context;
	const struct rr_cluster_options options = {
		.program = jobs->program,
		.cpu = -1,
		.is_told = worker->number > 0,
	};
	struct checker *checker = rr_calloc(1, sizeof(*checker));

	(void)error;
	worker->state = checker;
	checker->place = rr_workplace_new(&options, &checker->error);
	return true;
}

static void end_checking(void *context, struct rr_pool_worker *worker)
{
	struct checker *checker = worker->state;

	(void)context;
	rr_workplace_free(checker->place);
	free(checker);
}

static bool check_job(void *context, struct rr_pool_worker *worker, size_t i)
{
	const struct rr_jobs *jobs = context;
	const struct rr_job *job = &jobs->jobs[i];
	const struct checker *checker = worker->state;
	struct rr_workplace *place = checker->place;
	struct outcome outcome = { .result = job->result };
	struct rr_job_result *result = &outcome.result;
	bool good = true;

	if (!result->is_done && place) {
		memcpy(outcome.version, place->version, sizeof(outcome.version));
		if (job->race)
			play_race(job->race, &place->cluster, result);
		else
			rr_measure_take(job->measure, &place->session, jobs->program, result);
		good = rr_signals_wait(&place->session.signals, 0);
	} else if (!result->is_done) {
		result->code = rr_exit_of(checker->error.kind);
		snprintf(result->text, sizeof(result->text), "%.500s", checker->error.text);
	}
	result->is_done = true;
	fwrite(&outcome, sizeof(outcome), 1, worker->result);
	return good;
}

static void take_outcome(void *context, size_t i, const char *data, size_t size, double seconds)
{
	struct rr_jobs *jobs = context;
	struct outcome outcome;

	(void)size;
	memcpy(&outcome, data, sizeof(outcome));
	jobs->jobs[i].result = outcome.result;
	jobs->jobs[i].result.seconds = seconds;
	if (outcome.version[0])
		memcpy(jobs->version, outcome.version, sizeof(outcome.version));
}

static void lose_outcome(void *context, size_t i, const char *why, double seconds)
{
	const struct rr_jobs *jobs = context;
	struct rr_job_result *result = &jobs->jobs[i].result;

	result->is_done = true;
	result->code = RR_EXIT_INTERNAL;
	result->seconds = seconds;
	snprintf(result->text, sizeof(result->text), "%s", why);
}

static void name_job(void *context, size_t i, char text[RR_POOL_NAME])
{
	const struct rr_jobs *jobs = context;

	snprintf(text, RR_POOL_NAME, "%.50s", jobs->jobs[i].name);
}

bool rr_jobs_run(struct rr_jobs *jobs, int n_workers, struct rr_signals *signals,
		 struct rr_error *error)
{
	const struct rr_pool pool = { .n_jobs = jobs->n,
				      .n_workers = n_workers,
				      .context = jobs,
				      .begin = begin_checking,
				      .run = check_job,
				      .end = end_checking,
				      .take = take_outcome,
				      .lost = lose_outcome,
				      .name = name_job,
				      .stall_s = STALL_S,
				      .unit = "result" };

	return rr_pool_run(&pool, signals, error);
}
