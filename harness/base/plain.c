/* SPDX-License-Identifier: MIT */
/* Texts of anybody's, on a terminal, in XML and Markdown: they do nothing but show themselves. */
#include "text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "memory.h"

/* ---- On a terminal ----------------------------------------------------------- */

/* The character at `text` and its length; one byte and -1 where there is none. */
static size_t decode_character(const char *text, size_t left, utf8proc_int32_t *code)
{
	const utf8proc_ssize_t length = utf8proc_iterate((const utf8proc_uint8_t *)text,
							 (utf8proc_ssize_t)left, code);

	if (length > 0)
		return (size_t)length;
	*code = -1;
	return 1;
}

/* What turns a line round, so that it reads as another one, or ends it. */
static bool is_turning(utf8proc_int32_t code)
{
	return code == 0x61c || code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* XML has no U+FFFE and U+FFFF, and some terminals obey 0x80 to 0x9f. */
static bool is_printable(utf8proc_int32_t code)
{
	return code >= 32 && (code < 0x7f || code > 0x9f) && code != 0xfffe && code != 0xffff &&
	       !is_turning(code);
}

/* Is the character before `i` a blank, of any kind? */
static bool is_behind_blank(const char *text, size_t i)
{
	utf8proc_int32_t code;
	size_t begin = i - 1;

	while (begin > 0 && i - begin < 4 && ((unsigned char)text[begin] & 0xc0) == 0x80)
		begin--;
	decode_character(text + begin, i - begin, &code);
	return strchr("\n\t", text[i - 1]) ||
	       (code >= 0 && utf8proc_category(code) == UTF8PROC_CATEGORY_ZS);
}

/* Is what follows "::word", a command to a runner of GitHub where a line begins so? */
static bool begins_command(const char *text, size_t length)
{
	return length > 2 && memcmp(text, "::", 2) == 0 && isalpha((unsigned char)text[2]);
}

bool rr_is_command(const char *text, size_t length, size_t i)
{
	if (i + 3 < length && memcmp(text + i, "##[", 3) == 0)
		return isalpha((unsigned char)text[i + 3]);
	return begins_command(text + i, length - i) && (i == 0 || is_behind_blank(text, i));
}

static void write_escapes(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		static const char special[] = "\n\r\t", letters[] = "nrt";
		const char *found = c ? strchr(special, c) : NULL;

		if (found)
			fprintf(out, "\\%c", letters[found - special]);
		else
			fprintf(out, "\\x%02x", c);
	}
}

bool rr_is_shown(const char *text, size_t length)
{
	utf8proc_int32_t code;

	for (size_t i = 0; i < length; i += decode_character(text + i, length - i, &code)) {
		decode_character(text + i, length - i, &code);
		if (code >= 0 && !is_printable(code) && text[i] != '\t')
			return false;
	}
	return true;
}

char *rr_plain_bytes(const char *text, size_t length)
{
	char *plain = NULL;
	size_t n;
	FILE *out = rr_open_text(&plain);

	for (size_t i = 0; i < length; i += n) {
		utf8proc_int32_t code;

		n = decode_character(text + i, length - i, &code);
		if (code >= 0 && is_printable(code) && !rr_is_command(text, length, i)) {
			fwrite(text + i, 1, n, out);
			continue;
		}
		write_escapes(out, text + i, n);
	}
	fclose(out);
	return plain;
}

char *rr_plain(const char *text)
{
	return text ? rr_plain_bytes(text, strlen(text)) : NULL;
}

/* ---- For a shell -------------------------------------------------------------- */

void rr_shell_word(FILE *out, const char *word)
{
	static const char harmless[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"-_./:=+,@%";
	char *plain = rr_plain(word), *escaped, *shown;
	const bool is_shown = strcmp(plain, word) == 0;
	FILE *into;

	if (is_shown && word[0] && !word[strspn(word, harmless)]) {
		fputs(word, out);
		free(plain);
		return;
	}
	into = rr_open_text(&escaped);
	for (const char *at = word; *at; at++) {
		if (*at == '\'')
			fputs(is_shown ? "'\\''" : "\\'", into);
		else if (*at == '\\' && !is_shown)
			fputs("\\\\", into);
		else
			putc(*at, into);
	}
	fclose(into);
	shown = rr_plain(escaped);
	fprintf(out, "%s'%s'", is_shown ? "" : "$", shown);
	free(shown);
	free(escaped);
	free(plain);
}

char *rr_shell_words(int n, char *const words[])
{
	char *text = NULL;
	FILE *out = rr_open_text(&text);

	fputs(n > 0 ? words[0] : "", out);
	for (int i = 1; i < n; i++) {
		putc(' ', out);
		rr_shell_word(out, words[i]);
	}
	fclose(out);
	return text;
}

/* ---- In columns --------------------------------------------------------------- */

/* The length of what a reader takes for one character, with all that is put on it
 * and joined to it, and the columns that it takes. */
static size_t measure_character(const char *text, size_t left, size_t *columns)
{
	utf8proc_int32_t code, next, state = 0;
	size_t used = decode_character(text, left, &code), n;

	*columns = code < 0 ? 1 : (size_t)utf8proc_charwidth(code);
	while (used < left) {
		n = decode_character(text + used, left - used, &next);
		if (code < 0 || next < 0 || utf8proc_grapheme_break_stateful(code, next, &state))
			break;
		*columns += (size_t)utf8proc_charwidth(next);
		code = next;
		used += n;
	}
	if (*columns > 2)
		*columns = 2;
	return used;
}

/* Bytes that fit, and their width. */
static size_t measure_text(const char *text, size_t columns, size_t *width)
{
	const size_t length = strlen(text);
	size_t used = 0, n, wide;

	*width = 0;
	while (used < length) {
		n = measure_character(text + used, length - used, &wide);
		if (*width + wide > columns)
			break;
		*width += wide;
		used += n;
	}
	return used;
}

size_t rr_plain_width(const char *text)
{
	size_t width;

	measure_text(text, SIZE_MAX / 2, &width);
	return width;
}

size_t rr_plain_fit(const char *text, size_t columns)
{
	size_t width;

	return measure_text(text, columns, &width);
}

char *rr_plain_cut(const char *text, size_t length, size_t columns, const char *mark)
{
	char *plain = rr_plain_bytes(text, length);
	const size_t fits = columns ? rr_plain_fit(plain, columns) : strlen(plain);
	char *cut = plain;

	if (plain[fits]) {
		cut = rr_asprintf("%.*s%s", (int)fits, plain, mark);
		free(plain);
	}
	return cut;
}

size_t rr_plain_line(const char **text, size_t columns)
{
	const char *from = *text;
	size_t fits = rr_plain_fit(from, columns), length;

	if (fits == 0 && *from) /* a wide character in a column of one */
		fits = measure_character(from, strlen(from), &columns);
	length = fits;
	if (from[fits] && from[fits] != ' ') {
		while (length > 0 && from[length - 1] != ' ')
			length--;
		if (length == 0) {
			/* A character less, if there is more than one, where the next line would be a
			 * command. */
			const char *rest = from + fits;

			if (begins_command(rest, strlen(rest)))
				length = rr_plain_fit(from, columns - 1);
			length = length ? length : fits;
		}
	}
	*text = from + length;
	while (**text == ' ')
		(*text)++;
	while (length > 0 && from[length - 1] == ' ')
		length--;
	return length;
}

static void print_lines(FILE *out, const char *text, size_t columns, size_t from, size_t indent)
{
	for (size_t column = from;; column = indent) {
		const char *begin = text;
		const size_t length = rr_plain_line(&text, columns - column);

		fprintf(out, "%.*s\n", (int)length, begin);
		if (!*text)
			return;
		fprintf(out, "%*s", (int)indent, "");
	}
}

void rr_print_wrapped(FILE *out, const char *text, size_t from, size_t indent)
{
	print_lines(out, text, RR_COLUMNS, from, indent);
}

void rr_print_sentence(FILE *out, size_t from, size_t indent, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = rr_vasprintf(format, arguments);
	va_end(arguments);
	fprintf(out, "%*s", (int)from, "");
	print_lines(out, text, RR_COLUMNS - RR_COLUMNS_OF_SUITES, from, indent);
	free(text);
}

void rr_print_verdict(FILE *out, const char *text)
{
	const size_t first = strcspn(text, "\n");
	char *verdict = rr_strndup(text, first);

	if (*text)
		print_lines(out, verdict, RR_COLUMNS + 1, 0, 2);
	fputs(text + first + (text[first] == '\n'), out);
	free(verdict);
}

void rr_print_sentences(FILE *out, size_t from, const char *lines)
{
	while (*lines) {
		const size_t length = strcspn(lines, "\n");

		rr_print_sentence(out, from, from + 2, "%.*s", (int)length, lines);
		lines += length + (lines[length] == '\n');
	}
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

/* ---- In XML ------------------------------------------------------------------- */

static void write_entities(FILE *out, const char *text, size_t length)
{
	static const char special[] = "&<>\"'";
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };

	for (size_t i = 0, n; i < length; i += n) {
		const char *found = text[i] ? strchr(special, text[i]) : NULL;
		utf8proc_int32_t code;

		n = decode_character(text + i, length - i, &code);
		if (found)
			fputs(entities[found - special], out);
		else if (rr_is_command(text, length, i))
			fprintf(out, "&#%d;", text[i]);
		else if ((code >= 0 && is_printable(code)) || text[i] == '\n' || text[i] == '\t')
			fwrite(text + i, 1, n, out);
		else
			write_escapes(out, text + i, n);
	}
}

void rr_xml_text(FILE *out, const char *text)
{
	if (text)
		write_entities(out, text, strlen(text));
}

/* Like fprintf(), with texts as `write` writes them. */
static void print_texts(FILE *out, void (*write)(FILE *out, const char *text, size_t length),
			const char *format, va_list arguments)
{
	for (; *format; format++) {
		if (*format != '%') {
			putc(*format, out);
		} else if (*++format == 's') {
			const char *text = va_arg(arguments, const char *);

			write(out, text, text ? strlen(text) : 0);
		} else if (*format == 'd') {
			fprintf(out, "%d", va_arg(arguments, int));
		} else if (*format == 'z') {
			fprintf(out, "%zu", va_arg(arguments, size_t));
			format++;
		} else if (*format == '.') {
			const int length = va_arg(arguments, int);

			write(out, va_arg(arguments, const char *), (size_t)length);
			format += 2;
		}
	}
}

void rr_xml_print(FILE *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_texts(out, write_entities, format, arguments);
	va_end(arguments);
}

/* ---- In Markdown -------------------------------------------------------------- */

/* Would Markdown read the character at `i` as more than itself? At the beginning of a text,
 * where a block may begin, it reads more so. */
static bool is_markup(const char *text, size_t i)
{
	if (text[i] == '&')
		return text[i + 1] == '#' || isalpha((unsigned char)text[i + 1]);
	if (text[i] == '.' || text[i] == ')')
		return i > 0 && strspn(text, "0123456789") == i;
	return strchr(i == 0 ? "\\`*_<|~[]#+->" : "\\`*_<|~[]", text[i]) != NULL;
}

static void write_markdown(FILE *out, const char *text, size_t length)
{
	char *plain = rr_plain_bytes(text, length);
	const char *from = plain + strspn(plain, " ");

	for (size_t i = 0; from[i]; i++)
		fprintf(out, is_markup(from, i) ? "\\%c" : "%c", from[i]);
	free(plain);
}

void rr_markdown_text(FILE *out, const char *text)
{
	if (text)
		write_markdown(out, text, strlen(text));
}

void rr_markdown_print(FILE *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_texts(out, write_markdown, format, arguments);
	va_end(arguments);
}
