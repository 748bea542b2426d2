/* SPDX-License-Identifier: MIT */
/* Pictures of what redrace check has found, as a reader needs them: with the names that
 * clients and keys have, and without what says nothing. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(pictures, .init = cli_setup, .fini = cli_teardown);

#define CHECK "$REDRACE check --audit 1 -o $HERE/result.json "

static void assert_hides(const char *part)
{
	cr_assert_null(strstr(cli_output, part), "'%s' in: %s", part, cli_output);
}

#define ADD(KEY, N) "v=$(" CLI "GET " KEY "); " CLI "SET " KEY " $((v + " N "))"

Test(pictures, clients_have_the_names_that_they_were_given)
{
	cr_assert_eq(cli_run(CHECK "--client buy='" ADD("x", "1") "' --client refill='" ADD(
			     "x", "10") "' --save $HERE/s.race -o $HERE/s.svg 2>&1"),
		     1, "%s", cli_output);
	cli_assert_names("\n #  buy");
	cli_assert_json(".findings[0] | (.why | contains(\"buy\") and contains(\"refill\")) and "
			"([.steps[].client] | unique == [\"buy\", \"refill\"])");
	cr_assert_eq(
		cli_run("$REDRACE play $HERE/s.race >/dev/null && grep -c '>refill<' $HERE/s.svg"),
		0, "%s", cli_output);
}

/* A race has no room for such names: "x" is the first connection of one, "x2" the second. */
Test(pictures, clients_are_a_and_b_where_their_names_would_mislead)
{
	cr_assert_eq(cli_run(CHECK "--client x='" ADD("x", "1") "' --client x2='" ADD(
			     "x", "10") "' 2>&1"),
		     1, "%s", cli_output);
	cli_assert_names("\n #  A ");
	cli_assert_json(".findings[0].why | test(\"\\\\bA\\\\b.*\\\\bB\\\\b\") and "
			"(test(\"\\\\bx2\\\\b\") | not)");
}

/* A player does not see what a search has found; the file and the page name it all the same. */
Test(pictures, a_finding_is_shown_as_one)
{
	static const char *const kinds[][3] = {
		{ "", ADD("x", "1"), "not serializable" },
		{ "", "v=$(" CLI "GET x); " CLI "SET x 1; echo $v", "not serializable" },
		{ "--final 'GET x' 3", CLI "INCR x", "not as expected" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		cr_assert_eq(cli_runf(CHECK
				      "%s --save $HERE/s.race -o $HERE/s.html -- sh -c '%s' 2>&1",
				      kinds[i][0], kinds[i][1]),
			     1, "%s", cli_output);
		cr_assert_eq(cli_runf("grep -x 'verdict %s' $HERE/s.race && "
				      "grep -q '<p class=\"lead bad\"><strong>✗' $HERE/s.html && "
				      "! grep 'nothing broken' $HERE/s.html $HERE/s.race && "
				      "[ $(grep -c 'Why (\\|<h2>Why' $HERE/s.html) -le 1 ]",
				      kinds[i][2]),
			     0, "%s: %s", kinds[i][1], cli_output);
		cr_assert_eq(cli_run("$REDRACE play $HERE/s.race"), 0, "%s", cli_output);
	}
}

#define SHELF "warehouse:berlin:shelf:"

Test(pictures, no_two_keys_look_alike_and_given_commands_are_folded)
{
	cli_write("init.redis", "MSET a 1 b 1\nSET c 1\nSET d 1\nSET e 1\nSET f 1\n");
	cr_assert_eq(cli_run(CHECK "--clients 3 --init $HERE/init.redis -- sh -c '" ADD(
			     SHELF "01:stock", "1") "; " CLI "SET " SHELF "02:stock x$v' 2>&1"),
		     1, "%s", cli_output);
	cli_assert_names(" MSET a 1 b 1\n");
	assert_hides(" SET f 1");
	cli_assert_names("GET " SHELF "01:stock (");
	cli_assert_names("in:shelf:02:st  in:shelf:01:st");
	assert_hides("shelf:0…");
	assert_hides("  a  b  ");
}

/* MULTI and what is queued are one row; that the connection is closed is no command. */
Test(pictures, transactions_take_a_row_and_connections_are_closed)
{
	cr_assert_eq(
		cli_run(CHECK
			"-- sh -c 'v=$(" CLI
			"GET x); printf \"MULTI\\nSET x $((v + 1))\\nSET y 2\\nEXEC\\n\" | " REDIS_CLI
			"' 2>&1"),
		1, "%s", cli_output);
	cli_assert_names("MULTI; SET x 1; SET y 2 => QUEUED");
	assert_hides("RESET");
	cli_assert_json("([.findings[0].steps[] | select(.kind == \"closes\").client] | unique) == "
			"[\"A\", \"B\"] and (.mend | contains(\"GET x … EXEC\"))");
}

/* A poll takes one row; step numbers are those of all steps, and of `why`. The file has them
 * all. */
Test(pictures, polls_are_folded)
{
	cr_assert_eq(cli_run(CHECK "--data-only --save $HERE/s.race -- sh -c 'i=0; "
				   "while [ $i -lt 12 ] && [ \"$(" CLI
				   "SET lock 1 NX)\" != OK ]; do i=$((i + 1)); done; " ADD(
					   "x", "1") "; " CLI "DEL lock' 2>&1"),
		     1, "%s", cli_output);
	cli_assert_names("… polls SET lock 1 NX 11 more times");
	cr_assert_eq(cli_run("grep -c 'SET lock 1 NX *=> (nil)' $HERE/s.race"), 0);
	cr_assert_str_eq(cli_output, "12\n");
	cli_assert_json("(.findings[0].steps | length) as $n | "
			"[.findings[0].steps[].number] == [range(1; $n + 1)] and "
			"(" CLI_WHY_STEPS " | flatten | all(. <= $n))");
}

Test(pictures, second_connections_are_explained)
{
	cli_write("two.py", "%s",
		  "import raw\n"
		  "a, b = raw.Connection(), raw.Connection()\n"
		  "b('SET', 'x', int(a('GET', 'x') or 0) + 1)\n");
	cr_assert_eq(cli_run(CHECK "-- " CLI_PYTHON "two.py 2>&1"), 1, "%s", cli_output);
	cli_assert_names("– A2 ");
	cli_assert_names("– B2 ");
}
