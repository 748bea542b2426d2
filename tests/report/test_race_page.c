/* SPDX-License-Identifier: MIT */
/* Pages of races and results: what they say without a script, here and in a browser. */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "../cli.h"
#include "race/race.h"

TestSuite(race_page, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* The program's output has all of it. */
static void assert_all(const char *const parts[])
{
	for (; *parts; parts++)
		cr_assert_not_null(strstr(cli_output, *parts), "no %s in: %s", *parts, cli_output);
}

/* The body of a page of a race. */
static void play_page(const char *race)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "$REDRACE play -f html %s | sed -n '/<article/,/<.article/p'", race);
	cr_assert_eq(cli_run(command), 0, "%s", cli_output);
}

Test(race_page, says_what_went_wrong_first)
{
	const char *const parts[] = { "2 increments, 1 lost.", "redrace play lost-update", NULL };

	play_page("lost-update");
	assert_all(parts);
	cr_assert_lt(strstr(cli_output, "2 increments, 1 lost"), strstr(cli_output, "<svg"));
}

Test(race_page, has_all_steps_and_lanes)
{
	play_page("lost-update");
	for (int i = 1; i <= 8; i++) {
		char item[64], group[64];

		snprintf(item, sizeof(item), " value=\"%d\">", i);
		snprintf(group, sizeof(group), "<g data-step=\"%d\">", i);
		cr_assert_not_null(strstr(cli_output, item), "step %d", i);
		cr_assert_not_null(strstr(cli_output, group), "step %d", i);
	}
	cr_assert_not_null(strstr(cli_output, ">A</text>"));
	cr_assert_not_null(strstr(cli_output, ">redis</text>"));
	cr_assert_not_null(strstr(cli_output, ">B</text>"));
}

/* ---- What clients believe ------------------------------------------------ */

Test(race_page, joins_the_stale_read_and_the_write_that_loses)
{
	const char *const parts[] = {
		"data-from=\"3\">① the last that B sees of x; stale from step 3 on",
		"① what B saw in step 2 is not what is there now",
		"① replaces what A wrote in step 3, which B has not seen since step 2",
		"<code>1</code> <strong class=\"bad\">stale</strong>", NULL
	};

	play_page("lost-update");
	assert_all(parts);
}

/* Both locks hold the same value: that it is another's is known all the same. */
Test(race_page, knows_another_ones_lock_by_who_made_it)
{
	play_page("overrun-delete");
	cr_assert_not_null(strstr(cli_output, "replaces what B wrote in step 4"));
	cr_assert_not_null(strstr(cli_output, "stale from step 3 on"),
			   "it is, as soon as the lease is over");
}

Test(race_page, says_nothing_where_nothing_is_overwritten)
{
	play_page("increments-in-turn");
	cr_assert_null(strstr(cli_output, "① replaces what"));
	cr_assert_null(strstr(cli_output, "stale</strong>"));
}

/* What a transaction has read is known when EXEC has told it, and not when it failed. */
Test(race_page, follows_transactions_and_scripts)
{
	cr_assert_eq(
		cli_run("cat >$HERE/t.race <<'EOF'\n"
			"title t\nclients A B\nwatch x\n\n"
			"A> MULTI\nA> SET x 1\nA> GET x\nA> EXEC\n"
			"B> EVAL \"return redis.call('set', KEYS[1], 2)\" 1 x\n"
			"A> SET x 3\n"
			"verdict nothing broken\nEOF\n"
			"$REDRACE play -f html $HERE/t.race | grep -o 'data-beliefs=\"[^\"]*\"' | sed 's/&quot;//g'"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "data-beliefs=\"[[(nil),false],null,null]\"\n"
				     "data-beliefs=\"[[(nil),false],null,null]\"\n"
				     "data-beliefs=\"[[(nil),false],null,null]\"\n"
				     "data-beliefs=\"[[1,false],[1,false],null]\"\n"
				     "data-beliefs=\"[[2,false],[1,true],null]\"\n"
				     "data-beliefs=\"[[3,false],[3,false],null]\"\n");
}

/* What is queued shares a row in a finding: EXEC answers all of it. */
Test(race_page, follows_transactions_of_findings)
{
	cr_assert_eq(
		cli_run("cat >$HERE/t.race <<'EOF'\n"
			"title t\nshows something\nclients A B\nwatch x\nwatch y\n\n"
			"B> MSET x 5 y 6\nA> MULTI\nA> GET x\nA> SET y 7\nA> INCR x\nA> EXEC\n"
			"B> MULTI\nB> GET x\nB> GET y\nB> DISCARD\nB> MULTI\nB> GET y\nB> EXEC\n"
			"verdict nothing broken\nEOF\n"
			"$REDRACE play -f html $HERE/t.race | grep -o 'data-beliefs=\"[^\"]*\"' | sed 's/&quot;//g'"),
		0, "%s", cli_output);
	cr_assert_str_eq(
		cli_output,
		"data-beliefs=\"[[5,false],null,null,[6,false],null,null]\"\n"
		"data-beliefs=\"[[5,false],null,null,[6,false],null,null]\"\n"
		"data-beliefs=\"[[6,false],[6,false],null,[7,false],[7,false],null]\"\n"
		"data-beliefs=\"[[6,false],[6,false],null,[7,false],[7,false],null]\"\n"
		"data-beliefs=\"[[6,false],[6,false],null,[7,false],[7,false],null]\"\n"
		"data-beliefs=\"[[6,false],[6,false],null,[7,false],[7,false],null]\"\n"
		"data-beliefs=\"[[6,false],[6,false],null,[7,false],[7,false],[7,false]]\"\n");
}

/* ---- What is in a page --------------------------------------------------- */

Test(race_page, asks_before_the_step_that_breaks)
{
	const char *const parts[] = {
		"data-ask=\"Step 6, B: SET x 2. What is then in x?\" data-answer=\"2\"", NULL
	};

	play_page("lost-update");
	assert_all(parts);
	play_page("overrun-delete");
	cr_assert_not_null(
		strstr(cli_output,
		       "How many clients are in their critical sections now?\" data-answer=\"2\""));
}

Test(race_page, texts_are_escaped)
{
	cr_assert_eq(
		cli_run("cat >$HERE/x.race <<'EOF'\n"
			"title   <b>bold</b> & \"quoted\"\n"
			"clients A B\nwatch   '<k&\"'\n\n"
			"A> SET '<k&\"' '</script><i>&'  => OK   ! <why> & \"how\"\n"
			"B> GET '<k&\"'\n"
			"-- <note> ]]> </pre>\n"
			"verdict nothing broken\nEOF\n"
			"$REDRACE report -o $HERE/x.html $HERE/x.race && ! grep -E '<(b|i|k|why|note)[>&]' $HERE/x.html &&"
			" grep -c '&lt;k&amp;&quot;' $HERE/x.html"),
		0, "%s", cli_output);
	if (cli_run("python3 -c 'import xml.dom.minidom'") == 0)
		cr_assert_eq(
			cli_run("python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' $HERE/x.html"),
			0, "%s", cli_output);
}

/* No address of another page, and no file beside it. */
Test(race_page, needs_no_network)
{
	cr_assert_eq(cli_run("$REDRACE report -o $HERE/p.html lost-update"), 0, "%s", cli_output);
	cr_assert_eq(
		cli_run("grep -v 'html lang=' $HERE/p.html | grep -iE '(src|href)=\"[^#d]|https?://|@import|url\\('"),
		1, "%s", cli_output);
}

Test(race_page, race_that_goes_another_way_is_shown_and_is_1)
{
	cr_assert_eq(
		cli_run("printf 'title t\\nclients A\\n\\nA> GET x => 5\\nverdict nothing broken\\n' >$HERE/o.race;"
			"$REDRACE report -o $HERE/o.html $HERE/o.race; code=$?; grep -c 'expected 5' $HERE/o.html; exit $code"),
		1, "%s", cli_output);
	cr_assert_str_eq(cli_output, "2\n", "in the picture and in the list");
}

Test(race_page, shows_what_is_safe_beside_it)
{
	const char *const parts[] = { "What is safe: incr-loses-nothing",
				      "INCR and DECR read, add and write in one command",
				      "✓ Nothing broken.", NULL };

	play_page("lost-update");
	assert_all(parts);
}

/* What explore finds, and the remedy with the same order of clients: B reads first. */
Test(race_page, search_has_its_failure_and_the_remedy_beside_it)
{
	const char *const parts[] = {
		"<pre class=\"drawn\" tabindex=\"0\">none: 4 of 6 interleavings fail: count (2 threads)</pre>",
		"2 increments, 1 lost.",
		"What is safe: multi-watch",
		"✓ Nothing broken.",
		"incr: safe: all 4 states",
		NULL
	};

	cr_assert_eq(
		cli_run("$REDRACE explore none incr --format html | sed -n '/<main/,/<.main/p'"), 0,
		"%s", cli_output);
	assert_all(parts);
}

/* A fault may mean something else there. */
Test(race_page, fault_has_no_remedy_beside_it)
{
	cr_assert_eq(
		cli_run("$REDRACE explore none --lost-replies 1 --clients 1 --format html >$HERE/f.html;"
			"grep -c '<article' $HERE/f.html; grep -c 'What is safe' $HERE/f.html"),
		1, "%s", cli_output);
	cr_assert_str_eq(cli_output, "1\n0\n");
}

/* What stands beside a race that breaks something breaks nothing. */
Test(race_page, what_is_called_safe_is_safe)
{
	size_t n, n_safe = 0;
	char **names = rr_library_names(&n);
	struct rr_error error = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct rr_race *race = rr_library_open(names[i], &error);
		struct rr_race *safe = NULL;

		cr_assert_not_null(race, "%s", error.text);
		if (race->safe) {
			safe = rr_library_open(race->safe, &error);
			cr_assert_not_null(safe, "%s", error.text);
			cr_assert_str_neq(race->verdicts[0], "nothing broken", "%s", names[i]);
			cr_assert_str_eq(safe->verdicts[0], "nothing broken", "%s", names[i]);
			n_safe++;
		}
		rr_race_free(safe);
		rr_race_free(race);
	}
	rr_files_free_list(names, n);
	cr_assert_gt(n_safe, 10);
}

/* ---- Claims -------------------------------------------------------------- */

Test(race_page, claims_say_what_the_document_says)
{
	const char *const parts[] = { "<strong>1 claim: 1 as recorded (1 true)", "<tr id=\"TL-7\">",
				      "<td class=\"safe\">true</td>", "overrun-delete</td>", NULL };

	cr_assert_eq(cli_run("$REDRACE claims TL-7 --format html | sed -n '/<main/,/<.main/p'"), 0,
		     "%s", cli_output);
	assert_all(parts);
}

/* ---- Results ------------------------------------------------------------- */

Test(race_page, results_have_a_sentence_and_a_table)
{
	const char *const parts[] = { "<strong>2 results: 1 exact, 1 lossy",
				      "<th scope=\"row\">incr</th>", "How it was measured", NULL };

	cr_assert_eq(
		cli_run("$REDRACE bench --increments 5000 --output $HERE/r none incr >/dev/null 2>&1 &&"
			" $REDRACE report $HERE/r | sed -n '/<main/,/<.main/p'"),
		0, "%s", cli_output);
	assert_all(parts);
}

/* Only results that are all exact are good; a lost increment is not, also where it is expected. */
Test(race_page, only_exact_results_are_good)
{
	static const struct {
		const char *rows, *lead;
	} cases[] = {
		{ "exact exact", "lead good\"><strong>✓ 2 results: 2 exact" },
		{ "exact lossy", "lead\"><strong>2 results: 1 exact" },
		{ "lossy", "lead\"><strong>1 result: 0 exact" },
		{ "exact inconclusive", "lead\"><strong>2 results: 1 exact" },
		{ "exact lost-by-fail-over", "lead\"><strong>2 results: 1 exact" },
		{ "exact lossy violated", "lead bad\"><strong>✗ 3 results: 1 exact" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const parts[] = { cases[i].lead, NULL };

		cr_assert_eq(
			cli_runf("mkdir -p $HERE/r && { echo strategy,verdict; for v in %s; do "
				 "echo none,$v; done; } >$HERE/r/summary.csv && "
				 "$REDRACE report $HERE/r | sed -n '/<main/,/<.main/p'",
				 cases[i].rows),
			0, "%s", cli_output);
		assert_all(parts);
	}
}

/* What bench was given may be anything. */
Test(race_page, texts_of_results_show_themselves)
{
	const char *const parts[] = {
		"<th scope=\"row\">&lt;script&gt;|`*x*`_y_</th>", "<td class=\"number\">1,234</td>",
		">re|dis_ &lt;b&gt;</th>\n<td>`k`|*_&lt;i&gt;: **v** | ``` [a](b) &amp;lt;; n: [1,&quot;|&quot;];</td>",
		"<code>redrace bench &lt;/pre&gt; | `x` # y\n</code>", NULL
	};

	cr_assert_eq(
		cli_run("mkdir $HERE/r && cat >$HERE/r/summary.csv <<'EOF'\n"
			"strategy,threads,lost_median,verdict\n<script>|`*x*`_y_,2,1234,violated\nEOF\n"
			"cat >$HERE/r/env.json <<'EOF'\n"
			"{\"command_line\": \"redrace bench </pre> | `x` # y\","
			" \"re|dis_ <b>\": {\"`k`|*_<i>\": \"**v** | ``` [a](b) &lt;\", \"n\": [1, \"|\"]}}\nEOF\n"
			"$REDRACE report -o $HERE/r.html $HERE/r && sed -n '/<main/,/<.main/p' $HERE/r.html"),
		0, "%s", cli_output);
	assert_all(parts);
	if (cli_run("python3 -c 'import xml.dom.minidom'") == 0)
		cr_assert_eq(
			cli_run("python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' $HERE/r.html"),
			0, "%s", cli_output);
}

/* Figures that no integer holds, and a plot that is a link to a file of the user's. */
Test(race_page, results_that_others_wrote_do_no_harm)
{
	const char *const parts[] = { "9.2e19", "-7", "1e400", ">nan</td>", "A drawn plot", NULL };

	cr_assert_eq(
		cli_run("mkdir -p $HERE/r/plots && cat >$HERE/r/summary.csv <<'EOF'\n"
			"strategy,threads,lost_median,increments_per_s_median,increments_per_s_low,increments_per_s_high,lat_p50_ns_median,lat_p99_ns_median,commands_per_increment_median,verdict\n"
			"incr,2,9.2e19,nan,1,9.2e19,-7,9.2e19,1e400,exact\nnone,2,0,1500,1400,2000,7,8,2,lossy\nEOF\n"
			"echo '<svg aria-label=\"Secret\"/>' >$HERE/secret; ln -s $HERE/secret $HERE/r/plots/a.svg;"
			"echo '<svg aria-label=\"A drawn plot\"/>' >$HERE/r/plots/b.svg;"
			"$REDRACE report -o $HERE/r.html $HERE/r && sed -n '/<main/,/<.main/p' $HERE/r.html"),
		0, "%s", cli_output);
	assert_all(parts);
	cr_assert_null(strstr(cli_output, "Secret"), "a link was followed");
}

Test(race_page, says_what_is_no_results_and_no_race)
{
	cli_assert_one_line("$REDRACE report $HERE 2>&1", 64, "summary.csv");
	cli_assert_one_line("$REDRACE report no-such-race 2>&1", 64, "no-such-race");
	cli_assert_one_line("$REDRACE report 2>&1", 64, "report");
	cli_assert_one_line("script -qec \"$REDRACE report lost-update\" /dev/null </dev/null", 64,
			    "-o FILE");
	cli_write("differs.race", "title t\nclients A\nA> SET k 1 => NO\nverdict nothing broken\n");
	cli_assert_one_line("$REDRACE report -o $HERE/d.html $HERE/differs.race 2>&1", 1, "");
	cli_assert_one_line("$REDRACE report -o $HERE/none/x.html lost-update 2>&1", 74, "x.html");
}

/* ---- In a browser -------------------------------------------------------- */

Test(race_page, in_a_browser)
{
	static const char command[] =
		"$REDRACE play lost-update -o $HERE/lost.html &&"
		" $REDRACE play redlock-split-vote -o $HERE/wide.html &&"
		" $REDRACE matrix --hazard threads --hazard crash -o $HERE/matrix.html none incr >/dev/null &&"
		" $REDRACE bench --increments 5000 --output $HERE/r none incr >/dev/null 2>&1 &&"
		" { ! command -v gnuplot >/dev/null || sh plots/draw $HERE/r >/dev/null; } &&"
		" $REDRACE report -o $HERE/report.html $HERE/r lost-update overrun-delete &&"
		" $REDRACE claims TL-7,TL-16 -o $HERE/claims.html >/dev/null &&"
		" { command -v node >/dev/null || { echo 'no node'; exit 77; }; } &&"
		" node tests/report/race.js $HERE/lost.html $HERE/matrix.html $HERE/report.html $HERE/wide.html $HERE/claims.html";
	const int code = cli_run(command);

	if (code == 77)
		cli_skip("%s", cli_output);
	cr_assert_eq(code, 0, "%s", cli_output);
}
