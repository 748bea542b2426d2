/* SPDX-License-Identifier: MIT */
/*
 * Who names which keys: a command is noticed by nobody else if no other client ever names one of
 * its keys. In which order such commands are executed does not matter then, and the search takes
 * one of them at once, without the others (a persistent set of one transition: Godefroid 1996).
 *
 * Which keys a command has the server says (COMMAND GETKEYS). One that has keys which the server
 * does not know before it runs (scripts, SORT), or that is about all of them (KEYS, FLUSHALL),
 * may touch any key. What others name is known when the search is through: if a client names a
 * key then of which it was taken for granted that it does not, RR_BELIEF_OWN_KEYS is withdrawn, and
 * the search begins again with what is known by then.
 */
#ifndef RR_KEY_USE_H
#define RR_KEY_USE_H

#include "client/client.h"
#include "replay/replay.h"

struct rr_key_use {
	struct rr_terms *terms;
	struct rr_beliefs *beliefs;
	struct rr_intern keys;       /* their names */
	uint8_t *clients;            /* of each key: who names it, as bits */
	uint8_t *alone;              /* of each key: who was taken for the only one */
	unsigned of_any;             /* clients that have a command which may touch any key */
	unsigned relying;            /* clients of whom something was taken for granted */
	bool waits;                  /* somebody has a command that waits, perhaps for a time */
	bool relies_on_no_waits;     /* a key got a time to live in a step that was taken at once */
	struct rr_named_keys *named; /* of each command */
	uint32_t n_named;            /* that there is room for */
};

/* Both must outlive it. */
void rr_key_use_init(struct rr_key_use *use, struct rr_terms *terms, struct rr_beliefs *beliefs);
void rr_key_use_release(struct rr_key_use *use);

/* Before a search: nothing is taken for granted yet, and what is known of keys stays. */
void rr_key_use_begin(struct rr_key_use *use);

/* A client has sent that command, or will. */
void rr_key_use_note(struct rr_key_use *use, struct rr_asker *asker, size_t client,
		     uint32_t command);

/* Does no other client name a key of the command? If so, that is taken for granted from now on.
 * `sets_time`: a key gets a time to live by it, or loses it. */
bool rr_key_use_is_own(struct rr_key_use *use, struct rr_asker *asker, size_t client,
		       uint32_t command, bool sets_time);

#endif
