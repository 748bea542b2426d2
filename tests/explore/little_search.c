/* SPDX-License-Identifier: MIT */
/* Final states of little programs: by a search, and by their positions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "explore/search.h"
#include "little.h"

enum { ROUNDS = 64, LEASE_MS = 10000 };

/* One search. */
struct asked {
	size_t n;
	struct little *littles[LITTLE_CLIENTS];
	struct little_clients *clients;
	unsigned long most; /* states */
	struct little_ends *ends, *truth;
};

/* ---- Ends ----------------------------------------------------------------------------------- */

void little_ends_release(struct little_ends *ends)
{
	for (size_t i = 0; i < ends->n; i++)
		free(ends->all[i].text);
	free(ends->all);
	*ends = (struct little_ends){ 0 };
}

static const struct little_end *find_end(const struct little_ends *ends, uint64_t digest)
{
	for (size_t i = 0; i < ends->n; i++) {
		if (ends->all[i].digest == digest)
			return &ends->all[i];
	}
	return NULL;
}

/* "a: 1, lock: me-A | 3 | ". */
static char *text_of_end(struct rr_search *search, uint32_t server,
			 char said[LITTLE_CLIENTS][LITTLE_SAID])
{
	struct rr_contents contents = { .table = &search->tables[0] };
	char *data = rr_contents_text(&contents, server, RR_NO_ID), *text;

	for (char *at = data; *at; at++)
		*at = *at == '\n' ? ' ' : *at;
	cr_assert_geq(asprintf(&text, "%s| %s| %s| %s", data, said[0], said[1], said[2]), 0);
	rr_contents_release(&contents);
	free(data);
	return text;
}

static void add_end(struct little_ends *ends, struct rr_search *search, uint32_t server,
		    char said[LITTLE_CLIENTS][LITTLE_SAID])
{
	struct little_end end;

	end.digest = rr_hash_number(RR_HASH_START,
				    (int64_t)search->tables[0].states[server].contents);
	for (size_t i = 0; i < LITTLE_CLIENTS * LITTLE_SAID; i++)
		end.digest = rr_hash_number(end.digest, said[0][i]);
	if (find_end(ends, end.digest))
		return;
	end.text = text_of_end(search, server, said);
	rr_array_grow(&ends->all, ends->n, sizeof(end));
	ends->all[ends->n++] = end;
}

/* ---- By positions ---------------------------------------------------------------------------- */

/* A state: what the server holds, and where each client stands. */
struct place {
	uint32_t server;
	struct little_position clients[LITTLE_CLIENTS];
};

struct places {
	struct rr_search *search;
	const struct asked *asked;
	struct rr_intern all;
	size_t n_edges;
	struct edge {
		uint32_t from, to;
	} * edges;
};

/* The reply on a lane is heard at once: it is nobody else's business when. */
static void add_step(struct places *places, uint32_t from, struct place place, size_t client,
		     int lane)
{
	const struct little *little = places->asked->littles[client];
	struct rr_terms *terms = &places->search->terms;
	const struct rr_question question = {
		.kind = RR_ASK_COMMAND,
		.slot = (uint16_t)(client * RR_RUN_ORDINALS + (size_t)lane),
		.argument = little_sent(little, (int)client, &place.clients[client], lane, terms),
	};
	const struct rr_server_row *row = rr_server_table_ask(&places->search->tables[0],
							      place.server, &question);

	cr_assert_not_null(row, "%s", places->search->tables[0].error.text);
	place.server = row->to;
	little_hear(little, (int)client, &place.clients[client], lane,
		    &terms->reply[row->reply].reply);
	rr_array_grow(&places->edges, places->n_edges, sizeof(*places->edges));
	places->edges[places->n_edges++] =
		(struct edge){ from, rr_intern_put(&places->all, &place, sizeof(place), NULL) };
}

/* False: all have ended. */
static bool expand(struct places *places, uint32_t from)
{
	struct place place;
	bool goes_on = false;

	memcpy(&place, rr_intern_get(&places->all, from), sizeof(place));
	for (size_t i = 0; i < places->asked->n; i++) {
		for (int lane = 0; lane < LITTLE_LANES; lane++) {
			if (!(place.clients[i].owed >> lane & 1))
				continue;
			goes_on = true;
			add_step(places, from, place, i, lane);
		}
	}
	return goes_on;
}

static void add_place_as_end(struct places *places, uint32_t id)
{
	const struct place *place = rr_intern_get(&places->all, id);
	char said[LITTLE_CLIENTS][LITTLE_SAID];

	for (size_t i = 0; i < LITTLE_CLIENTS; i++)
		memcpy(said[i], place->clients[i].said, LITTLE_SAID);
	add_end(places->asked->truth, places->search, place->server, said);
}

/* Is there a place from which no end can be reached? */
static bool is_stuck(const struct places *places, bool *can_end)
{
	bool changes = true;

	while (changes) {
		changes = false;
		for (size_t i = places->n_edges; i-- > 0;) {
			const struct edge *edge = &places->edges[i];

			if (can_end[edge->from] || !can_end[edge->to])
				continue;
			can_end[edge->from] = changes = true;
		}
	}
	for (uint32_t i = 0; i < places->all.n; i++) {
		if (!can_end[i])
			return true;
	}
	return false;
}

static void find_truth(struct rr_search *search, const struct asked *asked)
{
	struct places places = { .search = search, .asked = asked };
	struct little_ends *truth = asked->truth;
	struct place first;
	bool *can_end = calloc(asked->most + LITTLE_CLIENTS * LITTLE_LANES, sizeof(*can_end));
	uint32_t i;

	cr_assert_not_null(can_end);
	memset(&first, 0, sizeof(first));
	for (size_t c = 0; c < asked->n; c++)
		little_begin(asked->littles[c], (int)c, &first.clients[c]);
	rr_intern_put(&places.all, &first, sizeof(first), NULL);
	for (i = 0; i < places.all.n && places.all.n < asked->most; i++) {
		can_end[i] = !expand(&places, i);
		if (can_end[i])
			add_place_as_end(&places, i);
	}
	truth->extent = i < places.all.n ? LITTLE_TOO_LARGE : LITTLE_WHOLE;
	truth->states = places.all.n;
	truth->is_stuck = truth->extent == LITTLE_WHOLE && is_stuck(&places, can_end);
	free(can_end);
	free(places.edges);
	rr_intern_release(&places.all);
}

/* ---- By a search ----------------------------------------------------------------------------- */

static void add_final(struct rr_search *search, const struct asked *asked, const uint32_t *key)
{
	char said[LITTLE_CLIENTS][LITTLE_SAID] = { { 0 } };

	for (size_t i = 0; i < asked->n; i++)
		little_clients_said(asked->clients, i,
				    rr_product_client(&search->product, key, i)->tally.ending,
				    said[i]);
	add_end(asked->ends, search, key[0], said);
}

static void collect(struct rr_search *search, const struct asked *asked)
{
	const struct rr_graph *graph = &search->graph;
	struct little_ends *ends = asked->ends;

	little_ends_release(ends);
	ends->extent = search->end == RR_GRAPH_WHOLE ? LITTLE_WHOLE :
		       search->end == RR_GRAPH_CUT   ? LITTLE_CUT :
						       LITTLE_TOO_LARGE;
	ends->states = graph->states.n;
	ends->found = search->result->found;
	for (uint32_t i = 0; i < graph->states.n; i++) {
		ends->is_stuck |= (graph->flags[i] & RR_STATE_STUCK) != 0;
		if (graph->flags[i] & RR_STATE_FINAL)
			add_final(search, asked, rr_graph_key(graph, i));
	}
}

/* A random path is played by the programs themselves, where all paths have an end. */
static enum rr_going conclude(struct rr_search *search, void *context)
{
	const struct asked *asked = context;
	const bool is_whole = search->end == RR_GRAPH_WHOLE;
	const enum rr_going going = is_whole ? search->property->judge(search) : RR_GO_ON;

	if (going != RR_GO_ON)
		return going;
	collect(search, asked);
	if (asked->truth)
		find_truth(search, asked);
	return !is_whole || asked->ends->is_stuck ? RR_GO_ON : rr_search_audit(search);
}

static void run(struct stage *stage, struct asked *asked, int rounds)
{
	const struct rr_explore_config config = {
		.programs = little_clients_ops(asked->clients),
		.n_clients = asked->n,
		.ttl_ms = LEASE_MS,
		.most = asked->most,
		.audit = 1,
		.rounds = rounds,
	};
	struct rr_explore_result result;
	struct rr_search search;

	if (!rr_search_open(&search, &stage->cluster, &config, &result) ||
	    !rr_search_run(&search, conclude, asked)) {
		asked->ends->extent = LITTLE_FAILED;
		asked->ends->error = result.error;
	}
	asked->ends->runs = little_clients_runs(asked->clients);
	rr_search_release(&search);
	rr_explore_release(&result);
}

void little_search(struct stage *stage, const struct little_case *it, unsigned learning,
		   unsigned long most, struct little_ends *ends, struct little_ends *truth)
{
	struct asked asked = { .most = most, .ends = ends, .truth = truth };

	while (asked.n < LITTLE_CLIENTS && it->texts[asked.n]) {
		asked.littles[asked.n] = little_new(it->texts[asked.n]);
		asked.n++;
	}
	asked.clients = little_clients_new(asked.littles, asked.n, learning);
	run(stage, &asked, it->rounds ? it->rounds : ROUNDS);
	little_clients_free(asked.clients);
	for (size_t i = 0; i < asked.n; i++)
		little_free(asked.littles[i]);
}

/* ---- Comparing --------------------------------------------------------------------------------- */

static size_t missing_from(const struct little_ends *ends, const struct little_ends *others,
			   const char **first)
{
	size_t n = 0;

	*first = "";
	for (size_t i = 0; i < others->n; i++) {
		if (!find_end(ends, others->all[i].digest) && n++ == 0)
			*first = others->all[i].text;
	}
	return n;
}

void little_compare(const struct little_ends *ends, const struct little_ends *truth, char *why,
		    size_t size)
{
	const char *missed, *wrong;
	const size_t n_missed = missing_from(ends, truth, &missed);
	const size_t n_wrong = truth->extent == LITTLE_WHOLE ? missing_from(truth, ends, &wrong) :
							       0;

	why[0] = '\0';
	if (n_wrong)
		snprintf(why, size, "%zu of %zu final states are none: %s", n_wrong, ends->n,
			 wrong);
	else if (ends->extent == LITTLE_FAILED)
		snprintf(why, size, "%s", ends->error.text);
	else if (ends->extent == LITTLE_WHOLE && n_missed)
		snprintf(why, size, "%zu of %zu final states are missing: %s", n_missed, truth->n,
			 missed);
	else if (ends->extent == LITTLE_WHOLE && truth->extent == LITTLE_WHOLE &&
		 ends->is_stuck != truth->is_stuck)
		snprintf(why, size, "%s can always end",
			 truth->is_stuck ? "not all clients" : "all clients");
}
