/* SPDX-License-Identifier: MIT */
/* What the targets of libFuzzer share. */
#ifndef RR_TEST_FUZZ_H
#define RR_TEST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Tries one input; called by libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What has to hold: else the input is kept, and the run has failed. */
static inline void demand(bool holds)
{
	if (!holds)
		abort();
}

/* The input as a string; what follows a NUL is left out. Malloc'd. */
static inline char *string_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	demand(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
