/* SPDX-License-Identifier: MIT */
#include "reply.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "memory.h"
#include "text.h"

void rr_write_quoted(FILE *file, const char *text, size_t length)
{
	static const char special[] = "\n\r\t\"\\", letters[] = "nrt\"\\";

	fputc('"', file);
	for (size_t i = 0; i < length; i++) {
		const unsigned char c = (unsigned char)text[i];
		const char *found = c ? strchr(special, c) : NULL;

		if (found)
			fprintf(file, "\\%c", letters[found - special]);
		else if (c < 32 || c > 126 ||
			 /* Behind the quote, "::error" is none. */
			 ((i > 0 || c == '#') && rr_is_command(text, length, i)))
			fprintf(file, "\\x%02x", c);
		else
			fputc(c, file);
	}
	fputc('"', file);
}

void rr_write_bare_word(FILE *file, const char *text, size_t length)
{
	bool is_bare = length > 0;

	for (size_t i = 0; i < length && is_bare; i++)
		is_bare = text[i] &&
			  (isalnum((unsigned char)text[i]) || strchr("_.:-@/+,=$*", text[i]));
	if (is_bare)
		fwrite(text, 1, length, file);
	else
		rr_write_quoted(file, text, length);
}

void rr_write_command(FILE *file, const struct rdl_word *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fputc(' ', file);
		rr_write_bare_word(file, words[i].text, words[i].length);
	}
}

char *rr_join_words(const struct rdl_word *words, size_t n)
{
	char *text = NULL;
	FILE *file = rr_open_text(&text);

	for (size_t i = 0; i < n; i++) {
		const char *word = words[i].text;
		const bool plain = word[0] && !strpbrk(word, " \t\n\"");
		const char *quote = plain ? "" : strchr(word, '"') ? "'" : "\"";

		fputs(i ? " " : "", file);
		if (memchr(word, '\0', words[i].length))
			rr_write_quoted(file, word, words[i].length);
		else
			fprintf(file, "%s%s%s", quote, word, quote);
	}
	fclose(file);
	return text;
}

char *rr_command_text(const struct rdl_word *words, size_t n, size_t most)
{
	char *joined = rr_join_words(words, n);
	char *text = rr_plain_cut(joined, strlen(joined), most, "...");

	free(joined);
	return text;
}

bool rr_word_is(const struct rdl_word *word, const char *text)
{
	return word->length == strlen(text) && strncasecmp(word->text, text, word->length) == 0;
}

bool rr_word_is_one_of(const struct rdl_word *word, const char *names)
{
	for (size_t n; *names; names += n + (names[n] == ' ')) {
		n = strcspn(names, " ");
		if (word->length == n && strncasecmp(word->text, names, n) == 0)
			return true;
	}
	return false;
}

bool rr_words_are_same(struct rdl_word a, struct rdl_word b)
{
	return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

int rr_compare_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
	const int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

	return order ? order : (a_length > b_length) - (a_length < b_length);
}

bool rr_lists_without_order(const char *command)
{
	static const char *const names[] = { "KEYS",   "SCAN",   "SMEMBERS", "SSCAN",
					     "SINTER", "SUNION", "SDIFF" };
	size_t i = 0;

	while (i < sizeof(names) / sizeof(names[0]) && strcasecmp(command, names[i]) != 0)
		i++;
	return i < sizeof(names) / sizeof(names[0]);
}

static int compare_texts(const void *a, const void *b)
{
	const struct rdl_reply *one = a, *other = b;

	return rr_compare_bytes(one->text, one->length, other->text, other->length);
}

void rr_reply_sort_list(struct rdl_reply *reply)
{
	struct rdl_reply *list = reply;

	if (reply->type == RDL_REPLY_ARRAY && reply->length == 2 &&
	    reply->elements[1].type == RDL_REPLY_ARRAY)
		list = &reply->elements[1];
	if (list->type == RDL_REPLY_ARRAY && list->length > 0 &&
	    list->elements[0].type == RDL_REPLY_STRING)
		qsort(list->elements, list->length, sizeof(*list->elements), compare_texts);
}

/* A server may put anything into an error or a status. */
static void write_plain(FILE *file, const struct rdl_reply *reply)
{
	char *plain = rr_plain_bytes(reply->text, reply->length);

	fputs(plain, file);
	free(plain);
}

void rr_write_reply(FILE *file, const struct rdl_reply *reply)
{
	switch (reply->type) {
	case RDL_REPLY_NIL:
		fputs("(nil)", file);
		break;
	case RDL_REPLY_INTEGER:
		fprintf(file, "(integer) %lld", reply->integer);
		break;
	case RDL_REPLY_STATUS:
		write_plain(file, reply);
		break;
	case RDL_REPLY_STRING:
		rr_write_quoted(file, reply->text, reply->length);
		break;
	case RDL_REPLY_FAILED:
		fputs("(error) ", file);
		write_plain(file, reply);
		break;
	case RDL_REPLY_ARRAY:
		fputc('[', file);
		for (size_t i = 0; i < reply->length; i++) {
			fputs(i ? ", " : "", file);
			rr_write_reply(file, &reply->elements[i]);
		}
		fputc(']', file);
		break;
	}
}

/* ---- Lists of commands ------------------------------------------------------- */

/* All words of a command lie behind its first one. */
void rr_command_list_add(struct rr_command_list *list, const struct rdl_word *words, size_t n)
{
	struct rdl_command *command;
	size_t size = 1;
	char *at;

	for (size_t i = 0; i < n; i++)
		size += words[i].length + 1;
	rr_array_grow(&list->all, list->n, sizeof(*list->all));
	command = &list->all[list->n++];
	*command = (struct rdl_command){ .n_words = n };
	at = rr_malloc(size);
	for (size_t i = 0; i < n; i++) {
		command->words[i] = (struct rdl_word){ at, words[i].length };
		memcpy(at, words[i].text, words[i].length);
		at[words[i].length] = '\0';
		at += words[i].length + 1;
	}
}

void rr_command_list_release(struct rr_command_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free((char *)list->all[i].words[0].text);
	free(list->all);
	*list = (struct rr_command_list){ .n = 0 };
}
