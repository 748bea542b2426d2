/* SPDX-License-Identifier: MIT */
#include "product.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "strategy.h"

#define MS INT64_C(1000000) /* in nanoseconds */

/* Longer than a lease by more than the second that a timestamp is rounded by. */
#define LAPSE_NS (2000 * MS)

/* Before a lease's end: who asks now asks before it is over. */
#define SHORTLY_NS (2 * MS)

enum { BLIND_WAITS_MAX = 2, WAITS_MAX = 60, SOLO_STEPS_MAX = 400 };

/* A state that is being changed: its numbers, and what has been broken. */
struct work {
	rr_state_key key;
	unsigned broken;
};

static bool fail(struct rr_product *product, enum rr_exit code, const char *why)
{
	if (product->error[0])
		return false;
	product->code = code;
	snprintf(product->error, sizeof(product->error), "%s", why);
	return false;
}

/* ---- Parts ---------------------------------------------------------------- */

static uint32_t *part_word(const struct rr_product *product, struct work *work,
			   size_t client)
{
	return &work->key[product->n_servers + client];
}

static struct rr_part get_part(const struct rr_product *product,
			       const struct work *work, size_t client)
{
	const uint32_t id = work->key[product->n_servers + client];
	struct rr_part part;

	memset(&part, 0, sizeof(part));
	memcpy(&part, rr_intern_get(&product->parts, id),
	       product->parts.values[id].length);
	return part;
}

static bool put_part(struct rr_product *product, struct work *work,
		     size_t client, const struct rr_part *part)
{
	const size_t length = offsetof(struct rr_part, answers) +
			      part->n_answers * sizeof(part->answers[0]);
	uint32_t *word = part_word(product, work, client);

	*word = rr_intern_put(&product->parts, part, length, NULL);
	return *word != RR_NO_ID ||
	       fail(product, RR_EXIT_INTERNAL, "out of memory");
}

static const struct rr_common *common_of(const struct rr_product *product,
					 const struct work *work)
{
	return rr_product_common(product, work->key);
}

static bool put_common(struct rr_product *product, struct work *work,
		       const struct rr_common *common)
{
	uint32_t *word = &work->key[product->n_words - 1];

	*word = rr_intern_put(&product->commons, common, sizeof(*common), NULL);
	return *word != RR_NO_ID ||
	       fail(product, RR_EXIT_INTERNAL, "out of memory");
}

static const struct rr_client_state *
state_of(const struct rr_product *product, size_t client,
	 const struct rr_part *part)
{
	return &product->clients[client].states[part->state];
}

static bool has_ended(const struct rr_product *product, size_t client,
		      const struct rr_part *part)
{
	return part->is_crashed || state_of(product, client, part)->has_ended;
}

static uint16_t slot_of(const struct rr_product *product, size_t client,
			int lane)
{
	return (uint16_t)(client * RR_RUN_ORDINALS +
			  (size_t)rr_lane_ordinal(product->config.program, lane));
}

static size_t server_of(const struct rr_product *product, int lane)
{
	return (size_t)rr_lane_server(product->config.program, lane);
}

/* ---- The log -------------------------------------------------------------- */

static void note(const struct rr_product *product, struct rr_action action)
{
	if (product->log)
		rr_actions_add(product->log, &action);
}

/* ---- Servers -------------------------------------------------------------- */

static const struct rr_server_row *ask(struct rr_product *product,
				       struct work *work, size_t server,
				       const struct rr_question *question)
{
	struct rr_server_table *table = rr_product_table(product, server);
	const struct rr_server_row *row = rr_server_table_ask(
		table, work->key[server], question);

	if (!row)
		fail(product, table->code, table->error);
	return row;
}

/* Asks, and the server is where that leads. */
static const struct rr_server_row *move_server(struct rr_product *product,
					       struct work *work, size_t server,
					       const struct rr_question *question)
{
	const struct rr_server_row *row = ask(product, work, server, question);

	if (row)
		work->key[server] = row->to;
	return row;
}

static const struct rr_server_snapshot *
snapshot_of(const struct rr_product *product, const struct work *work,
	    size_t server)
{
	return &rr_product_table(product, server)->states[work->key[server]];
}

/* The first server that has a lock. */
static size_t first_lock(const struct rr_product *product)
{
	return product->n_servers > 1;
}

static bool has_leases(const struct rr_product *product)
{
	return product->config.strategy && product->config.strategy->lock.lease;
}

static bool is_over(const struct rr_product *product,
		    const struct rr_part *part)
{
	return has_leases(product) &&
	       part->attempt_ns >= product->config.lease_ns;
}

/* Somebody's lock was changed by another, who is `client`. */
static bool robs(const struct rr_product *product, const struct work *work,
		 int8_t maker, size_t client, uint32_t lock)
{
	const struct rr_strategy *strategy = product->config.strategy;
	struct rr_part part;

	if (maker < 0 || (size_t)maker == client || !strategy ||
	    !strategy->acquire || strategy->lock.kind == RR_LOCK_MUTEX ||
	    (strategy->lock.kind == RR_LOCK_COUNTER && lock))
		return false;
	part = get_part(product, work, (size_t)maker);
	return !has_ended(product, (size_t)maker, &part) &&
	       state_of(product, (size_t)maker, &part)->is_holding &&
	       !is_over(product, &part);
}

/* The lock's value on a server may have become another. `client` -1: by itself. */
static bool note_lock(struct rr_product *product, struct work *work,
		      size_t server, uint32_t before, int client)
{
	const uint32_t lock = snapshot_of(product, work, server)->lock;
	struct rr_common common;

	if (lock == before || server < first_lock(product))
		return true;
	common = *common_of(product, work);
	if (client >= 0 && robs(product, work, common.makers[server],
				(size_t)client, lock))
		work->broken |= RR_BREAKS_OWNERSHIP;
	common.makers[server] = lock && client >= 0 ? (int8_t)client : -1;
	return put_common(product, work, &common);
}

/* A connection that carries something is closed; the server knows. */
static bool close_slot(struct rr_product *product, struct work *work,
		       size_t server, uint16_t slot)
{
	const struct rr_question question = { .kind = RR_ASK_CLOSE,
					      .slot = slot };

	if (!rr_server_table_connection(rr_product_table(product, server),
					work->key[server], slot))
		return true;
	note(product, (struct rr_action){ .kind = RR_ACTION_ASK,
					  .server = (uint8_t)server,
					  .client = slot / RR_RUN_ORDINALS,
					  .question = question });
	return move_server(product, work, server, &question) != NULL;
}

/* ---- Feeding clients ------------------------------------------------------ */

static size_t n_answers_on(const struct rr_part *part, uint8_t lane)
{
	size_t n = 0;

	for (size_t i = 0; i < part->n_answers; i++)
		n += part->answers[i].lane == lane;
	return n;
}

/* Is a command that was sent from within the critical section still on its way? */
static bool writes_inside(const struct rr_client_state *state,
			  const struct rr_part *part)
{
	for (uint32_t i = 0; i < state->n_sent; i++) {
		const uint8_t lane = state->sent[i].lane;
		size_t before = n_answers_on(part, lane);

		for (uint32_t j = 0; j < i; j++)
			before -= state->sent[j].lane == lane && before > 0;
		if (state->sent[i].is_inside && before == 0)
			return true;
	}
	return false;
}

static bool is_inside(const struct rr_product *product, size_t client,
		      const struct rr_part *part)
{
	const struct rr_client_state *state;

	if (has_ended(product, client, part))
		return false;
	state = state_of(product, client, part);
	return state->is_inside || writes_inside(state, part);
}

/* A client has entered its critical section: who else is in there? */
static void judge_entry(const struct rr_product *product, struct work *work,
			size_t client)
{
	const struct rr_strategy *strategy = product->config.strategy;

	if (!strategy || !strategy->acquire || strategy->lock.is_fenced)
		return;
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part part = get_part(product, work, i);

		if (i == client || !is_inside(product, i, &part))
			continue;
		work->broken |= RR_BREAKS_EXCLUSION;
		if (has_leases(product) && !is_over(product, &part))
			work->broken |= RR_BREAKS_LEASE;
	}
}

static bool is_same_stop(const struct rr_stop *a, const struct rr_stop *b)
{
	return a->kind == b->kind && a->lane == b->lane &&
	       a->duration_ns == b->duration_ns;
}

/* The client goes on: times count from new where it stands elsewhere. */
static void arrive(const struct rr_product *product, size_t client,
		   struct rr_part *part, uint8_t thread, uint32_t to)
{
	const struct rr_client_table *table = &product->clients[client];
	const struct rr_client_state *before = &table->states[part->state];
	const struct rr_client_state *after = &table->states[to];

	for (uint32_t i = 0; i < RR_RUN_THREADS; i++) {
		if (i == thread || i >= after->n_threads ||
		    i >= before->n_threads ||
		    !is_same_stop(&before->stops[i], &after->stops[i]))
			part->waited_ns[i] = 0;
	}
	part->state = to;
	if (after->is_attempt || after->has_ended) {
		part->attempt_ns = 0;
		if (after->has_ended || after->is_forgetful)
			part->passed_ns = 0;
		if (after->has_ended || !product->config.bounded)
			part->rounds = 0;
	}
}

/* Increments that the client is through with, however they ended. */
static long n_done(const struct rr_client_state *state)
{
	return state->tally.ok + state->tally.unknown + state->tally.failed;
}

static uint8_t n_sent_inside(const struct rr_client_state *state)
{
	uint8_t n = 0;

	for (uint32_t i = 0; i < state->n_sent; i++)
		n += state->sent[i].is_inside;
	return n;
}

static void note_feed(const struct rr_product *product, size_t client,
		      const struct rr_input *input, int64_t passed_ns,
		      const struct rr_client_row *row)
{
	const struct rr_client_state *states = product->clients[client].states;
	const struct rr_client_state *from = &states[row->from];
	const struct rr_client_state *to = &states[row->to];

	note(product, (struct rr_action){
			      .kind = RR_ACTION_FEED,
			      .client = (uint8_t)client,
			      .input = *input,
			      .ns = passed_ns,
			      .signature = row->signature,
			      .stop = from->stops[input->thread],
			      .was_inside = from->is_inside,
			      .has_entered = row->has_entered,
			      .is_inside = to->is_inside,
			      .n_inside = n_sent_inside(to),
			      .n_counted = (uint8_t)(to->tally.ok -
						     from->tally.ok),
		      });
}

static bool feed(struct rr_product *product, size_t client,
		 struct rr_part *part, const struct rr_input *input,
		 bool *has_entered)
{
	struct rr_client_table *table = &product->clients[client];
	const int64_t passed_ns = part->passed_ns;
	const struct rr_client_row *row = rr_client_table_ask(
		table, part->state, input, passed_ns);
	const bool was_attempt = row && input->kind == RR_INPUT_ATTEMPT;

	if (!row)
		return fail(product, RR_EXIT_INTERNAL, table->error);
	if (row->is_timed) {
		part->passed_ns = 0;
		product->wants_clock |= !product->config.reads_clock;
	}
	*has_entered |= row->has_entered;
	note_feed(product, client, input, passed_ns, row);
	if (table->states[row->to].is_attempt && !was_attempt &&
	    product->config.bounded)
		part->rounds = n_done(&table->states[row->to]) ==
					       n_done(&table->states[row->from]) ?
				       (uint8_t)(part->rounds + 1) :
				       0;
	arrive(product, client, part, input->thread, row->to);
	return true;
}

/* Takes an answer out of the part. */
static void take_answer(struct rr_part *part, size_t i)
{
	part->n_answers--;
	memmove(&part->answers[i], &part->answers[i + 1],
		(part->n_answers - i) * sizeof(part->answers[0]));
	memset(&part->answers[part->n_answers], 0, sizeof(part->answers[0]));
}

static void drop_answers(struct rr_part *part, uint8_t lane)
{
	for (size_t i = part->n_answers; i-- > 0;) {
		if (part->answers[i].lane == lane)
			take_answer(part, i);
	}
}

/* The first answer on a lane; part->n_answers = none. */
static size_t find_answer(const struct rr_part *part, uint8_t lane)
{
	size_t i = 0;

	while (i < part->n_answers && part->answers[i].lane != lane)
		i++;
	return i;
}

/* Commands on a lane that were sent and not executed yet become late ones. */
static bool keep_late(struct rr_product *product, struct work *work,
		      size_t client, const struct rr_part *part, uint8_t lane)
{
	const struct rr_client_state *state = state_of(product, client, part);
	const size_t server = server_of(product, lane);
	const uint16_t slot = slot_of(product, client, lane);
	struct rr_common common = *common_of(product, work);
	size_t before = n_answers_on(part, lane);

	if (common.left.late == 0 || common.down == (int8_t)server ||
	    rr_server_table_connection(rr_product_table(product, server),
				       work->key[server], slot))
		return true;
	for (uint32_t i = 0; i < state->n_sent; i++) {
		if (state->sent[i].lane != lane || before-- > 0)
			continue;
		before = 0;
		if (common.n_late == RR_LATE_MAX)
			return fail(product, RR_EXIT_INTERNAL,
				    "more than 16 commands that may be late");
		common.late[common.n_late++] = (struct rr_late){
				(uint8_t)server, slot, state->sent[i].command
			};
	}
	return put_common(product, work, &common);
}

/* What a thread that waits for a reply on `lane` gets, if it is there. */
static bool take_reply(struct rr_product *product, struct work *work,
		       size_t client, struct rr_part *part, uint8_t thread,
		       uint8_t lane, bool *has_entered)
{
	const size_t at = find_answer(part, lane);
	const struct rr_part_answer answer = part->answers[at];
	struct rr_input input = { .kind = RR_INPUT_REPLY,
				  .thread = thread,
				  .value = answer.reply };

	if (answer.kind == RR_ANSWER_REPLY) {
		take_answer(part, at);
		return feed(product, client, part, &input, has_entered);
	}
	input.kind = answer.kind == RR_ANSWER_REFUSED ? RR_INPUT_REFUSED :
							RR_INPUT_LOST;
	input.value = 0;
	if (!keep_late(product, work, client, part, lane) ||
	    !close_slot(product, work, server_of(product, lane),
			slot_of(product, client, lane)))
		return false;
	drop_answers(part, lane);
	return feed(product, client, part, &input, has_entered);
}

/* The client runs on as long as what it waits for is there. */
static bool settle(struct rr_product *product, struct work *work, size_t client,
		   struct rr_part *part)
{
	bool has_entered = false, goes_on = true;

	while (goes_on) {
		const struct rr_client_state *state =
			state_of(product, client, part);

		goes_on = false;
		for (uint8_t i = 0; i < state->n_threads && !goes_on; i++) {
			const struct rr_stop *stop = &state->stops[i];

			if (stop->kind != RR_STOP_RECEIVE ||
			    find_answer(part, stop->lane) == part->n_answers)
				continue;
			if (!take_reply(product, work, client, part, i,
					stop->lane, &has_entered))
				return false;
			goes_on = true;
		}
	}
	if (has_entered)
		judge_entry(product, work, client);
	return put_part(product, work, client, part);
}

/* Feeds one input and lets the client run on. */
static bool go_on(struct rr_product *product, struct work *work, size_t client,
		  struct rr_part *part, const struct rr_input *input)
{
	bool has_entered = false;

	if (!feed(product, client, part, input, &has_entered))
		return false;
	if (has_entered)
		judge_entry(product, work, client);
	return settle(product, work, client, part);
}

static bool add_answer(struct rr_product *product, struct rr_part *part,
		       uint8_t lane, enum rr_answer_kind kind, uint32_t reply)
{
	if (part->n_answers == RR_PART_ANSWERS)
		return fail(product, RR_EXIT_INTERNAL,
			    "more than 64 replies that a client has not taken");
	part->answers[part->n_answers++] = (struct rr_part_answer){
		lane, (uint8_t)kind, reply
	};
	return true;
}

/* ---- Beginning an attempt ------------------------------------------------- */

/* Random values that are somewhere: on servers, with other clients, on their way,
 * or in what this one remembers. */
static uint64_t names_around(const struct rr_product *product,
			     const struct work *work, size_t client)
{
	const struct rr_common *common = common_of(product, work);
	const struct rr_terms *terms = product->config.program->terms;
	uint64_t names = 0;

	for (size_t i = 0; i < product->n_servers; i++)
		names |= snapshot_of(product, work, i)->names;
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part part = get_part(product, work, i);

		if (i == client || !has_ended(product, i, &part))
			names |= state_of(product, i, &part)->names;
		for (size_t j = 0; j < part.n_answers; j++) {
			if (part.answers[j].kind == RR_ANSWER_REPLY)
				names |= terms->reply[part.answers[j].reply]
						 .names;
		}
	}
	for (size_t i = 0; i < common->n_late; i++)
		names |= terms->command[common->late[i].command].names;
	return names;
}

/* The first generation of a client's names that is nowhere left; RR_GENERATIONS:
 * all are in use. */
static int free_generation(const struct rr_product *product,
			   const struct work *work, size_t client)
{
	const uint64_t names = names_around(product, work, client);
	int generation = 0;

	while (generation < RR_GENERATIONS &&
	       names & rr_name_bit((int)client, generation))
		generation++;
	return generation;
}

/* An attempt begins, if one is to begin. *can_begin: names are left for it. */
static bool begin_attempt(struct rr_product *product, struct work *work,
			  size_t client, struct rr_part *part, bool *can_begin)
{
	struct rr_input input = { .kind = RR_INPUT_ATTEMPT };

	*can_begin = true;
	if (!state_of(product, client, part)->is_attempt)
		return true;
	input.value = free_generation(product, work, client);
	*can_begin = input.value < RR_GENERATIONS;
	return !*can_begin || go_on(product, work, client, part, &input);
}

/* ---- A client's moves ----------------------------------------------------- */

/* The command that is to be executed next on a lane; NULL = none. */
static const struct rr_sent *next_sent(const struct rr_client_state *state,
				       const struct rr_part *part,
				       uint8_t lane)
{
	size_t before = n_answers_on(part, lane);

	for (size_t i = 0; i < part->n_answers; i++) {
		if (part->answers[i].lane == lane &&
		    (part->answers[i].kind == RR_ANSWER_SHUT ||
		     part->answers[i].kind == RR_ANSWER_REFUSED))
			return NULL;
	}
	for (uint32_t i = 0; i < state->n_sent; i++) {
		if (state->sent[i].lane == lane && before-- == 0)
			return &state->sent[i];
	}
	return NULL;
}

static uint32_t next_on_lane(const struct rr_client_state *state,
			     const struct rr_part *part, uint8_t lane)
{
	const struct rr_sent *sent = next_sent(state, part, lane);

	return sent ? sent->command : RR_NO_ID;
}

static bool is_deaf(const struct rr_part *part, uint8_t lane)
{
	for (size_t i = 0; i < part->n_answers; i++) {
		if (part->answers[i].lane == lane &&
		    part->answers[i].kind == RR_ANSWER_LOST)
			return true;
	}
	return false;
}

struct execution {
	struct work *work; /* with the attempt begun */
	size_t client;
	struct rr_part *part;
	uint8_t lane;
	uint32_t command;
	bool is_inside; /* sent from within the critical section */
};

static bool answer_closed(struct rr_product *product,
			  const struct execution *it, enum rr_answer_kind kind,
			  bool is_fault)
{
	it->part->is_cut &= ~(UINT64_C(1) << it->lane);
	note(product, (struct rr_action){ .kind = RR_ACTION_ANSWER,
					  .client = (uint8_t)it->client,
					  .server = (uint8_t)server_of(
						  product, it->lane),
					  .lane = it->lane,
					  .command = it->command,
					  .answer = (uint8_t)kind,
					  .is_fault = is_fault });
	return add_answer(product, it->part, it->lane, kind, 0) &&
	       settle(product, it->work, it->client, it->part);
}

/* How long the thread that takes this lane's replies has stood there. */
static int64_t waited_on(const struct rr_product *product, size_t client,
			 const struct rr_part *part, uint8_t lane)
{
	const struct rr_client_state *state = state_of(product, client, part);

	for (uint32_t i = 0; i < state->n_threads; i++) {
		if (state->stops[i].kind == RR_STOP_RECEIVE &&
		    state->stops[i].lane == lane)
			return part->waited_ns[i];
	}
	return 0;
}

/* Of the command that is next on a lane: does it wait, and how much longer? */
static bool is_blocked(struct rr_product *product, const struct execution *it,
		       int64_t *left_ns)
{
	const size_t server = server_of(product, it->lane);
	const struct rr_question question = {
		.kind = RR_ASK_COMMAND,
		.slot = slot_of(product, it->client, it->lane),
		.argument = it->command
	};
	const struct rr_server_row *row;
	int64_t time_out;

	*left_ns = 0;
	if (it->part->is_cut >> it->lane & 1 ||
	    common_of(product, it->work)->down == (int8_t)server)
		return false;
	row = ask(product, it->work, server, &question);
	if (!row || !row->blocks)
		return false;
	time_out = rr_command_time_out_ns(
		&product->config.program->terms->command[it->command].words);
	*left_ns = time_out == RR_NEVER ?
			   RR_NEVER :
			   time_out - waited_on(product, it->client, it->part,
						it->lane);
	return true;
}

/* The command is executed. `answer`: what its client hears of it. */
static bool execute(struct rr_product *product, const struct execution *it,
		    enum rr_answer_kind answer)
{
	const size_t server = server_of(product, it->lane);
	const struct rr_question question = {
		.kind = RR_ASK_COMMAND,
		.slot = slot_of(product, it->client, it->lane),
		.argument = it->command
	};
	const uint32_t before = snapshot_of(product, it->work, server)->lock;
	const uint32_t from = it->work->key[server];
	const struct rr_server_row *row;
	uint32_t reply;

	if (it->part->is_cut >> it->lane & 1)
		return answer_closed(product, it, RR_ANSWER_SHUT, false);
	if (common_of(product, it->work)->down == (int8_t)server)
		return answer_closed(product, it, RR_ANSWER_REFUSED, false);
	if (answer == RR_ANSWER_SHUT)
		return answer_closed(product, it, answer, true);
	row = move_server(product, it->work, server, &question);
	if (!row)
		return false;
	reply = row->reply;
	if (is_deaf(it->part, it->lane))
		answer = RR_ANSWER_UNHEARD;
	note(product, (struct rr_action){ .kind = RR_ACTION_ASK,
					  .client = (uint8_t)it->client,
					  .server = (uint8_t)server,
					  .lane = it->lane,
					  .answer = (uint8_t)answer,
					  .question = question,
					  .command = it->command,
					  .reply = reply,
					  .blocks = row->blocks,
					  .is_inside = it->is_inside });
	if (row->to != from && common_of(product, it->work)->blind) {
		struct rr_common common = *common_of(product, it->work);

		common.blind = 0;
		if (!put_common(product, it->work, &common))
			return false;
	}
	return note_lock(product, it->work, server, before,
			 (int)it->client) &&
	       add_answer(product, it->part, it->lane, answer,
			  answer == RR_ANSWER_REPLY ? reply : 0) &&
	       settle(product, it->work, it->client, it->part);
}

/* What a move is emitted to, and what is known of the state. */
struct expansion {
	struct rr_product *product;
	const uint32_t *key;
	rr_emit emit;
	void *context;
	unsigned flags;
	bool stopped;
	int only;        /* the moves of this client alone, -1 = all */
	bool unbounded;  /* however often it was refused */
	size_t n_moves;  /* of clients, but for faults */
	size_t n_busy;   /* those of clients in the middle of something */
	size_t n_children; /* those of renewers */
	int64_t next_ns; /* when the first of those who wait goes on */
};

static bool emit(struct expansion *it, struct rr_transition move,
		 const struct work *work)
{
	it->product->n_moves++;
	if (!it->stopped &&
	    !it->emit(it->context, move, work->key, work->broken))
		it->stopped = true;
	if (!it->stopped && it->product->log)
		it->product->log->n = it->product->log_kept;
	return !it->stopped;
}

static bool emit_kind(struct expansion *it, enum rr_transition_kind kind,
		      size_t who, const struct work *work)
{
	return emit(it, (struct rr_transition){ (uint8_t)kind, (uint8_t)who, 0 },
		    work);
}

/* What is noted from now on belongs to the next move alone. */
static void keep_log(struct rr_product *product, size_t n)
{
	product->log_kept = n;
	if (product->log && product->log->n > n)
		product->log->n = n;
}

static void wake_at(struct expansion *it, int64_t left_ns)
{
	if (left_ns < it->next_ns)
		it->next_ns = left_ns;
}

/* Counted before it is emitted. */
static void count_move(struct expansion *it, size_t thread, bool is_busy)
{
	it->n_moves++;
	it->n_busy += is_busy;
	it->n_children += thread > 0;
}

static size_t thread_of_lane(const struct rr_client_state *state, uint8_t lane)
{
	for (uint32_t i = 1; i < state->n_threads; i++) {
		if (state->stops[i].kind == RR_STOP_RECEIVE &&
		    state->stops[i].lane == lane)
			return i;
	}
	return 0;
}

static bool emit_execution(struct expansion *it, const struct work *work,
			   size_t client, const struct rr_part *part,
			   uint8_t lane, uint32_t command,
			   enum rr_transition_kind kind)
{
	static const enum rr_answer_kind answers[] = {
		[RR_DO_EXECUTE] = RR_ANSWER_REPLY,
		[RR_DO_LOSE] = RR_ANSWER_LOST,
		[RR_DO_DROP] = RR_ANSWER_SHUT,
	};
	struct rr_part after = *part;
	struct work next = *work;
	const struct execution execution = {
		&next,
		client,
		&after,
		lane,
		command,
		next_sent(state_of(it->product, client, part), part, lane)
			->is_inside
	};
	const struct rr_transition move = { (uint8_t)kind, (uint8_t)client,
					    lane };

	if (kind != RR_DO_EXECUTE) {
		struct rr_common common = *common_of(it->product, &next);

		common.left.lost_replies--;
		if (!put_common(it->product, &next, &common))
			return false;
	}
	return execute(it->product, &execution, answers[kind]) &&
	       emit(it, move, &next);
}

static bool emit_lane(struct expansion *it, struct work *work, size_t client,
		      struct rr_part *part, uint8_t lane, bool is_busy)
{
	struct rr_product *product = it->product;
	const struct rr_client_state *state = state_of(product, client, part);
	const uint32_t command = next_on_lane(state, part, lane);
	const struct execution execution = { work, client, part, lane,
					     command, false };
	int64_t left_ns;
	bool can_lose;

	if (command == RR_NO_ID)
		return true;
	if (is_blocked(product, &execution, &left_ns) && left_ns > 0) {
		wake_at(it, left_ns);
		return true;
	}
	if (product->error[0])
		return false;
	count_move(it, thread_of_lane(state, lane), is_busy);
	if (!emit_execution(it, work, client, part, lane, command,
			    RR_DO_EXECUTE))
		return false;
	can_lose = it->only < 0 &&
		   common_of(product, work)->left.lost_replies > 0 &&
		   !is_deaf(part, lane) && !(part->is_cut >> lane & 1) &&
		   common_of(product, work)->down !=
			   (int8_t)server_of(product, lane);
	return !can_lose ||
	       (emit_execution(it, work, client, part, lane, command,
			       RR_DO_LOSE) &&
		emit_execution(it, work, client, part, lane, command,
			       RR_DO_DROP));
}

static bool emit_lanes(struct expansion *it, struct work *work, size_t client,
		       struct rr_part *part, bool is_busy)
{
	const struct rr_client_state *state =
		state_of(it->product, client, part);
	uint64_t done = 0;

	for (uint32_t i = 0; i < state->n_sent; i++) {
		const uint8_t lane = state->sent[i].lane;

		if (done >> lane & 1)
			continue;
		done |= UINT64_C(1) << lane;
		if (!emit_lane(it, work, client, part, lane, is_busy))
			return false;
		state = state_of(it->product, client, part);
	}
	return true;
}

/* ---- What threads wait for besides replies -------------------------------- */

/* The connection has a message for the thread. */
static bool has_message(const struct rr_product *product,
			const struct work *work, size_t client, uint8_t lane)
{
	const size_t server = server_of(product, lane);
	const struct rr_connection *connection = rr_server_table_connection(
		rr_product_table(product, server), work->key[server],
		slot_of(product, client, lane));

	return connection && connection->n_messages;
}

static bool take_message(struct rr_product *product, struct work *work,
			 size_t client, uint8_t lane, struct rr_input *input)
{
	const struct rr_question question = {
		.kind = RR_ASK_READ, .slot = slot_of(product, client, lane)
	};
	const size_t server = server_of(product, lane);
	const struct rr_server_row *row =
		move_server(product, work, server, &question);

	if (!row)
		return false;
	note(product, (struct rr_action){ .kind = RR_ACTION_ASK,
					  .client = (uint8_t)client,
					  .server = (uint8_t)server,
					  .lane = lane,
					  .question = question,
					  .reply = row->reply });
	input->kind = RR_INPUT_MESSAGE;
	input->value = row->reply;
	return true;
}

static bool use_mutex(struct rr_product *product, struct work *work,
		      size_t client, uint8_t thread,
		      const struct rr_stop *stop)
{
	const uint8_t self = (uint8_t)(client * RR_RUN_THREADS + thread + 1);
	struct rr_common common = *common_of(product, work);
	uint8_t *owner = &common.owners[stop->mutex % RR_MUTEXES];

	if (stop->kind == RR_STOP_LOCK)
		*owner = self;
	else if (*owner == self)
		*owner = 0;
	return put_common(product, work, &common);
}

/* Can the thread go on? If so, `input` is what it hears, and `work` what comes of
 * it. If not, when does it by itself? */
static bool is_ready(struct rr_product *product, struct work *work,
		     size_t client, const struct rr_part *part, uint8_t thread,
		     struct rr_input *input, int64_t *left_ns)
{
	const struct rr_stop *stop =
		&state_of(product, client, part)->stops[thread];
	const struct rr_common *common = common_of(product, work);

	*left_ns = RR_NEVER;
	if (stop->kind == RR_STOP_SLEEP || stop->kind == RR_STOP_WAIT ||
	    stop->kind == RR_STOP_LISTEN) {
		if (stop->duration_ns != RR_NEVER)
			*left_ns = stop->duration_ns - part->waited_ns[thread];
		if (stop->kind != RR_STOP_SLEEP)
			input->kind = RR_INPUT_TIMEOUT;
	}
	switch (stop->kind) {
	case RR_STOP_WAIT:
		if (stop->is_ready)
			input->kind = RR_INPUT_GO;
		return stop->is_ready || *left_ns <= 0;
	case RR_STOP_LISTEN:
		if (part->is_cut >> stop->lane & 1) {
			input->kind = RR_INPUT_LOST;
			return true;
		}
		if (has_message(product, work, client, stop->lane))
			return take_message(product, work, client, stop->lane,
					    input);
		return *left_ns <= 0;
	case RR_STOP_SLEEP:
		return *left_ns <= 0;
	case RR_STOP_CLOCK:
		product->wants_absolute |= !product->config.absolute;
		input->kind = RR_INPUT_CLOCK;
		input->value = product->config.day_ns + common->now_ns +
			       (int64_t)client * product->config.skew_ns;
		return true;
	case RR_STOP_LOCK:
		return !common->owners[stop->mutex % RR_MUTEXES] &&
		       use_mutex(product, work, client, thread, stop);
	case RR_STOP_UNLOCK:
		return use_mutex(product, work, client, thread, stop);
	case RR_STOP_JOIN:
		return stop->is_ready;
	default:
		return false;
	}
}

static bool emit_thread(struct expansion *it, const struct work *work,
			size_t client, const struct rr_part *part,
			uint8_t thread, bool is_busy)
{
	const struct rr_transition move = { RR_DO_GO, (uint8_t)client, thread };
	struct rr_product *product = it->product;
	struct rr_input input = { .kind = RR_INPUT_GO, .thread = thread };
	struct rr_part after = *part;
	struct work next = *work;
	int64_t left_ns;

	if (!is_ready(product, &next, client, part, thread, &input, &left_ns)) {
		wake_at(it, left_ns);
		return !product->error[0];
	}
	count_move(it, thread, is_busy);
	if (input.kind == RR_INPUT_LOST)
		after.is_cut &= ~(UINT64_C(1) << state_of(product, client, part)
						       ->stops[thread]
						       .lane);
	return go_on(product, &next, client, &after, &input) &&
	       emit(it, move, &next);
}

/* Does anything that this client waits for come by itself, in time? Then it has to
 * begin its attempt to wait for it. */
static bool waits_for_time(const struct rr_product *product, size_t client,
			   const struct rr_part *part, int64_t before_ns,
			   int64_t next_ns)
{
	return next_ns != before_ns && next_ns != RR_NEVER &&
	       !state_of(product, client, part)->is_attempt;
}

/* Moves of one client that are no faults, but for lost replies. */
static bool emit_client(struct expansion *it, const struct work *work,
			size_t client)
{
	struct rr_product *product = it->product;
	struct work begun = *work;
	struct rr_part part = get_part(product, work, client);
	const bool is_idle = state_of(product, client, &part)->is_attempt;
	const int64_t next_ns = it->next_ns;
	const size_t n_moves = it->n_moves;
	bool can_begin;
	uint32_t n_threads;

	if (has_ended(product, client, &part))
		return true;
	if (is_idle && !it->unbounded && product->config.bounded &&
	    part.rounds >= product->config.rounds) {
		it->flags |= RR_STATE_CUT;
		return true;
	}
	if (is_idle)
		it->next_ns = RR_NEVER;
	if (!begin_attempt(product, &begun, client, &part, &can_begin))
		return false;
	if (product->log)
		product->log_kept = product->log->n;
	if (!can_begin) {
		it->flags |= RR_STATE_CUT;
		it->next_ns = next_ns;
		return true;
	}
	if (state_of(product, client, &part)->is_attempt ||
	    has_ended(product, client, &part)) {
		it->next_ns = next_ns; /* an attempt that does nothing */
		if (!has_ended(product, client, &part))
			return true;
		count_move(it, 0, !is_idle);
		return emit_kind(it, RR_DO_BEGIN, client, &begun);
	}
	n_threads = state_of(product, client, &part)->n_threads;
	if (!emit_lanes(it, &begun, client, &part, !is_idle))
		return false;
	for (uint8_t i = 0; i < n_threads; i++) {
		if (!emit_thread(it, &begun, client, &part, i, !is_idle))
			return false;
	}
	if (!is_idle)
		return true;
	if (it->n_moves == n_moves &&
	    waits_for_time(product, client, &part, RR_NEVER, it->next_ns)) {
		it->next_ns = next_ns;
		count_move(it, 0, true);
		return emit_kind(it, RR_DO_BEGIN, client, &begun);
	}
	it->next_ns = next_ns;
	return true;
}

/* ---- Time ----------------------------------------------------------------- */

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void age(const struct rr_product *product, size_t client,
		struct rr_part *part, int64_t ns)
{
	const struct rr_client_state *state;

	if (has_ended(product, client, part))
		return;
	state = state_of(product, client, part);
	if (product->config.reads_clock &&
	    !(state->is_attempt && state->is_forgetful))
		part->passed_ns += ns;
	if (has_leases(product) && !state->is_attempt)
		part->attempt_ns = lesser(part->attempt_ns + ns,
					  product->config.lease_ns);
	for (uint32_t i = 0; i < state->n_threads; i++) {
		const struct rr_stop *stop = &state->stops[i];
		const bool is_timed = stop->kind == RR_STOP_SLEEP ||
				      stop->kind == RR_STOP_WAIT ||
				      stop->kind == RR_STOP_LISTEN;

		if (is_timed && stop->duration_ns != RR_NEVER)
			part->waited_ns[i] = lesser(part->waited_ns[i] + ns,
						    stop->duration_ns);
		/* A command that may wait: until which time is known when it
		 * is looked at. */
		if (stop->kind == RR_STOP_RECEIVE)
			part->waited_ns[i] += ns;
	}
}

/* Nobody has a command that waits: then it does not matter how long it has. */
static void forget_waiting(struct rr_product *product, struct work *work,
			   size_t client, struct rr_part *part)
{
	const struct rr_client_state *state = state_of(product, client, part);

	for (uint32_t i = 0; i < state->n_threads; i++) {
		const struct rr_stop *stop = &state->stops[i];
		const uint32_t command =
			stop->kind == RR_STOP_RECEIVE ?
				next_on_lane(state, part, stop->lane) :
				RR_NO_ID;
		const struct execution it = { work, client, part, stop->lane,
					      command, false };
		int64_t left_ns;

		if (stop->kind != RR_STOP_RECEIVE)
			continue;
		if (command == RR_NO_ID || !is_blocked(product, &it, &left_ns) ||
		    left_ns == RR_NEVER)
			part->waited_ns[i] = 0;
		else if (left_ns < 0)
			part->waited_ns[i] += left_ns;
	}
}

static bool tick_server(struct rr_product *product, struct work *work,
			size_t server, int64_t ns)
{
	const struct rr_question question = { .kind = RR_ASK_TICK,
					      .argument = ns };
	const uint32_t before = snapshot_of(product, work, server)->lock;

	return move_server(product, work, server, &question) &&
	       note_lock(product, work, server, before, -1);
}

/* Time passes everywhere. */
static bool tick(struct rr_product *product, struct work *work, int64_t ns)
{
	struct rr_common common;

	note(product, (struct rr_action){ .kind = RR_ACTION_TIME, .ns = ns });
	for (size_t i = 0; i < product->n_clients; i++) {
		struct rr_part part = get_part(product, work, i);

		age(product, i, &part, ns);
		if (!has_ended(product, i, &part))
			forget_waiting(product, work, i, &part);
		if (!put_part(product, work, i, &part))
			return false;
	}
	for (size_t i = 0; i < product->n_servers; i++) {
		if (!tick_server(product, work, i, ns))
			return false;
	}
	common = *common_of(product, work);
	if (product->config.absolute)
		common.now_ns += ns;
	if (common.down >= 0)
		common.down_ns = common.down_ns > ns ? common.down_ns - ns : 0;
	return put_common(product, work, &common);
}

/* Until the next key's time is over, or a server may come back. */
static int64_t next_end_ns(const struct rr_product *product,
			   const struct work *work)
{
	const struct rr_common *common = common_of(product, work);
	int64_t next_ns = RR_NEVER;

	for (size_t i = 0; i < product->n_servers; i++)
		next_ns = lesser(next_ns,
				 snapshot_of(product, work, i)->first_end_ns);
	if (common->down >= 0 && common->down_ns > 0)
		next_ns = lesser(next_ns, common->down_ns);
	return next_ns;
}

static bool emit_tick(struct expansion *it, const struct work *work,
		      enum rr_transition_kind kind, int64_t ns)
{
	struct work next = *work;

	return tick(it->product, &next, ns) &&
	       emit_kind(it, kind, 0, &next);
}

/* ---- Faults --------------------------------------------------------------- */

/* The sums of what a client has done, for good. */
static struct rr_part grave(const struct rr_product *product, size_t client,
			    const struct rr_part *part)
{
	const struct rr_client_state *state = state_of(product, client, part);
	const struct rr_run_tally *tally = &state->tally;
	struct rr_part dead;

	memset(&dead, 0, sizeof(dead));
	dead.is_crashed = 1;
	dead.ok = (uint8_t)tally->acknowledged;
	dead.unknown = (uint8_t)tally->unknown;
	dead.cut = tally->acknowledged + tally->unknown + tally->failed <
			   product->config.increments &&
		   !(state->is_attempt && state->is_forgetful);
	return dead;
}

/* Connections that listen stay until the server notices; others carry nothing that
 * anybody else could notice. */
static bool crash_client(struct rr_product *product, struct work *work,
			 size_t client)
{
	struct rr_part part = get_part(product, work, client);
	const struct rr_run_tally *tally;

	if (has_ended(product, client, &part))
		return true;
	tally = &state_of(product, client, &part)->tally;
	note(product, (struct rr_action){
			      .kind = RR_ACTION_CRASH,
			      .client = (uint8_t)client,
			      .n_counted = (uint8_t)(tally->acknowledged -
						     tally->ok) });
	for (int lane = 0; lane < RR_RUN_ORDINALS * (int)product->n_servers;
	     lane++) {
		const size_t server = server_of(product, lane);
		const uint16_t slot = slot_of(product, client, lane);
		const struct rr_connection *connection =
			rr_server_table_connection(
				rr_product_table(product, server),
				work->key[server], slot);

		if (!keep_late(product, work, client, &part, (uint8_t)lane))
			return false;
		if (connection && !connection->listens &&
		    !close_slot(product, work, server, slot))
			return false;
	}
	part = grave(product, client, &part);
	return put_part(product, work, client, &part);
}

static bool emit_crash(struct expansion *it, const struct work *work,
		       size_t client)
{
	struct rr_product *product = it->product;
	const bool separate = product->config.program->separate;
	struct rr_common common = *common_of(product, work);
	struct work next = *work;

	common.left.crashes--;
	if (!put_common(product, &next, &common))
		return false;
	for (size_t i = separate ? client : 0;
	     i < (separate ? client + 1 : product->n_clients); i++) {
		if (!crash_client(product, &next, i))
			return false;
	}
	return emit_kind(it, RR_DO_CRASH, client, &next);
}

static bool emit_crashes(struct expansion *it, const struct work *work)
{
	struct rr_product *product = it->product;

	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part part = get_part(product, work, i);

		if (has_ended(product, i, &part))
			continue;
		if (!emit_crash(it, work, i))
			return false;
		if (!product->config.program->separate)
			return true;
	}
	return true;
}

/* Every client's connection to a server is gone, and they do not know. */
static bool cut_lanes(struct rr_product *product, struct work *work,
		      size_t server)
{
	for (size_t i = 0; i < product->n_clients; i++) {
		struct rr_part part = get_part(product, work, i);
		const struct rr_client_state *state;

		if (has_ended(product, i, &part))
			continue;
		state = state_of(product, i, &part);
		part.is_cut |= UINT64_C(1) << server;
		for (uint32_t j = 0; j < state->n_sent; j++) {
			if (server_of(product, state->sent[j].lane) == server)
				part.is_cut |= UINT64_C(1)
					       << state->sent[j].lane;
		}
		if (!put_part(product, work, i, &part))
			return false;
	}
	return true;
}

static bool emit_restart(struct expansion *it, const struct work *work,
			 size_t server)
{
	struct rr_product *product = it->product;
	const struct rr_question question = { .kind = RR_ASK_WIPE };
	const uint32_t before = snapshot_of(product, work, server)->lock;
	struct rr_common common = *common_of(product, work);
	struct work next = *work;

	common.left.restarts--;
	if (product->config.stays_away) {
		common.down = (int8_t)server;
		common.down_ns = product->config.lease_ns + LAPSE_NS;
	}
	note(product,
	     (struct rr_action){ .kind = product->config.stays_away ?
						 RR_ACTION_DOWN :
						 RR_ACTION_ASK,
				 .server = (uint8_t)server,
				 .question = question });
	return put_common(product, &next, &common) &&
	       cut_lanes(product, &next, server) &&
	       move_server(product, &next, server, &question) &&
	       note_lock(product, &next, server, before, -1) &&
	       emit_kind(it, RR_DO_RESTART, server, &next);
}

static bool emit_jump(struct expansion *it, const struct work *work,
		      size_t server)
{
	struct rr_product *product = it->product;
	const int64_t ns = product->config.lease_ns + LAPSE_NS;
	struct rr_common common = *common_of(product, work);
	struct work next = *work;

	common.left.jumps--;
	note(product, (struct rr_action){
			      .kind = RR_ACTION_ASK,
			      .server = (uint8_t)server,
			      .question = { .kind = RR_ASK_TICK,
					    .argument = ns } });
	return put_common(product, &next, &common) &&
	       tick_server(product, &next, server, ns) &&
	       emit_kind(it, RR_DO_JUMP, server, &next);
}

static bool emit_servers(struct expansion *it, const struct work *work)
{
	const struct rr_product *product = it->product;
	const struct rr_common *common = common_of(product, work);

	for (size_t i = 1; i < product->n_servers; i++) {
		if (common->left.restarts > 0 && common->down < 0 &&
		    !emit_restart(it, work, i))
			return false;
	}
	for (size_t i = first_lock(product); i < product->n_servers; i++) {
		if (common_of(product, work)->left.jumps > 0 &&
		    !emit_jump(it, work, i))
			return false;
	}
	return true;
}

/* Time passes as a fault, out of a budget in halves. */
static bool emit_passing(struct expansion *it, const struct work *work,
			 enum rr_transition_kind kind, int64_t ns)
{
	const bool is_pause = kind >= RR_DO_PAUSE_HALF;
	const bool is_half = kind == RR_DO_HALF || kind == RR_DO_PAUSE_HALF;
	struct rr_common common = *common_of(it->product, work);
	struct work next = *work;
	int *left = is_pause ? &common.left.pauses : &common.left.expiries;

	if (*left < (is_half ? 1 : 2))
		return true;
	*left -= is_half ? 1 : 2;
	return put_common(it->product, &next, &common) &&
	       emit_tick(it, &next, kind, ns);
}

static bool emit_times(struct expansion *it, const struct work *work)
{
	const int64_t lease_ns = it->product->config.lease_ns;
	const int64_t half_ns = lease_ns / 2 + LAPSE_NS;
	const int64_t next_ns =
		lesser(it->next_ns, next_end_ns(it->product, work));

	if (it->n_children == 0 &&
	    (!emit_passing(it, work, RR_DO_HALF, lesser(half_ns, next_ns)) ||
	     !emit_passing(it, work, RR_DO_WHOLE,
			   next_ns == RR_NEVER ? lease_ns + LAPSE_NS :
						 next_ns)))
		return false;
	return emit_passing(it, work, RR_DO_PAUSE_HALF, half_ns) &&
	       emit_passing(it, work, RR_DO_PAUSE, lease_ns + LAPSE_NS);
}

static bool emit_faults(struct expansion *it, const struct work *work)
{
	const struct rr_common *common = common_of(it->product, work);

	if (common->left.crashes > 0 && !emit_crashes(it, work))
		return false;
	return emit_servers(it, work) && emit_times(it, work);
}

/* ---- Quiet states --------------------------------------------------------- */

struct solo {
	rr_state_key key;
	bool found;
};

static bool take_first(void *context, struct rr_transition move,
		       const uint32_t *next, unsigned broken)
{
	struct solo *solo = context;

	(void)move;
	(void)broken;
	if (!solo->found)
		memcpy(solo->key, next, sizeof(solo->key));
	solo->found = true;
	return false;
}

/* One attempt of a client from this state, with nobody else going on. True: it was
 * refused, and `after` is what it left. */
static bool is_refused(struct rr_product *product, const struct work *work,
		       size_t client, struct work *after)
{
	const struct rr_part before = get_part(product, work, client);
	const struct rr_client_state *begin =
		state_of(product, client, &before);
	const long done = n_done(begin);
	struct rr_actions *log = product->log;
	const uint64_t n_moves = product->n_moves;
	bool refused = false;

	product->log = NULL;
	*after = *work;
	for (int i = 0; i < SOLO_STEPS_MAX; i++) {
		struct solo solo = { .found = false };
		struct expansion it = { .product = product,
					.emit = take_first,
					.context = &solo,
					.only = (int)client,
					.unbounded = true,
					.next_ns = RR_NEVER };
		const struct rr_client_state *state;
		struct rr_part part;

		emit_client(&it, after, client);
		if (!solo.found) {
			/* An attempt that does nothing at all is in vain. */
			refused = i == 0 && !product->error[0];
			break;
		}
		memcpy(after->key, solo.key, sizeof(after->key));
		part = get_part(product, after, client);
		state = state_of(product, client, &part);
		if (!state->is_attempt)
			continue;
		refused = n_done(state) == done;
		break;
	}
	product->log = log;
	product->n_moves = n_moves;
	return refused;
}

bool rr_product_counts_up(struct rr_product *product, const uint32_t *key)
{
	enum { TIMES = 12 };
	const size_t size = product->n_servers * sizeof(*key);
	struct work works[TIMES + 1];

	for (size_t i = 0; i < product->n_clients; i++) {
		int n = 0;
		bool is_new = true;

		memcpy(works[0].key, key, product->n_words * sizeof(*key));
		works[0].broken = 0;
		while (is_new && n < TIMES) {
			const struct rr_part part =
				get_part(product, &works[n], i);

			if (has_ended(product, i, &part) ||
			    !state_of(product, i, &part)->is_attempt ||
			    !is_refused(product, &works[n], i, &works[n + 1]))
				break;
			n++;
			for (int j = 0; j < n && is_new; j++)
				is_new = memcmp(works[j].key, works[n].key,
						size) != 0;
		}
		if (is_new && n == TIMES)
			return true;
	}
	return false;
}

/* Is everybody who may begin an attempt refused? `ends`: the leases that end next
 * must not be put off by it; NULL = they may. *changes: attempts leave something. */
static bool all_are_refused(struct rr_product *product, const struct work *work,
			    bool must_end, bool *changes)
{
	const int64_t next_ns = next_end_ns(product, work);

	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part part = get_part(product, work, i);
		struct work after;

		if (has_ended(product, i, &part) ||
		    !state_of(product, i, &part)->is_attempt)
			continue;
		if (!is_refused(product, work, i, &after))
			return false;
		*changes |= memcmp(after.key, work->key,
				   product->n_servers *
					   sizeof(work->key[0])) != 0;
		if (must_end && next_end_ns(product, &after) > next_ns)
			return false;
	}
	return true;
}

static struct rr_common rested(const struct rr_product *product,
			       const struct work *work)
{
	struct rr_common common = *common_of(product, work);

	if (product->config.bounded && common.waits < INT8_MAX)
		common.waits++;
	return common;
}

/* Whoever was refused as often as the bound says may ask again. */
static bool rest_all(struct rr_product *product, struct work *work)
{
	for (size_t i = 0; i < product->n_clients; i++) {
		struct rr_part part = get_part(product, work, i);

		part.rounds = 0;
		if (!put_part(product, work, i, &part))
			return false;
	}
	return true;
}

static bool emit_wait(struct expansion *it, const struct work *work,
		      enum rr_transition_kind kind, int64_t ns, bool is_blind)
{
	struct rr_product *product = it->product;
	struct rr_common common = rested(product, work);
	struct work next = *work;

	if (common.waits > WAITS_MAX) {
		it->flags |= RR_STATE_CUT;
		return true;
	}
	common.blind = (int8_t)(is_blind ? common.blind + 1 : 0);
	return put_common(product, &next, &common) && rest_all(product, &next) &&
	       emit_tick(it, &next, kind, ns);
}

/* Nothing that is known ends by itself. What a timestamp stands for does. */
static bool emit_blind_wait(struct expansion *it, const struct work *work,
			    bool changes)
{
	const struct rr_product *product = it->product;

	if (product->config.absolute &&
	    common_of(product, work)->blind < BLIND_WAITS_MAX)
		return emit_wait(it, work, RR_DO_WAIT,
				 product->config.lease_ns + LAPSE_NS, true);
	if (product->config.bounded && it->n_moves == 0)
		it->flags |= changes ? RR_STATE_STARVED : RR_STATE_DEAD;
	return true;
}

static bool emit_quiet(struct expansion *it, const struct work *work)
{
	struct rr_product *product = it->product;
	const int64_t end_ns = next_end_ns(product, work);
	const int64_t next_ns = lesser(it->next_ns, end_ns);
	bool changes = false, later = false;
	struct work near = *work;

	if (!all_are_refused(product, work, false, &changes))
		return !product->error[0];
	if (next_ns == RR_NEVER)
		return emit_blind_wait(it, work, changes);
	if (next_ns < end_ns)
		return emit_wait(it, work, RR_DO_WAIT, next_ns, false);
	if (next_ns > SHORTLY_NS) {
		struct rr_actions *log = product->log;

		product->log = NULL;
		if (!tick(product, &near, next_ns - SHORTLY_NS))
			return false;
		product->log = log;
	}
	if (all_are_refused(product, &near, true, &later))
		return emit_wait(it, work, RR_DO_WAIT, next_ns, false);
	if (product->error[0])
		return false;
	if (product->config.bounded && it->n_moves == 0 &&
	    it->next_ns == RR_NEVER) {
		it->flags |= RR_STATE_STARVED;
		/* Once more, to show it. */
		if (common_of(product, work)->waits > 0)
			return true;
	}
	return next_ns <= SHORTLY_NS ||
	       emit_wait(it, work, RR_DO_NEAR, next_ns - SHORTLY_NS, false);
}

/* ---- The whole ------------------------------------------------------------ */

static bool emit_late(struct expansion *it, const struct work *work, size_t i)
{
	struct rr_product *product = it->product;
	struct rr_common common = *common_of(product, work);
	const struct rr_late late = common.late[i];
	const uint32_t before = snapshot_of(product, work, late.server)->lock;
	const struct rr_question question = { .kind = RR_ASK_COMMAND,
					      .slot = late.slot,
					      .argument = late.command };
	struct work next = *work;
	const struct rr_server_row *row;

	common.left.late--;
	common.n_late--;
	memmove(&common.late[i], &common.late[i + 1],
		(common.n_late - i) * sizeof(late));
	if (common.left.late == 0)
		common.n_late = 0;
	memset(&common.late[common.n_late], 0,
	       (RR_LATE_MAX - common.n_late) * sizeof(late));
	if (!put_common(product, &next, &common))
		return false;
	row = ask(product, &next, late.server, &question);
	if (!row)
		return false;
	/* One that would wait finds that its client is gone. */
	if (!row->blocks) {
		next.key[late.server] = row->to;
		note(product, (struct rr_action){
				      .kind = RR_ACTION_ASK,
				      .client = late.slot / RR_RUN_ORDINALS,
				      .server = late.server,
				      .is_late = true,
				      .question = question,
				      .command = late.command,
				      .reply = row->reply });
	}
	return note_lock(product, &next, late.server, before,
			 late.slot / RR_RUN_ORDINALS) &&
	       emit_kind(it, RR_DO_LATE, i, &next);
}

/* Of several late commands of one connection the first comes first. */
static bool emit_lates(struct expansion *it, const struct work *work)
{
	const struct rr_common common = *common_of(it->product, work);

	for (size_t i = 0; i < common.n_late; i++) {
		size_t first = 0;

		while (common.late[first].slot != common.late[i].slot ||
		       common.late[first].server != common.late[i].server)
			first++;
		if (first == i && !emit_late(it, work, i))
			return false;
	}
	return true;
}

/* A server notices that a dead client listens no more. */
static bool emit_notices(struct expansion *it, const struct work *work)
{
	struct rr_product *product = it->product;

	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part part = get_part(product, work, i);

		for (int lane = 0; part.is_crashed &&
				   lane < RR_RUN_ORDINALS *
						  (int)product->n_servers;
		     lane++) {
			const size_t server = server_of(product, lane);
			struct work next = *work;

			if (!close_slot(product, &next, server,
					slot_of(product, i, lane)))
				return false;
			if (next.key[server] != work->key[server] &&
			    !emit(it, (struct rr_transition){ RR_DO_NOTICE,
							(uint8_t)i,
							(uint8_t)lane },
				  &next))
				return false;
		}
	}
	return true;
}

static bool emit_return(struct expansion *it, const struct work *work)
{
	struct rr_product *product = it->product;
	struct rr_common common = *common_of(product, work);
	const int8_t server = common.down;
	struct work next = *work;

	if (server < 0 || common.down_ns > 0)
		return true;
	common.down = -1;
	note(product, (struct rr_action){ .kind = RR_ACTION_UP,
					  .server = (uint8_t)server });
	return put_common(product, &next, &common) &&
	       emit_kind(it, RR_DO_RETURN, server, &next);
}

static bool is_final(const struct rr_product *product, const struct work *work)
{
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part part = get_part(product, work, i);

		if (!has_ended(product, i, &part))
			return false;
	}
	return true;
}

bool rr_product_expand(struct rr_product *product, const uint32_t *key,
		       rr_emit emit_move, void *context, unsigned *flags)
{
	struct expansion it = { .product = product,
				.key = key,
				.emit = emit_move,
				.context = context,
				.only = -1,
				.next_ns = RR_NEVER };
	const size_t log_kept = product->log ? product->log->n : 0;
	struct work work = { .broken = 0 };

	product->log_kept = log_kept;
	memcpy(work.key, key, product->n_words * sizeof(*key));
	if (is_final(product, &work)) {
		*flags = RR_STATE_FINAL;
		return emit_lates(&it, &work) && !it.stopped;
	}
	for (size_t i = 0; i < product->n_clients; i++) {
		if (!emit_client(&it, &work, i) || it.stopped)
			return false;
		keep_log(product, log_kept);
	}
	if (!emit_lates(&it, &work) || !emit_notices(&it, &work) ||
	    !emit_return(&it, &work) || !emit_faults(&it, &work))
		return false;
	if (it.n_busy == 0 && !emit_quiet(&it, &work))
		return false;
	*flags = it.flags;
	return !product->error[0] && !it.stopped;
}

bool rr_product_count(struct rr_product *product, const uint32_t *key,
		      struct rr_count *count)
{
	const struct rr_question question = {
		.kind = RR_ASK_COMMAND,
		.slot = RR_ASKER_SLOTS - 1,
		.argument = product->get_counter,
	};
	struct work work;
	const struct rr_server_row *row;

	memcpy(work.key, key, product->n_words * sizeof(*key));
	row = ask(product, &work, 0, &question);
	if (!row)
		return false;
	*count = (struct rr_count){ 0 };
	count->is_number = rr_count_of(
		&product->config.program->terms->reply[row->reply].reply,
		&count->value);
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part part = get_part(product, &work, i);
		const struct rr_run_tally *tally =
			&state_of(product, i, &part)->tally;

		if (part.is_crashed) {
			count->least += part.ok;
			count->most += part.ok + part.unknown + part.cut;
		} else {
			count->least += tally->ok;
			count->most += tally->ok + tally->unknown;
		}
	}
	return true;
}

/* ---- Making and freeing --------------------------------------------------- */

static bool begin_parts(struct rr_product *product, struct work *work)
{
	for (size_t i = 0; i < product->n_clients; i++) {
		struct rr_part part;

		memset(&part, 0, sizeof(part));
		if (!put_part(product, work, i, &part))
			return false;
	}
	return true;
}

/* What clients do before their first attempts is done by one after the other. */
static bool open_all(struct rr_product *product, struct work *work)
{
	for (size_t i = 0; i < product->n_clients; i++) {
		for (int n = 0; n < SOLO_STEPS_MAX; n++) {
			const struct rr_part part = get_part(product, work, i);
			struct solo solo = { .found = false };
			struct expansion it = { .product = product,
						.emit = take_first,
						.context = &solo,
						.only = (int)i,
						.next_ns = RR_NEVER };

			if (!product->config.strategy ||
			    state_of(product, i, &part)->is_attempt ||
			    has_ended(product, i, &part))
				break;
			product->log_kept = product->log ? product->log->n : 0;
			emit_client(&it, work, i);
			if (!solo.found)
				break;
			memcpy(work->key, solo.key, sizeof(work->key));
		}
	}
	return !product->error[0];
}

bool rr_product_begin(struct rr_product *product, rr_state_key key)
{
	struct work work = { .broken = 0 };
	struct rr_common common;

	memset(&work, 0, sizeof(work));
	memset(&common, 0, sizeof(common));
	common.left = product->config.budget;
	common.left.expiries *= 2;
	common.left.pauses *= 2;
	common.down = -1;
	memset(common.makers, -1, sizeof(common.makers));
	if (!begin_parts(product, &work) || !put_common(product, &work, &common) ||
	    !open_all(product, &work))
		return false;
	memcpy(key, work.key, sizeof(work.key));
	return true;
}

bool rr_product_init(struct rr_product *product,
		     const struct rr_product_config *config,
		     struct rr_server_table *data,
		     struct rr_server_table *locks)
{
	const struct rr_program *program = config->program;
	const char *const get[] = { "GET",
				    config->counter ? config->counter : "-",
				    NULL };

	*product = (struct rr_product){
		.config = *config,
		.n_clients = program->n_clients,
		.n_servers = program->n_servers,
		.n_words = program->n_servers + program->n_clients + 1,
		.tables = { data, locks ? locks : data },
		.clients = calloc(program->n_clients,
				  sizeof(*product->clients)),
	};
	if (!product->clients)
		return fail(product, RR_EXIT_INTERNAL, "out of memory");
	product->get_counter = rr_terms_words(program->terms, get);
	for (size_t i = 0; i < product->n_clients; i++) {
		if (!rr_client_table_init(&product->clients[i], program, (int)i,
					  config->remembers))
			return fail(product, RR_EXIT_INTERNAL,
				    product->clients[i].error);
	}
	return true;
}

void rr_product_release(struct rr_product *product)
{
	for (size_t i = 0; product->clients && i < product->n_clients; i++)
		rr_client_table_release(&product->clients[i]);
	free(product->clients);
	rr_intern_release(&product->parts);
	rr_intern_release(&product->commons);
	product->clients = NULL;
}
