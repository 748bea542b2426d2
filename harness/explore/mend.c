/* SPDX-License-Identifier: MIT */
/*
 * What would fix a finding: the smallest spans of commands that leave nothing wrong. The graph is
 * searched once more, with spans of commands as one step: a client that is within its span goes
 * on until it is over. These schedules are a part of those that are known, so nothing new is
 * asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "search.h"

enum {
	KEY_SHOWN = 100,
	SPAN_COMMANDS = 24,       /* of a client, at most */
	STATES_MOST = 200000,     /* of a graph that is searched again */
	PLACES_MOST = 3 * 1000000 /* in all searches */
};

/* A command, by its place in the sequence of all clients that run the same program. */
struct slot {
	uint32_t command; /* the first that was seen; RR_NO_ID = none */
	uint8_t lane;     /* its connection */
	bool varies;      /* there are others here, or other connections */
	bool key_varies;  /* they have other first keys */
	bool is_alone;    /* it was the only thing to be done, while others were there: a step that
			   * nobody can notice may also come earlier or later */
	bool waits;       /* a client may have waited for something else before it */
};

/* From command `first` to `last`; none if they are the same. */
struct span {
	size_t first, last;
};

/* Who does what in all interleavings, and which spans are one step. */
struct mender {
	struct rr_search *search;
	const struct rr_graph *graph;
	struct rr_graph mended; /* of places */
	size_t n_groups;
	size_t group[RR_RUN_CLIENTS];   /* of each client: who runs the same program */
	size_t example[RR_RUN_CLIENTS]; /* of each group: a client */
	struct slot slots[RR_RUN_CLIENTS][SPAN_COMMANDS];
	struct span spans[RR_RUN_CLIENTS]; /* of each group */
	bool surveys;                      /* slots are being filled in, without spans */
	unsigned long left;                /* states that may still be looked at */
};

static struct rr_server_table *table_of(const struct mender *mender)
{
	return mender->graph->product->tables[0];
}

/* ---- A graph, searched once more ----------------------------------------- */

/* A state, and how many commands of each client have been executed. */
struct place {
	uint32_t state;
	uint8_t done[RR_RUN_CLIENTS];
};

/* The client that has to go on because it is within its span; -1 = nobody has to. A step that
 * nobody else can notice stands alone in its state: it is taken, whosever it is. */
static int who_goes_on(const struct mender *mender, const struct place *place)
{
	const struct rr_graph *graph = mender->graph;

	for (uint64_t i = graph->first[place->state]; i < rr_graph_last(graph, place->state); i++) {
		const struct rr_transition step = graph->edges[i].transition;
		const struct span *span;

		if (!rr_transition_is_own_step(step))
			continue;
		span = &mender->spans[mender->group[step.who]];
		if (place->done[step.who] > span->first && place->done[step.who] <= span->last)
			return step.who;
	}
	return -1;
}

/* Is there but one thing to be done, although another client has not ended? */
static bool is_alone(const struct mender *mender, const struct rr_graph_edge *edge, uint32_t state)
{
	const struct rr_graph *graph = mender->graph;
	const struct rr_product *product = graph->product;
	const uint32_t *key = rr_graph_key(graph, state);

	if (graph->degree[state] > 1)
		return false;
	for (size_t i = 0; i < product->n_clients; i++) {
		if (i != edge->transition.who && !rr_product_is_over(product, key, i))
			return true;
	}
	return false;
}

/* False: too many commands. */
static bool count_command(struct mender *mender, const struct rr_graph_edge *edge,
			  struct place *place)
{
	const struct rr_transition transition = edge->transition;
	uint8_t *n = &place->done[transition.who];
	struct slot *slot = &mender->slots[mender->group[transition.who]][*n];
	const struct rr_sent *sent;

	if (!rr_transition_rows[transition.kind].has_command || transition.kind == RR_DO_GO) {
		slot->waits |= transition.kind == RR_DO_GO;
		return true;
	}
	sent = rr_product_next_sent(mender->graph->product,
				    rr_graph_key(mender->graph, place->state), transition);
	if (mender->surveys && sent) {
		const struct rr_term_command *commands = table_of(mender)->terms->command;
		const struct rdl_command *is, *was;

		if (slot->command == RR_NO_ID) {
			slot->command = sent->command;
			slot->lane = sent->lane;
		}
		is = &commands[sent->command].words;
		was = &commands[slot->command].words;
		slot->varies |= slot->lane != sent->lane ||
				commands[sent->command].name != commands[slot->command].name;
		slot->key_varies |= is->n_words < 2 || was->n_words < 2 ||
				    strcmp(is->words[1].text, was->words[1].text) != 0;
		slot->is_alone |= is_alone(mender, edge, place->state);
	}
	return sent && ++*n < SPAN_COMMANDS;
}

static bool leave_place(struct mender *mender, struct place place)
{
	const struct rr_graph *graph = mender->graph;
	struct rr_graph *mended = &mender->mended;
	const int goes_on = who_goes_on(mender, &place);

	for (uint64_t i = graph->first[place.state]; i < rr_graph_last(graph, place.state); i++) {
		const struct rr_graph_edge *edge = &graph->edges[i];
		struct place next = place;

		if (goes_on >= 0 && (!rr_transition_is_own_step(edge->transition) ||
				     edge->transition.who != goes_on))
			continue;
		if ((!mender->surveys &&
		     (edge->broken ||
		      mender->graph->flags[edge->to] & (RR_STATE_WRONG | RR_STATE_STUCK))) ||
		    (rr_transition_is_step(edge->transition) &&
		     !count_command(mender, edge, &next)))
			return false;
		next.state = edge->to;
		rr_array_grow(&mended->edges, mended->n_edges, sizeof(*mended->edges));
		mended->edges[mended->n_edges++] = (struct rr_graph_edge){
			.to = rr_intern_put(&mended->states, &next, sizeof(next), NULL)
		};
	}
	return true;
}

/* Is nothing wrong, with these spans? Then `mended` has the interleavings. */
static bool search_mended(struct mender *mender)
{
	struct rr_graph *mended = &mender->mended;
	struct place place;
	bool good = true;

	memset(&place, 0, sizeof(place));
	rr_graph_release(mended);
	rr_intern_put(&mended->states, &place, sizeof(place), NULL);
	for (uint32_t i = 0; i < mended->states.n && good; i++) {
		place = *(const struct place *)rr_intern_get(&mended->states, i);
		rr_array_grow(&mended->flags, i, sizeof(*mended->flags));
		rr_array_grow(&mended->first, i, sizeof(*mended->first));
		rr_array_grow(&mended->degree, i, sizeof(*mended->degree));
		mended->flags[i] = mender->graph->flags[place.state];
		mended->first[i] = mended->n_edges;
		mender->left *= !rr_deadline_is_over(&mender->search->deadline,
						     "a fix was looked for");
		good = mender->left > 0 && leave_place(mender, place);
		mended->degree[i] = (uint32_t)(mended->n_edges - mended->first[i]);
		mended->n_expanded = i + 1;
		mender->left -= mender->left > 0;
	}
	return good;
}

/* Looks what clients do. False: too much. */
static bool survey_clients(struct mender *mender, struct rr_search *search)
{
	const struct rr_graph *graph = &search->graph;
	const struct rr_product *product;

	*mender = (struct mender){
		.search = search, .graph = graph, .left = PLACES_MOST, .surveys = true
	};
	product = mender->graph->product;
	for (size_t i = 0; i < product->n_clients; i++) {
		size_t j = 0;

		while (j < mender->n_groups &&
		       product->clients[mender->example[j]].table != product->clients[i].table)
			j++;
		if (j == mender->n_groups)
			mender->example[mender->n_groups++] = i;
		mender->group[i] = j;
	}
	for (size_t i = 0; i < mender->n_groups; i++) {
		for (size_t j = 0; j < SPAN_COMMANDS; j++)
			mender->slots[i][j].command = RR_NO_ID;
	}
	if (graph->n_expanded < graph->states.n || graph->states.n > STATES_MOST ||
	    !search_mended(mender))
		return false;
	mender->surveys = false;
	return true;
}

/* ---- Spans -------------------------------------------------------------------------- */

/* +1: a transaction begins with it, -1: it ends. */
static int transaction_of(const struct mender *mender, const struct slot *slot)
{
	const char *name = rr_server_command_name(table_of(mender), slot->command);

	if (strcmp(name, "MULTI") == 0)
		return 1;
	return strcmp(name, "EXEC") == 0 || strcmp(name, "DISCARD") == 0 ? -1 : 0;
}

/* Can these commands become one step? What nobody can notice stands in the graph as early as it
 * can: a span that began with it would take in what comes before. */
static bool is_straight(const struct mender *mender, size_t group, struct span span)
{
	const struct slot *slots = mender->slots[group];
	int depth = 0;

	for (size_t i = 0; i <= span.last; i++) {
		const struct slot *slot = &slots[i];

		if (slot->command == RR_NO_ID)
			return false;
		if (i == span.first && (depth != 0 || slot->is_alone))
			return false;
		depth += transaction_of(mender, slot);
		if (i < span.first)
			continue;
		/* What comes again is a loop: one round of it would be read. */
		if (i > span.first && slot->command == slots[span.first].command)
			return false;
		if (slot->varies || slot->lane != slots[span.first].lane ||
		    (slot->waits && i > span.first) ||
		    rr_asker_info(table_of(mender)->asker,
				  rr_server_command_name(table_of(mender), slot->command))
			    .blocks)
			return false;
	}
	return depth == 0;
}

/* Gives the clients of this group and of those behind it spans of so many commands in all,
 * and searches. */
static bool try_spans(struct mender *mender, size_t group, size_t length)
{
	struct span *span = &mender->spans[group];

	if (group == mender->n_groups)
		return length == 0 && search_mended(mender);
	*span = (struct span){ 0, 0 };
	if (try_spans(mender, group + 1, length))
		return true;
	for (size_t n = 2; n <= length && n < SPAN_COMMANDS; n++) {
		for (size_t first = 0; first + n <= SPAN_COMMANDS && mender->left; first++) {
			*span = (struct span){ first, first + n - 1 };
			if (is_straight(mender, group, *span) &&
			    try_spans(mender, group + 1, length - n))
				return true;
		}
	}
	*span = (struct span){ 0, 0 };
	return false;
}

/* ---- In words ------------------------------------------------------------------------ */

/* "GET counter". */
static void write_slot(FILE *out, const struct mender *mender, const struct slot *slot)
{
	const struct rdl_command *command = &table_of(mender)->terms->command[slot->command].words;
	char *plain;

	fputs(rr_server_command_name(table_of(mender), slot->command), out);
	if (slot->key_varies || strncasecmp(command->words[0].text, "EVAL", 4) == 0)
		return;
	plain = rr_plain_cut(command->words[1].text, command->words[1].length, KEY_SHOWN, "");
	fprintf(out, " %s", plain);
	free(plain);
}

static char *describe(struct mender *mender, unsigned found)
{
	const bool is_of_order = found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_OUTPUTS);
	char number[RR_GROUPED_SIZE], *text;
	uint64_t n;
	FILE *out = rr_open_text(&text);
	char *texts[RR_RUN_CLIENTS];
	size_t n_texts = 0, n_same = 0, n_left;

	rr_graph_count_interleavings(&mender->mended);
	n = mender->mended.interleavings;
	/* Two models of one program may have the same span. */
	for (size_t i = 0; i < mender->n_groups; i++) {
		const struct span span = mender->spans[i];
		FILE *of_span;

		texts[i] = NULL;
		if (span.last > 0) {
			/* "GET counter … SET counter". */
			of_span = rr_open_text(&texts[i]);
			write_slot(of_span, mender, &mender->slots[i][span.first]);
			fputs(" … ", of_span);
			write_slot(of_span, mender, &mender->slots[i][span.last]);
			fclose(of_span);
		}
		n_texts += texts[i] != NULL;
		n_same += texts[i] && texts[0] && strcmp(texts[i], texts[0]) == 0;
	}
	n_left = n_texts;
	fputs("Fix: run ", out);
	for (size_t i = 0; i < mender->n_groups; i++) {
		if (n_same == mender->n_groups && i == 0)
			fputs(texts[0], out);
		else if (texts[i] && n_same < mender->n_groups)
			fprintf(out, "%s's %s%s",
				rr_program_client_name(mender->graph->product->config.program,
						       mender->example[i]),
				texts[i], --n_left ? " and " : "");
	}
	for (size_t i = 0; i < mender->n_groups; i++)
		free(texts[i]);
	fputs(n_texts > 1 && n_same < mender->n_groups ? " as one step each (scripts): " :
							 " as one step (a script): ",
	      out);
	if (n > 0 && n <= INT64_MAX)
		fprintf(out, "all %s interleavings are then ", rr_grouped(number, (long long)n));
	else
		fputs("all interleavings are then ", out);
	fprintf(out, "%s (computed, not run).", is_of_order ? "serializable" : "as expected");
	fclose(out);
	return text;
}

char *rr_mend_find(struct rr_search *search)
{
	struct mender mender;
	char *text = NULL;

	if (survey_clients(&mender, search)) {
		for (size_t n = 2; n <= mender.n_groups * SPAN_COMMANDS && mender.left && !text;
		     n++) {
			if (try_spans(&mender, 0, n))
				text = describe(&mender, search->result->found);
		}
	}
	rr_graph_release(&mender.mended);
	return text;
}
