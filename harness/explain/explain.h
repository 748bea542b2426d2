/* SPDX-License-Identifier: MIT */
/*
 * Says in words and pictures what a search has found: why it is wrong (why.c), as a race that
 * can be played (transcript.c), and all states as JSON and Graphviz (graph_json.c). A search hands
 * over actions, states and tables; it is not known here.
 */
#ifndef RR_EXPLAIN_H
#define RR_EXPLAIN_H

#include <stdio.h>

#include "compare/compare.h"
#include "draw/draw.h"
#include "graph/graph.h"

/* ---- Names (naming.c) -------------------------------------------------------- */

enum { RR_SCRIPT_NAME = 32 };

/* The names of scripts: one that contains `part` is `name`; the last one's part is NULL. */
struct rr_script_name {
	const char *part, *name;
};

/*
 * Commands and replies as a reader is shown them: random values are called "tokenA",
 * "tokenA2" in a later attempt of that client, and scripts have names. All texts are
 * malloc'd.
 */
struct rr_naming {
	const struct rr_terms *terms;
	const struct rr_scripts *scripts;
	const struct rr_script_name *script_names; /* NULL = they have numbers */
	struct rr_named_token *tokens;             /* random values that are known by now */
	size_t n_tokens;
};

struct rr_naming rr_naming_of(const struct rr_terms *terms, const struct rr_scripts *scripts,
			      const struct rr_script_name *script_names);
void rr_naming_release(struct rr_naming *naming);

/* With names instead of random values; frees `text`. */
char *rr_naming_tidy(const struct rr_naming *naming, char *text);

/* "SET lock:0 tokenA NX PX 10000", "EVAL script1 lock:0 tokenA": without a script's text,
 * and how many keys it has. */
char *rr_naming_command(const struct rr_naming *naming, uint32_t command);
char *rr_naming_reply(const struct rr_naming *naming, uint32_t reply);

/* As it is called in the configuration, or by its number. */
const char *rr_naming_script(const struct rr_naming *naming, const char *source,
			     char name[RR_SCRIPT_NAME]);

/* "count", "exclusion", "lease", "ownership", "deadlock", "starvation": of the
 * invariant whose bit has that number (expected.h). */
const char *rr_invariant_name(int bit);

/* The names of invariants whose bits are set: "count, exclusion"; as a list. */
const char *rr_breaks_text(unsigned breaks, char *text, size_t size);
json_t *rr_invariants_json(unsigned breaks);

/* "count 13*960, exclusion 3*6": 960 schedules of 13 transitions break the count, and none
 * of fewer does. */
enum { RR_SMALLEST_SIZE = 240 };
const char *rr_smallest_text(const struct rr_smallest smallest[RR_INVARIANTS],
			     char text[RR_SMALLEST_SIZE]);

/* ---- Why it is a finding (why.c) -------------------------------------------- */

/* What is to be explained. */
struct rr_why_question {
	const struct rr_program *program;
	struct rr_contents *contents; /* of the table of the only server */
	const struct rr_actions *actions;
	const size_t *steps;   /* of each action: the number of its step, 0 = none */
	const uint8_t *owners; /* and whose it is (dependencies.h); NULL = its client's */
	uint32_t end;          /* the server's state at their end */
	uint32_t nearest;      /* that of a serial order that is near; RR_NO_ID = none */
	unsigned found;        /* RR_OUTCOME_..., see compare/judge.h */
	unsigned running;      /* a bit for each client that has not ended */
	const struct rr_locks *locks;
};

struct rr_why {
	char *text; /* a sentence a line, malloc'd; NULL = nothing is known */
	enum rr_anomaly anomaly;
};

/* An error of the table on the way is forgotten: then nothing is known. */
struct rr_why rr_why_find(const struct rr_why_question *question);

/* ---- Transcripts (transcript.c) --------------------------------------------- */

struct rr_transcript_headings {
	const char *title;
	const char *shows;       /* see struct rr_race; NULL = nothing */
	const char *const *keys; /* that are shown, of programs of others */
	size_t n_keys;
	/* Of an app: what is said where a request begins, and where it is answered. NULL = there
	 * are none. */
	char *(*words_of_request)(void *context, size_t request, bool is_answer);
	void *context;
	size_t *steps; /* of each action: the number of its step is put here, 0 = it is in
			* none; NULL = nobody asks */
};

/* Without its verdict; the caller's to free. NULL: a race has no room for all its steps. */
struct rr_race *rr_actions_race(const struct rr_product *product, const struct rr_scripts *scripts,
				const struct rr_actions *actions,
				const struct rr_transcript_headings *headings);

/*
 * Plays a finding's race in `cluster` (which is reset): its trace, and the verdict that comes of
 * it. False and an error: it did not go as it was recorded, or shows nothing of what it
 * is said to break (bits of expected.h; 0 = it need not), or a race had no room for it, so that
 * there is none. `found`: the verdict where nothing is seen, as RR_NOT_SERIALIZABLE; NULL =
 * nothing broken.
 */
bool rr_conclude(struct rr_played *played, unsigned breaks, const char *found,
		 struct rr_cluster *cluster, struct rr_error *error);

/* ---- Graphs (graph_json.c) --------------------------------------------------- */

/* Bits of a state. */
enum {
	RR_GRAPH_FINAL = 1, /* all have ended or crashed */
	RR_GRAPH_WRONG = 2, /* and the count is wrong; or the data, or what clients print */
	RR_GRAPH_STUCK = 4  /* not everybody can end any more */
};

struct rr_graph_shown {
	const struct rr_graph
		*graph; /* once it is analysed; without states where a schedule is followed */
	struct rr_product *product;
	const struct rr_scripts *scripts;
	const struct rr_script_name *script_names; /* NULL = they have numbers */
	const struct rr_explored_programs *programs;
	unsigned worst; /* the shortest path to what breaks that stands out; 0 = none does */
};

/* As docs/formats.md has it. NULL: the error. */
struct json_t *rr_graph_json(const struct rr_graph_shown *shown, struct rr_error *error);

/* That, as Graphviz. */
void rr_graph_write_dot(FILE *out, const struct json_t *graph);

#endif
