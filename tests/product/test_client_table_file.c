/* SPDX-License-Identifier: MIT */
/* What a table has learned of a program, written to a file and read again: nothing that is said of
 * a state or a row is another thing then. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "product/client_table.h"

enum { TERMS = 2 };

static struct rr_terms terms;
static uint32_t numbers[TERMS] = { 0, 1 };
static const struct rr_table_file file = { { TERMS, numbers },
					   { TERMS, numbers },
					   { TERMS, numbers } };

/* Two replies that are awaited and one that is owed, in a critical section. */
static struct rr_run_view under_way(void)
{
	return (struct rr_run_view){
		.n_threads = 2,
		.stops = { { .kind = RR_STOP_RECEIVE, .lane = 3 },
			   { .kind = RR_STOP_LISTEN, .lane = 1, .duration_ns = 5000000001 } },
		.n_sent = 2,
		.sent = { { .lane = 3, .command = 0, .is_inside = true, .is_waiting = true },
			  { .lane = 1, .command = 1, .thread = 1, .kind = RR_SENT_COMMAND } },
		.is_inside = true,
		.is_holding = true,
		.has_entered = true,
		.has_read = true,
		.is_unheard = true,
	};
}

static struct rr_run_view ended(bool is_good, long ending)
{
	return (struct rr_run_view){
		.n_threads = 1,
		.stops = { { .kind = RR_STOP_ENDED } },
		.tally = { .ok = is_good, .failed = !is_good, .ending = ending }
	};
}

static void learn(struct rr_client_table *table)
{
	const struct rr_run_view first = under_way(), good = ended(true, 1), bad = ended(false, 0);
	const struct rr_client_row rows[] = {
		{ .from = 0,
		  .input = { .kind = RR_INPUT_REPLY, .value = 1 },
		  .passed_ns = 7,
		  .is_timed = true },
		{ .from = 0, .input = { .kind = RR_INPUT_TIMEOUT, .thread = 1 }, .client = 1 },
		{ .from = 0, .input = { .kind = RR_INPUT_LOST }, .client = 1 },
	};

	rr_client_table_restore_beginning(table, &first, 1);
	cr_assert(rr_client_table_restore(table, &rows[0], &good));
	cr_assert(rr_client_table_restore(table, &rows[1], &first));
	cr_assert(rr_client_table_restore(table, &rows[2], &bad));
}

/* Whatever is in a view of a program but a guess, which is not kept: kept.c. */
static void assert_same_view(const struct rr_run_view *a, const struct rr_run_view *b)
{
	cr_expect_eq(a->n_threads, b->n_threads);
	cr_expect_eq(memcmp(a->stops, b->stops, sizeof(a->stops)), 0);
	cr_expect_eq(a->n_sent, b->n_sent);
	cr_expect_eq(memcmp(a->sent, b->sent, sizeof(a->sent)), 0);
	cr_expect_eq(memcmp(&a->tally, &b->tally, sizeof(a->tally)), 0);
	cr_expect_eq(a->is_inside, b->is_inside);
	cr_expect_eq(a->is_holding, b->is_holding);
	cr_expect_eq(a->has_entered, b->has_entered);
	cr_expect_eq(a->has_read, b->has_read);
	cr_expect_eq(a->is_unheard, b->is_unheard);
}

static void assert_same_state(const struct rr_client_table *a, const struct rr_client_table *b,
			      uint32_t i)
{
	const struct rr_client_state *one = &a->states[i], *other = &b->states[i];
	const struct rr_run_view view = rr_client_state_view(one);
	const struct rr_run_view again = rr_client_state_view(other);

	assert_same_view(&view, &again);
	cr_expect_eq(one->signature, other->signature);
	cr_expect_eq(one->has_ended, other->has_ended);
	cr_expect_eq(one->parent, other->parent);
	cr_expect_eq(memcmp(&one->input, &other->input, sizeof(one->input)), 0);
	cr_expect_eq(one->passed_ns, other->passed_ns);
	cr_expect_eq(one->depth, other->depth);
	cr_expect_eq(one->client, other->client);
	cr_expect_eq(one->row, other->row);
	if (i > 0)
		cr_expect_eq(a->row[one->row].is_timed, b->row[other->row].is_timed);
}

Test(client_table_file, what_is_read_is_what_was_learned)
{
	static const char *const words[TERMS][3] = { { "GET", "x", NULL }, { "GET", "y", NULL } };
	const struct rl_reply replies[TERMS] = { { .type = RL_REPLY_NIL },
						 { .type = RL_REPLY_INTEGER, .integer = 5 } };
	const struct rr_program program = { .n_clients = 2, .n_servers = 1, .terms = &terms };
	struct rr_client_table table, again;
	struct rr_bytes bytes;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t i = 0; i < TERMS; i++) {
		cr_assert_eq(rr_terms_words(&terms, words[i]), i);
		cr_assert_eq(rr_terms_reply(&terms, &replies[i]), i);
	}
	rr_client_table_init(&table, &program, 3, NULL);
	rr_client_table_init(&again, &program, 3, NULL);
	learn(&table);
	rr_client_table_write(&table, &file, out);
	fclose(out);
	bytes = (struct rr_bytes){ (unsigned char *)text, (unsigned char *)text + size, false };
	cr_assert(rr_client_table_read(&again, &file, &bytes));
	cr_assert(bytes.at == bytes.end);
	cr_assert_eq(again.n_states, table.n_states);
	cr_assert_eq(again.rows.n, table.rows.n);
	cr_assert_eq(again.is_timed, table.is_timed);
	for (uint32_t i = 0; i < table.n_states; i++)
		assert_same_state(&table, &again, i);
	free(text);
	rr_client_table_release(&table);
	rr_client_table_release(&again);
	rr_terms_release(&terms);
}
