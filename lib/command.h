/* SPDX-License-Identifier: MIT */
/*
 * A command on its way out: from a format to words, from words to bytes.
 *
 * hiredis can format too, with one allocation per word; in a loop that does
 * nothing but send commands that was a tenth of the time.
 */
#ifndef RDL_COMMAND_H
#define RDL_COMMAND_H

#include <stdarg.h>

#include "driver.h"

/* Bytes waiting to be sent; grows, and keeps what it grew to. */
struct rdl_buffer {
	char *bytes;
	size_t length;
	size_t capacity;
};

void rdl_buffer_release(struct rdl_buffer *buffer);

/* Room for `size` bytes at its beginning; NULL when out of memory. */
char *rdl_buffer_room(struct rdl_buffer *buffer, size_t size);

/* False when out of memory. */
bool rdl_buffer_append(struct rdl_buffer *buffer, const char *bytes, size_t length);

/*
 * Appends the words of `format` (see rdl_run()) to the command. False when
 * there are more than RDL_WORDS_MAX words or RDL_NUMBERS_MAX numbers, or when a
 * word mixes text and conversions.
 */
bool rdl_command_parse(struct rdl_command *command, const char *format, va_list arguments);

/* Appends the command in the protocol's form. False when out of memory. */
bool rdl_command_encode(const struct rdl_command *command, struct rdl_buffer *buffer);

#endif
