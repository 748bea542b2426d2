/* SPDX-License-Identifier: MIT */
/*
 * Judges the final states of a search of programs: are the data, and the outputs, those
 * of a serial order of the clients? Are they what the user expects (rr_explore_config)?
 */
#ifndef RR_JUDGE_H
#define RR_JUDGE_H

#include "contents.h"
#include "explore.h"
#include "serial.h"

struct rr_judge {
	const struct rr_explore_config *config;
	struct rr_product *product;
	struct rr_serial serial;
	struct rr_serial partial; /* with faults, see rr_serial_allows_endings() */
	struct rr_contents contents;
	/* Programs like the clients that run alone with the server: the user's command, which looks
	 * at final data, and successors of clients that have crashed. */
	struct rr_alone {
		struct rr_program program;
		struct rr_product product;
		bool is_open;
	} checker, successors[RR_SUCCESSORS];
	struct rr_upkeep upkeep;                 /* of the serial executions */
	struct rr_intern repeats[RR_SUCCESSORS]; /* what clients leave that ran twice: an operation,
						  * a number of terms' replies */
	bool has_repeats[RR_SUCCESSORS];
	struct rr_intern checked; /* states of the server that it has looked at */
	int32_t *said;            /* how it ended, by their numbers; 0 = well */
	uint32_t moved_outputs; /* of operations, as bits: they were compared but for times of day */
	struct rr_error error;
};

struct rr_judgement {
	unsigned found;    /* RR_OUTCOME_NOT_SERIAL, _OUTPUTS, _UNEXPECTED */
	uint32_t failures; /* of struct rr_serial_verdict */
	bool is_untimely;  /* of struct rr_serial_verdict */
	/* Of what is wrong after a crash: its name, and the state that the successor leaves. */
	const char *anomaly; /* NULL = nothing is, or it is no crash that is to blame */
	uint32_t successor;  /* RR_NO_ID = none has run */
};

/* Learns all serial orders of a search, up to `most` states, 0 = none: then data are not compared
 * with them. Clients and the checker have its program in common. False: judge->error. */
bool rr_judge_init(struct rr_judge *judge, struct rr_search *search, unsigned long most);
void rr_judge_release(struct rr_judge *judge);

/* False: judge->error, or it has taken too long (rr_search_is_late()) and that is INTERRUPTED. */
bool rr_judge_final(struct rr_judge *judge, const uint32_t *key, struct rr_judgement *judgement);

/* The serial end that is nearest to a final state, see rr_serial_nearest(). */
uint32_t rr_judge_nearest(struct rr_judge *judge, const uint32_t *key);

/* Do two final states hold the same data, and, where outputs are what is wrong, have clients
 * ended in the same ways? */
bool rr_judge_are_alike(struct rr_judge *judge, const uint32_t *a, const uint32_t *b);

/* What is wrong already when the clients run one after the other, without a fault, a sentence
 * each: a client alone can end in several ways; the data are not as expected. malloc'd,
 * NULL = nothing. */
char *rr_judge_serial_orders(struct rr_judge *judge);

/* What is not as expected in a final state, a line each; malloc'd, NULL = nothing. */
char *rr_judge_unexpected(struct rr_judge *judge, const uint32_t *key);

#endif
