/* SPDX-License-Identifier: MIT */
/* The words of verdicts, of the sentences that explain findings, and of errors, in one place: words.txt,
 * why.txt and errors.txt of tests/golden. Other tests ask the JSON of a check, its exit code, and what a
 * message names, so that words may change: `make accept` takes new ones over. The documents have longer
 * examples, which tests/play/test_teaching.c compares. */
#include "../cli.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(verdict_words, .init = cli_setup, .fini = cli_teardown);

#define COUNT "v=$(" CLI "GET counter); " CLI "SET counter $((v + 1))"

static const struct {
	const char *options, *program;
} checks[] = {
	{ "", COUNT },
	{ "", CLI "INCR counter" },
	{ "", "[ \"$(" CLI "SET lock 1 NX)\" = OK ] || exit 1\n" COUNT "\n" CLI "DEL lock" },
	{ "", "[ \"$(" CLI "SET lock 1 NX EX 10)\" = OK ] || exit 1\n" COUNT "\n" CLI "DEL lock" },
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
#define HIDE_FIGURES                                                         \
	"sed -zE 's/,\\s+[0-9,]+\\s+runs?,\\s+[0-9.]+\\s+s\\)/, N runs)/g; " \
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

/* ---- Why ------------------------------------------------------------------------------ */

/* Options of a check, of which the sentences of `why` and of the fix are compared. */
static const char *const explained[] = {
	"-- sh -c 'v=$(" CLI "GET x); " CLI "SET x $((v + 1))'",
	"--client A='v=$(" CLI "GET x); " CLI "SET x $((v + 1))' --client B='" CLI "SET x 100'",
	"-- sh -c '[ $(" CLI "EXISTS job) = 0 ] || exit 0; " CLI "SET job done; " CLI
	"RPUSH mails report'",
	"--client A='" CLI "SET x 1; " CLI "SET y 1' --client B='x=$(" CLI "GET x); y=$(" CLI
	"GET y); " CLI "SET seen $x$y'",
	"-- sh -c '" CLI "RPUSH a $REDRACE_CLIENT; " CLI "RPUSH b $REDRACE_CLIENT'",
	"--expiries 1 --client hold='" CLI "SET seat h NX PX 1000 | grep -q OK || exit 1; " CLI
	"DEL seat' --client buy='" CLI "SET seat b NX | grep -q OK'",
	"--lost-replies 1 -- sh -c '" CLI "RPUSH jobs resize 2>&1 | grep -q [0-9]$ || " CLI
	"RPUSH jobs resize'",
	"--clients 1 --crashes 1 -- sh -c '" CLI "INCR hits; " CLI "EXPIRE hits 60'",
};

Test(verdict_words, explain_findings)
{
	for (size_t i = 0; i < sizeof(explained) / sizeof(explained[0]); i++)
		cli_runf("{ $REDRACE_ONCE check --no-cache --skeptic off --audit 0 "
			 "-o $HERE/result.json %s >/dev/null 2>&1; "
			 "jq -rc '.cases[0].properties | .kinds, .why, .mend' $HERE/result.json; } "
			 ">>$HERE/why",
			 explained[i]);
	cr_assert_eq(cli_run("cat $HERE/why"), 0);
	support_assert_golden("why.txt", cli_output);
}

/* ---- Errors --------------------------------------------------------------------------- */

/* Wrong uses of each command, and files that are not as they should be. */
static const char *const wrong[] = {
	"bnech",
	"bench nonne",
	"bench xyzzyxyzzy",
	"bench --threads 0",
	"bench --threads 2,x",
	"bench --processes 200 --threads 200",
	"bench --ttl-ms 1500 set-nx-ex",
	"bench --persistence sometimes",
	"bench --redis localhost",
	"bench --redis redis://a,redis://b,redis://b",
	"bench --redis redis://a --persistence rdb",
	"bench --output ''",
	"bench none --re 2",
	"bench none --threads",
	"bench none --all-strategies=5",
	"bench incr --redis unix://x --redis-password-file /none",
	"bench incr --askpass",
	"bench none --redis-server /no/such/program",
	"check",
	"check true",
	"check --client A=true -- true",
	"check --client 3 -- true",
	"check --init /none -- true",
	"check -- examples/check/counter.py",
	"check --ignore n.x -- redis-cli -u {url} INCR n",
	"check --app true",
	"check --atomic -- true",
	"check --allow-repeats -- true",
	"check --restart -- true",
	"check --skeptic maybe -- true",
	"check --final 'GET x' -- true",
	"check --final 'GET \"x' 1 -- true",
	"check --allow-output '(' -- true",
	"check --env A=B -- true",
	"check --redis-at redis -- true",
	"check --setup 'curl -c {jar} {app}/login' -- true",
	"check --app true --setup 'curl -c {jar} x' --request 'curl -b {jar} {app}/'",
	"check --app true --setup 'curl -c {jar} {app}/' --request 'curl {app}/'",
	"check --app true --request 'curl -b {jar} {app}/'",
	"check --build 'echo x.c:1:2: error: y; exit 2' -- true",
	"check --apps 2 -- true",
	"check --allow-outside db: -- true",
	"check --fresh /none -- true",
	"check -o x.pdf -- true",
	"check --replay README.md -- true",
	"check --suite /dev/zero",
	"check --hangs-after 1 -- sh -c 'kill -STOP $$'",
	"claims TL-99",
	"claims --format pdf",
	"claims -o x.pdf",
	"claims -o --nosuchoption",
	"compare docs docs",
	"demo now",
	"doctor -o a.xml",
	"explore nosuchstrategy",
	"explore none --crashes many",
	"explore none --graph x.txt",
	"explore none --processes 3",
	"explore none --show owner",
	"game nix",
	"help bench play",
	"help set-nx-ex",
	"list all",
	"list --hlep",
	"matrix --hazard rain",
	"matrix --replay docs",
	"matrix incr --shard 3/2",
	"merge README.md",
	"play lost-updat",
	"play nofile.race",
	"play none --schedule 'A:GET A:GET'",
	"play none --schedule 'A A A'",
	"play none --schedule 'crash:A A'",
	"play -o lost.gif lost-update",
	"report no-such-race",
	"report",
	"site",
};

static const char *const wrong_suites[] = {
	"",
	"checks:\n",
	"check: {}\n",
	"checks:\n\ta: {}\n",
	"checks: {a: {command: x\n",
	"checks:\n  a:\n    command: echo a: b\n",
	"checks: {a: *b}\n",
	"checks: {a: {command: x}, a: {command: y}}\n",
	"checks: {a: {clients: 2}}\n",
	"checks: {a: {comand: x}}\n",
	"checks: {a: {command: x, clients: three}}\n",
	"checks: {a: {command: x, clients: '3'}}\n",
	"checks: {a: {command: x, data-only: yes}}\n",
	"checks: {a: {command: x, init: [f]}}\n",
	"checks: {a: {command: x, refused: '['}}\n",
	"checks: {a: {command: x, final: GET a}}\n",
	"checks: {a: {command: }}\n",
	"checks: {a: {command: x, expect: good}}\n",
	"checks: {a: {command: x, known: lost update}}\n",
	"checks: {a: &a {command: x, <<: *a}}\n",
};

Test(verdict_words, name_errors)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("WORDS", wrong[i], 1);
		cli_runf("{ printf '| redrace %%s\\n' \"$WORDS\"; $REDRACE_ONCE %s 2>&1 >/dev/null "
			 "</dev/null; echo \"exit $?\"; } >>$HERE/errors",
			 wrong[i]);
	}
	for (size_t i = 0; i < sizeof(wrong_suites) / sizeof(wrong_suites[0]); i++) {
		cli_write("redrace.yaml", "%s", wrong_suites[i]);
		cli_run("{ sed 's/^/| /' $HERE/redrace.yaml; $REDRACE_ONCE check --suite "
			"$HERE/redrace.yaml 2>&1 >/dev/null; echo \"exit $?\"; } >>$HERE/errors");
	}
	cr_assert_eq(cli_run("sed \"s,$HERE/,,g; s,$HERE,.,g\" $HERE/errors"), 0);
	support_assert_golden("errors.txt", cli_output);
}
