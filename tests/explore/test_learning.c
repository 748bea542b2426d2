/* SPDX-License-Identifier: MIT */
/*
 * Clients whose histories are merged into states end as they do with full histories, and as
 * little programs really do, of which all positions are known (little.h).
 *
 * RR_LEARNING=N in the environment tries N random programs, RR_LEARNING_FROM the seed of
 * the first.
 */
#include "little.h"

#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

enum {
	PROGRAMS = 150,
	SHARDS = 2,
	HISTORIES_MAX = 8000,
	STATES_MAX = 40000,
	SMALL_MAX = 2000,
	WHY = 1000
};

static struct stage stage;

/* A line of the table. */
struct row {
	unsigned long programs, equal, skipped, cut, positions, states[2];
	uint64_t runs[2]; /* with full histories, and merged */
};

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? (uint64_t)atoll(text) : otherwise;
}

static void print_row(const char *name, const struct row *row)
{
	cr_log_info("%-24s %5lu programs %5lu equal %4lu skipped %4lu cut, %7lu positions, full "
		    "%8lu states %7llu runs, merged %8lu states %7llu runs",
		    name, row->programs, row->equal, row->skipped, row->cut, row->positions,
		    row->states[0], (unsigned long long)row->runs[0], row->states[1],
		    (unsigned long long)row->runs[1]);
}

/* ---- Comparing ------------------------------------------------------------------------- */

/* With those bits of `learning`: false = as it is, or *why it is not. */
static bool differs(const struct little_case *it, unsigned learning, char why[WHY])
{
	struct little_ends ends = { 0 }, truth = { 0 };

	little_search(&stage, it, learning, SMALL_MAX, &ends, &truth);
	little_compare(&ends, &truth, why, WHY);
	little_ends_release(&ends);
	little_ends_release(&truth);
	return why[0] != '\0';
}

static bool still_differs(void *context, const struct little_case *it)
{
	const unsigned *learning = context;
	char why[WHY];

	return differs(it, *learning, why);
}

/* What is left of it that differs. */
static void print_smallest(struct little_case it, unsigned learning)
{
	char why[WHY];

	little_shrink(&it, still_differs, &learning);
	differs(&it, learning, why);
	cr_log_warn("%s, the smallest: %s\n  A: %s\n  B: %s\n  C: %s", it.name, why, it.texts[0],
		    it.texts[1], it.texts[2] ? it.texts[2] : "-");
}

static void expect_no(const char *why, unsigned learning, const struct little_case *it)
{
	cr_expect(why[0] == '\0', "%s, %s: %s", it->name,
		  learning & RR_LEARN_NOTHING ? "full histories" : "merged", why);
	if (why[0])
		print_smallest(*it, learning);
}

static void add_run(struct row *row, int which, const struct little_ends *ends)
{
	row->states[which] += ends->states;
	row->runs[which] += ends->runs;
}

/* Full histories that have no end are no loss: the truth is known without them. */
static void compare(const struct little_case *it, struct row *row)
{
	struct little_ends full = { 0 }, merged = { 0 }, truth = { 0 };
	char why[2][WHY];

	little_search(&stage, it, 0, STATES_MAX, &merged, &truth);
	little_search(&stage, it, RR_LEARN_NOTHING, HISTORIES_MAX, &full, NULL);
	little_compare(&merged, &truth, why[0], WHY);
	little_compare(&full, &truth, why[1], WHY);
	expect_no(why[0], 0, it);
	expect_no(why[1], RR_LEARN_NOTHING, it);
	if (full.extent == LITTLE_WHOLE && merged.extent == LITTLE_WHOLE)
		cr_expect_eq(full.found, merged.found, "%s: verdict %u, merged %u: %s", it->name,
			     full.found, merged.found, it->texts[0]);
	cr_expect(it->may_be_cut || merged.extent == LITTLE_WHOLE, "%s: is not searched to its end",
		  it->name);
	row->programs++;
	row->equal += !why[0][0] && merged.extent == LITTLE_WHOLE;
	row->cut += merged.extent != LITTLE_WHOLE;
	row->skipped += full.extent != LITTLE_WHOLE;
	row->positions += truth.states;
	add_run(row, 0, &full);
	add_run(row, 1, &merged);
	little_ends_release(&full);
	little_ends_release(&merged);
	little_ends_release(&truth);
}

/* ---- At random ---------------------------------------------------------------------------- */

ParameterizedTestParameters(learning, random_programs_end_as_with_full_histories)
{
	static int shards[SHARDS];

	for (int i = 0; i < SHARDS; i++)
		shards[i] = i;
	return cr_make_param_array(int, shards, SHARDS);
}

ParameterizedTest(const int *shard, learning, random_programs_end_as_with_full_histories,
		  .timeout = 3000)
{
	const uint64_t from = number_of("RR_LEARNING_FROM", 1);
	struct row row = { 0 };

	stage_open(&stage, RR_CLUSTER_FROZEN);
	for (uint64_t i = (uint64_t)*shard; i < number_of("RR_LEARNING", PROGRAMS); i += SHARDS) {
		struct little_case it;
		char name[40];

		little_random(from + i, &it);
		snprintf(name, sizeof(name), "seed %llu", (unsigned long long)(from + i));
		it.name = name;
		compare(&it, &row);
		for (size_t c = 0; c < LITTLE_CLIENTS; c++)
			free((char *)it.texts[c]);
	}
	print_row("random", &row);
	cr_expect_lt(2 * row.skipped, row.programs);
	stage_close(&stage);
}

/* ---- By name -------------------------------------------------------------------------------- */

Test(learning, hard_programs_end_as_they_do, .timeout = 600)
{
	stage_open(&stage, RR_CLUSTER_FROZEN);
	for (size_t i = 0; i < n_little_named; i++) {
		struct row row = { 0 };

		compare(&little_named[i], &row);
		print_row(little_named[i].name, &row);
	}
	stage_close(&stage);
}

/* ---- Planted bugs ----------------------------------------------------------------------------- */

struct bug {
	const char *what;
	unsigned bit;
	const char *name; /* of a program that shows it */
	unsigned with;    /* bits of what else may find it, or makes it matter */
};

/* Is it searched to its end, and as it is? *why it is not. */
static bool is_right(const char *name, unsigned learning, char why[WHY])
{
	struct little_ends ends = { 0 }, truth = { 0 };

	little_search(&stage, little_find(name), learning, STATES_MAX, &ends, &truth);
	little_compare(&ends, &truth, why, WHY);
	if (!why[0] && ends.extent != LITTLE_WHOLE)
		strcpy(why, "not searched to its end");
	little_ends_release(&ends);
	little_ends_release(&truth);
	return why[0] == '\0';
}

static void expect_found(const struct bug *bug)
{
	char why[WHY];

	stage_open(&stage, RR_CLUSTER_FROZEN);
	cr_expect(is_right(bug->name, bug->with, why), "'%s' without a bug: %s", bug->name, why);
	cr_expect_not(is_right(bug->name, bug->bit | bug->with, why), "%s: nothing wrong with '%s'",
		      bug->what, bug->name);
	cr_log_info("%s: %s: %s", bug->what, bug->name, why);
	stage_close(&stage);
}

Test(learning, programs_that_forget_are_found, .timeout = 600)
{
	expect_found(&(struct bug){ "numbers are forgotten", LITTLE_FORGETS, "budget 3 of 2", 0 });
}

/* Among the random ones, too. What is said of one is about its smallest part that shows it. */
Test(learning, differences_are_made_small, .timeout = 600)
{
	struct little_case it;
	unsigned bug = LITTLE_FORGETS;
	char why[WHY];
	size_t before;
	uint64_t seed = 1;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	for (little_random(seed, &it); !differs(&it, bug, why); little_random(++seed, &it))
		cr_assert_lt(seed, 100);
	before = strlen(it.texts[0]) + strlen(it.texts[1]);
	little_shrink(&it, still_differs, &bug);
	cr_log_info("seed %llu: A: %s B: %s", (unsigned long long)seed, it.texts[0], it.texts[1]);
	cr_expect(differs(&it, bug, why));
	cr_expect_lt(strlen(it.texts[0]) + strlen(it.texts[1]), before / 2);
	stage_close(&stage);
}

static const struct bug bugs[] = {
	{ "loops are not followed", RR_PLANT_NO_PUMPING, "cache 40", 0 },
	{ "last transitions are not tested", RR_PLANT_NO_LAST_EDGES, "said behind a lock",
	  RR_LEARN_ALL | RR_PLANT_NO_WALKS },
	{ "what distinguishes states is not asked of others", RR_PLANT_NO_SUFFIXES, "tenth", 0 },
	{ "a client's own name is no hole", RR_PLANT_NO_SELF, "lock, 2 clients", 0 },
	{ "a reply is guessed", RR_PLANT_GUESSED_REPLY, "limiter 10, burst 12",
	  RR_LEARN_ALL | RR_PLANT_NO_WALKS },
};

enum { BUGS = sizeof(bugs) / sizeof(bugs[0]) };

ParameterizedTestParameters(learning, planted_bugs_are_found)
{
	static int numbers[BUGS];

	for (int i = 0; i < BUGS; i++)
		numbers[i] = i;
	return cr_make_param_array(int, numbers, BUGS);
}

ParameterizedTest(const int *number, learning, planted_bugs_are_found, .timeout = 600)
{
	expect_found(&bugs[*number]);
}
