/* SPDX-License-Identifier: MIT */
/* All that a site is made of, one after the other. */
#include "pages.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "draw/draw.h"
#include "report/report.h"

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

static bool check_claims(struct rr_site *site, struct rr_signals *signals, struct rr_error *error)
{
	site->config->progress("checking claims");
	choose_claims(site);
	if (!rr_claims_deal(&site->choice, error) ||
	    !rr_jobs_collect(&site->jobs, site->config->redis_server, &site->choice, error) ||
	    !rr_jobs_run(&site->jobs, site->config->jobs, signals, error))
		return false;
	rr_judge(&site->claims, &site->jobs, &site->choice);
	site->as_expected &= rr_claim_rows_exit(&site->claims) != RR_EXIT_VIOLATED;
	return true;
}

static bool compute_matrix(struct rr_site *site, struct rr_signals *signals, struct rr_error *error)
{
	const struct rr_chosen_strategies *chosen = &site->config->strategies;
	const struct rr_cluster_options servers = {
		.program = site->config->redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};

	site->config->progress("searching the matrix");
	rr_matrix_init(&site->matrix, chosen->n ? chosen->all : rr_strategies,
		       chosen->n ? chosen->n : rr_n_strategies, RR_ALL_HAZARDS, 0);
	if (!rr_matrix_run(&site->matrix, &servers, site->config->jobs, signals, error))
		return false;
	site->as_expected &= rr_matrix_exit(&site->matrix) != RR_EXIT_VIOLATED;
	return true;
}

static bool compute(struct rr_site *site, struct rr_error *error)
{
	struct rr_signals signals;
	bool good;

	if (!rr_signals_open(&signals))
		return rr_error_set(error, RR_ERROR_INTERNAL, "cannot watch signals");
	good = check_claims(site, &signals, error) && compute_matrix(site, &signals, error);
	rr_signals_close(&signals);
	return good;
}

/* ---- Pages ------------------------------------------------------------------------------------- */

static bool write_claims(struct rr_site *site, struct rr_error *error)
{
	struct rr_site_page page;

	rr_site_page_begin(&page, site, "claims.html", "What the documents claim");
	rr_claims_html_part(&site->claims, rr_site_links(site), page.draft.out);
	return rr_site_page_end(&page, NULL, error);
}

static bool write_cell(const struct rr_site *site, const struct rr_cell *cell,
		       struct rr_error *error)
{
	struct rr_site_page page;
	char id[RR_CELL_ID], title[RR_CELL_TITLE], file[RR_PATH_SIZE];

	rr_cell_id(cell, id);
	rr_cell_title(cell, title);
	snprintf(file, sizeof(file), "matrix/%s.html", id);
	rr_site_page_begin(&page, site, file, title);
	rr_xml_print(page.draft.out, "<h1>%s</h1>\n", title);
	rr_cell_html(cell, page.draft.out);
	return rr_site_page_end(&page, rr_race_script, error);
}

static bool write_matrix(struct rr_site *site, struct rr_error *error)
{
	const struct rr_cell *cell = NULL;
	struct rr_site_page page;
	bool good;

	rr_site_page_begin(&page, site, "matrix.html", "The safety matrix");
	rr_matrix_html_part(&site->matrix, rr_site_links(site), page.draft.out);
	good = rr_site_page_end(&page, NULL, error);
	while (good && (cell = rr_matrix_next_page(&site->matrix, cell)))
		good = write_cell(site, cell, error);
	return good;
}

static bool write_game(const struct rr_site *site, struct rr_error *error)
{
	const struct rr_cluster_options servers = {
		.program = site->config->redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};
	char *navigation = rr_site_navigation("game.html");
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

/* ---- The whole ---------------------------------------------------------------------------------- */

static bool make_directories(const char *directory, struct rr_error *error)
{
	static const char *const names[] = { "races", "matrix", "docs", "source" };
	char path[RR_PATH_SIZE];
	bool good = true;

	for (size_t i = 0; good && i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%.900s/%s", directory, names[i]);
		good = rr_files_make_directory(path, error);
	}
	return good;
}

/* Documents last but one: their links ask which pages there are. */
static bool write_pages(struct rr_site *site, struct rr_error *error)
{
	void (*const tell)(const char *) = site->config->progress;

	tell("playing races");
	if (!rr_site_write_races(site, error) || !rr_site_write_lists(site, error) ||
	    !write_claims(site, error) || !write_matrix(site, error))
		return false;
	tell("searching the levels of the game");
	if (!write_game(site, error))
		return false;
	tell("writing documents");
	return rr_site_write_documents(site, error) && rr_site_write_plots(site, error) &&
	       rr_site_write_lessons(site, error) && rr_site_write_index(site, error);
}

static void close_site(struct rr_site *site)
{
	rr_site_close_races(site);
	rr_claim_rows_free(&site->claims);
	rr_jobs_free(&site->jobs);
	rr_shard_release(&site->choice.shard);
	free(site->choice.claims);
	rr_matrix_release(&site->matrix);
	for (size_t i = 0; i < site->n_sources; i++)
		free(site->sources[i]);
	free(site->sources);
}

bool rr_site_write(const struct rr_site_config *config, bool *as_expected, struct rr_error *error)
{
	struct rr_site site = { .config = config, .as_expected = true };
	bool good;

	if (!rr_files_find_folder("docs", "docs", site.docs))
		return rr_error_set(
			error, RR_ERROR_FILE,
			"the documents of the project are not there: docs/, or share/redrace/docs where it is installed");
	good = make_directories(config->directory, error) && rr_site_open_races(&site, error) &&
	       compute(&site, error) && write_pages(&site, error);
	*as_expected = site.as_expected;
	close_site(&site);
	return good;
}
