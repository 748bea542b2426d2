/* SPDX-License-Identifier: MIT */
/* docs/documents.md: its links lead to claims that there are, and each
 * document's section names every claim of it that is not simply true. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"

static const char link_begin[] = "claims.md#";

static char *read_documents_page(void)
{
	char *text = calloc(1, 1 << 16);
	FILE *file = fopen("docs/documents.md", "r");

	cr_assert_not_null(file, "docs/documents.md is missing");
	cr_assert_gt(fread(text, 1, (1 << 16) - 1, file), 0);
	fclose(file);
	return text;
}

/* The section of document 00N; malloc'd. */
static char *cut_section(const char *page, int document)
{
	char anchor[40];
	const char *begin, *end;

	snprintf(anchor, sizeof(anchor), "<a id=\"document-%03d\"></a>\n## ", document);
	begin = strstr(page, anchor);
	cr_assert_not_null(begin, "no %s", anchor);
	begin += strlen(anchor);
	end = strstr(begin, "\n## ");
	cr_assert_not_null(end);
	return strndup(begin, (size_t)(end - begin));
}

Test(documents_page, links_to_claims_that_there_are)
{
	char *page = read_documents_page();
	int n = 0;

	for (const char *at = page; (at = strstr(at, link_begin)); n++) {
		char id[20] = "";

		at += strlen(link_begin);
		sscanf(at, "%19[A-Za-z0-9-]", id);
		cr_expect_not_null(rr_claim_find(id), "there is no claim %s", id);
	}
	cr_assert_gt(n, 50);
	free(page);
}

Test(documents_page, names_whatever_is_not_simply_true)
{
	char *page = read_documents_page();
	const struct rr_claim *claim;

	for (int document = 0; document < 5; document++) {
		char *section = cut_section(page, document);

		for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
			char where[8], link[40];

			snprintf(where, sizeof(where), "%03d:", document);
			snprintf(link, sizeof(link), "[%s](%s%s)", claim->id, link_begin,
				 claim->id);
			if (claim->verdict == RR_CLAIM_TRUE || !strstr(claim->where, where))
				continue;
			cr_expect_not_null(strstr(section, link),
					   "document %03d says nothing of %s", document, claim->id);
		}
		free(section);
	}
	free(page);
}
