/* SPDX-License-Identifier: MIT */
/* A page for each race: how it went, what is safe beside it, what is claimed about it. */
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

static bool add_all_races(struct rr_site *site, struct rr_error *error)
{
	bool good = true;
	char **names;
	size_t n;

	names = rr_library_names(&n);
	if (n == 0)
		good = rr_error_set(error, RR_ERROR_FILE, "the races of the project are not there");
	for (size_t i = 0; good && i < n; i++)
		good = add_race(site, names[i], error);
	rr_files_free_list(names, n);
	return good;
}

bool rr_site_open_races(struct rr_site *site, struct rr_error *error)
{
	const struct rr_site_config *config = site->config;
	bool good = true;

	if (config->n_races == 0)
		return add_all_races(site, error);
	for (size_t i = 0; good && i < config->n_races; i++)
		good = rr_site_has_race(site, config->races[i]) ||
		       add_race(site, config->races[i], error);
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
		char *text;
		FILE *memory = rr_open_text(&text);

		rr_race_write(memory, race->race);
		fclose(memory);
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
		rr_site_print_claims_of(site, site->races[i].race, out);
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
