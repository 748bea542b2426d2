/* SPDX-License-Identifier: MIT */
/* Levels are searched one after the other, and written into one page with the script
 * that plays them. */
#include "report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "assets.h"
#include "base/memory.h"
#include "base/text.h"
#include "draw/draw.h"
#include "levels.h"

/* ---- Which levels --------------------------------------------------------------- */

/* Those that are named, or all; the number of them, 0: the error. */
static size_t choose_levels(const struct rr_levels *levels, const struct rr_game_config *config,
			    const struct rr_level **chosen, struct rr_error *error)
{
	if (config->n_levels == 0) {
		for (size_t i = 0; i < levels->n; i++)
			chosen[i] = &levels->all[i];
		return levels->n;
	}
	for (size_t i = 0; i < config->n_levels; i++) {
		const char *name = config->levels[i];
		char known[RR_ERROR_SIZE / 2] = "";
		size_t k = 0;

		while (k < levels->n && strcmp(levels->all[k].name, name) != 0)
			k++;
		if (k < levels->n) {
			chosen[i] = &levels->all[k];
			continue;
		}
		for (k = 0; k < levels->n; k++)
			rr_add_text(known, sizeof(known), "%s%s", k ? ", " : "",
				    levels->all[k].name);
		rr_error_set(error, RR_ERROR_USAGE, "no level '%.40s'; there are: %s", name, known);
		return 0;
	}
	return config->n_levels;
}

/* ---- Data ------------------------------------------------------------------------- */

static void add_option(FILE *file, const char *name, long value)
{
	if (value)
		fprintf(file, " --%s %ld", name, value);
}

/* What its clients do, and how anybody can repeat the search, or play a schedule of it. */
static json_t *json_of_strategy(const struct rr_level *level)
{
	const struct rr_explore_config *search = &level->search;
	const struct rr_strategy *strategy = level->strategy;
	const long clients = search->n_clients == 2 ? 0 : (long)search->n_clients;
	const long increments = search->increments == 1 ? 0 : search->increments;
	char *play, *explore;
	FILE *file = rr_open_text(&play);
	json_t *json;

	/* Without schedule and strategy; "" = nothing plays it: play has all lock servers. */
	if (!search->lock_servers) {
		fputs("redrace play", file);
		add_option(file, "clients", clients);
		add_option(file, "increments-each", increments);
		add_option(file, "processes", search->separate ? 0 : 1);
	}
	fclose(file);
	file = rr_open_text(&explore);
	fputs("redrace explore", file);
	add_option(file, "clients", clients);
	add_option(file, "increments-each", increments);
	/* With faults each client is a process anyway. */
	if (!rr_budget_has_faults(&search->budget) && search->separate)
		add_option(file, "processes", (long)search->n_clients);
	for (int i = 0; i < RR_BUDGETS; i++)
		add_option(file, rr_budget_rows[i].option, search->budget.of[i]);
	add_option(file, "lock-servers", (long)search->lock_servers);
	fprintf(file, " %s", strategy->name);
	fclose(file);
	json = json_pack("{s:s, s:s, s:b, s:s, s:s}", "strategy", strategy->name, "program",
			 level->program ? level->program : strategy->summary, "key",
			 strategy->lock.kind == RR_LOCK_KEY, "play", play, "explore", explore);
	free(play);
	free(explore);
	return json;
}

static json_t *json_of_texts(const char *const *texts)
{
	json_t *array = json_array();

	for (; *texts; texts++)
		json_array_append_new(array, json_string(*texts));
	return array;
}

json_t *rr_level_as_json(const struct rr_level *level, json_t *graph)
{
	const struct rr_level_programs *programs = &level->programs;
	json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s, s:b, s:o, s:o, s:o, s:o}", "name",
				 level->name, "title", level->title, "task", level->task, "goal",
				 level->goal, "sees", level->sees, "solution", level->solution,
				 "unbreakable", level->unbreakable, "intro",
				 json_of_texts(level->intro), "hints", json_of_texts(level->hints),
				 "explain", json_of_texts(level->explain), "graph", graph);
	json_t *own = level->strategy ?
			      json_of_strategy(level) :
			      json_pack("{s:s?, s:s, s:s?, s:s?, s:s?, s:s?, s:s?, s:s?, s:b}",
					"program", level->program, "explore", programs->command,
					"replay", programs->replay, "schedule", programs->schedule,
					"path", programs->path, "text", programs->text, "wrong",
					programs->wrong, "verdict", programs->verdict, "app",
					programs->is_app);

	json_object_update(json, own);
	json_decref(own);
	return json;
}

/* Of a search: has anybody interrupted it? */
static bool goes_on(void *context, unsigned long states, double share)
{
	struct rr_cluster *cluster = context;

	(void)states;
	(void)share;
	return rr_signals_wait(&cluster->session->signals, 0);
}

/* NULL: the error, which names the level, but for an interruption. */
static json_t *search_level(struct rr_cluster *cluster, const struct rr_level *level,
			    struct rr_error *error)
{
	struct rr_explore_config search = level->search;
	struct rr_error why;
	json_t *graph;

	search.progress = goes_on;
	search.context = cluster;
	if (!goes_on(cluster, 0, 0)) {
		rr_error_interrupted(error);
		return NULL;
	}
	graph = level->strategy ? rr_explore_graph(cluster, &search, error) :
				  rr_level_kept_graph(level->programs.name, error);
	if (graph && rr_level_show(level, graph, error))
		return rr_level_as_json(level, graph);
	json_decref(graph);
	why = *error;
	if (why.kind != RR_ERROR_INTERRUPTED) {
		*error = (struct rr_error){ 0 };
		rr_error_set(error, why.kind, "level %s: %s", level->name, why.text);
	}
	return NULL;
}

/* ---- The page ----------------------------------------------------------------------- */

static const char game_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>Be the scheduler</title>\n<style>\n";
static void write_paragraphs(FILE *out, const char *const *texts)
{
	for (; *texts; texts++)
		rr_xml_print(out, "<p>%s</p>\n", *texts);
}

/* As the content of a <script>: no "<" that could end it, or begin a comment in it. */
static void write_data(FILE *out, const json_t *data)
{
	char *text = json_dumps(data, JSON_COMPACT);

	if (!text)
		rr_out_of_memory();
	for (const char *at = text; *at; at++) {
		if (*at == '<')
			fputs("\\u003c", out);
		else
			putc(*at, out);
	}
	free(text);
}

void rr_levels_write_page(FILE *out, const json_t *data, const char *navigation,
			  const struct rr_level *const *levels, size_t n)
{
	fprintf(out, "%s%s%s</style>\n</head>\n<body>\n", game_head, rr_asset_style_css,
		rr_asset_game_css);
	rr_page_top(out, navigation);
	fputs("<h1>Be the scheduler</h1>\n", out);
	fputs("<noscript>\n<p>To pick who goes next, this page needs JavaScript; it needs "
	      "no network. Without it, these are the levels.</p>\n",
	      out);
	for (size_t i = 0; i < n; i++) {
		/* What there is to read without the script. */
		const struct rr_level *level = levels[i];

		rr_xml_print(out, "<h2>Level %zu: %s</h2>\n", i + 1, level->title);
		write_paragraphs(out, level->intro);
		rr_xml_print(out, "<p><strong>Your task:</strong> %s</p>\n", level->task);
		if (level->strategy && !level->search.lock_servers)
			rr_xml_print(
				out,
				"<p>In a terminal: <code>redrace play --interactive %s</code></p>\n",
				level->strategy->name);
		fputs("<details><summary>What it shows</summary>\n", out);
		write_paragraphs(out, level->explain);
		rr_xml_print(out, "<p>One way there: <code>%s</code></p></details>\n",
			     level->solution);
	}
	fputs("</noscript>\n", out);
	fprintf(out, "%s</main>\n<script type=\"application/json\" id=\"levels\">",
		rr_asset_game_html);
	write_data(out, data);
	fprintf(out, "</script>\n<script>\n%s%s%s%s</script>\n</body>\n</html>\n", rr_asset_page_js,
		rr_asset_game_graph_js, rr_asset_game_words_js, rr_asset_game_js);
}

bool rr_game_write(FILE *out, struct rr_cluster *cluster, const struct rr_game_config *config,
		   struct rr_error *error)
{
	const struct rr_level *chosen[RR_GAME_LEVELS_MAX];
	json_t *data = json_array(), *level;
	struct rr_levels levels;
	size_t n = 0;

	if (rr_levels_parse(&levels, rr_asset_game_levels, error))
		n = choose_levels(&levels, config, chosen, error);
	for (size_t i = 0; i < n && !error->kind; i++) {
		if (config->progress)
			config->progress(config->context, i + 1, n, chosen[i]->name);
		level = search_level(cluster, chosen[i], error);
		if (level)
			json_array_append_new(data, level);
	}
	if (!error->kind)
		rr_levels_write_page(out, data, config->navigation, chosen, n);
	json_decref(data);
	rr_levels_release(&levels);
	return !error->kind;
}
