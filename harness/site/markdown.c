/* SPDX-License-Identifier: MIT */
/* Markdown as HTML by the library md4c; what it makes is passed on with links of the site,
 * anchors of headings, tables and listings that can be scrolled. */
#include "pages.h"

#include <md4c-html.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"

/* ---- Anchors of headings ------------------------------------------------------------------- */

static bool is_of_word(utf8proc_int32_t letter)
{
	const utf8proc_category_t category = utf8proc_category(letter);

	return letter == '-' || letter == '_' ||
	       (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO);
}

/* As GitHub makes them: letters, digits, _ and - of its text, small, with - for blanks. */
static void print_anchor(const char *html, size_t length, FILE *out)
{
	const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)html, *end = at + length;
	utf8proc_int32_t letter;
	utf8proc_uint8_t bytes[4];

	for (utf8proc_ssize_t n; at < end && (n = utf8proc_iterate(at, end - at, &letter)) > 0;
	     at += n) {
		if (letter == '<')
			at += strcspn((const char *)at, ">");
		else if (letter == '&')
			at += strcspn((const char *)at, ";");
		else if (letter == ' ')
			putc('-', out);
		else if (is_of_word(letter))
			fwrite(bytes, 1,
			       (size_t)utf8proc_encode_char(utf8proc_tolower(letter), bytes), out);
	}
}

/* ---- One tag ----------------------------------------------------------------------------------- */

struct rewriting {
	struct rr_site *site;
	FILE *out;
	bool is_text; /* the link that is open leads nowhere, and has no tag */
	int n_tables;
	struct rr_error *error;
};

static const char *skip_tag(const char *at)
{
	return at + strcspn(at, ">") + 1;
}

/* `<hN>` at `at`. */
static const char *print_heading(struct rewriting *to, const char *at)
{
	const char *text = at + 4;
	const char *end = strstr(text, "</h");

	fprintf(to->out, "<h%c id=\"", at[2]);
	print_anchor(text, (size_t)((end ? end : text) - text), to->out);
	fputs("\">", to->out);
	return text;
}

static char *take_attribute(const char *at, const char *name)
{
	const char *end = at + strcspn(at, ">"), *from = strstr(at, name);

	if (!from || from > end)
		return NULL;
	from += strlen(name);
	return rr_strndup(from, strcspn(from, "\""));
}

static bool leads_out(const char *target)
{
	return target[0] == '#' || strstr(target, "://") || strncmp(target, "mailto:", 7) == 0;
}

/* A link to what the site has not got is its words alone. */
static const char *print_link(struct rewriting *to, const char *at)
{
	char *target = take_attribute(at, "href=\"");
	char *found = leads_out(target) ? rr_strdup(target) : rr_site_find_target(to->site, target);

	to->is_text = found == NULL;
	if (found)
		fprintf(to->out, "<a href=\"%s\">", found);
	free(found);
	free(target);
	return skip_tag(at);
}

static const char *print_image(struct rewriting *to, const char *at)
{
	char *source = take_attribute(at, "src=\""), *words = take_attribute(at, "alt=\"");
	char path[2 * RR_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%.900s", to->site->docs, source);
	rr_report_image(to->out, path, words ? words : "", rr_ends_in(source, ".svg"), to->error);
	free(source);
	free(words);
	return skip_tag(at);
}

static const char *end_link(struct rewriting *to, const char *at)
{
	fputs(to->is_text ? "" : "</a>", to->out);
	to->is_text = false;
	return skip_tag(at);
}

enum { PROSE_LENGTH = 80 };

/* Has a cell a line of so much text that it needs room? Bytes of the text alone. */
static bool is_prose(const char *at)
{
	size_t length = 0;

	while (length < PROSE_LENGTH && *at && strncmp(at, "</td>", 5) != 0) {
		if (strncmp(at, "<br", 3) == 0)
			length = 0;
		if (*at == '<')
			at = skip_tag(at);
		else
			at++, length++;
	}
	return length == PROSE_LENGTH;
}

/* What becomes of a tag; NULL: it stays as it is. */
static const char *print_tag(struct rewriting *to, const char *at)
{
	static const struct {
		const char *tag, *instead;
	} others[] = {
		{ "</table>", "</table></div>" },
		{ "<pre>", "<pre class=\"drawn\" tabindex=\"0\">" },
		{ "<br>", "<br/>" },
		{ "<th></th>", "<td></td>" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strncmp(at, others[i].tag, strlen(others[i].tag)) != 0)
			continue;
		fputs(others[i].instead, to->out);
		return at + strlen(others[i].tag);
	}
	if (strncmp(at, "<table>", 7) == 0) {
		fprintf(to->out,
			"<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table %d\">",
			++to->n_tables);
		return NULL;
	}
	if (strncmp(at, "<td>", 4) == 0 && is_prose(at + 4)) {
		fputs("<td class=\"prose\">", to->out);
		return at + 4;
	}
	if (at[1] == 'h' && at[2] >= '1' && at[2] <= '6' && at[3] == '>')
		return print_heading(to, at);
	if (strncmp(at, "<a href=\"", 9) == 0)
		return print_link(to, at);
	if (strncmp(at, "</a>", 4) == 0)
		return end_link(to, at);
	if (strncmp(at, "<img ", 5) == 0)
		return print_image(to, at);
	return NULL;
}

static void rewrite(struct rewriting *to, const char *html)
{
	while (*html) {
		const size_t plain = strcspn(html, "<");
		const char *behind;

		fwrite(html, 1, plain, to->out);
		html += plain;
		behind = *html ? print_tag(to, html) : html;
		if (!behind)
			putc(*html++, to->out);
		else
			html = behind;
	}
}

/* ---- The whole ------------------------------------------------------------------------------------ */

static void take_html(const MD_CHAR *text, MD_SIZE size, void *file)
{
	fwrite(text, 1, size, file);
}

bool rr_site_print_markdown(struct rr_site *site, const char *text, size_t length, FILE *out,
			    struct rr_error *error)
{
	struct rewriting to = { .site = site, .out = out, .error = error };
	char *html;
	FILE *memory = rr_open_text(&html);
	const int wrong = md_html(text, (MD_SIZE)length, take_html, memory, MD_DIALECT_GITHUB,
				  MD_HTML_FLAG_XHTML);

	fclose(memory);
	if (wrong)
		rr_error_set(error, RR_ERROR_INTERNAL, "a document cannot be read as Markdown");
	else
		rewrite(&to, html);
	free(html);
	return error->kind == RR_ERROR_NONE;
}
