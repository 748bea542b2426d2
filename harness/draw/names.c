/* SPDX-License-Identifier: MIT */
/* Names in the picture of a finding: a random value of 40 characters is "<token A1>", and a script of
 * ten lines is its first one. The race itself keeps what was sent. */
#include "model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"

enum { TOKEN_LEAST = 16, DIGITS_LEAST = 4, UUID_LENGTH = 36, HASH_SHOWN = 8, LINE_SHOWN = 32 };

/* ---- Random values ------------------------------------------------------------------- */

static bool is_of_token(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* Does it look drawn at random: long, with digits among letters? */
static bool is_token(const char *text, size_t length)
{
	size_t n_digits = 0, n_letters = 0;

	for (size_t i = 0; i < length; i++) {
		n_digits += isdigit((unsigned char)text[i]) != 0;
		n_letters += isalpha((unsigned char)text[i]) != 0;
	}
	return length >= TOKEN_LEAST && n_digits >= DIGITS_LEAST && n_letters > 0;
}

static bool is_uuid(const char *text, size_t length)
{
	return length == UUID_LENGTH && text[8] == '-' && text[13] == '-' && text[18] == '-' &&
	       text[23] == '-';
}

static const struct rr_shown_token *find_token(const struct rr_picture *picture, const char *text,
					       size_t length)
{
	for (size_t i = 0; i < picture->n_tokens; i++) {
		if (picture->tokens[i].length == length &&
		    memcmp(picture->tokens[i].text, text, length) == 0)
			return &picture->tokens[i];
	}
	return NULL;
}

static void add_token(struct rr_picture *picture, const char *text, size_t length, int client)
{
	struct rr_shown_token *token;
	size_t n = 1;

	if (!is_token(text, length) || find_token(picture, text, length))
		return;
	for (size_t i = 0; i < picture->n_tokens; i++)
		n += picture->tokens[i].client == client;
	rr_array_grow(&picture->tokens, picture->n_tokens, sizeof(*picture->tokens));
	token = &picture->tokens[picture->n_tokens++];
	*token = (struct rr_shown_token){ .text = text, .length = length, .client = client };
	snprintf(token->name, sizeof(token->name), "<%s %.12s%zu>",
		 is_uuid(text, length) ? "uuid" : "token", picture->race->clients[client].name, n);
}

/* Is the word what a script is called by? It is none of its client's values. */
static bool is_of_script(const struct rr_step *step, size_t word)
{
	const char *command = step->words[0].text;

	return (word == 1 && strncasecmp(command, "EVAL", 4) == 0) ||
	       (word == 2 && strcasecmp(command, "SCRIPT") == 0);
}

void rr_picture_find_tokens(struct rr_picture *picture)
{
	const struct rr_trace *trace = picture->trace;

	for (size_t i = 0; picture->race->shows && i < trace->n_events; i++) {
		const struct rr_step *step = trace->events[i].step;

		if (step->client < 0 || (step->kind != RR_STEP_RUN && step->kind != RR_STEP_WRITE))
			continue;
		for (size_t w = 1; w < step->n_words; w++) {
			const char *text = step->words[w].text;
			size_t length;

			for (; !is_of_script(step, w) && *text; text += length ? length : 1) {
				for (length = 0; is_of_token(text[length]); length++)
					continue;
				add_token(picture, text, length, step->client);
			}
		}
	}
}

char *rr_picture_name_tokens(const struct rr_picture *picture, char *text)
{
	char *named;
	FILE *out;

	if (picture->n_tokens == 0)
		return text;
	out = rr_open_text(&named);
	for (const char *at = text; *at;) {
		const struct rr_shown_token *token = NULL;
		size_t length = 0;

		while (is_of_token(at[length]))
			length++;
		token = length ? find_token(picture, at, length) : NULL;
		length = length ? length : 1;
		if (token)
			fputs(token->name, out);
		else
			fwrite(at, 1, length, out);
		at += length;
	}
	fclose(out);
	free(text);
	return named;
}

/* ---- Scripts ------------------------------------------------------------------------ */

/* Its first line that says something, malloc'd. */
static char *first_line(const char *source)
{
	size_t length;

	for (;; source += length) {
		source += strspn(source, " \t\r\n");
		length = strcspn(source, "\n");
		if (length == 0 || strncmp(source, "--", 2) != 0)
			break;
	}
	return rr_plain_cut(source, length, LINE_SHOWN, "…");
}

/* Of the script with that hash, if a client has loaded it; NULL = none has. */
static const char *find_source(const struct rr_trace *trace, const char *hash)
{
	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_event *event = &trace->events[i];
		const struct rr_step *step = event->step;

		if (step->kind == RR_STEP_RUN && step->n_words == 3 && event->reply &&
		    strcasecmp(step->words[0].text, "SCRIPT") == 0 && strstr(event->reply, hash))
			return step->words[2].text;
	}
	return NULL;
}

char *rr_script_words(const struct rr_trace *trace, const struct rr_step *step)
{
	const struct rdl_word *words = step->words;
	const bool is_script = step->kind == RR_STEP_RUN && trace->race->shows && step->n_words > 2;
	const bool is_load = is_script && step->n_words == 3 &&
			     strcasecmp(words[0].text, "SCRIPT") == 0 &&
			     strcasecmp(words[1].text, "LOAD") == 0;
	const bool is_hash = is_script && strncasecmp(words[0].text, "EVALSHA", 7) == 0;
	const char *source;
	char *line, *arguments, *text;

	if (is_load) {
		line = first_line(words[2].text);
		text = rr_asprintf("SCRIPT LOAD \"%s\"", line);
		free(line);
		return text;
	}
	if (!is_script || strncasecmp(words[0].text, "EVAL", 4) != 0)
		return NULL;
	source = is_hash ? find_source(trace, words[1].text) : words[1].text;
	line = source ? first_line(source) : rr_strndup(words[1].text, HASH_SHOWN);
	arguments = rr_command_text(&words[3], step->n_words - 3, 0);
	text = rr_asprintf("%s %s%s%s %s", words[0].text, source ? "\"" : "", line,
			   source ? "\"" : "…", arguments);
	free(line);
	free(arguments);
	return text;
}
