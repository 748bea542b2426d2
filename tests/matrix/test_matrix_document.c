/* SPDX-License-Identifier: MIT */
/* What `make matrix` has written belongs together. */
#include <stdlib.h>

#include "../cli.h"

TestSuite(matrix_document, .init = cli_setup, .fini = cli_teardown);

Test(matrix_document, readme_shows_rows_of_it)
{
	cr_assert_eq(cli_run("sh docs/excerpt >$HERE/readme && cmp README.md $HERE/readme 2>&1"), 0,
		     "README.md is old: make matrix: %s", cli_output);
	cr_assert_eq(
		cli_run("sed -n '/^<!-- matrix -->/,/^<!-- .matrix -->/p' README.md | grep -c '^| \\['"),
		0);
	cr_assert_gt(atoi(cli_output), 8, "%s", cli_output);
}

Test(matrix_document, has_a_row_for_each_strategy)
{
	cr_assert_eq(
		cli_run("$REDRACE list --format markdown | sed -n 's/^| \\[\\(`[^`]*`\\).*/\\1/p' | sort >$HERE/names; sed -n '/^| strategy | threads/,/^$/s/^| \\[\\(`[^`]*`\\).*/\\1/p' docs/matrix.md | sort | diff $HERE/names - 2>&1"),
		0, "docs/matrix.md is old: make matrix: %s", cli_output);
}

Test(matrix_document, links_all_transcripts_and_no_others)
{
	cr_assert_eq(
		cli_run("grep -o '](matrix/[^)]*' docs/matrix.md | sed 's/](matrix.//' | sort -u >$HERE/linked; ls docs/matrix | sort | diff $HERE/linked - 2>&1"),
		0, "docs/matrix.md is old: make matrix: %s", cli_output);
}

Test(matrix_document, transcripts_play_as_written)
{
	cr_assert_eq(cli_run("$REDRACE matrix --replay docs/matrix 2>&1"), 0, "%s", cli_output);
}
