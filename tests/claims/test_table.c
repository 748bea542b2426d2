/* SPDX-License-Identifier: MIT */
/* The table of claims: complete, and said in a line. */
#include <ctype.h>
#include <string.h>

#include "../cli.h"
#include "claim.h"
#include "race/race.h"
#include "strategy.h"

Test(claims_table, has_every_claim_once)
{
	const struct rr_claim *claim;
	size_t n;

	for (n = 0; (claim = rr_claim_at(n)); n++)
		cr_expect_eq(rr_claim_find(claim->id), claim, "%s is there twice", claim->id);
	cr_assert_eq(n, 132, "%zu claims", n);
	cr_assert_null(rr_claim_find("TL-99"));
	cr_assert_null(rr_claim_at(n + 7));
}

Test(claims_table, says_under_which_condition)
{
	const struct rr_claim *claim;

	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		const bool needs = claim->verdict != RR_CLAIM_TRUE &&
				   claim->verdict != RR_CLAIM_FALSE;

		cr_expect_eq(needs, claim->remark != NULL, "%s", claim->id);
	}
}

Test(claims_table, is_short_and_plain)
{
	const struct rr_claim *claim;

	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		const size_t length = strlen(claim->text);

		cr_expect(length > 20 && length < 100, "%s: %zu characters", claim->id, length);
		cr_expect_neq(claim->text[length - 1], '.', "%s", claim->id);
		cr_expect(strncmp(claim->where, "00", 2) == 0 ||
				  strcmp(claim->where, "not discussed") == 0,
			  "%s: %s", claim->id, claim->where);
	}
}

Test(claims_table, takes_each_measurement_for_one_claim)
{
	size_t uses[RR_MEASURES] = { 0 };
	const struct rr_claim *claim;

	for (size_t i = 0; (claim = rr_claim_at(i)); i++)
		uses[claim->measure]++;
	for (int i = 1; i < RR_MEASURES; i++)
		cr_expect_eq(uses[i], 1, "measurement %d: %zu claims", i, uses[i]);
}

TestSuite(citations, .init = cli_setup, .fini = cli_teardown);

/* Each line of what the command prints ends in a name that exists. */
static void assert_exist(const char *command, bool (*exists)(const char *name))
{
	size_t n = 0;

	cr_assert_eq(cli_run(command), 0, "%s", cli_output);
	for (char *rest = cli_output, *line; (line = strtok_r(rest, "\n", &rest)); n++)
		cr_expect(exists(strrchr(line, ' ') + 1), "%s: there is none", line);
	cr_assert_gt(n, 20, "only %zu: %s", n, command);
}

static bool is_claim(const char *id)
{
	return rr_claim_find(id) != NULL;
}

static bool is_playable(const char *name)
{
	return rr_library_has(name) || rr_strategy_find(name);
}

Test(citations, name_claims_that_exist)
{
	assert_exist("grep -rowE '(AT|CC|CK|GS|IN|LM|LU|PF|PL|QF|RL|SC|SX|TL|TX|WA)-[0-9]+'"
		     " --include='*.c' --include='*.h' --include='*.race' scenarios |"
		     " sed 's/:/ /g'",
		     is_claim);
	assert_exist("grep -owE '(AT|CC|CK|GS|IN|LM|LU|PF|PL|QF|RL|SC|SX|TL|TX|WA)-[0-9]+'"
		     " README*.md docs/*.md | sed 's/:/ /g'",
		     is_claim);
}

Test(citations, name_races_that_exist)
{
	assert_exist("grep -oE 'races/[a-z0-9-]+\\.race' README*.md docs/*.md scenarios/*.[ch] |"
		     " sed 's,:races/, ,; s/\\.race$//'",
		     is_playable);
	assert_exist("grep -ohE 'redrace play( --step| --interactive)? [a-z][a-z0-9-]+'"
		     " README*.md docs/*.md | grep -v ' docs$'", /* a path */
		     is_playable);
}
