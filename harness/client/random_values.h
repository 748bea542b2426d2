/* SPDX-License-Identifier: MIT */
/*
 * The random values of a command line: texts in which two processes with the same history
 * differ. In its table they are those of the process that was there first; every other
 * one has its own, which are renamed in what it sends and hears.
 *
 * A value counts as random as long as it hardly ever comes twice. With more repetitions
 * it is a choice among few values, which other clients may make, too, unless it is the time of
 * day after a random pause.
 */
#ifndef RR_RANDOM_VALUES_H
#define RR_RANDOM_VALUES_H

#include "party/party.h"
#include "client_table.h"

/* Who has drawn another value than the table has: that client with that seed, which draws the same in
 * each run if that is under control; with another seed; or an equal client. */
enum rr_drawer { RR_DRAWER_SELF, RR_DRAWER_OTHER_SEED, RR_DRAWER_OTHER_CLIENT };

struct rr_random_values {
	uint64_t varying; /* those in which runs with one seed differ, as bits */
	size_t n;
	struct rdl_word names[RR_NAMES_MAX]; /* as the table has them */
	struct {
		unsigned long n, repeats;
		int tried;               /* so many runs were made to see more */
		uint64_t place;          /* after so many bytes were drawn, or commands sent; 0 =
					  * nobody knows */
	} draws[RR_NAMES_MAX];           /* by other processes */
	struct rr_intern drawn;          /* what they had */
	struct rr_intern guessed;        /* that are taken for random, and may be none */
	uint64_t together[RR_NAMES_MAX]; /* with which others, as bits, each is sent in one
					  * history */
	uint64_t apart[RR_NAMES_MAX];    /* and without which others each is sent in one that has
					  * come to its end */
	size_t n_seen;                   /* values, and states of the table, of which that is
					  * known */
	uint32_t n_states;
	bool are_unfinished; /* there are histories that nobody has seen: see are_different() */
};

/* An instance has done `seen` instead of `known`. If the first commands that differ do so
 * in a value that may be random, that is renamed in the instance. `gone`: see rr_input; a value
 * that takes one of these names must be random, or *is_wrong. `place`: where in what it draws it
 * stands. `drawer`: what another client draws is exchanged with what the table's client draws,
 * unless runs with one seed differ in it. */
bool rr_random_values_rename(struct rr_random_values *values, const struct rr_terms *terms,
			     struct rr_instance *instance, const struct rr_run_view *known,
			     const struct rr_run_view *seen, uint8_t gone, uint64_t place,
			     enum rr_drawer drawer, bool *is_wrong);

/*
 * What an instance does now nobody has seen before. If it sends a command as one of those that it
 * has `sent` before, but for a text that nobody knows, in the place of a value that is gone, that
 * text gets the name of the value. True: one did, and the instance is to be looked at again.
 */
bool rr_random_values_reuse(struct rr_random_values *values, const struct rr_terms *terms,
			    const struct rr_tokens *tokens, struct rr_instance *instance,
			    const struct rr_run_view *seen, const uint32_t *sent, size_t n_sent,
			    uint8_t gone);

/*
 * The same of a text in the place of a value that this instance has not sent, but others have, in
 * other histories: so random values are called by the order in which they are drawn, and histories
 * in which the same was drawn are alike.
 */
bool rr_random_values_share(struct rr_random_values *values, const struct rr_terms *terms,
			    const struct rr_tokens *tokens, struct rr_instance *instance,
			    const struct rr_run_view *seen, const uint32_t *sent, size_t n_sent);

/* Has an instance sent a value again that had given its name away? True: nobody has before.
 * *is_wrong: there is no room for one more name. */
bool rr_random_values_see_forgotten(struct rr_random_values *values, const struct rr_terms *terms,
				    const struct rr_instance *instance,
				    const struct rr_run_view *seen, bool *is_wrong);

/* An instance has done what is known. Has it sent the table's own values? Each is counted
 * once, by a bit of *counted. */
void rr_random_values_count(struct rr_random_values *values, struct rr_terms *terms,
			    const struct rr_instance *instance, const struct rr_run_view *known,
			    uint64_t *counted);

/* An instance hears a reply: what is in there it has not drawn if it sends it now. */
void rr_random_values_hear(const struct rr_random_values *values, const struct rdl_reply *reply,
			   uint64_t *counted);

/* Which values are sent in one history, and which are not? */
void rr_random_values_see_histories(struct rr_random_values *values, const struct rr_terms *terms,
				    const struct rr_client_table *table);

/* See rr_programs_pair_values(); the values have these names. */
void rr_random_values_pair(const struct rr_random_values *values, const struct rdl_word *names,
			   const struct rdl_reply *a, const struct rdl_reply *b,
			   struct rr_renaming *renaming);

/* Of values of which there were too few draws to know whether they are random: the history of the
 * table in which most of them are sent, to be run again. RR_NO_ID: none. After RR_DRAWS_MIN runs for
 * a value there are no more. */
uint32_t rr_random_values_try_history(struct rr_random_values *values, const struct rr_terms *terms,
				      const struct rr_client_table *table);

enum { RR_DRAWS_MIN = 8 };

void rr_random_values_release(struct rr_random_values *values);

/* Is a text in one of these commands? */
bool rr_sent_has_text(const struct rr_terms *terms, const struct rr_sent *sent, uint32_t n_sent,
		      struct rdl_word text);

#endif
