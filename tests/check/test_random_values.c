/* SPDX-License-Identifier: MIT */
/* Which texts count as random values: those that hardly ever come twice, and times of day. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "client/random_values.h"

static struct rr_terms terms;
static struct rr_random_values values;

static void teardown(void)
{
	rr_random_values_release(&values);
	rr_terms_release(&terms);
}

TestSuite(random_values, .fini = teardown);

#define START_NS (INT64_C(1700000000) * 1000000000)

/* The table has `known`, and a new process sends `seen` in its place. Is that the same value by
 * another name from then on? */
static bool draws(const char *known, const char *seen, enum rr_drawer drawer)
{
	const struct rr_instance_config config = { .process = { .start_ns = START_NS } };
	struct rr_instance instance = { .config = &config };
	const char *const one[] = { "SET", "token", known, NULL };
	const char *const other[] = { "SET", "token", seen, NULL };
	const struct rr_run_view before = {
		.sent = { { .command = rr_terms_words(&terms, one) } },
		.n_sent = 1,
	};
	const struct rr_run_view now = {
		.sent = { { .command = rr_terms_words(&terms, other) } },
		.n_sent = 1,
	};
	bool is_wrong = false;
	const bool is_renamed = rr_random_values_rename(&values, &terms, &instance, &before, &now,
							0, 0, drawer, &is_wrong);

	cr_assert_not(is_wrong);
	if (is_renamed)
		cr_assert(
			rr_instance_renames(&instance, (struct rdl_word){ known, strlen(known) }));
	rr_renaming_release(&instance.inward);
	rr_renaming_release(&instance.outward);
	return is_renamed;
}

Test(random_values, each_new_one_is_another_name)
{
	char text[30];

	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), "token-%08x", 0x1234567U * (unsigned)(i + 1));
		cr_assert(draws("token-ffffffff", text, RR_DRAWER_OTHER_SEED), "%s", text);
	}
	cr_assert_eq(values.n, 1);
	cr_assert_eq(values.draws[0].n, 20);
	cr_assert_eq(values.draws[0].repeats, 0);
}

/* Other clients may choose the same. */
Test(random_values, what_comes_again_is_a_choice)
{
	cr_assert(draws("shard-one", "shard-two", RR_DRAWER_OTHER_SEED));
	cr_assert_not(draws("shard-one", "shard-two", RR_DRAWER_OTHER_SEED));
	cr_assert_not(draws("shard-one", "shard-one", RR_DRAWER_OTHER_SEED), "does not differ");
}

/* One of eight may have come before by chance. */
Test(random_values, one_that_comes_again_among_many_is_random)
{
	char text[30];

	for (int i = 0; i < 8; i++) {
		snprintf(text, sizeof(text), "token-%08x", 0x1234567U * (unsigned)(i + 1));
		cr_assert(draws("token-ffffffff", text, RR_DRAWER_OTHER_SEED));
	}
	cr_assert(draws("token-ffffffff", text, RR_DRAWER_OTHER_SEED));
	cr_assert_not(draws("token-ffffffff", text, RR_DRAWER_OTHER_SEED));
}

Test(random_values, times_of_day_may_come_again)
{
	for (int i = 0; i < 4; i++)
		cr_assert(draws("1700000001", "1700000003", RR_DRAWER_OTHER_SEED));
	cr_assert_eq(values.draws[0].repeats, 3);
}

/* Nobody controls what runs of one client with one seed differ in. */
Test(random_values, those_of_one_seed_that_differ_vary)
{
	cr_assert(draws("token-ffffffff", "token-11111111", RR_DRAWER_OTHER_CLIENT));
	cr_assert_eq(values.varying, 0);
	cr_assert(draws("token-ffffffff", "token-22222222", RR_DRAWER_SELF));
	cr_assert_eq(values.varying, 1);
}

/* Commands that differ by more than a token are other commands. */
Test(random_values, short_words_and_other_commands_are_none)
{
	cr_assert_not(draws("abc", "abd", RR_DRAWER_OTHER_SEED), "shorter than a token");
	cr_assert_eq(values.n, 0);
}
