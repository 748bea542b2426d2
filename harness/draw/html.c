/* SPDX-License-Identifier: MIT */
/* A race as one page: the picture, the same as a table, what was found. */
#include "base/xml.h"
#include "model.h"

static const char page_head[] =
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

/* ---- The table --------------------------------------------------------------- */

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

static void put_table_head(FILE *out, const struct rr_picture *picture)
{
	put_widths(out, picture->race);
	fputs("<thead><tr><th scope=\"col\">#</th>", out);
	for (size_t i = 0; i < picture->race->n_actors; i++) {
		fputs("<th scope=\"col\">", out);
		rr_xml_text(out, rr_picture_client(picture, (int)i));
		fputs("</th>", out);
	}
	for (size_t i = 0; i < picture->race->n_keys; i++) {
		fputs("<th scope=\"col\">", out);
		put_element(out, "code", picture->keys[i].name);
		fputs("</th>", out);
	}
	fputs("<th scope=\"col\">remarks</th></tr></thead>\n<tbody>\n", out);
}

static void put_action(FILE *out, const struct rr_picture *picture,
		       const struct rr_row *row)
{
	if (row->kind == RR_ROW_MESSAGE && picture->race->n_servers > 1) {
		rr_xml_text(out, rr_picture_server(picture, row->server));
		fputs(": ", out);
	}
	if (row->sends && row->fate == RR_FATE_NONE)
		fputs("writes ", out);
	put_element(out, "code", row->text);
	if (row->reply) {
		fputs("<br/>⇒ ", out);
		put_element(out, "code", row->reply);
	}
}

static void put_clients(FILE *out, const struct rr_picture *picture,
			const struct rr_row *row)
{
	const size_t n = picture->race->n_actors;

	if (row->is_across) {
		fprintf(out, "<td colspan=\"%zu\">", n);
		rr_xml_text(out, row->text);
		fputs("</td>", out);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		fputs("<td>", out);
		if (row->client == (int)i)
			put_action(out, picture, row);
		fputs("</td>", out);
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
	fputs(row->why ? "! " : "", out);
	rr_xml_text(out, row->why);
	fputs("</td>", out);
}

static void put_row(FILE *out, const struct rr_picture *picture,
		    const struct rr_row *row)
{
	fprintf(out, "<tr class=\"%s\"><td>",
		row->broke     ? "broke" :
		row->why       ? "why" :
		row->is_across ? "across" :
				 "step");
	if (row->number)
		fprintf(out, "%zu", row->number);
	fputs("</td>", out);
	put_clients(out, picture, row);
	for (size_t i = 0; i < picture->race->n_keys; i++) {
		fputs("<td>", out);
		if (row->values[i])
			put_element(out, "code", row->values[i]);
		fputs("</td>", out);
	}
	put_remarks(out, row);
	fputs("</tr>\n", out);
}

static void put_table(FILE *out, const struct rr_picture *picture)
{
	put_table_head(out, picture);
	for (size_t i = 0; i < picture->n_rows; i++)
		put_row(out, picture, &picture->rows[i]);
	fputs("</tbody>\n</table>\n</div>\n", out);
}

/* ---- What was found ----------------------------------------------------------- */

static void put_findings(FILE *out, const struct rr_picture *picture)
{
	fputs("<h2>What was found</h2>\n", out);
	if (picture->no_finding) {
		put_element(out, "p", picture->no_finding);
		putc('\n', out);
		return;
	}
	fputs("<dl>\n", out);
	for (size_t i = 0; i < picture->n_findings; i++) {
		const struct rr_found *found = &picture->findings[i];

		fprintf(out, "<dt>✗ %s: ", found->name);
		rr_xml_text(out, found->figures);
		fputs("</dt>\n", out);
		put_element(out, "dd", found->meaning);
		putc('\n', out);
	}
	fputs("</dl>\n", out);
}

static void put_sayings(FILE *out, const struct rr_picture *picture)
{
	if (picture->race->n_sayings == 0 || !picture->is_complete)
		return;
	fputs("<h2>What the document says</h2>\n<ul>\n", out);
	for (size_t i = 0; i < picture->race->n_sayings; i++) {
		put_element(out, "li", picture->sayings[i]);
		putc('\n', out);
	}
	fputs("</ul>\n", out);
}

static const char legend[] =
	"<h2>How to read it</h2>\n<ul>\n"
	"<li>A solid arrow is a command, a dashed one its reply. One that ends in a cross was lost on its way to the client.</li>\n"
	"<li>A thick lane: the client is in its critical section. A dotted lane: the client or the server is not there.</li>\n"
	"<li>A box on a server's lane: a key and its new value. (nil): it is not there.</li>\n"
	"<li>✗: something is broken by this step. !: the step that decides, and why.</li>\n"
	"</ul>\n";

void rr_write_html(FILE *out, const struct rr_picture *picture)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n",
	      out);
	fputs(page_head, out);
	put_element(out, "title", picture->title);
	fputs("\n</head>\n<body>\n", out);
	put_element(out, "h1", picture->title);
	fputs("\n<figure>\n", out);
	rr_write_svg(out, picture);
	fputs("</figure>\n", out);
	put_findings(out, picture);
	put_sayings(out, picture);
	put_table(out, picture);
	fputs(legend, out);
	fputs("</body>\n</html>\n", out);
}
