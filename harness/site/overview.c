/* SPDX-License-Identifier: MIT */
/* The first page, and those of plots and lessons: pages that lead to others. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"

/* ---- Plots ---------------------------------------------------------------------------------- */

bool rr_site_write_plots(const struct rr_site *site, struct rr_error *error)
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

/* ---- Lessons -------------------------------------------------------------------------------- */

static bool is_lesson(const char *name)
{
	return strncmp(name, "teaching.", 9) == 0;
}

static void print_document(const struct rr_site *site, const char *name, FILE *out,
			   struct rr_error *error)
{
	char *title = rr_site_document_title(site, name, error);

	if (title)
		rr_xml_print(out, "<li><a href=\"docs/%.*s.html\">%s</a></li>\n",
			     (int)(strlen(name) - 3), name, title);
	free(title);
}

static void print_documents(const struct rr_site *site, bool lessons, FILE *out,
			    struct rr_error *error)
{
	size_t n;
	char **names = rr_files_list(site->docs, ".md", &n);

	fputs("<ul>\n", out);
	for (size_t i = 0; i < n; i++) {
		if (is_lesson(names[i]) == lessons && rr_site_is_document(names[i]))
			print_document(site, names[i], out, error);
	}
	fputs("</ul>\n", out);
	rr_files_free_list(names, n);
}

bool rr_site_write_lessons(const struct rr_site *site, struct rr_error *error)
{
	struct rr_site_page page;

	rr_site_page_begin(&page, site, "lessons.html", "Lessons and documents");
	fputs("<h1>Lessons</h1>\n", page.draft.out);
	print_documents(site, true, page.draft.out, error);
	fputs("<h2>All documents</h2>\n", page.draft.out);
	print_documents(site, false, page.draft.out, error);
	return rr_site_page_end(&page, NULL, error);
}

/* ---- The first page ----------------------------------------------------------------------------- */

static void print_item(FILE *out, const char *file, const char *title, const char *words)
{
	rr_xml_print(out, "<dt><a href=\"%s\">%s</a></dt>\n<dd>%s</dd>\n", file, title, words);
}

static void print_figures(const struct rr_site *site, FILE *out)
{
	fputs("<ul>\n", out);
	rr_xml_print(out, "<li>%zu race%s</li>\n<li>", site->n_races,
		     site->n_races == 1 ? "" : "s");
	rr_claim_rows_summarise(&site->claims, out);
	fputs("</li>\n<li>the matrix: ", out);
	rr_matrix_summarise(&site->matrix, out);
	fputs("</li>\n</ul>\n", out);
	rr_xml_print(out, "<p>Played and searched on %s when this site was made.</p>\n",
		     site->matrix.version[0] ? site->matrix.version : "a real server");
}

static void print_contents(FILE *out)
{
	fputs("<dl>\n", out);
	print_item(out, "game.html", "The game",
		   "You are the scheduler: pick whose command comes next, and break it.");
	print_item(out, "races.html", "Races by subject",
		   "Each with its own page, to be stepped through.");
	print_item(out, "by-document.html", "Races by document",
		   "What five documents about Redis locks say, and what happens.");
	print_item(out, "matrix.html", "The safety matrix",
		   "Every strategy under every hazard; what fails, fails on a page of its own.");
	print_item(out, "claims.html", "Claims", "What is true of what the documents say.");
	print_item(out, "docs/found.html", "Found",
		   "Races in packages that people use, published ones and new ones.");
	print_item(out, "plots.html", "Plots", "What is lost, and what it costs to lose nothing.");
	print_item(out, "lessons.html", "Lessons", "Three of 45 minutes, and all documents.");
	print_item(out, "docs/check.html", "Your own program",
		   "The same search of a program in any language.");
	fputs("</dl>\n", out);
}

bool rr_site_write_index(const struct rr_site *site, struct rr_error *error)
{
	struct rr_site_page page;
	FILE *out;

	rr_site_page_begin(&page, site, "index.html", "redrace");
	out = page.draft.out;
	fputs("<h1>Races of Redis clients, on real servers</h1>\n"
	      "<p class=\"lead\">Every command of Redis is atomic; two of them are not. "
	      "These pages show what goes wrong in between, what prevents it, and how that is known.</p>\n",
	      out);
	print_contents(out);
	fputs("<h2>In figures</h2>\n", out);
	print_figures(site, out);
	return rr_site_page_end(&page, NULL, error);
}
