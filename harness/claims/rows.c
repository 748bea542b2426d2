/* SPDX-License-Identifier: MIT */
/* The claims and what became of them, for terminals, as docs/claims.md, as a page of HTML, and
 * as cases for other programs. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "claims.h"
#include "draw/draw.h"

static const char *const standing_names[RR_STANDINGS] = {
	[RR_STANDS] = "stands",
	[RR_DIFFERS] = "differs",
	[RR_NOT_AS_WRITTEN] = "not as written",
	[RR_NOT_SHOWN] = "not shown",
	[RR_NOT_PLAYED] = "failed",
	[RR_OPEN] = "open",
	[RR_SKIPPED] = "skipped",
	[RR_UNFINISHED] = "not finished",
};

/* How true those are that are as they are recorded: "70 true, 21 false". */
static void print_verdicts(const struct rr_claim_rows *rows, FILE *file)
{
	const char *between = " (";

	for (int verdict = 0; verdict < RR_CLAIM_VERDICTS; verdict++) {
		size_t n = 0;

		for (size_t i = 0; i < rows->n; i++)
			n += rows->rows[i].standing == RR_STANDS &&
			     (int)rows->rows[i].recorded == verdict;
		if (n == 0)
			continue;
		fprintf(file, "%s%zu %s", between, n,
			verdict == RR_CLAIM_TRUE_IF ? "true under a condition" :
						      rr_claim_verdict_name(verdict));
		between = ", ";
	}
	fputc(')', file);
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
			i == RR_STANDS ? "as recorded" : standing_names[i]);
		if (i == RR_STANDS)
			print_verdicts(rows, file);
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
		fprintf(file, " on %s", rows->version);
}

/* ---- For terminals ------------------------------------------------------------------ */

enum { ROW_COLUMN = 7 };

/* A line, or several, of "SIGN TEXT", below a claim's name. */
static void print_part(FILE *file, const char *sign, const char *text)
{
	const size_t column = ROW_COLUMN + strlen(sign);

	fprintf(file, "%*s%s", ROW_COLUMN, "", sign);
	rr_print_wrapped(file, text, column, column);
}

void rr_claims_text(const struct rr_claim_rows *rows, FILE *file)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct rr_claim_row *row = &rows->rows[i];

		if (row->section)
			fprintf(file, "%s%s\n\n", i ? "\n" : "", row->section);

		char *where = rr_asprintf("%s: %s", row->where, row->verdict);
		char *problem = rr_asprintf("%s: %s", standing_names[row->standing], row->problem);

		fprintf(file, "%-6s ", row->claim->id);
		rr_print_wrapped(file, row->claim->text, ROW_COLUMN, ROW_COLUMN);
		print_part(file, "", where);
		if (row->races[0])
			print_part(file, "", row->races);
		if (row->observed[0])
			print_part(file, "> ", row->observed);
		if (row->problem[0])
			print_part(file, "", problem);
		free(where);
		free(problem);
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

/* Each part of a list, "A, B", as a link to BEFORE, so much of it, AFTER. What
 * begins otherwise than `begin` says stays as it is. */
static void print_links(FILE *file, const char *list, const char *begin, const char *before,
			int length, const char *after)
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

static void print_sections(const struct rr_claim_rows *rows, bool is_page, FILE *file)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct rr_claim_row *row = &rows->rows[i];

		if (row->section || (is_page && i == 0))
			fprintf(file,
				"\n## %s\n\n| id | claim | document | verdict | observed | races |\n|---|---|---|---|---|---|\n",
				row->section ? row->section : "Claims");

		/* On a page of its own, without HTML, a row is found by the link to itself; and
		 * a verdict that was not found again is only the recorded one. */
		const char *id = row->claim->id;

		fprintf(file, is_page ? "| [%s](#%s) |" : "| <a id=\"%s\"></a>%s |", id, id);
		rr_markdown_print(file, " %s |", row->claim->text);
		print_links(file, row->where, "0123456789", "documents.md#document-", 3, "");
		rr_markdown_print(
			file, is_page && row->standing != RR_STANDS ? " recorded: %s | " : " %s | ",
			row->verdict);
		rr_markdown_text(file, row->observed);
		if (row->problem[0])
			rr_markdown_print(file, "%s%s", row->observed[0] ? "; " : "", row->problem);
		fputs(" |", file);
		print_links(file, row->races, letters, "../scenarios/races/", 0, ".race");
		fputc('\n', file);
	}
}

void rr_claims_markdown(const struct rr_claim_rows *rows, FILE *file)
{
	fputs(intro, file);
	print_sections(rows, false, file);
	sign_rows(rows, file);
	fputs(".\n", file);
}

/* ---- A page: the same with what came of it first ----------------------------------------- */

void rr_claims_html_part(const struct rr_claim_rows *rows, struct rr_markdown how, FILE *file)
{
	static const char *const classes[][2] = {
		{ ">true</td>", "safe" }, { ">false</td>", "breaks" },
		{ ">true if ", "open" },  { ">incomplete", "open" },
		{ ">outdated", "open" },  { ">recorded: ", "open" },
		{ NULL, NULL },
	};
	char *text;
	FILE *markdown = rr_open_text(&text);

	fprintf(markdown, "%s\n**", intro);
	rr_claim_rows_summarise(rows, markdown);
	rr_markdown_print(markdown, "%s%s.**\n", rows->version[0] ? ", on " : "", rows->version);
	print_sections(rows, true, markdown);
	fclose(markdown);
	how.table = "words claims";
	how.classes = classes;
	rr_markdown_print_html(file, text, &how);
}

static char *find_nothing(void *context, const char *target)
{
	(void)context;
	(void)target;
	return NULL;
}

void rr_claims_html(const struct rr_claim_rows *rows, FILE *file)
{
	rr_page_begin(file, "What the documents claim", NULL);
	rr_claims_html_part(rows, (struct rr_markdown){ .find_target = find_nothing }, file);
	rr_page_end(file, NULL);
}

/* ---- For other programs ----------------------------------------------------------------- */

const char *rr_claim_case_name(const struct rr_claim *claim, char name[RR_CLAIM_CASE])
{
	snprintf(name, RR_CLAIM_CASE, "%s: %s", claim->id, claim->text);
	return name;
}

void rr_claim_rows_as_cases(const struct rr_claim_rows *rows, struct rr_cases *cases)
{
	static const enum rr_case_verdict verdicts[RR_STANDINGS] = {
		[RR_STANDS] = RR_CASE_PASSED,         [RR_DIFFERS] = RR_CASE_FAILED,
		[RR_NOT_AS_WRITTEN] = RR_CASE_FAILED, [RR_NOT_SHOWN] = RR_CASE_FAILED,
		[RR_NOT_PLAYED] = RR_CASE_ERROR,      [RR_OPEN] = RR_CASE_SKIPPED, /* this time */
		[RR_SKIPPED] = RR_CASE_SKIPPED,       [RR_UNFINISHED] = RR_CASE_INCONCLUSIVE,
	};

	rr_cases_init(cases, "redrace claims");
	rr_cases_note_server(cases, rows->version);
	for (size_t i = 0; i < rows->n; i++) {
		const struct rr_claim_row *row = &rows->rows[i];
		const struct rr_claim *claim = row->claim;
		char name[RR_CLAIM_CASE], message[1600], races[1200];
		FILE *out = rr_open_fixed(message, sizeof(message));

		/* "true, as recorded", "differs: recorded false, found true". */
		if (row->standing == RR_STANDS)
			fprintf(out, "%s, as recorded", row->verdict);
		else if (row->standing == RR_OPEN || row->standing == RR_SKIPPED)
			fputs(row->problem, out);
		else
			fprintf(out, "%s: %s", standing_names[row->standing], row->problem);
		fclose(out);
		snprintf(races, sizeof(races), "%s%s\nobserved: %s",
			 row->races[0] ? "races: " : "measured, not played", row->races,
			 row->observed);
		rr_cases_add(
			cases,
			&(struct rr_case){
				.suite = "claims",
				.name = rr_claim_case_name(claim, name),
				.verdict = verdicts[row->standing],
				.seconds = row->seconds,
				.message = message,
				.details = row->standing == RR_STANDS ? NULL : races,
				.properties = json_pack(
					"{s:s, s:b, s:s, s:s, s:b, s:s, s:s?, s:s?, s:s, s:i, s:o, s:s}",
					"id", claim->id, "is_measured", claim->measure != 0,
					"claim", claim->text, "document", claim->where, "derived",
					(int)claim->derived, "recorded",
					rr_claim_verdict_name(row->recorded), "remark",
					claim->remark, "computed",
					row->is_computed ? rr_claim_verdict_name(row->computed) :
							   NULL,
					"standing", standing_names[row->standing], "exit_code",
					(int)row->code, "observed", rr_case_text(row->observed),
					"races", row->races),
			});
	}
}
