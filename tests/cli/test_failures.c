/* SPDX-License-Identifier: MIT */
/* What goes wrong has the same exit code in every command, and one line that says
 * so. */
#include "../cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine.h"
#include "commands.h"
#include "base/text.h"

TestSuite(failures, .init = cli_setup, .fini = cli_teardown);

/* A short run of each command that starts servers. */
static const char *const commands[] = {
	"bench incr --threads 1 --increments 50 --output $HERE/o",
	"play lost-update",
	"play none",
	"explore none",
	"check -- sh examples/check/counter.sh",
	"matrix none",
	"matrix --replay docs/matrix",
	"claims TL-7",
	"claims TL-7,LU-1 --jobs 2",
	"demo --auto how",
	"demo --auto counts --seconds-each 1",
	"game",
	"report lost-update",
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* Each of them, as `format` says; `code` and one line. */
static void fail_all(const char *format, int code, const char *part)
{
	char command[600];

	for (size_t i = 0; i < N_COMMANDS; i++) {
		snprintf(command, sizeof(command), format, commands[i]);
		cli_assert_one_line(command, code, part);
	}
}

#define QUIETLY "2>&1 >/dev/null </dev/null"

Test(failures, of_temporary_files_are_74)
{
	fail_all("TMPDIR=$HERE/none $REDRACE %s " QUIETLY, RR_EXIT_FILE,
		 "set TMPDIR to a directory that can be written");
}

/* Bench looks beforehand whether there are enough. */
Test(failures, of_descriptors_are_70)
{
	for (size_t i = 1; i < N_COMMANDS; i++) {
		char command[300];

		snprintf(command, sizeof(command), "(ulimit -n 5; $REDRACE_ONCE %s) " QUIETLY,
			 commands[i]);
		cli_assert_one_line(command, RR_EXIT_INTERNAL, "");
	}
}

/* A user's limit of processes is none for root. One or two of our own can be made
 * before there is none for a server. */
Test(failures, of_processes_are_70)
{
	char format[400];

	if (getuid() != 0 ||
	    cli_run("setpriv --reuid=65534 --clear-groups prlimit --nproc=9 $REDRACE help list >/dev/null 2>&1") !=
		    0)
		cli_skip("needs root, setpriv, prlimit and a program that nobody can read");
	for (int n = 0; n < 3; n++) {
		snprintf(
			format, sizeof(format),
			"TMPDIR=/tmp setpriv --reuid=65534 --clear-groups prlimit --nproc=%d $REDRACE_ONCE %%s " QUIETLY,
			n);
		fail_all(format, RR_EXIT_INTERNAL, "");
	}
}

Test(failures, of_a_first_server_are_69)
{
	cr_assert_eq(
		cli_run("mkdir $HERE/bin && printf '#!/bin/sh\\nexit 1\\n' >$HERE/bin/redis-server && chmod +x $HERE/bin/redis-server"),
		0);
	fail_all("PATH=$HERE/bin:$PATH $REDRACE %s " QUIETLY, RR_EXIT_REDIS, "redis-server");
}

/* As on a disk that is full. */
Test(failures, of_written_files_are_74)
{
	static const char *const writers[] = {
		"bench incr --threads 1 --increments 50 --output $HERE/o -o $HERE/f.json",
		"play lost-update -o $HERE/f.svg",
		"play none --save $HERE/f.race",
		"explore none -o $HERE/f.json",
		"explore none --audit 0 --save $HERE/f.race",
		"explore none --audit 0 --graph $HERE/f.dot",
		"check -o $HERE/f.json -- sh examples/check/counter.sh",
		"check --save $HERE/f.race -- sh examples/check/counter.sh",
		"matrix incr -o $HERE/f.json",
		"claims TL-7 -o $HERE/f.json",
		"game incr -o $HERE/f.html",
		"report lost-update -o $HERE/f.html",
	};
	char command[400];

	cr_assert_eq(
		cli_run("for s in json svg race dot html; do ln -s /dev/full $HERE/f.$s; done"), 0);
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		int code;

		snprintf(command, sizeof(command), "$REDRACE %s " QUIETLY, writers[i]);
		code = cli_run(command);
		/* What is wrong with the program comes before that. */
		cr_assert(code == RR_EXIT_FILE || (code == RR_EXIT_VIOLATED &&
						   strncmp(writers[i], "check", 5) == 0),
			  "%s: %d: %s", writers[i], code, cli_output);
		cli_assert_names("/f.");
	}
}

/* Every command, once at least; that site's output is written all the same, its own tests
 * look. What is wrong with a checked program comes before that. */
Test(failures, of_standard_output_are_74)
{
	static const char *const printers[] = {
		"help",
		"list",
		"bench incr -n 100 -t 1 -o $HERE/o",
		"bench none -n 100 -t 1 -f json -o $HERE/o2",
		"play lost-update",
		"play none -f json",
		"claims TL-7",
		"claims TL-7 -f junit",
		"explore none",
		"explore --stateless incr -f tap",
		"check --no-cache --audit 1 -- sh examples/check/counter.sh",
		"check --suite $HERE/s.yaml",
		"init",
		"matrix incr --hazard threads",
		"matrix --replay $HERE/m",
		"merge $HERE/c.json",
		"demo --auto how",
		"demo --auto",
		"game incr -o /dev/stdout",
		"compare $HERE/r $HERE/r",
		"report lost-update",
		"report -o /dev/stdout lost-update",
		"doctor",
		"site -o /dev/stdout/site",
	};
	const size_t n = sizeof(printers) / sizeof(printers[0]);
	char command[400];

	cli_write("s.yaml", "checks:\n  a: {command: sh examples/check/counter.sh}\n");
	cr_assert_eq(cli_run("$REDRACE bench incr -n 1000 --repeats 2 -o $HERE/r && "
			     "$REDRACE claims TL-7 --shard 1/1 -o $HERE/c.json && "
			     "mkdir $HERE/m && cp docs/matrix/fair-queue-pause.race $HERE/m"),
		     0, "%s", cli_output);
	for (size_t i = 0; rr_command_name(i); i++) {
		const size_t length = strlen(rr_command_name(i));
		size_t j = 0;

		while (j < n && (strncmp(printers[j], rr_command_name(i), length) != 0 ||
				 !strchr(" ", printers[j][length])))
			j++;
		cr_expect_lt(j, n, "%s is not among these", rr_command_name(i));
	}
	for (size_t i = 0; i < 2 * n; i++) {
		const bool violates = strncmp(printers[i / 2], "check", 5) == 0;

		snprintf(command, sizeof(command),
			 "P=$(realpath $REDRACE); %s $P %s 2>&1 %s </dev/null",
			 strcmp(printers[i / 2], "init") == 0 ?
				 "rm -f $HERE/redrace.yaml; cd $HERE;" :
				 "",
			 printers[i / 2], i % 2 ? ">&-" : ">/dev/full");
		cli_assert_one_line(command, violates ? RR_EXIT_VIOLATED : RR_EXIT_FILE, "");
	}
}

/* Nobody reads the pipe: that is known after some seconds, in which somebody who comes late
 * gets all of it. One end of f.html is open, and nobody reads there either. */
Test(failures, of_pipes_that_nobody_reads_are_74)
{
	static const struct {
		const char *words, *names;
	} writers[] = {
		{ "doctor -o $HERE/f.json", "f.json'" },
		{ "compare $HERE/r $HERE/r -o $HERE/f.json", "f.json'" },
		{ "merge $HERE/c.json -o $HERE/f.json", "f.json'" },
		{ "play lost-update -o $HERE/f.json", "f.json'" },
		{ "claims TL-7 -o $HERE/f.json", "f.json'" },
		{ "claims TL-7 -f github", "GITHUB_STEP_SUMMARY" },
		{ "game incr lost lease -o $HERE/f.html", "f.html'" },
	};
	char command[400];

	cr_assert_eq(
		cli_run("$REDRACE bench incr -n 1000 --repeats 2 -o $HERE/r && "
			"$REDRACE claims TL-7 --shard 1/1 -o $HERE/c.json && mkfifo $HERE/f.json $HERE/f.html && "
			"(exec 3<>$HERE/f.html >&- 2>&-; while [ -p $HERE/f.html ]; do sleep 1; done) &"),
		0, "%s", cli_output);
	/* All at once. */
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		snprintf(
			command, sizeof(command),
			"(GITHUB_STEP_SUMMARY=$HERE/f.json timeout 500 $REDRACE %s >/dev/null 2>$HERE/said.%zu; echo $? >>$HERE/said.%zu) >/dev/null 2>&1 &",
			writers[i].words, i, i);
		cr_assert_eq(cli_run(command), 0);
	}
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		const char *end;

		cr_assert_eq(cli_runf("until grep -qx '[0-9]*' $HERE/said.%zu; do sleep 0.1; done; "
				      "cat $HERE/said.%zu",
				      i, i),
			     0);
		cr_assert_not_null(end = strchr(cli_output, '\n'));
		cr_assert_str_eq(end, "\n74\n", "%s: %s", writers[i].words, cli_output);
		cli_assert_names(writers[i].names);
	}
	cr_assert_eq(
		cli_run("(sleep 1; cat $HERE/f.json >$HERE/late) & "
			"$REDRACE claims TL-7 -o $HERE/f.json && wait && rm $HERE/f.html && grep TL-7 $HERE/late"),
		0, "%s", cli_output);
}

/* The work, for which there is no server here, is not begun. */
Test(failures, of_files_in_no_folder_come_before_the_work)
{
	static const char *const writers[] = {
		"bench incr -o $HERE/none/f.json",
		"play lost-update -o $HERE/none/f.svg",
		"explore none -o $HERE/none/f.json",
		"check -o $HERE/none/f.json true",
		"matrix -o $HERE/f.xml -o $HERE/none/f.json",
		"matrix -o $HERE/folder.json",
		"claims -o $HERE/none/f.json",
		"game -o $HERE/none/f.html",
		"report -o $HERE/none/f.html",
		"doctor -o $HERE/none/f.json",
	};
	char command[400];

	cr_assert_eq(cli_run("mkdir $HERE/folder.json"), 0);
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		snprintf(command, sizeof(command), "$REDRACE %s --redis-server /none " QUIETLY,
			 writers[i]);
		if (strncmp(writers[i], "check", 5) == 0)
			snprintf(command, sizeof(command),
				 "$REDRACE check --redis-server /none %s " QUIETLY, writers[i] + 6);
		cli_assert_one_line(command, RR_EXIT_FILE, cli_home);
	}
}

/* ---- Workers that somebody kills ------------------------------------------------ */

/* Of bench all is lost then, and it ends. Workers are started last. */
Test(failures, of_counting_workers_name_the_signal)
{
	cr_assert_eq(
		cli_run("$REDRACE bench incr -n 100000000 --processes 2 -o $HERE/d >$HERE/out 2>$HERE/said & P=$!\n"
			"until [ $(pgrep -P $P | wc -l) -ge 3 ]; do kill -0 $P && sleep 0.1 || break; done; sleep 0.5\n"
			"kill -KILL $(pgrep -n -P $P); wait $P; echo code $?; cat $HERE/said"),
		0, "%s", cli_output);
	cr_assert_eq(strncmp(cli_output, "code 70\nredrace: incr: ", 23), 0, "%s", cli_output);
	cli_assert_names("SIGKILL");
}

/* ---- Servers that are none ---------------------------------------------------- */

/* Long before the time is over in which a server is to answer: then it would be that. */
Test(failures, of_programs_that_are_no_server_come_at_once)
{
	static const struct {
		const char *program, *name;
	} none[] = {
		{ "yes", "'yes'" },
		{ "cat", "'cat'" },
		{ "true", "'true'" },
		{ "$HERE", cli_home },
		{ "$HERE/sleeper", "/sleeper'" },
	};
	char command[300];

	cli_run("printf '#!/bin/sh\\nexec sleep 1000\\n' >$HERE/sleeper; chmod +x $HERE/sleeper");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		snprintf(command, sizeof(command),
			 "$REDRACE play lost-update --redis-server %s " QUIETLY, none[i].program);
		cli_assert_one_line(command, RR_EXIT_REDIS, none[i].name);
	}
}

Test(failures, of_a_script_s_command_skip_the_strategy)
{
	struct support support;
	struct rdl_link *link;
	struct rdl_reply reply;

	support_open(&support, 1);
	link = support_link(&support, 0);
	cr_assert_eq(rdl_run(link, &reply, "ACL SETUSER default -incr"), RDL_OK);
	setenv("SOCK", support.cluster.servers[0].address.host, 1);
	cr_assert_eq(
		cli_run("$REDRACE bench --redis unix://$SOCK fenced lua-incr --increments 100 --output $HERE/a -o $HERE/result.json 2>&1"),
		0, "%s", cli_output);
	cli_assert_json("[$all.cases[] | [.name, .verdict]] | sort == "
			"[[\"fenced\", \"skipped\"], [\"lua-incr\", \"passed\"]]");
	cli_assert_json("[$all.cases[] | select(.name == \"fenced\").message | "
			"contains(\"run this command\")] == [true]");
	rdl_link_free(link);
	support_close(&support);
}

/* ---- What users type ------------------------------------------------------------ */

Test(failures, of_numbers_are_64)
{
	static const char *const texts[] = {
		" 5", "+5",  "5x",  "",    "0x10", "1e3", "99999999999999999999",
		"5 ", "\n5", "\t5", "--5", "-",    "5.0",
	};
	char command[300];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		long number;

		cr_assert_not(rr_parse_number(texts[i], -9, 99, &number), "'%s'", texts[i]);
		snprintf(command, sizeof(command),
			 "$REDRACE bench incr --increments '%s' --output $HERE/a 2>&1", texts[i]);
		cli_assert_one_line(command, RR_EXIT_USAGE, "--increments");
		snprintf(command, sizeof(command),
			 "$REDRACE bench incr --threads '1,%s' --output $HERE/a 2>&1", texts[i]);
		cli_assert_one_line(command, RR_EXIT_USAGE, "--threads");
	}
}

/* Where there has to be one, also where a command has bounds of its own. */
/* What a file asks for and cannot be done is the file's fault. */
Test(failures, of_files_are_65)
{
	cli_write("twice.race",
		  "title t\nclients A\nserver n\nkill n\nkill n\nverdict nothing broken\n");
	cli_write("readme.md", "# no results\n");
	cli_assert_one_line("$REDRACE play $HERE/twice.race 2>&1 >/dev/null", 65, "twice.race:5:");
	cli_assert_one_line("$REDRACE merge $HERE/readme.md 2>&1", 65, "readme.md'");
}

Test(failures, of_none_at_all_are_64)
{
	static const char *const wrong[] = {
		"bench incr --increments 0",
		"bench incr --threads 0",
		"bench incr --processes 0",
		"bench incr --repeats 0",
		"bench incr --keys 0",
		"check --clients 0 true",
		"check --seconds 0 true",
		"check --rounds 0 true",
		"check --hangs-after 0 true",
		"check --max-states 0 true",
		"check --ttl-ms 0 true",
		"claims --jobs 0",
		"demo --seconds-each 0",
		"explore --clients 0 none",
		"explore --increments-each 0 none",
		"explore --max-states 0 none",
		"explore --rounds 0 none",
		"matrix --jobs 0",
		"matrix --max-states 0",
		"play --clients 0 none",
		"play --increments-each 0 none",
		"play --processes 0 none",
	};
	char command[300];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(command, sizeof(command), "$REDRACE %s 2>&1", wrong[i]);
		cli_assert_one_line(command, RR_EXIT_USAGE, "'0'");
	}
}

/* Newlines, control characters and what is no UTF-8 are escaped. */
Test(failures, stay_on_one_line)
{
	static const char *const wrong[] = {
		"\"$X\"",
		"play \"$X\"",
		"play none --schedule \"$X\"",
		"bench \"$X\"",
		"bench incr --increments \"$X\"",
		"bench incr --\"$X\"",
		"bench incr --output /proc/\"$X\"",
		"bench incr --redis-server \"$X\" --output $HERE/a",
		"explore \"$X\"",
		"explore none --graph \"$X\"",
		"matrix \"$X\"",
		"matrix --hazard \"$X\"",
		"matrix --replay \"$X\"",
		"claims \"$X\"",
		"compare \"$X\" \"$X\"",
		"report \"$X\"",
		"game \"$X\"",
		"help \"$X\"",
		"check --client \"$X\" -- true",
		"check --replay \"$X\" -- true",
	};
	char command[300];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(command, sizeof(command),
			 "X=$(printf 'a\\nb\\033[2J\\377\\rc'); $REDRACE %s " QUIETLY, wrong[i]);
		cr_assert_neq(cli_run(command), 0, "%s", wrong[i]);
		cr_assert_eq(strcspn(cli_output, "\033\r\377"), strlen(cli_output), "%s: %s",
			     wrong[i], cli_output);
		cr_assert_eq(strchr(cli_output, '\n'), cli_output + strlen(cli_output) - 1,
			     "%s: %s", wrong[i], cli_output);
	}
}

/* ---- What is not there, and who has seen enough ------------------------------------ */

Test(failures, a_missing_file_has_one_exit_code)
{
	static const char *const commands[] = {
		"play $HERE/none.race",
		"check --suite $HERE/none.yaml",
		"check --init $HERE/none -- true",
		"check --replay $HERE/none.race",
		"check -- $HERE/none",
		"check -- sh $HERE/none.sh",
		"compare $HERE/none $HERE/none",
		"merge $HERE/none.json",
		"claims --shard 1/2 --times $HERE/none.json",
		"matrix --replay $HERE/none",
		"report $HERE/none",
		"site -o $HERE/site $HERE/none",
	};
	char line[200];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(line, sizeof(line), "$REDRACE %s 2>&1 >/dev/null", commands[i]);
		cli_assert_one_line(line, RR_EXIT_USAGE, "none");
	}
}

Test(failures, a_reader_that_has_seen_enough_is_no_complaint)
{
	static const char *const commands[] = { "list", "list --races",     "doctor",
						"help", "check --help=all", "help --schema" };
	char line[200];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(line, sizeof(line), "{ $REDRACE %s | head -n 1 >/dev/null; } 2>&1",
			 commands[i]);
		cli_run(line);
		cr_assert_str_eq(cli_output, "", "%s: %s", commands[i], cli_output);
	}
	cli_assert_one_line("$REDRACE list 2>&1 >/dev/full", RR_EXIT_FILE, "cannot write");
}
