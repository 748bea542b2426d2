/* SPDX-License-Identifier: MIT */
/* The ends of a search, as data: what each final state, and each serial execution of programs,
 * leaves, and how its clients ended. Two searches of the same clients have the same ones, whatever
 * they number their states. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "search.h"

/* ---- Of programs ------------------------------------------------------------------ */

/* Adds one. False: the server cannot be asked for what it holds. */
static bool add_end(struct rr_search *search, struct rr_intern *seen,
		    const struct rr_serial_end *ended, struct rr_ends *ends)
{
	const struct rr_explored_programs *programs = &search->config->programs;
	struct rr_programs *processes = programs->processes;
	const size_t n = rr_program_operations(&search->program);
	struct rr_renaming renaming = { 0 };
	struct rr_end end = { .data = 0 };
	int32_t key[RR_RUN_CLIENTS + 1] = { (int32_t)ended->server };
	bool is_new, good;

	for (size_t i = 0; i < RR_RUN_CLIENTS; i++)
		key[i + 1] = i < n ? ended->endings[i] : -1;
	rr_intern_put(seen, key, sizeof(key), &is_new);
	if (!is_new)
		return true;
	for (size_t i = 0; i < search->program.n_clients && processes; i++)
		rr_programs_name_uncontrolled(processes, i, &renaming);
	good = rr_contents_digest(&search->judge.contents, ended->server, &renaming, &end.data);
	rr_renaming_release(&renaming);
	if (!good)
		return false;
	for (size_t i = 0; i < RR_RUN_CLIENTS; i++)
		end.endings[i] = key[i + 1] < 0 ?
					 -1 :
				 processes ?
					 (int)rr_programs_named_ending(processes, i, key[i + 1]) :
					 (int)programs->ops->own_ending(programs->context, i,
									key[i + 1]);
	rr_array_grow(&ends->all, ends->n, sizeof(*ends->all));
	ends->all[ends->n++] = end;
	return true;
}

/* ---- Of strategies ---------------------------------------------------------------- */

/* What servers hold, by the numbers of their states: 0 = not asked yet. */
struct held {
	struct rr_contents contents;
	uint64_t *digests;
	uint32_t n;
};

/* Random values have names in it. 0: the server cannot be asked. */
static uint64_t digest_of_state(struct held *held, const struct rr_naming *naming, uint32_t state)
{
	char *text;

	for (; held->n <= state; held->n++) {
		rr_array_grow(&held->digests, held->n, sizeof(*held->digests));
		held->digests[held->n] = 0;
	}
	if (held->digests[state] || rr_contents_number(&held->contents, state) == RR_NO_ID)
		return held->digests[state];
	text = rr_naming_tidy(naming, rr_contents_text(&held->contents, state, RR_NO_ID));
	held->digests[state] = rr_bytes_digest(1, text, strlen(text));
	free(text);
	return held->digests[state];
}

/* All servers, and of each client whether it has crashed, and how many increments it was told are
 * done. */
static bool add_state(struct rr_search *search, struct held held[2], const struct rr_naming *naming,
		      const uint32_t *key, struct rr_intern *seen)
{
	const struct rr_product *product = &search->product;
	uint64_t digest = 0;

	for (size_t i = 0; i < product->n_servers; i++) {
		const uint64_t of_server = digest_of_state(&held[i > 0], naming, key[i]);

		if (!of_server)
			return false;
		digest = rr_bytes_digest(digest, &of_server, sizeof(of_server));
	}
	for (size_t i = 0; i < product->n_clients; i++) {
		const bool is_crashed = rr_product_part(product, key, i)->is_crashed;
		const int64_t how[2] = {
			is_crashed, is_crashed ? 0 : rr_product_client(product, key, i)->tally.ok
		};

		digest = rr_bytes_digest(digest, how, sizeof(how));
	}
	rr_intern_put(seen, &digest, sizeof(digest), NULL);
	return true;
}

/* ---- All ---------------------------------------------------------------------------- */

void rr_search_note_ends(struct rr_search *search)
{
	if (search->end != RR_GRAPH_WHOLE && search->end != RR_GRAPH_CUT &&
	    search->end != RR_GRAPH_FOUND)
		return;
	if (search->config->strategy) {
		const struct rr_graph *graph = &search->graph;
		struct rr_ends *ends = &search->result->final_ends;
		struct held held[2] = { { .contents = { .table = &search->tables[0] } },
					{ .contents = { .table = &search->tables[1] } } };
		struct rr_naming naming = rr_naming_of(&search->terms, &search->scripts, NULL);
		struct rr_intern seen = { 0 };

		ends->is_known = true;
		for (uint32_t i = 0; i < graph->states.n && ends->is_known; i++) {
			if (graph->flags[i] & RR_STATE_FINAL)
				ends->is_known = add_state(search, held, &naming,
							   rr_graph_key(graph, i), &seen);
		}
		ends->n = ends->is_known ? seen.n : 0;
		ends->all = rr_calloc(ends->n + 1, sizeof(*ends->all));
		for (uint32_t i = 0; i < ends->n; i++)
			ends->all[i].data = *(const uint64_t *)rr_intern_get(&seen, i);
		for (int i = 0; i < 2; i++) {
			rr_contents_release(&held[i].contents);
			free(held[i].digests);
		}
		rr_intern_release(&seen);
		rr_naming_release(&naming);
	} else {
		const struct rr_serial *serial = &search->judge.serial;
		const struct rr_graph *graph = &search->graph;
		struct rr_ends *finals = &search->result->final_ends;
		struct rr_ends *serials = &search->result->serial_ends;
		struct rr_intern seen = { 0 };

		finals->is_known = serials->is_known = true;
		for (uint32_t i = 0; i < graph->states.n && finals->is_known; i++) {
			const struct rr_serial_end end =
				rr_serial_end_of(&search->product, rr_graph_key(graph, i), 0);

			if (graph->flags[i] & RR_STATE_FINAL)
				finals->is_known = add_end(search, &seen, &end, finals);
		}
		rr_intern_release(&seen);
		for (uint32_t i = 0; i < serial->ends.n && serials->is_known; i++)
			serials->is_known = add_end(search, &seen, rr_intern_get(&serial->ends, i),
						    serials);
		serials->is_known &= !serial->is_cut;
		rr_intern_release(&seen);
	}
	/* Without them the verdict is what it is. */
	for (int i = 0; i < 2; i++)
		search->tables[i].error = (struct rr_error){ .kind = RR_ERROR_NONE };
}

static int compare_digests(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

uint64_t rr_ends_fold(uint64_t *digests, size_t *n)
{
	const size_t n_all = *n;
	uint64_t whole = 0;

	qsort(digests, n_all, sizeof(*digests), compare_digests);
	*n = 0;
	for (size_t i = 0; i < n_all; i++) {
		if (i > 0 && digests[i] == digests[i - 1])
			continue;
		whole = rr_bytes_digest(whole, &digests[i], sizeof(digests[i]));
		++*n;
	}
	return whole;
}
