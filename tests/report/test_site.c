/* SPDX-License-Identifier: MIT */
/* The site: each page is there, each link leads somewhere, and all of it is for a reader
 * without a network. */
#include <stdlib.h>
#include <string.h>

#include "../cli.h"

TestSuite(site, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* One race, its claims and back, one failing cell; all documents and the game. */
Test(site, every_link_leads_somewhere)
{
	if (cli_run("command -v python3") != 0)
		cli_skip("no python3");
	/* All is written, though nobody is told. */
	cr_assert_eq(
		cli_run("$REDRACE site -o $HERE/site lost-update overrun-delete none 2>&1 >/dev/full"),
		RR_EXIT_FILE, "%s", cli_output);
	cli_assert_names("redrace: ");
	cr_assert_eq(cli_run("tests/report/links $HERE/site"), 0, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, " 0 wrong"), "%s", cli_output);
	cr_assert_eq(
		cli_run("cd $HERE/site && grep -q 'href=\"races/lost-update.html\"' claims.html races.html by-document.html && "
			"grep -q 'href=\"../claims.html#LU-1\"' races/lost-update.html && "
			"grep -q 'href=\"matrix/none-threads.html\"' matrix.html && "
			"grep -q '<article class=\"race\"' matrix/none-threads.html && "
			"grep -q '<h4 id=\"acl-0411\">' docs/found.html && ! grep '`' lessons.html && "
			"! grep -l 'href=\"races/del-takeover.html\"' *.html"),
		0, "%s", cli_output);
	cr_assert_eq(
		cli_run("ln -s $PWD/tests/report/links $HERE/links; echo '<a href=\"none.html\">x</a>' >>$HERE/site/index.html;"
			" $HERE/links $HERE/site"),
		1, "a link that leads nowhere is noticed");
}

/* A race to step through, the plot and the first findings, before the ways on; every page has one
 * header, which can be skipped. */
Test(site, the_first_page_shows_what_it_is_about)
{
	cr_assert_eq(cli_run("$REDRACE site -o $HERE/site overrun-delete none"), 0, "%s",
		     cli_output);
	cr_assert_eq(
		cli_run("cd $HERE/site && grep -q '<article class=\"race\"' index.html && "
			"grep -q 'data-go=\"next\"' index.html && grep -q 'class=\"plotted\"' index.html && "
			"[ $(grep -c 'href=\"docs/found.html#' index.html) = 3 ] && "
			"[ $(grep -c 'class=\"cards\"' index.html) = 1 ]"),
		0);
	cr_assert_eq(
		cli_run("cd $HERE/site && for page in *.html docs/*.html races/*.html; do "
			"[ $(grep -o '<header' $page | wc -l) = 1 ] && "
			"grep -q 'class=\"skip\" href=\"#main\"' $page && grep -q '<main id=\"main\"' $page || "
			"{ echo $page; exit 1; }; done"),
		0, "%s", cli_output);
}

/* A page of each kind. */
Test(site, in_a_browser)
{
	int code;

	cr_assert_eq(cli_run("$REDRACE site -o $HERE/site lost-update none"), 0, "%s", cli_output);
	cr_assert_eq(cli_run("grep '1 race; ' $HERE/site/index.html"), 0);
	code = cli_run(
		"node tests/report/site.js $HERE/site index.html races.html "
		"races/lost-update.html by-document.html matrix.html matrix/none-threads.html "
		"claims.html docs/found.html docs/check.html docs/teaching.zh.html "
		"source/examples-check-counter.py.html plots.html lessons.html game.html 2>&1");
	if (code == 77)
		cli_skip("%s", cli_output);
	cr_assert_eq(code, 0, "%s", cli_output);
}

Test(site, says_what_it_cannot_do)
{
	cli_assert_one_line("$REDRACE site 2>&1", 64, "-o DIR");
	cli_assert_one_line("$REDRACE site -o $HERE/s no-such-race 2>&1", 64, "no-such-race");
	cli_assert_one_line("$REDRACE site -o /proc/none/s lost-update 2>&1", 74, "/proc/none");
}
