/* SPDX-License-Identifier: MIT */
/* Which jobs there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "jobs_parts.h"
#include "race/race.h"

bool rr_claims_chosen(const struct rr_claims_choice *choice,
		      const struct rr_claim *claim)
{
	for (size_t i = 0; i < choice->n; i++) {
		if (choice->claims[i] == claim)
			return true;
	}
	return choice->n == 0;
}

bool rr_race_names_claim(const struct rr_race *race, const char *id)
{
	static const char between[] = ", \t";
	const size_t length = strlen(id);
	const char *at = race->claims + strspn(race->claims, between);

	while (*at) {
		const size_t n = strcspn(at, between);

		if (n == length && memcmp(at, id, n) == 0)
			return true;
		at += n;
		at += strspn(at, between);
	}
	return false;
}

bool rr_job_is_about(const struct rr_job *job, const struct rr_claim *claim)
{
	if (job->race)
		return rr_race_names_claim(job->race, claim->id);
	return job->measure && strcmp(job->name, claim->id) == 0;
}

static bool is_wanted(const struct rr_race *race,
		      const struct rr_claims_choice *choice)
{
	const struct rr_claim *claim;

	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		if (rr_claims_chosen(choice, claim) &&
		    rr_race_names_claim(race, claim->id))
			return true;
	}
	return false;
}

static struct rr_job *add(struct rr_jobs *jobs, const char *name)
{
	struct rr_job *job = &jobs->jobs[jobs->n];

	snprintf(job->name, sizeof(job->name), "%s", name);
	job->result = &jobs->shared->results[jobs->n++];
	return job;
}

static void add_race(struct rr_jobs *jobs, const char *name,
		     const struct rr_claims_choice *choice)
{
	struct rr_error error = { 0 };
	struct rr_race *race = rr_library_open(name, &error);
	struct rr_job *job;

	if (race && !is_wanted(race, choice)) {
		rr_race_free(race);
		return;
	}
	job = add(jobs, name);
	job->race = race;
	if (race && race->n_sayings <= RR_JOB_SAYINGS)
		return;
	job->result->code = RR_EXIT_USAGE;
	job->result->state = RR_JOB_DONE;
	if (race)
		rr_error_set(&error, RR_ERROR_USAGE,
			     "%.200s:1: expected at most %d lines that say something",
			     race->path, RR_JOB_SAYINGS);
	snprintf(job->result->text, sizeof(job->result->text), "%.500s",
		 error.text);
}

static void add_measures(struct rr_jobs *jobs,
			 const struct rr_claims_choice *choice)
{
	const struct rr_claim *claim;

	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		if (claim->measure && rr_claims_chosen(choice, claim))
			add(jobs, claim->id)->measure = claim->measure;
	}
}

bool rr_jobs_collect(struct rr_jobs *jobs, const char *program,
		     const struct rr_claims_choice *choice)
{
	size_t n, most;
	char **names = rr_library_names(&n);

	*jobs = (struct rr_jobs){ .program = program };
	most = n + RR_MEASURES;
	jobs->jobs = calloc(most, sizeof(*jobs->jobs));
	jobs->shared = mmap(NULL,
			    sizeof(*jobs->shared) +
				    most * sizeof(jobs->shared->results[0]),
			    PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!names || !jobs->jobs || jobs->shared == MAP_FAILED) {
		rr_library_free_names(names, n);
		free(jobs->jobs);
		return false;
	}
	add_measures(jobs, choice);
	for (size_t i = 0; i < n; i++)
		add_race(jobs, names[i], choice);
	rr_library_free_names(names, n);
	return true;
}

void rr_jobs_free(struct rr_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n; i++)
		rr_race_free(jobs->jobs[i].race);
	free(jobs->jobs);
}

const char *rr_jobs_version(const struct rr_jobs *jobs)
{
	for (int i = 0; i < RR_JOB_WORKERS_MAX; i++) {
		if (jobs->shared->versions[i][0])
			return jobs->shared->versions[i];
	}
	return "";
}
