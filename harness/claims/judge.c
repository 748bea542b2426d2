/* SPDX-License-Identifier: MIT */
/* What became of a claim: computed from its races, compared with the table. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "claims.h"
#include "race/race.h"

/* What the jobs of one claim came to. */
struct evidence {
	const struct rr_job *failed, *deviant, *broken, *skipped;
	bool unfinished, open;
	bool is_elsewhere; /* the race that tells servers apart was played */
	size_t n_races, n_measures;
	size_t n_sayings, n_hold;
};

/* ---- Evidence -------------------------------------------------------------------- */

/* Is it one of the claim's races, or its measurement? */
static bool job_is_about(const struct rr_job *job, const struct rr_claim *claim)
{
	if (job->race)
		return rr_race_names_claim(job->race, claim->id);
	return job->measure && strcmp(job->name, claim->id) == 0;
}

/* ---- Verdicts ----------------------------------------------------------------------- */

/* What is outdated holds on old servers, and not on new ones. A condition may
 * be one that only the measurement shows. */
static bool agrees_with_record(const struct rr_claim *claim, enum rr_claim_verdict recorded,
			       enum rr_claim_verdict computed)
{
	if (recorded == RR_CLAIM_OUTDATED)
		return computed == RR_CLAIM_TRUE || computed == RR_CLAIM_FALSE;
	if (recorded == RR_CLAIM_TRUE_IF && claim->measure)
		return computed == RR_CLAIM_TRUE_IF || computed == RR_CLAIM_TRUE;
	return recorded == computed;
}

bool rr_version_reaches(const char *have, const char *least)
{
	int major = 0, minor = 0, least_major = 0, least_minor = 0;

	if (sscanf(rr_version_number(have), "%d.%d", &major, &minor) < 1 ||
	    sscanf(least, "%d.%d", &least_major, &least_minor) < 1)
		return false;
	return major > least_major || (major == least_major && minor >= least_minor);
}

__attribute__((format(printf, 3, 4))) static void
set_standing(struct rr_claim_row *row, enum rr_standing standing, const char *problem, ...)
{
	static const enum rr_exit codes[RR_STANDINGS] = {
		[RR_STANDS] = RR_EXIT_OK,
		[RR_DIFFERS] = RR_EXIT_VIOLATED,
		[RR_NOT_AS_WRITTEN] = RR_EXIT_VIOLATED,
		[RR_NOT_SHOWN] = RR_EXIT_VIOLATED,
		[RR_NOT_PLAYED] = RR_EXIT_INTERNAL, /* the race knows better */
		[RR_OPEN] = RR_EXIT_OK,
		[RR_SKIPPED] = RR_EXIT_SKIPPED,
		[RR_UNFINISHED] = RR_EXIT_INTERRUPTED,
	};
	va_list arguments;

	row->standing = standing;
	row->code = codes[standing];
	va_start(arguments, problem);
	row->problem = rr_vasprintf(problem, arguments);
	va_end(arguments);
}

/* In the order of what weighs most. */
static void judge_evidence(struct rr_claim_row *row, const struct evidence *evidence,
			   const char *version)
{
	const struct rr_claim *claim = row->claim;
	const struct rr_job *job;

	if ((job = evidence->failed)) {
		set_standing(row, RR_NOT_PLAYED, "%s: %s", job->measure ? "measured" : job->name,
			     job->result.text);
		row->code = job->result.code;
	} else if ((job = evidence->deviant)) {
		set_standing(row, RR_NOT_AS_WRITTEN, "%s is not as written: %s", job->name,
			     job->result.text);
	} else if ((job = evidence->broken)) {
		set_standing(row, RR_DIFFERS, "measured: %s", job->result.text);
	} else if (evidence->unfinished) {
		set_standing(row, RR_UNFINISHED, "not finished");
	} else if (evidence->n_races + evidence->n_measures == 0) {
		set_standing(row, RR_NOT_SHOWN, "no race shows it");
	} else if (claim->least_version && !rr_version_reaches(version, claim->least_version)) {
		set_standing(row, RR_SKIPPED, "needs a server from %s on", claim->least_version);
	} else if ((job = evidence->skipped) && (!claim->by_server || !evidence->n_sayings)) {
		set_standing(row, RR_SKIPPED, "%s: %s", job->name, job->result.text);
	} else if (evidence->n_races > 0) {
		/* The races were played as they are written: what do they say? */
		row->is_computed = true;
		row->computed = evidence->n_sayings == 0                ? RR_CLAIM_INCOMPLETE :
				evidence->n_hold == evidence->n_sayings ? RR_CLAIM_TRUE :
				evidence->n_hold                        ? RR_CLAIM_TRUE_IF :
									  RR_CLAIM_FALSE;
		if (agrees_with_record(claim, row->recorded, row->computed))
			set_standing(row, RR_STANDS, "%s", "");
		else
			set_standing(row, RR_DIFFERS,
				     "recorded %s, found %s: %zu of %zu statements hold",
				     rr_claim_verdict_name(row->recorded),
				     rr_claim_verdict_name(row->computed), evidence->n_hold,
				     evidence->n_sayings);
	} else if (evidence->open) {
		set_standing(row, RR_OPEN, "not seen this time");
	} else {
		set_standing(row, RR_STANDS, "%s", "");
	}
}

/* ---- What was observed --------------------------------------------------------------- */

enum { REPLIES_SHOWN = 3, PART_SIZE = 1024 };

static bool is_same_before(const struct rr_job_result *result, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (strcmp(result->sayings[k].reply, result->sayings[i].reply) == 0)
			return true;
	}
	return false;
}

/* The replies that something is said of, each once; true if there are any. */
static bool describe_replies(FILE *out, const struct rr_job *job, const char *id)
{
	const struct rr_job_result *result = &job->result;
	int n = 0;

	for (size_t i = 0; i < job->race->n_sayings; i++) {
		if (strcmp(job->race->sayings[i].claim, id) != 0 || !result->sayings[i].reply[0] ||
		    is_same_before(result, i))
			continue;
		if (n++ == REPLIES_SHOWN) {
			fprintf(out, ", ...");
			break;
		}
		fprintf(out, "%s%s", n > 1 ? ", " : "", result->sayings[i].reply);
	}
	return n > 0;
}

/* Describes the result of a job. True: that begins with its name. */
static bool describe_job(char part[PART_SIZE], const struct rr_job *job, const char *id)
{
	FILE *out = rr_open_fixed(part, PART_SIZE);
	const struct rr_job_result *result = &job->result;
	const char *without = !result->is_done                 ? "not finished" :
			      result->code == RR_EXIT_SKIPPED  ? "skipped" :
			      result->code != RR_EXIT_OK       ? "not played" :
			      job->race && !result->as_written ? "not as written" :
								 NULL;

	if (job->race && result->is_done && without)
		fprintf(out, "%s %s", job->name, without);
	else if (!result->is_done)
		fputs(without, out);
	else if (!job->race)
		fprintf(out, "measured: %s", result->text);
	else if (!describe_replies(out, job, id))
		fputs(result->text, out);
	fclose(out);
	return job->race && result->is_done && without;
}

/* Names each of several races, and together those that had the same result: "a, b: nothing broken". */
static void add_observed(FILE *list, const struct rr_jobs *jobs, size_t i,
			 const struct rr_claim *claim, bool is_named)
{
	const struct rr_job *job = &jobs->jobs[i];
	char part[PART_SIZE], other[PART_SIZE];
	const bool has_name = describe_job(part, job, claim->id);
	const char *between = ftell(list) ? "; " : "";

	for (size_t k = 0; k < i; k++) {
		if (!job_is_about(&jobs->jobs[k], claim))
			continue;
		describe_job(other, &jobs->jobs[k], claim->id);
		if (strcmp(part, other) == 0)
			return;
	}
	fprintf(list, "%s", between);
	for (size_t k = i; is_named && !has_name && job->race && k < jobs->n; k++) {
		if (!jobs->jobs[k].race || !job_is_about(&jobs->jobs[k], claim))
			continue;
		describe_job(other, &jobs->jobs[k], claim->id);
		if (strcmp(part, other) == 0)
			fprintf(list, "%s%s", k > i ? ", " : "", jobs->jobs[k].name);
	}
	fprintf(list, "%s%s", is_named && !has_name && job->race ? ": " : "", part);
}

/* ---- Rows ----------------------------------------------------------------------------- */

/* "false", "true if clocks agree". The one that is about this server comes first:
 * "false; true since Valkey 9.1". Malloc'd. */
static char *whole_verdict(const struct rr_claim *claim, bool is_elsewhere)
{
	const struct rr_claim_elsewhere *other = &claim->elsewhere;
	const char *between = claim->verdict == RR_CLAIM_TRUE_IF ? " " : ": ";
	char *before = rr_asprintf("%s%s%s", rr_claim_verdict_name(claim->verdict),
				   claim->remark ? between : "",
				   claim->remark ? claim->remark : "");
	const char *verdict;
	char *text;

	if (!other->race)
		return before;
	verdict = rr_claim_verdict_name(other->verdict);
	text = is_elsewhere ? rr_asprintf("%s since %s; before %s", verdict, other->since, before) :
			      rr_asprintf("%s; %s since %s", before, verdict, other->since);
	free(before);
	return text;
}

static const char *section_of(const struct rr_claim *claim)
{
	for (size_t i = 0; i < rr_n_claim_sections; i++) {
		const struct rr_claim_section *section = &rr_claim_sections[i];

		if (claim >= section->claims && claim < section->claims + *section->n_claims)
			return section->title;
	}
	return NULL;
}

static void judge_claim(struct rr_claim_row *row, const struct rr_claim *claim,
			const struct rr_jobs *jobs)
{
	struct evidence evidence = { 0 };

	for (size_t i = 0; i < jobs->n; i++) {
		const struct rr_job *job = &jobs->jobs[i];

		if (!job_is_about(job, claim))
			continue;
		evidence.n_races += job->race != NULL;
		evidence.n_measures += job->race == NULL;
		if (!job->result.is_done) {
			evidence.unfinished = true;
		} else if (job->result.code == RR_EXIT_SKIPPED) {
			evidence.skipped = job;
		} else if (job->result.code != RR_EXIT_OK) {
			evidence.failed = job;
		} else if (!job->race) {
			evidence.open = job->result.measured == RR_MEASURED_OPEN;
			if (job->result.measured == RR_MEASURED_BROKEN)
				evidence.broken = job;
		} else {
			evidence.is_elsewhere |= claim->elsewhere.race &&
						 strcmp(claim->elsewhere.race, job->name) == 0;
			if (!job->result.as_written)
				evidence.deviant = job;
			for (size_t k = 0; k < job->race->n_sayings; k++) {
				if (strcmp(job->race->sayings[k].claim, claim->id) != 0)
					continue;
				evidence.n_sayings++;
				evidence.n_hold += job->result.sayings[k].holds;
			}
		}
	}

	*row = (struct rr_claim_row){
		.claim = claim,
		.recorded = evidence.is_elsewhere ? claim->elsewhere.verdict : claim->verdict,
		.where = rr_asprintf("%s%s", claim->where, claim->derived ? " (derived)" : ""),
		.verdict = whole_verdict(claim, evidence.is_elsewhere),
	};
	judge_evidence(row, &evidence, jobs->version);

	/* What was found, and by which races. */
	FILE *observed = rr_open_text(&row->observed);
	FILE *races = rr_open_text(&row->races);

	for (size_t i = 0; i < jobs->n; i++) {
		const struct rr_job *job = &jobs->jobs[i];

		if (!job_is_about(job, row->claim))
			continue;
		row->seconds += job->result.seconds;
		add_observed(observed, jobs, i, claim, evidence.n_races > 1);
		if (job->race)
			fprintf(races, "%s%s", ftell(races) ? ", " : "", job->name);
	}
	fclose(observed);
	fclose(races);
}

void rr_judge(struct rr_claim_rows *rows, const struct rr_jobs *jobs,
	      const struct rr_claims_choice *choice)
{
	const struct rr_claim *claim;
	const char *section = NULL;

	*rows = (struct rr_claim_rows){ .version = jobs->version };
	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		struct rr_claim_row *row;

		if (!rr_claims_chosen(choice, claim))
			continue;
		rr_array_grow(&rows->rows, rows->n, sizeof(*row));
		row = &rows->rows[rows->n++];
		judge_claim(row, claim, jobs);
		if (section_of(claim) != section)
			row->section = section = section_of(claim);
		rows->counts[row->standing]++;
	}
}

void rr_claim_rows_free(struct rr_claim_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		free(rows->rows[i].where);
		free(rows->rows[i].verdict);
		free(rows->rows[i].observed);
		free(rows->rows[i].races);
		free(rows->rows[i].problem);
	}
	free(rows->rows);
	*rows = (struct rr_claim_rows){ 0 };
}

/* Of several, one that is skipped does not count. */
enum rr_exit rr_claim_rows_exit(const struct rr_claim_rows *rows)
{
	enum rr_exit code = RR_EXIT_OK;
	size_t n_skipped = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (rows->rows[i].code == RR_EXIT_SKIPPED)
			n_skipped++;
		else
			code = rr_exit_worse(code, rows->rows[i].code);
	}
	return rows->n && n_skipped == rows->n ? RR_EXIT_SKIPPED : code;
}
