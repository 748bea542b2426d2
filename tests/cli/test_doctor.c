/* SPDX-License-Identifier: MIT */
/* redrace doctor, as a user runs it: with servers that are none, that hang, that
 * never end talking; with nothing at all. */
#include "../cli.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

TestSuite(doctor_cli, .init = cli_setup, .fini = cli_teardown);

/* With $HERE/bin as the whole PATH. */
#define DOCTOR "R=$(realpath $REDRACE); PATH=$HERE/bin $R doctor -o $HERE/result.json "

/* $HERE/bin/redis-server is this script: a new file, for what is there may be a link
 * to a program of the system. */
static void plant_server(const char *script)
{
	char command[512];

	snprintf(
		command, sizeof(command),
		"mkdir -p $HERE/bin && rm -f $HERE/bin/redis-server && printf '%%s\\n' '#!/bin/sh' '%s' >$HERE/bin/redis-server && chmod +x $HERE/bin/redis-server",
		script);
	cr_assert_eq(cli_run(command), 0);
}

static void assert_nothing_left(void)
{
	cli_run("ls -d $HERE/redrace-*");
	cr_assert_str_empty(cli_output, "left behind: %s", cli_output);
}

/* Some part of what was printed, which may go on in the next line. */
static void assert_says(const char *part)
{
	char text[sizeof(cli_output)];
	size_t n = 0;

	for (const char *from = cli_output; *from; from++) {
		const bool is_blank = *from == ' ' || *from == '\n';

		if (!is_blank || (n > 0 && text[n - 1] != ' '))
			text[n++] = is_blank ? ' ' : *from;
	}
	text[n] = '\0';
	cr_assert_not_null(strstr(text, part), "no '%s' in: %s", part, cli_output);
}

static void assert_health(const char *name, const char *health)
{
	char filter[200];

	snprintf(filter, sizeof(filter),
		 "$all.findings[] | select(.name == \"%s\").health == \"%s\"", name, health);
	cli_assert_json(filter);
}

Test(doctor_cli, a_machine_with_a_server_is_0)
{
	cr_assert_eq(cli_run("$REDRACE doctor -o $HERE/result.json"), 0, "%s", cli_output);
	cli_assert_names(" redis-server ");
	assert_health("redis-server", "ok");
	cli_assert_json("$all.findings | map(.section) | contains([\"processors\", \"limits\"])");
	assert_nothing_left();
}

Test(doctor_cli, json_has_every_finding)
{
	json_t *root, *findings, *finding, *counts, *count;
	const char *key;
	json_int_t sum = 0;
	size_t i;

	cr_assert_eq(cli_run("$REDRACE doctor --format json"), 0);
	root = json_loads(cli_output, 0, NULL);
	cr_assert_not_null(root, "%s", cli_output);
	cr_assert_eq(json_integer_value(json_object_get(root, "schema")), 1);
	cr_assert(json_is_true(json_object_get(root, "has_server")));
	findings = json_object_get(root, "findings");
	cr_assert_gt(json_array_size(findings), 8);
	json_array_foreach(findings, i, finding) {
		cr_assert_eq(json_object_size(finding), 6);
		cr_assert(json_is_string(json_object_get(finding, "name")));
	}
	counts = json_object_get(root, "summary");
	json_object_foreach(counts, key, count)
		sum += json_integer_value(count);
	cr_assert_eq(sum, (json_int_t)json_array_size(findings));
	json_decref(root);
}

Test(doctor_cli, files_are_written_in_the_format_of_their_suffix)
{
	cr_assert_eq(
		cli_run("$REDRACE doctor -o $HERE/a.json -o $HERE/a.txt >$HERE/out && head -c 1 $HERE/a.json && head -n 1 $HERE/a.txt && tail -n 1 $HERE/out"),
		0);
	cli_assert_names("{redrace ");
	cli_assert_one_line("$REDRACE doctor -o $HERE/a.xml 2>&1", RR_EXIT_USAGE, "a.xml");
	cli_assert_one_line("$REDRACE doctor -o /proc/a.json 2>&1 >/dev/null", RR_EXIT_FILE,
			    "/proc/a.json");
}

Test(doctor_cli, no_server_at_all_is_69)
{
	cr_assert_eq(cli_run(DOCTOR "2>$HERE/err; code=$?; /bin/cat $HERE/err >&2; exit $code"),
		     RR_EXIT_REDIS);
	assert_health("redis-server", "failed");
	assert_health("gnuplot", "missing");
	cli_assert_json(
		"($all.has_server | not) and ($all.findings[] | "
		"select(.name == \"redis-server\").remedy == \"apt-get install redis-server\")");
	cli_assert_one_line(DOCTOR "2>&1 >/dev/null", RR_EXIT_REDIS, "apt-get install");
	cli_assert_one_line("R=$(realpath $REDRACE); cd $HERE; PATH= $R doctor 2>&1 >/dev/null",
			    RR_EXIT_REDIS, "");
}

Test(doctor_cli, programs_that_are_no_servers_are_given_up)
{
	cr_assert_eq(cli_run("mkdir $HERE/bin && ln -s /usr/bin/yes $HERE/bin/redis-server"), 0);
	cr_assert_eq(cli_run(DOCTOR), RR_EXIT_REDIS);
	assert_health("redis-server", "failed");
	plant_server("while :; do echo y; done");
	cr_assert_eq(cli_run(DOCTOR), RR_EXIT_REDIS);
	assert_health("redis-server", "failed");
	assert_nothing_left();
}

Test(doctor_cli, a_server_that_hangs_is_given_up)
{
	plant_server("exec /bin/sleep 100");
	cr_assert_eq(cli_run(DOCTOR), RR_EXIT_REDIS);
	assert_health("redis-server", "failed");
	cli_assert_names("--version");
	plant_server("[ \"$1\" != --version ] || exec echo Redis server v=7; exec /bin/sleep 100");
	cr_assert_eq(cli_run("timeout 500 $REDRACE doctor -o $HERE/result.json --redis-server "
			     "$HERE/bin/redis-server"),
		     RR_EXIT_REDIS);
	cli_assert_json("$all.findings[0].health == \"failed\"");
	assert_nothing_left();
}

Test(doctor_cli, a_server_that_ends_at_once_is_named_with_what_it_said)
{
	plant_server("echo Redis server v=7 is out of order; exit 3");
	cr_assert_eq(cli_run(DOCTOR), RR_EXIT_REDIS);
	assert_health("redis-server", "failed");
	assert_says("Redis server v=7 is out of order");
	cr_assert_eq(cli_run("$REDRACE doctor -o $HERE/result.json --redis-server $HERE/bin/none"),
		     RR_EXIT_REDIS);
	cli_assert_json("$all.findings[0].health == \"failed\"");
}

/* As a static one does. */
Test(doctor_cli, a_server_whose_clock_cannot_be_moved_is_a_warning)
{
	plant_server("unset LD_PRELOAD; PATH=/usr/bin:/usr/local/bin; exec redis-server \"$@\"");
	cr_assert_eq(
		cli_run("$REDRACE doctor -o $HERE/result.json --redis-server $HERE/bin/redis-server"),
		0);
	cli_assert_json("$all.findings[0].health == \"warning\"");
}

Test(doctor_cli, what_a_process_may_not_have_is_a_warning)
{
	cr_assert_eq(cli_run("ulimit -n 200; $REDRACE doctor -o $HERE/result.json"), 0);
	assert_health("open files", "warning");
	cli_assert_json("$all.findings[] | select(.name == \"open files\") | "
			"[.value, .remedy] == [\"200\", \"ulimit -n 4096\"]");
}

Test(doctor_cli, a_tmpdir_that_is_not_there_is_named)
{
	cr_assert_eq(cli_run("TMPDIR=$HERE/none $REDRACE doctor -o $HERE/result.json"),
		     RR_EXIT_REDIS);
	cli_assert_names("/none");
	assert_health("temporary files", "failed");
}

/* While a server is waited for, and while a program that is none is asked for its version. */
Test(doctor_cli, an_interruption_ends_it)
{
	static const char *const seconds[] = { "0.8", "1.3", "1.6" };

	plant_server("trap \"\" INT; while :; do :; done");
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		cr_assert_eq(
			cli_runf(
				"cp $HERE/bin/redis-server $HERE/bin/valkey-server; cp $HERE/bin/redis-server $HERE/bin/gnuplot;"
				"R=$(realpath $REDRACE); PATH=$HERE/bin /usr/bin/timeout --preserve-status -s INT %s $R doctor",
				seconds[i]),
			RR_EXIT_INTERRUPTED);
		cr_assert_neq(cli_run("pgrep -f ^[^:]*sh.$HERE/bin/"), 0, "%s s: %s", seconds[i],
			      cli_output);
	}
	assert_nothing_left();
}

/* Neither its processors nor its own path can be looked up. */
Test(doctor_cli, a_machine_whose_proc_and_sys_are_empty_is_examined_all_the_same)
{
	if (cli_run("unshare -m true") != 0)
		cli_skip("no mount namespaces here");
	cr_assert_eq(
		cli_run("unshare -m sh -c 'mount -t tmpfs none /sys && mount -t tmpfs none /proc && exec $REDRACE doctor -o $HERE/result.json'"),
		0, "%s", cli_output);
	assert_health("load", "unknown");
	cli_assert_names("redrace-clock.so");
	assert_nothing_left();
}
