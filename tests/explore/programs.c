/* SPDX-License-Identifier: MIT */
/* Explores random programs, and keeps what they end in. */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

enum { ENDS_MAX = 1 << 16, STATES_MAX = 60000, CHECKS = 60 };

#define LEASE_NS INT64_C(10000000000)

struct ends {
	size_t n;
	uint64_t interleavings, states, transitions;
	uint64_t digests[ENDS_MAX];
	bool is_reduced;
};

struct programs {
	struct rr_key_use key_use;
	struct rr_beliefs beliefs;
	struct stage *stage;
	struct program_clients clients;
	struct rr_terms terms;
	struct rr_stacks stacks;
	struct rr_scripts scripts;
	struct rr_program program;
	const struct program_pool *pool;
	struct ends ends[2]; /* of the last exploration, and the one before */
};

/* ---- Ends ----------------------------------------------------------------- */

static bool holds(const struct ends *ends, uint64_t digest)
{
	for (size_t i = 0; i < ends->n; i++) {
		if (ends->digests[i] == digest)
			return true;
	}
	return false;
}

static uint64_t digest_of_end(const struct rr_product *product, const uint32_t *key)
{
	const struct rr_server_table *table = product->tables[0];
	const uint32_t data = table->states[key[0]].data;
	uint64_t digest = program_mix(0, rr_intern_get(&table->data, data),
				      table->data.values[data].length);

	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_client_state *state = rr_product_client(product, key, i);
		const bool is_crashed = rr_product_part(product, key, i)->is_crashed;
		const int64_t of_client[2] = { is_crashed + 2 * state->has_ended,
					       is_crashed ? 0 : state->tally.ok };

		digest = program_mix(digest, of_client, sizeof(of_client));
	}
	return digest;
}

static void keep_ends(struct programs *programs, struct programs_run *how,
		      const struct rr_graph *graph)
{
	struct ends *ends = &programs->ends[0];

	for (uint32_t i = 0; i < graph->states.n; i++) {
		const uint32_t *key = rr_intern_get(&graph->states, i);
		uint64_t digest;

		if (graph->degree[i])
			continue;
		how->stuck += !(graph->flags[i] & RR_STATE_FINAL);
		digest = digest_of_end(graph->product, key);
		if (holds(ends, digest))
			continue;
		cr_assert_lt(ends->n, ENDS_MAX);
		ends->digests[ends->n++] = digest;
	}
	ends->interleavings = graph->interleavings;
	ends->states = graph->states.n;
	ends->transitions = graph->n_edges;
	ends->is_reduced = how->is_reduced;
	how->states += graph->states.n;
	how->interleavings += graph->interleavings;
}

bool programs_agree(const struct programs *programs, char *why, size_t size)
{
	const struct ends *a = &programs->ends[1], *b = &programs->ends[0];
	size_t common = 0;

	for (size_t i = 0; i < b->n; i++)
		common += holds(a, b->digests[i]);
	snprintf(why, size, "%zu ends by %llu interleavings, %zu by %llu, %zu in common", a->n,
		 (unsigned long long)a->interleavings, b->n, (unsigned long long)b->interleavings,
		 common);
	return a->n == b->n && common == b->n &&
	       (b->is_reduced || a->interleavings == b->interleavings);
}

static int compare_digests(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

void programs_write(const struct programs *programs, const char *path, const char *id,
		    bool is_right)
{
	struct ends ends = programs->ends[0];
	FILE *file = fopen(path, "ae");

	cr_assert(file, "cannot write %s", path);
	qsort(ends.digests, ends.n, sizeof(*ends.digests), compare_digests);
	fprintf(file,
		"{\"id\": \"%s\", \"exit\": %d, \"states\": %llu, \"transitions\": %llu, "
		"\"final\": {\"n\": %zu, \"digest\": \"%016llx\"}}\n",
		id, !is_right, (unsigned long long)ends.states,
		(unsigned long long)ends.transitions, ends.n,
		(unsigned long long)program_mix(0, ends.digests, ends.n * sizeof(*ends.digests)));
	cr_assert_eq(fclose(file), 0, "cannot write %s", path);
}

/* ---- Exploring ------------------------------------------------------------ */

static struct rr_product_config config_of(const struct programs *programs,
					  const struct programs_run *how, bool is_absolute)
{
	return (struct rr_product_config){
		.program = &programs->program,
		.budget = how->budget,
		.lease_ns = LEASE_NS,
		.day_ns = RR_CLUSTER_START_NS,
		.rounds = 2,
		.absolute = is_absolute,
		.reads_clock = true,
		.is_local_first = how->is_reduced,
	};
}

/* A random path is played for real, and rows are asked again. */
static bool is_noticed(struct programs *programs, struct rr_graph *graph)
{
	struct rr_server_table *table = graph->product->tables[0];
	struct rr_path path = { 0 };
	struct rr_actions actions = { 0 };
	struct rr_free_replay *live;
	struct rr_error error = { .kind = RR_ERROR_NONE };
	unsigned long n = 0;
	bool differs = rr_server_table_verify(table, CHECKS, &n) != 0;

	if (differs)
		programs->stage->error = table->error;
	rr_asker_reset(table->asker);
	table->at = RR_NO_ID;
	live = rr_free_replay_new(
		&(struct rr_free_replay_config){ .program = graph->product->config.program,
						 .cluster = &programs->stage->cluster,
						 .scripts = &programs->scripts,
						 .day_ns = graph->product->config.day_ns });
	for (uint64_t seed = 1; seed <= 3 && !differs; seed++) {
		rr_graph_random_path(graph, seed, &path);
		differs = !rr_graph_actions(graph, &path, &actions) ||
			  !rr_product_replay(graph->product, live, &actions,
					     rr_graph_path_end(graph, &path),
					     rr_graph_path_breaks(graph, &path), &error);
		free(actions.all);
	}
	if (error.kind != RR_ERROR_NONE)
		snprintf(programs->stage->error.text, RR_ERROR_SIZE, "%.600s", error.text);
	rr_path_release(&path);
	rr_free_replay_free(live);
	return differs;
}

static enum rr_graph_end explore(struct programs *programs, struct programs_run *how,
				 struct rr_server_table *table)
{
	struct rr_product_config config = config_of(programs, how, table->absolute);
	const struct rr_graph_config bounds = { .most = STATES_MAX };
	struct rr_product product;
	struct rr_graph graph;
	enum rr_graph_end end;

	rr_beliefs_begin(&programs->beliefs);
	config.key_use = how->is_reduced ? &programs->key_use : NULL;
	cr_assert(rr_product_init(&product, &config, table, NULL), "%s", product.error.text);
	end = rr_graph_explore(&graph, &product, &bounds);
	if (end == RR_GRAPH_MOST) {
		how->too_large++;
	} else if (end == RR_GRAPH_WHOLE) {
		rr_graph_analyse(&graph);
		keep_ends(programs, how, &graph);
		if (how->checks)
			how->was_noticed = is_noticed(programs, &graph);
	} else if (end != RR_GRAPH_AGAIN) {
		how->was_noticed = true;
		programs->stage->error = product.error;
	}
	rr_graph_release(&graph);
	rr_product_release(&product);
	return end;
}

static void open_table(struct programs *programs, const struct programs_run *how,
		       struct rr_server_table *table, bool is_absolute)
{
	cr_assert(rr_server_table_init(table, &programs->stage->cluster, 0, &programs->terms,
				       &programs->scripts, "-", is_absolute),
		  "%s", table->error.text);
	table->is_tree = how->is_tree;
}

static void forget_ends(struct programs *programs)
{
	programs->ends[0].n = 0;
	programs->ends[0].interleavings = programs->ends[0].states = 0;
	programs->ends[0].transitions = 0;
}

void programs_run(struct programs *programs, struct programs_run *how)
{
	struct rr_server_table table;

	programs->ends[1] = programs->ends[0];
	forget_ends(programs);
	how->was_noticed = false;
	how->programs++;
	open_table(programs, how, &table, programs->pool->is_absolute);
	rr_key_use_init(&programs->key_use, &programs->terms, &programs->beliefs);
	while (explore(programs, how, &table) == RR_GRAPH_AGAIN) {
		rr_server_table_release(&table);
		open_table(programs, how, &table, true);
		rr_key_use_begin(&programs->key_use);
	}
	how->was_planted = how->plant && how->plant(&table);
	if (how->was_planted) {
		forget_ends(programs);
		/* Another answer than before: the search would begin anew. */
		if (explore(programs, how, &table) == RR_GRAPH_AGAIN)
			how->was_noticed = true;
	}
	rr_server_table_release(&table);
	rr_key_use_release(&programs->key_use);
}

/* ---- Making --------------------------------------------------------------- */

/* Takes steps off those who have most of them. */
static void shorten(struct programs *programs, size_t most_steps)
{
	struct program *longest;
	size_t sum;

	do {
		sum = 0;
		longest = &programs->clients.programs[0];
		for (size_t i = 0; i < programs->program.n_clients; i++) {
			struct program *program = &programs->clients.programs[i];

			sum += program->n_steps;
			if (program->n_steps > longest->n_steps)
				longest = program;
		}
		longest->n_steps -= sum > most_steps;
	} while (sum > most_steps);
}

static void prepare(struct programs *programs, size_t n_clients)
{
	rr_terms_release(&programs->terms);
	rr_scripts_release(&programs->scripts);
	programs->program = (struct rr_program){
		.n_clients = n_clients,
		.n_servers = 1,
		.addresses = &programs->clients.address,
		.separate = true,
		.terms = &programs->terms,
		.stacks = &programs->stacks,
		.beliefs = &programs->beliefs,
		.context = &programs->clients,
	};
	program_clients_init(&programs->program);
}

void programs_make(struct programs *programs, uint64_t seed, size_t most_steps)
{
	prepare(programs, program_make(programs->clients.programs, seed, &programs->pool));
	shorten(programs, most_steps);
}

void programs_take(struct programs *programs, const struct program *given, size_t n)
{
	static const struct program_pool none = { .name = "given" };

	memcpy(programs->clients.programs, given, n * sizeof(*given));
	programs->pool = &none;
	prepare(programs, n);
}

char *programs_text(const struct programs *programs)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	cr_assert_not_null(file);
	fprintf(file, " %s%s", programs->pool->name,
		programs->pool->is_absolute ? " (absolute)" : "");
	program_print(file, programs->clients.programs, programs->program.n_clients);
	fclose(file);
	return text;
}

struct programs *programs_open(struct stage *stage)
{
	struct programs *programs = calloc(1, sizeof(*programs));

	cr_assert_not_null(programs);
	stage_open(stage, RR_CLUSTER_FROZEN);
	programs->stage = stage;
	stage_server(stage, "data", (struct rr_server_options){ 0 });
	programs->clients.address = *rr_cluster_address(&stage->cluster, 0);
	return programs;
}

void programs_close(struct programs *programs)
{
	rr_terms_release(&programs->terms);
	rr_stacks_release(&programs->stacks);
	rr_scripts_release(&programs->scripts);
	free(programs);
}
