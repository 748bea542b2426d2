/* SPDX-License-Identifier: MIT */
/*
 * A command on its way out: from a format to words, from words to bytes.
 *
 * hiredis can format too, with one allocation per word; in a loop that does
 * nothing but send commands that was a tenth of the time.
 */
#ifndef RL_COMMAND_H
#define RL_COMMAND_H

#include <stdarg.h>

#include "driver.h"

/* Bytes waiting to be sent; grows, and keeps what it grew to. */
struct rl_buffer {
	char *bytes;
	size_t length;
	size_t capacity;
};

void rl_buffer_release(struct rl_buffer *buffer);

/* False when out of memory. */
bool rl_buffer_append(struct rl_buffer *buffer, const char *bytes, size_t length);

/*
 * Appends the words of `format` (see rl_run()) to the command. False when
 * there are more than RL_WORDS_MAX words or RL_NUMBERS_MAX numbers, or when a
 * word mixes text and conversions.
 */
bool rl_command_parse(struct rl_command *command, const char *format, va_list arguments);

/* Appends the command in the protocol's form. False when out of memory. */
bool rl_command_encode(const struct rl_command *command, struct rl_buffer *buffer);

#endif
