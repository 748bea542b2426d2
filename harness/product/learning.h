/* SPDX-License-Identifier: MIT */
/*
 * Which histories of a client are one state: a hypothesis, which is tested (black-box
 * checking: Peled, Vardi, Yannakakis; conformance tests as in the W-method; a hypothesis
 * that is wrong is refined by its counterexample: Rivest, Schapire).
 *
 * A history is taken for a state that was there if the client waits for the same in both, and
 * does the same afterwards, along
 *
 *	each suffix that has ever distinguished two histories of this program
 *	a cover of all transitions that are known from there: to each of them, and on to
 *	an end
 *	of a loop, RR_LOOP_ROUNDS rounds, and what comes behind so many of them
 *	walks through all that is known, at random, and so that any two of many replies are on
 *	one, as far as that can be done
 *
 * Tests are runs of the client; what they have shown is kept in the table's tree of
 * histories, so that none is made twice. At first only rounds of a loop are taken for the
 * state before the round. Where there are more histories than that, all are tried.
 *
 * Strategies are fibers, whose runs cost next to nothing, and say where an attempt begins. All
 * beginnings with as much done are taken for each other until something tells them apart, and
 * are tested when the search is through (learning_attempts.c).
 */
#ifndef RR_LEARNING_H
#define RR_LEARNING_H

#include "client_table.h"

enum {
	RR_LOOP_ROUNDS = 100,    /* that a client is seen to do the same in a loop */
	RR_LOOP_LEFT = 64,       /* behind so many at most it is seen to leave one */
	RR_LEARNING_IDLE = 20,   /* walks without two replies that were on none before */
	RR_REFUSALS_ROUNDS = 256 /* both, of a strategy that is refused */
};

/* Before a search. */
void rr_learning_begin(struct rr_client_table *table);

/* Finds out which state a history is taken for that was not asked for before. False:
 * table->error. */
bool rr_learning_classify(struct rr_client_table *table, uint32_t state);

/* A row for a reply that a state has not heard yet, if other replies there were tested and have
 * led to one state: that is assumed, and tested later, many in one run. NULL: none. */
const struct rr_client_row *rr_learning_assume(struct rr_client_table *table, uint32_t state,
					       const struct rr_input *input, int64_t passed_ns);

/* Tests the whole hypothesis, when a search is through. If it is refined by that, which
 * learning.has_changed says, the search has to begin anew. False: table->error. */
bool rr_learning_verify(struct rr_client_table *table);

/* A client has received that since it began, and did then what `did` shows; what does the
 * table say? True: something else, and that was a wrong hypothesis, which is refined. */
bool rr_learning_refute(struct rr_client_table *table, const struct rr_inputs *inputs,
			const struct rr_run_view *did);

/* ---- Among its own files ------------------------------------------------------------ */

/* learning_attempts.c: of a new state at which an attempt begins, or the client has ended: the
 * one that it is, which may be itself. */
void rr_learning_note_attempt(struct rr_client_table *table, uint32_t state);
uint32_t rr_learning_find_attempt(struct rr_client_table *table, uint32_t state);
bool rr_learning_verify_attempts(struct rr_client_table *table);

/* learning.c: what was learned since a search began is not so any more. Is a history a part of
 * another one? */
void rr_learning_note_refinement(struct rr_client_table *table);
bool rr_learning_is_behind(const struct rr_client_table *table, uint32_t state, uint32_t first);

/* learning_tests.c. Does a client do the same in both? */
bool rr_learning_is_same(const struct rr_client_table *table, uint32_t a, uint32_t b);

/* Were the last inputs, so many, the same as those before them, and what it did then? */
bool rr_learning_is_round(const struct rr_client_table *table, uint32_t state, int period);

/* Does the client do the same at the beginning of another loop; of one that it was made to leave? */
bool rr_learning_has_like_loop(const struct rr_client_table *table, uint32_t first, bool is_left);

/* The history with one more input; RR_NO_ID: table->error, or it cannot hear that. */
uint32_t rr_learning_go(struct rr_client_table *table, uint32_t state,
			const struct rr_received *received);

bool rr_learning_is_same_input(const struct rr_received *a, const struct rr_received *b);

/* The last that was received in a history; and all of it, with some more, to be freed. */
struct rr_received rr_learning_received(const struct rr_client_table *table, uint32_t state);
struct rr_inputs rr_learning_history_and(const struct rr_client_table *table, uint32_t state,
					 const struct rr_received *more, size_t n);

/* The row of the hypothesis from a state; NULL: it has none. */
const struct rr_client_row *rr_learning_row(const struct rr_client_table *table, uint32_t state,
					    const struct rr_received *received);

/* What a client has to do behind a row. In what a strategy does on its way to the beginning of an
 * attempt, histories differ that are one state there. */
uint32_t rr_learning_said(const struct rr_client_table *table, const struct rr_client_row *row);

/* Does a history do what the hypothesis says of a state? How many inputs that is so for. */
size_t rr_learning_steps_as_said(struct rr_client_table *table, uint32_t history, uint32_t state,
				 const struct rr_inputs *inputs);

/* Does it do so along `most` words of a cover? Adds what tells them apart. */
bool rr_learning_agrees(struct rr_client_table *table, uint32_t history, uint32_t state,
			size_t most);

/* False: it is known already, or there is no room. */
bool rr_learning_add_suffix(struct rr_client_table *table, const struct rr_received *all, size_t n);

/* learning_loops.c: the state of which a history is one more round, or several; RR_NO_ID:
 * none. */
uint32_t rr_learning_find_loop(struct rr_client_table *table, uint32_t history);

/* Is a loop left in the same way behind many rounds? If not, the hypothesis is refined. */
bool rr_learning_leave_loop(struct rr_client_table *table, uint32_t first, uint32_t last);

/* Is that of a strategy left alike behind so many rounds and more, up to RR_REFUSALS_ROUNDS, by
 * one of the words at least? If not, the hypothesis is refined. */
void rr_learning_follow_loop(struct rr_client_table *table, uint32_t first, uint32_t last,
			     const struct rr_inputs *words, size_t n, int rounds);

/* learning_words.c: words that cover all transitions known from a state, `most` at most; how
 * many there are. Release each, and free the array. */
size_t rr_learning_cover(const struct rr_client_table *table, uint32_t state,
			 struct rr_inputs **words, size_t most);
void rr_learning_release_words(struct rr_inputs *words, size_t n);

/* learning_replies.c: the next input that a client may receive there: what it has heard before
 * when it had sent the same. False: nobody knows. */
bool rr_learning_guess(const struct rr_client_table *table, uint32_t state,
		       struct rr_received *received);

/* Was a command of that name, as it is waited for there, ever answered so? A word that was heard in
 * one state may tell another what no server says: a program may do anything then, and hang. */
bool rr_learning_may_hear(const struct rr_client_table *table, uint32_t state,
			  const struct rr_input *input);

/* The state that a history is taken for because other replies than its last one were tested and
 * have led there, as in rr_learning_assume(); RR_NO_ID: none. */
uint32_t rr_learning_find_assumed(const struct rr_client_table *table, uint32_t history);

/* There is no end to what the client does behind that history, whose rounds are like each other
 * since another one, the first of them: perhaps there is one if a random value that is
 * nowhere any more has the name of the next; if not, from now on histories are no states, and it
 * is followed for some rounds. False: table->error, the search has to begin anew. */
bool rr_learning_bound(struct rr_client_table *table, uint32_t state, uint32_t first_round);

/* learning_ends.c: of a state: how often in a row it has done the like? And is there no end to that? */
void rr_learning_count_rounds(struct rr_client_table *table, uint32_t state);

/* learning_candidates.c. Do two histories do something else after the same inputs, as far as that
 * was seen? */
bool rr_learning_are_known_apart(const struct rr_client_table *table, uint32_t a, uint32_t b);

/* The state that a history is, because it has heard the same as another one,
 * and only what it heard last, on two connections, in another order; RR_NO_ID: none. No run is made
 * for that: it is tested when the search is through. */
uint32_t rr_learning_find_diamond(struct rr_client_table *table, uint32_t history);

/* The state that a history is, of all that are known; RR_NO_ID: none. */
uint32_t rr_learning_find_state(struct rr_client_table *table, uint32_t history);

/* Does the history do the same as the state afterwards? Adds what tells them apart. */
bool rr_learning_test(struct rr_client_table *table, uint32_t history, uint32_t state,
		      const struct rr_inputs *word);

/* Do two histories do the same along a word? If not, that is a suffix from now on. */
bool rr_learning_tells_same(struct rr_client_table *table, uint32_t a, uint32_t b,
			    const struct rr_inputs *word);

/* Does no suffix that is known tell them apart? */
bool rr_learning_is_like(struct rr_client_table *table, uint32_t a, uint32_t b);

/* learning_walks.c: walks at random. False: table->error. */
bool rr_learning_walk(struct rr_client_table *table);

/* A path through the hypothesis turned out to be wrong: refines it. */
void rr_learning_refine(struct rr_client_table *table, const struct rr_inputs *inputs);

#endif
