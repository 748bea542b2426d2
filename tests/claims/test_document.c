/* SPDX-License-Identifier: MIT */
/* docs/claims.md is what `make claims-doc` would write, but for what was
 * observed; and every claim stands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "claims/claims.h"

enum { OBSERVED = 5 }; /* the cell that differs from run to run */

/* The document as of no race played; malloc'd. */
static char *write_unplayed(void)
{
	const struct rr_claims_choice all = { 0 };
	struct rr_error error = { 0 };
	struct rr_claim_rows rows;
	struct rr_jobs jobs;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	cr_assert(rr_jobs_collect(&jobs, "redis-server", &all, &error));
	rr_judge(&rows, &jobs, &all);
	rr_claims_markdown(&rows, file);
	fclose(file);
	rr_claim_rows_free(&rows);
	rr_jobs_free(&jobs);
	return text;
}

static char *read_document(void)
{
	char *text = calloc(1, 1 << 20);
	FILE *file = fopen("docs/claims.md", "r");

	cr_assert_not_null(file, "docs/claims.md is missing: make claims-doc");
	cr_assert_gt(fread(text, 1, (1 << 20) - 1, file), 0);
	fclose(file);
	return text;
}

/* Takes a row's cell of what was observed away; other lines stay. */
static void forget_observed(char *line)
{
	char *begin = line, *end;

	if (line[0] != '|')
		return;
	for (int i = 1; begin && i < OBSERVED; i++)
		begin = strstr(begin + 1, " | ");
	end = begin ? strstr(begin + 1, " | ") : NULL;
	cr_assert_not_null(end, "not six cells: %s", line);
	memmove(begin, end, strlen(end) + 1);
}

/* Lines up to the last one, which counts what stands. */
static void compare(char *actual, char *expected)
{
	char *rest_a, *rest_e;
	char *a = strtok_r(actual, "\n", &rest_a);
	char *e = strtok_r(expected, "\n", &rest_e);

	for (; a && e; a = strtok_r(NULL, "\n", &rest_a), e = strtok_r(NULL, "\n", &rest_e)) {
		if (strncmp(e, "132 claims:", 11) == 0)
			break;
		if (strstr(e, " | ") && !strstr(e, "| id |")) {
			forget_observed(a);
			forget_observed(e);
		}
		cr_assert_str_eq(a, e, "docs/claims.md is old: make claims-doc");
	}
	cr_assert(a && e, "docs/claims.md is old: make claims-doc");
}

Test(claims_document, is_up_to_date)
{
	char *expected = write_unplayed();
	char *actual = read_document();

	compare(actual, expected);
	free(actual);
	free(expected);
}

TestSuite(claims_all, .init = cli_setup, .fini = cli_teardown);

Test(claims_all, stand)
{
	const int code = cli_run(
		"$REDRACE claims >$HERE/out 2>&1; C=$?; grep -B 4 -E '^       (differs|not as written|not shown|failed|not finished): ' $HERE/out; exit $C");

	cr_assert_eq(code, 0, "%s", cli_output);
}
