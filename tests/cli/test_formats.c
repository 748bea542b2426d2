/* SPDX-License-Identifier: MIT */
/* The results of every command in every format, as other programs read them. */
#include <stdio.h>
#include <string.h>

#include "../cli.h"

TestSuite(formats_read, .init = cli_setup, .fini = cli_teardown);

static const struct command {
	const char *options, *arguments;
	int code;
} commands[] = {
	{ "bench -n 300 --warmup 10 -o $HERE/d", "none incr native-cad", -1 },
	{ "explore", "none incr", 0 },
	{ "explore --max-states 3", "incr", 2 },
	{ "matrix", "none incr --hazard threads", 0 },
	{ "claims", "TL-7,SX-5", 0 },
	{ "check --audit 1", "-- redis-cli -p {port} INCR counter", 0 },
	{ "check --audit 1", "-- sh examples/check/counter.sh", 1 },
	{ "check", "-- sh -c 'redis-cli -p {port} SET x $$'", -1 },
	{ "bench incr -n 300 -r 4 -o $HERE/d >$HERE/b && $REDRACE compare", "$HERE/d $HERE/d", 0 },
	{ "bench incr -n 300 -o $HERE/d >$HERE/b && cp -r $HERE/d $HERE/e && echo '{}' >$HERE/e/env.json && $REDRACE compare",
	  "$HERE/d $HERE/e", 65 },
	{ "claims TL-7 SX-5 --shard 1/1 -o $HERE/c.json >$HERE/b && $REDRACE merge", "$HERE/c.json",
	  0 },
	{ "list >$HERE/b && printf 'checks:\\n  lost: {command: sh examples/check/counter.sh}\\n"
	  "  right: {command: \"redis-cli -p {port} INCR x\"}\\n' >$HERE/s.yaml && "
	  "$REDRACE check --suite $HERE/s.yaml",
	  "", 1 },
	{ "list >$HERE/b && printf 'checks: {killer: {command: \"kill -9 $(ps -o ppid= $PPID)\"}}' "
	  ">$HERE/s.yaml && $REDRACE check --suite $HERE/s.yaml",
	  "", 70 },
	{ "explore --redis-server /bin/false", "none", 69 },
	{ "check --redis-server /bin/false", "-- true", 69 },
	{ "bench --redis-server /bin/false", "none", 69 },
};

/* Is each format what its readers know? And are there failures just when the exit
 * code says so? What is not installed is not asked. */
static const char readers[] =
	"jq -e .cases[0].name $HERE/x.json >/dev/null || exit 101; "
	"! command -v xmllint >/dev/null || xmllint --noout --schema tests/cli/junit.xsd $HERE/x.xml 2>&1 || exit 102; "
	"bad=$(jq '.summary | .failed + .error + .inconclusive' $HERE/x.json); "
	"[ $bad -eq $(grep -c '<failure\\|<error' $HERE/x.xml) ] || exit 103; "
	"[ $bad -eq $(grep -c '^not ok' $HERE/x.tap) ] || exit 104; "
	"if command -v prove >/dev/null; then p=0; prove -e cat $HERE/x.tap >$HERE/p 2>&1 || p=1; "
	"! grep 'Parse errors' $HERE/p || exit 105; [ $p -eq $((bad > 0)) ] || exit 106; fi; "
	"[ $bad -eq $(grep -c '^::error \\|^::warning ' $HERE/out) ] || exit 107; "
	"! grep -v '^::\\(error\\|warning\\|notice\\) [a-z]*=[^:]*::.\\|^redrace [a-z]*: [0-9]' $HERE/out || exit 108; "
	"[ $((bad > 0)) -eq $((code > 0)) ] || exit 109; "
	"grep -q '^### redrace ' $HERE/step || exit 110; "
	"jq -e '.command == \"redrace compare\" or all(.cases[] | select(.verdict != \"skipped\"); .seconds > 0)' $HERE/x.json >/dev/null || exit 113; "
	"! grep '</[a-z]' $HERE/x.json $HERE/x.tap $HERE/out || exit 111; "
	"! grep '&lt;/[a-z]' $HERE/x.xml || exit 112";

static void read_all_formats(const struct command *one)
{
	char command[3400];
	int code;

	snprintf(
		command, sizeof(command),
		"rm -rf $HERE/*; code=0; export GITHUB_STEP_SUMMARY=$HERE/step; $REDRACE %s -o $HERE/x.json -o $HERE/x.xml -o $HERE/x.tap --format github %s >$HERE/out 2>$HERE/err || code=$?; (%s) || exit $?; exit $code",
		one->options, one->arguments, readers);
	code = cli_run(command);
	cr_assert(one->code < 0 ? code < 100 : code == one->code, "%s %s: %d %s", one->options,
		  one->arguments, code, cli_output);
}

Test(formats_read, by_jq_xmllint_prove_and_the_grammar_of_github)
{
	if (cli_run("command -v jq >/dev/null") != 0)
		cli_skip("jq is not installed");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		read_all_formats(&commands[i]);
}

/* What is printed in a format is what is written in it, but for times. */
Test(formats_read, printed_is_what_is_written)
{
	cr_assert_eq(
		cli_run("for f in json:json junit:xml tap:tap; do $REDRACE explore none --format ${f%:*} -o $HERE/x.${f#*:} >$HERE/out && cmp $HERE/out $HERE/x.${f#*:} || exit 1; done; $REDRACE explore none -o $HERE/x.txt >$HERE/out && cmp $HERE/out $HERE/x.txt"),
		0, "%s", cli_output);
}

Test(formats_read, wrong_ones_are_named)
{
	cli_assert_one_line("$REDRACE bench --format pdf none 2>&1 >/dev/null", 64, "'pdf'");
	cli_assert_one_line("$REDRACE claims -o x.pdf 2>&1 >/dev/null", 64, "'x.pdf'");
	cli_assert_one_line("$REDRACE explore -o $HERE/no/x.tap none 2>&1 >/dev/null", 74,
			    "/no/x.tap");
	cli_assert_one_line(
		"GITHUB_STEP_SUMMARY=$HERE/no/x $REDRACE explore --format github none 2>&1 >/dev/null",
		74, "GITHUB_STEP_SUMMARY");
}

/* A schedule's picture beside a report, and none where nothing is found. */
Test(formats_read, check_draws_only_what_it_finds)
{
	cr_assert_eq(
		cli_run("$REDRACE check --audit 1 -o $HERE/x.svg -o $HERE/x.xml -- redis-cli -p {port} INCR x >/dev/null; [ ! -e $HERE/x.svg ] && [ -s $HERE/x.xml ]"),
		0, "%s", cli_output);
	cr_assert_eq(
		cli_run("$REDRACE check --audit 1 -o $HERE/x.svg -o $HERE/x.json -- sh examples/check/counter.sh >/dev/null; [ -s $HERE/x.svg ] && grep -c '\"nearest_serial_data\": \"counter = ' $HERE/x.json"),
		0, "%s", cli_output);
}
