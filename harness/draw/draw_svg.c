/* SPDX-License-Identifier: MIT */
/* A race as a picture: a lane for each client and server, time runs down. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "base/plain.h"
#include "svg.h"
#include "wording.h"
#include "base/xml.h"

enum { HEAD_PX = 28 };

/* Texts are dark; a rim in the paper's colour keeps them off the lanes. */
static const char style[] =
	"<style>\n"
	"text{fill:#111;paint-order:stroke;stroke-width:4px;stroke-linejoin:round;"
	"font:13px Arial,'Liberation Sans',Helvetica,system-ui,sans-serif}\n"
	".m{font-family:ui-monospace,'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace}\n"
	".t{font-size:17px;font-weight:600}\n"
	".b{font-weight:600}\n"
	".i{font-style:italic}\n"
	".n{font-size:12px;fill:#444}\n"
	".x{font-weight:600;fill:#B34700}\n"
	"</style>\n";

static size_t columns(const struct rr_svg *svg)
{
	return (size_t)(svg->lanes.width - 2 * RR_MARGIN_PX) / RR_SANS_PX;
}

static void put_paragraph(struct rr_svg *svg, int indent, const char *class,
			  const char *text)
{
	const int x = RR_MARGIN_PX + indent;

	svg->y += RR_LINE_PX *
		  rr_svg_wrap(svg, x, svg->y + 14, RR_ANCHOR_START, class,
			      text, columns(svg) - (size_t)indent / RR_SANS_PX,
			      20);
}

/* ---- Above the rows --------------------------------------------------------------- */

static void put_title(struct rr_svg *svg, const struct rr_race *race)
{
	char *title = rr_plain(race->title), *claims = NULL;

	if (asprintf(&claims, "claim %s", race->claims) < 0)
		claims = NULL;
	svg->y += 4 + 22 * rr_svg_wrap(svg, RR_MARGIN_PX, svg->y + 16,
				       RR_ANCHOR_START, "t", title,
				       columns(svg) * 3 / 4, 2);
	if (race->claims[0])
		put_paragraph(svg, 0, "s", claims);
	svg->y += 10;
	free(title);
	free(claims);
}

static void put_heads(struct rr_svg *svg)
{
	for (size_t i = 0; i < svg->lanes.n; i++) {
		const struct rr_lane *lane = &svg->lanes.lanes[i];
		const char *name = rr_lanes_name(&svg->lanes, lane);

		rr_svg_box(svg, lane->x - lane->head_px, svg->y,
			   2 * lane->head_px, HEAD_PX,
			   lane->is_server ? "#EEEEEE" : "#FFFFFF",
			   lane->is_server ? "#777777" :
					     rr_svg_colour(lane->index),
			   lane->is_server ? 0 : 12);
		svg->paper = "none";
		rr_svg_text(svg, lane->x, svg->y + 19, RR_ANCHOR_MIDDLE, "b",
			    name, strlen(name));
	}
	svg->y += HEAD_PX;
}

/* ---- Below them ------------------------------------------------------------------- */

static void put_finding(struct rr_svg *svg, const struct rr_trace *trace,
			enum rr_finding finding)
{
	char *text = NULL, *plain;

	if (asprintf(&text, "✗ %s: %s", rr_finding_name(finding),
		     trace->conclusion[finding]) < 0)
		text = NULL;
	plain = rr_plain(text);
	put_paragraph(svg, 0, "b", plain);
	put_paragraph(svg, 14, "s", rr_finding_meaning(finding));
	svg->y += 4;
	free(text);
	free(plain);
}

static void put_verdict(struct rr_svg *svg, const struct rr_trace *trace)
{
	svg->paper = "none";
	svg->y += 14;
	for (int i = 0; i < RR_FINDINGS; i++) {
		if (trace->findings & 1U << i)
			put_finding(svg, trace, (enum rr_finding)i);
	}
	if (!rr_rows_are_complete(trace)) {
		put_paragraph(svg, 0, "b",
			      "The race ended here, without a verdict.");
		svg->y += RR_MARGIN_PX;
		return;
	}
	if (!trace->findings)
		put_paragraph(svg, 0, "b", "Nothing broken.");
	for (size_t i = 0; i < trace->race->n_sayings; i++) {
		char *text = rr_wording_saying(trace,
					       &trace->race->sayings[i]);

		put_paragraph(svg, 0, "s", text);
		free(text);
	}
	svg->y += RR_MARGIN_PX;
}

/* ---- For those who cannot see it --------------------------------------------------- */

static void put_description(FILE *out, const struct rr_rows *rows)
{
	const struct rr_race *race = rows->trace->race;
	char verdict[400];

	rr_trace_verdict(rows->trace, verdict, sizeof(verdict));
	fputs("<title>", out);
	rr_xml_any(out, race->title);
	fputs("</title>\n<desc>", out);
	for (size_t i = 0; i < rows->n; i++) {
		const struct rr_row *row = &rows->rows[i];

		if (row->number)
			fprintf(out, "%zu. ", row->number);
		if (row->actor >= 0) {
			rr_xml_any(out, race->actors[row->actor].name);
			fputs(": ", out);
		}
		rr_xml_text(out, row->text);
		if (row->reply)
			fputs(" replies ", out);
		rr_xml_text(out, row->reply);
		if (row->broke)
			fputs("; ", out);
		rr_xml_text(out, row->broke);
		fputs(".\n", out);
	}
	fprintf(out, "Found: %s.</desc>\n", verdict);
}

void rr_draw_svg(FILE *out, const struct rr_rows *rows)
{
	struct rr_svg svg = { .paper = "none", .y = RR_MARGIN_PX };
	char *body = NULL;
	size_t size;

	svg.out = open_memstream(&body, &size);
	if (!svg.out)
		return;
	rr_lanes_lay_out(&svg.lanes, rows);
	put_title(&svg, rows->trace->race);
	put_heads(&svg);
	svg.y += 4;
	for (size_t i = 0; i < rows->n; i++)
		rr_svg_row(&svg, &rows->rows[i]);
	put_heads(&svg);
	put_verdict(&svg, rows->trace);
	fclose(svg.out);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
		svg.lanes.width, svg.y, svg.lanes.width, svg.y);
	put_description(out, rows);
	fputs(style, out);
	fprintf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#FFFFFF\"/>\n",
		svg.lanes.width, svg.y);
	fputs(body ? body : "", out);
	fputs("</svg>\n", out);
	free(body);
}
