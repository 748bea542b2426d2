/* SPDX-License-Identifier: MIT */
/*
 * All states that can be reached, and what can be said of them: which transitions
 * break an invariant, from which states not everybody can finish any more, the
 * shortest path to a failure, and how many paths there are.
 *
 * Order: explore, analyse, then whatever is wanted of the rest.
 */
#ifndef RR_GRAPH_H
#define RR_GRAPH_H

#include "base/progress.h"
#include "product/product.h"
#include "expected.h"

enum {
	RR_STATE_WRONG = 16,
	RR_STATE_STUCK = 32,
	RR_STATE_ODD = 64,   /* clients have printed what they print in no serial order */
	RR_STATE_KNOWN = 128 /* it was expanded: its edges and flags are known */
};

/* Numbers with their costs, of which the cheapest comes out first: of several the lowest. */
struct rr_heap {
	struct rr_heap_entry {
		uint64_t cost;
		uint32_t number;
	} * entries;
	uint32_t n;
};

void rr_heap_push(struct rr_heap *heap, uint64_t cost, uint32_t number);
uint32_t rr_heap_pop(struct rr_heap *heap); /* there is one */

struct rr_graph_edge {
	uint32_t to;
	struct rr_transition transition;
	uint8_t broken; /* bits of expected.h */
};

enum rr_graph_end {
	RR_GRAPH_WHOLE,
	RR_GRAPH_CUT,  /* bounds kept clients from going on: part of it */
	RR_GRAPH_MOST, /* so many states were to be looked at */
	RR_GRAPH_MEMORY,
	RR_GRAPH_BROAD,   /* so many that another search may be better */
	RR_GRAPH_STOPPED, /* the deadline is over */
	RR_GRAPH_FIRST,   /* the first failure was enough */
	RR_GRAPH_FOUND,   /* `has_found` said so */
	RR_GRAPH_AGAIN,   /* has to begin again: see the register */
	RR_GRAPH_ENDLESS, /* there is no end to it, unless it is bounded */
	RR_GRAPH_FAILED,  /* product->error, unless it has to begin again */
};

struct rr_graph_config {
	unsigned long most;      /* states, 0 = no limit */
	unsigned long most_runs; /* of clients, 0 = no limit */
	size_t memory;           /* bytes, 0 = no limit */
	unsigned long broad;     /* states, 0 = never mind */
	unsigned first_of;       /* ends at the first of these that is broken */
	unsigned detour; /* so many transitions later than others come states behind a preemption
			      * or a fault; 0 = in the order of transitions */
	const struct rr_deadline
		*deadline; /* told now and then of the states; NULL = there is none */
	/* Asked each time when the search has become twice as large: true: ends. May be NULL. */
	bool (*has_found)(void *search);
	void *search;
	bool asks_last; /* asks that at the end, too, where clients have been run often */
};

struct rr_graph {
	struct rr_product *product;
	struct rr_graph_config config;
	struct rr_intern states; /* rr_state_key of product->n_words */
	uint8_t *flags;          /* of each state */
	uint64_t *first;         /* of its edges, of which there are */
	uint32_t *degree;        /* so many */
	struct rr_graph_edge *edges;
	uint64_t n_edges;
	uint32_t n_expanded;
	struct rr_heap waiting; /* states that are to be expanded, where the order is not theirs */
	struct rr_graph_place {
		uint64_t cost;
		uint16_t turn;               /* whose the last step was; 0 = nobody has made one */
	} * places;                          /* of each state then: how it was reached */
	unsigned long broken[RR_INVARIANTS]; /* transitions or states that do */
	unsigned breaks;
	uint64_t interleavings, failing_interleavings; /* 0 = not counted */
	int64_t reported_ns;                           /* when the deadline was told last */
	unsigned long look_states, look_runs;          /* at so many `has_found` is asked next */
};

static inline const uint32_t *rr_graph_key(const struct rr_graph *graph, uint32_t state)
{
	return rr_intern_get(&graph->states, state);
}

/* Are its edges and flags known? */
static inline bool rr_graph_is_expanded(const struct rr_graph *graph, uint32_t state)
{
	return state < graph->states.n && (graph->flags[state] & RR_STATE_KNOWN);
}

/* Where its edges end; they begin at graph->first. */
static inline uint64_t rr_graph_last(const struct rr_graph *graph, uint32_t state)
{
	return graph->first[state] + graph->degree[state];
}

enum rr_graph_end rr_graph_explore(struct rr_graph *graph, struct rr_product *product,
				   const struct rr_graph_config *config);
void rr_graph_release(struct rr_graph *graph);

/* Which states are wrong or stuck, and the counts. Of a graph that is not whole,
 * states that were not looked at count as good. */
void rr_graph_analyse(struct rr_graph *graph);

/* How often clients have been run so far; equal ones count each. */
unsigned long rr_graph_count_runs(const struct rr_product *product);

/* The smallest findings that break an invariant: so many schedules of so many transitions,
 * until it is broken. */
struct rr_smallest {
	uint32_t steps;
	uint64_t n; /* 0 = nothing breaks it */
};

/* The smallest findings of each of RR_INVARIANTS, which begin as zeroes: the schedules with the fewest
 * transitions that break it, and how many of these there are. */
void rr_graph_smallest(const struct rr_graph *graph, struct rr_smallest *smallest);

/* Only how many paths there are, if it has no loop. */
void rr_graph_count_interleavings(struct rr_graph *graph);

/* The invariants that a state breaks by being there. */
unsigned rr_graph_broken_by(const struct rr_graph *graph, uint32_t state);

/* A path from the beginning: edges by their numbers. */
struct rr_path {
	size_t n;
	uint64_t *edges;
	int switches; /* changes of client */
};

void rr_path_release(struct rr_path *path);

/* The state to which it leads. */
static inline uint32_t rr_graph_path_state(const struct rr_graph *graph, const struct rr_path *path)
{
	return path->n ? graph->edges[path->edges[path->n - 1]].to : 0;
}

static inline const uint32_t *rr_graph_path_end(const struct rr_graph *graph,
						const struct rr_path *path)
{
	return rr_graph_key(graph, rr_graph_path_state(graph, path));
}

/* The invariants that it breaks on its way and at its end. */
unsigned rr_graph_path_breaks(const struct rr_graph *graph, const struct rr_path *path);

/* The shortest path that breaks one of `bits`, by changes of client and then by
 * transitions, on to its end. False: there is none. */
bool rr_graph_shortest(const struct rr_graph *graph, unsigned bits, struct rr_path *path);

/* The shortest path to one of these states. */
bool rr_graph_shortest_to(const struct rr_graph *graph, const bool *goals, struct rr_path *path);

/* That on which time passes as seldom as possible. */
bool rr_graph_hastiest_to(const struct rr_graph *graph, const bool *goals, struct rr_path *path);

/* A random path to an end. */
void rr_graph_random_path(const struct rr_graph *graph, uint64_t seed, struct rr_path *path);

/* Clients take turns, `first` has the first. It may have no end. */
void rr_graph_lockstep_path(const struct rr_graph *graph, size_t first, struct rr_path *path);

/* A random path, but in the first loop that it comes to it goes round `rounds` times, and in no other. If it
 * comes to none, it is as above. */
void rr_graph_looping_path(const struct rr_graph *graph, uint64_t seed, int rounds,
			   struct rr_path *path);

/* The actions that a path consists of; release actions->all. False: it is no
 * path of the product (product->error, or an edge that is not there). */
bool rr_graph_actions(const struct rr_graph *graph, const struct rr_path *path,
		      struct rr_actions *actions);

/* Bytes for each state, all things counted. */
size_t rr_graph_bytes(const struct rr_graph *graph);

/* ---- In words (path_words.c) ------------------------------------------------ */

/* A path in the words of replay/words.h, to be followed again: "A:GET B:GET A:SET
 * B:SET". */

struct rr_word_names rr_product_names(const struct rr_product *product);

/* A transition from a state. */
struct rr_word rr_product_word(const struct rr_product *product, const uint32_t *key,
			       struct rr_transition transition);

/* malloc'd. */
char *rr_path_words(const struct rr_graph *graph, const struct rr_path *path);

/*
 * Follows such words from the beginning; when they end, the first transition of each state that leads to one where nobody has been
 * since, until there is none: all have ended, or go round. The actions go to *actions
 * (release actions->all), the last state to `end`, the invariants that are broken on the way to
 * *broken. False: the error, RR_ERROR_DATA if the clients cannot go that way.
 */
bool rr_product_follow(struct rr_product *product, const char *words, struct rr_actions *actions,
		       rr_state_key end, unsigned *broken, struct rr_error *error);

#endif
