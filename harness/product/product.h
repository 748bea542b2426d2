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
#include "client/client.h"
#include "live.h"
#include "replay/replay.h"
#include "server_table.h"

/* ---- Who names which keys (key_use.c) ----------------------------------------- */

/*
 * A command is noticed by nobody else if no other client ever names one of its keys. In which order
 * such commands are executed does not matter then, and the search takes one of them at once, without
 * the others (a persistent set of one transition: Godefroid 1996).
 *
 * Which keys a command has the server says (COMMAND GETKEYS). One that has keys which the server
 * does not know before it runs (scripts, SORT), or that is about all of them (KEYS, FLUSHALL),
 * may touch any key. What others name is known when the search is through: if a client names a
 * key then of which it was taken for granted that it does not, RR_BELIEF_OWN_KEYS is withdrawn, and
 * the search begins again with what is known by then.
 */
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

/* ---- Owners (owners.c) ---------------------------------------------------------- */

/*
 * Whose the commands of an app are: of the request that has caused them. A command is caused by what
 * its app was told last: that a request begins, or the reply to a command of one. Where another
 * request waits meanwhile for something in the app, the command may be that one's: it has several
 * owners then. For locks the request whose reply it was is taken to continue (`is_likely`), if it has
 * no answer yet and sends on one connection only: else a server that handles one request after the
 * other would have no locks that are followed.
 *
 * Owners are bits, one for each request and, from RR_RUN_CLIENTS on, one for what each app does of
 * its own accord. Several bits: it is one of them.
 */
static inline uint16_t rr_owner_of_app(size_t client)
{
	return (uint16_t)(1U << (RR_RUN_CLIENTS + client));
}

/* A step of an app from one state of its table to another. */
struct rr_owners_step {
	const struct rr_program *program;
	size_t client;
	const struct rr_client_state *from, *to;
	const struct rr_input *input;
	uint8_t begun, answered; /* its requests, before that */
	bool is_likely;          /* see above */
};

/* Requests whose answers are there and were not taken yet, as bits. */
uint8_t rr_owners_answered(const struct rr_program *program, size_t client,
			   const struct rr_client_state *state);

/* `owners`: of what the app has sent and not taken a reply to, in the order of from->sent; they
 * become those of to->sent. Returns the bit of the request that begins with the step; 0 = none. */
uint8_t rr_owners_follow(const struct rr_owners_step *step, uint16_t owners[RR_RUN_SENT]);

/* ---- Locks ---------------------------------------------------------------------- */

/*
 * Locks of checked programs and apps, and who holds them. Which keys are locks no name tells: a key
 * that one client's complete run creates and removes again, as another one's does, which is refused
 * and changes nothing else while the first one has it (explore/locks.c finds them).
 *
 * The holder is the client that gave the key its last value, until it removes the key, ends or
 * crashes, or the key expires. Whoever else removes it, gives it another value or puts its end off
 * breaks its ownership. So it is with a request to an app, which ends when it has its answer and
 * nothing of what it sent is on its way. Two things do not break it:
 *
 * - Another value, once time has passed since the holder's: a lock whose value is a time is made to
 *   be taken over then, and what tells that from force is only in its clients' code. The new client
 *   holds it, and what the old one does to it from then on counts.
 * - A time to live for a key that has none: that repairs what a crash might leave.
 */
enum { RR_LOCKS_MAX = 16 };

struct rr_locks {
	size_t n;
	struct rr_lock_key all[RR_LOCKS_MAX];
};

/* ---- States --------------------------------------------------------------------- */

enum {
	RR_PRODUCT_WORDS = RR_RUN_CLIENTS + RR_CLUSTER_SERVERS + 1,
	RR_PART_ANSWERS = 64,
	RR_LATE_MAX = 16,
	RR_MUTEXES = 160,
	RR_LEASES = 32
};

/* A client's part of a state. It is compared byte by byte: nothing is padding. */
struct rr_part {
	uint32_t state;           /* in the client table */
	uint8_t is_crashed;       /* then `state` is 0, or that in which an app has answered
				   * requests, and of its increments */
	uint8_t ok, unknown, cut; /* so many are counted, or may be */
	uint8_t rounds;           /* in a row that it was refused, where bounded */
	uint8_t n_answers;
	uint8_t answered, begun; /* requests of an app, as bits */
	uint32_t owners; /* of what an app has sent (see above), by the product's number; 0 where
			  * nobody looks who holds what */
	uint8_t after[RR_RUN_CLIENTS];     /* those that were when each of them began */
	uint64_t is_cut;                   /* lanes whose connection is gone, unknown to it */
	uint64_t is_shut;                  /* or known to it, and nothing was sent since;
					    * where servers may restart */
	int64_t passed_ns;                 /* since it last read its clock */
	int64_t asleep_ns;                 /* so much longer, before it sends what it sends; where
					    * sleeps count */
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
	struct rr_budget left;               /* in parts: rr_budget_in_parts() */
	int8_t down;                         /* a server, -1 = none */
	int8_t blind;                        /* waits in a row for nothing that is known */
	int8_t waits;                        /* where bounded */
	uint16_t makers[RR_CLUSTER_SERVERS]; /* whose command made the lock there, or lock number
					      * so much of programs: a client's bit, of apps
					      * owners; 0 = nobody's */
	uint16_t late_makers;       /* locks: time has passed since programs have made them */
	uint8_t owners[RR_MUTEXES]; /* client * threads + thread + 1; 0 = free */
	uint8_t n_late;
	struct rr_late {
		uint8_t server, unused;
		uint16_t slot;
		uint32_t command;
	} late[RR_LATE_MAX];
	int64_t now_ns;   /* where `absolute` */
	int64_t down_ns;  /* until the server that is down may come back */
	int64_t lapse_ns; /* since a program crashed or lost a reply, up to RR_LAPSES_NS */
	uint64_t n_leases;
	struct rr_written {
		uint64_t key; /* see struct rr_expiring */
		uint64_t client;
	} leases[RR_LEASES]; /* who wrote keys that expire last; where sleeps count. Of a state
			      * that is known only those that there are */
};

/* Beyond that nobody counts how much time has passed since a crash or a lost reply. */
#define RR_LAPSES_NS INT64_C(600000000000)

struct rr_product_config {
	const struct rr_program *program;
	const struct rr_strategy *strategy; /* NULL: no invariant but progress */
	const char *counter;                /* its key */
	long increments;
	struct rr_budget budget;
	bool stays_away;
	int64_t lease_ns, skew_ns, day_ns;
	int rounds;
	const struct rr_locks *locks; /* of programs; NULL: nobody looks who holds what */
	bool is_local_first;          /* a step that nobody else can notice is taken at
			      * once, without the others */
	struct rr_key_use *key_use; /* and so is a command whose keys are the client's own; NULL: it
				     * is not */
	bool is_live;               /* one path, of which nothing is ever done again: random
			      * values have no names */
	bool absolute;              /* the time of day counts */
	bool slow_time;             /* a client may be late without a fault: it begins at any
				     * time, and the wait of another one ends although it can act */
	bool keys_are_leases;       /* a lease is any key that expires; else it lasts lease_ns */
	bool sleeps;                /* how long programs sleep counts: something ends by itself */
	bool reads_clock;           /* clients read their monotonic clocks */
	bool counts_lapses;         /* what a crash or a lost reply leaves is judged by how long ago
				     * that was */
	bool bounded;               /* refused clients write what is never the same again:
			  * each is refused `rounds` times in a row */
};

/* All transitions are made from now on: steps of one client stand for none of another. */
static inline void rr_product_reduce_nothing(struct rr_product_config *config)
{
	config->is_local_first = false;
	config->key_use = NULL;
}

/* Why a state is looked at no further, as bits. */
enum {
	RR_STATE_FINAL = 1,   /* all have ended or crashed */
	RR_STATE_CUT = 2,     /* bounds kept somebody from going on */
	RR_STATE_STARVED = 4, /* where bounded: they go on in vain for ever */
	RR_STATE_DEAD = 8,    /* and change nothing by it */
};

/* A state by its numbers: servers, clients, common. */
typedef uint32_t rr_state_key[RR_PRODUCT_WORDS];

/* A transition from a state. */
struct rr_edge {
	struct rr_transition transition;
	uint8_t broken;   /* the invariants that it breaks, as bits */
	rr_state_key key; /* of the state that it leads to */
	size_t from, to;  /* what it consists of: actions[from] up to actions[to] */
};

/* The transitions from a state, in an order that depends on the state alone. */
struct rr_edges {
	size_t n, capacity;
	struct rr_edge *all;
	struct rr_actions actions; /* of all edges, one after the other */
	unsigned flags;            /* what kind of state it is */
};

/* The table of one client, or of all that are equal. */
struct rr_client_own {
	struct rr_client_table table;
	struct rr_kept_runs kept;
};

struct rr_product {
	struct rr_product_config config;
	size_t n_clients, n_servers, n_words;
	struct rr_client_view *clients; /* one each */
	struct rr_client_own *own;      /* what is known of them, unless the program
					 * keeps it */
	struct rr_server_table *tables[RR_CLUSTER_SERVERS]; /* of each server; the owner's */
	struct rr_intern parts, commons, owners;
	uint32_t get_counter;     /* the number of that command */
	bool has_slept, has_ends; /* a program has; keys expire, or commands that block time out */
	bool time_has_passed;     /* in some state, if only tentatively */
	const char *left_out; /* what was not searched, so that nobody can say yes; NULL = nothing */
	struct rr_edges edges;  /* of the state that was expanded last */
	struct rr_actions *log; /* where what is done is written down; NULL = nowhere */
	struct rr_error error;
};

/* Can nothing be done with it any more: after an error, or because the search begins again? */
static inline bool rr_product_failed(const struct rr_product *product)
{
	return product->error.kind != RR_ERROR_NONE ||
	       rr_beliefs_withdrawn(product->config.program->beliefs) & RR_BELIEFS_STOP;
}

static inline void rr_product_withdraw(const struct rr_product *product, enum rr_belief kind)
{
	rr_belief_withdraw(product->config.program->beliefs, kind, NULL);
}

/* False, or NULL, where a call below says so: product->error, or rr_product_failed() without one. */
bool rr_product_init(struct rr_product *product, const struct rr_product_config *config,
		     struct rr_server_table *data, struct rr_server_table *locks);
void rr_product_release(struct rr_product *product);

/* The beginning, and the actions that lead there behind those of `log`, which may be
 * NULL. False: product->error. */
bool rr_product_begin(struct rr_product *product, rr_state_key key, struct rr_actions *log);

/*
 * What leads on from a state. The edges are the product's, until it is asked again;
 * NULL: product->error. `key` may be that of one of them.
 *
 * rr_product_expand() finds all edges, with their actions if `is_logged`. rr_product_list()
 * only says which transitions there are: nothing is known of where they lead, and one that
 * the bounds cut off may be among them.
 */
const struct rr_edges *rr_product_expand(struct rr_product *product, const uint32_t *key,
					 bool is_logged);
const struct rr_edges *rr_product_list(struct rr_product *product, const uint32_t *key);

/* Does the transition end the time-out of a command that blocks? */
bool rr_product_times_out(const struct rr_product *product, const uint32_t *key,
			  struct rr_transition transition);

/* The state in which so much time has passed: `next`. False: product->error. */
bool rr_product_pass(struct rr_product *product, const uint32_t *key, int64_t ns,
		     rr_state_key next);

/* The edge of one transition, with its actions: no other is looked at. NULL: there is
 * no such transition, or product->error. */
const struct rr_edge *rr_product_take(struct rr_product *product, const uint32_t *key,
				      struct rr_transition transition);

/* The command that a transition of a client is about, the next one on its lane; NULL = there
 * is none. */
const struct rr_sent *rr_product_next_sent(const struct rr_product *product, const uint32_t *key,
					   struct rr_transition transition);

/* Writes the actions of an edge behind those that are there. */
void rr_product_keep_actions(const struct rr_product *product, const struct rr_edge *edge,
			     struct rr_actions *actions);

/* Whose the next command is that a transition of an app is about, where somebody looks
 * who holds what; 0 = there is none. And has a request nothing on its way, with its answer? */
uint16_t rr_product_next_owners(const struct rr_product *product, const uint32_t *key,
				struct rr_transition transition);
bool rr_product_is_through(const struct rr_product *product, const uint32_t *key, size_t request);

/* Would a client that asks again and again be refused each time, and leave something
 * new each time? Then there is no end to the states. */
bool rr_product_counts_up(struct rr_product *product, const uint32_t *key);

/* Have apps nothing left to do but requests that have not begun? Not if there are none.
 * `is_under_way`: a request is. */
bool rr_product_apps_wait(struct rr_product *product, const uint32_t *key, bool is_under_way);

/* Of a final state: the counter, and between what it should be. */
struct rr_count {
	long long value;
	long least, most;
	bool is_number;
};

bool rr_product_count(struct rr_product *product, const uint32_t *key, struct rr_count *count);

static inline bool rr_count_is_wrong(const struct rr_count *count)
{
	return !count->is_number || count->value < count->least || count->value > count->most;
}

/* Has real clients go a path (replays.c): it must leave what the product says at `end`,
 * and of what it breaks (bits of expected.h) two clients in the critical section, a wrong
 * count and clients that have not ended must be seen, and not otherwise. */
bool rr_product_replay(struct rr_product *product, struct rr_free_replay *replay,
		       const struct rr_actions *actions, const uint32_t *end, unsigned broken,
		       struct rr_error *error);

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

/* Has a client ended, or crashed, or is it an app that waits to be started again? */
static inline bool rr_product_is_over(const struct rr_product *product, const uint32_t *key,
				      size_t client)
{
	const uint8_t *again = product->config.program->requests.again;

	return rr_product_part(product, key, client)->is_crashed ||
	       (again && again[client] &&
		!rr_product_part(product, key, again[client] - 1U)->is_crashed) ||
	       rr_product_client(product, key, client)->has_ended;
}

static inline bool rr_product_all_are_over(const struct rr_product *product, const uint32_t *key)
{
	for (size_t i = 0; i < product->n_clients; i++) {
		if (!rr_product_is_over(product, key, i))
			return false;
	}
	return true;
}

/* Does it go round in a loop, in which what it did before may come again? */
static inline bool rr_product_is_in_loop(const struct rr_product *product, const uint32_t *key,
					 size_t client)
{
	const struct rr_part *part = rr_product_part(product, key, client);
	const struct rr_client_table *table = product->clients[client].table;

	return !part->is_crashed && table && table->states[part->state].is_in_loop;
}

/* The client to which a request has come, or will come. */
size_t rr_product_client_of(const struct rr_product *product, const uint32_t *key, size_t request);

/* The table that a client is the first of; NULL: it shares that of another. */
static inline struct rr_client_table *rr_product_client_table(const struct rr_product *product,
							      size_t client)
{
	struct rr_client_table *table = product->clients[client].table;

	return !table || table->clients & ((1U << client) - 1) ? NULL : table;
}

#endif
