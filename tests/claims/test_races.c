/* SPDX-License-Identifier: MIT */
/* All races: each is as written, and none is any more when something of it is
 * missing. In shards, so that several run at once. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "../cluster/stage.h"
#include "claim.h"
#include "claims/claims.h"
#include "race/race.h"
#include "mutate.h"
#include "play/play.h"

enum { SHARDS = 6 };

static int shards[SHARDS] = { 0, 1, 2, 3, 4, 5 };

/* A shard's races, one after another, in one cluster. */
struct shard {
	struct stage stage;
	char **names;
	size_t n_names, next;
};

static void shard_open(struct shard *shard, int number)
{
	shard->names = rr_library_names(&shard->n_names);
	shard->next = (size_t)number;
	cr_assert_gt(shard->n_names, 0, "there are no races");
	stage_open(&shard->stage, RR_CLUSTER_FROZEN);
}

static void shard_close(struct shard *shard)
{
	stage_close(&shard->stage);
	rr_files_free_list(shard->names, shard->n_names);
}

static const char *shard_next(struct shard *shard)
{
	const size_t i = shard->next;

	shard->next += SHARDS;
	return i < shard->n_names ? shard->names[i] : NULL;
}

static struct rr_race *read_race(const char *name)
{
	struct rr_error error = { 0 };
	struct rr_race *race = rr_library_open(name, &error);

	cr_assert_not_null(race, "%s", error.text);
	return race;
}

/* ---- As written ------------------------------------------------------------------- */

static void play_as_written(struct shard *shard, const char *name)
{
	struct rr_race *race = read_race(name);
	struct rr_trace trace;
	struct rr_error error = { 0 };

	rr_player_play(race, &shard->stage.cluster, NULL, &trace, &error);
	if (error.kind != RR_ERROR_SKIPPED) {
		cr_expect_not(error.kind, "%s: %s", name, error.text);
		cr_expect(trace.as_written, "%s is not as written", name);
	}
	rr_trace_free(&trace);
	rr_race_free(race);
}

ParameterizedTestParameters(races, are_as_written)
{
	return cr_make_param_array(int, shards, SHARDS);
}

ParameterizedTest(int *number, races, are_as_written)
{
	struct shard shard;
	const char *name;

	shard_open(&shard, *number);
	while ((name = shard_next(&shard)))
		play_as_written(&shard, name);
	shard_close(&shard);
}

/* ---- With something missing ----------------------------------------------------------- */

/* Plays a changed race, which must be noticed; frees it. */
static void play_changed(struct shard *shard, struct rr_race *race, const char *name,
			 const char *change)
{
	struct rr_trace trace;
	struct rr_error error = { 0 };

	rr_player_play(race, &shard->stage.cluster, NULL, &trace, &error);
	if (error.kind != RR_ERROR_SKIPPED)
		cr_expect(error.kind || !trace.as_written, "%s: %s, and nobody notices", name,
			  change);
	rr_trace_free(&trace);
	rr_race_free(race);
}

static void change_reply(struct shard *shard, const char *name)
{
	struct rr_race *race = read_race(name);

	cr_expect(mutate_reply(race), "%s expects no reply", name);
	play_changed(shard, race, name, "another reply is expected");
}

static void drop_deciding(struct shard *shard, const char *name)
{
	char change[80];

	for (int n = 0;; n++) {
		struct rr_race *race = read_race(name);
		const int line = mutate_deciding_line(race, n);

		if (n == 0)
			cr_expect(line, "%s: no step is marked with !", name);
		if (!line) {
			rr_race_free(race);
			return;
		}
		mutate_drop_line(race, line);
		snprintf(change, sizeof(change), "the deciding step in line %d is missing", line);
		play_changed(shard, race, name, change);
	}
}

static void drop_fault(struct shard *shard, const char *name)
{
	struct rr_race *race = read_race(name);

	if (mutate_fault(race))
		play_changed(shard, race, name, "the fault does not happen");
	else
		rr_race_free(race);
}

ParameterizedTestParameters(races, notice_what_is_missing)
{
	return cr_make_param_array(int, shards, SHARDS);
}

ParameterizedTest(int *number, races, notice_what_is_missing)
{
	struct shard shard;
	const char *name;

	shard_open(&shard, *number);
	while ((name = shard_next(&shard))) {
		change_reply(&shard, name);
		drop_deciding(&shard, name);
		drop_fault(&shard, name);
	}
	shard_close(&shard);
}

/* ---- Claims ------------------------------------------------------------------------------ */

static bool is_claim(const char *id, size_t length)
{
	const struct rr_claim *claim;

	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		if (strlen(claim->id) == length && memcmp(claim->id, id, length) == 0)
			return true;
	}
	return false;
}

static void check_claims(const struct rr_race *race, const char *name)
{
	for (const char *at = race->claims; *at;) {
		const size_t length = strcspn(at, " ,\t");

		cr_expect(length == 0 || is_claim(at, length), "%s: there is no claim '%.*s'", name,
			  (int)length, at);
		at += length + (at[length] != '\0');
	}
	for (size_t i = 0; i < race->n_sayings; i++)
		cr_expect(rr_race_names_claim(race, race->sayings[i].claim),
			  "%s:%d: its heading does not name %s", name, race->sayings[i].line,
			  race->sayings[i].claim);
}

Test(races, name_claims_that_there_are)
{
	size_t n;
	char **names = rr_library_names(&n);

	for (size_t i = 0; i < n; i++) {
		struct rr_race *race = read_race(names[i]);

		check_claims(race, names[i]);
		rr_race_free(race);
	}
	rr_files_free_list(names, n);
}
