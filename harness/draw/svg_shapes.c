/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/plain.h"
#include "svg.h"
#include "base/xml.h"

const char *rr_svg_colour(int client)
{
	static const char *const colours[] = { "#0072B2", "#E69F00", "#009E73",
					       "#CC79A7", "#56B4E9",
					       "#D55E00" };

	return colours[(size_t)client % (sizeof(colours) / sizeof(colours[0]))];
}

void rr_svg_text(struct rr_svg *svg, int x, int y, enum rr_anchor anchor,
		 const char *class, const char *text, size_t length)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	fprintf(svg->out,
		"<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" class=\"%s\" stroke=\"%s\" xml:space=\"preserve\">",
		x, y, anchors[anchor], class, svg->paper);
	rr_xml_part(svg->out, text, length);
	fputs("</text>\n", svg->out);
}

int rr_svg_lines(const char *text, size_t columns, int most)
{
	const size_t n = text ? rr_plain_lines(text, columns) : 0;

	return n < (size_t)most ? (int)n : most;
}

/* The last line there is room for, and a sign that there is more. */
static void put_shortened(struct rr_svg *svg, int x, int y,
			  enum rr_anchor anchor, const char *class,
			  const char *text, size_t columns)
{
	static const char more[] = "…";
	const size_t length = rr_plain_fit(text, columns - 1);
	char line[4 * 256];

	snprintf(line, sizeof(line), "%.*s%s",
		 (int)(length < 1000 ? length : 1000), text, more);
	rr_svg_text(svg, x, y, anchor, class, line, strlen(line));
}

int rr_svg_wrap(struct rr_svg *svg, int x, int y, enum rr_anchor anchor,
		const char *class, const char *text, size_t columns, int most)
{
	int n = 0;

	while (text && (n == 0 || *text) && n < most) {
		const char *line = text;
		const size_t length = rr_plain_line(&text, columns);
		const int base = y + n * RR_LINE_PX;

		n++;
		if (n == most && *text)
			put_shortened(svg, x, base, anchor, class, line,
				      columns);
		else
			rr_svg_text(svg, x, base, anchor, class, line, length);
	}
	return n;
}

void rr_svg_label(struct rr_svg *svg, int x, int side, int y,
		  const char *class, const char *text)
{
	const int n = rr_svg_lines(text, RR_LABEL_CHARS, RR_LABEL_LINES);
	const size_t wide = rr_plain_width(text ? text : "");
	const int width = (int)(wide < RR_LABEL_CHARS ? wide : RR_LABEL_CHARS) *
			  RR_MONO_PX;
	const int from = x + side * 10;

	rr_svg_box(svg, side > 0 ? from - 2 : from - width - 2, y - 12,
		   width + 4, n * RR_LINE_PX - 1, svg->paper, NULL, 0);
	rr_svg_wrap(svg, from, y, side > 0 ? RR_ANCHOR_START : RR_ANCHOR_END,
		    class, text, RR_LABEL_CHARS, RR_LABEL_LINES);
}

void rr_svg_line(struct rr_svg *svg, int x1, int y1, int x2, int y2,
		 const char *colour, const char *dashes)
{
	fprintf(svg->out,
		"<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"1.5\"",
		x1, y1, x2, y2, colour);
	if (dashes)
		fprintf(svg->out, " stroke-dasharray=\"%s\"", dashes);
	fputs("/>\n", svg->out);
}

void rr_svg_box(struct rr_svg *svg, int x, int y, int width, int height,
		const char *fill, const char *stroke, int radius)
{
	fprintf(svg->out,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" fill=\"%s\"",
		x, y, width, height, radius, fill);
	if (stroke)
		fprintf(svg->out, " stroke=\"%s\" stroke-width=\"1.5\"",
			stroke);
	fputs("/>\n", svg->out);
}

void rr_svg_arrow(struct rr_svg *svg, int x1, int x2, int y,
		  const char *colour, const char *dashes)
{
	const int back = x2 > x1 ? -9 : 9;

	rr_svg_line(svg, x1, y, x2 + back / 2, y, colour, dashes);
	fprintf(svg->out,
		"<polygon points=\"%d,%d %d,%d %d,%d\" fill=\"%s\"/>\n", x2, y,
		x2 + back, y - 5, x2 + back, y + 5, colour);
}
