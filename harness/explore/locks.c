/* SPDX-License-Identifier: MIT */
/* Which keys are locks (struct rr_locks): each operation, a client of programs or a request to apps,
 * is run alone, and another one from where it has created a key that it removes in the end. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "search.h"

enum { STEPS_MAX = 2000, REFUSED_STEPS_MAX = 64 };

/* The states of an operation that runs alone. */
struct solo {
	size_t n, size;
	uint32_t *keys; /* `size` numbers each */
};

static const uint32_t *state_of(const struct solo *solo, size_t i)
{
	return solo->keys + i * solo->size;
}

static bool is_over(const struct rr_product *product, const uint32_t *key, size_t operation)
{
	return product->config.program->requests.n ?
		       rr_product_is_through(product, key, operation) :
		       rr_product_is_over(product, key, operation);
}

/* How soon a step of an app is to come, where only one request runs; 0 = not at all. What the app
 * does of its own accord comes last, and only where no other request has begun. */
static int rank_of(const struct rr_product *product, const uint32_t *key, size_t request,
		   struct rr_transition step)
{
	const struct rr_program *program = product->config.program;
	const struct rr_sent *sent = step.kind == RR_DO_GO ?
					     NULL :
					     rr_product_next_sent(product, key, step);
	const uint16_t own = (uint16_t)(1U << request);

	if (sent && sent->kind == RR_SENT_REQUEST)
		return rr_program_request_at(program, step.who, step.lane) == request ? 2 : 0;
	if (sent && rr_product_next_owners(product, key, step) == own)
		return 3;
	for (size_t i = 0; i < product->n_clients; i++) {
		if (rr_product_part(product, key, i)->begun & ~own)
			return 0;
	}
	return 1;
}

/* The next step of an operation while no other one runs; NULL = it waits, or product->error. */
static const struct rr_edge *step_alone(struct rr_product *product, const uint32_t *key,
					size_t operation)
{
	const struct rr_edges *edges;
	struct rr_transition best = { 0 };
	int rank = 0;

	if (!product->config.program->requests.n)
		return rr_judge_step_alone(product, key, operation);
	edges = rr_product_list(product, key);
	for (size_t i = 0; edges && i < edges->n; i++) {
		const struct rr_transition it = edges->all[i].transition;
		const int its = rr_transition_is_own_step(it) ?
					rank_of(product, key, operation, it) :
					0;

		best = its > rank ? it : best;
		rank = its > rank ? its : rank;
	}
	return rank ? rr_product_take(product, key, best) : NULL;
}

static void run_solo(struct rr_product *product, size_t operation, struct solo *solo)
{
	rr_state_key key;
	const struct rr_edge *edge;

	*solo = (struct solo){ .size = product->n_words };
	if (!rr_product_begin(product, key, NULL))
		return;
	do {
		solo->keys = rr_realloc(solo->keys, (solo->n + 1) * solo->size, sizeof(*key));
		memcpy(solo->keys + solo->n++ * solo->size, key, solo->size * sizeof(*key));
		edge = is_over(product, key, operation) ? NULL :
							  step_alone(product, key, operation);
		if (edge)
			memcpy(key, edge->key, sizeof(key));
	} while (edge && solo->n < STEPS_MAX);
	/* What is not over shows nothing. */
	if (!is_over(product, key, operation))
		solo->n = 0;
}

static bool is_same_name(const struct rr_lock_key *one, const struct rr_lock_key *other)
{
	return one->database == other->database && one->length == other->length &&
	       memcmp(one->name, other->name, one->length) == 0;
}

static bool has_key(const struct rr_product *product, const uint32_t *key,
		    const struct rr_lock_key *lock)
{
	struct rr_server_key found;

	return rr_server_find_key(product->tables[0], key[0], lock, &found);
}

/* The first state in which the key is there, of a run that begins and ends without it; 0 = there is
 * none. */
static size_t created_at(const struct rr_product *product, const struct solo *solo,
			 const struct rr_lock_key *lock)
{
	size_t i = 0;

	if (solo->n == 0 || has_key(product, state_of(solo, 0), lock) ||
	    has_key(product, state_of(solo, solo->n - 1), lock))
		return 0;
	while (i < solo->n && !has_key(product, state_of(solo, i), lock))
		i++;
	return i < solo->n ? i : 0;
}

/* Do two states have the same keys, but for one? */
static bool are_alike_without(const struct rr_product *product, const uint32_t *one,
			      const uint32_t *other, const struct rr_lock_key *lock)
{
	const struct rr_server_table *table = product->tables[0];
	size_t at = 0, n[2] = { 0 };
	struct rr_server_key key, found;

	while (rr_server_next_key(table, one[0], &at, &key)) {
		const struct rr_lock_key same = { key.database, key.name, key.length, 0 };

		if (is_same_name(&same, lock))
			continue;
		n[0]++;
		if (!rr_server_find_key(table, other[0], &same, &found) ||
		    found.left_ms != key.left_ms || found.dump_length != key.dump_length ||
		    memcmp(found.dump, key.dump, key.dump_length) != 0)
			return false;
	}
	for (at = 0; rr_server_next_key(table, other[0], &at, &key);) {
		const struct rr_lock_key same = { key.database, key.name, key.length, 0 };

		n[1] += !is_same_name(&same, lock);
	}
	return n[0] == n[1];
}

/* Does an operation whose complete run changes other keys than the lock change none from there on, as
 * long as nobody else goes on? If it waits, it changes nothing; if it ends, it may have done to the
 * lock what it must not. */
static bool is_refused(struct rr_product *product, const uint32_t *from, size_t operation,
		       const struct solo *alone, const struct rr_lock_key *lock)
{
	const struct rr_server_snapshot *states = product->tables[0]->states;
	bool changes = false, works = false;
	rr_state_key key;

	memcpy(key, from, product->n_words * sizeof(key[0]));
	for (int i = 0; i < REFUSED_STEPS_MAX && !is_over(product, key, operation); i++) {
		const struct rr_edge *edge = step_alone(product, key, operation);

		if (!edge)
			break;
		memcpy(key, edge->key, sizeof(key));
		states = product->tables[0]->states;
		changes |= states[key[0]].contents != states[from[0]].contents;
	}
	for (size_t i = 1; i < alone->n && !works; i++)
		works = !are_alike_without(product, state_of(alone, 0), state_of(alone, i), lock);
	return !rr_product_failed(product) &&
	       (!changes || (works && is_over(product, key, operation) &&
			     states[key[0]].contents != states[from[0]].contents &&
			     are_alike_without(product, from, key, lock)));
}

/* Which operations create and remove the key, if each is refused where another has it. */
static uint32_t operations_of(struct rr_product *product, const struct solo *solos,
			      const struct rr_lock_key *lock)
{
	const size_t n_operations = rr_program_operations(product->config.program);
	uint32_t operations = 0;
	int n = 0;

	for (size_t i = 0; i < n_operations; i++) {
		if (created_at(product, &solos[i], lock)) {
			operations |= 1U << i;
			n++;
		}
	}
	for (size_t i = 0; i < n_operations && n > 1; i++) {
		const size_t at = created_at(product, &solos[i], lock);

		for (size_t j = 0; j < n_operations && at; j++) {
			if (j != i && operations >> j & 1 &&
			    !is_refused(product, state_of(&solos[i], at), j, &solos[j], lock))
				return 0;
		}
	}
	return n > 1 ? operations : 0;
}

static bool is_ignored(const struct rr_explore_config *config, const struct rr_server_key *key)
{
	char *name = rr_strndup(key->name, key->length);
	size_t i = 0;

	while (i < config->compare.n_ignored && fnmatch(config->compare.ignored[i], name, 0) != 0)
		i++;
	free(name);
	return i < config->compare.n_ignored;
}

static void add_locks_of(struct rr_search *search, const struct solo *solos, size_t operation)
{
	struct rr_product *product = &search->product;
	struct rr_locks *locks = &search->locks;
	const struct rr_server_table *table = product->tables[0];

	for (size_t i = 1; i < solos[operation].n; i++) {
		const uint32_t was = state_of(&solos[operation], i - 1)[0];
		const uint32_t is = state_of(&solos[operation], i)[0];
		struct rr_server_key key;
		size_t at = 0;

		if (table->states[was].contents == table->states[is].contents)
			continue;
		while (rr_server_next_key(table, is, &at, &key)) {
			struct rr_lock_key lock = { key.database, key.name, key.length, 0 };
			size_t known = 0;

			if (created_at(product, &solos[operation], &lock) != i ||
			    is_ignored(search->config, &key))
				continue;
			while (known < locks->n && !is_same_name(&locks->all[known], &lock))
				known++;
			if (known == locks->n)
				lock.clients = operations_of(product, solos, &lock);
			if (lock.clients && locks->n == RR_LOCKS_MAX)
				product->left_out = "there are more than 16 locks, and who holds "
						    "them is not known of all";
			else if (lock.clients)
				locks->all[locks->n++] = lock;
		}
	}
}

void rr_search_find_locks(struct rr_search *search)
{
	struct rr_product *product = &search->product;
	const struct rr_product_config searched = product->config;
	const size_t n = rr_program_operations(product->config.program);
	const struct rr_locks none = { 0 };
	struct solo solos[RR_RUN_CLIENTS] = { { 0 } };

	search->locks.n = 0;
	if (n < 2)
		return;
	rr_product_reduce_nothing(&product->config);
	product->config.locks = &none;
	for (size_t i = 0; i < n && !rr_product_failed(product); i++)
		run_solo(product, i, &solos[i]);
	for (size_t i = 0; i < n && !rr_product_failed(product); i++)
		add_locks_of(search, solos, i);
	for (size_t i = 0; i < n; i++)
		free(solos[i].keys);
	product->config = searched;
	product->config.locks = search->locks.n ? &search->locks : NULL;
}
