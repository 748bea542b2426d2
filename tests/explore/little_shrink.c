/* SPDX-License-Identifier: MIT */
/* Takes statements out of little programs that show something, as long as they show it. */
#include <stdlib.h>
#include <string.h>

#include "little.h"

/* What is to stay. */
struct shown {
	bool (*is_shown)(void *context, const struct little_case *it);
	void *context;
};

/* ---- Statements ------------------------------------------------------------------------- */

static bool begins_with(const char *at, const char *word)
{
	const size_t length = strlen(word);

	return strncmp(at, word, length) == 0 && strchr(" ;", at[length]);
}

/* Behind the brace that closes the first one. */
static const char *behind_block(const char *at)
{
	int depth = 0;

	for (at = strchr(at, '{'); *at; at++) {
		depth += (*at == '{') - (*at == '}');
		if (depth == 0)
			return at + 1;
	}
	return at;
}

static bool has_block(const char *at)
{
	return begins_with(at, "if") || begins_with(at, "else") || begins_with(at, "while") ||
	       begins_with(at, "both");
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " ");
}

/* With its else. */
static const char *behind_statement(const char *at)
{
	const char *end = has_block(at) ? behind_block(at) : strchr(at, ';') + 1;

	if (begins_with(at, "if") && begins_with(skip_blanks(end), "else"))
		end = behind_block(end);
	return skip_blanks(end);
}

/* The next place where a statement may begin; NULL = there is none. */
static const char *next_place(const char *at)
{
	at = strpbrk(at, ";{}");
	if (at)
		at = skip_blanks(at + 1);
	return at && *at ? at : NULL;
}

/* ---- Texts ---------------------------------------------------------------------------------- */

static char *without(const char *text, const char *from, const char *to)
{
	char *shorter = strdup(text);

	cr_assert_not_null(shorter);
	strcpy(shorter + (from - text), to);
	return shorter;
}

/* The block of an if alone; NULL: it is none, or has an else. */
static char *with_block_alone(const char *text, const char *at)
{
	const char *end = behind_block(at), *inside = strchr(at, '{') + 1;
	char *shorter = without(text, end - 1, end);
	char *alone = without(shorter, shorter + (at - text), shorter + (inside - text));

	free(shorter);
	return alone;
}

/* Keeps the shorter text for all clients that had the longer one, or drops it. */
static bool try_text(struct little_case *it, size_t client, char *shorter,
		     const struct shown *shown)
{
	struct little_case next = *it;
	const char *before = it->texts[client];

	for (size_t i = client; i < LITTLE_CLIENTS && it->texts[i]; i++) {
		if (strcmp(it->texts[i], before) == 0)
			next.texts[i] = shorter;
	}
	if (!shown->is_shown(shown->context, &next)) {
		free(shorter);
		return false;
	}
	*it = next;
	return true;
}

/* Is there anything less at this place? */
static bool shorten_at(struct little_case *it, size_t client, size_t place,
		       const struct shown *shown)
{
	const char *text = it->texts[client], *at = text + place;

	if (*at == '}')
		return false;
	if (try_text(it, client, without(text, at, behind_statement(at)), shown))
		return true;
	return begins_with(at, "if") && *behind_statement(at) != '\0' &&
	       !begins_with(skip_blanks(behind_block(at)), "else") &&
	       try_text(it, client, with_block_alone(text, at), shown);
}

static bool shorten(struct little_case *it, size_t client, const struct shown *shown)
{
	bool is_shorter = false;
	size_t place = 0;

	while (it->texts[client][place]) {
		const char *text = it->texts[client], *next = next_place(text + place);

		if (shorten_at(it, client, place, shown))
			is_shorter = true;
		else if (next)
			place = (size_t)(next - text);
		else
			break;
	}
	return is_shorter;
}

void little_shrink(struct little_case *it,
		   bool (*is_shown)(void *context, const struct little_case *it), void *context)
{
	const struct shown shown = { is_shown, context };
	bool goes_on = true;

	while (goes_on) {
		goes_on = false;
		for (size_t i = 0; i < LITTLE_CLIENTS && it->texts[i]; i++)
			goes_on |= shorten(it, i, &shown);
	}
}
