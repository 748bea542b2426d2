/* SPDX-License-Identifier: MIT */
/* How many interleavings there are, random schedules, and Ctrl-C, from outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"

enum { OUTPUT_SIZE = 1 << 16 };

static char output[OUTPUT_SIZE], other[OUTPUT_SIZE];

TestSuite(random, .init = cli_setup, .fini = cli_teardown);

static int explore(const char *arguments, char *text)
{
	char command[300];

	snprintf(command, sizeof(command), "$REDRACE explore -o $HERE/result.json %s 2>/dev/null",
		 arguments);
	return support_shell(command, text, OUTPUT_SIZE);
}

/* The number before ` word`, without commas; -1 = none. */
static long before(const char *text, const char *word)
{
	const char *end = strstr(text, word), *at = end;
	long value = 0;

	if (!end)
		return -1;
	while (at > text && strchr("0123456789,", at[-1]))
		at--;
	for (; at < end; at++)
		value = *at == ',' ? value : 10 * value + (*at - '0');
	return value;
}

/* ---- How many ------------------------------------------------------------- */

/* As many as there are when every history is explored for itself. */
static void assert_counted(const char *arguments)
{
	char all[200];
	long counted;

	snprintf(all, sizeof(all), "%s --stateless", arguments);
	explore(arguments, output);
	explore(all, other);
	counted = before(output, " interleavings");
	cr_assert_gt(counted, 0, "%s: %s", arguments, output);
	cr_assert_eq(counted, before(other, " interleavings"), "%s: %s%s", arguments, output,
		     other);
}

Test(random, states_stand_for_all_interleavings, .timeout = 600)
{
	static const char *const cases[] = {
		"none",
		"none --crashes 1",
		"none --pauses 1",
		"none --lost-replies 1",
		"local-mutex --crashes 1",
		"local-mutex --processes 2",
		"incr --lost-replies 1",
		"multi-watch-split",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_counted(cases[i]);
}

/* ---- Random schedules ----------------------------------------------------- */

Test(random, lost_update_is_found_in_a_few_runs)
{
	cr_assert_eq(explore("none --random 50 --seed 1", output), 0);
	cli_assert_json(
		".explored == \"random schedules\" and .schedules == 50 and .failing > 0 and "
		".shortest.switches > 0");
	cli_assert_line("transcript", "verdict update lost");
}

Test(random, paused_holder_is_found)
{
	cr_assert_eq(explore("lua-delifequals --pauses 1 --random 1000 "
			     "--seed 5",
			     output),
		     0, "%s", output);
	cli_assert_json(".breaks | index(\"exclusion\") != null");
}

/* The steps and the verdict, without the line that counts the schedules. */
static const char *steps_of(const char *text)
{
	const char *steps = strstr(text, "  shortest");

	cr_assert_not_null(steps, "%s", text);
	return strchr(steps, '\n');
}

Test(random, failing_seed_replays)
{
	char again[200];
	const char *seed, *end;

	explore("none --clients 3 --random 50 --seed 1000", output);
	seed = strstr(output, "--random 1 --seed ");
	cr_assert_not_null(seed, "%s", output);
	snprintf(again, sizeof(again), "none --clients 3 %.*s", (int)strcspn(seed, ":"), seed);
	cr_assert_eq(explore(again, other), 0, "%s", other);
	end = strstr(steps_of(output), "  a failure");
	cr_assert_not_null(end, "%s", output);
	cr_assert_eq(strncmp(steps_of(output), steps_of(other), (size_t)(end - steps_of(output))),
		     0, "%s%s", output, other);
}

Test(random, never_says_safe)
{
	cr_assert_eq(explore("incr --random 20 --seed 9", output), 2);
	cli_assert_json("$all.cases[0].verdict == \"inconclusive\" and .schedules == 20 and "
			".failing == 0 and .explored == \"random schedules\"");
	cr_assert(cli_says(output, "1/8 in each schedule"), "%s", output);
}

Test(random, wrong_use_is_named)
{
	cr_assert_eq(explore("none --random 0", output), 64);
	cr_assert_eq(explore("none --random 3 --seed x", output), 64);
	cr_assert_eq(explore("none --random 3 --depth 0", output), 64);
	cr_assert_eq(explore("none --random 3 --stateless", output), 64);
	cr_assert_eq(explore("none --seed 3", output), 64);
}

/* ---- Ctrl-C --------------------------------------------------------------- */

/* When servers execute scripts the search is under way. Its directory goes a moment after it. */
Test(random, interrupt_tells_what_is_known_and_leaves_nothing)
{
	const int code = support_shell(
		"d=$(mktemp -d); TMPDIR=$d $REDRACE explore redlock --clients 3 --pauses 1 & P=$!\n"
		"until for s in $(find $d -type s); do redis-cli -s $s INFO commandstats; done 2>&1 | "
		"grep -q cmdstat_evalsha; do kill -0 $P && sleep 0.1 || break; done\n"
		"kill -INT $P; wait $P; code=$?; "
		"for i in $(seq 1200); do rmdir $d && break; sleep 0.1; done 2>/dev/null; "
		"ls $d 2>/dev/null; [ ! -e $d ] && [ $code -eq 130 ]",
		output, sizeof(output));

	cr_assert_eq(code, 0, "%s", output);
	cr_assert(cli_says(output, "interrupted") || cli_says(output, "fail"), "%s", output);
}
