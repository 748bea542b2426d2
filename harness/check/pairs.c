/* SPDX-License-Identifier: MIT */
/*
 * Three requests or more to one app: each two of them are searched before all of them.
 *
 * What an app does is learned by starting it, once for each order of its requests' commands: two
 * requests of five commands take a dozen starts, three of them thousands. A schedule of two that
 * ends wrong is followed with all requests, the others after these two, and counts only if it is
 * wrong there, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "replay/replay.h"
#include "verdict.h"

/* Each two have this part of the time and of the starts that are left, at most. */
enum { SHARE = 2 };

struct pair {
	struct rr_check *check;
	struct rr_check_options options; /* of a check with these two alone */
	size_t requests[2];
	/* How it numbers clients and connections, as long as its search lasts. */
	struct rr_request_place places[2];
	struct rr_instance_app clients[RR_RUN_CLIENTS];
	size_t n_clients;
};

static bool are_same(const struct rr_check_options *options, size_t i, size_t j)
{
	return options->n_requests == 1 || strcmp(options->requests[i], options->requests[j]) == 0;
}

/* Are there two earlier ones with the same commands? */
static bool was_searched(const struct rr_check_options *options, size_t i, size_t j)
{
	for (size_t b = 0; b <= j; b++) {
		for (size_t a = 0; a < b && (b < j || a < i); a++) {
			if ((are_same(options, a, i) && are_same(options, b, j)) ||
			    (are_same(options, a, j) && are_same(options, b, i)))
				return true;
		}
	}
	return false;
}

/* What is said of the data that all leave is not said of those of two. */
static void choose(struct pair *pair, size_t i, size_t j)
{
	struct rr_check_options *options = &pair->options;

	*options = *pair->check->options;
	pair->requests[0] = i;
	pair->requests[1] = j;
	options->n_clients = 2;
	options->n_finals = 0;
	options->checker[0] = NULL;
	if (options->n_requests == 1)
		return;
	options->n_requests = 2;
	for (size_t k = 0; k < 2; k++) {
		options->requests[k] = pair->check->options->requests[pair->requests[k]];
		options->is_line[k] = pair->check->options->is_line[pair->requests[k]];
	}
}

/* ---- Its schedule, in the words of all requests ------------------------------------------- */

/* The client and the connection of all requests' search that a word of the pair's search names.
 * A client's first connections are those of its requests. */
static void rename_connection(const struct pair *pair, struct rr_word *word)
{
	const struct rr_apps *apps = &pair->check->apps;
	size_t client = 0;

	for (size_t k = 0; k < 2; k++) {
		const struct rr_request_place *place = &apps->places[pair->requests[k]];

		if (pair->places[k].client != word->client)
			continue;
		client = place->client;
		if (pair->places[k].lane == word->connection) {
			word->client = place->client;
			word->connection = place->lane;
			return;
		}
	}
	word->connection += (int)apps->clients[client].n_requests -
			    (int)pair->clients[word->client].n_requests;
	word->client = (int)client;
}

/* The words up to the end of the app, malloc'd; NULL: there is one that names something else. */
static char *translate(const struct pair *pair, const char *words)
{
	const struct rr_word_names names = { pair->n_clients, 1 };
	const struct rr_word_names all = { pair->check->apps.n, 1 };
	char *rest = rr_strdup(words), *at = rest, *text, *one;
	FILE *out = rr_open_text(&text);
	bool is_good = true;

	while (is_good && (one = strsep(&at, " "))) {
		struct rr_error error = { 0 };
		char written[RR_WORD_SIZE];
		struct rr_word word;

		is_good = rr_word_read(one, &names, &word, &error);
		if (is_good && word.client >= 0 && word.connection == RR_RUN_ORDINALS - 1)
			break;
		if (is_good && word.client >= 0)
			rename_connection(pair, &word);
		rr_word_write(&word, &all, written);
		fprintf(out, "%s ", written);
	}
	fclose(out);
	free(rest);
	if (is_good)
		return text;
	free(text);
	return NULL;
}

/* ---- The searches ------------------------------------------------------------------------- */

/* Searches what the check's options are now. */
static bool explore(struct rr_check *check, const char *schedule, struct rr_explore_result *result)
{
	struct rr_explore_config config = rr_check_search(check);

	config.schedule = schedule;
	return rr_explore(&check->cluster, &config, result);
}

/* A schedule of the two that ends wrong, malloc'd; NULL: there is none, or it is not known. */
static char *search_two(struct pair *pair)
{
	struct rr_check *check = pair->check;
	const struct rr_check_options *all = check->options;
	const size_t n_operations = check->n_operations;
	const int64_t until_ns = check->progress.until_ns;
	const uint64_t most = check->starts.most;
	struct rr_explore_result result = { .explored = RR_EXPLORED_ALL };
	char *words = NULL;

	check->options = &pair->options;
	check->n_operations = 2;
	check->progress.until_ns -= (until_ns - rr_clock_ns()) / SHARE;
	if (most)
		check->starts.most -= (most - check->starts.n) / SHARE;
	rr_check_open_programs(check);
	if (explore(check, NULL, &result) && result.n_findings > 0)
		words = rr_strdup(result.findings[0].words);
	memcpy(pair->places, check->apps.places, sizeof(pair->places));
	memcpy(pair->clients, check->apps.clients, sizeof(pair->clients));
	pair->n_clients = check->apps.n;
	rr_explore_release(&result);
	check->n_starts += rr_programs_figures(check->programs).starts;
	rr_check_close_programs(check);
	check->options = all;
	check->n_operations = n_operations;
	check->progress.until_ns = until_ns;
	check->starts.most = most;
	check->starts.was_refused = false;
	return words;
}

/* Follows the schedule with all requests. False: they do something else, or it is not wrong. */
static bool follow(struct pair *pair, const char *words)
{
	struct rr_check *check = pair->check;
	struct rr_explore_result *result = check->explored;
	char *schedule;

	rr_check_open_programs(check);
	schedule = translate(pair, words);
	if (schedule && explore(check, schedule, result) && result->found) {
		free(schedule);
		check->result = result;
		return true;
	}
	free(schedule);
	rr_explore_release(result);
	*result = (struct rr_explore_result){ .explored = RR_EXPLORED_ALL };
	check->n_starts += rr_programs_figures(check->programs).starts;
	rr_check_close_programs(check);
	return false;
}

bool rr_check_search_pairs(struct rr_check *check)
{
	const struct rr_check_options *options = check->options;
	const int64_t begun_ns = rr_clock_ns();
	struct pair pair = { .check = check };
	bool is_found = false;

	if (!options->app || options->n_apps > 1 || check->n_operations < 3 ||
	    options->search.shows_all || options->search.schedule || options->search.dot ||
	    options->search.json || options->search.random.runs || options->game)
		return false;
	rr_check_close_programs(check);
	for (size_t j = 1; j < check->n_operations && !is_found; j++) {
		for (size_t i = 0; i < j && !is_found; i++) {
			char *words;

			if (was_searched(options, i, j) || check->session.signals.interrupted)
				continue;
			choose(&pair, i, j);
			words = search_two(&pair);
			is_found = words && follow(&pair, words);
			free(words);
			check->n_pairs++;
		}
	}
	check->is_of_pair = is_found;
	if (is_found)
		check->explored->seconds = (double)(rr_clock_ns() - begun_ns) / 1e9;
	else
		rr_check_open_programs(check);
	return is_found;
}
