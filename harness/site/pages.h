/* SPDX-License-Identifier: MIT */
/* Private to site/: what a site is made of, and how a page of it is written. */
#ifndef RR_PAGES_H
#define RR_PAGES_H

#include <stdio.h>

#include "base/files.h"
#include "base/markdown.h"
#include "claims/claims.h"
#include "matrix/matrix.h"
#include "race/race.h"
#include "site.h"

/* A race and how it went. */
struct rr_site_race {
	char *name;
	struct rr_race *race;
	char *outcome; /* "lost update", "skipped: this server has no DELEX"; malloc'd */
};

struct rr_site {
	const struct rr_site_config *config;
	char docs[RR_PATH_SIZE]; /* the project's docs/ */
	size_t n_races;
	struct rr_site_race *races;
	struct rr_claims_choice choice;
	struct rr_jobs jobs;
	struct rr_claim_rows claims;
	struct rr_matrix matrix;
	size_t n_sources; /* files that documents link to */
	char **sources;   /* by their paths in the project */
	bool as_expected;
};

/* ---- One page (site.c) -------------------------------------------------------------- */

struct rr_site_page {
	struct rr_draft draft; /* draft.out takes what stands in <main> */
	char path[RR_PATH_SIZE];
};

/* Begins the page `file`, "races/lost-update.html". */
void rr_site_page_begin(struct rr_site_page *page, const struct rr_site *site, const char *file,
			const char *title);

/* Ends it with a script, NULL = none, and puts it in place. */
bool rr_site_page_end(struct rr_site_page *page, const char *script, struct rr_error *error);

/* A whole page of Markdown, whose text it frees. */
bool rr_site_write_markdown(const struct rr_site *site, const char *file, const char *title,
			    char *text, const struct rr_markdown *how, struct rr_error *error);

/* ---- Races (races.c) ---------------------------------------------------------------- */

/* Reads those that are asked for. */
bool rr_site_open_races(struct rr_site *site, struct rr_error *error);
void rr_site_close_races(struct rr_site *site);
bool rr_site_has_race(const void *site, const char *name);

/* Plays each, and writes its page. */
bool rr_site_write_races(struct rr_site *site, struct rr_error *error);

/* Plays one of the library, and writes it as a part of a page that ends with rr_race_script. */
bool rr_site_show_race(const struct rr_site *site, const char *name, FILE *out,
		       struct rr_error *error);

/* Lists of them by subject and by document. */
bool rr_site_write_lists(const struct rr_site *site, struct rr_error *error);

/* ---- Documents (documents.c) ---------------------------------------------- */

/* docs/ *.md, the files that they link to, and a list of all, the lessons first. */
bool rr_site_write_documents(struct rr_site *site, struct rr_error *error);

/* Links of a document in docs/, for a page of the site's first folder, "claims.html". */
struct rr_markdown rr_site_links(struct rr_site *site);

#endif
