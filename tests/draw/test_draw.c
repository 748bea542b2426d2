/* SPDX-License-Identifier: MIT */
/* Drawings of races, as the program makes them. The races are the tests' own,
 * so that the project's may change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "../play/pseudo.h"
#include "base/error.h"

TestSuite(draw, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

#define PLAY "LC_ALL=C.UTF-8 $REDRACE play "

/* The drawing is that of tests/golden/NAME. */
static void assert_golden(const char *command, const char *name)
{
	cr_assert_eq(cli_run(command), 0, "%s: %s", command, cli_output);
	support_assert_golden(name, cli_output);
}

/* What the command prints holds each of these, in this order. */
static void assert_says(const char *const parts[])
{
	const char *at = cli_output;

	for (size_t i = 0; parts[i]; i++) {
		at = strstr(at, parts[i]);
		cr_assert_not_null(at, "no '%s' in:\n%s", parts[i], cli_output);
	}
}

Test(draw, two_clients_have_the_key_between_them)
{
	assert_golden(PLAY "tests/draw/lost.race", "draw-lost.txt");
}

Test(draw, three_clients_have_the_key_behind_them)
{
	assert_golden(PLAY "tests/draw/overrun.race", "draw-overrun.txt");
}

Test(draw, many_servers_and_awkward_replies)
{
	assert_golden(PLAY "tests/draw/five-servers.race", "draw-five.txt");
}

/* However long commands are: the replies, of which " => " in a command is no beginning. */
Test(draw, long_commands_keep_their_replies)
{
	assert_golden(PLAY "tests/draw/long-commands.race", "draw-long-commands.txt");
	cr_assert_not_null(strstr(cli_output, "=> 0\n"), "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "(integer) 0]\n"), "%s", cli_output);
}

/* A token of 40 digits on each of six keys leaves the clients a column that can be read. */
Test(draw, five_servers_of_a_strategy_can_be_read)
{
	cr_assert_eq(cli_run(PLAY "--ascii redlock"), 0, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "A: @n1 SET lock:0"), "%s", cli_output);
	cr_assert_eq(cli_run(PLAY "--ascii redlock | grep '.\\{81\\}'"), 1, "%s", cli_output);
}

Test(draw, ascii)
{
	assert_golden(PLAY "--ascii tests/draw/overrun.race", "draw-overrun-ascii.txt");
}

Test(draw, locale_without_utf8_is_ascii)
{
	assert_golden("LC_ALL=C $REDRACE play tests/draw/overrun.race", "draw-overrun-ascii.txt");
}

Test(draw, ascii_has_no_other_bytes)
{
	cr_assert_eq(
		cli_run("for race in lost takeover five-servers; do $REDRACE play --ascii tests/draw/$race.race;"
			"done | LC_ALL=C grep -n '[^ -~]'"),
		1, "%s", cli_output);
}

Test(draw, fits_80_columns)
{
	cr_assert_eq(
		cli_run("for race in lost overrun takeover five-servers long-commands; do $REDRACE play --ascii tests/draw/$race.race;"
			"done | grep -n '.\\{81\\}'"),
		1, "%s", cli_output);
}

/* Twelve clients do not fit side by side. */
Test(draw, many_clients_share_a_column)
{
	const char *const parts[] = { " #  clients", "L: GET x => (nil)", NULL };

	cr_assert_eq(
		cli_run("{ echo 'title many'; echo 'clients A B C D E F G H I J K L';"
			"for c in A B C D E F G H I J K L; do echo \"$c> GET x => (nil)\"; done;"
			"echo 'verdict nothing broken'; } >$HERE/many.race; $REDRACE play --ascii $HERE/many.race"),
		0, "%s", cli_output);
	assert_says(parts);
}

Test(draw, mermaid)
{
	assert_golden(PLAY "--format mermaid tests/draw/takeover.race", "draw-takeover.mermaid");
}

Test(draw, mermaid_survives_awkward_texts)
{
	cr_assert_eq(cli_run(PLAY
			     "-f mermaid tests/draw/five-servers.race | grep '[<\"]\\|[^0-9];'"),
		     1, "%s", cli_output);
	cr_assert_eq(
		cli_run(PLAY
			"-f mermaid tests/draw/five-servers.race | grep 'and #60;tags#62; #38; #59; #35; stay'"),
		0);
}

Test(draw, json)
{
	assert_golden(PLAY "--format json tests/draw/lost.race", "draw-lost.json");
}

/* Needs Python for its XML parser. */
static bool has_python(void)
{
	return cli_run("python3 -c 'import xml.dom.minidom'") == 0;
}

static void assert_well_formed(const char *format)
{
	char command[512];

	if (!has_python())
		cli_skip("no python3 to parse XML with");
	snprintf(
		command, sizeof(command),
		"for race in lost overrun takeover five-servers; do"
		" $REDRACE play -f %s -o $HERE/picture tests/draw/$race.race &&"
		" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' $HERE/picture || exit 9; done",
		format);
	cr_assert_eq(cli_run(command), 0, "%s", cli_output);
}

Test(draw, svg_is_well_formed)
{
	assert_well_formed("svg");
}

Test(draw, html_is_well_formed)
{
	assert_well_formed("html");
}

Test(draw, svg_has_words_for_those_who_cannot_see_it)
{
	const char *const parts[] = { "role=\"img\"",
				      "<title>",
				      "<desc>",
				      "A: SET lock 1 NX EX 10 replies OK",
				      "Found: exclusion broken",
				      NULL };

	cr_assert_eq(cli_run(PLAY "-f svg tests/draw/overrun.race | head -40"), 0);
	assert_says(parts);
	cr_assert_null(strstr(cli_output, "<script"));
}

Test(draw, repeats_are_folded)
{
	const char *const parts[] = { "12  ", "13  ", "4 more rounds, steps 14 to 21", "22  ",
				      NULL };

	cli_run(PLAY "tests/draw/five-servers.race");
	assert_says(parts);
	cr_assert_null(strstr(cli_output, "\n15  "));
}

/* Its row has the number of the last step. */
Test(draw, polls_are_folded)
{
	static const char race[] =
		"{ echo 'title t'; echo 'clients A B'; echo 'watch lock'; "
		"echo 'A> SET lock a NX PX 9000'; "
		"for i in $(seq 58); do echo 'B> SET lock b NX => (nil)'; done; echo 'tick 10s'; "
		"for i in $(seq 5); do echo 'B> GET lock => (nil)'; echo 'tick 1s'; done; "
		"for i in $(seq 6); do echo 'A> GET lock => (nil)'; echo 'B> TTL lock => -2'; done; "
		"for i in $(seq 3); do echo 'A> PING => PONG'; done; "
		"for i in $(seq 4); do echo 'A> SET x 1 => OK'; done; "
		"echo 'verdict nothing broken'; } >$HERE/t.race; ";
	cr_assert_eq(cli_runf("%s" PLAY "$HERE/t.race", race), 0, "%s", cli_output);
	support_assert_golden("draw-polls.txt", cli_output);
	cr_assert_eq(cli_run(PLAY "-f json $HERE/t.race | jq '.steps | length'"), 0);
	cr_assert_str_eq(cli_output, "89\n");
	cr_assert_eq(cli_run(PLAY "-f race $HERE/t.race | grep -c 'SET lock b NX *=> (nil)'"), 0);
	cr_assert_str_eq(cli_output, "58\n");
}

Test(draw, says_whose_lease_has_ended)
{
	static const char race[] =
		"printf 'title t\nclients A B\nwatch lock\nwatch x\nA> SET lock a NX PX 9000\n"
		"B> SET x 1 EX 9\ntick 10s\nB> SET lock b NX\nB> DEL lock\nverdict nothing broken\n' "
		">$HERE/t.race; ";

	cr_assert_eq(cli_runf("%s" PLAY "$HERE/t.race", race), 0, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output,
				  " 10 s pass, t = 10 s: A's lease of lock ended, B's x expired "),
			   "%s", cli_output);
	cr_assert_eq(cli_run(PLAY "-f json $HERE/t.race | jq -r '.steps[2].text'"), 0);
	cr_assert_str_eq(cli_output, "10 s pass, t = 10 s\n");
}

Test(draw, tells_what_was_done_to_a_file)
{
	const char *const parts[] = { "redis's append-only file lacks its last 5 bytes",
				      "redis's append-only file ends within command 4",
				      "redis's append-only file lacks command 2",
				      "redis's append-only file has a wrong first byte in command 2",
				      "redis's append-only file ends after command 1",
				      "redis's append-only file ends after byte 23",
				      NULL };

	cli_run(PLAY "tests/draw/tears.race");
	assert_says(parts);
}

Test(draw, no_colour_but_on_a_terminal)
{
	cli_run("TERM=xterm " PLAY "tests/draw/overrun.race");
	cr_assert_null(strchr(cli_output, '\033'));
}

Test(draw, is_as_wide_as_the_terminal_and_coloured)
{
	struct pseudo pseudo;

	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	pseudo_open_in(&pseudo, 60, "--ascii tests/draw/overrun.race");
	pseudo_await(&pseudo, "2 in the critical section: B C");
	pseudo_await(&pseudo, "It holds.");
	cr_assert_not_null(strstr(pseudo.seen, "\033[0;2m---"));
	cr_assert_eq(pseudo_close(&pseudo), 0);
}

/* Clients share a column before a key's name is cut. */
Test(draw, narrow_terminal_has_whole_names_of_keys)
{
	struct pseudo pseudo;

	setenv("NO_COLOR", "1", 1);
	pseudo_open_in(&pseudo, 60, "tests/draw/five-servers.race");
	pseudo_await(&pseudo, "lock@n1  lock@n3  lock@n5\r\n");
	pseudo_await(&pseudo, "writes kept");
	cr_assert_null(strchr(pseudo.seen, '\033'));
	cr_assert_eq(pseudo_close(&pseudo), 0);
}

Test(draw, fits_the_narrowest_terminal)
{
	struct pseudo pseudo;
	size_t length;

	setenv("NO_COLOR", "1", 1);
	pseudo_open_in(&pseudo, 40, "--ascii tests/draw/five-servers.race");
	pseudo_await(&pseudo, "writes kept");
	cr_assert_eq(pseudo_close(&pseudo), 0);
	for (const char *at = pseudo.seen; *at; at += length) {
		length = strcspn(at, "\r\n");
		cr_assert_leq(length, 40, "%.*s", (int)length, at);
		length += strspn(at + length, "\r\n");
	}
}

Test(draw, output_replaces_the_file_as_a_whole)
{
	cr_assert_eq(cli_run("echo stale >$HERE/o; " PLAY
			     "-o $HERE/o tests/draw/lost.race >$HERE/printed && "
			     "cmp $HERE/o $HERE/printed && rm $HERE/printed && "
			     "ls $HERE && cat $HERE/o"),
		     0, "%s", cli_output);
	cr_assert_null(strstr(cli_output, "stale"));
	cr_assert_eq(strncmp(cli_output, "o\nTwo clients", 13), 0, "%s", cli_output);
	cli_assert_one_line(PLAY "-o $HERE/none/o tests/draw/lost.race 2>&1", RR_EXIT_FILE,
			    "/none/o");
}

Test(draw, wrong_usage)
{
	cli_assert_one_line(PLAY "-f gif tests/draw/lost.race 2>&1 | head -n 1; exit 64",
			    RR_EXIT_USAGE, "gif");
	cr_assert_eq(cli_run(PLAY "--step -f svg tests/draw/lost.race 2>&1"), RR_EXIT_USAGE);
}

/* ---- Not as written ---------------------------------------------------------- */

Test(draw, wrong_reply_stops_with_a_difference)
{
	const char *const parts[] = { "The race ended here", "wrong.race:11: step 5, B: SET x 2",
				      "  expected  QUEUED", "  actual    OK", NULL };

	cr_assert_eq(
		cli_run("sed 's/^B> SET x 2 .*/B> SET x 2 => QUEUED/' tests/draw/lost.race >$HERE/wrong.race;" PLAY
			"$HERE/wrong.race 2>&1"),
		RR_EXIT_VIOLATED, "%s", cli_output);
	assert_says(parts);
}

Test(draw, step_in_another_order_fails)
{
	const char *const parts[] = { "  expected  \"1\"", "  actual    \"2\"", NULL };

	cr_assert_eq(
		cli_run("sed -e '/^B> GET/d' -e '/^A> SET/aB> GET x => \"1\"' tests/draw/lost.race >$HERE/order.race;" PLAY
			"$HERE/order.race 2>&1"),
		RR_EXIT_VIOLATED, "%s", cli_output);
	assert_says(parts);
}

Test(draw, wrong_verdict_says_both)
{
	const char *const parts[] = { "the verdict differs", "  expected  nothing broken",
				      "  computed  lost update", NULL };

	cr_assert_eq(
		cli_run("sed 's/^verdict.*/verdict nothing broken/' tests/draw/lost.race >$HERE/wrong.race;" PLAY
			"$HERE/wrong.race 2>&1"),
		RR_EXIT_VIOLATED, "%s", cli_output);
	assert_says(parts);
}

/* ---- Predictions --------------------------------------------------------------- */

Test(draw, predictions_are_compared)
{
	const char *const parts[] = {
		"1 A: GET x",  "=> \"1\"  -- right", "2 B: GET x",
		"=> \"1\"\n",  "3 A: SET x 2",       "=> OK  -- not what you said",
		"lost update", "1 of 2 predictions", NULL
	};

	cr_assert_eq(cli_run("printf '1\\n\\nnil\\n' | " PLAY "--step tests/draw/lost.race"), 0,
		     "%s", cli_output);
	assert_says(parts);
}

Test(draw, end_of_input_ends_every_wait)
{
	cr_assert_eq(cli_run(PLAY "--step tests/draw/overrun.race </dev/null"), 0, "%s",
		     cli_output);
	cr_assert_not_null(strstr(cli_output, "0 of 0 predictions"));
	cr_assert_not_null(strstr(cli_output, "✗ exclusion broken"));
}

Test(draw, q_ends)
{
	cr_assert_eq(cli_run("printf '1\\nq\\n' | " PLAY "--step tests/draw/lost.race"), 0, "%s",
		     cli_output);
	cr_assert_null(strstr(cli_output, "SET x 2"), "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "1 of 1 predictions"));
}

/* ---- The list --------------------------------------------------------------------- */

Test(draw, list_has_the_races)
{
	const char *const both[] = { "multi-watch  ", "race  ", NULL };
	const char *const race[] = { "overrun-delete", NULL };

	cr_assert_eq(cli_run("$REDRACE list | grep -e '^multi-watch ' -e '^race '"), 0);
	assert_says(both);
	cr_assert_eq(cli_run("$REDRACE list | grep '^overrun-delete '"), 0);
	assert_says(race);
	cli_run("$REDRACE list --races");
	cr_assert_null(strstr(cli_output, "multi-watch  "));
}
