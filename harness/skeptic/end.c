/* SPDX-License-Identifier: MIT */
#include "end.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/reply.h"

/* ---- The data --------------------------------------------------------------------------- */

/* Of each key: its database, name, milliseconds left, type, whether it is ignored (ARGV: of each pattern
 * itself, and its field), and its value as a list without ignored fields. Fields of streams that follow
 * from how they are stored, or from when they were looked at, are left out. */
static const char read_data[] =
	"local function flatten(value, into) "
	"if type(value) ~= 'table' then into[#into + 1] = tostring(value) return end "
	"if value.ok then into[#into + 1] = value.ok return end "
	"local at = 1 "
	"while at <= #value do "
	"local word = value[at] "
	"if word == 'radix-tree-keys' or word == 'radix-tree-nodes' or word == 'seen-time' or "
	"word == 'active-time' then at = at + 2 "
	"else into[#into + 1] = '(' flatten(word, into) at = at + 1 end end "
	"into[#into + 1] = ')' end "
	"local all = {} "
	"for db in string.gmatch(redis.call('INFO', 'keyspace'), 'db(%d+):') do "
	"redis.call('SELECT', db) "
	"local ignored = {} "
	"for at = 1, #ARGV, 2 do "
	"for _, key in ipairs(redis.call('KEYS', ARGV[at])) do ignored[key] = 1 end end "
	"local excused = {} " /* fields of hashes */
	"for at = 1, #ARGV, 2 do "
	"local field = ARGV[at + 1] "
	"local hashes = string.sub(ARGV[at], 1, #ARGV[at] - #field - 1) "
	"for _, key in ipairs(#field > 0 and redis.call('KEYS', hashes) or {}) do "
	"if redis.call('TYPE', key).ok == 'hash' then "
	"excused[key] = excused[key] or {} "
	"local cursor = 0 "
	"repeat "
	"local found = redis.call('HSCAN', key, cursor, 'MATCH', field) "
	"for i = 1, #found[2], 2 do excused[key][found[2][i]] = true end "
	"cursor = found[1] "
	"until cursor == '0' end end end "
	"local keys = redis.call('KEYS', '*') table.sort(keys) "
	"for _, key in ipairs(keys) do "
	"local left = redis.call('PTTL', key) "
	"if left ~= -2 then "
	"local kind, value = redis.call('TYPE', key).ok, {} "
	"if kind == 'string' then value = { redis.call('GET', key) } "
	"elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1) "
	"elseif kind == 'set' then value = redis.call('SMEMBERS', key) "
	"elseif kind == 'hash' then value = redis.call('HGETALL', key) "
	"if #value < 2000 then for at = 1, #value, 2 do "
	"local ttl = redis.pcall('HPTTL', key, 'FIELDS', 1, value[at]) "
	"if type(ttl) ~= 'table' or ttl.err then break end "
	"if ttl[1] > 0 then value[at + 1] = value[at + 1] .. ' for ' .. ttl[1] end end end "
	"if excused[key] then "
	"local rest = {} "
	"for at = 1, #value, 2 do if not excused[key][value[at]] then "
	"rest[#rest + 1] = value[at] rest[#rest + 1] = value[at + 1] end end "
	"if #rest == 0 then ignored[key] = 1 end "
	"value = rest end "
	"elseif kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') "
	"else local info = kind == 'stream' and "
	"redis.pcall('XINFO', 'STREAM', key, 'FULL', 'COUNT', 0) or { err = '' } "
	"if info.err then value = { redis.call('DUMP', key) } else flatten(info, value) end end "
	"all[#all + 1] = { tonumber(db), key, left, kind, ignored[key] or 0, value } "
	"end end end return all";

bool end_read_data(struct drive *drive, uint32_t *data)
{
	const struct rr_skeptic_config *config = drive->config;
	struct rdl_command command = {
		.n_words = 3,
		.words = { { "EVAL", 4 }, { read_data, sizeof(read_data) - 1 }, { "0", 1 } }
	};
	struct rdl_reply reply;

	for (size_t i = 0; i < config->n_ignored && command.n_words + 1 < RDL_WORDS_MAX; i++) {
		const char *pattern = config->ignored[i], *field = rr_ignored_field(pattern);

		command.words[command.n_words++] = (struct rdl_word){ pattern, strlen(pattern) };
		command.words[command.n_words++] = (struct rdl_word){ field, strlen(field) };
	}
	if (!rr_asker_run(drive->servers.askers[0], &reply, &command))
		return rr_error_set(&drive->servers.error, RR_ERROR_REDIS, "%s",
				    rr_asker_error(drive->servers.askers[0]));
	if (reply.type != RDL_REPLY_ARRAY)
		return rr_error_set(&drive->servers.error, RR_ERROR_REDIS,
				    "the skeptic cannot read the data: %.300s",
				    reply.text ? reply.text : "");
	*data = rr_terms_reply(drive->terms, &reply);
	return true;
}

uint32_t end_key_number(const struct drive *drive, const struct rdl_reply *of)
{
	char *name = rr_asprintf("%lld %.*s", of[OF_DATABASE].integer, (int)of[OF_KEY].length,
				 of[OF_KEY].text);
	const uint32_t number = rr_intern_put(&drive->terms->words, name, strlen(name), NULL);

	free(name);
	return number;
}

int64_t end_expiry_ns(const struct drive *drive, uint32_t data, uint32_t key)
{
	const struct rdl_reply *all = &drive->terms->reply[data].reply;
	int64_t first_ns = RR_NEVER;

	for (size_t i = 0; i < all->length; i++) {
		const struct rdl_reply *of = all->elements[i].elements;
		/* A key whose time is just over is still there. */
		const int64_t left_ns = (of[OF_LEFT].integer + 1) * INT64_C(1000000);

		if (of[OF_LEFT].integer >= 0 && left_ns < first_ns &&
		    (key == RR_NO_ID || end_key_number(drive, of) == key))
			first_ns = left_ns;
	}
	return first_ns;
}

/* Was a key what it is now: with that value and that time to live? */
static bool was_there(const struct drive *drive, uint32_t before, const struct rdl_reply *is)
{
	const struct rdl_reply all = drive->terms->reply[before].reply;
	const uint32_t number = rr_terms_reply(drive->terms, is);
	bool was = false;

	for (size_t i = 0; i < all.length && !was; i++)
		was = rr_terms_reply(drive->terms, &all.elements[i]) == number;
	return was;
}

size_t end_new_leases(const struct drive *drive, uint32_t before, uint32_t data, uint32_t *keys,
		      size_t most)
{
	const struct rdl_reply all = drive->terms->reply[data].reply;
	size_t n = 0;

	for (size_t i = 0; i < all.length && n < most; i++) {
		const struct rdl_reply *of = all.elements[i].elements;

		if (of[OF_LEFT].integer >= 0 &&
		    (before == RR_NO_ID || !was_there(drive, before, &all.elements[i])))
			keys[n++] = end_key_number(drive, of);
	}
	return n;
}

bool end_stretch(struct drive *drive, uint32_t data, uint32_t key, int64_t ns)
{
	const struct rdl_reply *all = &drive->terms->reply[data].reply;
	struct rdl_reply reply;

	for (size_t i = 0; i < all->length; i++) {
		const struct rdl_reply *of = all->elements[i].elements;

		if (of[OF_LEFT].integer >= 0 && end_key_number(drive, of) == key &&
		    !rr_asker_say(drive->servers.askers[0], &reply, "EVAL %s 0 %lld %.*s %lld",
				  "redis.call('SELECT', ARGV[1]) "
				  "return redis.call('PEXPIRE', ARGV[2], ARGV[3])",
				  of[OF_DATABASE].integer, (int)of[OF_KEY].length, of[OF_KEY].text,
				  (long long)(of[OF_LEFT].integer + ns / 1000000)))
			return rr_error_set(&drive->servers.error, RR_ERROR_REDIS, "%s",
					    rr_asker_error(drive->servers.askers[0]));
	}
	return true;
}

/* ---- Tokens ----------------------------------------------------------------------------- */

/* Letters and digits. A number before a word (1234sold, 12ms) is a token of its own. */
size_t end_token_length(const char *text, size_t n)
{
	size_t n_digits = 0, length;
	bool is_word = false;

	while (n_digits < n && isdigit((unsigned char)text[n_digits]))
		n_digits++;
	length = n_digits;
	while (length < n && isalpha((unsigned char)text[length]))
		is_word |= !isxdigit((unsigned char)text[length++]);
	if (n_digits > 0 && is_word && (length == n || !isdigit((unsigned char)text[length])))
		return n_digits;
	while (length < n && isalnum((unsigned char)text[length]))
		length++;
	return length;
}

static void note_tokens(struct end *end, struct end_tokens *tokens, struct end_token like,
			const char *text, size_t n)
{
	for (size_t at = 0; at < n; at++) {
		const size_t length = end_token_length(text + at, n - at);
		bool is_new;
		uint32_t i;

		if (length == 0)
			continue;
		like.token = rr_intern_put(&tokens->all, text + at, length, NULL);
		at += length - 1;
		i = rr_intern_put(&end->places, &like.token, sizeof(like.token), &is_new);
		if (is_new) {
			rr_array_grow(&end->tokens, i, sizeof(*end->tokens));
			end->tokens[end->n_tokens++] = like;
		}
		end->tokens[i].is_left |= like.is_left;
	}
}

static void note_received(struct end *end, struct end_tokens *tokens, size_t operation,
			  size_t event, const struct rdl_reply *reply)
{
	for (size_t i = 0; reply->type == RDL_REPLY_ARRAY && i < reply->length; i++)
		note_received(end, tokens, operation, event, &reply->elements[i]);
	for (size_t at = 0; reply->text && at < reply->length; at++) {
		const size_t length = end_token_length(reply->text + at, reply->length - at);

		if (length == 0)
			continue;
		rr_array_grow(&end->received, end->n_received, sizeof(*end->received));
		end->received[end->n_received++] = (struct end_received){
			rr_intern_put(&tokens->all, reply->text + at, length, NULL),
			(uint8_t)operation, event
		};
		at += length - 1;
	}
}

const struct end_token *end_find_token(const struct end *end, uint32_t token)
{
	const uint32_t i = rr_intern_find(&end->places, &token, sizeof(token));

	return i == RR_NO_ID ? NULL : &end->tokens[i];
}

void end_learn_tokens(struct end_tokens *tokens, const struct end *a, const struct end *b)
{
	if (tokens->n_fixed < tokens->all.n) {
		tokens->is_fixed = rr_realloc(tokens->is_fixed, tokens->all.n, sizeof(bool));
		memset(tokens->is_fixed + tokens->n_fixed, 0, tokens->all.n - tokens->n_fixed);
		tokens->n_fixed = tokens->all.n;
	}
	for (size_t i = 0; i < a->n_tokens; i++) {
		const bool is_fixed = end_find_token(b, a->tokens[i].token) != NULL;

		tokens->is_fixed[a->tokens[i].token] |= is_fixed;
		tokens->has_random |= !is_fixed;
	}
	tokens->has_random |= a->n_tokens != b->n_tokens;
}

void end_tokens_release(struct end_tokens *tokens)
{
	rr_intern_release(&tokens->all);
	rr_intern_release(&tokens->prefixes);
	free(tokens->is_fixed);
}
/* ---- Taking an end ------------------------------------------------------------------------ */

/* Are both commands of the same name, about the same key? */
static bool are_like(const struct execution *it, size_t event, size_t next)
{
	const struct event *a = &it->events[event], *b = &it->events[next];
	const struct rdl_command *command, *again;

	if (a->kind != EVENT_COMMAND || b->kind != EVENT_COMMAND)
		return false;
	command = &it->drive->terms->command[a->command].words;
	again = &it->drive->terms->command[b->command].words;
	return command->n_words == again->n_words &&
	       rr_words_are_same(command->words[0], again->words[0]) &&
	       (command->n_words == 1 || rr_words_are_same(command->words[1], again->words[1]));
}

/* Was it refused, and sent again? It said nothing else. */
static bool is_refused_attempt(const struct execution *it, size_t event, size_t next)
{
	const struct event *a = &it->events[event];
	const struct rdl_reply *reply = a->reply == RR_NO_ID ?
						NULL :
						&it->drive->terms->reply[a->reply].reply;
	const uint32_t *kind;

	if (!are_like(it, event, next) || a->changes || !reply)
		return false;
	kind = &it->drive->terms->command[a->command].kind;
	return rr_intern_find(&it->drive->writes, kind, sizeof(*kind)) != RR_NO_ID &&
	       (reply->type == RDL_REPLY_NIL || reply->type == RDL_REPLY_FAILED ||
		(reply->type == RDL_REPLY_INTEGER && reply->integer == 0) ||
		(reply->type == RDL_REPLY_ARRAY && reply->length == 0));
}

/* Did WATCH abort a transaction? */
static bool is_aborted(const struct execution *it, size_t at)
{
	const struct event *event = &it->events[at];
	const struct rr_terms *terms = it->drive->terms;

	return event->kind == EVENT_COMMAND && event->reply != RR_NO_ID &&
	       terms->reply[event->reply].reply.type == RDL_REPLY_NIL &&
	       rr_word_is(&terms->command[event->command].words.words[0], "EXEC");
}

/* What an operation has done and received, with one event more. */
static uint64_t add_to_prefix(uint64_t digest, const struct execution *it, size_t at)
{
	const struct event *event = &it->events[at];
	const struct rr_term_command *command = event->kind == EVENT_COMMAND ?
							&it->drive->terms->command[event->command] :
							NULL;

	digest = rr_bytes_digest(digest, &event->kind, sizeof(event->kind));
	if (command)
		digest = rr_bytes_digest(digest, &command->kind, sizeof(command->kind));
	if (command && command->words.n_words > 1)
		digest = rr_bytes_digest(digest, command->words.words[1].text,
					 command->words.words[1].length);
	return rr_bytes_digest(digest, &event->reply, sizeof(event->reply));
}

/* Are the last events that are kept a round of waiting before `rest`, the next ones? Returns its length,
 * or 0 where they are none. `prefixes[i]` is of the first i events. */
static size_t waiting_round(const struct end_tokens *tokens, const struct execution *it,
			    const size_t *kept, const uint64_t *prefixes, size_t n_kept,
			    const size_t *rest, size_t n_rest)
{
	for (size_t period = 1; period <= DRIVE_PERIOD && period <= n_kept; period++) {
		const size_t first = n_kept - period;
		uint64_t digest = prefixes[first];
		bool is_waiting = n_rest > 0 && are_like(it, kept[first], rest[0]);

		for (size_t i = first; i < n_kept && is_waiting; i++) {
			if (is_aborted(it, kept[i]) ||
			    (i - first < n_rest &&
			     is_refused_attempt(it, kept[i], rest[i - first])))
				continue;
			digest = add_to_prefix(digest, it, kept[i]);
			is_waiting = rr_intern_find(&tokens->prefixes, &digest, sizeof(digest)) !=
				     RR_NO_ID;
		}
		if (is_waiting)
			return period;
	}
	return 0;
}

/* Rule 5: the time that has passed between events of rounds of waiting has passed for others. */
static void discount_waiting(struct end *end, const struct execution *it, size_t operation,
			     size_t from, size_t to)
{
	const size_t client = it->events[from].client;

	for (size_t i = 0; i < end->n_given; i++) {
		struct given *given = &end->given[i];

		for (size_t j = given->event > from ? given->event : from;
		     j < to && given->operation == operation && given->left_ns != RR_NEVER; j++) {
			const struct event *event = &it->events[j];

			if (event->kind == EVENT_TIME && !(event->late >> client & 1))
				given->left_ns += event->ns;
		}
	}
}

/* Rules 2 and 3: leaves out events, and what was printed in them. */
static void take_rounds(struct end *end, const struct execution *it, size_t operation,
			const char *printed, size_t n_printed, bool is_serial,
			struct end_tokens *tokens)
{
	struct ended *ended = &end->operations[operation];
	const bool is_attributed = it->drive->config->parties.program->requests.n == 0;
	size_t *own = rr_calloc(it->n_events + 1, sizeof(*own));
	size_t *kept = rr_calloc(it->n_events + 1, sizeof(*kept));
	size_t *place = rr_calloc(it->n_events + 1, sizeof(*place));
	uint64_t *prefixes = rr_calloc(it->n_events + 1, sizeof(*prefixes));
	size_t n = 0, n_kept = 0, before = 0, discounted = 0;
	uint64_t digest = operation;
	FILE *out = rr_open_memory(&ended->output, &ended->n_output);

	/* The events of a client or request that count: those of time do not. And what each
	 * operation has done first in a serial execution. */
	for (size_t i = 0; i < it->n_events; i++) {
		if (it->events[i].operation != operation || it->events[i].kind == EVENT_TIME ||
		    it->events[i].is_mark)
			continue;
		own[n++] = i;
		if (!is_serial)
			continue;
		digest = add_to_prefix(digest, it, i);
		rr_intern_put(&tokens->prefixes, &digest, sizeof(digest), NULL);
	}
	prefixes[0] = operation;
	for (size_t i = 0; i < n; i++) {
		const size_t next = i + 1 < n ? own[i + 1] : own[i];
		size_t period = 0, first = next; /* of what is left out */

		place[n_kept] = i;
		kept[n_kept++] = own[i];
		prefixes[n_kept] = add_to_prefix(prefixes[n_kept - 1], it, own[i]);
		if (i + 1 < n && is_refused_attempt(it, own[i], next)) {
			first = kept[--n_kept];
			ended->has_waited = true;
		} else if (count_rounds(it, kept, n_kept, &period) > 0) {
			n_kept -= period;
			/* Behind the round that stays it has waited as well. */
			first = kept[n_kept - period];
			ended->is_cut = true;
		} else if (!is_serial) {
			period = waiting_round(tokens, it, kept, prefixes, n_kept, own + i + 1,
					       n - i - 1);
			n_kept -= period;
			first = period ? kept[n_kept] : next;
			ended->has_waited |= period > 0;
		}
		first = first > discounted ? first : discounted;
		if (first < next) {
			discount_waiting(end, it, operation, first, next);
			discounted = next;
		}
	}
	ended->prints_late = n > 1 && is_attributed && n_printed > 0 &&
			     it->events[own[n - 1]].n_printed == n_printed &&
			     it->events[own[n - 2]].n_printed == 0;
	for (size_t i = 0; i < n_kept; i++) {
		const struct event *event = &it->events[kept[i]];

		ended->history = rr_bytes_digest(ended->history, &event->command,
						 sizeof(event->command));
		ended->history = rr_bytes_digest(ended->history, &event->reply,
						 sizeof(event->reply));
		if (event->kind == EVENT_COMMAND)
			ended->shape = rr_bytes_digest(
				ended->shape, &it->drive->terms->command[event->command].name,
				sizeof(uint32_t));
	}
	/* What was printed before the first event, and in each that is kept. */
	for (size_t i = 0, k = 0; i < n && is_attributed; i++) {
		const size_t until = it->events[own[i]].n_printed;
		const bool is_kept = k < n_kept && place[k] == i;

		k += is_kept;
		if (until < before || until > n_printed)
			continue;
		if (is_kept || i == 0)
			fwrite(printed + before, 1, until - before, out);
		before = until;
	}
	fwrite(printed + before, 1, n_printed - before, out);
	fclose(out);
	free(own);
	free(kept);
	free(place);
	free(prefixes);
}

/* Takes the lines out that the user allows. */
static void take_allowed(struct ended *ended, const struct rr_skeptic_config *config)
{
	char *text;
	size_t size, length;
	FILE *out = rr_open_memory(&text, &size);

	for (size_t at = 0; at < ended->n_output; at += length + 1) {
		const char *line = ended->output + at;
		const char *end = memchr(line, '\n', ended->n_output - at);
		bool is_allowed = false;
		char *copy;

		length = end ? (size_t)(end - line) : ended->n_output - at;
		copy = rr_strndup(line, length);
		for (size_t i = 0; i < config->n_allowed && !is_allowed; i++) {
			regex_t pattern;

			if (regcomp(&pattern, config->allowed[i], REG_EXTENDED | REG_NOSUB))
				continue;
			is_allowed = regexec(&pattern, copy, 0, NULL, 0) == 0;
			regfree(&pattern);
		}
		free(copy);
		if (!is_allowed)
			fwrite(line, 1, length + (end != NULL), out);
	}
	fclose(out);
	free(ended->output);
	ended->output = text;
	ended->n_output = size;
}

/* The order of rule 1: what each operation has sent, then printed; then what is in the data. */
static void take_tokens(struct end *end, const struct execution *it, struct end_tokens *tokens)
{
	const struct rr_terms *terms = it->drive->terms;
	const struct rdl_reply *all = &terms->reply[end->data].reply;

	struct end_token like = { .first_sent = SIZE_MAX };

	for (size_t i = 0; i < end->n_operations; i++) {
		like = (struct end_token){ .operation = (uint8_t)i };
		for (size_t j = 0; j < it->n_events; j++) {
			const struct event *event = &it->events[j];
			const struct rdl_command *command;

			if (event->operation != i || event->is_mark)
				continue;
			like.first_sent = j;
			command = event->kind == EVENT_COMMAND ?
					  &terms->command[event->command].words :
					  NULL;
			for (size_t k = 0; command && k < command->n_words; k++)
				note_tokens(end, tokens, like, command->words[k].text,
					    command->words[k].length);
			if (event->reply != RR_NO_ID)
				note_received(end, tokens, i, j, &terms->reply[event->reply].reply);
		}
		like.is_left = true;
		like.first_sent = SIZE_MAX;
		note_tokens(end, tokens, like, end->operations[i].output,
			    end->operations[i].n_output);
	}
	like.operation = (uint8_t)end->n_operations;
	for (size_t i = 0; i < all->length; i++) {
		const struct rdl_reply *of = all->elements[i].elements;

		note_tokens(end, tokens, like, of[OF_KEY].text, of[OF_KEY].length);
		for (size_t j = 0; j < of[OF_VALUE].length; j++)
			note_tokens(end, tokens, like, of[OF_VALUE].elements[j].text,
				    of[OF_VALUE].elements[j].length);
	}
}

bool end_take(struct end *end, struct execution *it, uint32_t ran, bool is_serial,
	      struct end_tokens *tokens)
{
	const struct rr_skeptic_parties *parties = &it->drive->config->parties;
	const struct rr_program *program = parties->program;
	struct rdl_reply reply;

	*end = (struct end){
		.ran = ran,
		.data = it->data,
		.is_stuck = it->is_stuck,
		.is_long = it->is_long,
		.moved_ns = it->moved_ns,
		.n_given = it->n_given,
		.given = it->n_given > 0 ? rr_memdup(it->given, it->n_given * sizeof(*it->given)) :
					   NULL,
		.n_operations = parties->n_operations
	};
	if (!rr_asker_say(it->drive->servers.askers[0], &reply, "FUNCTION DUMP"))
		return rr_error_set(&it->drive->error, RR_ERROR_REDIS, "%s",
				    rr_asker_error(it->drive->servers.askers[0]));
	if (reply.type == RDL_REPLY_FAILED)
		reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	end->functions = rr_terms_reply(it->drive->terms, &reply);
	for (size_t i = 0; i < parties->n_operations; i++) {
		const size_t client = program->requests.n ? program->requests.places[i].client : i;
		const struct rr_skeptic_answer answer =
			parties->answer(parties->context, it->clients[client].party, i);
		struct ended *ended = &end->operations[i];

		*ended = (struct ended){ .has_ended = answer.has_ended,
					 .is_good = answer.is_good,
					 .is_declared = answer.is_declared,
					 .has_changed = it->operations[i].has_changed,
					 .status = answer.status,
					 .http = answer.http };
		take_rounds(end, it, i, answer.text, answer.length, is_serial, tokens);
		/* When it had its commands executed. Of many times the last ones give way. */
		for (size_t j = 0; j < it->n_events && ended->n_times < END_TIMES_MAX; j++) {
			const struct event *event = &it->events[j];

			if (event->kind == EVENT_COMMAND && event->operation == i &&
			    !event->is_mark &&
			    (ended->n_times == 0 ||
			     ended->times_ns[ended->n_times - 1] != event->ns))
				ended->times_ns[ended->n_times++] = event->ns;
		}
		if (it->drive->config->n_allowed)
			take_allowed(ended, it->drive->config);
	}
	take_tokens(end, it, tokens);
	return true;
}

void end_release(struct end *end)
{
	for (size_t i = 0; i < end->n_operations; i++)
		free(end->operations[i].output);
	rr_intern_release(&end->places);
	free(end->given);
	free(end->tokens);
	free(end->received);
	*end = (struct end){ 0 };
}
