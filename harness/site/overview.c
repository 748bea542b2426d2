/* SPDX-License-Identifier: MIT */
/* The first page, and those of plots and lessons: pages that lead to others. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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

static void print_documents(const struct rr_site *site, bool lessons, FILE *out,
			    struct rr_error *error)
{
	size_t n;
	char **names = rr_files_list(site->docs, ".md", &n);

	for (size_t i = 0; i < n; i++) {
		const bool is_lesson = strncmp(names[i], "teaching.", 9) == 0;
		char *title = is_lesson == lessons && rr_site_is_document(names[i]) ?
				      rr_site_document_title(site, names[i], error) :
				      NULL;

		if (title)
			rr_markdown_print(out, "- [%s](docs/%.*s.html)\n", title,
					  (int)(strlen(names[i]) - 3), names[i]);
		free(title);
	}
	rr_files_free_list(names, n);
}

bool rr_site_write_lessons(const struct rr_site *site, struct rr_error *error)
{
	const struct rr_markdown how = { 0 };
	char *text;
	FILE *markdown = rr_open_text(&text);

	fputs("# Lessons\n\n", markdown);
	print_documents(site, true, markdown, error);
	fputs("\n## All documents\n\n", markdown);
	print_documents(site, false, markdown, error);
	fclose(markdown);
	return rr_site_write_markdown(site, "lessons.html", "Lessons and documents", text, &how,
				      error);
}

/* ---- The first page ----------------------------------------------------------------------------- */

static const char contents[] =
	"# Races of Redis clients, on real servers\n\n"
	"**Every command of Redis is atomic; two of them are not.** "
	"These pages show what goes wrong in between, what prevents it, and how that is known.\n\n"
	"- [The game](game.html): you are the scheduler: pick whose command comes next, and break it.\n"
	"- [Races by subject](races.html): each with its own page, to be stepped through.\n"
	"- [Races by document](by-document.html): what five documents about Redis locks say, and what happens.\n"
	"- [The safety matrix](matrix.html): every strategy under every hazard; what fails, fails on a page of its own.\n"
	"- [Claims](claims.html): what is true of what the documents say.\n"
	"- [Found](docs/found.html): races in packages that people use, published ones and new ones.\n"
	"- [Plots](plots.html): what is lost, and what it costs to lose nothing.\n"
	"- [Lessons](lessons.html): three of 45 minutes, and all documents.\n"
	"- [Your own program](docs/check.html): the same search of a program in any language.\n\n"
	"## In figures\n\n";

bool rr_site_write_index(const struct rr_site *site, struct rr_error *error)
{
	const struct rr_markdown how = { 0 };
	char *text;
	FILE *markdown = rr_open_text(&text);

	fprintf(markdown, "%s- %zu race%s\n- ", contents, site->n_races,
		site->n_races == 1 ? "" : "s");
	rr_claim_rows_summarise(&site->claims, markdown);
	fputs("\n- the matrix: ", markdown);
	rr_matrix_summarise(&site->matrix, markdown);
	rr_markdown_print(markdown, "\n\nPlayed and searched on %s when this site was made.\n",
			  site->matrix.version[0] ? site->matrix.version : "a real server");
	fclose(markdown);
	return rr_site_write_markdown(site, "index.html", "redrace", text, &how, error);
}
