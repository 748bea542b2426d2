/* SPDX-License-Identifier: MIT */
/* Little programs as a search sees them: runs, tables, names, endings. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "little.h"
#include "client/learning.h"
#include "product/product.h"

/* Programs with one text have one table. It is about a client called as client 0, and each
 * client's own name and that one are exchanged. */
struct little_clients {
	struct little *const *littles;
	size_t n;
	unsigned learning;
	struct rr_program program; /* of the tables */
	size_t n_tables;
	struct rr_client_table tables[LITTLE_CLIENTS];
	struct rr_client_table *table_of[LITTLE_CLIENTS];
	struct rr_kept_runs kept;
	struct rr_renaming own[LITTLE_CLIENTS];
	struct rr_intern endings; /* what is printed, by clients called as client 0 */
};

struct run {
	struct little_clients *clients;
	const struct little *little;
	bool is_for_table;
	int self;
	struct little_position at;
	struct rr_run_view view;
};

/* ---- Endings ---------------------------------------------------------------------------- */

static void exchange_names(char said[LITTLE_SAID], char a, char b)
{
	for (char *name = strstr(said, "me-"); name; name = strstr(name + 3, "me-"))
		name[3] = name[3] == a ? b : name[3] == b ? a : name[3];
}

static long ending_of(struct little_clients *clients, int self, const char *said)
{
	char canonical[LITTLE_SAID] = { 0 };

	strcpy(canonical, said);
	exchange_names(canonical, 'A', (char)('A' + self));
	return rr_intern_put(&clients->endings, canonical, sizeof(canonical), NULL);
}

void little_clients_said(const struct little_clients *clients, size_t client, long ending,
			 char said[LITTLE_SAID])
{
	memcpy(said, rr_intern_get(&clients->endings, (uint32_t)ending), LITTLE_SAID);
	exchange_names(said, 'A', (char)('A' + client));
}

/* ---- Runs ---------------------------------------------------------------------------------- */

static void look_at(struct run *run)
{
	struct rr_terms *terms = run->clients->program.terms;
	struct rr_run_view *view = &run->view;

	memset(view, 0, sizeof(*view));
	for (uint8_t lane = 0; lane < LITTLE_LANES; lane++) {
		if (!(run->at.owed >> lane & 1))
			continue;
		view->sent[view->n_sent++] = (struct rr_sent){
			.lane = lane,
			.thread = (uint8_t)view->n_threads,
			.command = little_sent(run->little, run->self, &run->at, lane, terms),
		};
		view->stops[view->n_threads++] = (struct rr_stop){ .kind = RR_STOP_RECEIVE,
								   .lane = lane };
	}
	if (view->n_threads > 0)
		return;
	view->n_threads = 1;
	view->stops[0].kind = RR_STOP_ENDED;
	view->tally.ok = 1;
	view->tally.ending = ending_of(run->clients, run->self, run->at.said);
}

static void forget(struct run *run)
{
	for (int i = 0; i < LITTLE_REGISTERS; i++) {
		if (run->at.registers[i] > 2 && run->at.registers[i] < 1000)
			run->at.registers[i] = 2;
	}
}

static void *begin_run(const struct rr_program *program, int client)
{
	struct little_clients *clients = program->context;
	struct run *run = rr_calloc(1, sizeof(*run));

	run->clients = clients;
	run->little = clients->littles[client];
	run->is_for_table = program == &clients->program;
	run->self = run->is_for_table ? 0 : client;
	little_begin(run->little, run->self, &run->at);
	look_at(run);
	return run;
}

static void end_run(void *run)
{
	free(run);
}

static void feed_run(void *context, const struct rr_input *input, int64_t passed_ns)
{
	struct run *run = context;
	struct little_clients *clients = run->clients;
	const struct rdl_reply lost = { .type = RDL_REPLY_FAILED };

	(void)passed_ns;
	if (run->at.owed == 0 || input->thread >= run->view.n_threads)
		return;
	little_hear(run->little, run->self, &run->at, run->view.stops[input->thread].lane,
		    input->kind == RR_INPUT_REPLY ?
			    &clients->program.terms->reply[input->value].reply :
			    &lost);
	if (run->is_for_table && clients->learning & LITTLE_FORGETS)
		forget(run);
	look_at(run);
}

static const struct rr_run_view *view_of_run(const void *context)
{
	return &((const struct run *)context)->view;
}

static enum rr_going going_of_run(const void *context, const struct rr_error **problem)
{
	(void)context;
	(void)problem;
	return RR_GO_ON;
}

static void compare_run(void *context, const struct rr_run_view *known, int client)
{
	(void)context;
	(void)known;
	(void)client;
}

static const struct rr_run_ops run_ops = {
	.begin = begin_run,
	.end = end_run,
	.feed = feed_run,
	.view = view_of_run,
	.going = going_of_run,
	.compare = compare_run,
};

/* ---- The program of a search ------------------------------------------------------------------ */

static uint32_t heard_as_self(void *context, int client, uint32_t reply)
{
	struct little_clients *clients = context;

	return rr_rename_reply(&clients->own[client], clients->program.terms, reply);
}

static uint32_t sent_as_own(void *context, int client, uint32_t command)
{
	struct little_clients *clients = context;

	return rr_rename_command(&clients->own[client], clients->program.terms, command);
}

static void init_program(void *context, struct rr_program *program)
{
	struct little_clients *clients = context;

	program->context = clients;
	program->run_ops = &run_ops;
	program->tables = clients->table_of;
	program->learning = clients->learning;
	program->heard_as_self = heard_as_self;
	program->sent_as_own = sent_as_own;
	clients->program = *program;
}

static bool begin_search(void *context, unsigned withdrawn)
{
	struct little_clients *clients = context;

	(void)withdrawn;
	for (size_t i = 0; i < clients->n_tables; i++)
		rr_learning_begin(&clients->tables[i]);
	return false;
}

/* Programs do the same in each run; which of their histories are the same is a hypothesis. */
static enum rr_going verify(void *context, unsigned left_out, struct rr_error *error)
{
	struct little_clients *clients = context;
	bool good = true, again = false;

	for (size_t i = 0; i < clients->n_tables; i++) {
		struct rr_client_table *table = &clients->tables[i];

		good = (left_out & RR_LEAVE_HISTORIES || rr_learning_verify(table)) && good;
		again |= rr_learning_has_changed(table);
		if (table->error.kind)
			*error = table->error;
	}
	return again ? RR_AGAIN : good ? RR_GO_ON : rr_error_going(error);
}

static bool end_alike(void *context, size_t client, uint32_t state, long ending,
		      enum rr_likeness likeness)
{
	const struct little_clients *clients = context;

	(void)likeness;
	return clients->table_of[client]->states[state].tally.ending == ending;
}

static long own_ending(void *context, size_t client, long ending)
{
	struct little_clients *clients = context;
	char said[LITTLE_SAID];

	little_clients_said(clients, client, ending, said);
	return rr_intern_put(&clients->endings, said, sizeof(said), NULL);
}

struct rr_explored_programs little_clients_ops(struct little_clients *clients)
{
	static const struct rr_explored_ops ops = {
		.init = init_program,
		.begin_search = begin_search,
		.verify = verify,
		.end_alike = end_alike,
		.own_ending = own_ending,
	};

	return (struct rr_explored_programs){ .ops = &ops, .context = clients };
}

/* ---- Making and freeing --------------------------------------------------------------------- */

/* The exchange is one of texts: "me-A" is no part of any other. */
static void add_names(struct rr_renaming *own, int client)
{
	char name[] = "me-A";
	const struct rdl_word first = { "me-A", 4 }, second = { name, 4 };

	name[3] = (char)('A' + client);
	if (client == 0)
		return;
	rr_renaming_add(own, first, second);
	rr_renaming_add(own, second, first);
}

static struct rr_client_table *table_for(struct little_clients *clients, size_t client)
{
	for (size_t i = 0; i < client; i++) {
		if (strcmp(clients->littles[i]->text, clients->littles[client]->text) == 0)
			return clients->table_of[i];
	}
	return &clients->tables[clients->n_tables++];
}

struct little_clients *little_clients_new(struct little *const *littles, size_t n,
					  unsigned learning)
{
	struct little_clients *clients = rr_calloc(1, sizeof(*clients));
	uint32_t shared_by[LITTLE_CLIENTS] = { 0 };

	*clients = (struct little_clients){ .littles = littles, .n = n, .learning = learning };
	clients->kept.most = RR_KEPT_MAX;
	for (size_t i = 0; i < n; i++) {
		clients->table_of[i] = table_for(clients, i);
		shared_by[clients->table_of[i] - clients->tables] |= 1U << i;
		add_names(&clients->own[i], (int)i);
	}
	for (size_t i = 0; i < clients->n_tables; i++)
		rr_client_table_init(&clients->tables[i], &clients->program, shared_by[i],
				     &clients->kept);
	return clients;
}

uint64_t little_clients_runs(const struct little_clients *clients)
{
	uint64_t runs = 0;

	for (size_t i = 0; i < clients->n_tables; i++)
		runs += clients->tables[i].n_runs;
	return runs;
}

void little_clients_free(struct little_clients *clients)
{
	for (size_t i = 0; i < clients->n_tables; i++)
		rr_client_table_release(&clients->tables[i]);
	for (size_t i = 0; i < clients->n; i++)
		rr_renaming_release(&clients->own[i]);
	rr_intern_release(&clients->endings);
	free(clients);
}
