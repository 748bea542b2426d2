/* SPDX-License-Identifier: MIT */
/*
 * Clients of one strategy under a gate: each adds 1 to the counter so many times
 * and ends. Between two runs stacks, connections and what strategies have
 * opened are kept; keys are deleted. A client that did not come to a good end is
 * opened anew.
 */
#ifndef RR_SUBJECT_H
#define RR_SUBJECT_H

#include "gate.h"
#include "strategy.h"

struct rr_subject_config {
	const struct rr_strategy *strategy;
	const struct rl_address *addresses; /* data, then its lock servers */
	const char *prefix;                 /* of all keys, borrowed */
	size_t n_clients;
	bool separate;   /* each client is a process of its own */
	long increments; /* of each */
	long ttl_ms;
	long hold_us;
	size_t lock_servers; /* where it has any; 0 = as many as it has */
	bool repeats;    /* an increment of which it does not know, too */
	int64_t day_ns;  /* as in rr_gate_config, and so are: */
	int64_t yield_ns;
	bool servers_stay;
	void (*advance)(void *context, int64_t duration_ns);
	void (*strike)(void *context, enum rr_choice_kind kind, int server,
		       int64_t by_ns);
	void *context;
	void (*over)(void *context); /* a run has ended, its keys are still
				      * there; may be NULL */
	const struct rl_driver *planted; /* rr_gate_plant() */
};

/* What became of a client's increments, or of all clients'. */
struct rr_tally {
	long ok;      /* it was told that it is counted */
	long unknown; /* it does not know: the reply was lost */
	long cut;     /* it crashed meanwhile: counted or not */
	long failed;  /* not counted */
};

struct rr_subject_result {
	enum rr_gate_end end;
	struct rr_tally clients[RR_GATE_CLIENTS], sum;
	long overlaps;   /* entries while somebody was inside */
	long long final; /* of the counter */
};

struct rr_subject;

/* NULL and a message when a server cannot be reached, or out of memory. */
struct rr_subject *rr_subject_new(const struct rr_subject_config *config,
				  char *error, size_t size);
void rr_subject_free(struct rr_subject *subject);

struct rr_gate *rr_subject_gate(struct rr_subject *subject);

/* Opens clients that are not open, and lets them warm up; a run does that too.
 * False when a server is gone. */
bool rr_subject_prepare(struct rr_subject *subject);

/* One run, from empty keys to empty keys. False when a server is gone. */
bool rr_subject_run(struct rr_subject *subject, rr_choose choose, void *context,
		    struct rr_subject_result *result);

/* How many increments a client was told are counted, in the run that goes on or
 * was the last: as soon as it was told, with its lock still to be released. */
long rr_subject_acknowledged(const struct rr_subject *subject, int client);

/* Why that failed. */
const char *rr_subject_error(const struct rr_subject *subject);

/* Does the count lie where it may: told <= final <= told and not known? */
bool rr_subject_is_exact(const struct rr_subject_result *result);

#endif
