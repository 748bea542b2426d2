/* SPDX-License-Identifier: MIT */
/* A page of the site: what stands above it, and its file. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "draw/draw.h"

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

/* Pages lie in the site or in a folder of it, not deeper. */
char *rr_site_navigation(const char *file)
{
	const char *up = strchr(file, '/') ? "../" : "";
	char *text;
	FILE *out = rr_open_text(&text);

	fputs("<nav class=\"site\" aria-label=\"Site\"><ul>\n", out);
	for (size_t i = 0; i < sizeof(main_pages) / sizeof(main_pages[0]); i++)
		fprintf(out, "<li><a href=\"%s%s\"%s>%s</a></li>\n", up, main_pages[i].file,
			strcmp(file, main_pages[i].file) == 0 ? " aria-current=\"page\"" : "",
			main_pages[i].words);
	fputs("</ul></nav>\n", out);
	fclose(out);
	return text;
}

void rr_site_page_begin(struct rr_site_page *page, const struct rr_site *site, const char *file,
			const char *title)
{
	char *navigation = rr_site_navigation(file);

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
