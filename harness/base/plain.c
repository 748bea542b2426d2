/* SPDX-License-Identifier: MIT */
#include "plain.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- UTF-8 ------------------------------------------------------------------- */

/* The character at `text`, *code, and its length; 0 = it is none. */
static size_t decode(const char *text, size_t left, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char first = (unsigned char)*text;
	const size_t length = first < 0x80	     ? 1 :
			      (first & 0xe0) == 0xc0 ? 2 :
			      (first & 0xf0) == 0xe0 ? 3 :
			      (first & 0xf8) == 0xf0 ? 4 :
						       0;

	if (length == 0 || length > left)
		return 0;
	*code = length == 1 ? first : first & (0xffU >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		const unsigned char next = (unsigned char)text[i];

		if ((next & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (next & 0x3f);
	}
	if (*code < least[length] || *code > 0x10ffff ||
	    (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return length;
}

/* XML has no U+FFFE and U+FFFF, and some terminals obey 0x80 to 0x9f. */
static bool is_printable(uint32_t code)
{
	return code >= 32 && (code < 0x7f || code > 0x9f) &&
	       code != 0xfffe && code != 0xffff;
}

static void escape(FILE *out, unsigned char c)
{
	static const char special[] = "\n\r\t", letters[] = "nrt";
	const char *found = c ? strchr(special, c) : NULL;

	if (found)
		fprintf(out, "\\%c", letters[found - special]);
	else
		fprintf(out, "\\x%02x", c);
}

char *rr_plain_bytes(const char *text, size_t length)
{
	char *plain = NULL;
	size_t size, n;
	FILE *out = open_memstream(&plain, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < length; i += n) {
		uint32_t code;

		n = decode(text + i, length - i, &code);
		if (n > 0 && is_printable(code)) {
			fwrite(text + i, 1, n, out);
			continue;
		}
		n = n ? n : 1;
		for (size_t j = 0; j < n; j++)
			escape(out, (unsigned char)text[i + j]);
	}
	fclose(out);
	return plain;
}

char *rr_plain(const char *text)
{
	return text ? rr_plain_bytes(text, strlen(text)) : NULL;
}

/* ---- Room --------------------------------------------------------------------- */

static bool is_wide(uint32_t code)
{
	return (code >= 0x1100 && code <= 0x115f) ||
	       (code >= 0x2e80 && code <= 0xa4cf) ||
	       (code >= 0xac00 && code <= 0xd7a3) ||
	       (code >= 0xf900 && code <= 0xfaff) ||
	       (code >= 0xfe30 && code <= 0xfe6f) ||
	       (code >= 0xff00 && code <= 0xff60) ||
	       (code >= 0x1f300 && code <= 0x1faff) || code >= 0x20000;
}

static size_t width_of(uint32_t code)
{
	if (code >= 0x300 && code <= 0x36f)
		return 0; /* on top of the one before it */
	return is_wide(code) ? 2 : 1;
}

/* Bytes that fit, and their width. */
static size_t measure(const char *text, size_t columns, size_t *width)
{
	const size_t length = strlen(text);
	size_t used = 0;

	*width = 0;
	while (used < length) {
		uint32_t code = 'x';
		size_t n = decode(text + used, length - used, &code);

		n = n ? n : 1;
		if (*width + width_of(code) > columns)
			break;
		*width += width_of(code);
		used += n;
	}
	return used;
}

size_t rr_plain_width(const char *text)
{
	size_t width;

	measure(text, SIZE_MAX / 2, &width);
	return width;
}

size_t rr_plain_fit(const char *text, size_t columns)
{
	size_t width;

	return measure(text, columns, &width);
}

size_t rr_plain_line(const char **text, size_t columns)
{
	const char *from = *text;
	size_t fits = rr_plain_fit(from, columns), length;

	if (fits == 0 && *from)
		fits = 1; /* a wide character in a column of one */
	length = fits;
	if (from[fits] && from[fits] != ' ') {
		while (length > 0 && from[length - 1] != ' ')
			length--;
		if (length == 0)
			length = fits;
	}
	*text = from + length;
	while (**text == ' ')
		(*text)++;
	while (length > 0 && from[length - 1] == ' ')
		length--;
	return length;
}

size_t rr_plain_lines(const char *text, size_t columns)
{
	size_t n = 0;

	do {
		rr_plain_line(&text, columns);
		n++;
	} while (*text);
	return n;
}
