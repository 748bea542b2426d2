/* SPDX-License-Identifier: MIT */
/* A race as one page: the picture, the same as a table, what was found. */
#include <stdlib.h>

#include "draw.h"
#include "base/plain.h"
#include "wording.h"
#include "base/xml.h"

static const char head[] =
	"<meta charset=\"utf-8\"/>\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	"<style>\n"
	"body{font:16px/1.5 Arial,'Liberation Sans',Helvetica,system-ui,sans-serif;color:#111;background:#fff;max-width:75rem;margin:0 auto;padding:1rem}\n"
	"figure,.wide{margin:1rem 0;overflow-x:auto}\n"
	"table{border-collapse:collapse;table-layout:fixed;width:100%;font-size:14px}\n"
	"th,td{border-bottom:1px solid #ccc;padding:.3rem .5rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}\n"
	"code{font:13px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	".across td{background:#f1f1f1}\n"
	".broke td{background:#fdebe1}\n"
	".why td{background:#e7f2fa}\n"
	"dt{font-weight:600}\n"
	"</style>\n";

static void put_element(FILE *out, const char *name, const char *text)
{
	fprintf(out, "<%s>", name);
	rr_xml_text(out, text);
	fprintf(out, "</%s>", name);
}

/* ---- The table --------------------------------------------------------------------- */

/* Clients share what keys and remarks leave, and never get less than this. */
static void put_widths(FILE *out, const struct rr_race *race)
{
	fprintf(out,
		"<div class=\"wide\">\n<table style=\"min-width:%zurem\">\n<caption>Step by step</caption>\n",
		18 + 8 * race->n_keys + 10 * race->n_actors);
	fprintf(out,
		"<colgroup><col style=\"width:3rem\"/><col span=\"%zu\"/>",
		race->n_actors);
	if (race->n_keys > 0)
		fprintf(out, "<col span=\"%zu\" style=\"width:8rem\"/>",
			race->n_keys);
	fputs("<col style=\"width:15rem\"/></colgroup>\n", out);
}

static void put_table_head(FILE *out, const struct rr_race *race)
{
	put_widths(out, race);
	fputs("<thead><tr><th scope=\"col\">#</th>", out);
	for (size_t i = 0; i < race->n_actors; i++) {
		fputs("<th scope=\"col\">", out);
		rr_xml_any(out, race->actors[i].name);
		fputs("</th>", out);
	}
	for (size_t i = 0; i < race->n_keys; i++) {
		fputs("<th scope=\"col\"><code>", out);
		rr_xml_any(out, race->keys[i]);
		fputs("</code></th>", out);
	}
	fputs("<th scope=\"col\">remarks</th></tr></thead>\n<tbody>\n", out);
}

static void put_action(FILE *out, const struct rr_race *race,
		       const struct rr_row *row)
{
	fputs("<td>", out);
	if (row->kind == RR_ROW_MESSAGE && race->n_servers > 1) {
		rr_xml_any(out, race->servers[row->server].name);
		fputs(": ", out);
	}
	if (rr_row_sends(row) && row->fate == RR_FATE_NONE)
		fputs("writes ", out);
	put_element(out, "code", row->text);
	if (row->reply) {
		fputs("<br/>⇒ ", out);
		put_element(out, "code", row->reply);
	}
	fputs("</td>", out);
}

static void put_clients(FILE *out, const struct rr_race *race,
			const struct rr_row *row)
{
	if (row->kind != RR_ROW_MESSAGE && row->kind != RR_ROW_MARK) {
		fprintf(out, "<td colspan=\"%zu\">", race->n_actors);
		rr_xml_text(out, row->text);
		fputs("</td>", out);
		return;
	}
	for (size_t i = 0; i < race->n_actors; i++) {
		if (row->actor == (int)i)
			put_action(out, race, row);
		else
			fputs("<td></td>", out);
	}
}

static void put_remarks(FILE *out, const struct rr_row *row)
{
	fputs("<td>", out);
	if (row->broke) {
		fputs("✗ ", out);
		put_element(out, "strong", row->broke);
		fputs(row->why ? "<br/>" : "", out);
	}
	if (row->why)
		fputs("! ", out);
	rr_xml_text(out, row->why);
	fputs("</td>", out);
}

static void put_row(FILE *out, const struct rr_race *race,
		    const struct rr_row *row)
{
	const bool across = row->kind != RR_ROW_MESSAGE &&
			    row->kind != RR_ROW_MARK;

	fprintf(out, "<tr class=\"%s\"><td>",
		row->broke ? "broke" :
		row->why   ? "why" :
		across	   ? "across" :
			     "step");
	if (row->number)
		fprintf(out, "%zu", row->number);
	fputs("</td>", out);
	put_clients(out, race, row);
	for (size_t i = 0; i < race->n_keys; i++) {
		fputs("<td>", out);
		if (row->keys[i])
			put_element(out, "code", row->keys[i]);
		fputs("</td>", out);
	}
	put_remarks(out, row);
	fputs("</tr>\n", out);
}

/* ---- What was found ----------------------------------------------------------------- */

static void put_findings(FILE *out, const struct rr_trace *trace)
{
	fputs("<h2>What was found</h2>\n", out);
	if (!trace->findings || !rr_rows_are_complete(trace)) {
		fprintf(out, "<p>%s</p>\n",
			rr_rows_are_complete(trace) ?
				"Nothing broken." :
				"The race ended early, without a verdict.");
		return;
	}
	fputs("<dl>\n", out);
	for (int i = 0; i < RR_FINDINGS; i++) {
		const enum rr_finding finding = (enum rr_finding)i;

		if (!(trace->findings & 1U << i))
			continue;
		fputs("<dt>✗ ", out);
		rr_xml_text(out, rr_finding_name(finding));
		fputs(": ", out);
		rr_xml_any(out, trace->conclusion[finding]);
		fputs("</dt>\n", out);
		put_element(out, "dd", rr_finding_meaning(finding));
		putc('\n', out);
	}
	fputs("</dl>\n", out);
}

static void put_sayings(FILE *out, const struct rr_trace *trace)
{
	if (trace->race->n_sayings == 0 || !rr_rows_are_complete(trace))
		return;
	fputs("<h2>What the document says</h2>\n<ul>\n", out);
	for (size_t i = 0; i < trace->race->n_sayings; i++) {
		char *text = rr_wording_saying(trace,
					       &trace->race->sayings[i]);

		put_element(out, "li", text);
		putc('\n', out);
		free(text);
	}
	fputs("</ul>\n", out);
}

static void put_legend(FILE *out)
{
	fputs("<h2>How to read it</h2>\n<ul>\n"
	      "<li>A solid arrow is a command, a dashed one its reply. One that ends in a cross was lost on its way to the client.</li>\n"
	      "<li>A thick lane: the client is in its critical section. A dotted lane: the client or the server is not there.</li>\n"
	      "<li>A box on a server's lane: a key and its new value. (nil): it is not there.</li>\n"
	      "<li>✗: something is broken by this step. !: the step that decides, and why.</li>\n"
	      "</ul>\n",
	      out);
}

void rr_draw_html(FILE *out, const struct rr_rows *rows)
{
	const struct rr_race *race = rows->trace->race;

	fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n",
	      out);
	fputs(head, out);
	fputs("<title>", out);
	rr_xml_any(out, race->title);
	fputs("</title>\n</head>\n<body>\n<h1>", out);
	rr_xml_any(out, race->title);
	fputs("</h1>\n<figure>\n", out);
	rr_draw_svg(out, rows);
	fputs("</figure>\n", out);
	put_findings(out, rows->trace);
	put_sayings(out, rows->trace);
	put_table_head(out, race);
	for (size_t i = 0; i < rows->n; i++)
		put_row(out, race, &rows->rows[i]);
	fputs("</tbody>\n</table>\n</div>\n", out);
	put_legend(out);
	fputs("</body>\n</html>\n", out);
}
