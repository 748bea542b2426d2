/* SPDX-License-Identifier: MIT */
/* Races by what they are about: under the subjects of the claims, and under the documents
 * that make them. */
#include "pages.h"

#include <string.h>

#include "base/text.h"

enum { DOCUMENT_ID = 3, DOCUMENTS_LAST = 999 }; /* letters of "001" */

/* ---- A race's claims -------------------------------------------------------------------- */

static void print_standing(const struct rr_claim_row *row, FILE *out)
{
	rr_xml_print(out, "<strong>%s</strong>%s%s", row->verdict, row->problem[0] ? "; " : "",
		     row->problem);
}

static void print_claim_of(const struct rr_claim_row *row, FILE *out)
{
	const struct rr_claim *claim = row->claim;

	rr_xml_print(out, "<li><a href=\"../claims.html#%s\">%s</a>: %s. ", claim->id, claim->id,
		     claim->text);
	/* "not in the documents" is none. */
	if (strchr("0123456789", claim->where[0]))
		rr_xml_print(out, "(<a href=\"../by-document.html#document-%.*s\">%s</a>) ",
			     DOCUMENT_ID, claim->where, row->where);
	else
		rr_xml_print(out, "(%s) ", row->where);
	print_standing(row, out);
	fputs("</li>\n", out);
}

void rr_site_print_claims_of(const struct rr_site *site, const struct rr_race *race, FILE *out)
{
	bool is_first = true;

	for (size_t i = 0; i < site->claims.n; i++) {
		if (!rr_race_names_claim(race, site->claims.rows[i].claim->id))
			continue;
		fputs(is_first ? "<h2>What is claimed about it</h2>\n<ul>\n" : "", out);
		is_first = false;
		print_claim_of(&site->claims.rows[i], out);
	}
	fputs(is_first ? "" : "</ul>\n", out);
}

/* ---- Tables of races ---------------------------------------------------------------------- */

static void begin_table(const char *id, const char *title, FILE *out)
{
	rr_xml_print(
		out,
		"<h2 id=\"%s\">%s</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
		"<table class=\"words\">\n<thead><tr><th scope=\"col\">race</th><th scope=\"col\">what happens</th>"
		"<th scope=\"col\">found</th><th scope=\"col\">claims</th></tr></thead>\n<tbody>\n",
		id, title, title);
}

static void print_race(const struct rr_site *site, const struct rr_site_race *race, FILE *out)
{
	rr_xml_print(
		out,
		"<tr><th scope=\"row\"><a href=\"races/%s.html\">%s</a></th><td>%s</td><td>%s</td><td>",
		race->name, race->name, race->race->title, race->outcome);
	for (size_t i = 0; i < site->claims.n; i++) {
		const char *id = site->claims.rows[i].claim->id;

		if (rr_race_names_claim(race->race, id))
			rr_xml_print(out, "<a href=\"claims.html#%s\">%s</a> ", id, id);
	}
	fputs("</td></tr>\n", out);
}

/* Those that `belongs` says belong there; nothing if there are none. */
struct shelf {
	const char *id, *title;
	bool (*belongs)(const void *context, const struct rr_race *race);
	const void *context;
};

static void print_shelf(const struct rr_site *site, const struct shelf *shelf, FILE *out)
{
	bool is_empty = true;

	for (size_t i = 0; i < site->n_races; i++) {
		if (!shelf->belongs(shelf->context, site->races[i].race))
			continue;
		if (is_empty)
			begin_table(shelf->id, shelf->title, out);
		is_empty = false;
		print_race(site, &site->races[i], out);
	}
	fputs(is_empty ? "" : "</tbody></table></div>\n", out);
}

/* ---- By subject ---------------------------------------------------------------------------- */

static bool is_of_section(const void *context, const struct rr_race *race)
{
	const struct rr_claim_section *section = context;

	for (size_t i = 0; i < *section->n_claims; i++) {
		if (rr_race_names_claim(race, section->claims[i].id))
			return true;
	}
	return false;
}

static bool is_of_none(const void *context, const struct rr_race *race)
{
	(void)context;
	return race->claims[0] == '\0';
}

static void print_subjects(const struct rr_site *site, FILE *out)
{
	const struct shelf others = { "others", "Of no document", is_of_none, NULL };
	char id[32];

	for (size_t i = 0; i < rr_n_claim_sections; i++) {
		const struct shelf shelf = { id, rr_claim_sections[i].title, is_of_section,
					     &rr_claim_sections[i] };

		snprintf(id, sizeof(id), "subject-%zu", i + 1);
		print_shelf(site, &shelf, out);
	}
	print_shelf(site, &others, out);
}

/* ---- By document --------------------------------------------------------------------------- */

/* "000:3-9, 001:5-11" names both. */
static bool claim_is_of(const struct rr_claim *claim, const char *document)
{
	const char *at = claim->where;

	while (at && strncmp(at, document, DOCUMENT_ID) != 0) {
		at = strchr(at, ',');
		at = at ? at + strspn(at, ", ") : NULL;
	}
	return at != NULL;
}

static bool is_of_document(const void *document, const struct rr_race *race)
{
	const struct rr_claim *claim;

	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		if (claim_is_of(claim, document) && rr_race_names_claim(race, claim->id))
			return true;
	}
	return false;
}

static void print_sayings(const struct rr_site *site, const char *document, FILE *out)
{
	fputs("<ul>\n", out);
	for (size_t i = 0; i < site->claims.n; i++) {
		const struct rr_claim_row *row = &site->claims.rows[i];

		if (!claim_is_of(row->claim, document))
			continue;
		rr_xml_print(out, "<li>%s: %s. <a href=\"claims.html#%s\">%s</a>, ", row->where,
			     row->claim->text, row->claim->id, row->claim->id);
		print_standing(row, out);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
}

static void print_document(const struct rr_site *site, const char *document, FILE *out)
{
	char id[24], title[48];
	const struct shelf shelf = { id, title, is_of_document, document };

	rr_xml_print(
		out,
		"<h2 id=\"document-%s\">Document %s</h2>\n"
		"<p><a href=\"docs/documents.html#document-%s\">What it is, and where it errs.</a> "
		"It says, in our words, at these lines:</p>\n",
		document, document, document);
	print_sayings(site, document, out);
	snprintf(id, sizeof(id), "races-%s", document);
	snprintf(title, sizeof(title), "Races of document %s", document);
	print_shelf(site, &shelf, out);
}

static bool is_spoken_of(const char *document)
{
	const struct rr_claim *claim;

	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		if (claim_is_of(claim, document))
			return true;
	}
	return false;
}

static void print_documents(const struct rr_site *site, FILE *out)
{
	char document[8];

	for (int i = 0; i <= DOCUMENTS_LAST; i++) {
		snprintf(document, sizeof(document), "%03d", i);
		if (is_spoken_of(document))
			print_document(site, document, out);
	}
}

/* ---- The pages ------------------------------------------------------------------------------- */

bool rr_site_write_lists(const struct rr_site *site, struct rr_error *error)
{
	struct rr_site_page page;

	rr_site_page_begin(&page, site, "races.html", "Races by subject");
	fprintf(page.draft.out,
		"<h1>Races by subject</h1>\n<p>%zu races, each played on real servers for this site. "
		"A race is about one or several claims of <a href=\"by-document.html\">five documents</a>.</p>\n",
		site->n_races);
	print_subjects(site, page.draft.out);
	if (!rr_site_page_end(&page, NULL, error))
		return false;
	rr_site_page_begin(&page, site, "by-document.html", "Races by document");
	fputs("<h1>Races by document</h1>\n", page.draft.out);
	print_documents(site, page.draft.out);
	return rr_site_page_end(&page, NULL, error);
}
