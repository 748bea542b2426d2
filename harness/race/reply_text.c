/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include "race.h"

/* ---- Replies as text --------------------------------------------------------- */

struct sink {
	char *at;
	size_t left; /* the NUL included */
	bool full;
};

static void put(struct sink *sink, const char *text, size_t length)
{
	if (sink->full)
		return;
	if (length >= sink->left) {
		sink->full = true;
		return;
	}
	memcpy(sink->at, text, length);
	sink->at += length;
	sink->left -= length;
	*sink->at = '\0';
}

static void put_text(struct sink *sink, const char *text)
{
	put(sink, text, strlen(text));
}

static void put_char(struct sink *sink, unsigned char c)
{
	static const char special[] = "\n\r\t\"\\", letters[] = "nrt\"\\";
	const char *found = c ? strchr(special, c) : NULL;
	char escaped[5];

	if (found)
		snprintf(escaped, sizeof(escaped), "\\%c",
			 letters[found - special]);
	else if (c < 32 || c > 126)
		snprintf(escaped, sizeof(escaped), "\\x%02x", c);
	else
		snprintf(escaped, sizeof(escaped), "%c", c);
	put_text(sink, escaped);
}

static void put_string(struct sink *sink, const redisReply *reply)
{
	put_text(sink, "\"");
	for (size_t i = 0; i < (size_t)reply->len; i++)
		put_char(sink, (unsigned char)reply->str[i]);
	put_text(sink, "\"");
}

static void put_reply(struct sink *sink, const redisReply *reply)
{
	char number[40];

	switch (reply->type) {
	case REDIS_REPLY_STRING:
		put_string(sink, reply);
		break;
	case REDIS_REPLY_STATUS:
		put(sink, reply->str, (size_t)reply->len);
		break;
	case REDIS_REPLY_ERROR:
		put_text(sink, "(error) ");
		put(sink, reply->str, (size_t)reply->len);
		break;
	case REDIS_REPLY_INTEGER:
		snprintf(number, sizeof(number), "(integer) %lld",
			 reply->integer);
		put_text(sink, number);
		break;
	case REDIS_REPLY_ARRAY:
		put_text(sink, "[");
		for (size_t i = 0; i < reply->elements; i++) {
			put_text(sink, i ? ", " : "");
			put_reply(sink, reply->element[i]);
		}
		put_text(sink, "]");
		break;
	default:
		put_text(sink, "(nil)");
	}
}

void rr_reply_text(const struct redisReply *reply, char *text, size_t size)
{
	struct sink sink = { text, size - 3, false };

	text[0] = '\0';
	put_reply(&sink, reply);
	if (sink.full)
		strcpy(sink.at, "...");
	for (char *c = text; *c; c++) { /* an error's text is not escaped */
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	}
}

/* ---- Patterns ------------------------------------------------------------------ */

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
