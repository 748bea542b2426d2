/* SPDX-License-Identifier: MIT */
#include "resp.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Redis's own limits: of a line, a word and the number of words. */
enum { LINE_MAX_BYTES = 64 * 1024, WORD_MAX_BYTES = 512 * 1024 * 1024, WORDS_MAX = 1024 * 1024 };

/* A line without its end; NULL: it is not whole yet. *next: what comes behind it. */
static const char *take_line(const char *at, const char *end, size_t *length, const char **next)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	if (!newline)
		return NULL;
	*length = (size_t)(newline - at);
	if (*length > 0 && at[*length - 1] == '\r')
		--*length;
	*next = newline + 1;
	return at;
}

/* The number behind the first character of a line, at most `max`; false: it is
 * none, or larger. */
static bool read_count(const char *line, size_t length, long max, long *count)
{
	char digits[24], *rest;

	if (length < 2 || length > sizeof(digits))
		return false;
	memcpy(digits, line + 1, length - 1);
	digits[length - 1] = '\0';
	*count = strtol(digits, &rest, 10);
	return (digits[0] == '-' || isdigit((unsigned char)digits[0])) && *rest == '\0' &&
	       *count <= max;
}

static enum rr_resp_result without_line(const char *at, const char *end)
{
	return end - at > LINE_MAX_BYTES ? RR_RESP_MALFORMED : RR_RESP_PARTIAL;
}

/* One bulk string at *at. */
static enum rr_resp_result parse_bulk(const char **at, const char *end, struct rdl_word *word)
{
	const char *next;
	size_t length;
	const char *line = take_line(*at, end, &length, &next);
	long count;

	if (!line)
		return without_line(*at, end);
	if (line[0] != '$' || !read_count(line, length, WORD_MAX_BYTES, &count) || count < 0)
		return RR_RESP_MALFORMED;
	if (end - next < count + 2)
		return RR_RESP_PARTIAL;
	*word = (struct rdl_word){ next, (size_t)count };
	*at = next + count + 2;
	return RR_RESP_COMPLETE;
}

static enum rr_resp_result parse_array(const char *at, const char *end, long count,
				       struct rdl_command *command, const char **rest)
{
	for (long i = 0; i < count; i++) {
		struct rdl_word word;
		const enum rr_resp_result result = parse_bulk(&at, end, &word);

		if (result != RR_RESP_COMPLETE)
			return result;
		if (i < RDL_WORDS_MAX)
			command->words[command->n_words++] = word;
	}
	*rest = at;
	if (count > RDL_WORDS_MAX)
		return RR_RESP_TOO_LONG;
	return count > 0 ? RR_RESP_COMPLETE : RR_RESP_EMPTY;
}

/* ---- Lines --------------------------------------------------------------------- */

static int hex_value(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* What stands behind a backslash between double quotes, and moves on. */
static char unescape(char **at, const char *end)
{
	static const char names[] = "nrtba", meant[] = "\n\r\t\b\a";
	const char *text = *at, *name;

	if (text[0] == 'x' && end - text > 2 && isxdigit((unsigned char)text[1]) &&
	    isxdigit((unsigned char)text[2])) {
		*at += 3;
		return (char)(hex_value(text[1]) * 16 + hex_value(text[2]));
	}
	++*at;
	name = memchr(names, text[0], strlen(names));
	return name ? meant[name - names] : text[0];
}

/* Behind an opening quote: writes what it encloses to *to. False: it is not closed. */
static bool take_quoted(char **at, const char *end, char **to)
{
	const char quote = (*at)[-1];

	while (*at < end && **at != quote) {
		const char c = *(*at)++;
		const bool escapes = c == '\\' && *at < end && (quote == '"' || **at == '\'');

		*(*to)++ = escapes && quote == '"' ? unescape(at, end) : escapes ? *(*at)++ : c;
	}
	if (*at == end)
		return false;
	++*at;
	return true;
}

bool rr_take_word(char **at, const char *end, bool goes_on, struct rdl_word *word)
{
	char *to = *at;

	word->text = to;
	while (*at < end && **at != ' ' && **at != '\t') {
		const char c = *(*at)++;

		if (c != '"' && c != '\'')
			*to++ = c;
		else if (!take_quoted(at, end, &to) ||
			 (!goes_on && *at < end && !isspace((unsigned char)**at)))
			return false;
	}
	word->length = (size_t)(to - word->text);
	return true;
}

/* As typed into a terminal: words with blanks between them, and quotes, as servers read
 * them (sdssplitargs). */
static enum rr_resp_result split_line(char *line, size_t length, struct rdl_command *command)
{
	const char *end = line + strnlen(line, length);

	while (line < end) {
		if (isspace((unsigned char)*line)) {
			line++;
			continue;
		}
		if (command->n_words == RDL_WORDS_MAX)
			return RR_RESP_TOO_LONG;
		if (!rr_take_word(&line, end, false, &command->words[command->n_words++]))
			return RR_RESP_MALFORMED;
	}
	return command->n_words > 0 ? RR_RESP_COMPLETE : RR_RESP_EMPTY;
}

/* No request begins so; a TLS handshake does. */
static bool is_binary(char c)
{
	const unsigned char byte = (unsigned char)c;

	return (byte < ' ' && !strchr("\r\n\t", c)) || byte > '~';
}

/* Is a line the first one of a request by HTTP, "GET / HTTP/1.1"? */
static bool is_http(const struct rdl_command *command)
{
	const struct rdl_word *last = &command->words[command->n_words - 1];

	return command->n_words == 3 && last->length > 5 && memcmp(last->text, "HTTP/", 5) == 0;
}

enum rr_resp_result rr_resp_parse(char *bytes, size_t n, struct rdl_command *command, size_t *used)
{
	const char *end = bytes + n, *rest;
	size_t length;
	const char *line = n ? take_line(bytes, end, &length, &rest) : NULL;
	enum rr_resp_result result;
	long count;

	command->n_words = command->n_numbers = 0;
	if (n && is_binary(bytes[0]))
		return RR_RESP_MALFORMED;
	if (!line)
		return without_line(bytes, end);
	if (line[0] != '*')
		result = split_line(bytes, length, command);
	else if (!read_count(line, length, WORDS_MAX, &count))
		result = RR_RESP_MALFORMED;
	else
		result = parse_array(rest, end, count, command, &rest);
	*used = (size_t)(rest - bytes);
	return result == RR_RESP_COMPLETE && line[0] != '*' && is_http(command) ?
		       RR_RESP_MALFORMED :
		       result;
}

bool rr_resp_write(FILE *file, const struct rdl_reply *reply)
{
	switch (reply->type) {
	case RDL_REPLY_NIL:
		fputs("$-1\r\n", file);
		break;
	case RDL_REPLY_STATUS:
		fprintf(file, "+%s\r\n", reply->text);
		break;
	case RDL_REPLY_FAILED:
		fprintf(file, "-%s\r\n", reply->text);
		break;
	case RDL_REPLY_INTEGER:
		fprintf(file, ":%lld\r\n", reply->integer);
		break;
	case RDL_REPLY_STRING:
		fprintf(file, "$%zu\r\n", reply->length);
		fwrite(reply->text, 1, reply->length, file);
		fputs("\r\n", file);
		break;
	case RDL_REPLY_ARRAY:
		fprintf(file, "*%zu\r\n", reply->length);
		for (size_t i = 0; i < reply->length; i++)
			rr_resp_write(file, &reply->elements[i]);
		break;
	}
	return !ferror(file);
}
