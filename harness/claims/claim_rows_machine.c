/* SPDX-License-Identifier: MIT */
/* For other programs: JSON, JUnit's XML, the Test Anything Protocol. */
#include "claim_rows.h"

#include <jansson.h>
#include <string.h>

/* Only these are done, and well. */
static bool is_good(const struct rr_claim_row *row)
{
	return row->standing == RR_STANDS;
}

/* Nothing was found out, and nothing is wrong. */
static bool is_left_out(const struct rr_claim_row *row)
{
	return row->standing == RR_SKIPPED || row->standing == RR_OPEN ||
	       row->standing == RR_UNFINISHED;
}

/* ---- JSON -------------------------------------------------------------------------- */

static json_t *text_of(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *row_of(const struct rr_claim_row *row)
{
	const struct rr_claim *claim = row->claim;

	return json_pack(
		"{s:s, s:s, s:s, s:b, s:s, s:o, s:o, s:s, s:i, s:s, s:s, s:s}",
		"id", claim->id, "claim", claim->text, "document",
		claim->where, "derived", (int)claim->derived, "verdict",
		rr_claim_verdict_name(claim->verdict), "remark",
		text_of(claim->remark), "computed",
		row->is_computed ?
			json_string(rr_claim_verdict_name(row->computed)) :
			json_null(),
		"standing", rr_standing_name(row->standing), "exit_code",
		(int)row->code, "observed", row->observed, "races", row->races,
		"problem", row->problem);
}

void rr_claim_rows_json(const struct rr_claim_rows *rows, FILE *file)
{
	json_t *claims = json_array();
	json_t *root;

	for (size_t i = 0; i < rows->n; i++)
		json_array_append_new(claims, row_of(&rows->rows[i]));
	root = json_pack("{s:s, s:o}", "redis_version", rows->version,
			 "claims", claims);
	json_dumpf(root, file, JSON_INDENT(2));
	fputc('\n', file);
	json_decref(root);
}

/* ---- JUnit ---------------------------------------------------------------------------- */

/* Text or an attribute; what XML cannot hold becomes a question mark. */
static void print_xml(FILE *file, const char *text)
{
	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if (c == '&')
			fputs("&amp;", file);
		else if (c == '<')
			fputs("&lt;", file);
		else if (c == '>')
			fputs("&gt;", file);
		else if (c == '"')
			fputs("&quot;", file);
		else
			fputc(c < 32 || c > 126 ? '?' : c, file);
	}
}

static void print_case(const struct rr_claim_row *row, FILE *file)
{
	const char *tag = row->standing == RR_FAILED ? "error" :
			  is_left_out(row)	     ? "skipped" :
						       "failure";

	fprintf(file, "  <testcase classname=\"claims\" name=\"");
	print_xml(file, row->claim->id);
	fputs(": ", file);
	print_xml(file, row->claim->text);
	fputs("\">\n", file);
	if (!is_good(row)) {
		fprintf(file, "    <%s message=\"", tag);
		print_xml(file, row->problem);
		fputs("\"/>\n", file);
	}
	fputs("    <system-out>", file);
	print_xml(file, row->observed);
	fputs("</system-out>\n  </testcase>\n", file);
}

void rr_claim_rows_junit(const struct rr_claim_rows *rows, FILE *file)
{
	const size_t errors = rr_claim_rows_count(rows, RR_FAILED);
	size_t skipped = 0, good = 0;

	for (size_t i = 0; i < rows->n; i++) {
		skipped += is_left_out(&rows->rows[i]);
		good += is_good(&rows->rows[i]);
	}
	fprintf(file,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuite name=\"redrace claims\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
		rows->n, rows->n - good - skipped - errors, errors, skipped);
	for (size_t i = 0; i < rows->n; i++)
		print_case(&rows->rows[i], file);
	fprintf(file, "</testsuite>\n");
}

/* ---- TAP --------------------------------------------------------------------------------- */

/* A # would begin a directive. */
static void print_tap(FILE *file, const char *text)
{
	for (; *text; text++)
		fputc(*text == '#' || *text == '\n' ? ' ' : *text, file);
}

void rr_claim_rows_tap(const struct rr_claim_rows *rows, FILE *file)
{
	fprintf(file, "TAP version 13\n1..%zu\n", rows->n);
	for (size_t i = 0; i < rows->n; i++) {
		const struct rr_claim_row *row = &rows->rows[i];
		const bool fine = is_good(row) || is_left_out(row);

		fprintf(file, "%sok %zu - ", fine ? "" : "not ", i + 1);
		print_tap(file, row->claim->id);
		fputs(": ", file);
		print_tap(file, row->claim->text);
		if (is_left_out(row)) {
			fputs(" # SKIP ", file);
			print_tap(file, row->problem);
		}
		fputc('\n', file);
		if (!fine) {
			fputs("# ", file);
			print_tap(file, row->problem);
			fputc('\n', file);
		}
	}
}
