/* SPDX-License-Identifier: MIT */
/* The states that a level shows, as rows of its page, with only what they use of the
 * graph's tables. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "game_graph.h"

/* A list of which only what is used is kept, in the order in which it is come by. */
struct kept {
	const json_t *all;
	json_t *used, *numbers;
};

static struct kept keep_of(const json_t *graph, const char *name)
{
	return (struct kept){ json_object_get(graph, name), json_array(), json_object() };
}

static json_t *keep(struct kept *kept, const json_t *number)
{
	char name[24];
	json_t *now;

	snprintf(name, sizeof(name), "%lld", (long long)json_integer_value(number));
	now = json_incref(json_object_get(kept->numbers, name));
	if (!now) {
		now = json_integer((json_int_t)json_array_size(kept->used));
		json_array_append(kept->used,
				  json_array_get(kept->all, (size_t)json_integer_value(number)));
		json_object_set(kept->numbers, name, now);
	}
	return now;
}

static json_t *keep_all(struct kept *kept, const json_t *numbers)
{
	json_t *all = json_array();

	for (size_t i = 0; i < json_array_size(numbers); i++)
		json_array_append_new(all, keep(kept, json_array_get(numbers, i)));
	return all;
}

static void put_kept(json_t *graph, const char *name, struct kept *kept)
{
	json_object_set_new(graph, name, kept->used);
	json_decref(kept->numbers);
}

/* "0,2": where they are in what is kept. */
static void print_numbers(FILE *out, struct kept *kept, const json_t *numbers)
{
	for (size_t i = 0; i < json_array_size(numbers); i++) {
		json_t *now = keep(kept, json_array_get(numbers, i));

		fprintf(out, "%s%lld", i ? "," : "", json_integer_value(now));
		json_decref(now);
	}
}

static void print_edge(FILE *out, const struct shown_edge *edge, struct kept *transitions)
{
	json_t *number = json_integer(edge->transition);
	json_t *now = keep(transitions, number);

	fprintf(out, " %u,%lld", edge->to, json_integer_value(now));
	if (edge->broken)
		fprintf(out, ",%lld", edge->broken);
	json_decref(now);
	json_decref(number);
}

/* What a row of the page's table of states is made of. */
struct shown_rows {
	const struct shown_graph *shown;
	const json_t *states; /* of the whole graph */
	struct kept servers, clients, transitions;
};

/* A state of the graph as one short text, for there are thousands: servers, clients, flags,
 * ways on, bad ones, and its edges, "TO,TRANSITION[,BROKEN]": "0,1;2,1;0;14;6; 3,7 4,8,2". */
static json_t *state_row(struct shown_rows *rows, const struct shown_state *state)
{
	const json_t *row = json_array_get(rows->states, state->state);
	char *text;
	FILE *out = rr_open_text(&text);
	json_t *string;

	print_numbers(out, &rows->servers, json_array_get(row, 0));
	fputc(';', out);
	print_numbers(out, &rows->clients, json_array_get(row, 1));
	fprintf(out, ";%u;%llu;%llu;", state->flags, (unsigned long long)state->count.all,
		(unsigned long long)state->count.bad);
	for (size_t i = 0; i < state->n; i++)
		print_edge(out, &rows->shown->edges[state->first + i], &rows->transitions);
	fclose(out);
	string = json_string(text);
	free(text);
	return string;
}

void rr_shown_put_states(struct shown_graph *shown)
{
	json_t *graph = shown->graph, *states = json_array();
	struct shown_rows rows = {
		.shown = shown,
		.states = json_object_get(graph, "states"),
		.servers = keep_of(graph, "server_states"),
		.clients = keep_of(graph, "client_states"),
		.transitions = keep_of(graph, "transitions"),
	};

	json_object_set_new(graph, "before", keep_all(&rows.transitions, shown->before));
	for (size_t i = 0; i < shown->n_states; i++)
		json_array_append_new(states, state_row(&rows, &shown->states[i]));
	json_object_set_new(graph, "states", states);
	put_kept(graph, "server_states", &rows.servers);
	put_kept(graph, "client_states", &rows.clients);
	put_kept(graph, "transitions", &rows.transitions);
}
