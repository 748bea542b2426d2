/* SPDX-License-Identifier: MIT */
/* A page for each race: how it went, what is safe beside it, what is claimed about it. And lists of
 * them: under the subjects of the claims, and under the documents that make them. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "draw/draw.h"
#include "play/play.h"
#include "report/report.h"

enum { FILE_SIZE = 200 };

enum { DOCUMENT_ID = 3, DOCUMENTS_LAST = 999 }; /* letters of "001" */

/* ---- Which ---------------------------------------------------------------------------- */

static bool add_race(struct rr_site *site, const char *name, struct rr_error *error)
{
	struct rr_race *race = rr_library_open(name, error);

	if (!race)
		return false;
	rr_array_grow(&site->races, site->n_races, sizeof(*site->races));
	site->races[site->n_races++] = (struct rr_site_race){ .name = rr_strdup(name),
							      .race = race };
	return true;
}

bool rr_site_open_races(struct rr_site *site, struct rr_error *error)
{
	const struct rr_site_config *config = site->config;
	bool good = true;
	char **names;
	size_t n;

	for (size_t i = 0; good && i < config->n_races; i++)
		good = rr_site_has_race(site, config->races[i]) ||
		       add_race(site, config->races[i], error);
	if (config->n_races > 0)
		return good;
	names = rr_library_names(&n);
	if (n == 0)
		good = rr_error_set(error, RR_ERROR_FILE, "the races of the project are not there");
	for (size_t i = 0; good && i < n; i++)
		good = add_race(site, names[i], error);
	rr_files_free_list(names, n);
	return good;
}

void rr_site_close_races(struct rr_site *site)
{
	for (size_t i = 0; i < site->n_races; i++) {
		free(site->races[i].name);
		rr_race_free(site->races[i].race);
		free(site->races[i].outcome);
	}
	free(site->races);
}

bool rr_site_has_race(const void *site, const char *name)
{
	const struct rr_site *one = site;

	for (size_t i = 0; i < one->n_races; i++) {
		if (strcmp(one->races[i].name, name) == 0)
			return true;
	}
	return false;
}

/* ---- A page --------------------------------------------------------------------------- */

static void print_standing(const struct rr_claim_row *row, FILE *out)
{
	rr_markdown_print(out, "**%s**%s%s\n", row->verdict, row->problem[0] ? "; " : "",
			  row->problem);
}

/* What is claimed about a race, on its page: HTML. */
static void print_claims_of(const struct rr_site *site, const struct rr_race *race, FILE *out)
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

static void print_neighbour(const struct rr_site *site, size_t i, const char *words, FILE *out)
{
	if (i < site->n_races)
		rr_xml_print(out, "<a href=\"%s.html\">%s: %s</a>\n", site->races[i].name, words,
			     site->races[i].name);
	else
		fputs("<span></span>\n", out);
}

static bool play_race(struct rr_site *site, struct rr_site_race *race, struct rr_cluster *cluster,
		      FILE *out, struct rr_error *error)
{
	struct rr_counterpart counterpart = { 0 };
	struct rr_trace trace = { 0 };
	bool good = rr_player_play(race->race, cluster, NULL, &trace, error) &&
		    rr_counterpart_play(&counterpart, race->race, cluster, error);

	if (good) {
		site->as_expected = site->as_expected && trace.as_written;

		char command[FILE_SIZE], outcome[FILE_SIZE];
		struct rr_article article = { .id = "race", .command = command };

		snprintf(command, sizeof(command), "redrace play %s", race->name);
		rr_counterpart_show(&counterpart, race->race, &article);
		rr_draw_article(out, &trace, &article);
		rr_trace_verdict(&trace, outcome, sizeof(outcome));
		race->outcome = rr_strdup(outcome);
	} else if (error->kind == RR_ERROR_SKIPPED) {
		/* It needs another server: its file is shown all the same. */
		const char *why = error->text;
		char *text = rr_race_text(race->race);

		rr_xml_print(out,
			     "<h1>%s</h1>\n<p class=\"lead\"><strong>Skipped: %s.</strong></p>\n",
			     race->race->title, why);
		rr_xml_print(out, "<h2>The race as a file</h2>\n<pre>%s</pre>\n", text);
		free(text);
		race->outcome = rr_asprintf("skipped: %s", why);
		good = rr_error_set_aside(error, RR_ERROR_SKIPPED);
	}
	rr_counterpart_free(&counterpart);
	rr_trace_free(&trace);
	return good;
}

static bool write_race(struct rr_site *site, size_t i, struct rr_cluster *cluster,
		       struct rr_error *error)
{
	struct rr_site_race *race = &site->races[i];
	struct rr_site_page page;
	char file[FILE_SIZE];
	bool good;

	snprintf(file, sizeof(file), "races/%.180s.html", race->name);
	rr_site_page_begin(&page, site, file, race->race->title);
	good = play_race(site, race, cluster, page.draft.out, error);
	if (good) {
		FILE *out = page.draft.out;
		print_claims_of(site, site->races[i].race, out);
		fputs("<p class=\"neighbours\">", out);
		print_neighbour(site, i - 1, "Before it", out);
		print_neighbour(site, i + 1, "After it", out);
		fputs("</p>\n", out);
	}
	return rr_site_page_end(&page, rr_race_script, error);
}

bool rr_site_write_races(struct rr_site *site, struct rr_error *error)
{
	const struct rr_cluster_options servers = { .program = site->config->redis_server,
						    .cpu = -1 };
	struct rr_workplace *place = rr_workplace_new(&servers, error);
	bool good = place != NULL;

	for (size_t i = 0; good && i < site->n_races; i++)
		good = write_race(site, i, &place->cluster, error);
	rr_workplace_free(place);
	return good;
}

bool rr_site_show_race(const struct rr_site *site, const char *name, FILE *out,
		       struct rr_error *error)
{
	const struct rr_cluster_options servers = { .program = site->config->redis_server,
						    .cpu = -1 };
	struct rr_race *race = rr_library_open(name, error);
	struct rr_workplace *place = race ? rr_workplace_new(&servers, error) : NULL;
	struct rr_trace trace = { 0 };
	const bool good = place && rr_player_play(race, &place->cluster, NULL, &trace, error);

	if (good) {
		char command[FILE_SIZE];
		const struct rr_article article = { .id = "race",
						    .command = command,
						    .is_part = true };

		snprintf(command, sizeof(command), "redrace play %s", name);
		rr_draw_article(out, &trace, &article);
	}
	rr_trace_free(&trace);
	rr_workplace_free(place);
	rr_race_free(race);
	return good;
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

/* ---- The pages ------------------------------------------------------------------------------- */

bool rr_site_write_lists(const struct rr_site *site, struct rr_error *error)
{
	const struct rr_markdown how = { .table = "words" };
	char document[8], title[48];
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

	for (int i = 0; i <= DOCUMENTS_LAST; i++) {
		snprintf(document, sizeof(document), "%03d", i);
		if (!is_of_document(document, NULL))
			continue;
		fprintf(markdown,
			"\n## Document %s\n\n[What it is, and where it errs.](docs/documents.html#document-%s) "
			"It says, in our words, at these lines:\n\n",
			document, document);
		for (size_t k = 0; k < site->claims.n; k++) {
			const struct rr_claim_row *row = &site->claims.rows[k];

			if (!claim_is_of(row->claim, document))
				continue;
			rr_markdown_print(markdown, "- %s: %s. [%s](claims.html#%s), ", row->where,
					  row->claim->text, row->claim->id, row->claim->id);
			print_standing(row, markdown);
		}
		snprintf(title, sizeof(title), "Races of document %s", document);
		print_races(site, title, is_of_document, document, markdown);
	}
	fclose(markdown);
	return rr_site_write_markdown(site, "by-document.html", "Races by document", text, &how,
				      error);
}
