/* SPDX-License-Identifier: MIT */
/* Counts the allocations of a thread: the test program's malloc() is its own,
 * in front of the C library's. */
#ifndef RR_TEST_ALLOCATIONS_H
#define RR_TEST_ALLOCATIONS_H

/* Calls of malloc, calloc and realloc by this thread so far, whoever made
 * them: the library, hiredis, the C library. */
unsigned long allocations_so_far(void);

#endif
