/* SPDX-License-Identifier: MIT */
/* What becomes of a claim when its races came out in this way or that. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claims/claims.h"
#include "race/race.h"

enum { JOBS_MAX = 4 };

/* Jobs that have been done. */
struct bench_of_jobs {
	struct rr_jobs jobs;
	struct rr_job all[JOBS_MAX];
	const struct rr_claim *claim;
	struct rr_claim_rows rows;
};

static void judge_begin(struct bench_of_jobs *bench, const char *id)
{
	*bench = (struct bench_of_jobs){ .claim = rr_claim_find(id) };
	bench->jobs.jobs = bench->all;
	cr_assert_not_null(bench->claim);
	strcpy(bench->jobs.version, "Redis 7.0.15");
}

static struct rr_job *add_job(struct bench_of_jobs *bench)
{
	struct rr_job *job = &bench->all[bench->jobs.n];

	snprintf(job->name, sizeof(job->name), "race-%zu", bench->jobs.n);
	job->result.is_done = true;
	bench->jobs.n++;
	return job;
}

/* A race of the claim with `n` sayings, of which the first `hold` do. */
static struct rr_job *add_played(struct bench_of_jobs *bench, int n, int hold)
{
	struct rr_job *job = add_job(bench);
	struct rr_error error = { 0 };
	char text[600];
	size_t used;

	used = (size_t)snprintf(text, sizeof(text), "title t\nclaim X-1, %s\nclients A\nA> PING\n",
				bench->claim->id);
	for (int i = 0; i < n; i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s says progress\n",
					 bench->claim->id);
		job->result.sayings[i].holds = i < hold;
	}
	used += (size_t)snprintf(text + used, sizeof(text) - used, "verdict nothing broken\n");
	job->race = rr_race_parse("t.race", text, used, &error);
	cr_assert_not_null(job->race, "%s", error.text);
	job->result.as_written = true;
	strcpy(job->result.text, "nothing broken");
	return job;
}

static const struct rr_claim_row *judge(struct bench_of_jobs *bench)
{
	const struct rr_claims_choice choice = { .n = 1, .claims = &bench->claim };

	rr_judge(&bench->rows, &bench->jobs, &choice);
	cr_assert_eq(bench->rows.n, 1);
	return bench->rows.rows;
}

static void judge_end(struct bench_of_jobs *bench)
{
	rr_claim_rows_free(&bench->rows);
	for (size_t i = 0; i < bench->jobs.n; i++)
		rr_race_free(bench->all[i].race);
}

static void assert_verdict(const char *id, int n, int hold, enum rr_claim_verdict computed,
			   enum rr_standing standing)
{
	struct bench_of_jobs bench;
	const struct rr_claim_row *row;

	judge_begin(&bench, id);
	add_played(&bench, n, hold);
	row = judge(&bench);
	cr_assert(row->is_computed);
	cr_assert_eq(row->computed, computed, "%s: %s", id, rr_claim_verdict_name(row->computed));
	cr_assert_eq(row->standing, standing, "%s: %s", id, row->problem);
	cr_assert_eq(row->code, standing == RR_STANDS ? RR_EXIT_OK : RR_EXIT_VIOLATED);
	judge_end(&bench);
}

Test(judge, computes_verdicts_from_what_holds)
{
	assert_verdict("TL-7", 2, 2, RR_CLAIM_TRUE, RR_STANDS);
	assert_verdict("TL-7", 2, 1, RR_CLAIM_TRUE_IF, RR_DIFFERS);
	assert_verdict("TL-7", 2, 0, RR_CLAIM_FALSE, RR_DIFFERS);
	assert_verdict("TL-7", 0, 0, RR_CLAIM_INCOMPLETE, RR_DIFFERS);
	assert_verdict("GS-1", 1, 0, RR_CLAIM_FALSE, RR_STANDS);
	assert_verdict("GS-1", 1, 1, RR_CLAIM_TRUE, RR_DIFFERS);
	assert_verdict("TL-8", 2, 1, RR_CLAIM_TRUE_IF, RR_STANDS);
	assert_verdict("TL-8", 2, 2, RR_CLAIM_TRUE, RR_DIFFERS);
	assert_verdict("GS-8", 0, 0, RR_CLAIM_INCOMPLETE, RR_STANDS);
	assert_verdict("TL-11", 1, 1, RR_CLAIM_TRUE, RR_STANDS);
	assert_verdict("TL-11", 1, 0, RR_CLAIM_FALSE, RR_STANDS);
	assert_verdict("TL-11", 2, 1, RR_CLAIM_TRUE_IF, RR_DIFFERS);
}

Test(judge, adds_races_up)
{
	struct bench_of_jobs bench;
	const struct rr_claim_row *row;

	judge_begin(&bench, "TL-8");
	add_played(&bench, 1, 1);
	add_played(&bench, 1, 0);
	row = judge(&bench);
	cr_assert_eq(row->standing, RR_STANDS, "%s", row->problem);
	cr_assert_str_eq(row->races, "race-0, race-1");
	cr_assert_str_eq(row->observed, "race-0, race-1: nothing broken");
	judge_end(&bench);
}

static void assert_standing(struct bench_of_jobs *bench, enum rr_standing standing,
			    enum rr_exit code, const char *problem)
{
	const struct rr_claim_row *row = judge(bench);

	cr_assert_eq(row->standing, standing, "%s", row->problem);
	cr_assert_eq(row->code, code, "%d", row->code);
	cr_assert_not_null(strstr(row->problem, problem), "%s", row->problem);
	cr_assert_eq(rr_claim_rows_exit(&bench->rows), code);
	judge_end(bench);
}

Test(judge, wants_races_as_they_are_written)
{
	struct bench_of_jobs bench;
	struct rr_job *job;

	judge_begin(&bench, "TL-7");
	add_played(&bench, 1, 1);
	job = add_played(&bench, 1, 1);
	job->result.as_written = false;
	strcpy(job->result.text, "line 4: expected OK, got PONG");
	assert_standing(&bench, RR_NOT_AS_WRITTEN, RR_EXIT_VIOLATED,
			"race-1 is not as written: line 4");
}

Test(judge, names_a_race_that_cannot_be_played)
{
	struct bench_of_jobs bench;
	struct rr_job *job;

	judge_begin(&bench, "TL-7");
	add_played(&bench, 1, 1);
	job = add_played(&bench, 1, 1);
	job->result.code = RR_EXIT_REDIS;
	strcpy(job->result.text, "no server");
	assert_standing(&bench, RR_NOT_PLAYED, RR_EXIT_REDIS, "race-1: no server");
}

Test(judge, never_passes_what_was_skipped)
{
	struct bench_of_jobs bench;

	judge_begin(&bench, "TL-7");
	add_played(&bench, 1, 1);
	add_played(&bench, 1, 1)->result.code = RR_EXIT_SKIPPED;
	assert_standing(&bench, RR_SKIPPED, RR_EXIT_SKIPPED, "race-1");
	judge_begin(&bench, "TL-11");
	add_played(&bench, 1, 1);
	add_played(&bench, 1, 1)->result.code = RR_EXIT_SKIPPED;
	assert_standing(&bench, RR_STANDS, RR_EXIT_OK, "");
	judge_begin(&bench, "TL-11");
	add_played(&bench, 1, 1)->result.code = RR_EXIT_SKIPPED;
	assert_standing(&bench, RR_SKIPPED, RR_EXIT_SKIPPED, "race-0");
}

/* A race of that name, whose one saying holds or not. */
static struct rr_job *add_named(struct bench_of_jobs *bench, const char *name, int hold)
{
	struct rr_job *job = add_played(bench, 1, hold);

	snprintf(job->name, sizeof(job->name), "%s", name);
	return job;
}

Test(judge, takes_the_verdict_of_the_kind_of_server)
{
	struct bench_of_jobs bench;
	const struct rr_claim_row *row;

	judge_begin(&bench, "TX-11d");
	add_named(&bench, "torn-aof-half-transaction", 0);
	add_named(&bench, "torn-aof-closed", 1)->result.code = RR_EXIT_SKIPPED;
	assert_standing(&bench, RR_STANDS, RR_EXIT_OK, "");
	judge_begin(&bench, "TX-11d");
	add_named(&bench, "torn-aof-half-transaction", 0)->result.code = RR_EXIT_SKIPPED;
	add_named(&bench, "torn-aof-closed", 1);
	row = judge(&bench);
	cr_assert_eq(row->standing, RR_STANDS, "%s", row->problem);
	cr_assert_eq(row->recorded, RR_CLAIM_TRUE);
	cr_assert_str_eq(row->verdict, "true since Valkey 9.1; before false");
	judge_end(&bench);
}

Test(judge, does_not_take_one_kind_of_server_for_the_other)
{
	struct bench_of_jobs bench;

	judge_begin(&bench, "TX-11d");
	add_named(&bench, "torn-aof-half-transaction", 1);
	add_named(&bench, "torn-aof-closed", 1)->result.code = RR_EXIT_SKIPPED;
	assert_standing(&bench, RR_DIFFERS, RR_EXIT_VIOLATED, "recorded false, found true");
	judge_begin(&bench, "TX-11d");
	add_named(&bench, "torn-aof-half-transaction", 0)->result.code = RR_EXIT_SKIPPED;
	add_named(&bench, "torn-aof-closed", 0);
	assert_standing(&bench, RR_DIFFERS, RR_EXIT_VIOLATED, "recorded true, found false");
}

Test(judge, says_what_nothing_shows_and_what_was_called_off)
{
	struct bench_of_jobs bench;

	judge_begin(&bench, "TL-7");
	assert_standing(&bench, RR_NOT_SHOWN, RR_EXIT_VIOLATED, "no race");
	judge_begin(&bench, "TL-7");
	add_played(&bench, 1, 1)->result.is_done = false;
	assert_standing(&bench, RR_UNFINISHED, RR_EXIT_INTERRUPTED, "not finished");
}

static void assert_measured(enum rr_measured measured, enum rr_standing standing, enum rr_exit code)
{
	struct bench_of_jobs bench;
	struct rr_job *job;

	judge_begin(&bench, "PL-3");
	job = add_job(&bench);
	strcpy(job->name, "PL-3");
	job->measure = bench.claim->measure;
	job->result.measured = measured;
	assert_standing(&bench, standing, code, "");
}

Test(judge, takes_figures_for_what_they_are)
{
	assert_measured(RR_MEASURED_SHOWN, RR_STANDS, RR_EXIT_OK);
	assert_measured(RR_MEASURED_OPEN, RR_OPEN, RR_EXIT_OK);
	assert_measured(RR_MEASURED_BROKEN, RR_DIFFERS, RR_EXIT_VIOLATED);
}

Test(judge, speaks_of_servers_that_are_new_enough)
{
	struct bench_of_jobs bench;

	judge_begin(&bench, "WA-5");
	add_played(&bench, 0, 0);
	assert_standing(&bench, RR_STANDS, RR_EXIT_OK, "");
	judge_begin(&bench, "WA-5");
	add_played(&bench, 0, 0);
	strcpy(bench.jobs.version, "Redis 6.0.16");
	assert_standing(&bench, RR_SKIPPED, RR_EXIT_SKIPPED, "from 6.2 on");
	cr_assert(rr_version_reaches("6.2", "6.2"));
	cr_assert(rr_version_reaches("10.0.1", "6.2"));
	cr_assert_not(rr_version_reaches("6.1.9", "6.2"));
	cr_assert_not(rr_version_reaches("", "6.2"));
}

Test(judge, lets_one_that_is_skipped_not_count_among_others)
{
	struct rr_claim_row list[3] = { { .code = RR_EXIT_OK },
					{ .code = RR_EXIT_SKIPPED },
					{ .code = RR_EXIT_OK } };
	const struct rr_claim_rows rows = { .n = 3, .rows = list };
	const struct rr_claim_rows one = { .n = 1, .rows = &list[1] };

	cr_assert_eq(rr_claim_rows_exit(&rows), RR_EXIT_OK);
	cr_assert_eq(rr_claim_rows_exit(&one), RR_EXIT_SKIPPED);
	list[0].code = RR_EXIT_REDIS;
	list[2].code = RR_EXIT_VIOLATED;
	cr_assert_eq(rr_claim_rows_exit(&rows), RR_EXIT_VIOLATED);
}
