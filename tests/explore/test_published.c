/* SPDX-License-Identifier: MIT */
/*
 * Two programs for which a stateless model checker publishes how many executions
 * there are (GenMC 0.11.0, tests/correct/synthetic, executions that differ in what
 * reads read), written with GET and SET. Ends that differ in what clients have heard
 * are as many.
 */
#include <stdio.h>

#include "../cluster/stage.h"
#include "graph/graph.h"

enum { CLIENTS_MAX = 8, SLOTS = 16 };

struct published {
	size_t n; /* N */
	bool is_lastzero;
};

struct reader {
	const struct published *program;
	struct rr_client_run *run;
	int number;
	struct rdl_link *link;
};

static struct stage stage;

/* ---- The programs ---------------------------------------------------------- */

static long long get(struct reader *reader, size_t i)
{
	struct rr_run_tally *tally = rr_client_run_tally(reader->run);
	struct rdl_reply reply;
	long long value = 0;

	if (rdl_run(reader->link, &reply, "GET %d", (int)i) == RDL_OK)
		rdl_reply_number(&reply, &value);
	tally->ok = tally->ok * SLOTS + value + 1; /* what it has received */
	return value;
}

static void set(struct reader *reader, size_t i, long long value)
{
	struct rdl_reply reply;

	rdl_run(reader->link, &reply, "SET %d %lld", (int)i, value);
}

/* Client 0 looks for the last zero; client i writes x[i] = x[i - 1] + 1. */
static void find_last_zero(struct reader *reader)
{
	size_t i = reader->program->n;

	if (reader->number > 0) {
		set(reader, (size_t)reader->number, get(reader, (size_t)reader->number - 1) + 1);
		return;
	}
	while (rr_client_run_is_alive(reader->run) && get(reader, i) != 0)
		i--;
}

static void live(void *client)
{
	struct reader *reader = client;

	if (reader->program->is_lastzero)
		find_last_zero(reader);
	else if (reader->number == 0)
		set(reader, 0, 1);
	else
		get(reader, 0);
}

static void *make(void *context, struct rr_client_run *run, int number, struct rdl_link **links,
		  struct rdl_mutex *mutex)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	(void)mutex;
	if (reader)
		*reader = (struct reader){ context, run, number, links[0] };
	return reader;
}

/* ---- Counting -------------------------------------------------------------- */

/* Those that differ in what a client has received. (Their data may differ in the order
 * of keys besides.) */
static size_t count_ends(const struct rr_graph *graph)
{
	const struct rr_product *product = graph->product;
	struct rr_intern ends = { 0 };
	size_t n;

	for (uint32_t i = 0; i < graph->states.n; i++) {
		const uint32_t *key = rr_intern_get(&graph->states, i);

		if (graph->flags[i] & RR_STATE_FINAL)
			rr_intern_put(&ends, key + product->n_servers,
				      product->n_clients * sizeof(*key), NULL);
	}
	n = ends.n;
	rr_intern_release(&ends);
	return n;
}

static size_t explore(struct published *published)
{
	struct rr_terms terms = { 0 };
	struct rr_stacks stacks = { 0 };
	struct rr_scripts scripts = { 0 };
	struct rr_server_table table;
	struct rr_product product;
	struct rr_graph graph;
	const struct rr_program program = {
		.n_clients = published->n + 1,
		.n_servers = 1,
		.addresses = rr_cluster_address(&stage.cluster, 0),
		.separate = true,
		.terms = &terms,
		.stacks = &stacks,
		.context = published,
		.make = make,
		.run = live,
		.free = free,
		.is_exact = true,
		.learning = RR_LEARN_NOTHING,
	};
	const struct rr_product_config config = { .program = &program };
	size_t n;

	cr_assert(rr_server_table_init(&table, &stage.cluster, 0, &terms, &scripts, "-", false));
	cr_assert(rr_product_init(&product, &config, &table, NULL));
	cr_assert_eq(rr_graph_explore(&graph, &product, &(struct rr_graph_config){ 0 }),
		     RR_GRAPH_WHOLE, "%s", product.error.text);
	rr_graph_analyse(&graph);
	n = count_ends(&graph);
	cr_log_info("%s(%zu): %zu ends, %u states, %llu interleavings",
		    published->is_lastzero ? "lastzero" : "readers", published->n, n,
		    graph.states.n, (unsigned long long)graph.interleavings);
	rr_graph_release(&graph);
	rr_product_release(&product);
	rr_server_table_release(&table);
	rr_terms_release(&terms);
	rr_stacks_release(&stacks);
	rr_scripts_release(&scripts);
	return n;
}

/* Published for N = 2, 8, 13: 4, 256, 8,192. */
Test(published, readers_have_so_many_executions)
{
	stage_open(&stage, RR_CLUSTER_FROZEN);
	stage_server(&stage, "redis", (struct rr_server_options){ 0 });
	for (size_t n = 2; n < CLIENTS_MAX; n++)
		cr_expect_eq(explore(&(struct published){ n, false }), (size_t)1 << n,
			     "readers(%zu)", n);
	stage_close(&stage);
}

/* Published for N = 5, 10, 15: 64, 3,328, 147,456, which is (N + 3) 2^(N - 2). */
Test(published, lastzero_has_so_many_executions)
{
	stage_open(&stage, RR_CLUSTER_FROZEN);
	stage_server(&stage, "redis", (struct rr_server_options){ 0 });
	for (size_t n = 2; n < CLIENTS_MAX; n++)
		cr_expect_eq(explore(&(struct published){ n, true }), (n + 3) << (n - 2),
			     "lastzero(%zu)", n);
	stage_close(&stage);
}
