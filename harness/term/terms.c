/* SPDX-License-Identifier: MIT */
#include "term.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/reply.h"

/* ---- Random values -------------------------------------------------------- */

void rr_to_hex(const unsigned char *bytes, size_t n, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
}

static void remember(struct rr_terms *terms, struct rr_term_name name, const unsigned char *bytes,
		     size_t n)
{
	if (n > RR_RANDOM_BYTES)
		n = RR_RANDOM_BYTES; /* is found by its beginning */
	if (n < 4)
		return;
	for (size_t i = 0; i < terms->n_names; i++) {
		if (terms->names[i].n_bytes == n && memcmp(terms->names[i].bytes, bytes, n) == 0)
			return;
	}
	name.mask = rr_name_bit(name.client, name.generation);
	name.n_bytes = n;
	memcpy(name.bytes, bytes, n);
	rr_array_grow(&terms->names, terms->n_names, sizeof(name));
	terms->names[terms->n_names++] = name;
}

void rr_terms_random(struct rr_terms *terms, unsigned draw, int client, int generation,
		     unsigned which, unsigned char *bytes, size_t n)
{
	struct rr_random random = { ((uint64_t)(generation < 0 ? 0 : draw) << 48 |
				     (uint64_t)client << 40 | (uint64_t)(generation + 1) << 32 |
				     which) *
				    UINT64_C(0x9e3779b97f4a7c15) };

	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)(rr_random_next(&random) >> 32);
	if (generation >= 0)
		remember(terms,
			 (struct rr_term_name){ .draw = draw,
						.client = client,
						.generation = generation,
						.which = which },
			 bytes, n);
}

void rr_terms_add_name(struct rr_terms *terms, struct rdl_word text, int client, int generation)
{
	remember(terms, (struct rr_term_name){ .client = client, .generation = generation },
		 (const unsigned char *)text.text, text.length);
}

void rr_terms_see_names(struct rr_terms *terms)
{
	for (uint32_t i = 0; i < terms->n_commands; i++)
		terms->command[i].names = rr_terms_names_in(terms,
							    rr_intern_get(&terms->commands, i),
							    terms->commands.values[i].length);
	for (uint32_t i = 0; i < terms->n_replies; i++)
		terms->reply[i].names = rr_terms_names_in(terms, rr_intern_get(&terms->replies, i),
							  terms->replies.values[i].length);
}

uint64_t rr_terms_names_in(const struct rr_terms *terms, const void *text, size_t length)
{
	char hex[2 * RR_RANDOM_BYTES];
	uint64_t mask = 0;

	for (size_t i = 0; i < terms->n_names; i++) {
		const struct rr_term_name *name = &terms->names[i];

		if ((mask & name->mask) || length < name->n_bytes)
			continue;
		rr_to_hex(name->bytes, name->n_bytes, hex);
		if (memmem(text, length, name->bytes, name->n_bytes) ||
		    memmem(text, length, hex, 2 * name->n_bytes))
			mask |= name->mask;
	}
	return mask;
}

/* ---- Texts ---------------------------------------------------------------- */

static void append(FILE *file, const void *bytes, size_t length)
{
	const uint32_t size = (uint32_t)length;

	fwrite(&size, sizeof(size), 1, file);
	fwrite(bytes, 1, length, file);
}

/* The next one, and moves on. A byte after it is free for its end. */
static struct rdl_word take(const unsigned char **at)
{
	uint32_t size;
	char *copy;

	memcpy(&size, *at, sizeof(size));
	copy = rr_malloc((size_t)size + 1);
	memcpy(copy, *at + sizeof(size), size);
	copy[size] = '\0';
	*at += sizeof(size) + size;
	return (struct rdl_word){ copy, size };
}

/* ---- Commands ------------------------------------------------------------- */

static uint32_t capitals(struct rr_terms *terms, const struct rdl_word *word)
{
	char text[32];
	size_t i;

	for (i = 0; i < word->length && i < sizeof(text) - 1; i++)
		text[i] = (char)toupper((unsigned char)word->text[i]);
	text[i] = '\0';
	return rr_intern_put(&terms->words, text, i + 1, NULL);
}

/* Digits in a row as one N. */
static void write_without_digits(FILE *file, const struct rdl_word *word)
{
	for (size_t i = 0; i < word->length; i++) {
		const bool is_digit = isdigit((unsigned char)word->text[i]);
		const bool goes_on = i > 0 && isdigit((unsigned char)word->text[i - 1]);

		if (!is_digit || !goes_on)
			fputc(is_digit ? 'N' : word->text[i], file);
	}
}

/* Commands of a kind differ in random values and in numbers alone. */
static uint32_t kind_of(struct rr_terms *terms, const struct rdl_command *command)
{
	char *text = NULL;
	size_t size;
	FILE *file = rr_open_memory(&text, &size);
	uint32_t kind;

	for (size_t i = 0; i < command->n_words; i++) {
		const struct rdl_word *word = &command->words[i];

		if (i)
			fputc(' ', file);
		if (rr_terms_names_in(terms, word->text, word->length))
			fputs("TOKEN", file);
		else if (i)
			write_without_digits(file, word);
		else
			fwrite(word->text, 1, word->length, file);
	}
	fclose(file);
	kind = rr_intern_put(&terms->kinds, text, size + 1, NULL);
	free(text);
	return kind;
}

static void add_command(struct rr_terms *terms, uint32_t id)
{
	const unsigned char *at = rr_intern_get(&terms->commands, id);
	const unsigned char *end = at + terms->commands.values[id].length;
	struct rr_term_command *command;

	rr_array_grow(&terms->command, terms->n_commands, sizeof(*command));
	command = &terms->command[terms->n_commands++];
	*command = (struct rr_term_command){
		.names = rr_terms_names_in(terms, at, (size_t)(end - at)),
	};
	while (at < end)
		command->words.words[command->words.n_words++] = take(&at);
	command->name = capitals(terms, &command->words.words[0]);
	command->kind = kind_of(terms, &command->words);
}

uint32_t rr_terms_command(struct rr_terms *terms, const struct rdl_command *command)
{
	size_t size = 0, at = 0;
	char *bytes;
	bool is_new;
	uint32_t id;

	for (size_t i = 0; i < command->n_words; i++)
		size += sizeof(uint32_t) + command->words[i].length;
	bytes = rr_malloc(size);
	/* As append() writes it: a file in memory would cost more than all else here. */
	for (size_t i = 0; i < command->n_words; i++) {
		const struct rdl_word *word = &command->words[i];
		const uint32_t length = (uint32_t)word->length;

		memcpy(bytes + at, &length, sizeof(length));
		if (length)
			memcpy(bytes + at + sizeof(length), word->text, length);
		at += sizeof(length) + length;
	}
	id = rr_intern_put(&terms->commands, bytes, size, &is_new);
	free(bytes);
	if (is_new)
		add_command(terms, id);
	return id;
}

uint32_t rr_terms_words(struct rr_terms *terms, const char *const *words)
{
	struct rdl_command command = { .n_words = 0 };

	for (; words[command.n_words]; command.n_words++)
		command.words[command.n_words] =
			(struct rdl_word){ words[command.n_words], strlen(words[command.n_words]) };
	return rr_terms_command(terms, &command);
}

static int64_t to_ns(const char *text, double unit_ns)
{
	const double ns = strtod(text, NULL) * unit_ns;

	return ns > 0 && ns < 1e18 ? (int64_t)ns : INT64_MAX;
}

/* XREAD and XREADGROUP, whose group may be called BLOCK, and so may a stream. */
static int64_t stream_time_out_ns(const struct rdl_command *command, size_t first)
{
	const struct rdl_word *words = command->words;

	for (size_t i = first; i + 1 < command->n_words && !rr_word_is(&words[i], "STREAMS"); i++) {
		if (rr_word_is(&words[i], "BLOCK"))
			return to_ns(words[i + 1].text, 1e6);
	}
	return INT64_MAX;
}

/* In seconds, and the last word, unless it is said otherwise. */
int64_t rr_command_time_out_ns(const struct rdl_command *command)
{
	const struct rdl_word *words = command->words, *name = words;
	const size_t last = command->n_words - 1;

	if (rr_word_is(name, "XREAD") || rr_word_is(name, "XREADGROUP"))
		return stream_time_out_ns(command, rr_word_is(name, "XREAD") ? 1 : 4);
	if (rr_word_is(name, "BLMPOP") || rr_word_is(name, "BZMPOP"))
		return to_ns(words[last > 1].text, 1e9);
	if (rr_word_is(name, "WAIT") || rr_word_is(name, "WAITAOF"))
		return to_ns(words[last].text, 1e6);
	return to_ns(words[last].text, 1e9);
}

static bool has_category(const struct rdl_reply *categories, const char *name)
{
	for (size_t i = 0; i < categories->length; i++) {
		const char *text = categories->elements[i].text;

		if (text && strcmp(text, name) == 0)
			return true;
	}
	return false;
}

/* What time makes of a command is not random here: the clock is ours. Nor is how far one
 * trims or lists, as long as the server is the same. And what we ask ourselves has no say. */
static bool is_timed(const char *name)
{
	static const char *const names[] = {
		"TTL",        "PTTL",  "TIME",  "XADD",       "XPENDING",    "XCLAIM",
		"XAUTOCLAIM", "XINFO", "DUMP",  "EXPIRETIME", "PEXPIRETIME", "INFO",
		"CLIENT",     "SCAN",  "HSCAN", "SSCAN",      "ZSCAN",       "XTRIM",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(names[i], name) == 0)
			return true;
	}
	return false;
}

struct rr_command_info rr_command_info_of(const struct rdl_reply *reply, const char *name)
{
	const struct rdl_reply *of = reply->length == 1 ? reply->elements : NULL;
	struct rr_command_info info = { .of_connection = true };

	if (reply->type != RDL_REPLY_ARRAY || !of || of->type != RDL_REPLY_ARRAY || of->length < 7)
		return info;
	/* WAIT is not marked in all versions. */
	info.blocks = has_category(&of->elements[2], "blocking") || strcasecmp(name, "WAIT") == 0;
	info.of_connection = has_category(&of->elements[6], "@connection") ||
			     has_category(&of->elements[6], "@transaction") ||
			     has_category(&of->elements[6], "@pubsub");
	info.has_keys = of->elements[3].integer > 0 ||
			has_category(&of->elements[2], "movablekeys");
	info.only_reads = has_category(&of->elements[2], "readonly");
	info.finds_keys = has_category(&of->elements[2], "movablekeys");
	info.is_random = of->length > 7 && !is_timed(name) &&
			 has_category(&of->elements[7], "nondeterministic_output");
	return info;
}

/* ---- Replies -------------------------------------------------------------- */

static void encode(FILE *file, const struct rdl_reply *reply)
{
	const bool is_array = reply->type == RDL_REPLY_ARRAY;

	fputc((int)reply->type, file);
	fwrite(&reply->integer, sizeof(reply->integer), 1, file);
	append(file, reply->text ? reply->text : "", reply->text ? reply->length : 0);
	append(file, &reply->length, is_array ? sizeof(reply->length) : 0);
	for (size_t i = 0; is_array && i < reply->length; i++)
		encode(file, &reply->elements[i]);
}

static struct rdl_reply decode(const unsigned char **at)
{
	struct rdl_reply reply = { .type = (enum rdl_reply_type) * (*at)++ };
	const bool is_array = reply.type == RDL_REPLY_ARRAY;
	struct rdl_word text, length;

	memcpy(&reply.integer, *at, sizeof(reply.integer));
	*at += sizeof(reply.integer);
	text = take(at);
	length = take(at);
	if (reply.type != RDL_REPLY_NIL && reply.type != RDL_REPLY_INTEGER && !is_array) {
		reply.text = text.text;
		reply.length = text.length;
	} else {
		free((char *)text.text);
	}
	if (is_array) {
		memcpy(&reply.length, length.text, sizeof(reply.length));
		reply.elements = rr_calloc(reply.length, sizeof(*reply.elements));
	}
	free((char *)length.text);
	for (size_t i = 0; is_array && i < reply.length; i++)
		reply.elements[i] = decode(at);
	return reply;
}

void rr_reply_release(struct rdl_reply *reply)
{
	for (size_t i = 0; reply->elements && i < reply->length; i++)
		rr_reply_release(&reply->elements[i]);
	free(reply->elements);
	free((char *)reply->text);
}

uint32_t rr_terms_reply(struct rr_terms *terms, const struct rdl_reply *reply)
{
	char *bytes = NULL;
	size_t size;
	FILE *file = rr_open_memory(&bytes, &size);
	bool is_new;
	uint32_t id;

	encode(file, reply);
	fclose(file);
	id = rr_intern_put(&terms->replies, bytes, size, &is_new);
	free(bytes);
	if (is_new) {
		const unsigned char *at = rr_intern_get(&terms->replies, id);
		struct rr_term_reply *known;

		rr_array_grow(&terms->reply, terms->n_replies, sizeof(*known));
		known = &terms->reply[terms->n_replies++];
		known->names = rr_terms_names_in(terms, at, size);
		known->reply = decode(&at);
	}
	return id;
}

void rr_terms_release(struct rr_terms *terms)
{
	for (uint32_t i = 0; i < terms->n_commands; i++) {
		for (size_t j = 0; j < terms->command[i].words.n_words; j++)
			free((char *)terms->command[i].words.words[j].text);
	}
	for (uint32_t i = 0; i < terms->n_replies; i++)
		rr_reply_release(&terms->reply[i].reply);
	free(terms->command);
	free(terms->reply);
	free(terms->names);
	rr_intern_release(&terms->commands);
	rr_intern_release(&terms->replies);
	rr_intern_release(&terms->words);
	rr_intern_release(&terms->kinds);
	rr_intern_release(&terms->left);
	*terms = (struct rr_terms){ 0 };
}
