/* SPDX-License-Identifier: MIT */
#include "contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/reply.h"

/*
 * All keys but what the script's arguments leave out (contents_ignored.c), and a list of that: the
 * number of the pattern, database, key, kind ("key", "field", or the type of a key without fields) and
 * field. What XINFO says and does
 * not mean anything (`plain`: true), or is as it would be by itself, is left out; what
 * a newer server adds is kept, unless it is 0.
 */
static const char look_at_keys[] =
	"local function attributes_of(info, plain) "
	"local said, of = {}, {} "
	"for i = 1, #info, 2 do "
	"local name, value = info[i], info[i + 1] "
	"of[name] = value "
	"local usual = plain[name] == nil and 0 or plain[name] "
	"if usual ~= true and usual ~= value then "
	"said[#said + 1] = name "
	"said[#said + 1] = type(value) == 'number' and string.format('%d', value) or value "
	"end end return said, of end "

	"local function group(info) "
	"local said, of = attributes_of(info, { name = true, lag = true, ['pel-count'] = true, "
	"pending = true, pel = true, consumers = true, ['entries-read'] = false }) "
	"local consumers, pending = {}, {} "
	"for i, consumer in ipairs(of.consumers) do "
	"local _, its = attributes_of(consumer, {}) "
	"consumers[i] = its.name end "
	"for i, entry in ipairs(of.pending or of.pel) do "
	"pending[i] = { entry[1], entry[2], string.format('%d', entry[4]) } end "
	"return { of.name, said, consumers, pending } end "

	"local function stream(key) "
	"local entries = redis.call('XRANGE', key, '-', '+') "
	"local last = entries[#entries] and entries[#entries][1] or '0-0' "
	"local said, of = attributes_of(redis.call('XINFO', 'STREAM', key, 'FULL', 'COUNT', '0'), { "
	"length = true, ['radix-tree-keys'] = true, ['radix-tree-nodes'] = true, entries = true, "
	"groups = true, ['recorded-first-entry-id'] = true, ['last-generated-id'] = last, "
	"['entries-added'] = #entries, ['max-deleted-entry-id'] = '0-0', "
	"['idmp-duration'] = 100, ['idmp-maxsize'] = 100 }) "
	"local groups = {} "
	"for i, info in ipairs(of.groups) do groups[i] = group(info) end "
	"return { entries, said, groups } end "

	"local ignored, fields_of, left_out, database = {}, {}, {}, 0 "
	"local function leave_out(number, key, kind, field) "
	"left_out[#left_out + 1] = { number, database, key, kind, field or '' } end "

	"local function hash(key) "
	"local fields, all, without = redis.call('HGETALL', key), {}, {} "
	"for _, its in ipairs(fields_of[key] or {}) do "
	"local at = '0' "
	"repeat "
	"local page = redis.call('HSCAN', key, at, 'MATCH', its[2], 'COUNT', '1000') "
	"at = page[1] "
	"for i = 1, #page[2], 2 do "
	"without[page[2][i]] = true "
	"leave_out(its[1], key, 'field', page[2][i]) end "
	"until at == '0' end "
	"for i = 1, #fields, 2 do if not without[fields[i]] then "
	"local left = redis.pcall('HPTTL', key, 'FIELDS', '1', fields[i]) "
	"all[#all + 1] = fields[i] "
	"all[#all + 1] = fields[i + 1] "
	"all[#all + 1] = left[1] or -1 "
	"end end "
	"if #all == 0 and next(without) then return nil end "
	"return all end "

	"local read = { stream = stream, hash = hash, "
	"string = function(key) return redis.call('GET', key) end, "
	"list = function(key) return redis.call('LRANGE', key, '0', '-1') end, "
	"set = function(key) return redis.call('SMEMBERS', key) end, "
	"zset = function(key) return redis.call('ZRANGE', key, '0', '-1', 'WITHSCORES') end } "

	"local all = {} "
	"for db in string.gmatch(redis.call('INFO', 'keyspace'), 'db(%d+):') do "
	"redis.call('SELECT', db) "
	"ignored, fields_of, database = {}, {}, tonumber(db) "
	"for i = 1, #ARGV, 2 do "
	"for _, key in ipairs(redis.call('KEYS', ARGV[i])) do "
	"ignored[key] = true leave_out(i, key, 'key') end "
	"local of = ARGV[i + 1] ~= '' and "
	"redis.call('KEYS', string.sub(ARGV[i], 1, -#ARGV[i + 1] - 2)) or {} "
	"for _, key in ipairs(of) do "
	"fields_of[key] = fields_of[key] or {} "
	"table.insert(fields_of[key], { i, ARGV[i + 1] }) end end "
	"local keys = redis.call('KEYS', '*') "
	"table.sort(keys) "
	"for _, key in ipairs(keys) do "
	"if not ignored[key] then "
	"local kind = redis.call('TYPE', key)['ok'] "
	"for _, its in ipairs(kind ~= 'hash' and fields_of[key] or {}) do "
	"leave_out(its[1], key, kind) end "
	"local value "
	"if read[kind] then value = read[kind](key) else value = redis.call('DUMP', key) end "
	"if value then "
	"all[#all + 1] = { database, key, redis.call('PTTL', key), kind, value } "
	"end end end end return { all, left_out }";

/* ---- Asking --------------------------------------------------------------------- */

const struct rdl_reply *rr_contents_ask(struct rr_contents *contents, uint32_t state,
					uint32_t command)
{
	const struct rr_question question = { .kind = RR_ASK_COMMAND,
					      .slot = RR_LOOKING_SLOT,
					      .argument = command };
	struct rr_server_table *table = contents->table;
	const struct rr_server_row *row = rr_server_table_ask(table, state, &question);
	const struct rdl_command *asked = &table->terms->command[command].words;

	/* Only what a user gives can block. */
	if (row && row->blocks) {
		char *text = rr_command_text(asked->words, asked->n_words, 200);

		rr_error_set(&table->error, RR_ERROR_USAGE,
			     "--final: '%s' waits for another client", text);
		free(text);
		return NULL;
	}
	return row ? &table->terms->reply[row->reply].reply : NULL;
}

uint32_t rr_contents_after(const struct rr_contents *contents, uint32_t state,
			   const struct rr_question *question)
{
	const struct rr_server_row *row =
		state == RR_NO_ID ? NULL : rr_server_table_ask(contents->table, state, question);

	return row ? row->to : RR_NO_ID;
}

static bool ask_words(struct rr_contents *contents, uint32_t state, const char *const *words,
		      struct rdl_reply *reply)
{
	struct rr_server_table *table = contents->table;
	const struct rdl_reply *answer = rr_contents_ask(contents, state,
							 rr_terms_words(table->terms, words));

	if (!answer)
		return false;
	*reply = *answer;
	return reply->type == RDL_REPLY_ARRAY ||
	       rr_error_set(&table->error, RR_ERROR_REDIS, "the server's data cannot be read: %s",
			    reply->text ? reply->text : "no list");
}

/* ---- In an order of their own ------------------------------------------------------ */

static int compare_bytes(const struct rdl_reply *a, const struct rdl_reply *b)
{
	return rr_compare_bytes(a->text, a->length, b->text, b->length);
}

/* Members, and fields with what belongs to them, by their bytes. */
static int compare_first(const void *a, const void *b)
{
	return compare_bytes(a, b);
}

int rr_contents_compare_keys(const void *a, const void *b)
{
	const struct rdl_reply *one = ((const struct rdl_reply *)a)->elements;
	const struct rdl_reply *other = ((const struct rdl_reply *)b)->elements;
	const long long left = one[RR_KEY_DATABASE].integer, right = other[RR_KEY_DATABASE].integer;

	return left != right ? (left > right) - (left < right) :
			       compare_bytes(&one[RR_KEY_NAME], &other[RR_KEY_NAME]);
}

const struct rdl_reply *rr_contents_find(const struct rdl_reply *list, const struct rdl_reply *key)
{
	return list->length ? bsearch(key, list->elements, list->length, sizeof(*key),
				      rr_contents_compare_keys) :
			      NULL;
}

bool rr_contents_have_same_value(struct rr_terms *terms, const struct rdl_reply *a,
				 const struct rdl_reply *b)
{
	if (!a || !b)
		return a == b;
	return rr_terms_reply(terms, &a->elements[RR_KEY_TYPE]) ==
		       rr_terms_reply(terms, &b->elements[RR_KEY_TYPE]) &&
	       rr_terms_reply(terms, &a->elements[RR_KEY_VALUE]) ==
		       rr_terms_reply(terms, &b->elements[RR_KEY_VALUE]);
}

/* ---- A HyperLogLog: its registers alone are what it means ---------------- */

enum { REGISTERS = 1 << 14, REGISTER_BITS = 6, HEADER = 16 };

/* Bits in a row, as hyperloglog.c has them, the lowest first. */
static void read_dense(const unsigned char *bytes, uint8_t *registers)
{
	for (size_t i = 0; i < REGISTERS; i++) {
		const size_t at = i * REGISTER_BITS / 8, bit = i * REGISTER_BITS % 8;
		const unsigned next = bit > 8 - REGISTER_BITS ? bytes[at + 1] : 0;

		registers[i] = (bytes[at] | next << 8) >> bit & ((1U << REGISTER_BITS) - 1);
	}
}

/* Runs of equal registers: 00nnnnnn and 01nnnnnn nnnnnnnn of zeros, 1vvvvvnn of values.
 * False: it is no such thing. */
static bool read_sparse(const unsigned char *bytes, size_t length, uint8_t *registers)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++) {
		const unsigned byte = bytes[i];
		size_t run = (byte & 0x80 ? byte & 3 : byte & 0x3f) + 1;

		if ((byte & 0xc0) == 0x40 && i + 1 == length)
			return false;
		if ((byte & 0xc0) == 0x40)
			run = ((byte & 0x3f) << 8 | bytes[++i]) + 1;
		if (n + run > REGISTERS)
			return false;
		memset(registers + n, byte & 0x80 ? (int)(byte >> 2 & 0x1f) + 1 : 0, run);
		n += run;
	}
	return n == REGISTERS;
}

/* Takes the registers out of a string. Behind the header: encoding, three bytes that are 0, the
 * remembered count. False: it is a string like any other. */
static bool read_hyperloglog(const char *text, size_t length, uint8_t *registers)
{
	const unsigned char *bytes = (const unsigned char *)text;

	if (length < HEADER || memcmp(bytes, "HYLL", 4) != 0 || memcmp(bytes + 5, "\0\0\0", 3) != 0)
		return false;
	if (bytes[4] == 1)
		return read_sparse(bytes + HEADER, length - HEADER, registers);
	if (bytes[4] || length != HEADER + REGISTERS * REGISTER_BITS / 8)
		return false;
	read_dense(bytes + HEADER, registers);
	return true;
}

/* As the list of its registers that are not 0: number, value. */
static void settle_string(struct rdl_reply *key)
{
	struct rdl_reply *value = &key[RR_KEY_VALUE];
	uint8_t registers[REGISTERS];
	size_t n = 0;

	if (!read_hyperloglog(value->text, value->length, registers))
		return;
	*value = (struct rdl_reply){ .type = RDL_REPLY_ARRAY,
				     .elements = rr_calloc(2 * REGISTERS, sizeof(*value)) };
	for (size_t i = 0; i < REGISTERS; i++) {
		if (!registers[i])
			continue;
		value->elements[n++] = (struct rdl_reply){ .type = RDL_REPLY_INTEGER,
							   .integer = (long long)i };
		value->elements[n++] = (struct rdl_reply){ .type = RDL_REPLY_INTEGER,
							   .integer = registers[i] };
	}
	value->length = n;
	key[RR_KEY_TYPE] = (struct rdl_reply){ .type = RDL_REPLY_STRING,
					       .text = "HyperLogLog",
					       .length = strlen("HyperLogLog") };
}

/* ---- What is compared --------------------------------------------------------------- */

void rr_contents_sort(struct rdl_reply *value, size_t group)
{
	value->elements = rr_memdup(value->elements, value->length * sizeof(*value));
	qsort(value->elements, value->length / group, group * sizeof(*value), compare_first);
}

/* The number of what a state holds; RR_NO_ID: it cannot be asked. */
static uint32_t ask_whole(struct rr_contents *contents, uint32_t state)
{
	static const char *const list_functions[] = { "FUNCTION", "LIST", "WITHCODE", NULL };
	const struct rr_intern *names = &contents->table->terms->words;
	struct rdl_reply all, keys, libraries = { .type = RDL_REPLY_ARRAY },
				    whole = { .type = RDL_REPLY_ARRAY };
	uint32_t number;
	const char *words[RDL_WORDS_MAX + 1] = { "EVAL", look_at_keys, "0" };

	rr_contents_ignore(contents, words + 3, RDL_WORDS_MAX - 3);
	if (!ask_words(contents, state, words, &all) ||
	    !rr_contents_note_ignored(contents, &all.elements[1],
				      rr_terms_words(contents->table->terms, words)))
		return RR_NO_ID;
	keys = all.elements[0];
	/* There are libraries only where a client has dealt with functions. */
	if (rr_intern_find(names, "FUNCTION", sizeof("FUNCTION")) != RR_NO_ID &&
	    !ask_words(contents, state, list_functions, &libraries))
		return RR_NO_ID;
	whole.elements = rr_calloc(keys.length + libraries.length + 1, sizeof(whole));
	for (; whole.length < keys.length; whole.length++) {
		struct rdl_reply *key;
		struct rdl_reply *parts;

		whole.elements[whole.length] = keys.elements[whole.length];
		/* Takes out of a key what means nothing; its elements are its own then. */
		key = &whole.elements[whole.length];
		parts = key->elements = rr_memdup(key->elements, RR_KEY_PARTS * sizeof(*key));
		if (rr_contents_has_type(parts, "string"))
			settle_string(parts);
		else if (rr_contents_has_type(parts, "set"))
			rr_contents_sort(&parts[RR_KEY_VALUE], 1);
		else if (rr_contents_has_type(parts, "hash"))
			rr_contents_sort(&parts[RR_KEY_VALUE], RR_HASH_GROUP);
	}
	for (size_t i = 0; i < libraries.length; i++) {
		const struct rdl_reply *library = &libraries.elements[i];
		static const char type[] = "functions";
		struct rdl_reply key = { .type = RDL_REPLY_ARRAY,
					 .length = RR_KEY_PARTS,
					 .elements = rr_calloc(RR_KEY_PARTS, sizeof(key)) };
		struct rdl_reply *parts = key.elements;

		/* A library of functions: name and source. */
		parts[RR_KEY_DATABASE] = parts[RR_KEY_LEFT_MS] =
			(struct rdl_reply){ .type = RDL_REPLY_INTEGER, .integer = -1 };
		parts[RR_KEY_TYPE] = (struct rdl_reply){ .type = RDL_REPLY_STRING,
							 .text = type,
							 .length = strlen(type) };
		for (size_t j = 0; j + 1 < library->length; j += 2) {
			if (strcmp(library->elements[j].text, "library_name") == 0)
				parts[RR_KEY_NAME] = library->elements[j + 1];
			else if (strcmp(library->elements[j].text, "library_code") == 0)
				parts[RR_KEY_VALUE] = library->elements[j + 1];
		}
		whole.elements[whole.length++] = key;
	}
	qsort(whole.elements, whole.length, sizeof(whole), rr_contents_compare_keys);
	number = rr_terms_reply(contents->table->terms, &whole);
	for (size_t i = 0; i < whole.length; i++) {
		struct rdl_reply *parts = whole.elements[i].elements;

		if (rr_contents_has_type(parts, "set") || rr_contents_has_type(parts, "hash") ||
		    rr_contents_has_type(parts, "HyperLogLog"))
			free(parts[RR_KEY_VALUE].elements);
		free(parts);
	}
	free(whole.elements);
	return number;
}

uint32_t rr_contents_number(struct rr_contents *contents, uint32_t state)
{
	while (contents->n_known <= state) {
		rr_array_grow(&contents->known, contents->n_known, sizeof(*contents->known));
		contents->known[contents->n_known++] = RR_NO_ID;
	}
	if (contents->known[state] == RR_NO_ID)
		contents->known[state] = ask_whole(contents, state);
	return contents->known[state];
}

bool rr_contents_are_same(struct rr_contents *contents, uint32_t a, uint32_t b)
{
	const struct rr_server_snapshot *states = contents->table->states;
	uint32_t number;

	if (states[a].contents == states[b].contents)
		return true;
	number = rr_contents_number(contents, a);
	return number != RR_NO_ID && number == rr_contents_number(contents, b);
}

/* ---- All of it ------------------------------------------------------------------------ */

const struct rdl_reply **rr_contents_list(struct rr_contents *contents, uint32_t state,
					  uint32_t beside, size_t *n)
{
	struct rr_terms *terms = contents->table->terms;
	const uint32_t number = rr_contents_number(contents, state);
	const uint32_t other = beside == RR_NO_ID ? number : rr_contents_number(contents, beside);
	const struct rdl_reply **keys;
	struct rdl_reply whole, compared;

	*n = 0;
	if (number == RR_NO_ID || other == RR_NO_ID)
		return NULL;
	whole = terms->reply[number].reply;
	compared = terms->reply[other].reply;
	keys = rr_calloc(whole.length + 1, sizeof(*keys));
	for (int is_same = 0; is_same < 2; is_same++) {
		for (size_t i = 0; i < whole.length; i++) {
			const struct rdl_reply *key = &whole.elements[i];
			const struct rdl_reply *found = rr_contents_find(&compared, key);

			/* Is the key the same in there? */
			if ((found && rr_terms_reply(terms, found) == rr_terms_reply(terms, key)) ==
			    is_same)
				keys[(*n)++] = &whole.elements[i];
		}
	}
	return keys;
}

char *rr_contents_text(struct rr_contents *contents, uint32_t state, uint32_t beside)
{
	char *text;
	size_t n;
	FILE *file = rr_open_text(&text);
	const struct rdl_reply **keys = rr_contents_list(contents, state, beside, &n);

	for (size_t i = 0; i < n; i++)
		rr_contents_print_key(file, keys[i]->elements);
	if (n == 0)
		fputs(RR_NO_KEYS "\n", file);
	free(keys);
	fclose(file);
	return text;
}

size_t rr_contents_keys(struct rr_contents *contents, uint32_t state, uint32_t beside,
			const char ***names)
{
	size_t n, n_names = 0;
	const struct rdl_reply **keys = rr_contents_list(contents, state, beside, &n);

	*names = rr_calloc(n + 1, sizeof(**names));
	for (size_t i = 0; i < n; i++) {
		const struct rdl_reply *name = &keys[i]->elements[RR_KEY_NAME];

		if (keys[i]->elements[RR_KEY_DATABASE].integer == 0 &&
		    strlen(name->text) == name->length)
			(*names)[n_names++] = name->text;
	}
	free(keys);
	return n_names;
}

void rr_contents_release(struct rr_contents *contents)
{
	free(contents->known);
	contents->known = NULL;
	contents->n_known = 0;
	rr_intern_release(&contents->moved);
	rr_intern_release(&contents->left_out);
}
