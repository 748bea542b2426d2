/* SPDX-License-Identifier: MIT */
/* The claims and what became of them as a page of HTML. */
#include <string.h>

#include "base/text.h"
#include "claims.h"
#include "draw/draw.h"

static const char introduction[] =
	"<h1>What the documents claim</h1>\n"
	"<p>Every race named here was played on real servers, and what is left to chance was measured. "
	"A claim is true if all that its races say of it holds, false if nothing does, true under a condition if some does, "
	"and incomplete if the document says nothing about what is shown. "
	"001:53 is line 53 of document 001. "
	"<code>redrace report RACE</code> makes a page of a race, to step through.</p>\n";

static void print_race(FILE *file, const char *name, const struct rr_claim_pages *pages)
{
	if (pages && pages->has_race(pages->site, name))
		rr_xml_print(file, "<a href=\"races/%s.html\">%s</a> ", name, name);
	else
		rr_xml_print(file, "<code>%s</code> ", name);
}

static void print_races(FILE *file, const char *list, const struct rr_claim_pages *pages)
{
	char name[RR_JOB_NAME];

	while (*list) {
		const size_t part = strcspn(list, ", ");

		snprintf(name, sizeof(name), "%.*s", (int)part, list);
		print_race(file, name, pages);
		list += part;
		list += strspn(list, ", ");
	}
}

/* "001:53 (derived)": what begins with a digit is a document. */
static void print_where(FILE *file, const char *where, const struct rr_claim_pages *pages)
{
	while (*where) {
		const size_t part = strcspn(where, ", ");

		if (pages && strchr("0123456789", *where))
			rr_xml_print(file, "<a href=\"by-document.html#document-%.*s\">%.*s</a>", 3,
				     where, (int)part, where);
		else
			rr_xml_print(file, "%.*s", (int)part, where);
		where += part;
		for (; *where && strchr(", ", *where); where++)
			fputc(*where, file);
	}
}

static void print_claim(const struct rr_claim_row *row, const struct rr_claim_pages *pages,
			FILE *file)
{
	const bool stands = row->standing == RR_STANDS;

	rr_xml_print(file,
		     "<tr id=\"%s\"><th scope=\"row\"><a href=\"#%s\">%s</a></th><td>%s</td><td>",
		     row->claim->id, row->claim->id, row->claim->id, row->claim->text);
	print_where(file, row->where, pages);
	rr_xml_print(file, "</td><td class=\"%s\">%s</td><td>%s",
		     !stands                               ? "open" :
		     row->claim->verdict == RR_CLAIM_TRUE  ? "safe" :
		     row->claim->verdict == RR_CLAIM_FALSE ? "breaks" :
							     "open",
		     row->verdict, row->observed);
	if (row->problem[0])
		rr_xml_print(file, " <strong class=\"bad\">%s</strong>", row->problem);
	fputs("</td><td>", file);
	print_races(file, row->races, pages);
	fputs("</td></tr>\n", file);
}

static void begin_section(const char *title, FILE *file)
{
	rr_xml_print(
		file,
		"<h2>%s</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table class=\"words claims\">\n"
		"<thead><tr><th scope=\"col\">id</th><th scope=\"col\">the document says</th><th scope=\"col\">where</th>"
		"<th scope=\"col\">verdict</th><th scope=\"col\">observed</th><th scope=\"col\">races</th></tr></thead>\n<tbody>\n",
		title, title);
}

void rr_claims_html_part(const struct rr_claim_rows *rows, const struct rr_claim_pages *pages,
			 FILE *file)
{
	fputs(introduction, file);
	fputs("<p class=\"lead\"><strong>", file);
	rr_claim_rows_summarise(rows, file);
	rr_xml_print(file, "%s%s.</strong></p>\n", rows->version[0] ? ", on " : "", rows->version);
	for (size_t i = 0; i < rows->n; i++) {
		const struct rr_claim_row *row = &rows->rows[i];

		if (row->section || i == 0) {
			fputs(i == 0 ? "" : "</tbody></table></div>\n", file);
			begin_section(row->section ? row->section : "Claims", file);
		}
		print_claim(row, pages, file);
	}
	fputs(rows->n > 0 ? "</tbody></table></div>\n" : "", file);
}

void rr_claims_html(const struct rr_claim_rows *rows, FILE *file)
{
	rr_page_begin(file, "What the documents claim");
	rr_claims_html_part(rows, NULL, file);
	rr_page_end(file, NULL);
}
