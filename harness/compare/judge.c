/* SPDX-License-Identifier: MIT */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/reply.h"

/* Steps of a program alone, that may do as much as it likes but has to come to an end. */
enum { ALONE_STEPS_MAX = 20000, SUCCESSORS_MAX = 2 };

static bool fail_judge(struct rr_judge *judge, const struct rr_error *error)
{
	return rr_error_set(&judge->error, error->kind, "%s", error->text);
}

/* Is there an error, or does a search begin again: of the clients, or of those that run alone? */
static bool has_failed(const struct rr_judge *judge)
{
	unsigned withdrawn = rr_beliefs_withdrawn(judge->setup.product->config.program->beliefs) |
			     rr_beliefs_withdrawn(judge->checker.program.beliefs);

	for (int i = 0; i < RR_SUCCESSORS; i++)
		withdrawn |= rr_beliefs_withdrawn(judge->successors[i].program.beliefs);
	return judge->error.kind || withdrawn & RR_BELIEFS_STOP;
}

static struct rr_server_table *table_of_judge(const struct rr_judge *judge)
{
	return judge->setup.product->tables[0];
}

/* ---- Making ------------------------------------------------------------------ */

/* It has the tables of the others. */
static bool open_alone(struct rr_judge *judge, struct rr_alone *alone, size_t n_clients,
		       const struct rr_explored_programs *of, struct rr_beliefs *beliefs)
{
	struct rr_product_config config = judge->setup.product->config;

	if (!of->ops)
		return true;
	alone->program = *config.program;
	alone->program.n_clients = n_clients;
	alone->program.mutate = NULL;
	alone->program.beliefs = beliefs;
	of->ops->init(of->context, &alone->program);
	config.program = &alone->program;
	config.budget = (struct rr_budget){ 0 };
	rr_product_reduce_nothing(&config);
	alone->is_open = true;
	of->ops->begin_search(of->context, rr_beliefs_begin(beliefs));
	return rr_product_init(&alone->product, &config, table_of_judge(judge), NULL) ||
	       fail_judge(judge, &alone->product.error);
}

/* Does a server answer so between two clients of a serial order? */
static bool answers_between(void *context, uint32_t command, uint32_t reply)
{
	struct rr_judge *judge = context;
	const struct rr_question question = { .kind = RR_ASK_COMMAND,
					      .slot = RR_LOOKING_SLOT,
					      .argument = command };

	for (uint32_t i = 0; i < judge->serial.ends.n; i++) {
		const struct rr_serial_end *end = rr_intern_get(&judge->serial.ends, i);
		const struct rr_server_row *row;

		if (!rr_serial_used_nothing(&end->used))
			continue;
		row = rr_server_table_ask(table_of_judge(judge), end->server, &question);
		if (row && !row->blocks && row->reply == reply)
			return true;
	}
	return false;
}

bool rr_judge_init(struct rr_judge *judge, const struct rr_judge_setup *setup, unsigned long most)
{
	struct rr_programs *processes = setup->programs->processes;
	const struct rr_comparison *comparison = setup->comparison;
	struct rr_product *product = setup->product;
	const struct rr_server_table *table = product->tables[0];
	bool good;

	*judge = (struct rr_judge){
		.setup = *setup,
		.contents = { .table = product->tables[0],
			      .programs = processes,
			      .n_clients = product->n_clients,
			      .ignored = comparison->ignored,
			      .n_ignored = comparison->n_ignored,
			      .day_ns = product->config.day_ns },
	};
	judge->serial.is_cut = true;
	if (most && !rr_serial_learn(&judge->serial, product, setup->deadline, most,
				     comparison->is_partial, NULL))
		return fail_judge(judge, &product->error);
	if (processes)
		rr_serial_tell(&judge->serial, processes);
	/* Commands after which the data are others, with their replies. */
	for (uint32_t i = 0; i < table->rows.n && processes; i++) {
		const struct rr_server_row *row = &table->row[i];

		if (row->question.kind != RR_ASK_COMMAND || row->blocks ||
		    table->states[row->from].contents == table->states[row->to].contents)
			continue;
		rr_waiting_note_change(
			&processes->waiting,
			rr_programs_terms(processes)->command[row->question.argument].kind,
			row->reply);
		processes->change_data = true;
	}
	if (processes) {
		processes->waiting.answers = answers_between;
		processes->waiting.context = judge;
	}
	if (processes && rr_programs_compare_times(processes, product->time_has_passed))
		judge->contents.day_ns = 0;
	good = open_alone(judge, &judge->checker, 1, &comparison->checker, setup->of_checker);
	for (int i = 0; i < RR_SUCCESSORS && good; i++)
		good = open_alone(judge, &judge->successors[i], product->config.program->n_clients,
				  &comparison->successors[i], &setup->of_successors[i]);
	return good;
}

static void release_alone(struct rr_alone *alone)
{
	if (alone->is_open)
		rr_product_release(&alone->product);
	alone->is_open = false;
}

void rr_judge_release(struct rr_judge *judge)
{
	if (judge->setup.programs && judge->setup.programs->processes)
		judge->setup.programs->processes->waiting.answers = NULL;
	rr_serial_release(&judge->serial);
	rr_serial_release(&judge->partial);
	rr_serial_release(&judge->later);
	free(judge->beginnings.all);
	judge->beginnings = (struct rr_beginnings){ 0 };
	judge->partial.deadline = NULL;
	rr_contents_release(&judge->contents);
	rr_upkeep_release(&judge->upkeep);
	release_alone(&judge->checker);
	for (int i = 0; i < RR_SUCCESSORS; i++) {
		release_alone(&judge->successors[i]);
		rr_intern_release(&judge->repeats[i]);
		judge->has_repeats[i] = false;
	}
	rr_intern_release(&judge->checked);
	free(judge->said);
	judge->said = NULL;
}

/* ---- What is expected of the data ---------------------------------------------- */

static size_t count_operations(const struct rr_judge *judge)
{
	return rr_program_operations(judge->setup.product->config.program);
}

/* As bits. */
static uint32_t all_operations(const struct rr_judge *judge)
{
	return (1U << count_operations(judge)) - 1;
}

/* As a user types it: the bare text, or as redis-cli prints it. */
static bool is_value(const struct rdl_reply *reply, const char *value)
{
	char *text = NULL, number[24];
	FILE *file;
	bool is;

	if (reply->text && reply->length == strlen(value) &&
	    memcmp(reply->text, value, reply->length) == 0)
		return true;
	snprintf(number, sizeof(number), "%lld", (long long)reply->integer);
	if (reply->type == RDL_REPLY_INTEGER && strcmp(number, value) == 0)
		return true;
	file = rr_open_text(&text);
	rr_write_reply(file, reply);
	fclose(file);
	is = strcmp(text, value) == 0;
	free(text);
	return is;
}

/* Does the server refuse the command itself, whatever its data are? */
static bool is_no_command(const struct rdl_reply *reply)
{
	static const char *const refusals[] = { "ERR unknown ", "ERR wrong number of arguments",
						"ERR syntax error" };
	bool is = false;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		is |= reply->type == RDL_REPLY_FAILED &&
		      strncmp(reply->text, refusals[i], strlen(refusals[i])) == 0;
	return is;
}

/* --final is about the work of all clients: who has not done its own is not held
 * to it. `good`: who has, as bits. What is not as expected is printed to `out`, a line each; NULL:
 * not. */
static bool is_as_expected(struct rr_judge *judge, uint32_t server, uint32_t good, FILE *out)
{
	const struct rr_comparison *comparison = judge->setup.comparison;
	bool is = true;

	for (size_t i = 0; good == all_operations(judge) && i < comparison->n_expected; i++) {
		const struct rr_expected *expected = &comparison->expected[i];
		const struct rdl_reply *reply = rr_contents_ask(
			&judge->contents, server,
			rr_terms_command(table_of_judge(judge)->terms, expected->asked));
		char *words;

		if (!reply || is_value(reply, expected->value))
			continue;
		is = false;
		words = rr_command_text(expected->asked->words, expected->asked->n_words, 0);
		if (is_no_command(reply)) {
			rr_error_set(&judge->error, RR_ERROR_USAGE,
				     "--final: '%.200s' is refused: %.200s", words, reply->text);
			free(words);
			break;
		}
		if (!out) {
			free(words);
			break;
		}
		fprintf(out, "%s => ", words);
		rr_write_reply(out, reply);
		fprintf(out, ", expected %s\n", expected->value);
		free(words);
	}
	return is;
}

/* ---- Programs alone ---------------------------------------------------------------- */

const struct rr_edge *rr_judge_step_alone(struct rr_product *product, const uint32_t *key,
					  size_t client)
{
	const struct rr_edges *edges = rr_product_list(product, key);

	for (size_t i = 0; edges && i < edges->n; i++) {
		const struct rr_transition it = edges->all[i].transition;

		if (rr_transition_is_own_step(it) && it.who == client)
			return rr_product_take(product, key, it);
	}
	return NULL;
}

enum alone_end {
	ALONE_ENDED,
	ALONE_WAITS,   /* for others, or it goes round in a loop */
	ALONE_FAILED,  /* judge->error */
	ALONE_ENDLESS, /* it has made ALONE_STEPS_MAX steps */
};

/* The same from the beginning, on the data of a state. */
static enum alone_end begin_alone(struct rr_judge *judge, struct rr_alone *alone, size_t client,
				  uint32_t server, rr_state_key key)
{
	static const char *const reset[] = { "RESET", NULL };
	struct rr_server_table *table;
	struct rr_question question;
	struct rr_intern seen = { 0 };
	enum alone_end end = ALONE_ENDLESS;

	if (!rr_product_begin(&alone->product, key, NULL)) {
		fail_judge(judge, &alone->product.error);
		return ALONE_FAILED;
	}
	/* What was on the clients' connections is nothing to it. */
	table = table_of_judge(judge);
	question = (struct rr_question){
		.kind = RR_ASK_COMMAND,
		.argument = rr_terms_words(table->terms, reset),
	};
	for (; question.slot < RR_RUN_ORDINALS * RR_RUN_CLIENTS && server != RR_NO_ID;
	     question.slot++) {
		if (rr_server_table_connection(table, server, question.slot))
			server = rr_contents_after(&judge->contents, server, &question);
	}
	key[0] = server;
	if (key[0] == RR_NO_ID) {
		fail_judge(judge, &table_of_judge(judge)->error);
		return ALONE_FAILED;
	}
	for (int i = 0; i < ALONE_STEPS_MAX && end == ALONE_ENDLESS; i++) {
		const struct rr_edge *edge;
		bool is_new;

		rr_intern_put(&seen, key, alone->product.n_words * sizeof(key[0]), &is_new);
		if (rr_product_is_over(&alone->product, key, client)) {
			end = ALONE_ENDED;
			break;
		}
		edge = is_new ? rr_judge_step_alone(&alone->product, key, client) : NULL;
		if (edge)
			memcpy(key, edge->key, alone->product.n_words * sizeof(key[0]));
		else
			end = rr_product_failed(&alone->product) ? ALONE_FAILED : ALONE_WAITS;
	}
	rr_intern_release(&seen);
	if (end == ALONE_FAILED)
		fail_judge(judge, &alone->product.error);
	return end;
}

/* ---- The checker ----------------------------------------------------------------- */

/* Runs it on the data of a state, once for each state of the server. How it ended: 0 = well, else its
 * number + 1; -1: the error. */
static int32_t check_data(struct rr_judge *judge, uint32_t server)
{
	uint32_t number = rr_intern_find(&judge->checked, &server, sizeof(server));
	const struct rr_client_state *client;
	rr_state_key key;
	enum alone_end end;
	int32_t said = -1;

	if (!judge->checker.is_open)
		return 0;
	if (number != RR_NO_ID)
		return judge->said[number];
	end = begin_alone(judge, &judge->checker, 0, server, key);
	if (end == ALONE_ENDED) {
		client = rr_product_client(&judge->checker.product, key, 0);
		said = client->tally.failed ? (int32_t)client->tally.ending + 1 : 0;
	} else if (end != ALONE_FAILED) {
		rr_error_set(
			&judge->error, RR_ERROR_DATA,
			"the command of --check does not come to an end: it must exit when it has looked");
	}
	rr_array_grow(&judge->said, judge->checked.n, sizeof(*judge->said));
	number = rr_intern_put(&judge->checked, &server, sizeof(server), NULL);
	judge->said[number] = said;
	return said;
}

/* ---- After a crash ------------------------------------------------------------------- */

/* Operations that a client had begun, or would have, when it crashed or failed. What an app does in the turn of
 * one request may be another process's, a worker's, so that it counts as crashed in all of them. */
static uint32_t crashed_operations(const struct rr_judge *judge, const uint32_t *key)
{
	const struct rr_product *product = judge->setup.product;
	const struct rr_serial_end end = rr_serial_end_of(product, key, 0);
	uint32_t crashed = 0;

	for (size_t i = 0; i < count_operations(judge); i++) {
		const size_t client = rr_product_client_of(product, key, i);

		if (end.endings[i] < 0 && rr_product_part(product, key, client)->is_crashed)
			crashed |= 1U << i;
	}
	/* Who has lost a reply and fails does not know what it holds. */
	if (end.used.of[RR_LOST_REPLIES])
		crashed |= all_operations(judge) & ~end.good;
	for (size_t i = 0; product->config.program->requests.n && i < product->n_clients; i++) {
		if (rr_product_part(product, key, i)->is_crashed)
			crashed = all_operations(judge);
	}
	return crashed;
}

/* The server's state after a client's successor has run; RR_NO_ID: judge->error. One that waits for
 * others has come to its end. */
static uint32_t run_successor(struct rr_judge *judge, enum rr_successor when, size_t client,
			      uint32_t server)
{
	const struct rr_question tick = { .kind = RR_ASK_TICK, .argument = RR_SUCCESSOR_LATER_NS };
	rr_state_key key;
	enum alone_end end;

	if (when == RR_SUCCESSOR_LATER)
		server = rr_contents_after(&judge->contents, server, &tick);
	if (server == RR_NO_ID) {
		fail_judge(judge, &table_of_judge(judge)->error);
		return RR_NO_ID;
	}
	end = begin_alone(judge, &judge->successors[when], client, server, key);
	if (end == ALONE_ENDLESS)
		rr_error_set(
			&judge->error, RR_ERROR_DATA,
			"the program does not come to an end when it is run once more after a crash: let it end with the data that a crash leaves");
	return end == ALONE_FAILED || end == ALONE_ENDLESS ? RR_NO_ID : key[0];
}

/* Does a serial execution in which the operation succeeds leave that (a number)? */
static bool is_work_done(struct rr_judge *judge, size_t operation, uint32_t number)
{
	for (uint32_t i = 0; i < judge->serial.ends.n; i++) {
		const struct rr_serial_end *end = rr_intern_get(&judge->serial.ends, i);

		if (end->good >> operation & 1 &&
		    rr_contents_number(&judge->contents, end->server) == number)
			return true;
	}
	return false;
}

static bool add_repeat(struct rr_judge *judge, enum rr_successor when, uint32_t operation,
		       uint32_t server)
{
	const uint32_t end = run_successor(judge, when, operation, server);
	const uint32_t repeat[] = { operation, end == RR_NO_ID ?
						       RR_NO_ID :
						       rr_contents_number(&judge->contents, end) };

	rr_intern_put(&judge->repeats[when], repeat, sizeof(repeat), NULL);
	return repeat[1] != RR_NO_ID;
}

/* What is left where an operation is done, and then done once more: at the end of a serial
 * execution, or where only its record was left to be removed. */
static bool learn_repeats(struct rr_judge *judge, enum rr_successor when)
{
	const struct rr_serial *serial = &judge->serial;
	struct rr_intern seen = { 0 };
	struct rr_leftovers left = { .contents = &judge->contents };
	bool good = true, is_new;

	judge->has_repeats[when] = true;
	for (uint32_t i = 0; i < serial->ends.n && good; i++) {
		const struct rr_serial_end *end = rr_intern_get(&serial->ends, i);

		for (uint32_t j = 0; j < count_operations(judge) && good; j++) {
			if (end->good >> j & 1)
				good = add_repeat(judge, when, j, end->server);
		}
	}
	for (uint32_t i = 0; i < serial->orders.n && good; i++) {
		const uint8_t whose = serial->predecessors[i].whose;
		const uint32_t place[] = { whose, rr_serial_server(serial, i) };

		rr_intern_put(&seen, place, sizeof(place), &is_new);
		if (whose == RR_NO_OPERATION || !is_new)
			continue;
		good = rr_leftovers_find(&left, &judge->upkeep, place[1], 1U << whose);
		if (good && left.n_records && is_work_done(judge, whose, left.cleared))
			good = add_repeat(judge, when, whose,
					  rr_leftovers_end_leases(&left, place[1]));
	}
	rr_intern_release(&seen);
	return good;
}

static bool is_done_twice(struct rr_judge *judge, enum rr_successor when, uint32_t crashed,
			  uint32_t number)
{
	if (!judge->has_repeats[when] && !learn_repeats(judge, when))
		return false;
	for (uint32_t i = 0; i < judge->repeats[when].n; i++) {
		const uint32_t *repeat = rr_intern_get(&judge->repeats[when], i);

		if (crashed >> repeat[0] & 1 &&
		    rr_contents_numbers_are_alike(&judge->contents, number, repeat[1]))
			return true;
	}
	return false;
}

static struct rr_final final_of(struct rr_judge *judge, const struct rr_serial *serial,
				const uint32_t *key)
{
	return (struct rr_final){ .serial = serial,
				  .product = judge->setup.product,
				  .key = key,
				  .end = rr_serial_end_of(judge->setup.product, key, 0),
				  .contents = &judge->contents,
				  .programs = judge->setup.programs,
				  .is_strict = judge->setup.comparison->strict_exits };
}

static enum rr_anomaly name_shortfall(const struct rr_final *final, const struct rr_leftovers *left,
				      uint32_t crashed)
{
	static const enum rr_anomaly names[] = {
		[RR_SHORT_OF_WORK] = RR_ANOMALY_HALF_DONE,
		[RR_SHORT_OF_TIMES] = RR_ANOMALY_LEFT_WITHOUT_LEASE,
		[RR_SHORT_OF_PARTS] = RR_ANOMALY_TAKEN_AND_NOT_DONE
	};

	const bool is_app = final->product->config.program->requests.n > 0;
	const enum rr_shortfall shortfall = rr_serial_shortfall(final, left, is_app ? 0 : crashed);

	/* What an app forgets in a crash is not half of anything. */
	return is_app && shortfall == RR_SHORT_OF_WORK ? RR_ANOMALY_NONE : names[shortfall];
}

/* What a successor makes of it. `verdict` is that of the state without leftovers, and then that of
 * what the successor leaves. What is wrong is returned; none: nothing is, or the judge has an
 * error. */
static enum rr_anomaly judge_successor(struct rr_judge *judge, const struct rr_final *final,
				       uint32_t crashed, const struct rr_leftovers *left,
				       enum rr_successor when, struct rr_serial_verdict *verdict,
				       uint32_t *end)
{
	const struct rr_comparison *comparison = judge->setup.comparison;
	const bool is_mixture = !verdict->allows_data;
	uint32_t server = rr_leftovers_end_leases(left, final->key[0]);
	struct rr_leftovers after = { .contents = &judge->contents, .lapse_ns = left->lapse_ns };
	const struct rr_serial_question question = {
		.left = &after,
		.must_run = comparison->restarts ? crashed : 0,
		.later_ns = when == RR_SUCCESSOR_LATER ? RR_SUCCESSOR_LATER_NS : 0,
	};

	/* One that finds other work to do first is followed by another. */
	for (int runs = 0; runs < SUCCESSORS_MAX && (runs == 0 || after.n_records); runs++) {
		for (size_t i = 0; i < count_operations(judge); i++) {
			if (crashed >> i & 1)
				server = run_successor(judge, when, i, server);
		}
		*end = server;
		if (server == RR_NO_ID ||
		    !rr_leftovers_find(&after, &judge->upkeep, server, crashed))
			return RR_ANOMALY_NONE;
	}
	if (after.n_records)
		return is_mixture ? name_shortfall(final, &after, crashed) :
				    RR_ANOMALY_LEFT_WITHOUT_LEASE;
	if (!is_mixture && !comparison->restarts)
		return RR_ANOMALY_NONE;
	*verdict = rr_serial_judge(final, &question);
	if (verdict->allows_data)
		return RR_ANOMALY_NONE;
	if (!is_done_twice(judge, when, crashed, after.cleared))
		return name_shortfall(final, &after, crashed);
	verdict->allows_data = verdict->allows_endings = !comparison->restarts ||
							 comparison->allows_repeats;
	return verdict->allows_data ? RR_ANOMALY_NONE : RR_ANOMALY_DONE_TWICE;
}

/* The state in which clients have crashed, without what they have left; and what becomes of it. */
static struct rr_serial_verdict judge_crashed(struct rr_judge *judge, const uint32_t *key,
					      uint32_t crashed, struct rr_judgement *judgement)
{
	const struct rr_final final = final_of(judge, &judge->serial, key);
	const bool has_successors = judge->successors[0].is_open;
	const struct rr_common *common = rr_product_common(judge->setup.product, key);
	struct rr_leftovers left = { .contents = &judge->contents,
				     .lapse_ns = common->lapse_ns,
				     .locks = judge->setup.product->config.locks,
				     .makers = common->makers };
	const struct rr_serial_question question = { .left = &left };
	struct rr_serial_verdict verdict = { 0 }, first;

	if (!judge->upkeep.is_known &&
	    !rr_upkeep_learn(&judge->upkeep, &judge->serial, &judge->contents))
		return verdict;
	if (!rr_leftovers_find(&left, &judge->upkeep, key[0], crashed))
		return verdict;
	first = verdict = rr_serial_judge(&final, &question);
	if (has_successors && (left.n_records || judge->setup.comparison->restarts)) {
		for (int i = 0; i < RR_SUCCESSORS; i++) {
			enum rr_anomaly anomaly;
			uint32_t end;

			verdict = first;
			anomaly = judge_successor(judge, &final, crashed, &left,
						  (enum rr_successor)i, &verdict, &end);
			if (has_failed(judge))
				break;
			/* What comes of it at once is what is shown. */
			if (i == 0 || !anomaly) {
				judgement->anomaly = anomaly;
				judgement->successor = end;
			}
			if (!anomaly)
				return verdict;
		}
		verdict.allows_data = verdict.allows_endings = false;
		return verdict;
	}
	if (left.n_records && verdict.allows_data) {
		judgement->anomaly = RR_ANOMALY_LEFT_WITHOUT_LEASE;
		verdict.allows_data = verdict.allows_endings = false;
	} else if (!verdict.allows_data) {
		judgement->anomaly = name_shortfall(&final, &left, crashed);
	}
	return verdict;
}

/* Serial executions that have the faults of the state, too, learned once. */
static bool allows_endings(struct rr_judge *judge, const uint32_t *key)
{
	struct rr_serial *partial = &judge->partial;

	struct rr_final final;

	if (!partial->deadline &&
	    !rr_serial_learn(partial, judge->setup.product, judge->setup.deadline, RR_SERIAL_MOST,
			     true, NULL))
		return fail_judge(judge, &judge->setup.product->error);
	if (judge->setup.programs->processes)
		rr_serial_tell(partial, judge->setup.programs->processes);
	final = final_of(judge, partial, key);
	return rr_serial_allows_endings(&final);
}

/* ---- Judging --------------------------------------------------------------------- */

bool rr_judge_final(struct rr_judge *judge, const uint32_t *key, struct rr_judgement *judgement)
{
	const struct rr_error *of_table = &table_of_judge(judge)->error;

	*judgement = (struct rr_judgement){ .successor = RR_NO_ID };
	if (!judge->serial.is_cut && judge->serial.has_whole) {
		const struct rr_serial_question question = { .left = NULL };
		const bool is_partial = judge->setup.comparison->is_partial;
		const uint32_t crashed = is_partial ? 0 : crashed_operations(judge, key);
		const struct rr_final final = final_of(judge, &judge->serial, key);
		struct rr_serial_verdict verdict = crashed ? judge_crashed(judge, key, crashed,
									   judgement) :
							     rr_serial_judge(&final, &question);

		if (verdict.allows_data && !verdict.allows_endings && !is_partial &&
		    rr_budget_has_faults(&judge->setup.product->config.budget))
			verdict.allows_endings = allows_endings(judge, key);
		if (rr_deadline_is_late(judge->setup.deadline))
			return rr_error_interrupted(&judge->error);
		judgement->failures = verdict.failures;
		judgement->is_untimely = verdict.is_untimely;
		judge->moved_outputs |= verdict.moved_outputs;
		if (!verdict.allows_data &&
		    !(judge->setup.comparison->plants & RR_PLANT_EXCUSED_DATA))
			judgement->found |= RR_OUTCOME_NOT_SERIAL;
		else if (!verdict.allows_endings &&
			 !(judge->setup.comparison->plants & RR_PLANT_EXCUSED_OUTPUTS))
			judgement->found |= RR_OUTCOME_OUTPUTS;
	}
	if (!is_as_expected(judge, key[0], rr_serial_good(judge->setup.product, key), NULL) ||
	    check_data(judge, key[0]) != 0)
		judgement->found |= RR_OUTCOME_UNEXPECTED;
	return !has_failed(judge) &&
	       (of_table->kind == RR_ERROR_NONE || fail_judge(judge, of_table));
}

/* ---- Serial orders that begin later -------------------------------------------------------- */

bool rr_judge_later(struct rr_judge *judge, const uint32_t *key, struct rr_beginnings *beginnings,
		    bool *is)
{
	const struct rr_serial_question question = { .left = NULL };
	struct rr_serial_verdict verdict;
	struct rr_final final;

	*is = false;
	if (beginnings->n == judge->beginnings.n && beginnings->n > 0 &&
	    memcmp(beginnings->all, judge->beginnings.all,
		   beginnings->n * sizeof(*beginnings->all)) == 0) {
		free(beginnings->all);
	} else {
		rr_serial_release(&judge->later);
		free(judge->beginnings.all);
		judge->beginnings = *beginnings;
		if (!rr_serial_learn(&judge->later, judge->setup.product, judge->setup.deadline,
				     RR_SERIAL_MOST, judge->setup.comparison->is_partial,
				     &judge->beginnings))
			return fail_judge(judge, &judge->setup.product->error);
	}
	final = final_of(judge, &judge->later, key);
	verdict = rr_serial_judge(&final, &question);
	if (rr_deadline_is_late(judge->setup.deadline))
		return rr_error_interrupted(&judge->error);
	*is = verdict.allows_data && verdict.allows_endings;
	if (*is)
		judge->moved_outputs |= verdict.moved_outputs;
	return !has_failed(judge);
}

uint32_t rr_judge_nearest(struct rr_judge *judge, const uint32_t *key)
{
	const struct rr_final final = final_of(judge, &judge->serial, key);

	return judge->serial.is_cut ? RR_NO_ID : rr_serial_nearest(&final);
}

static bool have_same_endings(const struct rr_product *product, const uint32_t *a,
			      const uint32_t *b)
{
	for (size_t i = 0; i < product->n_clients; i++) {
		const bool is_crashed = rr_product_part(product, a, i)->is_crashed;

		if (is_crashed != rr_product_part(product, b, i)->is_crashed ||
		    (!is_crashed && rr_product_client(product, a, i)->tally.ending !=
					    rr_product_client(product, b, i)->tally.ending))
			return false;
	}
	return true;
}

bool rr_judge_are_alike(struct rr_judge *judge, const uint32_t *a, const uint32_t *b)
{
	struct rr_judgement judgement;

	if (!rr_contents_are_same(&judge->contents, a[0], b[0]))
		return false;
	return have_same_endings(judge->setup.product, a, b) ||
	       !rr_judge_final(judge, a, &judgement) || !(judgement.found & RR_OUTCOME_OUTPUTS);
}

char *rr_judge_unexpected(struct rr_judge *judge, const uint32_t *key)
{
	const int32_t said = check_data(judge, key[0]);
	char *text = NULL;
	size_t size;
	FILE *file = rr_open_memory(&text, &size);

	is_as_expected(judge, key[0], rr_serial_good(judge->setup.product, key), file);
	if (said > 0) {
		fputs("the command of --check ", file);
		rr_programs_print_ending(judge->setup.comparison->checker.processes, said - 1,
					 file);
	}
	fclose(file);
	if (size > 0)
		return text;
	free(text);
	return NULL;
}

/* ---- What is wrong without any interleaving ------------------------------------------ */

/* Can a client or a request that runs alone leave one thing or another? */
static bool can_differ_alone(struct rr_judge *judge, size_t operation)
{
	const struct rr_serial_end *first = NULL;

	for (uint32_t i = 0; i < judge->serial.ends.n; i++) {
		const struct rr_serial_end *end = rr_intern_get(&judge->serial.ends, i);

		if (end->ran != 1U << operation || !rr_serial_used_nothing(&end->used))
			continue;
		if (first && (first->good != end->good ||
			      !rr_contents_are_same(&judge->contents, first->server, end->server)))
			return true;
		first = first ? first : end;
	}
	return false;
}

static bool is_serial_end_unexpected(struct rr_judge *judge)
{
	for (uint32_t i = 0; i < judge->serial.ends.n; i++) {
		const struct rr_serial_end *end = rr_intern_get(&judge->serial.ends, i);

		if (rr_deadline_is_late(judge->setup.deadline))
			return false;
		if (end->ran == all_operations(judge) && rr_serial_used_nothing(&end->used) &&
		    (!is_as_expected(judge, end->server, end->good, NULL) ||
		     check_data(judge, end->server) != 0))
			return true;
	}
	return false;
}

char *rr_judge_serial_orders(struct rr_judge *judge)
{
	const bool is_app = judge->setup.product->config.program->requests.n > 0;
	char *text = NULL;
	size_t size;
	FILE *file = rr_open_memory(&text, &size);

	for (size_t i = 0; i < count_operations(judge); i++) {
		if (rr_deadline_is_late(judge->setup.deadline))
			break;
		if (can_differ_alone(judge, i))
			fprintf(file,
				"Even when the %ss run one after the other, %s%c can end in several ways: its own connections race with each other.\n",
				is_app ? "request" : "client", is_app ? "request " : "",
				(char)((is_app ? '1' : 'A') + i));
	}
	if (is_serial_end_unexpected(judge))
		fprintf(file,
			"Even when the %ss run one after the other, the data are not as expected.\n",
			is_app ? "request" : "client");
	fclose(file);
	if (size > 0)
		return text;
	free(text);
	return NULL;
}

/* ---- Anomalies ----------------------------------------------------------------------- */

static const struct {
	const char *id, *name;
} anomalies[RR_ANOMALIES] = {
	[RR_ANOMALY_LOST_UPDATE] = { "lost_update", "lost update" },
	[RR_ANOMALY_RESURRECTED_DELETE] = { "resurrected_delete", "resurrected delete" },
	[RR_ANOMALY_CHECK_THEN_ACT] = { "check_then_act", "check-then-act" },
	[RR_ANOMALY_WRITE_SKEW] = { "write_skew", "write skew" },
	[RR_ANOMALY_STALE_READ] = { "stale_read", "stale read" },
	[RR_ANOMALY_LEFT_WITHOUT_LEASE] = { "left_without_lease", "left without TTL" },
	[RR_ANOMALY_HALF_DONE] = { "half_done", "half done" },
	[RR_ANOMALY_TAKEN_AND_NOT_DONE] = { "taken_and_not_done", "taken and not done" },
	[RR_ANOMALY_DONE_TWICE] = { "done_twice", "done twice when tried again" },
};

const char *rr_anomaly_id(enum rr_anomaly anomaly)
{
	return anomalies[anomaly].id;
}

const char *rr_anomaly_name(enum rr_anomaly anomaly)
{
	return anomalies[anomaly].name;
}
