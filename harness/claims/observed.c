/* SPDX-License-Identifier: MIT */
/* What was seen of a claim, in a few words: findings, replies, figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "race/race.h"

enum { REPLIES_SHOWN = 3 };

static bool is_same_before(const struct rr_job_result *result, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (strcmp(result->sayings[k].reply,
			   result->sayings[i].reply) == 0)
			return true;
	}
	return false;
}

/* The replies that something is said of, each once; true if there are any. */
static bool describe_replies(FILE *file, const struct rr_job *job,
			     const char *id)
{
	const struct rr_job_result *result = job->result;
	int n = 0;

	for (size_t i = 0; i < job->race->n_sayings; i++) {
		if (strcmp(job->race->sayings[i].claim, id) != 0 ||
		    !result->sayings[i].reply[0] || is_same_before(result, i))
			continue;
		if (n++ == REPLIES_SHOWN) {
			fprintf(file, ", ...");
			break;
		}
		fprintf(file, "%s%s", n > 1 ? ", " : "",
			result->sayings[i].reply);
	}
	return n > 0;
}

static void describe(FILE *file, const struct rr_job *job, const char *id)
{
	const struct rr_job_result *result = job->result;

	if (result->state != RR_JOB_DONE)
		fprintf(file, "not finished");
	else if (!job->race)
		fprintf(file, "measured: %s", result->text);
	else if (result->code == RR_EXIT_SKIPPED)
		fprintf(file, "%s skipped", job->name);
	else if (result->code != RR_EXIT_OK)
		fprintf(file, "%s not played", job->name);
	else if (!result->as_written)
		fprintf(file, "%s not as written", job->name);
	else if (!describe_replies(file, job, id))
		fprintf(file, "%s", result->text);
}

/* A malloc'd text that grows by parts, each of them once. */
static bool append(char **list, const char *part)
{
	const size_t length = strlen(part);
	const char *at = *list;
	char *longer;

	for (; (at = strstr(at, part)); at++) {
		if ((at == *list || at[-1] == ' ') &&
		    (at[length] == ';' || at[length] == '\0'))
			return true;
	}
	if (asprintf(&longer, "%s%s%s", *list, **list ? "; " : "", part) < 0)
		return false;
	free(*list);
	*list = longer;
	return true;
}

static bool add_observed(struct rr_claim_row *row, const struct rr_job *job)
{
	char *part = NULL;
	size_t size;
	FILE *file = open_memstream(&part, &size);
	bool good = file != NULL;

	if (file) {
		describe(file, job, row->claim->id);
		fclose(file);
	}
	good = good && part && append(&row->observed, part);
	free(part);
	return good;
}

bool rr_row_describe(struct rr_claim_row *row, const struct rr_jobs *jobs)
{
	size_t size, n_races = 0;
	FILE *races = open_memstream(&row->races, &size);
	bool good = races != NULL;

	row->observed = strdup("");
	good = good && row->observed;
	for (size_t i = 0; good && i < jobs->n; i++) {
		const struct rr_job *job = &jobs->jobs[i];

		if (!rr_job_is_about(job, row->claim))
			continue;
		good = add_observed(row, job);
		if (job->race)
			fprintf(races, "%s%s", n_races++ ? ", " : "",
				job->name);
	}
	if (races)
		fclose(races);
	return good;
}
