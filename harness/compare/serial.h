/* SPDX-License-Identifier: MIT */
/*
 * What the data can be in the end if the clients run one after the other.
 *
 * A final state is serializable if some serial order of clients leaves the same data:
 * of all clients that ended well, and of any of the others (those that were refused,
 * or crashed, may have done their part or not). Nobody crashes in serial executions, and no
 * reply is lost: a crashed client has done all of its work or none, apart from what leftovers.h
 * says, and a client that lost a reply has done its work once. Leases expire only between the
 * turns of two clients, and no more of them than in the state that is judged. (Serializability as
 * in Bernstein, Hadzilacos, Goodman: Concurrency Control and Recovery, chapter 2, here by the
 * final data alone.)
 *
 * Time does not pass while no client is under way. But a final state is also that of a serial order
 * in which a client begins at a time at which it has done something on the way to that state.
 *
 * With an app the operations are requests to it, one after the other: the next one begins
 * when the app has nothing more to do for those before. Then the order of time counts, too:
 * whoever was answered before another one began comes before it.
 *
 * `is_partial` compares with less: serial executions may have the faults of the state that is
 * judged, at any point. Outputs are always compared with these, too: a client that has lost its
 * lease or a reply may say so.
 */
#ifndef RR_SERIAL_H
#define RR_SERIAL_H

#include "base/progress.h"
#include "contents.h"
#include "leftovers.h"
#include "product/product.h"

enum { RR_NO_OPERATION = 255, RR_SERIAL_MOST = 2000000 /* states of serial orders */ };

struct rr_serial {
	/* Where the first path to each of `orders` came from, and by what move; without one,
	 * another client's turn began. */
	struct rr_serial_predecessor {
		uint32_t from;
		uint32_t began; /* of `orders`: where the turn began that is on or just over */
		uint8_t whose;  /* the operation's; RR_NO_OPERATION = nobody's so far */
		bool moves;
		struct rr_transition move;
	} * predecessors;
	uint32_t *end_at; /* of each end: which of `orders` */
	/* Turns that come to a place that was known: the last place before, and that one. */
	struct rr_serial_turn {
		uint32_t last, end;
	} * turns;
	size_t n_turns;
	struct rr_intern ends;   /* struct rr_serial_end */
	struct rr_intern orders; /* states of serial orders that were looked at */
	struct rr_intern steps; /* struct rr_serial_step: what clients do in them without a fault */
	bool has_whole;         /* an order of all operations comes to an end without a fault */
	bool is_cut;            /* there were more than `most` of them, or the search ends */
	bool is_partial;        /* see rr_comparison */
	struct rr_deadline *deadline;
};

/* A client goes from one state of its table to another. */
struct rr_serial_step {
	uint32_t client, from, to;
};

/* An end that a serial order can have. */
struct rr_serial_end {
	uint32_t server;    /* its state */
	uint32_t ran, good; /* operations, as bits: that ran; that ended well */
	struct rr_budget used;
	int32_t endings[RR_RUN_CLIENTS]; /* of those that ran: how each ended; -1 = it
					      * did not */
	uint32_t after[RR_RUN_CLIENTS];  /* of requests: which were answered when each
					      * began, as bits */
};

/* Was nothing of a budget used? */
bool rr_serial_used_nothing(const struct rr_budget *used);

/* Times at which clients may begin, after the beginning of all. */
struct rr_beginnings {
	size_t n;
	struct rr_beginning {
		int64_t ns;
		uint32_t client;
	} * all;
};

/* Runs all serial orders of a product's clients, up to `most` states. Each client begins right after
 * the one before it, and also at `later` times; NULL: only so. False: product->error. */
bool rr_serial_learn(struct rr_serial *serial, struct rr_product *product,
		     struct rr_deadline *deadline, unsigned long most, bool is_partial,
		     const struct rr_beginnings *later);
void rr_serial_release(struct rr_serial *serial);

/* Tells programs how they end in serial orders. */
void rr_serial_tell(const struct rr_serial *serial, struct rr_programs *processes);

/* What an order consists of that ends so, and the product's state there: to be really run.
 * Free actions->all. False: product->error. */
bool rr_serial_actions(const struct rr_serial *serial, struct rr_product *product, uint32_t end,
		       struct rr_actions *actions, rr_state_key key);

/* Whose turn it is in one of `orders`, if it is the last one; UINT32_MAX = nobody's. */
uint32_t rr_serial_last_turn(const struct rr_serial *serial, const struct rr_product *product,
			     uint32_t order);

/* The server's state in one of `orders`, and whether that is between two turns. */
uint32_t rr_serial_server(const struct rr_serial *serial, uint32_t order);
bool rr_serial_is_between(const struct rr_serial *serial, uint32_t order);

/* What a state is, as such an end; `ran`: as there. */
struct rr_serial_end rr_serial_end_of(const struct rr_product *product, const uint32_t *key,
				      uint32_t ran);

/* The operations that have ended well in a state, as bits. */
uint32_t rr_serial_good(const struct rr_product *product, const uint32_t *key);

/* Those of them whose answer is that the app is broken: it must be that of a serial order like
 * any other, but nothing was done. */
uint32_t rr_serial_broken(const struct rr_product *product, const uint32_t *key);

/* ---- Beside a final state ------------------------------------------------------------ */

/* Might the end, but for its data and outputs, be that of a final state, which is `found`? */
bool rr_serial_is_candidate(const struct rr_serial_end *end, const struct rr_serial_end *found);

/* A final state, and what it is compared with. */
struct rr_final {
	const struct rr_serial *serial;
	const struct rr_product *product;
	const uint32_t *key;
	struct rr_serial_end end; /* what it is, as one */
	struct rr_contents *contents;
	const struct rr_explored_programs *programs; /* they compare what clients print */
	bool is_strict;                              /* see rr_comparison.strict_exits */
};

/* How a final state compares with serial orders. */
struct rr_serial_verdict {
	uint32_t failures; /* operations, as bits, that fail only when interleaved: no order allows
			    * their endings */
	bool allows_data;  /* one leaves the same data */
	bool is_untimely;  /* it is as in an order that does not keep to time */
	uint32_t moved_outputs; /* operations, as bits, whose outputs are those of the order but for
				 * times of day; keys are in the contents' `moved` */
	bool allows_endings;    /* and in it each client ended as it did here, or, if it did
			      * not succeed here, did not run or succeed either */
};

/* What else than the final state itself is compared with serial executions. */
struct rr_serial_question {
	const struct rr_leftovers *left; /* instead of its data; NULL = the data */
	uint32_t must_run;               /* operations without which no execution counts, as bits */
	int64_t later_ns;                /* executions are compared so much later */
};

/* The server is asked for what it holds where that is not plain. */
struct rr_serial_verdict rr_serial_judge(const struct rr_final *final,
					 const struct rr_serial_question *question);

/* Have all clients ended as in some serial execution, whatever its data? Of executions that may have
 * the same faults: who has lost its own lease or a reply may fail, or say so, though its work is
 * done. */
bool rr_serial_allows_endings(const struct rr_final *final);

/* How the data without leftovers differ from the execution that they are nearest to, in the order
 * of enum rr_shortfall. */
enum rr_shortfall rr_serial_shortfall(const struct rr_final *final, const struct rr_leftovers *left,
				      uint32_t crashed);

/* The end of the same clients with the fewest keys that differ; of several, the fewest values
 * and times left; then the fewest clients that ended otherwise. RR_NO_ID = there is none. */
uint32_t rr_serial_nearest(const struct rr_final *final);

#endif
