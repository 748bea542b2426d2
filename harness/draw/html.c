/* SPDX-License-Identifier: MIT */
/* A race as one page: the picture, the same as a table, what was found. */
#include "base/text.h"
#include "model.h"

static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
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

/* ---- The table ----------------------------------------------------------- */

/* Clients share what keys and remarks leave, and never get less than this. */
static void html_table_head(FILE *out, const struct rr_picture *picture)
{
	const struct rr_race *race = picture->race;

	rr_xml_print(
		out,
		"<div class=\"wide\">\n<table style=\"min-width:%zurem\">\n<caption>Step by step</caption>\n"
		"<colgroup><col style=\"width:3rem\"/><col span=\"%zu\"/>",
		18 + 8 * race->n_keys + 10 * race->n_clients, race->n_clients);
	if (race->n_keys > 0)
		rr_xml_print(out, "<col span=\"%zu\" style=\"width:8rem\"/>",
			     race->n_keys);
	fputs("<col style=\"width:15rem\"/></colgroup>\n"
	      "<thead><tr><th scope=\"col\">#</th>",
	      out);
	for (size_t i = 0; i < picture->n_lanes; i++) {
		if (!picture->lanes[i].is_server)
			rr_xml_print(out, "<th scope=\"col\">%s</th>",
				     picture->lanes[i].name);
	}
	for (size_t i = 0; i < race->n_keys; i++)
		rr_xml_print(out, "<th scope=\"col\"><code>%s</code></th>",
			     picture->keys[i].name);
	fputs("<th scope=\"col\">remarks</th></tr></thead>\n<tbody>\n", out);
}

static void html_action(FILE *out, const struct rr_picture *picture,
			const struct rr_row *row)
{
	if (row->kind == RR_ROW_MESSAGE && picture->race->n_servers > 1)
		rr_xml_print(out, "%s: ", row->server_name);
	if (row->sends && row->fate == RR_FATE_NONE)
		fputs("writes ", out);
	rr_xml_print(out, "<code>%s</code>", row->text);
	if (row->reply)
		rr_xml_print(out, "<br/>⇒ <code>%s</code>", row->reply);
}

static void html_clients(FILE *out, const struct rr_picture *picture,
			 const struct rr_row *row)
{
	const int n = (int)picture->race->n_clients;

	if (row->is_across)
		rr_xml_print(out, "<td colspan=\"%d\">%s</td>", n, row->text);
	for (int i = 0; !row->is_across && i < n; i++) {
		fputs("<td>", out);
		if (row->client == i)
			html_action(out, picture, row);
		fputs("</td>", out);
	}
}

static void html_row(FILE *out, const struct rr_picture *picture,
		     const struct rr_row *row)
{
	rr_xml_print(out, "<tr class=\"%s\"><td>",
		     row->broke	    ? "broke" :
		     row->why	    ? "why" :
		     row->is_across ? "across" :
				      "step");
	if (row->number)
		rr_xml_print(out, "%zu", row->number);
	fputs("</td>", out);
	html_clients(out, picture, row);
	for (size_t i = 0; i < picture->race->n_keys; i++) {
		if (row->values[i])
			rr_xml_print(out, "<td><code>%s</code></td>",
				     row->values[i]);
		else
			fputs("<td></td>", out);
	}
	fputs("<td>", out);
	if (row->broke)
		rr_xml_print(out, "✗ <strong>%s</strong>", row->broke);
	fputs(row->broke && row->why ? "<br/>" : "", out);
	rr_xml_print(out, "%s%s</td></tr>\n", row->why ? "! " : "", row->why);
}

/* ---- What was found ------------------------------------------------------ */

static void html_findings(FILE *out, const struct rr_picture *picture)
{
	fputs("<h2>What was found</h2>\n", out);
	if (picture->no_finding) {
		rr_xml_print(out, "<p>%s</p>\n", picture->no_finding);
		return;
	}
	fputs("<dl>\n", out);
	for (size_t i = 0; i < picture->n_findings; i++)
		rr_xml_print(out, "<dt>✗ %s: %s</dt>\n<dd>%s</dd>\n",
			     picture->findings[i].name,
			     picture->findings[i].figures,
			     picture->findings[i].meaning);
	fputs("</dl>\n", out);
}

static void html_sayings(FILE *out, const struct rr_picture *picture)
{
	if (picture->race->n_sayings == 0 || !picture->is_complete)
		return;
	fputs("<h2>What the document says</h2>\n<ul>\n", out);
	for (size_t i = 0; i < picture->race->n_sayings; i++)
		rr_xml_print(out, "<li>%s</li>\n", picture->sayings[i]);
	fputs("</ul>\n", out);
}

static const char page_end[] =
	"</tbody>\n</table>\n</div>\n"
	"<h2>How to read it</h2>\n<ul>\n"
	"<li>A solid arrow is a command, a dashed one its reply. One that ends in a cross was lost on its way to the client.</li>\n"
	"<li>A thick lane: the client is in its critical section. A dotted lane: the client or the server is not there.</li>\n"
	"<li>A box on a server's lane: a key and its new value. (nil): it is not there.</li>\n"
	"<li>✗: something is broken by this step. !: the step that decides, and why.</li>\n"
	"</ul>\n"
	"</body>\n</html>\n";

bool rr_write_html(FILE *out, const struct rr_picture *picture)
{
	bool written;

	fputs(page_head, out);
	rr_xml_print(
		out,
		"<title>%s</title>\n</head>\n<body>\n<h1>%s</h1>\n<figure>\n",
		picture->title, picture->title);
	written = rr_write_svg(out, picture);
	fputs("</figure>\n", out);
	html_findings(out, picture);
	html_sayings(out, picture);
	html_table_head(out, picture);
	for (size_t i = 0; i < picture->n_rows; i++)
		html_row(out, picture, &picture->rows[i]);
	fputs(page_end, out);
	return written;
}
