/* SPDX-License-Identifier: MIT */
#include "allocations.h"

#include <stdlib.h>

/* glibc's own, under the names that stay when malloc() is replaced. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static _Thread_local unsigned long n_allocations;

void *malloc(size_t size)
{
	n_allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	n_allocations++;
	return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	n_allocations++;
	return __libc_realloc(old, size);
}

unsigned long allocations_so_far(void)
{
	return n_allocations;
}
