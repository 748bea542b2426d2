/* SPDX-License-Identifier: MIT */
/*
 * Memory. A program that has none left cannot go on: each of these prints
 * "redrace: out of memory" on stderr and ends the process with exit code 70 then;
 * the guardian (cluster/guardian.h) ends the servers and removes their files. So none
 * returns NULL, and no caller has to ask. What they return is freed with free().
 */
#ifndef RR_MEMORY_H
#define RR_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* The line, and the end of the process. For what another library could not get. */
_Noreturn void rr_out_of_memory(void);

/* `size` bytes, not cleared. */
void *rr_malloc(size_t size) __attribute__((malloc));

/* `n` elements of `size` bytes, all of them 0. */
void *rr_calloc(size_t n, size_t size) __attribute__((malloc));

/* Room for `n` elements of `size` bytes instead of what `memory` points to. */
void *rr_realloc(void *memory, size_t n, size_t size);

/* Copies. */
char *rr_strdup(const char *text) __attribute__((malloc));
char *rr_strndup(const char *text, size_t length) __attribute__((malloc));
void *rr_memdup(const void *bytes, size_t size) __attribute__((malloc));

/* A text of its own. */
char *rr_asprintf(const char *format, ...) __attribute__((malloc, format(printf, 1, 2)));
char *rr_vasprintf(const char *format, va_list arguments) __attribute__((malloc));

/* Writes into memory, as open_memstream() does. */
FILE *rr_open_memory(char **text, size_t *size);

/* The same, of a text whose length nobody asks for. */
FILE *rr_open_text(char **text);

/* Into so many bytes, which are a text as soon as the file is closed: what has no room in them is
 * left out. */
FILE *rr_open_fixed(char *text, size_t size);

#endif
