/* SPDX-License-Identifier: MIT */
#include "pen.h"

#include <string.h>

#include "base/text.h"

void rr_pen_paint(struct rr_pen *pen, enum rr_paint paint)
{
	static const char *const codes[] = {
		[RR_PLAIN] = "0",     [RR_BOLD] = "0;1",  [RR_DIM] = "0;2",      [RR_RED] = "0;31",
		[RR_YELLOW] = "0;33", [RR_CYAN] = "0;36", [RR_MAGENTA] = "0;35",
	};

	if (pen->style->colour && paint != pen->paint)
		fprintf(pen->out, "\033[%sm", codes[paint]);
	pen->paint = paint;
}

/* What stands for a character that ASCII lacks, as wide as the character. */
static char ascii_of(const char *character)
{
	static const struct {
		const char *character;
		char ascii;
	} known[] = { { "─", '-' }, { "═", '=' }, { "┃", '|' }, { "▶", '>' },
		      { "◀", '<' }, { "✗", 'X' }, { "–", '-' }, { "…", '~' } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strncmp(character, known[i].character, strlen(known[i].character)) == 0)
			return known[i].ascii;
	}
	return '?';
}

void rr_pen_text(struct rr_pen *pen, const char *text, size_t length)
{
	for (; length > 0 && pen->blanks > 0; pen->blanks--)
		putc(' ', pen->out);
	for (size_t i = 0; i < length; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c < 0x80 || !pen->style->ascii)
			putc(c, pen->out);
		else if ((c & 0xc0) != 0x80) /* a character's first byte */
			putc(ascii_of(text + i), pen->out);
	}
	pen->column += rr_plain_width(text) - rr_plain_width(text + length);
}

void rr_pen_string(struct rr_pen *pen, const char *text)
{
	rr_pen_text(pen, text, strlen(text));
}

void rr_pen_fill(struct rr_pen *pen, const char *character, size_t column)
{
	while (pen->column < column)
		rr_pen_string(pen, character);
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
