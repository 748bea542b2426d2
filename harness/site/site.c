/* SPDX-License-Identifier: MIT */
/* All that a site is made of, one after the other. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "draw/draw.h"
#include "report/report.h"

/* ---- One page ------------------------------------------------------------------------------- */

static const struct {
	const char *file, *words;
} main_pages[] = {
	{ "index.html", "redrace" },
	{ "races.html", "Races" },
	{ "by-document.html", "By document" },
	{ "matrix.html", "Matrix" },
	{ "claims.html", "Claims" },
	{ "docs/found.html", "Found" },
	{ "game.html", "Game" },
	{ "plots.html", "Plots" },
	{ "lessons.html", "Lessons" },
};

/* The links to the main pages, as they stand above `file`: malloc'd. Pages lie in the site or in a folder of it, not deeper. */
static char *print_navigation(const char *file)
{
	const char *up = strchr(file, '/') ? "../" : "";
	char *text;
	FILE *out = rr_open_text(&text);

	fputs("<nav aria-label=\"Site\"><ul>\n", out);
	for (size_t i = 0; i < sizeof(main_pages) / sizeof(main_pages[0]); i++)
		fprintf(out, "<li><a href=\"%s%s\"%s>%s</a></li>\n", up, main_pages[i].file,
			strcmp(file, main_pages[i].file) == 0 ? " aria-current=\"page\"" : "",
			main_pages[i].words);
	fputs("</ul></nav>", out);
	fclose(out);
	return text;
}

void rr_site_page_begin(struct rr_site_page *page, const struct rr_site *site, const char *file,
			const char *title)
{
	char *navigation = print_navigation(file);

	snprintf(page->path, sizeof(page->path), "%.800s/%.200s", site->config->directory, file);
	rr_draft_open(&page->draft);
	rr_page_begin(page->draft.out, title, navigation);
	free(navigation);
}

bool rr_site_write_markdown(const struct rr_site *site, const char *file, const char *title,
			    char *text, const struct rr_markdown *how, struct rr_error *error)
{
	struct rr_site_page page;
	FILE *out;

	rr_site_page_begin(&page, site, file, title);
	out = page.draft.out;
	if (how->is_document)
		fprintf(out, "<article class=\"document\"%s>\n",
			rr_ends_in(file, ".zh.html") ? " lang=\"zh\"" : "");
	rr_markdown_print_html(out, text, how);
	fputs(how->is_document ? "</article>\n" : "", out);
	return rr_site_page_end(&page, NULL, error);
}

bool rr_site_page_end(struct rr_site_page *page, const char *script, struct rr_error *error)
{
	rr_page_end(page->draft.out, script);
	return rr_draft_replace(&page->draft, page->path, error);
}

/* ---- What is computed first ----------------------------------------------------------------- */

/* With some of the races only, only the claims that these are about. */
static void choose_claims(struct rr_site *site)
{
	const struct rr_claim *claim;
	size_t n = 0;

	if (site->config->n_races == 0)
		return;
	while (rr_claim_at(n))
		n++;
	site->choice.claims = rr_calloc(n, sizeof(*site->choice.claims));
	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		for (size_t k = 0; k < site->n_races; k++) {
			if (!rr_race_names_claim(site->races[k].race, claim->id))
				continue;
			site->choice.claims[site->choice.n++] = claim;
			break;
		}
	}
}

/* The claims, and the matrix. */
static bool compute(struct rr_site *site, struct rr_error *error)
{
	const struct rr_site_config *config = site->config;
	const struct rr_chosen_strategies *chosen = &config->strategies;
	const struct rr_cluster_options servers = {
		.program = config->redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};
	struct rr_signals signals;
	bool good;

	if (!rr_signals_open(&signals))
		return rr_error_set(error, RR_ERROR_INTERNAL, "cannot watch signals");
	config->progress("checking claims");
	choose_claims(site);
	good = rr_claims_deal(&site->choice, error) &&
	       rr_jobs_collect(&site->jobs, config->redis_server, &site->choice, error) &&
	       rr_jobs_run(&site->jobs, config->jobs, &signals, error);
	if (good) {
		rr_judge(&site->claims, &site->jobs, &site->choice);
		site->as_expected &= rr_claim_rows_exit(&site->claims) != RR_EXIT_VIOLATED;
		config->progress("searching the matrix");
		rr_matrix_init(&site->matrix, chosen->n ? chosen->all : rr_strategies,
			       chosen->n ? chosen->n : rr_n_strategies, RR_ALL_HAZARDS, 0);
		good = rr_matrix_run(&site->matrix, &servers, config->jobs, &signals, error);
	}
	if (good)
		site->as_expected &= rr_matrix_exit(&site->matrix) != RR_EXIT_VIOLATED;
	rr_signals_close(&signals);
	return good;
}

/* ---- Pages ------------------------------------------------------------------------------------- */

static bool write_matrix(struct rr_site *site, struct rr_error *error)
{
	const struct rr_cell *cell = NULL;
	struct rr_site_page page;
	bool good;

	/* A page of the whole, and one of each cell that fails. */
	rr_site_page_begin(&page, site, "matrix.html", "The safety matrix");
	rr_matrix_html_part(&site->matrix, rr_site_links(site), page.draft.out);
	good = rr_site_page_end(&page, NULL, error);
	while (good && (cell = rr_matrix_next_page(&site->matrix, cell))) {
		char id[RR_CELL_ID], title[RR_CELL_TITLE], file[RR_PATH_SIZE];

		rr_cell_id(cell, id);
		rr_cell_title(cell, title);
		snprintf(file, sizeof(file), "matrix/%s.html", id);
		rr_site_page_begin(&page, site, file, title);
		rr_xml_print(page.draft.out, "<h1>%s</h1>\n", title);
		rr_cell_html(cell, page.draft.out);
		good = rr_site_page_end(&page, rr_race_script, error);
	}
	return good;
}

/* Results directories with their plots, or those of docs/. */
static bool write_plots(const struct rr_site *site, struct rr_error *error)
{
	const struct rr_site_config *config = site->config;
	struct rr_site_page page;
	bool good = true;

	rr_site_page_begin(&page, site, "plots.html", "Plots");
	fputs("<h1>Plots</h1>\n<p><code>redrace bench</code> counts at full speed; this is what it measured.</p>\n",
	      page.draft.out);
	if (config->n_results == 0)
		good = rr_report_plots(page.draft.out, site->docs, error);
	for (size_t i = 0; good && i < config->n_results; i++)
		good = rr_report_results(page.draft.out, config->results[i], error);
	return rr_site_page_end(&page, NULL, error);
}

static bool write_game(const struct rr_site *site, struct rr_error *error)
{
	const struct rr_cluster_options servers = {
		.program = site->config->redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};
	char *navigation = print_navigation("game.html");
	const struct rr_game_config config = { .navigation = navigation };
	struct rr_workplace *place = rr_workplace_new(&servers, error);
	char path[RR_PATH_SIZE];
	struct rr_draft draft;

	snprintf(path, sizeof(path), "%.900s/game.html", site->config->directory);
	rr_draft_open(&draft);
	if (place)
		rr_game_write(draft.out, &place->cluster, &config, error);
	rr_workplace_free(place);
	free(navigation);
	return rr_draft_replace(&draft, path, error);
}

/* ---- The first page ------------------------------------------------------------------------- */

enum { FINDINGS_SHOWN = 3 };

static const char first[] =
	"<h1>Races of Redis clients, on real servers</h1>\n"
	"<p class=\"lead\"><strong>Every command of Redis is atomic; two of them are not.</strong> "
	"Two clients count, each with a GET and a SET. Step through what happens:</p>\n";

static const struct {
	const char *file, *title, *words;
} ways_on[] = {
	{ "game.html", "The game", "You are the scheduler: pick whose command comes next." },
	{ "docs/check.html", "Your own program", "The same search of a program in any language." },
	{ "races.html", "Races", "Each has a page, to be stepped through." },
	{ "by-document.html", "Five documents",
	  "Their claims about Redis locks, and the races that test them." },
	{ "matrix.html", "The safety matrix", "Every strategy under every hazard." },
	{ "claims.html", "Claims", "What is true of what the documents say." },
	{ "docs/found.html", "Found", "Races in packages that people use." },
	{ "lessons.html", "Lessons", "Three of 45 minutes, and all documents." },
};

/* The first findings of docs/found.md, which has the strongest first: a heading "#### PACKAGE" for
 * each, below it a sentence; and before them links "[PACKAGE](#ANCHOR)". */
static bool show_findings(const struct rr_site *site, FILE *out, struct rr_error *error)
{
	char path[2 * RR_PATH_SIZE], *text;
	const char *at;
	size_t length;

	snprintf(path, sizeof(path), "%s/found.md", site->docs);
	text = rr_files_read(path, RR_ERROR_DATA, 64, &length, error);
	if (!text)
		return false;
	fputs("<h2>Found in packages that people use</h2>\n<ul>\n", out);
	at = text;
	for (int i = 0; i < FINDINGS_SHOWN && (at = strstr(at, "\n#### ")); i++) {
		const char *name = at + strlen("\n#### ");
		const int n_name = (int)strcspn(name, "\n");
		const char *words = name + n_name + strspn(name + n_name, "\n");
		char *link = rr_asprintf("[%.*s](#", n_name, name);
		const char *anchor = strstr(text, link);

		anchor = anchor ? anchor + strlen(link) : "";
		rr_xml_print(
			out,
			"<li><a href=\"docs/found.html#%.*s\"><strong>%.*s</strong></a>: %.*s</li>\n",
			(int)strcspn(anchor, ")"), anchor, n_name, name, (int)strcspn(words, "\n"),
			words);
		free(link);
		at = words;
	}
	fputs("</ul>\n<p><a href=\"docs/found.html\">All of them</a></p>\n", out);
	free(text);
	return true;
}

static void show_ways_on(const struct rr_site *site, FILE *out)
{
	const struct rr_markdown how = { 0 };
	char *text;
	FILE *markdown;

	fputs("<h2>Go on</h2>\n<ul class=\"cards\">\n", out);
	for (size_t i = 0; i < sizeof(ways_on) / sizeof(ways_on[0]); i++)
		rr_xml_print(out, "<li><a href=\"%s\">%s</a> %s</li>\n", ways_on[i].file,
			     ways_on[i].title, ways_on[i].words);
	fputs("</ul>\n", out);
	markdown = rr_open_text(&text);
	fprintf(markdown, "%zu race%s; ", site->n_races, site->n_races == 1 ? "" : "s");
	rr_claim_rows_summarise(&site->claims, markdown);
	fputs("; the matrix: ", markdown);
	rr_matrix_summarise(&site->matrix, markdown);
	rr_markdown_print(markdown, ". Played and searched on %s when this site was made.\n",
			  site->matrix.version[0] ? site->matrix.version : "a real server");
	fclose(markdown);
	rr_markdown_print_html(out, text, &how);
}

static bool write_index(const struct rr_site *site, struct rr_error *error)
{
	char plot[2 * RR_PATH_SIZE];
	struct rr_site_page page;
	FILE *out;
	bool good;

	snprintf(plot, sizeof(plot), "%s/lost.svg", site->docs);
	rr_site_page_begin(&page, site, "index.html", "redrace");
	out = page.draft.out;
	fputs(first, out);
	good = rr_site_show_race(site, "lost-update", out, error);
	if (good) {
		fputs("<h2>How many are lost, and what prevents it</h2>\n"
		      "<figure class=\"plot\" tabindex=\"0\">",
		      out);
		good = rr_report_image(
			out, plot,
			"Lost increments of 100,000 per strategy: none, and a mutex per operation, lose many; the others lose none",
			true, error);
		fputs("<figcaption><a href=\"plots.html\">All plots</a></figcaption></figure>\n",
		      out);
	}
	good = good && show_findings(site, out, error);
	if (good)
		show_ways_on(site, out);
	return rr_site_page_end(&page, rr_race_script, error);
}

/* ---- The whole ---------------------------------------------------------------------------------- */

/* Documents last but one: their links ask which pages there are. */
static bool write_pages(struct rr_site *site, struct rr_error *error)
{
	void (*const tell)(const char *) = site->config->progress;
	struct rr_site_page page;

	tell("playing races");
	if (!rr_site_write_races(site, error) || !rr_site_write_lists(site, error))
		return false;
	rr_site_page_begin(&page, site, "claims.html", "What the documents claim");
	rr_claims_html_part(&site->claims, rr_site_links(site), page.draft.out);
	if (!rr_site_page_end(&page, NULL, error) || !write_matrix(site, error))
		return false;
	tell("searching the levels of the game");
	if (!write_game(site, error))
		return false;
	tell("writing documents");
	return rr_site_write_documents(site, error) && write_plots(site, error) &&
	       write_index(site, error);
}

bool rr_site_write(const struct rr_site_config *config, bool *as_expected, struct rr_error *error)
{
	static const char *const folders[] = { "races", "matrix", "docs", "source" };
	struct rr_site site = { .config = config, .as_expected = true };
	char path[RR_PATH_SIZE];
	bool good = true;

	if (!rr_files_find_folder("docs", "docs", site.docs))
		return rr_error_set(
			error, RR_ERROR_FILE,
			"the documents of the project are not there: docs/, or share/redrace/docs where it is installed");
	for (size_t i = 0; good && i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%.900s/%s", config->directory, folders[i]);
		good = rr_files_make_directory(path, error);
	}
	good = good && rr_site_open_races(&site, error) && compute(&site, error) &&
	       write_pages(&site, error);
	*as_expected = site.as_expected;
	rr_site_close_races(&site);
	rr_claim_rows_free(&site.claims);
	rr_jobs_free(&site.jobs);
	rr_shard_release(&site.choice.shard);
	free(site.choice.claims);
	rr_matrix_release(&site.matrix);
	for (size_t i = 0; i < site.n_sources; i++)
		free(site.sources[i]);
	free(site.sources);
	return good;
}
