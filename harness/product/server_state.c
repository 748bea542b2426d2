/* SPDX-License-Identifier: MIT */
/* What a server says of its data, and the states that are known by that. */
#include "server_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

#define MS INT64_C(1000000) /* in nanoseconds */

/* What a state is known by. */
struct state_key {
	uint32_t data, connections;
	int64_t clock_ns;
	uint64_t was_wiped;
	uint64_t path; /* where no two paths lead to one state */
};

bool rr_server_fail_asking(struct rr_server_table *table)
{
	return rr_error_set(&table->error, RR_ERROR_REDIS, "%s", rr_asker_error(table->asker));
}

const char *rr_server_command_name(const struct rr_server_table *table, uint32_t command)
{
	return rr_intern_get(&table->terms->words, table->terms->command[command].name);
}

/* ---- Data ----------------------------------------------------------------- */

static void append_element(FILE *file, const struct rdl_reply *element)
{
	const char type = (char)element->type;

	fwrite(&type, 1, 1, file);
	fwrite(&element->integer, sizeof(element->integer), 1, file);
	fwrite(&element->length, sizeof(element->length), 1, file);
	if (element->text)
		fwrite(element->text, 1, element->length, file);
}

static uint64_t digest_of_text(uint64_t hash, const struct rdl_reply *reply)
{
	hash = rr_hash_number(rr_hash_number(hash, reply->integer), (int64_t)reply->length);
	for (size_t i = 0; reply->text && i < reply->length; i++)
		hash = rr_hash_number(hash, reply->text[i]);
	return hash;
}

uint64_t rr_digest_of_key(long long db, const struct rdl_reply *name)
{
	return digest_of_text(rr_hash_number(RR_HASH_START, db), name);
}

/* An integer begins a database, three elements are a key. */
static void read_keys(struct rr_server_table *table, const struct rdl_reply *data, FILE *file,
		      FILE *expiring, struct rr_server_snapshot *state)
{
	long long db = 0;

	for (size_t i = 0; i < data->length;) {
		const struct rdl_reply *element = &data->elements[i];
		const struct rdl_reply *left, *dump;
		uint64_t hash;
		struct rr_expiring it;

		append_element(file, element);
		if (element->type == RDL_REPLY_INTEGER) {
			db = element->integer;
			i++;
			continue;
		}
		if (i + 2 >= data->length)
			return;
		append_element(file, element + 1);
		append_element(file, element + 2);
		/* The lock is a key of database 0: a number stands for its value. */
		left = element + 1;
		dump = element + 2;
		if (left->integer >= 0 && (left->integer + 1) * MS < state->first_end_ns)
			state->first_end_ns = (left->integer + 1) * MS;
		if (db == 0 && element->text && strlen(table->lock) == element->length &&
		    memcmp(element->text, table->lock, element->length) == 0 && dump->text) {
			state->lock = 1 +
				      rr_intern_put(&table->locks, dump->text, dump->length, NULL);
			state->lock_left_ms = left->integer;
		}
		it = (struct rr_expiring){
			.key = rr_digest_of_key(db, element),
			.value = digest_of_text(RR_HASH_START, &element[2]),
			.left_ms = element[1].integer,
			.given_ms = element[1].integer,
		};
		if (it.left_ms >= 0)
			fwrite(&it, sizeof(it), 1, expiring);
		/* Of a key, its time and its value, so that a sum of them is in no order. */
		hash = rr_hash_number(RR_HASH_START, db);
		for (int j = 0; j < 3; j++)
			hash = digest_of_text(hash, &element[j]);
		state->contents += hash;
		i += 3;
	}
}

/* As append_element() has written it. False: it is not there. */
static bool next_element(const char *bytes, size_t size, size_t *at, struct rdl_reply *element)
{
	const size_t head = 1 + sizeof(element->integer) + sizeof(element->length);

	if (size - *at < head)
		return false;
	*element = (struct rdl_reply){ .type = (enum rdl_reply_type)bytes[*at] };
	memcpy(&element->integer, bytes + *at + 1, sizeof(element->integer));
	memcpy(&element->length, bytes + *at + 1 + sizeof(element->integer),
	       sizeof(element->length));
	*at += head;
	if (element->type == RDL_REPLY_INTEGER)
		return true;
	if (size - *at < element->length)
		return false;
	element->text = bytes + *at;
	*at += element->length;
	return true;
}

bool rr_server_next_key(const struct rr_server_table *table, uint32_t state, size_t *at,
			struct rr_server_key *key)
{
	const uint32_t data = table->states[state].data;
	const char *bytes = rr_intern_get(&table->data, data);
	const size_t size = table->data.values[data].length;
	struct rdl_reply name, left, dump;

	if (*at == 0)
		key->database = 0;
	do {
		if (!next_element(bytes, size, at, &name))
			return false;
		if (name.type == RDL_REPLY_INTEGER)
			key->database = name.integer;
	} while (name.type == RDL_REPLY_INTEGER);
	if (!next_element(bytes, size, at, &left) || left.type != RDL_REPLY_INTEGER ||
	    !next_element(bytes, size, at, &dump))
		return false;
	key->name = name.text;
	key->length = name.length;
	key->left_ms = left.integer;
	key->dump = dump.text;
	key->dump_length = dump.length;
	return true;
}

bool rr_server_find_key(const struct rr_server_table *table, uint32_t state,
			const struct rr_lock_key *lock, struct rr_server_key *key)
{
	size_t at = 0;

	while (rr_server_next_key(table, state, &at, key)) {
		if (key->database == lock->database && key->length == lock->length &&
		    memcmp(key->name, lock->name, key->length) == 0)
			return true;
	}
	return false;
}

/* Scripts that clients have sent since the last look. */
static bool see_scripts(struct rr_server_table *table, struct rr_asker *asker)
{
	static const char sha1[] = "return redis.sha1hex(ARGV[1])";
	struct rdl_reply reply;

	for (; table->n_looked < table->terms->n_commands; table->n_looked++) {
		const struct rdl_command *words = &table->terms->command[table->n_looked].words;
		const char *name = rr_server_command_name(table, table->n_looked);
		const bool is_eval = words->n_words > 2 &&
				     (strcmp(name, "EVAL") == 0 || strcmp(name, "EVAL_RO") == 0);
		struct rdl_command hash = {
			.n_words = 4,
			.words = { { "EVAL", 4 }, { sha1, strlen(sha1) }, { "0", 1 } },
		};

		if (!is_eval && (words->n_words != 3 || strcmp(name, "SCRIPT") != 0))
			continue;
		hash.words[3] = words->words[is_eval ? 1 : 2];
		if (!rr_asker_run(asker, &reply, &hash))
			return false;
		rr_scripts_add(&table->seen, reply.text, "", 0);
	}
	return true;
}

/* Which of the clients' scripts are known. */
static bool read_scripts(const struct rr_scripts *scripts, struct rr_asker *asker, FILE *file)
{
	struct rdl_reply reply;

	for (size_t i = 0; i < scripts->n; i++) {
		if (!rr_asker_say(asker, &reply, "SCRIPT EXISTS %s", scripts->all[i].sha1))
			return false;
		if (reply.length == 1 && reply.elements[0].integer)
			fputs(scripts->all[i].sha1, file);
	}
	return true;
}

static bool read_functions(struct rr_server_table *table, struct rr_asker *asker, FILE *file,
			   struct rr_server_snapshot *state)
{
	struct rdl_reply reply;

	if (rr_intern_find(&table->terms->words, "FUNCTION", sizeof("FUNCTION")) == RR_NO_ID)
		return true;
	if (!rr_asker_say(asker, &reply, "FUNCTION DUMP"))
		return false;
	append_element(file, &reply);
	state->contents += digest_of_text(RR_HASH_START, &reply);
	return true;
}

const struct rr_expiring *rr_server_table_expiring(const struct rr_server_table *table,
						   uint32_t state, size_t *n)
{
	const uint32_t expiring = table->states[state].expiring;

	*n = table->expiring.values[expiring].length / sizeof(struct rr_expiring);
	return rr_intern_get(&table->expiring, expiring);
}

const struct rr_expiring *rr_server_table_find_expiring(const struct rr_server_table *table,
							uint32_t state, uint64_t key)
{
	size_t n;
	const struct rr_expiring *all = rr_server_table_expiring(table, state, &n);

	for (size_t i = 0; i < n; i++) {
		if (all[i].key == key)
			return &all[i];
	}
	return NULL;
}

/* On the path by which the state was found first. */
bool rr_server_table_has_expired(const struct rr_server_table *table, uint32_t state, uint64_t key)
{
	while (table->states[state].parent != RR_NO_ID &&
	       !rr_server_table_find_expiring(table, table->states[state].parent, key))
		state = table->states[state].parent;
	return table->states[state].parent != RR_NO_ID &&
	       table->states[state].question.kind == RR_ASK_TICK;
}

bool rr_server_read_data(struct rr_server_table *table, struct rr_asker *asker,
			 struct rr_server_snapshot *state)
{
	struct rdl_reply data;
	char *bytes = NULL, *keys = NULL;
	size_t size, keys_size;
	FILE *file = rr_open_memory(&bytes, &size), *expiring = rr_open_memory(&keys, &keys_size);
	bool good;

	state->first_end_ns = RR_NEVER;
	state->contents = 0;
	good = rr_asker_data(asker, &data);
	if (good)
		read_keys(table, &data, file, expiring, state);
	good = good && read_functions(table, asker, file, state) &&
	       (!state->was_wiped || read_scripts(table->scripts, asker, file)) &&
	       (!table->scripts->are_state ||
		(see_scripts(table, asker) && read_scripts(&table->seen, asker, file)));
	fclose(file);
	fclose(expiring);
	state->expiring = rr_intern_put(&table->expiring, keys, keys_size, NULL);
	free(keys);
	state->names = rr_terms_names_in(table->terms, bytes, size);
	state->data = rr_intern_put(&table->data, bytes, size, NULL);
	free(bytes);
	return good || rr_server_fail_asking(table);
}

/* ---- States --------------------------------------------------------------- */

uint32_t rr_server_add_state(struct rr_server_table *table, struct rr_server_snapshot *state,
			     const struct rr_connections *connections, bool *is_new)
{
	struct state_key key;
	uint32_t id;

	for (size_t i = 0; i < connections->n; i++)
		state->names |= rr_connection_names(table, &connections->all[i]);
	state->connections = rr_intern_put(&table->connections, connections->all,
					   connections->n * sizeof(connections->all[0]), NULL);
	memset(&key, 0, sizeof(key));
	key.data = state->data;
	key.connections = state->connections;
	key.clock_ns = state->clock_ns;
	key.was_wiped = state->was_wiped;
	if (table->is_tree)
		key.path = (uint64_t)table->rows.n + 1;
	id = rr_intern_put(&table->keys, &key, sizeof(key), is_new);
	if (!*is_new)
		return id;
	rr_array_grow(&table->states, id, sizeof(*state));
	if (state->parent != RR_NO_ID) {
		const struct rr_server_snapshot *parent = &table->states[state->parent];
		size_t size;
		struct rr_expiring *all;
		uint32_t number;

		state->length = parent->length + 1;
		/* Keys that were there before the question, which has not written them, were given
		 * their time before. */
		size = table->expiring.values[state->expiring].length;
		all = rr_memdup(rr_intern_get(&table->expiring, state->expiring), size);
		for (size_t i = 0; i < size / sizeof(*all); i++) {
			const struct rr_expiring *before =
				rr_server_table_find_expiring(table, state->parent, all[i].key);
			const bool is_written = !before || before->value != all[i].value ||
						(before->left_ms != all[i].left_ms &&
						 state->question.kind != RR_ASK_TICK &&
						 state->question.kind != RR_ASK_HOLD);

			all[i].given_ms = is_written ? all[i].left_ms : before->given_ms;
		}
		number = rr_intern_put(&table->expiring, all, size, NULL);
		free(all);
		state->expiring = number;
		state->passed_ns = parent->passed_ns + (state->question.kind == RR_ASK_TICK ?
								state->question.argument :
								0);
		state->depth = parent->depth + (state->question.kind == RR_ASK_COMMAND);
	}
	if (state->depth > table->depth)
		table->depth = state->depth;
	table->states[id] = *state;
	return id;
}
