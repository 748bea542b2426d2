/* SPDX-License-Identifier: MIT */
#include "pen.h"

#include <string.h>

#include "base/plain.h"

static const char *const glyphs[RR_GLYPHS] = {
	[RR_GLYPH_LINE] = "─",	 [RR_GLYPH_RIGHT] = "▶",
	[RR_GLYPH_LEFT] = "◀",	 [RR_GLYPH_INSIDE] = "┃",
	[RR_GLYPH_DOUBLE] = "═", [RR_GLYPH_BROKE] = "✗",
	[RR_GLYPH_NOTE] = "–",	 [RR_GLYPH_MORE] = "…",
};

static const char *const ascii_glyphs[RR_GLYPHS] = {
	[RR_GLYPH_LINE] = "-",	 [RR_GLYPH_RIGHT] = ">",
	[RR_GLYPH_LEFT] = "<",	 [RR_GLYPH_INSIDE] = "|",
	[RR_GLYPH_DOUBLE] = "=", [RR_GLYPH_BROKE] = "X",
	[RR_GLYPH_NOTE] = "--",	 [RR_GLYPH_MORE] = "~",
};

static const char *const paints[] = {
	[RR_PLAIN] = "0",   [RR_BOLD] = "0;1",	 [RR_DIM] = "0;2",
	[RR_RED] = "0;31",  [RR_YELLOW] = "0;33", [RR_CYAN] = "0;36",
	[RR_MAGENTA] = "0;35",
};

void rr_pen_paint(struct rr_pen *pen, enum rr_paint paint)
{
	if (pen->style->colour && paint != pen->paint)
		fprintf(pen->out, "\033[%sm", paints[paint]);
	pen->paint = paint;
}

static void write_blanks(struct rr_pen *pen)
{
	for (; pen->blanks > 0; pen->blanks--)
		putc(' ', pen->out);
}

/* Characters that ASCII lacks become question marks, but for the dots. */
static void write_ascii(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c < 0x80)
			putc(c, out);
		else if (strncmp(text + i, "…", strlen("…")) == 0)
			putc('~', out);
		else if ((c & 0xc0) != 0x80)
			putc('?', out);
	}
}

void rr_pen_text(struct rr_pen *pen, const char *text, size_t length)
{
	char part[256];

	for (size_t n; length > 0; text += n, length -= n) {
		n = length < sizeof(part) - 1 ? length : sizeof(part) - 1;
		while (n < length && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--; /* not within a character */
		memcpy(part, text, n);
		part[n] = '\0';
		write_blanks(pen);
		if (pen->style->ascii)
			write_ascii(pen->out, part, n);
		else
			fputs(part, pen->out);
		pen->column += rr_plain_width(part);
	}
}

void rr_pen_string(struct rr_pen *pen, const char *text)
{
	rr_pen_text(pen, text, strlen(text));
}

void rr_pen_glyph(struct rr_pen *pen, enum rr_glyph glyph)
{
	rr_pen_string(pen, pen->style->ascii ? ascii_glyphs[glyph] :
					       glyphs[glyph]);
}

void rr_pen_fill(struct rr_pen *pen, enum rr_glyph glyph, size_t column)
{
	while (pen->column < column)
		rr_pen_glyph(pen, glyph);
}

void rr_pen_go(struct rr_pen *pen, size_t column)
{
	if (column > pen->column) {
		pen->blanks += column - pen->column;
		pen->column = column;
	}
}

void rr_pen_end_line(struct rr_pen *pen)
{
	rr_pen_paint(pen, RR_PLAIN);
	putc('\n', pen->out);
	pen->blanks = 0;
	pen->column = 0;
}

void rr_pen_wrap(struct rr_pen *pen, const char *text, size_t column)
{
	const enum rr_paint paint = pen->paint;

	do {
		const size_t room = pen->style->width > pen->column ?
					    pen->style->width - pen->column :
					    1;
		const char *line = text;
		const size_t length = rr_plain_line(&text, room);

		rr_pen_text(pen, line, length);
		rr_pen_end_line(pen);
		if (*text) {
			rr_pen_go(pen, column);
			rr_pen_paint(pen, paint);
		}
	} while (*text);
}
