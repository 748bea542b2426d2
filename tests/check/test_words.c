/* SPDX-License-Identifier: MIT */
/* The words of verdicts, in one place: tests/golden/words.txt. Other tests ask the JSON of a check, so
 * that words may change: `make accept` takes new ones over. The documents have longer examples, which
 * tests/play/test_teaching.c compares. */
#include "../cli.h"

#include <stdio.h>

TestSuite(verdict_words, .init = cli_setup, .fini = cli_teardown);

#define COUNT "v=$(" CLI "GET counter); " CLI "SET counter $((v + 1))"

static const struct {
	const char *options, *program;
} checks[] = {
	{ "", COUNT },
	{ "", CLI "INCR counter" },
	{ "", "[ \"$(" CLI "SET lock 1 NX)\" = OK ] || exit 1\n" COUNT "\n" CLI "DEL lock" },
	{ "--final 'GET counter' 3", CLI "INCR counter" },
	{ "--data-only --expiries 1",
	  "[ \"$(" CLI "SET lock 1 NX PX 10000)\" = OK ] || exit 1\n" COUNT },
	{ "", CLI "ECHO redrace:enter\n" CLI "INCR x\n" CLI "ECHO redrace:leave" },
	{ "", CLI "BLPOP jobs 0" },
	{ "", "true" },
	{ "", CLI "INCR counter\nexit 3" },
	{ "--rounds 2", "until [ \"$(" CLI "SET lock me NX)\" = OK ]; do " CLI "GET x; done\n" COUNT
			"\n" CLI "DEL lock" },
};

/* How many states there were, how many runs and how long that took may change. */
#define HIDE_FIGURES                                                                                 \
	"sed -zE 's/,\\s+[0-9,]+\\s+runs?\\s+of\\s+the\\s+program,\\s+[0-9.]+\\s+s\\)/, N runs)/g; " \
	"s/[0-9,]+ states?/N states/g'"

Test(verdict_words, are_these)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		cli_write("program", "%s\n", checks[i].program);
		cli_runf("R=$(realpath $REDRACE_ONCE); cd $HERE; { sed 's/^/| /' program; "
			 "LC_ALL=C.UTF-8 $R check --skeptic off --audit 0 %s -- sh program "
			 "2>/dev/null; echo \"exit $?\"; } >>words",
			 checks[i].options);
	}
	cr_assert_eq(cli_run(HIDE_FIGURES " <$HERE/words"), 0);
	support_assert_golden("words.txt", cli_output);
}
