/* SPDX-License-Identifier: MIT */
/*
 * What the transitions of the product are made of: states unpacked, what can be done
 * to them, and the transitions of one state as they are found.
 *
 * Errors stay in product->error: what comes after one has no meaning, and no
 * edge is added any more.
 */
#ifndef RR_EXPANSION_H
#define RR_EXPANSION_H

#include <string.h>

#include "product.h"

/* Increments that a client is through with, however they ended. */
static inline long rr_client_state_n_done(const struct rr_client_state *client)
{
	return client->tally.ok + client->tally.unknown + client->tally.failed;
}

/* Longer than a lease by more than the second that a timestamp is rounded by. */
#define RR_LAPSE_NS INT64_C(2000000000)

/* A state that is being changed. */
struct rr_state {
	struct rr_product *product;
	unsigned broken; /* invariants, by what led here */
	uint32_t servers[RR_CLUSTER_SERVERS];
	struct rr_common common;
	struct rr_part clients[RR_RUN_CLIENTS];
};

/* ---- States (state.c) ------------------------------------------------------ */

void rr_state_unpack(struct rr_product *product, const uint32_t *key, struct rr_state *state);
void rr_state_copy(struct rr_state *to, const struct rr_state *from);

bool rr_state_is_same(const struct rr_state *a, const struct rr_state *b);

/* The numbers of a state, of which most parts are as in `near`. */
void rr_state_pack(const struct rr_state *state, const struct rr_state *near,
		   const uint32_t *near_key, rr_state_key key);

/* Of an app it is kept whose each command is that is on its way, where locks are looked for. */
static inline bool rr_product_follows_owners(const struct rr_product *product)
{
	return product->config.locks && product->config.program->requests.n > 0;
}

/* Where a client is. Valid until one is fed. */
static inline const struct rr_client_state *rr_state_client(const struct rr_state *state,
							    size_t client)
{
	return &state->product->clients[client].states[state->clients[client].state];
}

/* An app that is to be started again, while the one before it has not crashed. */
static inline bool rr_state_is_absent(const struct rr_state *state, size_t client)
{
	const uint8_t *again = state->product->config.program->requests.again;

	return again && again[client] && !state->clients[again[client] - 1].is_crashed;
}

static inline bool rr_state_has_ended(const struct rr_state *state, size_t client)
{
	return state->clients[client].is_crashed || rr_state_is_absent(state, client) ||
	       rr_state_client(state, client)->has_ended;
}

/* May it begin an attempt? */
static inline bool rr_state_is_idle(const struct rr_state *state, size_t client)
{
	return !rr_state_has_ended(state, client) && rr_state_client(state, client)->is_attempt;
}

/* May a history of the client lead from here to here (learning.h)? */
static inline bool rr_state_is_in_loop(const struct rr_state *state, size_t client)
{
	const struct rr_client_table *table = state->product->clients[client].table;

	return !state->clients[client].is_crashed &&
	       table->states[state->clients[client].state].is_in_loop;
}

/* And without an attempt that begins on the way? */
static inline bool rr_state_is_in_round(const struct rr_state *state, size_t client)
{
	return rr_state_is_in_loop(state, client) && !rr_state_is_idle(state, client) &&
	       !rr_client_table_is_in_attempt(state->product->clients[client].table,
					      state->clients[client].state);
}

static inline bool rr_state_is_cut(const struct rr_state *state, size_t client, int lane)
{
	return state->clients[client].is_cut >> lane & 1;
}

static inline const struct rr_server_snapshot *rr_state_server(const struct rr_state *state,
							       size_t server)
{
	return &state->product->tables[server]->states[state->servers[server]];
}

static inline size_t rr_state_lane_server(const struct rr_state *state, int lane)
{
	return (size_t)rr_lane_server(state->product->config.program, lane);
}

static inline uint16_t rr_state_lane_slot(const struct rr_state *state, size_t client, int lane)
{
	return (uint16_t)(client * RR_RUN_ORDINALS +
			  (size_t)rr_lane_ordinal(state->product->config.program, lane));
}

/* The lane of a connection to a server. */
static inline uint8_t rr_slot_lane(const struct rr_program *program, size_t server, uint16_t slot)
{
	return (uint8_t)(slot % RR_RUN_ORDINALS * program->n_servers + server);
}

/* A client is in that state: whose keys does it name? */
void rr_product_note_keys(struct rr_product *product, size_t client,
			  const struct rr_client_state *state);

/* What the server keeps for a client's connection; NULL: it is as new. */
static inline const struct rr_connection *rr_state_connection(const struct rr_state *state,
							      size_t client, int lane)
{
	const size_t server = rr_state_lane_server(state, lane);

	return rr_server_table_connection(state->product->tables[server], state->servers[server],
					  rr_state_lane_slot(state, client, lane));
}

/* Is so much left as the transition takes? */
static inline bool rr_state_is_in_budget(const struct rr_state *state, enum rr_transition_kind kind)
{
	return state->common.left.of[rr_transition_rows[kind].budget] >= rr_transition_cost(kind);
}

static inline void rr_state_take_from_budget(struct rr_state *state, enum rr_transition_kind kind)
{
	state->common.left.of[rr_transition_rows[kind].budget] -= rr_transition_cost(kind);
}

static inline int64_t rr_lesser_ns(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- What is done to servers (apply.c) -------------------------------------- */

void rr_state_log(struct rr_state *state, struct rr_action action);

bool rr_state_has_leases(const struct rr_state *state);

/* The row of a question; NULL: product->error. */
const struct rr_server_row *rr_state_ask(struct rr_state *state, size_t server,
					 const struct rr_question *question);

/* The server is where the question leads, asked by `client`, -1 = by nobody: if that
 * changes the lock there, it is judged whose it was. */
const struct rr_server_row *rr_state_move_server(struct rr_state *state, size_t server,
						 const struct rr_question *question, int client);

/* Clients whose commands blocked, and that a question has served, get their replies. To be called
 * when the question has been logged. */
struct rr_served {
	size_t n;
	struct rr_wake all[RR_ASKER_SLOTS];
};

/* What a row has served, logged; the clients hear of it by rr_state_wake_served(). */
void rr_state_log_served(struct rr_state *state, size_t server, const struct rr_server_row *row,
			 struct rr_served *served);
void rr_state_wake_served(struct rr_state *state, size_t server, const struct rr_served *served);

/* Do all servers of the two hold the same, but for commands that block? */
bool rr_state_has_servers_of(const struct rr_state *a, const struct rr_state *b);

/* A connection that carries something is closed; the server knows. */
void rr_state_close(struct rr_state *state, size_t client, int lane);

/* A client has entered its critical section: who else is in there? */
void rr_state_judge_entry(struct rr_state *state, size_t client);

/* ---- What a client's next step does (execute.c) ------------------------------ */

/* EXECUTE, LOSE or DROP of the next command of a connection; one that is gone answers
 * in its own way. LOSE also of one that blocks: its client may notice at any time, and until then
 * the server may serve it. */
void rr_state_deliver(struct rr_state *state, size_t client, const struct rr_sent *sent,
		      enum rr_transition_kind kind);

/* The command that is executed instead of one; *left_out: the reply, if a mutant leaves it out, else
 * RR_NO_ID. */
uint32_t rr_product_mutate(const struct rr_product *product, uint32_t number, uint32_t *left_out);

/* Does a command of the lane block on its server? How much longer, until it times out; RR_NEVER:
 * until it is served. */
bool rr_state_is_blocked(const struct rr_state *state, size_t client, uint8_t lane,
			 int64_t *left_ns);

/* How long it takes until the first command of a client times out, and where; RR_NEVER: none does. */
int64_t rr_state_times_out_ns(const struct rr_state *state, size_t client, uint8_t *lane);

/* The command that blocks on a lane times out. */
void rr_state_time_out(struct rr_state *state, size_t client, uint8_t lane);

/* Does a server queue the command after MULTI? */
bool rr_state_is_queued(struct rr_state *state, size_t client, const struct rr_sent *sent);

/* Can the reply to the next command of a lane get lost? */
bool rr_state_can_lose(const struct rr_state *state, size_t client, uint8_t lane);

/* Does a thread that stands there go on by itself when enough time has passed? */
bool rr_stop_ends_by_time(const struct rr_stop *stop);

/* How long it takes until a thread can go on with what it waits for besides a reply and
 * its next attempt, if nobody else does anything; RR_NEVER = only others can help. */
int64_t rr_state_left_ns(const struct rr_state *state, size_t client, uint8_t thread);

/* Can the thread go on? Then rr_state_wake(): `input` is what it receives, and `state` what comes of
 * it. */
bool rr_state_can_wake(const struct rr_state *state, size_t client, uint8_t thread);
void rr_state_wake(struct rr_state *state, size_t client, uint8_t thread, struct rr_input *input);

/* ---- What is done to clients (feed.c) --------------------------------------- */

/* How many of the commands on a lane have been answered. */
static inline size_t rr_part_n_answers(const struct rr_part *part, uint8_t lane)
{
	size_t n = 0;

	for (size_t i = 0; i < part->n_answers; i++)
		n += part->answers[i].lane == lane;
	return n;
}

/* The first command on a lane that has no answer, whether it blocks or not; NULL = there is none. */
static inline const struct rr_sent *rr_part_first_unanswered(const struct rr_part *part,
							     const struct rr_client_state *client,
							     uint8_t lane)
{
	size_t answered = rr_part_n_answers(part, lane);

	for (uint32_t i = 0; i < client->n_sent; i++) {
		if (client->sent[i].lane == lane && answered-- == 0)
			return &client->sent[i];
	}
	return NULL;
}

static inline const struct rr_sent *rr_state_first_unanswered(const struct rr_state *state,
							      size_t client, uint8_t lane)
{
	return rr_part_first_unanswered(&state->clients[client], rr_state_client(state, client),
					lane);
}

/* Owners of an app that are not through: requests that have no answer, or a command on its
 * way. */
uint16_t rr_part_open(const struct rr_product *product, const struct rr_part *part, size_t client);

/* Was a reply on the lane lost? Nothing more will be received there. */
bool rr_part_is_deaf(const struct rr_part *part, uint8_t lane);

/* The command that is to be executed next on a lane; NULL = none, or one blocks there. */
const struct rr_sent *rr_state_next_sent(const struct rr_state *state, size_t client, uint8_t lane);

/* Commands on a lane that were sent and not executed yet become late ones. */
void rr_state_keep_late(struct rr_state *state, size_t client, uint8_t lane);

/* A command on a lane has got an answer; the client runs on as long as what it waits
 * for is there. */
void rr_state_answer(struct rr_state *state, size_t client, uint8_t lane, enum rr_answer_kind kind,
		     uint32_t reply);

/* The connection is gone, and whatever else it would have brought. */
void rr_state_drop_connection(struct rr_state *state, size_t client, uint8_t lane);

/* The first answer on a lane; part->n_answers = none. */
static inline size_t rr_part_first_answer(const struct rr_part *part, uint8_t lane)
{
	size_t i = 0;

	while (i < part->n_answers && part->answers[i].lane != lane)
		i++;
	return i;
}

/* Of an app that is started again: requests that had begun before the crash do not come to it, and
 * it is told so as soon as it waits for them. */
void rr_state_cancel_requests(struct rr_state *state, size_t client);

/* Feeds a client that input, unless it is NULL, and then what it waits for as long as that is there. */
void rr_state_feed(struct rr_state *state, size_t client, const struct rr_input *first);

/* An attempt begins, if one is to begin. False: its names are all in use. */
bool rr_state_begin_attempt(struct rr_state *state, size_t client);

/* ---- The transitions of a state (transitions.c) ----------------------------- */

enum rr_quiet { RR_QUIET_UNKNOWN, RR_IS_QUIET, RR_IS_NOT_QUIET };

struct rr_expansion {
	struct rr_product *product;
	const struct rr_state *from;
	const uint32_t *key;
	struct rr_edges *edges;
	unsigned flags;
	bool lists;                         /* transitions are listed, and not made */
	const struct rr_transition *wanted; /* no other is made; NULL = all are */
	struct rr_state *alone; /* a client makes one step, which is no fault, and this is
				 * where it leads; there are no edges */
	bool is_done;           /* what is wanted has been found */
	bool unbounded;         /* however often a client was refused */
	size_t n_shared;        /* actions that belong to the next edges, too */
	size_t slice;           /* where those of the next edge begin */
	size_t n_clients;       /* transitions of clients, but for faults */
	size_t n_busy;          /* those of clients in the middle of more than a round of a loop */
	size_t n_children;      /* those of renewers */
	bool is_endless;        /* a client has gone round as often as the bound says */
	enum rr_quiet is_quiet; /* see rr_expansion_is_quiet() */
	bool changes;           /* if it is, attempts that are refused leave something */
	int64_t next_ns;        /* when the first of those who wait goes on */
	int64_t round_ns;       /* when the first command times out by which a client waits in
				 * each round of a loop */
};

/* Is there any use in making that transition? If not, it has been listed, where that is
 * what is wanted. */
bool rr_expansion_wants(struct rr_expansion *it, enum rr_transition_kind kind, size_t who,
			size_t lane);

/* A transition that is wanted leads to `next`. */
void rr_expansion_add(struct rr_expansion *it, enum rr_transition_kind kind, size_t who,
		      size_t lane, const struct rr_state *next);

/* What was begun is no transition after all: its actions are forgotten. */
void rr_expansion_drop(struct rr_expansion *it);

/* Transitions of one client (clients.c) that are no faults, but for lost replies. */
void rr_expand_client(struct rr_expansion *it, const struct rr_state *from, size_t client);

/* The command of a client that a server has had before and can serve now: true, that is
 * all that can happen. */
bool rr_expand_served(struct rr_expansion *it, struct rr_state *from);

/* A step that nobody else can notice, if any client has one: true, it was added, and
 * stands for all that could be done. */
bool rr_expand_local(struct rr_expansion *it, struct rr_state *from);

/* ---- Apps (apps.c) ---------------------------------------------------------------- */

/* Do all apps that have not ended wait for their ends, and have nothing left to do? Then nothing
 * happens but that they are told to end, one after the other. *first: who is next. */
bool rr_state_is_end_of_apps(const struct rr_state *from, size_t *first);

/* ---- Time and faults (time.c, quiet.c, faults.c) ----------------------------- */

/* Time passes everywhere, but for a program that has received nothing yet: it may begin later. After a
 * pause it does, and its clock says so; where keys expire, it has begun before. */
void rr_state_pass_time(struct rr_state *state, int64_t ns, enum rr_transition_kind kind);
bool rr_state_has_begun(const struct rr_state *state, size_t client);

/* For one client alone, as its own clock says. */
void rr_state_age_client(struct rr_state *state, size_t client, int64_t ns);

/* On one server. */
void rr_state_tick_server(struct rr_state *state, size_t server, int64_t ns);

/* A client that has received something has slept before it sends what it sends now. */
void rr_state_fall_asleep(struct rr_state *state, size_t client);

/* How long it sleeps still, 0: it does not. In a loop its sleeps end at any time. */
static inline int64_t rr_state_asleep_ns(const struct rr_state *state, size_t client)
{
	return state->clients[client].asleep_ns > 0 && !rr_state_has_ended(state, client) &&
			       !rr_state_is_in_loop(state, client) ?
		       state->clients[client].asleep_ns :
		       0;
}

/* A command of a client may have written keys that expire: they are its leases. */
void rr_state_note_leases(struct rr_state *state, size_t server, uint32_t before, int client);

/* Time passes, although clients can act, who are late: to the end of the sleep of `waiter`, or of its
 * command that blocks. Keys run on that sleepers, those who have ended and `waiter` have written,
 * and given ones; those of late clients last for longer. May it? Not to an end behind another. */
enum { RR_NO_WAITER = RR_RUN_CLIENTS };
bool rr_state_may_pass_slowly(const struct rr_state *state, int64_t ns, size_t waiter);
void rr_state_pass_slowly(struct rr_state *state, int64_t ns, size_t waiter);

/* Until the first of the keys ends that run on meanwhile; RR_NEVER: none does. */
int64_t rr_state_run_on_ns(const struct rr_state *state, size_t waiter);

/* Until the next key's time is over, or a server may come back. */
int64_t rr_state_next_end_ns(const struct rr_state *state);

/* Does each client that has begun wait, go round in a loop that changes nothing, or begin an attempt
 * in which it is refused? That is found out by trying, and kept. */
bool rr_expansion_is_quiet(struct rr_expansion *it);

/* A key whose time is over in this moment may end before or after what clients do next. */
void rr_expand_ending(struct rr_expansion *it, const struct rr_state *from);

/* If nobody can go on, time passes by itself. */
void rr_expand_quiet(struct rr_expansion *it, const struct rr_state *from);

/* A client makes one step with nobody else going on; false: there is none. */
bool rr_state_step_alone(struct rr_state *state, size_t client, bool unbounded);

/* A client's process crashes: itself, or all of them. */
void rr_state_crash(struct rr_state *state, size_t client);

/* A server comes back empty, at once or, where it stays away, after more than a lease;
 * its clock jumps forward. */
void rr_state_restart(struct rr_state *state, size_t server);
void rr_state_jump(struct rr_state *state, size_t server, int64_t ns);

void rr_expand_faults(struct rr_expansion *it, const struct rr_state *from);

#endif
