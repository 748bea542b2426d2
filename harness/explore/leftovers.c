/* SPDX-License-Identifier: MIT */
#include "leftovers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "search.h"

enum { RESTORED = 1, CHANGED = 2 };
enum { MS = 1000000 };

/* Compared byte by byte. */
struct part {
	uint32_t operation;
	uint32_t key;    /* database and name, a number of the terms' replies */
	uint32_t member; /* a number likewise; RR_NO_ID = the whole key */
};

/* ---- Parts of keys ----------------------------------------------------------------- */

static struct rl_reply list_of(struct rl_reply *elements, size_t n)
{
	return (struct rl_reply){ .type = RL_REPLY_ARRAY, .elements = elements, .length = n };
}

static uint32_t name_of(struct rr_terms *terms, const struct rl_reply *key)
{
	const struct rl_reply name = list_of(key->elements, RR_KEY_LEFT_MS);

	return rr_terms_reply(terms, &name);
}

static const struct rl_reply *find_key(const struct rl_reply *whole, const struct rl_reply *key)
{
	return whole->length ? bsearch(key, whole->elements, whole->length, sizeof(*key),
				       rr_contents_compare_keys) :
			       NULL;
}

static bool is_same_value(struct rr_terms *terms, const struct rl_reply *a,
			  const struct rl_reply *b)
{
	if (!a || !b)
		return a == b;
	return rr_terms_reply(terms, &a->elements[RR_KEY_TYPE]) ==
		       rr_terms_reply(terms, &b->elements[RR_KEY_TYPE]) &&
	       rr_terms_reply(terms, &a->elements[RR_KEY_VALUE]) ==
		       rr_terms_reply(terms, &b->elements[RR_KEY_VALUE]);
}

/* How many elements of a value are one member of it; 0: it has no members. */
static size_t size_of_member(const struct rl_reply *key)
{
	return rr_contents_has_type(key, "set") || rr_contents_has_type(key, "list") ? 1 :
	       rr_contents_has_type(key, "zset")                                     ? 2 :
	       rr_contents_has_type(key, "hash") ? RR_HASH_GROUP :
						   0;
}

/* The pending entries of all groups of a stream, as [group, id]; of any other key its members. A
 * hash's field is a member with its value, a sorted set's without its score. *n numbers, malloc'd. */
static uint32_t *members_of(struct rr_terms *terms, const struct rl_reply *key, size_t *n)
{
	const struct rl_reply *value = &key->elements[RR_KEY_VALUE];
	const size_t size = size_of_member(key->elements);
	uint32_t *members = NULL;

	*n = 0;
	for (size_t i = 0; size && i + size <= value->length; i += size) {
		rr_array_grow(&members, *n, sizeof(*members));
		members[(*n)++] = rr_terms_reply(terms, &value->elements[i]);
	}
	if (!rr_contents_has_type(key->elements, "stream"))
		return members;
	for (size_t g = 0; g < value->elements[RR_STREAM_GROUPS].length; g++) {
		const struct rl_reply *group =
			value->elements[RR_STREAM_GROUPS].elements[g].elements;
		const struct rl_reply *pending = &group[RR_GROUP_PENDING];

		for (size_t i = 0; i < pending->length; i++) {
			struct rl_reply words[] = { group[RR_GROUP_NAME],
						    pending->elements[i].elements[0] };
			const struct rl_reply entry = list_of(words, 2);

			rr_array_grow(&members, *n, sizeof(*members));
			members[(*n)++] = rr_terms_reply(terms, &entry);
		}
	}
	return members;
}

static bool has_member(struct rr_terms *terms, const struct rl_reply *key, uint32_t member)
{
	size_t n = 0, i = 0;
	uint32_t *members = key ? members_of(terms, key, &n) : NULL;

	while (i < n && members[i] != member)
		i++;
	free(members);
	return i < n;
}

/* ---- What complete runs take away again ------------------------------------------------ */

static void note_fate(struct rr_upkeep *upkeep, struct part part, bool is_restored)
{
	bool is_new;
	const uint32_t number = rr_intern_put(&upkeep->parts, &part, sizeof(part), &is_new);

	if (is_new) {
		rr_array_grow(&upkeep->fates, number, sizeof(*upkeep->fates));
		upkeep->fates[number] = 0;
	}
	upkeep->fates[number] |= is_restored ? RESTORED : CHANGED;
}

/* A turn began with `began` and ended with `ended`; what was there meanwhile, of one key. */
static void compare_key(struct rr_upkeep *upkeep, struct rr_terms *terms, uint32_t operation,
			const struct rl_reply *key, const struct rl_reply *began,
			const struct rl_reply *ended)
{
	struct part part = { operation, name_of(terms, key), RR_NO_ID };
	size_t n;
	uint32_t *members;

	if (is_same_value(terms, key, began))
		return;
	note_fate(upkeep, part, is_same_value(terms, began, ended));
	members = members_of(terms, key, &n);
	for (size_t i = 0; i < n; i++) {
		part.member = members[i];
		if (!has_member(terms, began, members[i]))
			note_fate(upkeep, part, !has_member(terms, ended, members[i]));
	}
	free(members);
}

static bool compare_states(struct rr_upkeep *upkeep, struct rr_contents *contents,
			   uint32_t operation, uint32_t began, uint32_t between, uint32_t ended)
{
	struct rr_terms *terms = contents->table->terms;
	const uint32_t seen[] = { operation, rr_contents_number(contents, began),
				  rr_contents_number(contents, between),
				  rr_contents_number(contents, ended) };
	struct rl_reply first, whole, last;
	bool is_new;

	if (seen[1] == RR_NO_ID || seen[2] == RR_NO_ID || seen[3] == RR_NO_ID)
		return false;
	rr_intern_put(&upkeep->seen, seen, sizeof(seen), &is_new);
	if (!is_new)
		return true;
	first = terms->reply[seen[1]].reply;
	whole = terms->reply[seen[2]].reply;
	last = terms->reply[seen[3]].reply;
	for (size_t i = 0; i < whole.length; i++) {
		const struct rl_reply *key = &whole.elements[i];

		compare_key(upkeep, terms, operation, key, find_key(&first, key),
			    find_key(&last, key));
	}
	return true;
}

/* Of each operation that is through with its turn: all that was there since it began. */
bool rr_upkeep_learn(struct rr_upkeep *upkeep, const struct rr_serial *serial,
		     struct rr_contents *contents)
{
	upkeep->is_known = true;
	for (uint32_t i = 0; i < serial->orders.n; i++) {
		const struct rr_serial_predecessor *end = &serial->predecessors[i];
		const uint32_t last = rr_serial_server(serial, i);
		const uint32_t first = rr_serial_server(serial, end->began);

		if (end->whose == RR_NO_OPERATION || !rr_serial_is_between(serial, i))
			continue;
		for (uint32_t at = i; at != end->began; at = serial->predecessors[at].from) {
			if (!compare_states(upkeep, contents, end->whose, first,
					    rr_serial_server(serial, at), last))
				return false;
		}
	}
	return true;
}

void rr_upkeep_release(struct rr_upkeep *upkeep)
{
	rr_intern_release(&upkeep->parts);
	rr_intern_release(&upkeep->seen);
	free(upkeep->fates);
	*upkeep = (struct rr_upkeep){ .fates = NULL };
}

/* Does a complete run of one of the operations take it away again, and none leaves it? */
static bool is_kept_up(const struct rr_upkeep *upkeep, uint32_t operations, uint32_t key,
		       uint32_t member)
{
	bool is = false;

	for (uint32_t i = 0; i < RR_PRODUCT_CLIENTS && !is; i++) {
		const struct part part = { i, key, member };
		const uint32_t number = operations >> i & 1 ? rr_intern_find(&upkeep->parts, &part,
									     sizeof(part)) :
							      RR_NO_ID;

		is = number != RR_NO_ID && upkeep->fates[number] == RESTORED;
	}
	return is;
}

/* ---- What a state holds without them ------------------------------------------------------ */

/* Of a list of groups of elements, those that are no records; the elements are the caller's to
 * free. */
static struct rl_reply keep_others(struct rr_leftovers *left, const struct rr_upkeep *upkeep,
				   uint32_t crashed, uint32_t key, const struct rl_reply *members,
				   size_t size, const struct rl_reply *group)
{
	struct rr_terms *terms = left->contents->table->terms;
	struct rl_reply others = list_of(rr_calloc(members->length + 1, sizeof(others)), 0);

	for (size_t i = 0; i + size <= members->length; i += size) {
		struct rl_reply words[2];
		const struct rl_reply entry = list_of(words, 2);
		const struct rl_reply *member = &members->elements[i];

		if (group) {
			words[0] = *group;
			words[1] = member->elements[0];
			member = &entry;
		}
		if (is_kept_up(upkeep, crashed, key, rr_terms_reply(terms, member))) {
			left->n_records++;
			continue;
		}
		memcpy(&others.elements[others.length], &members->elements[i],
		       size * sizeof(others));
		others.length += size;
	}
	return others;
}

/* The number of a stream's value without pending entries that are records. */
static uint32_t clear_stream(struct rr_leftovers *left, const struct rr_upkeep *upkeep,
			     uint32_t crashed, uint32_t key, const struct rl_reply *value)
{
	const struct rl_reply *groups = &value->elements[RR_STREAM_GROUPS];
	struct rl_reply parts[RR_STREAM_GROUPS + 1];
	struct rl_reply *cleared = rr_calloc(groups->length + 1, sizeof(*cleared));
	const struct rl_reply whole = list_of(parts, RR_STREAM_GROUPS + 1);
	uint32_t number;

	memcpy(parts, value->elements, sizeof(parts));
	for (size_t i = 0; i < groups->length; i++) {
		const struct rl_reply *group = groups->elements[i].elements;
		struct rl_reply *its = rr_memdup(group, (RR_GROUP_PENDING + 1) * sizeof(*its));

		its[RR_GROUP_PENDING] = keep_others(left, upkeep, crashed, key,
						    &group[RR_GROUP_PENDING], 1,
						    &group[RR_GROUP_NAME]);
		cleared[i] = list_of(its, RR_GROUP_PENDING + 1);
	}
	parts[RR_STREAM_GROUPS] = list_of(cleared, groups->length);
	number = rr_terms_reply(left->contents->table->terms, &whole);
	for (size_t i = 0; i < groups->length; i++) {
		free(cleared[i].elements[RR_GROUP_PENDING].elements);
		free(cleared[i].elements);
	}
	free(cleared);
	return number;
}

/* Is it a lock that a client wrote last which has not crashed? */
static bool is_of_another(const struct rr_leftovers *left, uint32_t crashed,
			  const struct rl_reply *key)
{
	for (size_t i = 0; left->locks && i < left->locks->n; i++) {
		const struct rr_lock_key *lock = &left->locks->all[i];

		if (lock->database == key[RR_KEY_DATABASE].integer &&
		    lock->length == key[RR_KEY_NAME].length &&
		    memcmp(lock->name, key[RR_KEY_NAME].text, lock->length) == 0)
			return left->makers[i] < 0 ||
			       !(crashed >> (left->makers[i] & ~RR_MAKER_LATE) & 1);
	}
	return false;
}

/* The number of a key without leftovers; RR_NO_ID = it is one, or nothing else is left of it. */
static uint32_t clear_key(struct rr_leftovers *left, const struct rr_upkeep *upkeep,
			  uint32_t crashed, const struct rl_reply *key)
{
	struct rr_terms *terms = left->contents->table->terms;
	const uint32_t name = name_of(terms, key);
	const bool is_lasting = key->elements[RR_KEY_LEFT_MS].integer < 0;
	const size_t size = size_of_member(key->elements);
	struct rl_reply parts[RR_KEY_PARTS], value;
	const struct rl_reply rest = list_of(parts, RR_KEY_PARTS);
	uint32_t number = RR_NO_ID;

	memcpy(parts, key->elements, sizeof(parts));
	if (is_kept_up(upkeep, crashed, name, RR_NO_ID)) {
		if (!is_lasting && left->n_leases < RR_LEASES_MAX &&
		    !is_of_another(left, crashed, key->elements)) {
			left->leases[left->n_leases++] = key;
			return RR_NO_ID;
		}
		if (rr_contents_has_type(key->elements, "string")) {
			left->n_records++;
			return RR_NO_ID;
		}
	}
	if (size > 0) {
		value = keep_others(left, upkeep, crashed, name, &key->elements[RR_KEY_VALUE], size,
				    NULL);
		parts[RR_KEY_VALUE] = value;
		number = value.length ? rr_terms_reply(terms, &rest) : RR_NO_ID;
		free(value.elements);
		return number;
	}
	if (rr_contents_has_type(key->elements, "stream"))
		parts[RR_KEY_VALUE] = terms->reply[clear_stream(left, upkeep, crashed, name,
								&key->elements[RR_KEY_VALUE])]
					      .reply;
	return rr_terms_reply(terms, &rest);
}

bool rr_leftovers_find(struct rr_leftovers *left, const struct rr_upkeep *upkeep, uint32_t server,
		       uint32_t crashed)
{
	struct rr_contents *contents = left->contents;
	struct rr_terms *terms = contents->table->terms;
	const uint32_t number = rr_contents_number(contents, server);
	struct rl_reply whole, rest;

	left->cleared = number;
	left->n_leases = left->n_records = 0;
	if (number == RR_NO_ID)
		return false;
	whole = terms->reply[number].reply;
	rest = list_of(rr_calloc(whole.length + 1, sizeof(rest)), 0);
	for (size_t i = 0; i < whole.length; i++) {
		const uint32_t key = clear_key(left, upkeep, crashed, &whole.elements[i]);

		if (key != RR_NO_ID)
			rest.elements[rest.length++] = terms->reply[key].reply;
	}
	left->cleared = rr_terms_reply(terms, &rest);
	free(rest.elements);
	return true;
}

/* ---- Beside a serial execution ---------------------------------------------------------------- */

static bool has_passed(const struct rr_leftovers *left, long long ms)
{
	return ms >= 0 && left->lapse_ns > 0 &&
	       (left->lapse_ns >= RR_LAPSES_NS || (ms - 1) * MS <= left->lapse_ns);
}

/* The rest, its keys with the times that `times` gives them. */
static uint32_t with_times(const struct rr_leftovers *left, const struct rl_reply *other,
			   bool (*is_as_there)(const struct rr_leftovers *left, long long ms,
					       long long there_ms),
			   bool adds)
{
	struct rr_terms *terms = left->contents->table->terms;
	const struct rl_reply rest = terms->reply[left->cleared].reply;
	struct rl_reply whole = list_of(rr_calloc(rest.length + other->length + 1, sizeof(whole)),
					0);
	struct rl_reply(*parts)[RR_KEY_PARTS] = rr_calloc(rest.length + 1, sizeof(*parts));
	uint32_t number;

	for (size_t i = 0; i < rest.length; i++) {
		const struct rl_reply *there = find_key(other, &rest.elements[i]);
		struct rl_reply *its = parts[i];

		memcpy(its, rest.elements[i].elements, sizeof(*parts));
		if (there && is_as_there(left, its[RR_KEY_LEFT_MS].integer,
					 there->elements[RR_KEY_LEFT_MS].integer))
			its[RR_KEY_LEFT_MS] = there->elements[RR_KEY_LEFT_MS];
		whole.elements[whole.length++] = list_of(its, RR_KEY_PARTS);
	}
	for (size_t i = 0; i < other->length && adds; i++) {
		const struct rl_reply *key = &other->elements[i];

		if (!find_key(&rest, key) &&
		    has_passed(left, key->elements[RR_KEY_LEFT_MS].integer))
			whole.elements[whole.length++] = *key;
	}
	qsort(whole.elements, whole.length, sizeof(whole), rr_contents_compare_keys);
	number = rr_terms_reply(terms, &whole);
	free(whole.elements);
	free(parts);
	return number;
}

static bool is_shorter(const struct rr_leftovers *left, long long ms, long long there_ms)
{
	return ms >= 0 && ms < there_ms && has_passed(left, there_ms - ms);
}

static bool lacks_end(const struct rr_leftovers *left, long long ms, long long there_ms)
{
	return (ms < 0 && there_ms >= 0) || is_shorter(left, ms, there_ms);
}

uint32_t rr_leftovers_beside(const struct rr_leftovers *left, uint32_t other)
{
	const struct rl_reply there = left->contents->table->terms->reply[other].reply;

	return left->lapse_ns > 0 ? with_times(left, &there, is_shorter, true) : left->cleared;
}

uint32_t rr_leftovers_end_leases(const struct rr_leftovers *left, uint32_t server)
{
	struct rr_server_table *table = left->contents->table;

	for (size_t i = 0; i < left->n_leases && server != RR_NO_ID; i++) {
		const struct rl_reply *key = left->leases[i]->elements;
		char database[24];
		struct rl_command command = {
			.n_words = 5,
			.words = { { "EVAL", 4 },
				   { "redis.call('SELECT', ARGV[1]) return redis.call('DEL', KEYS[1])",
				     0 },
				   { "1", 1 },
				   { key[RR_KEY_NAME].text, key[RR_KEY_NAME].length } },
		};
		struct rr_question question = { .kind = RR_ASK_COMMAND,
						.slot = RR_ASKER_SLOTS - 1 };
		const struct rr_server_row *row;

		snprintf(database, sizeof(database), "%lld", key[RR_KEY_DATABASE].integer);
		command.words[1].length = strlen(command.words[1].text);
		command.words[4] = (struct rl_word){ database, strlen(database) };
		question.argument = rr_terms_command(table->terms, &command);
		row = rr_server_table_ask(table, server, &question);
		server = row ? row->to : RR_NO_ID;
	}
	return server;
}

/* ---- How it differs ---------------------------------------------------------------------------- */

/* Is all of a key in another one, and nothing else? */
static bool is_part_of(struct rr_terms *terms, const struct rl_reply *key,
		       const struct rl_reply *there)
{
	size_t n = 0, i = 0;
	uint32_t *members;

	if (!there || is_same_value(terms, key, there))
		return there != NULL;
	members = members_of(terms, key, &n);
	while (i < n && has_member(terms, there, members[i]))
		i++;
	free(members);
	return size_of_member(key->elements) > 0 && i == n;
}

enum rr_shortfall rr_leftovers_shortfall(const struct rr_leftovers *left, uint32_t other)
{
	struct rr_terms *terms = left->contents->table->terms;
	const struct rl_reply rest = terms->reply[left->cleared].reply;
	const struct rl_reply there = terms->reply[other].reply;
	size_t i = 0;

	if (with_times(left, &there, lacks_end, true) == other)
		return RR_SHORT_OF_TIMES;
	while (i < rest.length &&
	       is_part_of(terms, &rest.elements[i], find_key(&there, &rest.elements[i])))
		i++;
	return i == rest.length ? RR_SHORT_OF_PARTS : RR_SHORT_OF_WORK;
}
