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
 *	of a loop, RR_LOOP_ROUNDS rounds, and what comes after each of RR_LOOP_NUMBERS numbers
 *	of rounds
 *	walks through all that is known, at random, and so that any two of many replies are on
 *	one, as far as that can be done
 *
 * Tests are runs of the client; what they have shown is kept in the table's tree of
 * histories, so that none is made twice. At first only rounds of a loop are taken for the
 * state before the round. Where there are more histories than that, all are tried.
 *
 * Strategies are fibers, whose runs cost next to nothing, and say where an attempt begins. All
 * beginnings with as much done are taken for each other until something tells them apart, and
 * are tested when the search is through.
 */
#ifndef RR_LEARNING_H
#define RR_LEARNING_H

#include "client_table.h"

enum {
	RR_ROUNDS_WITHOUT_END = 32, /* for which one is followed that never does the same */
	RR_LOOP_ROUNDS = 100,       /* that a client is seen to do the same in a loop */
	RR_LOOP_NUMBERS = 37,       /* numbers of rounds after which it is seen to leave one */
	RR_LEARNING_IDLE = 20,      /* walks without two replies that were on none before */
	RR_REFUSALS_ROUNDS = 256    /* both, of a strategy that is refused */
};

/* Was something withdrawn since the search began that it takes for granted of the table? */
static inline bool rr_learning_has_changed(const struct rr_client_table *table)
{
	return rr_beliefs_withdrawn_of(table->program->beliefs, table) != 0;
}

/* Before a search. */
void rr_learning_begin(struct rr_client_table *table);

/* Finds out which state a history is taken for that was not asked for before. False:
 * table->error. */
bool rr_learning_classify(struct rr_client_table *table, uint32_t state);

/* A row for a reply that a state has not received yet, if other replies there were tested and have
 * led to one state: that is assumed, and tested later, many in one run. NULL: none. */
const struct rr_client_row *rr_learning_assume(struct rr_client_table *table, uint32_t state,
					       const struct rr_input *input, int64_t passed_ns);

/* Tests the whole hypothesis, when a search is through. If it is refined by that, which
 * rr_learning_has_changed() says, the search has to begin again. False: table->error. */
bool rr_learning_verify(struct rr_client_table *table);

/* A client has received that since it began, and did then what `did` shows; what does the
 * table say? True: something else, and that was a wrong hypothesis, which is refined. */
bool rr_learning_refute(struct rr_client_table *table, const struct rr_inputs *inputs,
			const struct rr_run_view *did);

/* The numbers of rounds after which a loop is left, smallest first; the client goes round for the last one
 * anyway. They count all rounds since the client came to the loop. */
int rr_learning_rounds(size_t i);

/*
 * A loop is left after some of these numbers by runs beside other clients, which are made anyway, and
 * not by runs of the client alone: learning.n_played says after how many. rr_learning_untried()
 * returns how often a client has to go round in a known loop for the greatest number that was not
 * tried yet, 0 if there is none. rr_learning_note_state()
 * is told of each state that such a run comes to; rr_learning_leave_rest() tries what was not tried
 * then. False: table->error, or the hypothesis was refined.
 */
struct rr_rounds_run {
	uint32_t head; /* of the loop that it goes round in; RR_NO_ID: it is in none */
	int rounds;
};

int rr_learning_untried(const struct rr_client_table *table);
void rr_learning_note_state(struct rr_client_table *table, struct rr_rounds_run *run,
			    uint32_t state);
bool rr_learning_leave_rest(struct rr_client_table *table);

/* The numbers that were tried of each loop, as bits; 0 if no loop was left after all of them. */
uint64_t rr_learning_left(const struct rr_client_table *table);

/* ---- Among its own files ------------------------------------------------------------ */

enum { RR_LEARNING_WORDS = 48 }; /* of a cover, when all is known */

/* learning.c. Does a client do the same in both? And so late? */
bool rr_learning_does_same(const struct rr_client_table *table, uint32_t a, uint32_t b);
bool rr_learning_is_same(const struct rr_client_table *table, uint32_t a, uint32_t b);

/* How many inputs two words have in common at their beginnings; `timed`: with the time that passes. */
size_t rr_learning_common(const struct rr_inputs *a, const struct rr_inputs *b, bool timed);

/* The history with one more input; RR_NO_ID: table->error, or it cannot hear that. */
uint32_t rr_learning_go(struct rr_client_table *table, uint32_t state,
			const struct rr_received *received);

/* The last that was received in a history; and all of it, with some more, to be freed. */
struct rr_received rr_learning_received(const struct rr_client_table *table, uint32_t state);
struct rr_inputs rr_learning_history_and(const struct rr_client_table *table, uint32_t state,
					 const struct rr_received *more, size_t n);

/* Is a history a part of another one? */
bool rr_learning_is_behind(const struct rr_client_table *table, uint32_t state, uint32_t first);

/* What a client has to do behind a row of the hypothesis: in what a strategy does on its way to the
 * beginning of an attempt, histories differ that are one state there. */
uint32_t rr_learning_said(const struct rr_client_table *table, const struct rr_client_row *row);

/* All states that can be reached from one, the nearest first, and by which row each is; RR_NO_ID: it
 * cannot be. There must be room for all. How many they are. */
uint32_t rr_learning_reach(const struct rr_client_table *table, uint32_t from, uint32_t *reached,
			   uint32_t *via);

/* The states that the hypothesis goes through with these inputs, the beginning first. How many of the
 * inputs it knows. */
size_t rr_learning_path(const struct rr_client_table *table, const struct rr_inputs *inputs,
			uint32_t *states);

/* Does a history do what the hypothesis says of a state? How many inputs that is so for. */
size_t rr_learning_steps_as_said(struct rr_client_table *table, uint32_t history, uint32_t state,
				 const struct rr_inputs *inputs);

/* Does the history do the same as the state along a word? If not, that is a suffix from now on. Along
 * `most` words of a cover? */
bool rr_learning_test(struct rr_client_table *table, uint32_t history, uint32_t state,
		      const struct rr_inputs *word);
bool rr_learning_agrees(struct rr_client_table *table, uint32_t history, uint32_t state,
			size_t most);

/* Do two histories do the same along a word? If not, that is a suffix from now on. */
bool rr_learning_tells_same(struct rr_client_table *table, uint32_t a, uint32_t b,
			    const struct rr_inputs *word);

/* Does no suffix that is known tell them apart? */
bool rr_learning_is_like(struct rr_client_table *table, uint32_t a, uint32_t b);

/* A path through the hypothesis turned out to be wrong: refines it. */
void rr_learning_refine(struct rr_client_table *table, const struct rr_inputs *inputs);

/* What was learned since a search began is not so any more; and a history is a state of its own from now
 * on, if it was asked for. */
void rr_learning_note_refinement(struct rr_client_table *table);
void rr_learning_keep_apart(struct rr_client_table *table, uint32_t history);

/* There is no end to what the client does behind that history, whose rounds are like each other
 * since another one, the first of them: perhaps there is one if a random value that is
 * nowhere any more has the name of the next; if not, from now on histories are no states, and it
 * is followed for some rounds. */
void rr_learning_bound(struct rr_client_table *table, uint32_t state, uint32_t first_round);

/* Of a new state at which an attempt begins, or the client has ended: notes what it has in mind; and
 * returns the state that it is, which may be itself. Those with as much done are taken for each other
 * until something tells them apart, so a client that is refused is where it was. */
void rr_learning_note_attempt(struct rr_client_table *table, uint32_t state);
uint32_t rr_learning_find_attempt(struct rr_client_table *table, uint32_t state);

/* learning_loops.c: the state of which a history is one more round, or several; RR_NO_ID: none. Where
 * there is no end to what a client does, none is looked for any more. */
uint32_t rr_learning_find_loop(struct rr_client_table *table, uint32_t history);

/* Does the client do the same at the beginning of another loop; of one that it was made to leave? */
bool rr_learning_has_like_loop(const struct rr_client_table *table, uint32_t first, bool is_left);

/* A client does something else after these inputs than the hypothesis says. If that goes round in loops,
 * each of their rounds is a state from now on. */
void rr_learning_unroll(struct rr_client_table *table, const struct rr_inputs *inputs);

/* Is a loop left in the same way after many rounds? If not, the hypothesis is refined. */
bool rr_learning_leave_loop(struct rr_client_table *table, uint32_t first, uint32_t last);

/* Is that of attempts left alike behind so many rounds and more, up to RR_REFUSALS_ROUNDS, by
 * one of the words at least? If not, the hypothesis is refined. */
void rr_learning_follow_loop(struct rr_client_table *table, uint32_t first, uint32_t last,
			     const struct rr_inputs *words, size_t n, int rounds);

/* Of a state: how often in a row it has done the like? And is there no end to that? */
void rr_learning_count_rounds(struct rr_client_table *table, uint32_t state);

/* learning_verify.c: words that cover all transitions known from a state, `most` at most; how
 * many there are. Release each, and free the array. */
size_t rr_learning_cover(const struct rr_client_table *table, uint32_t state,
			 struct rr_inputs **words, size_t most);
void rr_learning_release_words(struct rr_inputs *words, size_t n);

#endif
