/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <stdlib.h>
#include <string.h>

/* At most 20 of them; returns where they end. Every command has numbers, and
 * snprintf() takes five times as long for one. */
static char *put_digits(char *at, unsigned long long value)
{
	char digits[20];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n)
		*at++ = digits[--n];
	return at;
}

static struct rdl_word print_number(struct rdl_command *command, long long value)
{
	char *text = command->numbers[command->n_numbers++];
	char *at = text;

	if (value < 0)
		*at++ = '-';
	at = put_digits(at, value < 0 ? -(unsigned long long)value : (unsigned long long)value);
	return (struct rdl_word){ text, (size_t)(at - text) };
}

static bool is_conversion(const char *word, size_t length, const char *name)
{
	return length == strlen(name) && memcmp(word, name, length) == 0;
}

/* One word of a format; false when it is neither literal nor a conversion. */
static bool parse_word(struct rdl_command *command, const char *text, size_t length,
		       va_list *arguments)
{
	struct rdl_word *word = &command->words[command->n_words];
	const bool room = command->n_numbers < RDL_NUMBERS_MAX;

	if (!memchr(text, '%', length)) {
		*word = (struct rdl_word){ text, length };
	} else if (is_conversion(text, length, "%s")) {
		word->text = va_arg(*arguments, const char *);
		word->length = strlen(word->text);
	} else if (is_conversion(text, length, "%.*s")) {
		const int precision = va_arg(*arguments, int);

		word->text = va_arg(*arguments, const char *);
		/* Below 0 it counts as omitted (C11, 7.21.6.1). */
		word->length = precision < 0 ? strlen(word->text) : (size_t)precision;
	} else if (room && is_conversion(text, length, "%ld")) {
		*word = print_number(command, va_arg(*arguments, long));
	} else if (room && is_conversion(text, length, "%d")) {
		*word = print_number(command, va_arg(*arguments, int));
	} else if (room && is_conversion(text, length, "%lld")) {
		*word = print_number(command, va_arg(*arguments, long long));
	} else {
		return false;
	}
	command->n_words++;
	return true;
}

bool rdl_command_parse(struct rdl_command *command, const char *format, va_list arguments)
{
	va_list rest;
	bool good = true;

	va_copy(rest, arguments);
	while (good && *format) {
		const size_t length = strcspn(format, " ");

		if (length)
			good = command->n_words < RDL_WORDS_MAX &&
			       parse_word(command, format, length, &rest);
		format += length + (format[length] == ' ');
	}
	va_end(rest);
	return good && command->n_words > 0;
}

static bool reserve(struct rdl_buffer *buffer, size_t more)
{
	size_t capacity = buffer->capacity ? buffer->capacity : 512;
	char *bytes;

	if (buffer->length + more <= buffer->capacity)
		return true;
	while (capacity < buffer->length + more)
		capacity *= 2;
	bytes = realloc(buffer->bytes, capacity);
	if (!bytes)
		return false;
	buffer->bytes = bytes;
	buffer->capacity = capacity;
	return true;
}

/* "*3\r\n" or "$5\r\n"; at most 23 bytes, which the caller has reserved. */
static void put_length(struct rdl_buffer *buffer, char sign, size_t length)
{
	char *at = buffer->bytes + buffer->length;

	*at++ = sign;
	at = put_digits(at, length);
	*at++ = '\r';
	*at++ = '\n';
	buffer->length = (size_t)(at - buffer->bytes);
}

bool rdl_command_encode(const struct rdl_command *command, struct rdl_buffer *buffer)
{
	size_t need = 23;

	for (size_t i = 0; i < command->n_words; i++)
		need += command->words[i].length + 25;
	if (!reserve(buffer, need))
		return false;
	put_length(buffer, '*', command->n_words);
	for (size_t i = 0; i < command->n_words; i++) {
		const struct rdl_word *word = &command->words[i];

		put_length(buffer, '$', word->length);
		memcpy(buffer->bytes + buffer->length, word->text, word->length);
		memcpy(buffer->bytes + buffer->length + word->length, "\r\n", 2);
		buffer->length += word->length + 2;
	}
	return true;
}

char *rdl_buffer_room(struct rdl_buffer *buffer, size_t size)
{
	buffer->length = 0;
	return reserve(buffer, size) ? buffer->bytes : NULL;
}

bool rdl_buffer_append(struct rdl_buffer *buffer, const char *bytes, size_t length)
{
	if (!reserve(buffer, length))
		return false;
	memcpy(buffer->bytes + buffer->length, bytes, length);
	buffer->length += length;
	return true;
}

void rdl_buffer_release(struct rdl_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct rdl_buffer){ 0 };
}
