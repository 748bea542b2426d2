/* SPDX-License-Identifier: MIT */
/* The claims and what became of them, for terminals, as docs/claims.md, and for
 * other programs: JSON, JUnit's XML, the Test Anything Protocol. */
#include <jansson.h>
#include <string.h>

#include "claims.h"

static const char *const standing_names[RR_STANDINGS] = {
	[RR_STANDS] = "stands",
	[RR_DIFFERS] = "differs",
	[RR_NOT_AS_WRITTEN] = "not as written",
	[RR_NOT_SHOWN] = "not shown",
	[RR_FAILED] = "failed",
	[RR_OPEN] = "open",
	[RR_SKIPPED] = "skipped",
	[RR_UNFINISHED] = "not finished",
};

/* Nothing was found out, and nothing is wrong. */
static bool is_left_out(const struct rr_claim_row *row)
{
	return row->standing == RR_SKIPPED || row->standing == RR_OPEN ||
	       row->standing == RR_UNFINISHED;
}

void rr_claim_rows_summarise(const struct rr_claim_rows *rows, FILE *file)
{
	const char *between = ":";

	fprintf(file, "%zu %s", rows->n, rows->n == 1 ? "claim" : "claims");
	for (int i = 0; i < RR_STANDINGS; i++) {
		const size_t n = rows->counts[i];

		if (n == 0)
			continue;
		fprintf(file, "%s %zu %s", between, n,
			i == RR_STANDS && n > 1 ? "stand" : standing_names[i]);
		between = ",";
	}
	if (rows->n == 0)
		fputs(between, file);
}

static void sign_rows(const struct rr_claim_rows *rows, FILE *file)
{
	fputc('\n', file);
	rr_claim_rows_summarise(rows, file);
	if (rows->version[0])
		fprintf(file, " on Redis %s", rows->version);
}

/* ---- Escapes ------------------------------------------------------------------------ */

/* What is printed instead of some characters. */
struct escapes {
	const char *special;
	const char *const *instead;
	bool is_plain; /* a ? instead of all that is not printable ASCII */
};

/* Nothing of a text must end its cell, or be taken for HTML. */
static const struct escapes markdown = {
	.special = "|<*_`\\",
	.instead = (const char *const[]){ "\\|", "\\<", "\\*", "\\_", "\\`",
					  "\\\\" },
};

/* Text or an attribute. */
static const struct escapes xml = {
	.special = "&<>\"",
	.instead = (const char *const[]){ "&amp;", "&lt;", "&gt;", "&quot;" },
	.is_plain = true,
};

/* A # would begin a directive. */
static const struct escapes tap = {
	.special = "#\n",
	.instead = (const char *const[]){ " ", " " },
};

static void print_escaped(FILE *file, const struct escapes *escapes,
			  const char *text)
{
	for (; *text; text++) {
		const char *found = strchr(escapes->special, *text);

		if (found)
			fputs(escapes->instead[found - escapes->special], file);
		else if (escapes->is_plain && (*text < 32 || *text > 126))
			fputc('?', file);
		else
			fputc(*text, file);
	}
}

/* ---- For terminals ------------------------------------------------------------------ */

static void print_row(const struct rr_claim_row *row, FILE *file)
{
	fprintf(file, "%-6s %s\n", row->claim->id, row->claim->text);
	fprintf(file, "       %s: %s\n", row->where, row->verdict);
	if (row->races[0])
		fprintf(file, "       %s\n", row->races);
	if (row->observed[0])
		fprintf(file, "       > %s\n", row->observed);
	if (row->problem[0])
		fprintf(file, "       %s: %s\n", standing_names[row->standing],
			row->problem);
}

void rr_claims_text(const struct rr_claim_rows *rows, FILE *file)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct rr_claim_row *row = &rows->rows[i];

		if (row->section)
			fprintf(file, "%s%s\n\n", i ? "\n" : "", row->section);
		print_row(row, file);
	}
	sign_rows(rows, file);
	fputc('\n', file);
}

/* ---- Markdown ------------------------------------------------------------------------- */

static const char intro[] =
	"# What the documents claim, and what is true of it\n\n"
	"`redrace claims` plays every race named here on real servers, measures what is\n"
	"left to chance, and prints this. A verdict is computed: a claim is true if all that\n"
	"its races say of it holds, false if nothing does, true under a condition if some does,\n"
	"and incomplete if the document says nothing about what is shown. `000:3-9` is lines 3\n"
	"to 9 of document 000, which [documents.md](documents.md) describes with the others;\n"
	"derived claims are only implied there. Figures vary from run to run.\n"
	"`redrace play RACE` shows a race step by step.\n";

static void print_cell(FILE *file, const char *text)
{
	fputc(' ', file);
	print_escaped(file, &markdown, text);
	fputs(" |", file);
}

/* Each part of a list, "A, B", as a link to BEFORE, so much of it, AFTER. What
 * begins otherwise than `begin` says stays as it is. */
static void print_links(FILE *file, const char *list, const char *begin,
			const char *before, int length, const char *after)
{
	fputc(' ', file);
	while (*list) {
		const int part = (int)strcspn(list, ", ");

		if (strchr(begin, list[0]))
			fprintf(file, "[%.*s](%s%.*s%s)", part, list, before,
				length ? length : part, list, after);
		else
			fprintf(file, "%.*s", part, list);
		list += part;
		for (; *list && strchr(", ", *list); list++)
			fputc(*list, file);
	}
	fputs(" |", file);
}

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

static void print_markdown_row(const struct rr_claim_row *row, FILE *file)
{
	char observed[2000];

	snprintf(observed, sizeof(observed), "%s%s%s", row->observed,
		 row->observed[0] && row->problem[0] ? "; " : "",
		 row->problem);
	fputc('|', file);
	fprintf(file, " <a id=\"%s\"></a>%s |", row->claim->id,
		row->claim->id);
	print_cell(file, row->claim->text);
	print_links(file, row->where, "0123456789", "documents.md#document-", 3,
		    "");
	print_cell(file, row->verdict);
	print_cell(file, observed);
	print_links(file, row->races, letters, "../scenarios/races/", 0,
		    ".race");
	fputc('\n', file);
}

void rr_claims_markdown(const struct rr_claim_rows *rows, FILE *file)
{
	fputs(intro, file);
	for (size_t i = 0; i < rows->n; i++) {
		const struct rr_claim_row *row = &rows->rows[i];

		if (row->section)
			fprintf(file,
				"\n## %s\n\n| id | claim | document | verdict | observed | races |\n|---|---|---|---|---|---|\n",
				row->section);
		print_markdown_row(row, file);
	}
	sign_rows(rows, file);
	fputs(".\n", file);
}

/* ---- JSON ------------------------------------------------------------------------------ */

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *row_as_json(const struct rr_claim_row *row)
{
	const struct rr_claim *claim = row->claim;
	const char *computed =
		row->is_computed ? rr_claim_verdict_name(row->computed) : NULL;

	return json_pack(
		"{s:s, s:s, s:s, s:b, s:s, s:o, s:o, s:s, s:i, s:s, s:s, s:s}",
		"id", claim->id,
		"claim", claim->text,
		"document", claim->where,
		"derived", (int)claim->derived,
		"verdict", rr_claim_verdict_name(claim->verdict),
		"remark", text_or_null(claim->remark),
		"computed", text_or_null(computed),
		"standing", standing_names[row->standing],
		"exit_code", (int)row->code,
		"observed", row->observed,
		"races", row->races,
		"problem", row->problem);
}

void rr_claims_json(const struct rr_claim_rows *rows, FILE *file)
{
	json_t *claims = json_array();
	json_t *root;

	for (size_t i = 0; i < rows->n; i++)
		json_array_append_new(claims, row_as_json(&rows->rows[i]));
	root = json_pack("{s:s, s:o}", "redis_version", rows->version,
			 "claims", claims);
	json_dumpf(root, file, JSON_INDENT(2));
	fputc('\n', file);
	json_decref(root);
}

/* ---- JUnit ------------------------------------------------------------------------------- */

static void print_case(const struct rr_claim_row *row, FILE *file)
{
	const char *tag = row->standing == RR_FAILED ? "error" :
			  is_left_out(row)	     ? "skipped" :
						       "failure";

	fprintf(file, "  <testcase classname=\"claims\" name=\"");
	print_escaped(file, &xml, row->claim->id);
	fputs(": ", file);
	print_escaped(file, &xml, row->claim->text);
	fputs("\">\n", file);
	if (row->standing != RR_STANDS) {
		fprintf(file, "    <%s message=\"", tag);
		print_escaped(file, &xml, row->problem);
		fputs("\"/>\n", file);
	}
	fputs("    <system-out>", file);
	print_escaped(file, &xml, row->observed);
	fputs("</system-out>\n  </testcase>\n", file);
}

void rr_claims_junit(const struct rr_claim_rows *rows, FILE *file)
{
	const size_t *counts = rows->counts;
	const size_t skipped = counts[RR_SKIPPED] + counts[RR_OPEN] +
			       counts[RR_UNFINISHED];

	fprintf(file,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuite name=\"redrace claims\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
		rows->n,
		rows->n - counts[RR_STANDS] - skipped - counts[RR_FAILED],
		counts[RR_FAILED], skipped);
	for (size_t i = 0; i < rows->n; i++)
		print_case(&rows->rows[i], file);
	fprintf(file, "</testsuite>\n");
}

/* ---- TAP ----------------------------------------------------------------------------------- */

static void print_test(const struct rr_claim_row *row, size_t number,
		       FILE *file)
{
	const bool fine = row->standing == RR_STANDS || is_left_out(row);

	fprintf(file, "%sok %zu - ", fine ? "" : "not ", number);
	print_escaped(file, &tap, row->claim->id);
	fputs(": ", file);
	print_escaped(file, &tap, row->claim->text);
	if (row->standing != RR_STANDS) {
		fputs(fine ? " # SKIP " : "\n# ", file);
		print_escaped(file, &tap, row->problem);
	}
	fputc('\n', file);
}

void rr_claims_tap(const struct rr_claim_rows *rows, FILE *file)
{
	fprintf(file, "TAP version 13\n1..%zu\n", rows->n);
	for (size_t i = 0; i < rows->n; i++)
		print_test(&rows->rows[i], i + 1, file);
}
