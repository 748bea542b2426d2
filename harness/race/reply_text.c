/* SPDX-License-Identifier: MIT */
/* Replies as text, and texts against patterns. */
#include <ctype.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "base/reply.h"
#include "race.h"

/* ---- Replies as text ---------------------------------------------------- */

static void write_flat(FILE *file, const redisReply *reply)
{
	static const enum rl_reply_type types[] = {
		[REDIS_REPLY_STRING] = RL_REPLY_STRING,
		[REDIS_REPLY_STATUS] = RL_REPLY_STATUS,
		[REDIS_REPLY_ERROR] = RL_REPLY_FAILED,
		[REDIS_REPLY_INTEGER] = RL_REPLY_INTEGER,
		[REDIS_REPLY_NIL] = RL_REPLY_NIL,
	};
	const size_t type = (size_t)reply->type;
	const bool known = type < sizeof(types) / sizeof(types[0]);
	const struct rl_reply flat = {
		.type = known ? types[type] : RL_REPLY_NIL,
		.integer = reply->integer,
		.text = reply->str,
		.length = (size_t)reply->len,
	};

	rr_write_reply(file, &flat);
}

static void write_any(FILE *file, const redisReply *reply)
{
	if (reply->type != REDIS_REPLY_ARRAY) {
		write_flat(file, reply);
		return;
	}
	fputc('[', file);
	for (size_t i = 0; i < reply->elements; i++) {
		fputs(i ? ", " : "", file);
		write_any(file, reply->element[i]);
	}
	fputc(']', file);
}

/* What was written to the stream, cut off with ... when it is too long. An
 * error's text is not escaped: its newlines become blanks. */
static void take_written(FILE *file, char **written, char *text, size_t size)
{
	text[0] = '\0';
	if (!file || fclose(file) != 0 || !*written)
		return;
	if (strlen(*written) < size)
		strcpy(text, *written);
	else
		snprintf(text, size, "%.*s...", (int)size - 4, *written);
	for (char *c = text; *c; c++) {
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	}
	free(*written);
}

void rr_reply_text(const struct redisReply *reply, char *text, size_t size)
{
	char *written = NULL;
	size_t length;
	FILE *file = open_memstream(&written, &length);

	if (file)
		write_any(file, reply);
	take_written(file, &written, text, size);
}

void rr_reply_text_of(const struct rl_reply *reply, char *text, size_t size)
{
	char *written = NULL;
	size_t length;
	FILE *file = open_memstream(&written, &length);

	if (file)
		rr_write_reply(file, reply);
	take_written(file, &written, text, size);
}

/* ---- Patterns ----------------------------------------------------------- */

static size_t name_length(const char *name)
{
	size_t length = 0;

	while (isalnum((unsigned char)name[length]) || name[length] == '_')
		length++;
	return length;
}

static bool match(const char *pattern, const char *text,
		  const struct rr_matcher *matcher);

/* Any text, as short as possible, before the rest of the pattern. */
static bool match_any(const char *rest, const char *text,
		      const struct rr_matcher *matcher)
{
	for (;; text++) {
		if (match(rest, text, matcher))
			return true;
		if (!*text)
			return false;
	}
}

/* A variable: everything up to what follows it in the pattern. */
static bool match_variable(const char *name, const char *text,
			   const struct rr_matcher *matcher)
{
	const size_t length = name_length(name);
	const char next = name[length];
	const char *end = next ? strchr(text, next) : text + strlen(text);

	return end &&
	       matcher->variable(matcher->context, name, length, text,
				 (size_t)(end - text)) &&
	       match(name + length, end, matcher);
}

static bool match(const char *pattern, const char *text,
		  const struct rr_matcher *matcher)
{
	while (*pattern) {
		if (*pattern == '*')
			return match_any(pattern + 1, text, matcher);
		if (*pattern == '$' && matcher && name_length(pattern + 1))
			return match_variable(pattern + 1, text, matcher);
		if (*pattern++ != *text++)
			return false;
	}
	return *text == '\0';
}

bool rr_reply_matches(const char *pattern, const char *text,
		      const struct rr_matcher *matcher)
{
	static const char integer[] = "(integer) ";
	const size_t digits = strspn(pattern, "-0123456789");

	if (digits > 0 && pattern[digits] == '\0')
		return strncmp(text, integer, strlen(integer)) == 0 &&
		       strcmp(text + strlen(integer), pattern) == 0;
	return match(pattern, text, matcher);
}

void rr_reply_to_pattern(char *text)
{
	bool in_quotes = false;

	for (; *text; text++) {
		if (*text == '\\' && in_quotes && text[1])
			text++;
		else if (*text == '"')
			in_quotes = !in_quotes;
		if (*text == '$' || (!in_quotes && strchr("!#", *text)))
			*text = '*';
	}
}
