/* SPDX-License-Identifier: MIT */
#include "leftovers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "serial.h"

/* MOVED: it was there before, with another value; AT_REST: a member with its value, between turns. */
enum { RESTORED = 1, CHANGED = 2, MOVED = 4, AT_REST = 8 };
enum { MS = 1000000 };

/* Compared byte by byte. */
struct part {
	uint32_t operation;
	uint32_t key;    /* database and name, a number of the terms' replies */
	uint32_t member; /* a number likewise, or that of a member with its value; RR_NO_ID = the
			  * whole key */
};

/* ---- Parts of keys ----------------------------------------------------------------- */

static struct rdl_reply list_of(struct rdl_reply *elements, size_t n)
{
	return (struct rdl_reply){ .type = RDL_REPLY_ARRAY, .elements = elements, .length = n };
}

static uint32_t name_of(struct rr_terms *terms, const struct rdl_reply *key)
{
	const struct rdl_reply name = list_of(key->elements, RR_KEY_LEFT_MS);

	return rr_terms_reply(terms, &name);
}

/* How many elements of a value are one member of it; 0: it has no members. */
static size_t size_of_member(const struct rdl_reply *key)
{
	return rr_contents_has_type(key, "set") || rr_contents_has_type(key, "list") ? 1 :
	       rr_contents_has_type(key, "zset")                                     ? 2 :
	       rr_contents_has_type(key, "hash") ? RR_HASH_GROUP :
						   0;
}

/* A pending entry of a group as a member of its stream: [group, id, owner]. Who claims it takes it
 * from one owner's list, and has it in its own until that is acknowledged. */
static uint32_t number_of_pending(struct rr_terms *terms, const struct rdl_reply *group,
				  const struct rdl_reply *entry)
{
	struct rdl_reply words[] = { *group, entry->elements[0], entry->elements[1] };
	const struct rdl_reply member = list_of(words, 3);

	return rr_terms_reply(terms, &member);
}

/* The pending entries of all groups of a stream; of any other key its members. A hash's field is a
 * member with its value, a sorted set's without its score. *n numbers, malloc'd. */
static uint32_t *members_of(struct rr_terms *terms, const struct rdl_reply *key, size_t *n)
{
	const struct rdl_reply *value = &key->elements[RR_KEY_VALUE];
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
		const struct rdl_reply *group =
			value->elements[RR_STREAM_GROUPS].elements[g].elements;
		const struct rdl_reply *pending = &group[RR_GROUP_PENDING];

		for (size_t i = 0; i < pending->length; i++) {
			rr_array_grow(&members, *n, sizeof(*members));
			members[(*n)++] = number_of_pending(terms, &group[RR_GROUP_NAME],
							    &pending->elements[i]);
		}
	}
	return members;
}

static bool has_member(struct rr_terms *terms, const struct rdl_reply *key, uint32_t member)
{
	size_t n = 0, i = 0;
	uint32_t *members = key ? members_of(terms, key, &n) : NULL;

	while (i < n && members[i] != member)
		i++;
	free(members);
	return i < n;
}

/* The number of a member with its value (a score, a field's text); RR_NO_ID: it is not there, or has
 * none. */
static uint32_t value_of_member(struct rr_terms *terms, const struct rdl_reply *key,
				uint32_t member)
{
	const size_t size = key ? size_of_member(key->elements) : 0;
	struct rdl_reply *elements = key ? key->elements[RR_KEY_VALUE].elements : NULL;

	for (size_t i = 0; size > 1 && i + size <= key->elements[RR_KEY_VALUE].length; i += size) {
		const struct rdl_reply group = list_of(&elements[i], size);

		if (rr_terms_reply(terms, &elements[i]) == member)
			return rr_terms_reply(terms, &group);
	}
	return RR_NO_ID;
}

/* ---- What complete runs take away again ------------------------------------------------ */

static void note_fate(struct rr_upkeep *upkeep, struct part part, unsigned fate)
{
	bool is_new;
	const uint32_t number = rr_intern_put(&upkeep->parts, &part, sizeof(part), &is_new);

	if (is_new) {
		rr_array_grow(&upkeep->fates, number, sizeof(*upkeep->fates));
		upkeep->fates[number] = 0;
	}
	upkeep->fates[number] |= (uint8_t)fate;
}

/* A turn began with `began` and ended with `ended`; what was there meanwhile, of one key. */
static void compare_key(struct rr_upkeep *upkeep, struct rr_terms *terms, uint32_t operation,
			const struct rdl_reply *key, const struct rdl_reply *began,
			const struct rdl_reply *ended)
{
	struct part part = { operation, name_of(terms, key), RR_NO_ID };
	size_t n;
	uint32_t *members;

	if (rr_contents_have_same_value(terms, key, began))
		return;
	note_fate(upkeep, part,
		  rr_contents_have_same_value(terms, began, ended) ? RESTORED : CHANGED);
	members = members_of(terms, key, &n);
	for (size_t i = 0; i < n; i++) {
		const uint32_t was = value_of_member(terms, began, members[i]);
		const uint32_t becomes = value_of_member(terms, ended, members[i]);
		const struct part rests[] = { { RR_NO_OPERATION, part.key, was },
					      { RR_NO_OPERATION, part.key, becomes } };

		part.member = members[i];
		note_fate(upkeep, rests[0], AT_REST);
		note_fate(upkeep, rests[1], AT_REST);
		if (!has_member(terms, began, members[i]))
			note_fate(upkeep, part,
				  has_member(terms, ended, members[i]) ? CHANGED : RESTORED);
		else if (value_of_member(terms, key, members[i]) != was)
			note_fate(upkeep, part,
				  becomes == RR_NO_ID || becomes == was ? MOVED | RESTORED :
									  MOVED | CHANGED);
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
	struct rdl_reply first, whole, last;
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
		const struct rdl_reply *key = &whole.elements[i];

		compare_key(upkeep, terms, operation, key, rr_contents_find(&first, key),
			    rr_contents_find(&last, key));
	}
	return true;
}

/* All that was there in a turn, from its last place but the end back to where it began. */
static bool learn_turn(struct rr_upkeep *upkeep, const struct rr_serial *serial,
		       struct rr_contents *contents, uint32_t place, uint32_t end)
{
	const struct rr_serial_predecessor *turn = &serial->predecessors[place];
	const uint32_t first = rr_serial_server(serial, turn->began);
	const uint32_t last = rr_serial_server(serial, end);

	for (; place != turn->began; place = serial->predecessors[place].from) {
		if (!compare_states(upkeep, contents, turn->whose, first,
				    rr_serial_server(serial, place), last))
			return false;
	}
	return true;
}

/* Of each operation that is through with its turn: all that was there since it began. */
bool rr_upkeep_learn(struct rr_upkeep *upkeep, const struct rr_serial *serial,
		     struct rr_contents *contents)
{
	upkeep->is_known = true;
	for (uint32_t i = 0; i < serial->orders.n; i++) {
		if (serial->predecessors[i].whose != RR_NO_OPERATION &&
		    rr_serial_is_between(serial, i) && !learn_turn(upkeep, serial, contents, i, i))
			return false;
	}
	for (size_t i = 0; i < serial->n_turns; i++) {
		const struct rr_serial_turn *turn = &serial->turns[i];

		if (serial->predecessors[turn->last].whose != RR_NO_OPERATION &&
		    !learn_turn(upkeep, serial, contents, turn->last, turn->end))
			return false;
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

static unsigned fate_of(const struct rr_upkeep *upkeep, struct part part)
{
	const uint32_t number = rr_intern_find(&upkeep->parts, &part, sizeof(part));

	return number == RR_NO_ID ? 0 : upkeep->fates[number];
}

/* Does a complete run of one of the operations take it away again, or move it and put it back, and
 * none leaves it? `value`: of a member with its value, which is moved unless it is at rest. */
static bool is_kept_up(const struct rr_upkeep *upkeep, uint32_t operations, uint32_t key,
		       uint32_t member, uint32_t value)
{
	const bool is_at_rest = value != RR_NO_ID &&
				fate_of(upkeep, (struct part){ RR_NO_OPERATION, key, value }) != 0;
	bool is = false;

	for (uint32_t i = 0; i < RR_RUN_CLIENTS && !is; i++) {
		const struct part part = { i, key, member };
		const unsigned fate = operations >> i & 1 ? fate_of(upkeep, part) : 0;

		is = (fate & ~MOVED) == RESTORED && !(fate & MOVED && is_at_rest);
	}
	return is;
}

/* ---- What a state holds without them ------------------------------------------------------ */

/* Of a list of groups of elements, those that are no records; the elements are the caller's to
 * free. */
static struct rdl_reply keep_others(struct rr_leftovers *left, const struct rr_upkeep *upkeep,
				    uint32_t crashed, uint32_t key, const struct rdl_reply *members,
				    size_t size, const struct rdl_reply *group)
{
	struct rr_terms *terms = left->contents->table->terms;
	struct rdl_reply others = list_of(rr_calloc(members->length + 1, sizeof(others)), 0);

	for (size_t i = 0; i + size <= members->length; i += size) {
		const struct rdl_reply *member = &members->elements[i];
		const struct rdl_reply whole = list_of(&members->elements[i], size);
		const uint32_t value = !group && size > 1 ? rr_terms_reply(terms, &whole) :
							    RR_NO_ID;
		const uint32_t number = group ? number_of_pending(terms, group, member) :
						rr_terms_reply(terms, member);

		if (is_kept_up(upkeep, crashed, key, number, value)) {
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
			     uint32_t crashed, uint32_t key, const struct rdl_reply *value)
{
	const struct rdl_reply *groups = &value->elements[RR_STREAM_GROUPS];
	struct rdl_reply parts[RR_STREAM_GROUPS + 1];
	struct rdl_reply *cleared = rr_calloc(groups->length + 1, sizeof(*cleared));
	const struct rdl_reply whole = list_of(parts, RR_STREAM_GROUPS + 1);
	uint32_t number;

	memcpy(parts, value->elements, sizeof(parts));
	for (size_t i = 0; i < groups->length; i++) {
		const struct rdl_reply *group = groups->elements[i].elements;
		struct rdl_reply *its = rr_memdup(group, (RR_GROUP_PENDING + 1) * sizeof(*its));

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
			  const struct rdl_reply *key)
{
	for (size_t i = 0; left->locks && i < left->locks->n; i++) {
		const struct rr_lock_key *lock = &left->locks->all[i];

		if (lock->database == key[RR_KEY_DATABASE].integer &&
		    lock->length == key[RR_KEY_NAME].length &&
		    memcmp(lock->name, key[RR_KEY_NAME].text, lock->length) == 0)
			return !(crashed & left->makers[i]);
	}
	return false;
}

/* The number of a key without leftovers; RR_NO_ID = it is one, or nothing else is left of it. */
static uint32_t clear_key(struct rr_leftovers *left, const struct rr_upkeep *upkeep,
			  uint32_t crashed, const struct rdl_reply *key)
{
	struct rr_terms *terms = left->contents->table->terms;
	const uint32_t name = name_of(terms, key);
	const bool is_lasting = key->elements[RR_KEY_LEFT_MS].integer < 0;
	const size_t size = size_of_member(key->elements);
	struct rdl_reply parts[RR_KEY_PARTS], value;
	const struct rdl_reply rest = list_of(parts, RR_KEY_PARTS);
	uint32_t number = RR_NO_ID;

	memcpy(parts, key->elements, sizeof(parts));
	if (is_kept_up(upkeep, crashed, name, RR_NO_ID, RR_NO_ID)) {
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
	if (rr_contents_has_type(key->elements, "stream")) {
		number = clear_stream(left, upkeep, crashed, name, &key->elements[RR_KEY_VALUE]);
		parts[RR_KEY_VALUE] = terms->reply[number].reply;
	}
	return rr_terms_reply(terms, &rest);
}

bool rr_leftovers_find(struct rr_leftovers *left, const struct rr_upkeep *upkeep, uint32_t server,
		       uint32_t crashed)
{
	struct rr_contents *contents = left->contents;
	struct rr_terms *terms = contents->table->terms;
	const uint32_t number = rr_contents_number(contents, server);
	struct rdl_reply whole, rest;

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
static uint32_t with_times(const struct rr_leftovers *left, const struct rdl_reply *other,
			   bool (*is_as_there)(const struct rr_leftovers *left, long long ms,
					       long long there_ms))
{
	struct rr_terms *terms = left->contents->table->terms;
	const struct rdl_reply rest = terms->reply[left->cleared].reply;
	struct rdl_reply whole = list_of(rr_calloc(rest.length + other->length + 1, sizeof(whole)),
					 0);
	struct rdl_reply(*parts)[RR_KEY_PARTS] = rr_calloc(rest.length + 1, sizeof(*parts));
	uint32_t number;

	for (size_t i = 0; i < rest.length; i++) {
		const struct rdl_reply *there = rr_contents_find(other, &rest.elements[i]);
		struct rdl_reply *its = parts[i];

		memcpy(its, rest.elements[i].elements, sizeof(*parts));
		if (there && is_as_there(left, its[RR_KEY_LEFT_MS].integer,
					 there->elements[RR_KEY_LEFT_MS].integer))
			its[RR_KEY_LEFT_MS] = there->elements[RR_KEY_LEFT_MS];
		whole.elements[whole.length++] = list_of(its, RR_KEY_PARTS);
	}
	for (size_t i = 0; i < other->length; i++) {
		const struct rdl_reply *key = &other->elements[i];

		if (!rr_contents_find(&rest, key) &&
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
	const struct rdl_reply there = left->contents->table->terms->reply[other].reply;

	return left->lapse_ns > 0 ? with_times(left, &there, is_shorter) : left->cleared;
}

uint32_t rr_leftovers_end_leases(const struct rr_leftovers *left, uint32_t server)
{
	for (size_t i = 0; i < left->n_leases && server != RR_NO_ID; i++) {
		const struct rdl_reply *key = left->leases[i]->elements;
		char database[24];
		struct rdl_command command = {
			.n_words = 5,
			.words = { { "EVAL", 4 },
				   { "redis.call('SELECT', ARGV[1]) return redis.call('DEL', KEYS[1])",
				     0 },
				   { "1", 1 },
				   { key[RR_KEY_NAME].text, key[RR_KEY_NAME].length } },
		};
		struct rr_question question = { .kind = RR_ASK_COMMAND, .slot = RR_LOOKING_SLOT };

		snprintf(database, sizeof(database), "%lld", key[RR_KEY_DATABASE].integer);
		command.words[1].length = strlen(command.words[1].text);
		command.words[4] = (struct rdl_word){ database, strlen(database) };
		question.argument = rr_terms_command(left->contents->table->terms, &command);
		server = rr_contents_after(left->contents, server, &question);
	}
	return server;
}

/* ---- How it differs ---------------------------------------------------------------------------- */

/* Is all of a key in another one, and nothing else? */
static bool is_part_of(struct rr_terms *terms, const struct rdl_reply *key,
		       const struct rdl_reply *there)
{
	size_t n = 0, i = 0;
	uint32_t *members;

	if (!there || rr_contents_have_same_value(terms, key, there))
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
	const struct rdl_reply rest = terms->reply[left->cleared].reply;
	const struct rdl_reply there = terms->reply[other].reply;
	size_t i = 0;

	if (with_times(left, &there, lacks_end) == other)
		return RR_SHORT_OF_TIMES;
	while (i < rest.length &&
	       is_part_of(terms, &rest.elements[i], rr_contents_find(&there, &rest.elements[i])))
		i++;
	return i == rest.length ? RR_SHORT_OF_PARTS : RR_SHORT_OF_WORK;
}
