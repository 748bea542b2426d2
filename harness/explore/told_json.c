/* SPDX-License-Identifier: MIT */
/*
 * What is told, as JSON. Texts stand there once, and are named by their numbers.
 *
 *	servers    names
 *	keys       what a server holds: texts, a line for each key
 *	clients    what clients are at: [bits, counted]; 1 in its critical section,
 *	           2 crashed, 4 has ended
 *	moves      {cue, play, label, who, server, fault, refused, events}, see
 *	           told_words.c
 *	before     the moves that lead to the beginning
 *	states     [keys of each server..., whose lock is there (client + 1, or 0)...,
 *	           client of each..., bits (told.h), ways, bad ways, then of each
 *	           transition: state, move, what it breaks]
 *	invariants names of the bits of what is broken
 *	scripts    {name: text}
 *	timed      do clients look at how much time has passed?
 */
#include <stdlib.h>
#include <string.h>

#include "play/play.h"
#include "told.h"

/* Texts by their numbers. */
struct shelf {
	json_t *all, *numbers;
};

static bool open_shelf(struct shelf *shelf)
{
	shelf->all = json_array();
	shelf->numbers = json_object();
	return shelf->all && shelf->numbers;
}

static void close_shelf(struct shelf *shelf)
{
	json_decref(shelf->all);
	json_decref(shelf->numbers);
}

/* The number of `item`, which is known by `text`; takes the item. */
static json_t *shelve(struct shelf *shelf, const char *text, json_t *item)
{
	json_t *number = json_object_get(shelf->numbers, text);

	if (number) {
		json_decref(item);
		return json_incref(number);
	}
	number = json_integer((json_int_t)json_array_size(shelf->all));
	json_object_set(shelf->numbers, text, number);
	json_array_append_new(shelf->all, item);
	return number;
}

struct writer {
	struct rr_told *told;
	struct rr_contents contents[2];
	struct shelf keys, clients;
	json_t *asked; /* numbers of keys' texts by the states of servers */
};

/* ---- States ------------------------------------------------------------------------ */

/* What a state of a server holds. */
static json_t *ask_keys(struct writer *writer, struct rr_contents *contents, uint32_t state)
{
	char *text = rr_contents_text(contents, state, false);
	char *tidy = text ? rr_told_tidy(writer->told, text) : NULL;
	json_t *number = NULL;

	if (contents->table->error.kind)
		*writer->told->error = contents->table->error;
	else if (tidy)
		number = shelve(&writer->keys, tidy, json_string(tidy));
	free(text);
	free(tidy);
	return number;
}

/* Asked once. */
static json_t *shelve_keys(struct writer *writer, const uint32_t *key, size_t server)
{
	struct rr_contents *contents = &writer->contents[server > 0];
	char name[40];
	json_t *number;

	snprintf(name, sizeof(name), "%d %u", server > 0, key[server]);
	number = json_object_get(writer->asked, name);
	if (number)
		return json_incref(number);
	number = ask_keys(writer, contents, key[server]);
	if (number)
		json_object_set(writer->asked, name, number);
	return number;
}

static json_t *shelve_client(struct writer *writer, const uint32_t *key, size_t client)
{
	const struct rr_product *product = writer->told->graph->product;
	const struct rr_part *part = rr_product_part(product, key, client);
	const struct rr_client_state *it = rr_product_client(product, key, client);
	const bool crashed = part->is_crashed;
	const int bits = crashed ? 2 : it->is_inside | it->has_ended << 2;
	const int counted = crashed ? part->ok : (int)it->tally.ok;
	char text[40];

	snprintf(text, sizeof(text), "%d %d", bits, counted);
	return shelve(&writer->clients, text, json_pack("[i, i]", bits, counted));
}

static void add_number(json_t *array, uint64_t number)
{
	json_array_append_new(array, json_integer((json_int_t)number));
}

/* NULL: told->error, or out of memory. */
static json_t *told_state(struct writer *writer, const struct rr_told_state *state)
{
	const struct rr_told *told = writer->told;
	const struct rr_product *product = told->graph->product;
	rr_state_key key;
	json_t *array = json_array();

	memcpy(key, rr_graph_key(told->graph, state->state), product->n_words * sizeof(key[0]));
	for (size_t i = 0; i < product->n_servers; i++)
		json_array_append_new(array, shelve_keys(writer, key, i));
	for (size_t i = 0; i < product->n_servers; i++)
		add_number(array, (uint64_t)(1 + rr_product_common(product, key)->makers[i]));
	for (size_t i = 0; i < product->n_clients; i++)
		json_array_append_new(array, shelve_client(writer, key, i));
	add_number(array, state->flags);
	add_number(array, state->ways.all);
	add_number(array, state->ways.bad);
	for (size_t i = 0; i < state->n; i++) {
		const struct rr_told_edge *edge = &told->edges[state->first + i];

		add_number(array, edge->to);
		add_number(array, edge->move);
		add_number(array, edge->broken);
	}
	return array;
}

static json_t *told_states(struct writer *writer)
{
	const struct rr_told *told = writer->told;
	json_t *states = json_array();

	for (size_t i = 0; i < told->n_states && !told->error->kind; i++)
		json_array_append_new(states, told_state(writer, &told->states[i]));
	return states;
}

/* ---- Names ---------------------------------------------------------------------------- */

static json_t *told_servers(const struct rr_told *told)
{
	const size_t n = told->explorer->program.n_servers;
	json_t *names = json_array();

	for (size_t i = 0; i < n; i++) {
		char name[RR_SERVER_NAME];

		rr_recorder_server_name(name, "data", i);
		json_array_append_new(names, json_string(n > 1 ? name : "redis"));
	}
	return names;
}

static json_t *told_invariants(void)
{
	json_t *names = json_array();

	for (int i = 0; i < RR_INVARIANTS; i++)
		json_array_append_new(names, json_string(rr_invariant_name(i)));
	return names;
}

static json_t *told_scripts(const struct rr_told *told)
{
	const struct rr_scripts *scripts = &told->explorer->scripts;
	const struct rr_told_script *it = told->config->scripts;
	json_t *texts = json_object();

	for (; it && it->part; it++) {
		for (size_t i = 0; i < scripts->n; i++) {
			if (strstr(scripts->all[i].source, it->part))
				json_object_set_new(texts, it->name,
						    json_string(scripts->all[i].source));
		}
	}
	return texts;
}

/* ---- The whole ------------------------------------------------------------------------- */

static json_t *write_told(struct writer *writer)
{
	struct rr_told *told = writer->told;
	json_t *states = told_states(writer), *json = NULL;

	if (!told->error->kind)
		json = json_pack("{s:o, s:O, s:O, s:O, s:O, s:O, s:o, s:o, s:b}", "servers",
				 told_servers(told), "keys", writer->keys.all, "clients",
				 writer->clients.all, "moves", told->moves, "before", told->before,
				 "states", states, "invariants", told_invariants(), "scripts",
				 told_scripts(told), "timed",
				 told->graph->product->config.reads_clock);
	json_decref(states);
	if (!json && !told->error->kind)
		rr_error_no_memory(told->error);
	return json;
}

json_t *rr_told_json(struct rr_told *told)
{
	struct writer writer = {
		.told = told,
		.asked = json_object(),
		.contents = { { .table = &told->explorer->tables[0] },
			      { .table = &told->explorer->tables[1] } },
	};
	json_t *json = NULL;

	if (open_shelf(&writer.keys) && open_shelf(&writer.clients) && writer.asked)
		json = write_told(&writer);
	else
		rr_error_no_memory(told->error);
	close_shelf(&writer.keys);
	close_shelf(&writer.clients);
	json_decref(writer.asked);
	rr_contents_release(&writer.contents[0]);
	rr_contents_release(&writer.contents[1]);
	return json;
}
