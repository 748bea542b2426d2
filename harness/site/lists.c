/* SPDX-License-Identifier: MIT */
/* Races by what they are about: under the subjects of the claims, and under the documents
 * that make them. */
#include "pages.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { DOCUMENT_ID = 3, DOCUMENTS_LAST = 999 }; /* letters of "001" */

/* ---- A race's claims -------------------------------------------------------------------- */

static void print_standing(const struct rr_claim_row *row, FILE *out)
{
	rr_markdown_print(out, "**%s**%s%s\n", row->verdict, row->problem[0] ? "; " : "",
			  row->problem);
}

void rr_site_print_claims_of(const struct rr_site *site, const struct rr_race *race, FILE *out)
{
	const struct rr_markdown how = { 0 };
	char *text;
	FILE *markdown = rr_open_text(&text);
	const char *heading = "## What is claimed about it\n\n";

	for (size_t i = 0; i < site->claims.n; i++) {
		const struct rr_claim_row *row = &site->claims.rows[i];
		const struct rr_claim *claim = row->claim;

		if (!rr_race_names_claim(race, claim->id))
			continue;
		fputs(heading, markdown);
		heading = "";
		rr_markdown_print(markdown, "- [%s](../claims.html#%s): %s. ", claim->id, claim->id,
				  claim->text);
		/* "not in the documents" is none. */
		if (strchr("0123456789", claim->where[0]))
			rr_markdown_print(markdown, "([%s](../by-document.html#document-%.*s)) ",
					  row->where, DOCUMENT_ID, claim->where);
		else
			rr_markdown_print(markdown, "(%s) ", row->where);
		print_standing(row, markdown);
	}
	fclose(markdown);
	rr_markdown_print_html(out, text, &how);
}

/* ---- Tables of races ---------------------------------------------------------------------- */

/* Those that `belongs` says belong there; nothing if there are none. */
static void print_races(const struct rr_site *site, const char *title,
			bool (*belongs)(const void *context, const struct rr_race *race),
			const void *context, FILE *out)
{
	bool is_empty = true;

	for (size_t i = 0; i < site->n_races; i++) {
		if (!belongs(context, site->races[i].race))
			continue;
		if (is_empty)
			rr_markdown_print(
				out,
				"\n## %s\n\n| race | what happens | found | claims |\n|---|---|---|---|\n",
				title);
		is_empty = false;

		const struct rr_site_race *race = &site->races[i];
		rr_markdown_print(out, "| [%s](<races/%s.html>) | %s | %s |", race->name,
				  race->name, race->race->title, race->outcome);
		for (size_t j = 0; j < site->claims.n; j++) {
			const char *id = site->claims.rows[j].claim->id;

			if (rr_race_names_claim(race->race, id))
				rr_markdown_print(out, " [%s](claims.html#%s)", id, id);
		}
		fputs(" |\n", out);
	}
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

/* Is one of the document's claims about the race? `race` NULL: has it any? */
static bool is_of_document(const void *document, const struct rr_race *race)
{
	const struct rr_claim *claim;

	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		if (claim_is_of(claim, document) && (!race || rr_race_names_claim(race, claim->id)))
			return true;
	}
	return false;
}

static void print_document(const struct rr_site *site, const char *document, FILE *out)
{
	char title[48];

	fprintf(out,
		"\n## Document %s\n\n[What it is, and where it errs.](docs/documents.html#document-%s) "
		"It says, in our words, at these lines:\n\n",
		document, document);
	for (size_t i = 0; i < site->claims.n; i++) {
		const struct rr_claim_row *row = &site->claims.rows[i];

		if (!claim_is_of(row->claim, document))
			continue;
		rr_markdown_print(out, "- %s: %s. [%s](claims.html#%s), ", row->where,
				  row->claim->text, row->claim->id, row->claim->id);
		print_standing(row, out);
	}
	snprintf(title, sizeof(title), "Races of document %s", document);
	print_races(site, title, is_of_document, document, out);
}

/* ---- The pages ------------------------------------------------------------------------------- */

bool rr_site_write_lists(const struct rr_site *site, struct rr_error *error)
{
	const struct rr_markdown how = { .table = "words" };
	char *text;
	FILE *markdown = rr_open_text(&text);

	fprintf(markdown,
		"# Races by subject\n\n%zu races, each played on real servers for this site. "
		"A race is about one or several claims of [five documents](by-document.html).\n",
		site->n_races);
	for (size_t i = 0; i < rr_n_claim_sections; i++)
		print_races(site, rr_claim_sections[i].title, is_of_section, &rr_claim_sections[i],
			    markdown);
	print_races(site, "Of no document", is_of_none, NULL, markdown);
	fclose(markdown);
	if (!rr_site_write_markdown(site, "races.html", "Races by subject", text, &how, error))
		return false;
	markdown = rr_open_text(&text);
	fputs("# Races by document\n", markdown);

	char document[8];

	for (int i = 0; i <= DOCUMENTS_LAST; i++) {
		snprintf(document, sizeof(document), "%03d", i);
		if (is_of_document(document, NULL))
			print_document(site, document, markdown);
	}
	fclose(markdown);
	return rr_site_write_markdown(site, "by-document.html", "Races by document", text, &how,
				      error);
}
