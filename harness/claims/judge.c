/* SPDX-License-Identifier: MIT */
#include "judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race/race.h"

/* What the jobs of one claim came to. */
struct evidence {
	const struct rr_job *failed, *deviant, *broken, *skipped;
	bool unfinished, open;
	size_t n_races, n_played, n_measures;
	size_t n_sayings, n_hold;
};

/* ---- Evidence -------------------------------------------------------------------- */

static void weigh_sayings(struct evidence *evidence, const struct rr_job *job,
			  const char *id)
{
	for (size_t i = 0; i < job->race->n_sayings; i++) {
		if (strcmp(job->race->sayings[i].claim, id) != 0)
			continue;
		evidence->n_sayings++;
		evidence->n_hold += job->result->sayings[i].holds;
	}
}

static void weigh_done(struct evidence *evidence, const struct rr_job *job,
		       const char *id)
{
	const struct rr_job_result *result = job->result;

	if (result->code == RR_EXIT_SKIPPED) {
		evidence->skipped = job;
	} else if (result->code != RR_EXIT_OK) {
		evidence->failed = job;
	} else if (!job->race) {
		evidence->open = result->measured == RR_MEASURED_OPEN;
		if (result->measured == RR_MEASURED_BROKEN)
			evidence->broken = job;
	} else {
		evidence->n_played++;
		if (!result->as_written)
			evidence->deviant = job;
		weigh_sayings(evidence, job, id);
	}
}

static struct evidence gather(const struct rr_jobs *jobs,
			      const struct rr_claim *claim)
{
	struct evidence evidence = { 0 };

	for (size_t i = 0; i < jobs->n; i++) {
		const struct rr_job *job = &jobs->jobs[i];

		if (!rr_job_is_about(job, claim))
			continue;
		evidence.n_races += job->race != NULL;
		evidence.n_measures += job->race == NULL;
		if (job->result->state == RR_JOB_DONE)
			weigh_done(&evidence, job, claim->id);
		else
			evidence.unfinished = true;
	}
	return evidence;
}

/* ---- Verdicts ----------------------------------------------------------------------- */

static enum rr_claim_verdict compute(const struct evidence *evidence)
{
	if (evidence->n_sayings == 0)
		return RR_CLAIM_INCOMPLETE;
	if (evidence->n_hold == evidence->n_sayings)
		return RR_CLAIM_TRUE;
	return evidence->n_hold ? RR_CLAIM_TRUE_IF : RR_CLAIM_FALSE;
}

/* What is outdated holds on old servers, and not on new ones. A condition may
 * be one that only the measurement shows. */
static bool agrees(const struct rr_claim *claim, enum rr_claim_verdict computed)
{
	if (claim->verdict == RR_CLAIM_OUTDATED)
		return computed == RR_CLAIM_TRUE ||
		       computed == RR_CLAIM_FALSE;
	if (claim->verdict == RR_CLAIM_TRUE_IF && claim->measure)
		return computed == RR_CLAIM_TRUE_IF ||
		       computed == RR_CLAIM_TRUE;
	return claim->verdict == computed;
}

bool rr_version_reaches(const char *have, const char *least)
{
	int major = 0, minor = 0, least_major = 0, least_minor = 0;

	if (sscanf(have, "%d.%d", &major, &minor) < 1 ||
	    sscanf(least, "%d.%d", &least_major, &least_minor) < 1)
		return false;
	return major > least_major ||
	       (major == least_major && minor >= least_minor);
}

static char *print(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static char *print(const char *format, ...)
{
	char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	return text;
}

static void stand(struct rr_claim_row *row, enum rr_standing standing,
		  enum rr_exit code, char *problem)
{
	row->standing = standing;
	row->code = code;
	row->problem = problem;
}

/* The races were played as they are written: what do they say? */
static void judge_sayings(struct rr_claim_row *row, const struct evidence *evidence)
{
	const struct rr_claim *claim = row->claim;

	row->is_computed = true;
	row->computed = compute(evidence);
	if (agrees(claim, row->computed))
		stand(row, RR_STANDS, RR_EXIT_OK, strdup(""));
	else
		stand(row, RR_DIFFERS, RR_EXIT_VIOLATED,
		      print("recorded %s, found %s: %zu of %zu sayings hold",
			    rr_claim_verdict_name(claim->verdict),
			    rr_claim_verdict_name(row->computed),
			    evidence->n_hold, evidence->n_sayings));
}

/* In the order of what weighs most. */
static void judge_evidence(struct rr_claim_row *row, const struct evidence *evidence,
			   const char *version)
{
	const struct rr_claim *claim = row->claim;
	const struct rr_job *job;

	if ((job = evidence->failed))
		stand(row, RR_FAILED, job->result->code,
		      print("%s: %s", job->name, job->result->text));
	else if ((job = evidence->deviant))
		stand(row, RR_NOT_AS_WRITTEN, RR_EXIT_VIOLATED,
		      print("%s is not as written: %s", job->name,
			    job->result->text));
	else if ((job = evidence->broken))
		stand(row, RR_DIFFERS, RR_EXIT_VIOLATED,
		      print("measured: %s", job->result->text));
	else if (evidence->unfinished)
		stand(row, RR_UNFINISHED, RR_EXIT_INTERRUPTED,
		      strdup("not finished"));
	else if (evidence->n_races + evidence->n_measures == 0)
		stand(row, RR_NOT_SHOWN, RR_EXIT_VIOLATED,
		      strdup("no race shows it"));
	else if (claim->least_version &&
		 !rr_version_reaches(version, claim->least_version))
		stand(row, RR_SKIPPED, RR_EXIT_SKIPPED,
		      print("needs a server from %s on",
			    claim->least_version));
	else if ((job = evidence->skipped) &&
		 (claim->verdict != RR_CLAIM_OUTDATED || !evidence->n_played))
		stand(row, RR_SKIPPED, RR_EXIT_SKIPPED,
		      print("%s: %s", job->name, job->result->text));
	else if (evidence->n_races > 0)
		judge_sayings(row, evidence);
	else if (evidence->open)
		stand(row, RR_OPEN, RR_EXIT_OK, strdup("not seen this time"));
	else
		stand(row, RR_STANDS, RR_EXIT_OK, strdup(""));
}

/* ---- Rows --------------------------------------------------------------------------- */

static bool fill(struct rr_claim_row *row, const struct rr_claim *claim,
		 const struct rr_jobs *jobs)
{
	const struct evidence evidence = gather(jobs, claim);

	*row = (struct rr_claim_row){ .claim = claim };
	judge_evidence(row, &evidence, rr_jobs_version(jobs));
	return row->problem && rr_row_describe(row, jobs);
}

static size_t count_claims(void)
{
	size_t n = 0;

	while (rr_claim_at(n))
		n++;
	return n;
}

struct rr_claim_row *rr_judge(const struct rr_jobs *jobs,
			const struct rr_claims_choice *choice, size_t *n_rows)
{
	struct rr_claim_row *rows = calloc(count_claims(), sizeof(*rows));
	const struct rr_claim *claim;

	*n_rows = 0;
	for (size_t i = 0; rows && (claim = rr_claim_at(i)); i++) {
		if (rr_claims_chosen(choice, claim) &&
		    !fill(&rows[(*n_rows)++], claim, jobs)) {
			rr_claim_rows_free(rows, *n_rows);
			return NULL;
		}
	}
	return rows;
}

void rr_claim_rows_free(struct rr_claim_row *rows, size_t n_rows)
{
	for (size_t i = 0; rows && i < n_rows; i++) {
		free(rows[i].observed);
		free(rows[i].races);
		free(rows[i].problem);
	}
	free(rows);
}

/* Of several, one that is skipped does not count. */
enum rr_exit rr_claim_rows_exit(const struct rr_claim_row *rows, size_t n_rows)
{
	enum rr_exit code = RR_EXIT_OK;
	size_t n_skipped = 0;

	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].code == RR_EXIT_SKIPPED)
			n_skipped++;
		else
			code = rr_exit_worse(code, rows[i].code);
	}
	return n_skipped == n_rows ? RR_EXIT_SKIPPED : code;
}

const char *rr_standing_name(enum rr_standing standing)
{
	static const char *const names[RR_STANDINGS] = {
		[RR_STANDS] = "stands",
		[RR_DIFFERS] = "differs",
		[RR_NOT_AS_WRITTEN] = "not as written",
		[RR_NOT_SHOWN] = "not shown",
		[RR_FAILED] = "failed",
		[RR_OPEN] = "open",
		[RR_SKIPPED] = "skipped",
		[RR_UNFINISHED] = "not finished",
	};

	return names[standing];
}
