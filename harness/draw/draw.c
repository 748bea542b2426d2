/* SPDX-License-Identifier: MIT */
#include "draw.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH = 80, WIDTH_LEAST = 40, WIDTH_MOST = 160 };

bool rr_draw_format(const char *name, enum rr_format *format)
{
	static const char *const names[RR_FORMATS] = {
		[RR_FORMAT_TEXT] = "text", [RR_FORMAT_MERMAID] = "mermaid",
		[RR_FORMAT_SVG] = "svg",   [RR_FORMAT_HTML] = "html",
		[RR_FORMAT_JSON] = "json",
	};

	for (int i = 0; i < RR_FORMATS; i++) {
		if (strcmp(name, names[i]) == 0) {
			*format = (enum rr_format)i;
			return true;
		}
	}
	return false;
}

static size_t width_of(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return WIDTH;
	return size.ws_col < WIDTH_LEAST ? WIDTH_LEAST :
	       size.ws_col > WIDTH_MOST	 ? WIDTH_MOST :
					   size.ws_col;
}

struct rr_style rr_draw_style(FILE *out, bool ascii)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	const bool visible = isatty(fileno(out));

	return (struct rr_style){
		.ascii = ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
		.colour = visible && !(no_colour && *no_colour) && terminal &&
			  strcmp(terminal, "dumb") != 0,
		.width = visible ? width_of(fileno(out)) : WIDTH,
	};
}

bool rr_draw(FILE *out, const struct rr_trace *trace, enum rr_format format,
	     const struct rr_style *style)
{
	struct rr_rows rows;

	if (format == RR_FORMAT_JSON)
		return rr_draw_json(out, trace);
	if (!rr_rows_make(&rows, trace))
		return false;
	if (format == RR_FORMAT_TEXT)
		rr_draw_text(out, &rows, style);
	else if (format == RR_FORMAT_MERMAID)
		rr_draw_mermaid(out, &rows);
	else if (format == RR_FORMAT_SVG)
		rr_draw_svg(out, &rows);
	else
		rr_draw_html(out, &rows);
	rr_rows_free(&rows);
	return true;
}
