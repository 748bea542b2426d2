/* SPDX-License-Identifier: MIT */
/* What a search of programs has found, told and played by the programs themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explorer.h"
#include "outcomes.h"

enum {
	VERIFY_QUESTIONS = 600, /* of the server's */
	KEYS_SHOWN = 6,
	SHOWS_SIZE = 100
};

/* ---- Findings --------------------------------------------------------------------- */

static struct rr_execution *open_execution(struct rr_outcomes *outcomes)
{
	rr_asker_reset(outcomes->table.asker);
	outcomes->table.at = RR_NO_ID;
	return rr_execution_new(&(struct rr_execution_config){ .program = &outcomes->program,
							       .cluster = outcomes->cluster,
							       .scripts = &outcomes->scripts });
}

/* The programs themselves, all at once, and a real server. */
static bool play_for_real(struct rr_outcomes *outcomes, const struct rr_actions *actions)
{
	const struct rr_outcomes_programs *programs = &outcomes->config->programs;
	struct rr_execution *execution = open_execution(outcomes);
	bool good;

	if (!execution)
		return rr_error_no_memory(outcomes->error);
	programs->set_live(programs->context, true);
	good = rr_execution_replay(execution, actions);
	if (!good && programs->verify(programs->context, &outcomes->repeats, outcomes->error) &&
	    !outcomes->repeats)
		rr_outcomes_fail(outcomes, rr_execution_error(execution));
	rr_execution_free(execution);
	programs->set_live(programs->context, false);
	return good;
}

/* A way for a path of the graph. */
static bool make_way(struct rr_outcomes *outcomes, const struct rr_path *path, struct rr_way *way)
{
	const struct rr_graph *graph = &outcomes->graph;
	const uint32_t end = path->n ? graph->edges[path->edges[path->n - 1]].to : 0;

	way->switches = path->switches;
	memcpy(way->end, rr_graph_key(graph, end), outcomes->product.n_words * sizeof(way->end[0]));
	way->words = rr_path_words(graph, path);
	return rr_graph_actions(graph, path, &way->actions) ||
	       rr_error_set(outcomes->error, RR_ERROR_INTERNAL,
			    "a path through the states is gone");
}

/* A serial order that is nearest to what was found. */
static void tell_nearest(struct rr_outcomes *outcomes, uint32_t nearest)
{
	struct rr_outcomes_result *result = outcomes->result;
	const struct rr_serial_end *end;

	if (nearest == RR_NO_ID)
		return;
	end = rr_intern_get(&outcomes->judge.serial.ends, nearest);
	result->nearest = rr_contents_text(&outcomes->judge.contents, end->server, false);
	for (size_t i = 0; i < outcomes->product.n_clients; i++)
		result->nearest_endings[i] = end->endings[i];
}

/* What is found at the end of a way. */
static bool tell_end(struct rr_outcomes *outcomes, const struct rr_way *way)
{
	struct rr_outcomes_result *result = outcomes->result;
	struct rr_judgement judgement;

	result->data = rr_contents_text(&outcomes->judge.contents, way->end[0], false);
	if (!rr_outcomes_have_ended(outcomes, way->end))
		return true;
	if (!rr_judge_final(&outcomes->judge, way->end, &judgement))
		return rr_outcomes_fail(outcomes, &outcomes->judge.error);
	if (result->found & RR_OUTCOME_NOT_SERIAL)
		result->found = (result->found & ~RR_OUTCOME_NOT_SERIAL) | judgement.found;
	tell_nearest(outcomes, judgement.nearest);
	result->unexpected = rr_judge_unexpected(&outcomes->judge, way->end);
	return true;
}

/* What is found, in a sentence. */
static void sum_up(const struct rr_outcomes_result *result, char text[SHOWS_SIZE])
{
	static const struct {
		unsigned bit;
		const char *text;
	} sentences[] = {
		{ RR_OUTCOME_NOT_SERIAL,
		  "Not serializable: no serial order of the clients leaves these data." },
		{ RR_OUTCOME_UNEXPECTED, "The data are not as expected." },
		{ RR_OUTCOME_OUTPUTS,
		  "Not serializable: in no serial order do the clients print that." },
		{ RR_OUTCOME_EXCLUSION, "Two clients are in their critical sections." },
		{ RR_OUTCOME_STUCK, "No progress: not all clients can come to an end." },
	};
	size_t i = 0;

	snprintf(text, SHOWS_SIZE, "Nothing wrong in this order.");
	while (i < sizeof(sentences) / sizeof(sentences[0]) && !(result->found & sentences[i].bit))
		i++;
	if (i < sizeof(sentences) / sizeof(sentences[0]))
		snprintf(text, SHOWS_SIZE, "%s", sentences[i].text);
}

/* A way as a transcript, and what it ends with. */
static bool tell_way(struct rr_outcomes *outcomes, const struct rr_way *way)
{
	struct rr_outcomes_result *result = outcomes->result;
	const struct rr_product *product = &outcomes->product;
	char shows[SHOWS_SIZE];
	const char **keys;
	size_t n_keys = rr_contents_keys(&outcomes->judge.contents, way->end[0], &keys);
	const struct rr_transcript_headings headings = {
		.title = outcomes->config->title,
		.shows = shows,
		.keys = keys,
		.n_keys = n_keys < KEYS_SHOWN ? n_keys : KEYS_SHOWN,
	};

	sum_up(result, shows);
	result->switches = way->switches;
	result->ended_well = rr_serial_good(product, way->end);
	for (size_t i = 0; i < product->n_clients; i++)
		result->endings[i] =
			rr_product_part(product, way->end, i)->is_crashed ?
				-1 :
				(int)rr_product_client(product, way->end, i)->tally.ending;
	result->words = way->words ? strdup(way->words) : NULL;
	result->transcript = rr_actions_transcript(product, &outcomes->scripts, &way->actions,
						   &headings);
	free(keys);
	return (result->transcript && result->words) || rr_error_no_memory(outcomes->error);
}

/* With its verdict: what comes of playing it. */
static bool conclude_transcript(struct rr_outcomes *outcomes)
{
	struct rr_outcomes_result *result = outcomes->result;
	struct rr_error why = { 0 };
	char *concluded = rr_conclude(result->transcript, 0, outcomes->cluster, &why);

	if (!concluded)
		return rr_outcomes_fail(outcomes, &why);
	free(result->transcript);
	result->transcript = concluded;
	return true;
}

/* Tells a way when the programs themselves have gone it. */
bool rr_outcomes_show(struct rr_outcomes *outcomes, const struct rr_way *way)
{
	const bool good = tell_end(outcomes, way) && tell_way(outcomes, way) &&
			  play_for_real(outcomes, &way->actions);

	rr_outcomes_release_table(outcomes);
	return good && conclude_transcript(outcomes);
}

bool rr_outcomes_show_finding(struct rr_outcomes *outcomes)
{
	const unsigned breaks = outcomes->graph.breaks;
	const unsigned worst = breaks & RR_BREAKS_COUNT ? RR_BREAKS_COUNT : breaks & (~breaks + 1);
	struct rr_path path = { 0 };
	struct rr_way way = { .words = NULL };
	bool good;

	good = rr_graph_shortest(&outcomes->graph, worst, &path) ?
		       make_way(outcomes, &path, &way) :
		       rr_error_set(outcomes->error, RR_ERROR_INTERNAL,
				    "no path leads to what was found");
	good = good && rr_outcomes_show(outcomes, &way);
	rr_way_release(&way);
	rr_path_release(&path);
	return good;
}

/* ---- Without a finding ------------------------------------------------------------- */

static bool search_is_called_off(const struct rr_outcomes *outcomes)
{
	const struct rr_outcomes_config *config = outcomes->config;

	return config->progress && !config->progress(config->context, outcomes->graph.states.n, 1);
}

static bool audit_paths(struct rr_outcomes *outcomes)
{
	struct rr_path path = { 0 };
	bool good = true;

	for (unsigned long i = 0; i < outcomes->config->audit && good; i++) {
		if (search_is_called_off(outcomes)) {
			outcomes->result->explored = RR_EXPLORED_STOPPED;
			break;
		}
		struct rr_actions actions = { 0 };

		rr_graph_random_path(&outcomes->graph, i + 1, &path);
		good = rr_graph_actions(&outcomes->graph, &path, &actions) &&
		       play_for_real(outcomes, &actions);
		free(actions.all);
	}
	rr_path_release(&path);
	return good;
}

bool rr_outcomes_audit(struct rr_outcomes *outcomes)
{
	unsigned long n = 0;

	if (rr_server_table_verify(&outcomes->table, VERIFY_QUESTIONS, &n))
		return rr_outcomes_fail(outcomes, &outcomes->table.error);
	return audit_paths(outcomes);
}
