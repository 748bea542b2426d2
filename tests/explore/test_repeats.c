/* SPDX-License-Identifier: MIT */
/* Servers are brought to a state again and again, each time from the beginning:
 * whatever was left behind must not show. */
#include <stdio.h>
#include <string.h>

#include "../cli.h"

TestSuite(repeats, .init = cli_setup, .fini = cli_teardown);

enum { BROKEN_SEARCH = 69 };

/* To its end, whatever it found, and not by an error. */
static void assert_searched(const char *arguments)
{
	const int code = cli_runf("$REDRACE explore -o $HERE/result.json %s 2>&1", arguments);

	cr_assert_lt(code, BROKEN_SEARCH, "%s: %d: %s", arguments, code, cli_output);
	cli_assert_json("[$all.cases[] | .verdict != \"error\" and .properties.states > 0] | all");
}

/* A lost reply leaves a token of which nobody knows whether it is there. */
Test(repeats, indeterminate_reply_ends_with_its_run)
{
	assert_searched("lua-delifequals --lost-replies 1");
	assert_searched("lua-pipelined --lost-replies 1");
	assert_searched("fenced --lost-replies 1");
	assert_searched("reentrant --lost-replies 1");
	assert_searched("redlock --lock-servers 3 --lost-replies 1 --max-states 150");
}

/* A lock that is handed to a waiter who is asking just then: it has the lock by
 * its answer, and the message lies in its socket. */
Test(repeats, message_ends_with_its_run)
{
	assert_searched("fair-queue --pauses 1");
	assert_searched("fair-queue --lost-replies 1");
	assert_searched("fair-queue --clients 3 --crashes 1 --max-states 60");
}

Test(repeats, clock_that_jumped_is_set_back)
{
	assert_searched("redlock --lock-servers 3 --jumps 1 --max-states 300");
}

/* What links knew of a server is no longer so when it has come back empty. */
Test(repeats, empty_server_is_new_to_all)
{
	assert_searched("redlock --lock-servers 3 --restarts 1 --max-states 300");
}

/* Each client outlasts its lease and drives the others out, for ever. */
Test(repeats, work_that_never_ends_is_explored_all_the_same)
{
	assert_searched("fenced --slow-work");
	assert_searched("multi-watch fenced --slow-work --pauses 1 --max-states 50");
}
