/* SPDX-License-Identifier: MIT */
/* Suites: what their file may say, how they are run, and what comes of them. */
#include "../cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/machine.h"
#include "commands.h"

TestSuite(suite, .init = cli_setup, .fini = cli_teardown);

#define CHECK "$REDRACE check --audit 0 -o $HERE/result.json --suite $HERE/redrace.yaml "
#define COUNT "'v=$(" CLI "GET counter); " CLI "SET counter $((v + 1))'"
#define INCR "redis-cli -p {port} INCR counter"
#define RIGHT "{command: '" INCR "'}"

static void write_suite(const char *text)
{
	cli_write("redrace.yaml", "%s", text);
}

static void assert_suite(const char *text, const char *options, int code)
{
	write_suite(text);
	cr_assert_eq(cli_runf(CHECK "%s 2>&1", options), code, "%s", cli_output);
}

/* "right: passed, lost: failed": all checks that were made. */
static void assert_verdicts(const char *expected)
{
	char filter[400];

	snprintf(filter, sizeof(filter),
		 "[$all.cases[] | .name + \": \" + .verdict] | join(\", \") == \"%s\"", expected);
	cli_assert_json(filter);
}

/* ---- What is wrong in the file ------------------------------------------------------- */

static const struct wrong {
	const char *text, *place, *name;
} wrongs[] = {
	{ "", "1:1", "" },
	{ "# nothing\n", "1:1", "" },
	{ "[]\n", "1:1", "'checks:'" },
	{ "hit\n", "1:1", "'checks:'" },
	{ "checks:\n", "1:8", "" },
	{ "checks: {}\n", "1:9", "" },
	{ "check: {}\n", "1:1", "'check'" },
	{ "defaults: {}\n", "1:1", "'checks:'" },
	{ "checks:\n\ta: {}\n", "2:1", "" },
	{ "checks: {a: {command: x\n", "2:1", "" },
	{ "checks:\n  a:\n    command: echo a: b\n", "3:20", "" },
	{ "checks: {a: {requests: [curl {app}]}}\n", "1:30", "" },
	{ "checks: {a: {app: x, requests: curl}}\n", "1:32", "a list" },
	{ "checks: {a: {app: x}}\n", "1:10", "'requests: [" },
	{ "checks: {a: {requests: [x]}}\n", "1:10", "'app: npm start'" },
	{ "checks: {a: {app: x, requests: [x], command: y}}\n", "1:10", "'command'" },
	{ "checks: {a: {app: x, requests: [x], clients: {b: y}}}\n", "1:10", "'clients'" },
	{ "checks: {a: *b}\n", "1:13", "" },
	{ "checks: {a: {command: x}}\n---\nchecks: {}\n", "2:1", "" },
	{ "checks: {a: {command: \"\xff\"}}\n", "1:24", "" },
	{ "checks: {a: {command: \"a\\0b\"}}\n", "1:23", "" },
	{ "checks: {a: {command: x}, a: {command: y}}\n", "1:27", "'a'" },
	{ "checks: {a: {command: x, command: y}}\n", "1:26", "'command'" },
	{ "checks: {\"a\\nb\": {command: x}}\n", "1:10", "" },
	{ "checks: {-a: {command: x}}\n", "1:10", "" },
	{ "checks: {? [a] : {command: x}}\n", "1:12", "" },
	{ "checks: {a: x}\n", "1:13", "" },
	{ "checks: {a: {clients: 2}}\n", "1:10", "a:" },
	{ "checks: {a: {command: x, clients: {A: y}}}\n", "1:10", "a:" },
	{ "checks: {a: {comand: x}}\n", "1:14", "'comand'" },
	{ "checks: {a: {command: x, jobs: 2}}\n", "1:26", "'jobs'" },
	{ "checks: {a: {command: x, format: json}}\n", "1:26", "'format'" },
	{ "checks: {a: {command: x, clients: three}}\n", "1:35", "clients: 'three'" },
	{ "checks: {a: {command: x, clients: 9}}\n", "1:35", "clients:" },
	{ "checks: {a: {command: x, clients: '3'}}\n", "1:35", "clients:" },
	{ "checks: {a: {command: x, clients: [3]}}\n", "1:36", "'3'" },
	{ "checks: {a: {command: x, atomic: yes}}\n", "1:34", "atomic:" },
	{ "checks: {a: {command: x, atomic: 'true'}}\n", "1:34", "atomic:" },
	{ "checks: {a: {command: x, init: [f]}}\n", "1:32", "init:" },
	{ "checks: {a: {command: x, init: {f: g}}}\n", "1:32", "init:" },
	{ "checks: {a: {command: x, init: }}\n", "1:32", "init:" },
	{ "checks: {a: {command: x, refused: '['}}\n", "1:35", "refused" },
	{ "checks: {a: {command: x, refused: '((((((((((((((((((((((((((((((((((((((((((((((((((((x'}}"
	  "\n",
	  "1:35", "refused" },
	{ "checks: {a: {command: x, final: GET a}}\n", "1:33", "final:" },
	{ "checks: {a: {command: x, ignore: {a: b}}}\n", "1:34", "ignore" },
	{ "checks: {a: {command: }}\n", "1:23", "command:" },
	{ "checks: {a: {command: []}}\n", "1:23", "command" },
	{ "checks: {a: {command: x, expect: good}}\n", "1:34", "'good'" },
	{ "checks: {a: {command: x, known: lost update}}\n", "1:33", "known:" },
	{ "checks: {a: {command: x, known: [y], expect: no progress}}\n", "1:10", "'known'" },
	{ "checks: {a: &a {command: x, <<: *a}}\n", "1:17", "" },
	{ "checks: {a: {command: x, <<: y}}\n", "1:30", "<<:" },
};

Test(suite, each_mistake_is_a_line_that_says_where)
{
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		char place[100];

		write_suite(wrongs[i].text);
		snprintf(place, sizeof(place), "redrace.yaml:%s: ", wrongs[i].place);
		cli_assert_one_line(CHECK "2>&1", 65, wrongs[i].name);
		cli_assert_names(place);
	}
}

Test(suite, a_file_that_cannot_be_read_is_one_line)
{
	cli_assert_one_line("$REDRACE check --suite $HERE 2>&1", 65, cli_home);
	cli_assert_one_line("$REDRACE check --suite $HERE/none 2>&1", 64, "/none'");
	cli_assert_one_line("$REDRACE check --suite /dev/zero 2>&1", 65, "/dev/zero");
	cli_assert_one_line("R=$(realpath $REDRACE); cd $HERE && $R check 2>&1", 64, "--");
	write_suite("checks: {a: " RIGHT "}\n");
	cli_assert_one_line(CHECK "b 2>&1", 64, "'b'");
	cli_assert_one_line(CHECK "-- true 2>&1", 64, "--suite");
	cli_assert_one_line(CHECK "-o $HERE/race.svg 2>&1", 64, "race.svg");
	cli_assert_one_line(CHECK "--save $HERE/x.race 2>&1", 64, "--save");
}

/* ---- Keys ---------------------------------------------------------------------------- */

/* No second list: the schema has each option of check but for what is of the whole. */
Test(suite, every_option_of_check_is_a_key)
{
	static const char whole[] = " suite jobs shard times format ";
	struct rr_option option;
	char name[100];
	size_t n = 0;

	cr_assert_eq(cli_run("$REDRACE help --schema"), 0, "%s", cli_output);
	for (size_t i = 0; rr_option_at(rr_cmd_check.line, i, &option); i++) {
		bool is_key;

		if (!option.name)
			continue;
		snprintf(name, sizeof(name), " %s ", option.name);
		is_key = !strstr(whole, name);
		snprintf(name, sizeof(name), "\n        \"%s\": {", option.name);
		cr_assert_eq(strstr(cli_output, name) != NULL, is_key, "%s", option.name);
		n += is_key;
	}
	cr_assert_gt(n, 15);
}

Test(suite, the_schema_is_that_of_the_table)
{
	cr_assert_eq(cli_run("$REDRACE help --schema | diff docs/redrace.schema.json - 2>&1"), 0,
		     "make schema: %s", cli_output);
}

#define DOCUMENT "awk '/^```yaml$/ { n++; next } /^```$/ { n += n == 1 } n == 1' docs/suites.md"

/* What the program takes and refuses, the first of them the document's. */
Test(suite, the_schema_says_the_same_to_editors)
{
	cli_write("schema.py", "%s",
		  "import json, jsonschema, sys, yaml\n"
		  "check = jsonschema.Draft7Validator(json.load(open(sys.argv[1]))).is_valid\n"
		  "texts = sys.stdin.read().split('---\\n')\n"
		  "print(*[check(yaml.safe_load(text)) for text in texts])\n");
	cli_write("refused", "%s",
		  "---\nchecks: {a: {comand: x}}\n"
		  "---\nchecks: {a: {command: x, clients: three, atomic: 5}}\n"
		  "---\nchecks: {a: {command: x, clients: 9}}\n"
		  "---\nchecks: {a: {command: x, init: [f]}}\n"
		  "---\nchecks: {a: {command: x, expect: good}}\n"
		  "---\n{}\n");
	if (cli_run("python3 -c 'import jsonschema, yaml' 2>&1") != 0)
		cli_skip("python3-jsonschema and python3-yaml are not installed");
	cr_assert_eq(
		cli_run("{ " DOCUMENT
			"; cat $HERE/refused; } | python3 $HERE/schema.py docs/redrace.schema.json 2>&1"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "True False False False False False False\n");
}

/* Values of all types, anchors, what is merged and what holds for all. */
Test(suite, keys_are_options_of_check)
{
	cli_write("init", "SET counter 5\n");
	cli_write("redrace.yaml",
		  "defaults: {seconds: 60, clients: 3}\n"
		  "checks:\n"
		  "  base: &base {command: &c '" INCR "', init: '%s/init'}\n"
		  "  more: {<<: *base, clients: 2, final: {GET counter: 7}, "
		  "ignores: [a*, b*], data-only: true, atomic: false}\n"
		  "  words: {command: [sh, -c, *c], final: {GET counter: 3}}\n"
		  "  field: {command: '" CLI "HSET h n 1 at $(" CLI "HLEN h)', data-only: true, "
		  "clients: 2, ignore: h.at}\n",
		  cli_home);
	cr_assert_eq(cli_run(CHECK "2>&1"), 0, "%s", cli_output);
	cli_assert_json("[$all.cases[].properties | .clients] == [3, 2, 3, 2] and "
			"([$all.cases[:3][].properties | .program] | unique) == [\"sh -c " INCR
			"\"]");
	cli_assert_json(
		"$all.cases[3].properties.ignored[0].fields == [{key: \"h\", field: \"at\"}]");
}

Test(suite, clients_are_a_number_or_commands)
{
	assert_suite("checks:\n"
		     "  two: {clients: {add: '" CLI "INCR x', take: '" CLI "DECR x'}}\n",
		     "", 0);
	cli_assert_property("program", "add: " CLI "INCR x; take: " CLI "DECR x");
}

/* There is no check of that name: so the file was read. */
Test(suite, the_file_of_the_document_is_right)
{
	cr_assert_eq(cli_run(DOCUMENT " >$HERE/redrace.yaml && grep -c clients $HERE/redrace.yaml"),
		     0);
	cli_assert_one_line(CHECK "none 2>&1", 64, "'none'");
}

/* In the schema and the file alike, what is added to check is there. */
Test(suite, an_app_is_asked_by_requests)
{
	cr_assert_eq(cli_run("cp $MADE/shop $MADE/ask $HERE 2>&1"), 0, "%s", cli_output);
	cli_write("stock", "SET stock 1\n");
	assert_suite(
		"defaults: &d {app: $HERE/shop}\n"
		"checks:\n"
		"  sold: {requests: ['$HERE/ask {app}/buy', '$HERE/ask {app}/buy'], init: stock}\n"
		"  none: {<<: *d, apps: 1}\n",
		"", 65);
	cli_assert_names("4:3: none: 'app' ");
	cli_assert_names("'requests: ");
	cli_write(
		"redrace.yaml",
		"checks:\n"
		"  sold: {app: $HERE/shop, init: '%s/stock', requests: ['$HERE/ask {app}/buy', '$HERE/ask {app}/buy']}\n",
		cli_home);
	cr_assert_eq(cli_run(CHECK "2>&1"), 1, "%s", cli_output);
	assert_verdicts("sold: failed");
	cli_assert_property("search.verdict", "not_serializable");
}

/* ---- Verdicts ------------------------------------------------------------------------ */

Test(suite, each_check_has_its_verdict_and_the_worst_counts)
{
	static const char text[] = "checks:\n"
				   "  right: " RIGHT "\n"
				   "  lost: {command: " COUNT "}\n"
				   "  known: {command: " COUNT ", expect: not serializable}\n"
				   "  cut: {command: " COUNT ", max-states: 1}\n";

	assert_suite(text, "", 1);
	assert_verdicts("right: passed, lost: failed, known: passed, cut: inconclusive");
	cli_assert_json(
		"$all.summary == {passed: 2, failed: 1, inconclusive: 1, error: 0, skipped: 0}");
	cli_assert_json("[$all.cases[].properties.known_as] == [[], [\"lost update (counter)\"], "
			"[\"lost update (counter)\"], []]");
	cr_assert_eq(cli_run(CHECK "right cut 2>&1"), 2, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "right known 2>&1"), 0, "%s", cli_output);
}

/* Its command saves the schedule, if the check does not, and replays it. */
Test(suite, a_finding_is_replayed_by_the_name_of_its_check)
{
	assert_suite("checks:\n"
		     "  lost it: {command: " COUNT "}\n",
		     "", 1);
	cli_assert_json(".replay == \"redrace check --replay FILE --suite \" + env.HERE + "
			"\"/redrace.yaml 'lost it'\"");
	write_suite("checks: {lost it: {command: " COUNT "}, kept: {command: " COUNT
		    ", save: kept.race}}\n");
	cr_assert_eq(
		cli_run("R=$(realpath $REDRACE_ONCE) && cd $HERE && "
			"replay() { eval \"$R ${2#redrace}$1\" >/dev/null 2>&1; echo $?; } && "
			"$R check -o result.json >/dev/null 2>&1; "
			"jq -r '.cases[].properties.replay' result.json | while read -r command; do "
			"echo \"$command\"; case $command in *FILE*) replay '' "
			"\"$(echo \"$command\" | sed 's/--replay/--save/')\";; esac; "
			"replay ' -o played.json' \"$command\"; "
			"jq -r '.cases[0].properties.known_as[]' played.json; done"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "redrace check --replay FILE 'lost it'\n1\n1\n"
				     "lost update (counter)\n"
				     "redrace check --replay kept.race kept\n1\n"
				     "lost update (counter)\n");
}

Test(suite, another_outcome_than_expected_fails)
{
	assert_suite("checks:\n"
		     "  better: {command: '" CLI "INCR counter', expect: not serializable}\n"
		     "  enough: {command: '" CLI "INCR counter', expect: no failure found}\n"
		     "  other: {command: " COUNT ", expect: no progress}\n",
		     "", 1);
	assert_verdicts("better: failed, enough: passed, other: failed");
	cli_assert_json("[$all.cases[].properties | .expected + \": \" + .search.verdict] == "
			"[\"not serializable: serializable\", \"no failure found: serializable\", "
			"\"no progress: not_serializable\"]");
}

Test(suite, a_known_finding_passes_and_another_one_fails)
{
	assert_suite("checks:\n"
		     "  old: {command: " COUNT ", known: [lost update (counter)]}\n"
		     "  new: {command: " COUNT ", known: [lost update (stock)]}\n"
		     "  gone: {command: '" CLI "INCR counter', known: [lost update (counter)]}\n",
		     "", 1);
	assert_verdicts("old: passed, new: failed, gone: passed");
	cli_assert_json("[$all.cases[].properties | [.new, .gone]] == [[[], []], "
			"[[\"lost update (counter)\"], [\"lost update (stock)\"]], "
			"[[], [\"lost update (counter)\"]]]");
}

/* It has no name, by which it would be known, so it is not passed over. */
Test(suite, a_finding_of_the_skeptic_alone_fails)
{
	write_suite("checks: {cut: {command: " COUNT
		    ", max-states: 5, known: [lost update (x)]}}\n");
	cr_assert_eq(
		cli_run("$REDRACE check --skeptic judge -o $HERE/result.json --suite $HERE/redrace.yaml 2>&1"),
		1, "%s", cli_output);
	assert_verdicts("cut: failed");
	cli_assert_json(".known_as == [] and .new == [] and .skeptic.verdict == \"disagrees\"");
}

/* Data are right, and outputs are not: a name without keys would stand for those of any other key. */
Test(suite, a_known_finding_of_outputs_has_its_keys)
{
	assert_suite("checks:\n"
		     "  told: {command: '" CLI "INCR told; " CLI "GET told', known: [lost update, "
		     "stale read, outputs are not serializable]}\n",
		     "", 1);
	cli_assert_json(".new | length == 1 and (.[0] | endswith(\" (told)\"))");
}

/* In an annotation of GitHub, too, for who sees no more than that. */
Test(suite, a_known_finding_that_is_gone_is_told)
{
	write_suite("checks: {gone: {command: '" CLI "INCR c', known: [lost update (c)]}}\n");
	cr_assert_eq(cli_run("$REDRACE check --audit 0 --format github --suite $HERE/redrace.yaml "
			     "2>&1"),
		     0, "%s", cli_output);
	cli_assert_names("::notice ");
	cli_assert_names("lost update (c)");
}

/* A check that is called off is none that has passed. */
Test(suite, an_interrupted_check_is_named)
{
	write_suite("checks: {long: {command: sh -c 'while :; do :; done', hangs-after: 50}}\n");
	cr_assert_eq(cli_run("timeout -s INT 2 $REDRACE check --audit 0 --suite $HERE/redrace.yaml "
			     "2>&1"),
		     124, "%s", cli_output);
	cli_assert_names("long: interrupted");
	cli_assert_names("1 inconclusive");
}

/* Clients that ask for a lock with another value each time have no end. */
Test(suite, what_is_known_of_a_part_is_inconclusive)
{
	assert_suite("checks:\n"
		     "  part:\n"
		     "    known: [lost update (counter)]\n"
		     "    command: v=$(" CLI "GET counter); " CLI "SET counter $((v + 1)); i=0; "
		     "while [ \"$(" CLI "SET lock $i NX)\" != OK ]; do i=$((i + 1)); done; " CLI
		     "DEL lock\n",
		     "", 2);
	assert_verdicts("part: inconclusive");
	cli_assert_json(".new == [] and .search.verdict == \"not_serializable\"");
}

Test(suite, a_program_that_cannot_be_judged_is_an_error)
{
	assert_suite("checks:\n"
		     "  random: {command: 'echo x >>$HERE/runs; " CLI
		     "SET n $(($(wc -l <$HERE/runs) % 10))', clients: 3}\n"
		     "  init: {command: '" CLI "INCR counter', init: /nonexistent}\n",
		     "", 65);
	assert_verdicts("random: error, init: error");
	cli_assert_json(".exit == 65 and .error.kind == \"data\"");
	cli_assert_json("$all.cases[1].properties | .exit == 64 and .error.kind == \"usage\" and "
			"(.error.text | contains(\"/nonexistent\"))");
}

/* The worker is gone; the others go on. */
Test(suite, a_check_that_kills_its_worker_is_an_error)
{
	assert_suite("checks:\n"
		     "  killer: {command: 'kill -SEGV $(cut -d \" \" -f 4 /proc/$PPID/stat)'}\n"
		     "  right: " RIGHT "\n",
		     "--jobs 1", 70);
	assert_verdicts("killer: error, right: passed");
	cli_assert_json("$all.cases[0].message | contains(\"SIGSEGV\")");
	cli_assert_json(".exit == 70 and .error.kind == \"internal\"");
}

/* ---- Formats ------------------------------------------------------------------------- */

Test(suite, names_of_others_do_nothing)
{
	assert_suite("checks:\n"
		     "  '::error::a b': {command: " COUNT "}\n"
		     "  'c <&> d': " RIGHT "\n",
		     "-f github -o $HERE/r.xml -o $HERE/r.json -o $HERE/r.tap", 1);
	cli_assert_names("::error file=");
	cli_assert_names("title=redrace check%3A \\x3a%3Aerror");
	cr_assert_eq(
		cli_run("grep -c '^::error::a' $HERE/redrace.yaml; ! grep -n '^::error::' $HERE/r.tap $HERE/r.json && grep -c testcase $HERE/r.xml && grep -q 'c &lt;&amp;&gt; d' $HERE/r.xml && sed -n 2p $HERE/r.tap"),
		0, "%s", cli_output);
	cli_assert_names("1..2");
	cr_assert_eq(cli_run(CHECK "'::error::a b' 2>&1"), 1, "%s", cli_output);
}

Test(suite, a_thousand_checks_are_dealt_out)
{
	cr_assert_eq(cli_run("{ echo checks:; for i in $(seq 1000); do echo \"  c$i: " RIGHT
			     "\"; done; } >$HERE/redrace.yaml"),
		     0);
	cr_assert_eq(cli_run(CHECK "--shard 7/1000 2>&1"), 0, "%s", cli_output);
	assert_verdicts("c7: passed");
}

Test(suite, shards_are_put_together)
{
	assert_suite("checks:\n"
		     "  a b: " RIGHT "\n"
		     "  '::error::': {command: " COUNT "}\n"
		     "  c: " RIGHT "\n",
		     "--shard 1/2 -o $HERE/1.json", 0);
	cr_assert_eq(cli_run(CHECK "--shard 2/2 -o $HERE/2.json 2>&1"), 1, "%s", cli_output);
	cr_assert_eq(cli_run("$REDRACE merge -o $HERE/result.json $HERE/1.json $HERE/2.json 2>&1"),
		     1, "%s", cli_output);
	assert_verdicts("a b: passed, \\\\x3a:error::: failed, c: passed");
	cli_assert_json("$all.properties.shards | length == 2");
}

/* ---- Ctrl-C -------------------------------------------------------------------------- */

static void rest_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static pid_t start_suite(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c",
		      "exec env --default-signal=INT ${REDRACE:-build/redrace} check --suite $HERE/redrace.yaml >$HERE/out 2>&1",
		      (char *)NULL);
		_exit(1);
	}
	return pid;
}

/* Its programs say that they are there, and go round. */
Test(suite, ctrl_c_leaves_nothing_behind)
{
	int status = 0, left = 0;
	pid_t pid;

	write_suite("checks:\n"
		    "  right: " RIGHT "\n"
		    "  one: {command: 'touch $HERE/there; while :; do :; done'}\n"
		    "  two: {command: 'touch $HERE/there; while :; do :; done'}\n");
	pid = start_suite();
	for (int i = 0; i < 1000 && cli_run("test -e $HERE/there") != 0; i++)
		rest_ms(20);
	kill(-pid, SIGINT);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 130, "%x", status);
	for (int i = 0; i < 3000; i++) {
		left = cli_run(
			"for p in /proc/[0-9]*; do grep -qs \"HERE=$HERE\" $p/environ && grep -qs REDRACE_CLIENT= $p/environ && exit 1; done; test -z \"$(ls $HERE | grep -v -e redrace.yaml -e there -e out)\"");
		if (left == 0)
			break;
		rest_ms(20);
	}
	cr_assert_eq(left, 0, "%s", cli_output);
}

/* ---- The first one ------------------------------------------------------------------- */

#define BEGIN "R=$(realpath $REDRACE); mkdir -p $HERE/p && cd $HERE/p && "

Test(suite, names_of_checks_are_completed)
{
	cr_assert_eq(
		cli_run(BEGIN
			"echo 'checks: {a b: {command: x}, hits: {command: y}}' >redrace.yaml; $R help --complete -- check"),
		0);
	cli_assert_names("\na b\nhits\n");
	if (cli_run("command -v bash >/dev/null") != 0)
		cli_skip("no bash");
	cr_assert_eq(
		cli_run(BEGIN
			"PATH=$(dirname $R):$PATH; echo 'checks: {$(touch evil) b: {command: x}}' >redrace.yaml; cp $OLDPWD/completion/redrace.bash . && bash -c '. ./redrace.bash; COMP_WORDS=(redrace check \"\"); COMP_CWORD=2; _redrace; printf \"%s\\n\" \"${COMPREPLY[@]}\"' 2>&1; test ! -e evil"),
		0, "%s", cli_output);
	cli_assert_names("$(touch evil) b\n");
}

/* The time that is taken to read it would grow with the square of the depth. */
Test(suite, collections_are_not_deep)
{
	static const char *const deep[] = { "'['", "'{a: '", "'- '" };

	for (size_t i = 0; i < sizeof(deep) / sizeof(deep[0]); i++) {
		cr_assert_eq(
			cli_runf("{ printf 'checks:\\n  a: '; [ %s != '- ' ] || printf '\\n    '; "
				 "yes -- %s | head -n 20000 | tr -d '\\n'; } >$HERE/redrace.yaml",
				 deep[i], deep[i]),
			0);
		cr_assert_eq(cli_run("timeout 5 " CHECK "2>&1"), 65, "%s: %s", deep[i], cli_output);
		cli_assert_names("redrace.yaml:");
		cli_assert_names(" 50 ");
	}
}
