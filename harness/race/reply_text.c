/* SPDX-License-Identifier: MIT */
/* Replies as text, and texts against patterns. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"
#include "race.h"

/* ---- Replies as text ---------------------------------------------------- */

/* An error's text is not escaped: its newlines become blanks. */
void rr_reply_text(const struct rdl_reply *reply, char *text, size_t size)
{
	char *written = NULL;
	FILE *file = rr_open_text(&written);

	rr_write_reply(file, reply);
	fclose(file);
	if (strlen(written) < size)
		strcpy(text, written);
	else
		snprintf(text, size, "%.*s...", (int)size - 4, written);
	for (char *c = text; *c; c++) {
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	}
	free(written);
}

/* ---- Variables ---------------------------------------------------------- */

/* The length of the name that stands here. */
static size_t variable_length(const char *name)
{
	size_t length = 0;

	while (isalnum((unsigned char)name[length]) || name[length] == '_')
		length++;
	return length;
}

const char *rr_variable_get(const struct rr_variables *variables, const char *name, size_t length)
{
	for (size_t i = 0; i < variables->n; i++) {
		const struct rr_variable *variable = &variables->all[i];

		if (strlen(variable->name) == length && memcmp(variable->name, name, length) == 0)
			return variable->value;
	}
	return NULL;
}

bool rr_variable_set(struct rr_variables *variables, const char *name, size_t name_length,
		     const char *value, size_t length)
{
	char *known = (char *)rr_variable_get(variables, name, name_length);

	if (length >= RR_VARIABLE_SIZE)
		return false;
	if (!known) {
		struct rr_variable *variable = &variables->all[variables->n];

		if (variables->n == RR_VARIABLES_MAX || name_length >= sizeof(variable->name))
			return false;
		memcpy(variable->name, name, name_length);
		variable->name[name_length] = '\0';
		known = variable->value;
		variables->n++;
	}
	memcpy(known, value, length);
	known[length] = '\0';
	return true;
}

struct rdl_word rr_variables_expand(const struct rr_variables *variables,
				    const struct rdl_word *word)
{
	const char *at = word->text;
	char *text = NULL;
	size_t size;
	FILE *file = rr_open_memory(&text, &size);

	while (at < word->text + word->length) {
		const size_t length = *at == '$' ? variable_length(at + 1) : 0;
		const char *value = length ? rr_variable_get(variables, at + 1, length) : NULL;

		if (value)
			fputs(value, file);
		else
			fputc(*at, file);
		at += value ? 1 + length : 1;
	}
	fclose(file);
	return (struct rdl_word){ text, size };
}

/* ---- Patterns ----------------------------------------------------------- */

static bool match(const char *pattern, const char *text, struct rr_variables *variables)
{
	for (; *pattern; pattern++, text++) {
		const char *name = pattern + 1;
		const size_t length = *pattern == '$' ? variable_length(name) : 0;

		if (*pattern == '*') {
			/* Any text, as short as possible, before the rest of the pattern. */
			while (!match(pattern + 1, text, variables)) {
				if (!*text++)
					return false;
			}
			return true;
		}
		if (length) {
			/* A variable: everything up to what follows it in the pattern. */
			const char next = name[length];
			const char *end = next ? strchr(text, next) : text + strlen(text);
			const size_t n = end ? (size_t)(end - text) : 0;
			const char *known = variables ? rr_variable_get(variables, name, length) :
							NULL;

			if (!end || (known && (strlen(known) != n || memcmp(known, text, n) != 0)))
				return false;
			if (variables && !known &&
			    !rr_variable_set(variables, name, length, text, n))
				return false;
			return match(name + length, end, variables);
		}
		if (*pattern != *text)
			return false;
	}
	return *text == '\0';
}

bool rr_reply_matches(const char *pattern, const char *text, struct rr_variables *variables)
{
	static const char integer[] = "(integer) ";
	const size_t digits = strspn(pattern, "-0123456789");

	if (digits > 0 && pattern[digits] == '\0')
		return strncmp(text, integer, strlen(integer)) == 0 &&
		       strcmp(text + strlen(integer), pattern) == 0;
	return match(pattern, text, variables);
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
