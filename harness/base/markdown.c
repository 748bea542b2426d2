/* SPDX-License-Identifier: MIT */
/* Markdown as HTML: md4c makes it, and what it makes is passed on tag by tag. A "<" in it begins
 * a tag, for in texts it is &lt;. */
#include "markdown.h"

#include <md4c-html.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "array.h"
#include "memory.h"
#include "text.h"

struct rewriting {
	const struct rr_markdown *how;
	FILE *out;
	const char *heading; /* the text of the last one, up to its end tag; NULL = none yet */
	bool is_text;        /* the link that is open leads nowhere, and has no tag */
	bool is_row_head;    /* the cell that is open is one */
	bool is_first;       /* the next cell begins its row */
	int n_tables;
	size_t n_anchors; /* ids of headings up to here, malloc'd */
	char **anchors;
};

static bool begins(const char *at, const char *tag)
{
	return strncmp(at, tag, strlen(tag)) == 0;
}

static const char *skip_tag(const char *at)
{
	return at + strcspn(at, ">") + 1;
}

static char *take_attribute(const char *at, const char *name)
{
	const char *end = at + strcspn(at, ">"), *from = strstr(at, name);

	if (!from || from > end)
		return NULL;
	from += strlen(name);
	return rr_strndup(from, strcspn(from, "\""));
}

/* ---- Headings -------------------------------------------------------------------------------- */

/* As GitHub makes them: letters, digits, _ and - of its text, small, with - for blanks. */
static void print_anchor(const char *html, size_t length, FILE *out)
{
	const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)html, *end = at + length;
	utf8proc_int32_t letter;
	utf8proc_uint8_t bytes[4];

	for (utf8proc_ssize_t n; at < end && (n = utf8proc_iterate(at, end - at, &letter)) > 0;
	     at += n) {
		const utf8proc_category_t category = utf8proc_category(letter);

		if (letter == '<')
			at += strcspn((const char *)at, ">");
		else if (letter == '&')
			at += strcspn((const char *)at, ";");
		else if (letter == ' ')
			putc('-', out);
		else if (letter == '-' || letter == '_' ||
			 (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO))
			fwrite(bytes, 1,
			       (size_t)utf8proc_encode_char(utf8proc_tolower(letter), bytes), out);
	}
}

/* A second heading that says the same gets -2 at its end. */
static void print_id(struct rewriting *to, const char *html, size_t length)
{
	char *text, *anchor;
	FILE *out = rr_open_text(&text);
	size_t n = 1, i = 0;

	print_anchor(html, length, out);
	fclose(out);
	anchor = rr_strdup(text);
	while (i < to->n_anchors) {
		if (strcmp(to->anchors[i++], anchor) != 0)
			continue;
		free(anchor);
		anchor = rr_asprintf("%s-%zu", text, ++n);
		i = 0;
	}
	free(text);
	fputs(anchor, to->out);
	rr_array_grow(&to->anchors, to->n_anchors, sizeof(*to->anchors));
	to->anchors[to->n_anchors++] = anchor;
}

/* ---- Tables -------------------------------------------------------------------------------------- */

/* A region that can be scrolled needs a name: "Table 2: WHAT THE HEADING SAYS". */
static const char *print_table(struct rewriting *to, const char *at)
{
	fprintf(to->out, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table %d",
		++to->n_tables);
	for (const char *text = to->heading; text && !begins(text, "</h"); text++) {
		if (*text == '<')
			text += strcspn(text, ">");
		else
			fprintf(to->out, "%s%c", text == to->heading ? ": " : "", *text);
	}
	fputs(to->how->table ? "\"><table class=\"" : "\"><table", to->out);
	fputs(to->how->table ? to->how->table : "", to->out);
	fputs(to->how->table ? "\">" : ">", to->out);
	return skip_tag(at);
}

enum { PROSE_LENGTH = 80 };

/* Has a cell a line of so much text that it needs room? Bytes of the text alone. */
static bool is_prose(const char *at, const char *end)
{
	size_t length = 0;

	while (length < PROSE_LENGTH && at < end) {
		if (begins(at, "<br"))
			length = 0;
		if (*at == '<')
			at = skip_tag(at);
		else
			at++, length++;
	}
	return length == PROSE_LENGTH;
}

/* The class of the cell from `at` to its end tag; NULL = none. */
static const char *class_of_cell(const struct rewriting *to, const char *at, const char *end)
{
	const size_t length = (size_t)(skip_tag(end) - at);

	if (begins(at + 3, " align=\"right\""))
		return "number";
	for (size_t i = 0; to->how->classes && to->how->classes[i][0]; i++) {
		const char *piece = to->how->classes[i][0];

		if (memmem(at, length, piece, strlen(piece)))
			return to->how->classes[i][1];
	}
	return to->how->is_document && is_prose(skip_tag(at), end) ? "prose" : NULL;
}

/* `<td...>` or `<th...>`; a head of a column without words is none. */
static const char *print_cell(struct rewriting *to, const char *at)
{
	const bool is_head = at[2] == 'h';
	const char *end = strstr(at, is_head ? "</th>" : "</td>");
	const char *class = end ? class_of_cell(to, at, end) : NULL;

	if (!end)
		return NULL;
	if (is_head && skip_tag(at) == end) {
		fputs("<td></td>", to->out);
		return skip_tag(end);
	}
	to->is_row_head = !is_head && to->is_first && !to->how->is_document;
	to->is_first = false;
	fputs(is_head         ? "<th scope=\"col\"" :
	      to->is_row_head ? "<th scope=\"row\"" :
				"<td",
	      to->out);
	if (class)
		fprintf(to->out, " class=\"%s\"", class);
	putc('>', to->out);
	return skip_tag(at);
}

/* ---- All tags -------------------------------------------------------------------------------------- */

/* Prints what becomes of a tag, and returns what comes after it; NULL: it stays as it is. */
static const char *print_tag(struct rewriting *to, const char *at)
{
	if (begins(at, "<table>"))
		return print_table(to, at);
	if (begins(at, "<tr>")) {
		const char *next = skip_tag(at);
		char *own = begins(next, "\n<td><a href=\"#") ?
				    take_attribute(next + 5, "href=\"#") :
				    NULL;

		to->is_first = true;
		if (own && !to->how->is_document)
			fprintf(to->out, "<tr id=\"%s\">", own);
		else
			fputs("<tr>", to->out);
		free(own);
		return next;
	}
	if (begins(at, "<td") || begins(at, "<th>") || begins(at, "<th "))
		return print_cell(to, at);
	if (begins(at, "<h") && at[2] >= '1' && at[2] <= '6' && at[3] == '>') {
		/* `<hN>` at `at`. */
		const char *end = strstr(at, "</h");

		if (!end)
			return NULL;
		to->heading = at + 4;
		fprintf(to->out, "<h%c id=\"", at[2]);
		print_id(to, to->heading, (size_t)(end - to->heading));
		fputs("\">", to->out);
		return to->heading;
	}
	if (begins(at, "<a href=\"")) {
		char *target = take_attribute(at, "href=\"");
		char *found = !to->how->find_target || (target[0] == '#' || strstr(target, "://") ||
							begins(target, "mailto:")) ?
				      rr_strdup(target) :
				      to->how->find_target(to->how->context, target);

		to->is_text = found == NULL;
		if (found)
			fprintf(to->out, "<a href=\"%s\">", found);
		free(found);
		free(target);
		return skip_tag(at);
	}
	if (begins(at, "<img ") && to->how->is_document) {
		char *source = take_attribute(at, "src=\""), *words = take_attribute(at, "alt=\"");

		to->how->print_image(to->how->context, to->out, source, words ? words : "");
		free(source);
		free(words);
		return skip_tag(at);
	}
	if (begins(at, "<p><strong>") && !to->how->is_document) {
		const char *text = at + strlen("<p><strong>");

		fprintf(to->out, "<p class=\"lead%s\"><strong>",
			begins(text, "✗") ? " bad" :
			begins(text, "✓") ? " good" :
					    "");
		return text;
	}
	if (begins(at, "</a>")) {
		fputs(to->is_text ? "" : "</a>", to->out);
		to->is_text = false;
	} else if (begins(at, "</td>")) {
		fputs(to->is_row_head ? "</th>" : "</td>", to->out);
	} else if (begins(at, "</table>")) {
		fputs("</table></div>", to->out);
	} else if (begins(at, "<pre>")) {
		fputs("<pre class=\"drawn\" tabindex=\"0\">", to->out);
	} else if (begins(at, "<br>")) {
		fputs("<br/>", to->out);
	} else {
		return NULL;
	}
	return skip_tag(at);
}

static void take_html(const MD_CHAR *text, MD_SIZE size, void *file)
{
	fwrite(text, 1, size, file);
}

void rr_markdown_print_html(FILE *out, char *text, const struct rr_markdown *how)
{
	struct rewriting to = { .how = how, .out = out };
	char *html;
	FILE *memory = rr_open_text(&html);
	const int wrong = md_html(text, (MD_SIZE)strlen(text), take_html, memory,
				  how->is_document ? MD_DIALECT_GITHUB :
						     MD_FLAG_TABLES | MD_FLAG_NOHTML,
				  MD_HTML_FLAG_XHTML);

	fclose(memory);
	free(text);
	if (wrong)
		rr_out_of_memory();
	for (const char *at = html; *at;) {
		const size_t plain = strcspn(at, "<");
		const char *after;

		fwrite(at, 1, plain, out);
		at += plain;
		after = *at ? print_tag(&to, at) : at;
		if (!after)
			putc(*at++, out);
		else
			at = after;
	}
	for (size_t i = 0; i < to.n_anchors; i++)
		free(to.anchors[i]);
	free(to.anchors);
	free(html);
}
