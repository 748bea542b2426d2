/* SPDX-License-Identifier: MIT */
#include "search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/reply.h"

/* Steps of the checker, that may look at as much as it likes but has to end. */
enum { CHECKER_STEPS_MAX = 20000 };

/* Nobody's connection. */
enum { LOOKING_SLOT = RR_ASKER_SLOTS - 1 };

static bool fail_judge(struct rr_judge *judge, const struct rr_error *error)
{
	return rr_error_set(&judge->error, error->kind, "%s", error->text);
}

static struct rr_server_table *table_of_judge(const struct rr_judge *judge)
{
	return judge->product->tables[0];
}

/* ---- Making ------------------------------------------------------------------ */

/* The checker is a program alone, with the tables of the others. */
static bool open_checker(struct rr_judge *judge, const struct rr_program *programs)
{
	const struct rr_explored_programs *checker = &judge->config->checker;
	struct rr_product_config config = judge->product->config;

	if (!checker->init)
		return true;
	judge->checker = *programs;
	judge->checker.n_clients = 1;
	judge->checker.mutate = NULL;
	checker->init(checker->programs, &judge->checker);
	config.program = &judge->checker;
	config.budget = (struct rr_budget){ 0 };
	rr_product_reduce_nothing(&config);
	judge->has_checker = true;
	checker->begin_search(checker->programs);
	return rr_product_init(&judge->checking, &config, table_of_judge(judge), NULL) ||
	       fail_judge(judge, &judge->checking.error);
}

/* Commands after which the data are others, with their replies. */
static void tell_changes(const struct rr_server_table *table,
			 const struct rr_explored_programs *programs)
{
	for (uint32_t i = 0; i < table->rows.n; i++) {
		const struct rr_server_row *row = &table->row[i];

		if (row->question.kind == RR_ASK_COMMAND && !row->blocks &&
		    table->states[row->from].contents != table->states[row->to].contents)
			programs->note_change(programs->programs, (uint32_t)row->question.argument,
					      row->reply);
	}
}

static bool has_fault(const struct rr_serial_end *end)
{
	bool has = false;

	for (int i = 0; i < RR_BUDGETS; i++)
		has |= end->used.of[i] > 0;
	return has;
}

/* Does a server answer so between two clients of a serial order? */
static bool answers_between(void *context, uint32_t command, uint32_t reply)
{
	struct rr_judge *judge = context;
	const struct rr_question question = { .kind = RR_ASK_COMMAND,
					      .slot = LOOKING_SLOT,
					      .argument = command };

	for (uint32_t i = 0; i < judge->serial.ends.n; i++) {
		const struct rr_serial_end *end = rr_intern_get(&judge->serial.ends, i);
		const struct rr_server_row *row;

		if (has_fault(end))
			continue;
		row = rr_server_table_ask(table_of_judge(judge), end->server, &question);
		if (row && !row->blocks && row->reply == reply)
			return true;
	}
	return false;
}

bool rr_judge_init(struct rr_judge *judge, struct rr_search *search, unsigned long most)
{
	const struct rr_explore_config *config = search->config;
	struct rr_product *product = &search->product;

	*judge = (struct rr_judge){
		.config = config,
		.product = product,
		.contents = { .table = product->tables[0],
			      .ignored = config->ignored,
			      .n_ignored = config->n_ignored,
			      .day_ns = product->config.day_ns },
	};
	judge->serial.is_cut = true;
	if (most && !rr_serial_learn(&judge->serial, search, most, config->is_atomic))
		return fail_judge(judge, &product->error);
	rr_serial_tell(&judge->serial, &config->programs);
	tell_changes(product->tables[0], &config->programs);
	if (config->programs.set_answers)
		config->programs.set_answers(config->programs.programs, answers_between, judge);
	if (config->programs.compare_times &&
	    config->programs.compare_times(config->programs.programs, product->time_has_passed))
		judge->contents.day_ns = 0;
	return open_checker(judge, &search->program);
}

void rr_judge_release(struct rr_judge *judge)
{
	const struct rr_explored_programs *programs = judge->config ? &judge->config->programs :
								      NULL;

	if (programs && programs->set_answers)
		programs->set_answers(programs->programs, NULL, NULL);
	rr_serial_release(&judge->serial);
	rr_contents_release(&judge->contents);
	if (judge->has_checker)
		rr_product_release(&judge->checking);
	rr_intern_release(&judge->checked);
	free(judge->said);
	judge->said = NULL;
	judge->has_checker = false;
}

/* ---- What is expected of the data ---------------------------------------------- */

static size_t count_operations(const struct rr_judge *judge)
{
	return rr_program_operations(judge->product->config.program);
}

/* As bits. */
static uint32_t all_operations(const struct rr_judge *judge)
{
	return (1U << count_operations(judge)) - 1;
}

/* As a user types it: the bare text, or as redis-cli prints it. */
static bool is_value(const struct rl_reply *reply, const char *value)
{
	char *text = NULL, number[24];
	size_t size;
	FILE *file;
	bool is;

	if (reply->text && reply->length == strlen(value) &&
	    memcmp(reply->text, value, reply->length) == 0)
		return true;
	snprintf(number, sizeof(number), "%lld", (long long)reply->integer);
	if (reply->type == RL_REPLY_INTEGER && strcmp(number, value) == 0)
		return true;
	file = rr_open_memory(&text, &size);
	rr_write_reply(file, reply);
	fclose(file);
	is = strcmp(text, value) == 0;
	free(text);
	return is;
}

static const struct rl_reply *ask_expected(struct rr_judge *judge, uint32_t server,
					   const struct rr_expected *expected)
{
	return rr_contents_ask(&judge->contents, server,
			       rr_terms_command(table_of_judge(judge)->terms, expected->asked));
}

/* --final is about the work of all clients: who has not done its own is not held
 * to it. `good`: who has, as bits. */
static bool is_as_expected(struct rr_judge *judge, uint32_t server, uint32_t good)
{
	const struct rr_explore_config *config = judge->config;

	if (good != all_operations(judge))
		return true;
	for (size_t i = 0; i < config->n_expected; i++) {
		const struct rr_expected *expected = &config->expected[i];
		const struct rl_reply *reply = ask_expected(judge, server, expected);

		if (reply && !is_value(reply, expected->value))
			return false;
	}
	return true;
}

/* ---- The checker ----------------------------------------------------------------- */

/* What was on the clients' connections is nothing to the checker. */
static uint32_t reset_connections(struct rr_judge *judge, uint32_t server)
{
	static const char *const reset[] = { "RESET", NULL };
	struct rr_server_table *table = table_of_judge(judge);
	struct rr_question question = {
		.kind = RR_ASK_COMMAND,
		.argument = rr_terms_words(table->terms, reset),
	};

	for (; question.slot < RR_RUN_ORDINALS && server != RR_NO_ID; question.slot++) {
		const struct rr_server_row *row;

		if (!rr_server_table_connection(table, server, question.slot))
			continue;
		row = rr_server_table_ask(table, server, &question);
		server = row ? row->to : RR_NO_ID;
	}
	return server;
}

/* Runs it on the data of a state. How it ended: 0 = well, else its number + 1; -1: the
 * error. */
static int32_t run_checker(struct rr_judge *judge, uint32_t server)
{
	struct rr_product *product = &judge->checking;
	const struct rr_client_state *client;
	const struct rr_edges *edges;
	const struct rr_edge *edge;
	rr_state_key key;

	if (!rr_product_begin(product, key, NULL)) {
		fail_judge(judge, &product->error);
		return -1;
	}
	key[0] = reset_connections(judge, server);
	for (int i = 0; i < CHECKER_STEPS_MAX && key[0] != RR_NO_ID; i++) {
		edges = rr_product_list(product, key);
		if (edges && edges->flags & RR_STATE_FINAL) {
			client = rr_product_client(product, key, 0);
			return client->tally.failed ? (int32_t)client->tally.ending + 1 : 0;
		}
		edge = edges && edges->n > 0 ?
			       rr_product_take(product, key, edges->all[0].transition) :
			       NULL;
		if (!edge)
			break;
		memcpy(key, edge->key, sizeof(key));
	}
	if (product->error.kind)
		fail_judge(judge, &product->error);
	rr_error_set(&judge->error, RR_ERROR_DATA,
		     "the command of --check does not come to an end");
	return -1;
}

/* As run_checker(), once for each state of the server. */
static int32_t check_data(struct rr_judge *judge, uint32_t server)
{
	uint32_t number = rr_intern_find(&judge->checked, &server, sizeof(server));
	int32_t said;

	if (!judge->has_checker)
		return 0;
	if (number != RR_NO_ID)
		return judge->said[number];
	said = run_checker(judge, server);
	rr_array_grow(&judge->said, judge->checked.n, sizeof(*judge->said));
	number = rr_intern_put(&judge->checked, &server, sizeof(server), NULL);
	judge->said[number] = said;
	return said;
}

/* ---- Judging --------------------------------------------------------------------- */

bool rr_judge_final(struct rr_judge *judge, const uint32_t *key, struct rr_judgement *judgement)
{
	const struct rr_error *of_table = &table_of_judge(judge)->error;

	*judgement = (struct rr_judgement){ 0 };
	if (!judge->serial.is_cut && judge->serial.has_whole) {
		const struct rr_serial_verdict verdict =
			rr_serial_judge(&judge->serial, judge->product, key, &judge->contents,
					&judge->config->programs);

		if (rr_search_is_late(judge->serial.search))
			return rr_error_interrupted(&judge->error);
		judgement->failures = verdict.failures;
		judgement->is_untimely = verdict.is_untimely;
		judge->moved_outputs |= verdict.moved_outputs;
		if (!verdict.allows_data && !(judge->config->plants & RR_PLANT_EXCUSED_DATA))
			judgement->found |= RR_OUTCOME_NOT_SERIAL;
		else if (!verdict.allows_endings &&
			 !(judge->config->plants & RR_PLANT_EXCUSED_OUTPUTS))
			judgement->found |= RR_OUTCOME_OUTPUTS;
	}
	if (!is_as_expected(judge, key[0], rr_serial_good(judge->product, key)) ||
	    check_data(judge, key[0]) != 0)
		judgement->found |= RR_OUTCOME_UNEXPECTED;
	return judge->error.kind == RR_ERROR_NONE &&
	       (of_table->kind == RR_ERROR_NONE || fail_judge(judge, of_table));
}

uint32_t rr_judge_nearest(struct rr_judge *judge, const uint32_t *key)
{
	return judge->serial.is_cut ? RR_NO_ID :
				      rr_serial_nearest(&judge->serial, judge->product, key,
							&judge->contents, &judge->config->programs);
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
	return have_same_endings(judge->product, a, b) || !rr_judge_final(judge, a, &judgement) ||
	       !(judgement.found & RR_OUTCOME_OUTPUTS);
}

static void write_unexpected(struct rr_judge *judge, const uint32_t *key, FILE *file)
{
	const struct rr_explore_config *config = judge->config;

	for (size_t i = 0; i < config->n_expected; i++) {
		const struct rr_expected *expected = &config->expected[i];
		const struct rl_reply *reply = ask_expected(judge, key[0], expected);
		char *words;

		if (!reply || is_value(reply, expected->value))
			continue;
		words = rr_join_words(expected->asked->words, expected->asked->n_words);
		fprintf(file, "%s => ", words);
		rr_write_reply(file, reply);
		fprintf(file, ", expected %s\n", expected->value);
		free(words);
	}
}

char *rr_judge_unexpected(struct rr_judge *judge, const uint32_t *key)
{
	const struct rr_explored_programs *checker = &judge->config->checker;
	const int32_t said = check_data(judge, key[0]);
	char *text = NULL;
	size_t size;
	FILE *file = rr_open_memory(&text, &size);

	if (rr_serial_good(judge->product, key) == all_operations(judge))
		write_unexpected(judge, key, file);
	if (said > 0)
		checker->describe(checker->programs, said - 1, file);
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

		if (end->ran != 1U << operation || has_fault(end))
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

		if (rr_search_is_late(judge->serial.search))
			return false;
		if (end->ran == all_operations(judge) && !has_fault(end) &&
		    (!is_as_expected(judge, end->server, end->good) ||
		     check_data(judge, end->server) != 0))
			return true;
	}
	return false;
}

char *rr_judge_serial_orders(struct rr_judge *judge)
{
	const bool is_app = judge->product->config.program->n_requests > 0;
	char *text = NULL;
	size_t size;
	FILE *file = rr_open_memory(&text, &size);

	for (size_t i = 0; i < count_operations(judge); i++) {
		if (rr_search_is_late(judge->serial.search))
			break;
		if (can_differ_alone(judge, i))
			fprintf(file,
				"Already when the %ss run one after the other, %s%c can leave one thing or another: its own connections race with each other.\n",
				is_app ? "request" : "client", is_app ? "request " : "",
				(char)((is_app ? '1' : 'A') + i));
	}
	if (is_serial_end_unexpected(judge))
		fprintf(file,
			"Already when the %ss run one after the other, the data are not as expected.\n",
			is_app ? "request" : "client");
	fclose(file);
	if (size > 0)
		return text;
	free(text);
	return NULL;
}
