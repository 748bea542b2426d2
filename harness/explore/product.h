/* SPDX-License-Identifier: MIT */
/*
 * The product of the tables: states of the whole, and what leads from one to the
 * next.
 *
 * A state is a row of numbers: the state of each server, of each client (a part: its
 * state in the client table, answers that it has not taken, how long it has waited),
 * and one for what they have in common (faults that may still come, mutexes, late
 * commands, the time where it counts). Transitions:
 *
 *	a command on its way is executed; commands of one connection in order, all
 *	others in any order
 *	a client goes on with something else: a mutex, a clock, a sleep that is over
 *	a fault, as long as there is one left of its kind
 *	time passes by itself, when nobody can go on (see below)
 *
 * A client that is refused may begin another attempt at once, again and again: that
 * leads back to a state that is known. Time passes by itself only in a quiet state:
 * nobody is in the middle of anything, and whoever begins an attempt is refused.
 * Then it passes to the next lease's end or sleeper's waking. But those who are
 * refused go on asking meanwhile: if one of them, asking shortly before the end of a
 * lease, would put it off, time passes to shortly before the end and no further.
 */
#ifndef RR_PRODUCT_H
#define RR_PRODUCT_H

#include "base/error.h"
#include "client_table.h"
#include "explore.h"
#include "scheduler/scheduler.h"
#include "server_table.h"

enum {
	RR_PRODUCT_CLIENTS = 8,
	RR_PRODUCT_SERVERS = 16,
	RR_PRODUCT_WORDS = RR_PRODUCT_CLIENTS + RR_PRODUCT_SERVERS + 1,
	RR_PART_ANSWERS = 64,
	RR_LATE_MAX = 16,
	RR_MUTEXES = 160
};

/* A client's part of a state. It is compared byte by byte: nothing is padding. */
struct rr_part {
	uint32_t state;           /* in the client table */
	uint8_t is_crashed;       /* then `state` is 0, and of its increments */
	uint8_t ok, unknown, cut; /* so many are counted, or may be */
	uint8_t rounds;           /* in a row that it was refused, where bounded */
	uint8_t n_answers;
	uint8_t unused[6];
	uint64_t is_cut;                   /* lanes whose connection is gone, unknown to it */
	int64_t passed_ns;                 /* since it last read its clock */
	int64_t attempt_ns;                /* since its attempt began, a lease at most */
	int64_t waited_ns[RR_RUN_THREADS]; /* each, where it stands */
	struct rr_part_answer {
		uint8_t lane, kind;
		uint16_t unused;
		uint32_t reply;
	} answers[RR_PART_ANSWERS]; /* that it has not taken */
};

/* What all have in common. */
struct rr_common {
	struct rr_budget left;             /* in parts: rr_budget_in_parts() */
	int8_t down;                       /* a server, -1 = none */
	int8_t blind;                      /* waits in a row for nothing that is known */
	int8_t waits;                      /* where bounded */
	int8_t makers[RR_PRODUCT_SERVERS]; /* whose command made the lock there,
					    * -1 = nobody's */
	uint8_t owners[RR_MUTEXES];        /* client * threads + thread + 1; 0 = free */
	uint8_t n_late;
	struct rr_late {
		uint8_t server, unused;
		uint16_t slot;
		uint32_t command;
	} late[RR_LATE_MAX];
	int64_t now_ns;  /* where `absolute` */
	int64_t down_ns; /* until the server that is down may come back */
};

struct rr_product_config {
	const struct rr_program *program;
	const struct rr_strategy *strategy; /* NULL: no invariant but progress */
	const char *counter;                /* its key */
	long increments;
	struct rr_budget budget;
	bool stays_away;
	int64_t lease_ns, skew_ns, day_ns;
	int rounds;
	bool is_local_first; /* a step that nobody else can notice is taken at
			      * once, without the others */
	int remembers;       /* see client_table.h */
	bool absolute;       /* the time of day counts */
	bool reads_clock;    /* clients read their monotonic clocks */
	bool bounded;        /* refused clients write what is never the same again:
			  * each is refused `rounds` times in a row */
};

/* Why a state is looked at no further, as bits. */
enum {
	RR_STATE_FINAL = 1,   /* all have ended or crashed */
	RR_STATE_CUT = 2,     /* bounds kept somebody from going on */
	RR_STATE_STARVED = 4, /* where bounded: they go on in vain for ever */
	RR_STATE_DEAD = 8,    /* and change nothing by it */
};

struct rr_product {
	struct rr_product_config config;
	size_t n_clients, n_servers, n_words;
	struct rr_client_table *clients;   /* one each */
	struct rr_server_table *tables[2]; /* of the data server, and of lock
					     * servers; the owner's */
	struct rr_intern parts, commons;
	uint32_t get_counter; /* the number of that command */
	/* The search has to begin anew, with these in its configuration. */
	bool wants_absolute, wants_clock;
	struct rr_actions *log; /* what a transition consists of; NULL = not
				 * wanted */
	size_t log_kept;        /* actions that belong to the next ones, too */
	struct rr_error error;
};

/* A state by its numbers: servers, clients, common. */
typedef uint32_t rr_state_key[RR_PRODUCT_WORDS];

bool rr_product_init(struct rr_product *product, const struct rr_product_config *config,
		     struct rr_server_table *data, struct rr_server_table *locks);
void rr_product_release(struct rr_product *product);

/* The beginning. False: product->error. */
bool rr_product_begin(struct rr_product *product, rr_state_key key);

/* Called for each transition from a state: where it leads, and the invariants that it
 * breaks. False: no more. */
typedef bool (*rr_emit)(void *context, struct rr_transition transition, const uint32_t *next,
			unsigned broken);

/* All transitions of a state, always in the same order. What kind of state it is goes
 * to *flags. False: product->error, or emit said so. */
bool rr_product_expand(struct rr_product *product, const uint32_t *key, rr_emit emit, void *context,
		       unsigned *flags);

/* Would a client that asks again and again be refused each time, and leave something
 * new each time? Then there is no end to the states. */
bool rr_product_counts_up(struct rr_product *product, const uint32_t *key);

/* Of a final state: the counter, and between what it should be. */
struct rr_count {
	long long value;
	long least, most;
	bool is_number;
};

bool rr_product_count(struct rr_product *product, const uint32_t *key, struct rr_count *count);

/* Where a client's part of the state is, for who looks at it. */
static inline const struct rr_part *rr_product_part(const struct rr_product *product,
						    const uint32_t *key, size_t client)
{
	return rr_intern_get(&product->parts, key[product->n_servers + client]);
}

static inline const struct rr_common *rr_product_common(const struct rr_product *product,
							const uint32_t *key)
{
	return rr_intern_get(&product->commons, key[product->n_servers + product->n_clients]);
}

static inline const struct rr_client_state *rr_product_client(const struct rr_product *product,
							      const uint32_t *key, size_t client)
{
	return &product->clients[client].states[rr_product_part(product, key, client)->state];
}

static inline struct rr_server_table *rr_product_table(const struct rr_product *product,
						       size_t server)
{
	return product->tables[server > 0];
}

#endif
