/* SPDX-License-Identifier: MIT */
/* Pages of HTML about what was measured and played. Each is one file that asks nothing
 * of the network, is whole without a script, and better with it. */
#ifndef RR_REPORT_H
#define RR_REPORT_H

#include <stdio.h>

#include "base/error.h"
#include "check/check.h"
#include "cluster/cluster.h"
#include "explore/explore.h"

enum { RR_REPORT_SUBJECTS_MAX = 256 };

/* What a page is about: results directories of bench, and races by name or file. */
struct rr_report {
	size_t n_subjects;
	const char *subjects[RR_REPORT_SUBJECTS_MAX];
};

/* Is it a results directory? */
bool rr_report_is_results(const char *subject);

/* Is any of them a race, so that servers are needed? */
bool rr_report_has_races(const struct rr_report *report);

/*
 * Writes the page. Races are played now in `cluster`, which is not looked at when there
 * are none. *as_written is false when a race did not play as written: the page shows how
 * it went.
 */
bool rr_report_write(FILE *out, const struct rr_report *report, struct rr_cluster *cluster,
		     bool *as_written, struct rr_error *error);

/* ---- What is safe, next to a race (races_page.c) ----------------------------- */

/* The race that `race->safe` names, as it was played. */
struct rr_counterpart {
	struct rr_race *race;
	struct rr_trace trace;
	bool is_played;
};

/* Plays it, if there is one and the server has what it needs. Free it in any case. */
bool rr_counterpart_play(struct rr_counterpart *counterpart, const struct rr_race *race,
			 struct rr_cluster *cluster, struct rr_error *error);
void rr_counterpart_free(struct rr_counterpart *counterpart);

/* Puts it next to `race` in an article, if it was played. */
void rr_counterpart_show(const struct rr_counterpart *counterpart, const struct rr_race *race,
			 struct rr_article *article);

/* ---- Results (results_page.c) ------------------------------------------------- */

/* Tables, plots and machine of a results directory, as a section of a page
 *. False: it holds no results, or they cannot be read. */
bool rr_report_results(FILE *out, const char *directory, struct rr_error *error);

/* An <img> that holds the .svg or .png at `path`; `plot`: one of lines on white, which dark
 * pages turn round. False: it cannot be read. */
bool rr_report_image(FILE *out, const char *path, const char *alt, bool plot,
		     struct rr_error *error);

/* All plots of a directory as figures, with what plots/describe wrote into each as its words. */
bool rr_report_plots(FILE *out, const char *directory, struct rr_error *error);

/* ---- Searches (search_page.c) -------------------------------------------------- */

/* A search of `redrace explore` as a section of a page: what was printed of it; or its first
 * line and the interleaving that fails, played, beside the strategy's remedy in the same
 * order; `played` has no race: nothing fails. False: see the error. */
bool rr_report_search(FILE *page, const struct rr_explore_config *config, const char *text,
		      const struct rr_played *played, struct rr_cluster *cluster,
		      struct rr_error *error);

/* ---- The game (game.c) --------------------------------------------------------- */

/*
 * Be the scheduler: a page in which the reader picks who goes next, level after level.
 * What can be picked, and what comes of it, is what a search has found on real
 * servers.
 */
enum { RR_GAME_LEVELS_MAX = 64 };

struct rr_game_config {
	const char *levels[RR_GAME_LEVELS_MAX]; /* names; none = all */
	size_t n_levels;
	const char *navigation; /* HTML above the page, of a site; NULL = none */
	/* Told before each is searched. May be NULL. */
	void (*progress)(void *context, size_t n, size_t of, const char *name);
	void *context;
};

/* Writes the page; searches on servers of `cluster`. False: the error, which names the
 * level. */
bool rr_game_write(FILE *out, struct rr_cluster *cluster, const struct rr_game_config *config,
		   struct rr_error *error);

/* The same of a check, which is its only level (game_checked.c). */
bool rr_game_write_checked(FILE *out, const struct rr_checked_game *game, struct rr_error *error);

#endif
