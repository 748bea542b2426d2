/* SPDX-License-Identifier: MIT */
/* A search as a section of a page of HTML. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "play/play.h"

enum { NAME_SIZE = 80 };

struct search_page {
	FILE *out;
	const struct rr_explore_config *config;
	const struct rr_played *played;
	struct rr_cluster *cluster;
	struct rr_error *error;
};

static void draw_search(const struct search_page *page, const struct rr_trace *safe)
{
	const struct rr_strategy *strategy = page->config->strategy;
	char id[NAME_SIZE];
	const struct rr_article article = {
		.id = id,
		.safe = safe,
		.safe_name = strategy->remedy,
		.is_part = true,
	};

	snprintf(id, sizeof(id), "race-%s", strategy->name);
	rr_draw_article(page->out, &page->played->trace, &article);
}

/* ---- The remedy in the same order ---------------------------------------- */

/* "A B B A": who sends a command, one after another; malloc'd. NULL: there are faults in it that may mean something else there. */
static char *order_of_clients(const struct rr_race *race)
{
	char *order = rr_calloc(2 * race->n_steps + 1, 1);
	size_t n = 0;

	for (size_t i = 0; i < race->n_steps; i++) {
		const struct rr_step *step = &race->steps[i];

		if (step->kind == RR_STEP_TICK || step->kind == RR_STEP_CLOCK ||
		    step->kind == RR_STEP_FAULT || step->kind == RR_STEP_CRASH || step->is_lost) {
			free(order);
			return NULL;
		}
		if (step->kind != RR_STEP_RUN)
			continue;
		order[n++] = race->clients[step->client].name[0];
		order[n++] = ' ';
	}
	return order;
}

static enum rr_exit draw_beside(void *context, const struct rr_trace *trace)
{
	draw_search(context, trace);
	return RR_EXIT_OK;
}

/* Without one that can be played there is the search alone. */
static void draw_with_remedy(struct search_page *page)
{
	const struct rr_explore_config *config = page->config;
	const char *remedy = config->strategy->remedy;
	char *order = remedy ? order_of_clients(page->played->race) : NULL;
	const struct rr_guided_options options = {
		.setup = { .strategy = remedy ? rr_strategy_find(remedy) : NULL,
			   .n_clients = config->n_clients,
			   .increments = config->increments },
		.schedule = order,
		.is_lenient = true,
	};

	if (order && config->n_clients <= RR_GUIDED_CLIENTS)
		rr_play_strategy(&options, page->cluster, draw_beside, page, page->error);
	else
		draw_search(page, NULL);
	free(order);
}

bool rr_report_search(FILE *page, const struct rr_explore_config *config, const char *text,
		      const struct rr_played *played, struct rr_cluster *cluster,
		      struct rr_error *error)
{
	struct search_page search = {
		.out = page,
		.config = config,
		.played = played,
		.cluster = cluster,
		.error = error,
	};
	const size_t first = strcspn(text, "\n");
	char *plain = played->race ? rr_plain_bytes(text, first) : rr_strdup(text);

	rr_xml_print(page, "<section>\n<h2>%s</h2>\n", config->strategy->name);
	rr_xml_print(page, "<pre class=\"drawn\" tabindex=\"0\">%s</pre>\n", plain);
	free(plain);
	if (played->race)
		draw_with_remedy(&search);
	fputs("</section>\n", page);
	return error->kind == RR_ERROR_NONE;
}
