/* SPDX-License-Identifier: MIT */
#include "race_text.h"

#include <ctype.h>
#include <string.h>

static void write_quoted(FILE *file, const char *text, size_t length)
{
	fputc('"', file);
	for (size_t i = 0; i < length; i++) {
		const unsigned char byte = (unsigned char)text[i];

		if (byte == '"' || byte == '\\')
			fprintf(file, "\\%c", byte);
		else if (byte == '\n')
			fputs("\\n", file);
		else if (byte < ' ' || byte >= 127)
			fprintf(file, "\\x%02x", byte);
		else
			fputc(byte, file);
	}
	fputc('"', file);
}

void rr_write_word(FILE *file, const struct rl_word *word)
{
	bool is_plain = word->length > 0;

	for (size_t i = 0; i < word->length && is_plain; i++)
		is_plain = isalnum((unsigned char)word->text[i]) ||
			   strchr("_.:-", word->text[i]);
	fputc(' ', file);
	if (is_plain)
		fputs(word->text, file);
	else
		write_quoted(file, word->text, word->length);
}

void rr_write_reply(FILE *file, const struct rl_reply *reply)
{
	switch (reply->type) {
	case RL_REPLY_NIL:
		fputs("(nil)", file);
		break;
	case RL_REPLY_INTEGER:
		fprintf(file, "(integer) %lld", reply->integer);
		break;
	case RL_REPLY_STATUS:
		fputs(reply->text, file);
		break;
	case RL_REPLY_STRING:
		write_quoted(file, reply->text, reply->length);
		break;
	case RL_REPLY_FAILED:
		fprintf(file, "(error) %s", reply->text);
		break;
	case RL_REPLY_ARRAY:
		fputc('[', file);
		for (size_t i = 0; i < reply->length; i++) {
			fputs(i ? ", " : "", file);
			rr_write_reply(file, &reply->elements[i]);
		}
		fputc(']', file);
		break;
	}
}
