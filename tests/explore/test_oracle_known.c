/* SPDX-License-Identifier: MIT */
/* What the oracle has found once, in its shortest form. */
#include <criterion/parameterized.h>

#include "programs.h"

/* A step without a choice. */
#define STEP(...)                           \
	{                                   \
		{ { __VA_ARGS__ } },        \
		{                           \
			{                   \
				__VA_ARGS__ \
			}                   \
		}                           \
	}

struct known {
	const char *what;
	struct rr_budget budget;
	size_t n_clients;
	struct program programs[PROGRAM_CLIENTS];
};

static const struct known all_known[] = {
	{ "a command that is refused spoils its transaction",
	  { .of = { [RR_CRASHES] = 0 } },
	  2,
	  { { 2, { STEP("GET", "a"), STEP("SET", "a", "1") } },
	    { 3, { STEP("MULTI"), STEP("GET"), STEP("EXEC") } } } },
	{ "which channel is listened to",
	  { .of = { [RR_CRASHES] = 0 } },
	  2,
	  { { 4,
	      { STEP("SUBSCRIBE", "c"), STEP("UNSUBSCRIBE", "c"), STEP("SUBSCRIBE", "d"),
		STEP("LISTEN", "10") } },
	    { 2, { STEP("PUBLISH", "c", "1"), STEP("PUBLISH", "d", "2") } } } },
	{ "in which database a key is watched",
	  { .of = { [RR_CRASHES] = 0 } },
	  3,
	  { { 5,
	      { STEP("SELECT", "1"), STEP("WATCH", "a"), STEP("SELECT", "0"), STEP("MULTI"),
		STEP("EXEC") } },
	    { 3, { STEP("WATCH", "a"), STEP("MULTI"), STEP("EXEC") } },
	    { 1, { STEP("SET", "a", "1") } } } },
	{ "a late command that waits",
	  { .of = { [RR_CRASHES] = 1, [RR_LATE_COMMANDS] = 1 } },
	  2,
	  { { 1, { STEP("SET", "a", "1") } }, { 1, { STEP("BLPOP", "l", "0") } } } },
	{ "what a stream keeps of the time",
	  { .of = { [RR_PAUSES] = 1 } },
	  2,
	  { { 2,
	      { STEP("XGROUP", "CREATE", "x", "g", "0", "MKSTREAM"),
		STEP("XADD", "x", "1-1", "f", "1") } },
	    { 1, { STEP("XREADGROUP", "GROUP", "g", "me", "STREAMS", "x", ">") } } } },
	{ "an entry whose number is the time",
	  { .of = { [RR_PAUSES] = 1 } },
	  2,
	  { { 2, { STEP("XADD", "x", "*", "f", "1"), STEP("DEL", "x") } },
	    { 1, { STEP("XADD", "x", "*", "f", "2") } } } },
	{ "an end that is a date",
	  { .of = { [RR_PAUSES] = 1 } },
	  2,
	  { { 2, { STEP("SET", "a", "1"), STEP("EXPIREAT", "a", "1900000050") } },
	    { 1, { STEP("TTL", "a") } } } },
};

enum { KNOWN = sizeof(all_known) / sizeof(all_known[0]) };

ParameterizedTestParameters(oracle, what_was_found_once_stays_right)
{
	static int numbers[KNOWN];

	for (int i = 0; i < KNOWN; i++)
		numbers[i] = i;
	return cr_make_param_array(int, numbers, KNOWN);
}

ParameterizedTest(const int *number, oracle, what_was_found_once_stays_right, .timeout = 600)
{
	const struct known *known = &all_known[*number];
	static struct stage stage;
	struct programs *programs = programs_open(&stage);
	struct programs_run tree = { .is_tree = true, .budget = known->budget };
	struct programs_run merged = { .checks = true, .budget = known->budget };
	char why[200];

	programs_take(programs, known->programs, known->n_clients);
	programs_run(programs, &tree);
	cr_expect_not(tree.was_noticed, "%s: %s", known->what, stage.error.text);
	programs_run(programs, &merged);
	cr_expect_not(merged.was_noticed, "%s: %s", known->what, stage.error.text);
	cr_expect(programs_agree(programs, why, sizeof(why)), "%s: %s", known->what, why);
	programs_close(programs);
	stage_close(&stage);
}
