/* SPDX-License-Identifier: MIT */
/*
 * libredislock, or a strategy, with one fault planted in each: a copy of a file that sed has
 * changed, linked into a program of its own. The matrix has to notice it: a cell is not as
 * expected any more, in what breaks or in the smallest findings. So does a search with the fault
 * options that expose it. What shows only under faults that no column has together is looked for
 * by a search whose findings are compared with those of the program as it is. And what no search can
 * know is left to a test of the library: clocks that do not run alike, and who is first.
 * The program as it is passes each of them.
 */
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

#include "../cli.h"

struct mutant {
	const char *name;
	const char *file;   /* without its .c */
	const char *change; /* a script of sed */
	/* What notices it, one of these: arguments of redrace matrix, of redrace explore, of
	 * redrace explore whose findings are compared, a filter of tests, a strategy for
	 * examples/ci/exact, or arguments of redrace bench. */
	const char *cell, *explored, *search, *test, *exact, *bench;
};

#define NO_COMPARE "/rdl_compare_and_delete\\[\\] =/s/if .* then/if KEYS[1] then/"
#define NO_ANSWER "/^static enum rdl_outcome acquire/,/^}/s/return is_dead.*/return RDL_OK;/"

static const struct mutant mutants[] = {
	{ "a release does not compare", "lib/compare", NO_COMPARE,
	  .cell = "lua-library --hazard pause" },
	{ "a renewal does not compare", "lib/compare",
	  "/compare_and_expire\\[\\] =/,/;/s/if .* then/if KEYS[1] then/",
	  .cell = "reentrant --hazard pause" },
	{ "a lock is taken that is there", "lib/token_lock",
	  "/^enum rdl_outcome rdl_lock_try/,/^}/s/ NX PX / PX /",
	  .cell = "lua-library --hazard threads" },
	{ "a lock has no lease", "lib/token_lock",
	  "/^enum rdl_outcome rdl_lock_try/,/^}/{s/ NX PX %ld/ NX/;s/lock->token, ttl_ms)/lock->token)/;}",
	  .cell = "lua-library --hazard crash" },
	{ "tokens are alike", "lib/token_lock", "s/= digits\\[.*\\]/= digits[0]/",
	  .cell = "lua-library --hazard pause" },
	{ "a renewal does not hear that the lock is another's", "lib/token_lock",
	  "/^enum rdl_outcome rdl_hold_conclude_extend/,/^}/s/outcome == RDL_OK)/outcome != RDL_UNKNOWN)/;"
	  "/^enum rdl_outcome rdl_hold_conclude_extend/,/^}/s/\treturn outcome;/\treturn RDL_OK;/",
	  .cell = "reentrant --hazard skew" },
	{ "the time until all have answered does not count", "lib/quorum",
	  "/^enum rdl_outcome rdl_quorum_try/,/^}/{s/ \\&\\&$//;"
	  "s/^\t\t rdl_lease_end_ns(.*) > quorum_now_ns(quorum))/\t)/;}",
	  .cell = "redlock-parallel --hazard pause" },
	{ "an inner level gives the lock back", "lib/reentrant",
	  "s/return rdl_reentrant_remaining_ms(reentrant) > 0 .*/"
	  "return rdl_lock_release(reentrant->lock);/",
	  .cell = "reentrant --hazard threads" },
	{ "a renewer takes a lost lock for a renewed one", "lib/renewal",
	  "/^bool rdl_renewal_run/,/^}/{s/outcome == RDL_OK)/outcome != RDL_UNKNOWN)/;"
	  "s/return outcome != RDL_LOST;/return true;/;}",
	  .search = "lua-renewed --slow-work --jumps 1" },
	{ "a quorum lacks one", "lib/quorum",
	  "/^enum rdl_outcome rdl_quorum_try/,/^}/s/tally.yes >=/tally.yes + 1 >=/",
	  .cell = "redlock-parallel --hazard crash" },
	{ "a minority is kept", "lib/quorum",
	  "/^enum rdl_outcome rdl_quorum_try/,/^}/s/\trelease_all(/\t(void)(/",
	  .cell = "redlock-parallel --hazard restart" },
	{ "a semaphore lets one more in", "lib/semaphore",
	  "s/>= tonumber(ARGV\\[3\\])/> tonumber(ARGV[3])/",
	  .cell = "semaphore-lease --hazard threads" },
	{ "a permit is given back with all others", "lib/semaphore",
	  "s/\\.leave = .*,/.leave = \"return redis.call('DEL', KEYS[1])\",/",
	  .cell = "semaphore-lease --hazard pause" },
	{ "a writer does not look for readers", "lib/rwlock",
	  "s/if not holder and redis.call('ZCARD', KEYS\\[2\\]) == 0 then/if not holder then/",
	  .test = "rwlock/readers_share_and_keep_a_writer_out" },
	{ "a writer does not look for a writer", "lib/rwlock", "s/if not holder and /if /",
	  .cell = "rwlock --hazard threads" },
	{ "a writer that waits leaves no intent", "lib/rwlock",
	  "s/intent_ms = intent_ms_of(&pauses)/intent_ms = 0 * intent_ms_of(\\&pauses)/",
	  .test = "rwlock/waiting_writer_stops_new_readers" },
	{ "clocks that drift are not allowed for", "lib/hold",
	  "s/^enum { DRIFT_PER_MILLE = 10, DRIFT_MIN_MS = 2 };/"
	  "enum { DRIFT_PER_MILLE = 0, DRIFT_MIN_MS = 0 };/",
	  .test = "quorum/drift_is_taken_off_what_is_left" },
	{ "who asks passes those in line", "lib/fair",
	  "s/if not holder and redis.call('EXISTS', KEYS\\[2\\]) == 0 then/if not holder then/",
	  .test = "fair/who_asks_when_the_lease_has_ended_does_not_pass_the_line" },
	{ "the lock is handed to one who is dead", "lib/fair",
	  "s/'')) > 0 then return first/'')) >= 0 then return first/",
	  .test = "fair/waiter_that_was_killed_is_passed_over" },
	{ "a hand-over draws no number of its own", "lib/fair",
	  "s/fenced == 'f' and redis.call('INCR', KEYS\\[3\\])/fenced == 'f' and 1/",
	  .test = "fenced/fair_lock_draws_its_number_with_the_grant" },
	{ "the fence does not count", "lib/fence", "s/redis.call('INCR', KEYS\\[2\\])/1/",
	  .cell = "fenced --hazard pause" },
	{ "the fence lets everybody through", "lib/fence",
	  "s/if number < highest then return {0} end //", .cell = "fenced --hazard pause" },
	{ "a release does not compare, and leases expire", "lib/compare", NO_COMPARE,
	  .explored = "lua-library --expiries 1" },
	{ "a release does not compare, and clients pause", "lib/compare", NO_COMPARE,
	  .explored = "lua-library --pauses 1 --clients 3" },
	{ "a release does not compare, and replies are lost", "lib/compare", NO_COMPARE,
	  .explored = "lua-library --lost-replies 1" },
	{ "a release does not compare, and two faults happen", "lib/compare", NO_COMPARE,
	  .explored = "lua-library --pauses 1 --crashes 1" },
	{ "what GETSET answers is ignored, and clients crash", "scenarios/setnx-getset", NO_ANSWER,
	  .explored = "setnx-getset --crashes 1" },
	{ "what GETSET answers is ignored, and leases expire", "scenarios/setnx-getset", NO_ANSWER,
	  .explored = "setnx-getset --expiries 1" },
	{ "what GETSET answers is ignored, and clients pause", "scenarios/setnx-getset", NO_ANSWER,
	  .explored = "setnx-getset --pauses 1" },
	{ "what GETSET answers is ignored, and three clients pause", "scenarios/setnx-getset",
	  NO_ANSWER, .explored = "setnx-getset --pauses 1 --clients 3" },
	{ "what GETSET answers is ignored, and leases expire twice", "scenarios/setnx-getset",
	  NO_ANSWER, .explored = "setnx-getset --expiries 2" },
	{ "what GETSET answers is ignored, and replies are lost", "scenarios/setnx-getset",
	  NO_ANSWER, .explored = "setnx-getset --lost-replies 1" },
	{ "a take-over ignores what GETSET answers, and clients crash", "scenarios/timestamp",
	  "/^static enum rdl_outcome take_over/,/^}/s/return rr_timestamp.*/return RDL_OK;/",
	  .explored = "setnx-getset-checked --crashes 1" },
	{ "a renewal is believed and not sent, and leases expire", "lib/renewal",
	  "/^bool rdl_renewal_run/,/^}/s/= renewal->renew(.*;/= RDL_OK;/",
	  .explored = "lua-renewed --expiries 2" },
	{ "set-nx-ex sets in any case", "scenarios/set-nx-ex", "s/ 1 NX EX / 1 EX /",
	  .exact = "set-nx-ex" },
	{ "set-nx-ex has no lease", "scenarios/set-nx-ex",
	  "s/ NX EX %ld/ NX/;s/client->lock, client->ttl_ms .*);/client->lock);/",
	  .exact = "set-nx-ex" },
	{ "lua-delifequals does not compare", "scenarios/lua-delifequals",
	  "/delifequals\\[\\] =/s/if .* then/if KEYS[1] then/", .exact = "lua-delifequals" },
	{ "setnx-getset ignores what GETSET answers", "scenarios/setnx-getset", NO_ANSWER,
	  .exact = "setnx-getset" },
	{ "two take a dead lock over", "scenarios/setnx-getset", NO_ANSWER,
	  .bench = "--dead-holder --ttl-ms 5000 -n 5000 setnx-getset" },
	{ "multi-watch does not watch", "scenarios/multi-watch", "s/\"WATCH %s\"/\"EXISTS %s\"/",
	  .exact = "multi-watch" },
	{ "local-mutex waits for nobody", "scenarios/local-mutex",
	  "s/rdl_mutex_\\(un\\)\\{0,1\\}lock(client->data, client->mutex);/(void)client;/",
	  .exact = "local-mutex" },
	{ "redlock has enough with one server", "scenarios/redlock",
	  "s/quorum = client->n_lock_nodes .*;/quorum = 1;/", .exact = "redlock" },
	{ "redlock forgets the time that it took", "scenarios/redlock",
	  "s/granted >= quorum && validity_ms > 0/granted >= quorum/", .exact = "redlock" },
	{ "incr is GET and SET", "scenarios/incr",
	  "s/return rdl_run(client->data, &reply, .*;/(void)reply; return rr_get_add_set(client);/",
	  .exact = "incr" },
	{ "none loses nothing", "scenarios/none",
	  "s/^{/{ struct rdl_reply done; return rdl_run(client->data, \\&done, \"INCR %s\", client->counter);/",
	  .exact = "none" },
};

enum { MUTANTS = sizeof(mutants) / sizeof(mutants[0]), COMMAND = 2000 };

static void run_well(const struct mutant *mutant, const char *command)
{
	cr_assert_eq(cli_run(command), 0, "%s: %s", mutant->name, cli_output);
}

static void write_change(const struct mutant *mutant)
{
	char path[SUPPORT_DIRECTORY + 10];
	FILE *file;

	snprintf(path, sizeof(path), "%s/change", cli_home);
	file = fopen(path, "w");
	cr_assert_not_null(file, "%s", path);
	fprintf(file, "%s\n", mutant->change);
	fclose(file);
}

/* What the program, and what the runner of tests, is linked of besides the library. */
static const char program[] = "$(of harness/*.c) -o $HERE/redrace";
static const char tests[] =
	"$(of harness/c*.c $(ls tests/*/*.c | grep -vE \"/($(sed -n 's/^ALONE *:= *//p' Makefile | tr ' ' '|'))/\")) -lcriterion -o $HERE/run";

/* Objects as they were built, but for the one that is changed. */
static void build_mutant(const struct mutant *mutant)
{
	char command[COMMAND];

	write_change(mutant);
	snprintf(command, sizeof(command),
		 "sed -f $HERE/change %s.c >$HERE/mutant.c && ! cmp -s %s.c $HERE/mutant.c",
		 mutant->file, mutant->file);
	run_well(mutant, command);
	snprintf(
		command, sizeof(command),
		"B=$(realpath $(dirname $REDRACE)); of() { for c; do echo $B/${c%%.c}.o; done; }; cc -std=c11 -D_GNU_SOURCE -Ilib -Iscenarios -c -o $HERE/mutant.o $HERE/mutant.c 2>&1 && cc -pthread -Wl,-S $HERE/mutant.o $(of lib/*.c scenarios/*.c harness/*/*.c | grep -v '/%s.o$') $B/assets.o %s $(sed -n 's/^LIBS *:= *//p' Makefile) 2>&1 && ln -s $B/redrace-*.so $HERE",
		mutant->file, mutant->test ? tests : program);
	run_well(mutant, command);
}

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* Is the program as it is asked the same for another mutant? */
static bool is_asked_for_another(const struct mutant *mutant)
{
	const struct mutant *other = mutants;

	while (other < mutant && !is_same(other->cell, mutant->cell) &&
	       !is_same(other->explored, mutant->explored) && !is_same(other->exact, mutant->exact))
		other++;
	return other < mutant;
}

/* The command exits with 0 for the program as it is, and with 1 for the mutant. */
static void assert_told_apart(const struct mutant *mutant, const char *before, const char *after,
			      const char *arguments)
{
	if (!is_asked_for_another(mutant))
		cr_assert_eq(cli_runf("%s$REDRACE%s%s 2>&1", before, after, arguments), 0, "%s",
			     cli_output);
	cr_assert_eq(cli_runf("%s$HERE/redrace%s%s 2>&1", before, after, arguments), 1, "%s: %s",
		     mutant->name, cli_output);
}

static int compare_searches(const struct mutant *mutant)
{
	char command[COMMAND];

	snprintf(
		command, sizeof(command),
		"for R in $REDRACE $HERE/redrace; do $R explore %s --format json | grep '\"smallest\"' >$HERE/smallest-$(basename $(dirname $R)) || exit 2; done; cat $HERE/smallest-*; cmp -s $HERE/smallest-*",
		mutant->search);
	return cli_run(command);
}

/* A runner of tests leaves things in the environment that another one stumbles over. */
static int run_test(const struct mutant *mutant, const char *program)
{
	char command[COMMAND];

	snprintf(command, sizeof(command),
		 "env -i PATH=\"$PATH\" TMPDIR=$HERE REDRACE=$REDRACE %s --filter %s 2>&1", program,
		 mutant->test);
	return cli_run(command);
}

static void assert_noticed(const struct mutant *mutant)
{
	if (mutant->cell) {
		assert_told_apart(mutant, "", " matrix --jobs 1 ", mutant->cell);
	} else if (mutant->explored) {
		assert_told_apart(mutant, "", " explore ", mutant->explored);
	} else if (mutant->bench) {
		assert_told_apart(mutant, "", " bench -o $HERE/results ", mutant->bench);
	} else if (mutant->exact) {
		/* Each fault changes a cell of the matrix, however far it counts. */
		assert_told_apart(mutant, "INCREMENTS=500 REDRACE=", " examples/ci/exact ",
				  mutant->exact);
	} else if (mutant->search) {
		cr_assert_eq(compare_searches(mutant), 1, "%s: %s", mutant->name, cli_output);
	} else {
		cr_assert_eq(run_test(mutant, "$(dirname $REDRACE)/tests/run"), 0, "%s",
			     cli_output);
		cr_assert_eq(run_test(mutant, "$HERE/run"), 1, "%s: %s", mutant->name, cli_output);
	}
}

ParameterizedTestParameters(mutants, is_noticed)
{
	static int numbers[MUTANTS];

	for (int i = 0; i < MUTANTS; i++)
		numbers[i] = i;
	return cr_make_param_array(int, numbers, MUTANTS);
}

ParameterizedTest(const int *number, mutants, is_noticed, .timeout = 600, .init = cli_setup,
		  .fini = cli_teardown)
{
	const struct mutant *mutant = &mutants[*number];

	build_mutant(mutant);
	assert_noticed(mutant);
}
