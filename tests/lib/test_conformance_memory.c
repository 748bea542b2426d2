/* SPDX-License-Identifier: MIT */
/* What a lock allocates once it has been used. */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

/* ---- Counting ------------------------------------------------------------------------- */

/* The test program's malloc() is its own, in front of the C library's. */

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

/* Calls of malloc, calloc and realloc by this thread so far, whoever made them: the library,
 * hiredis, the C library. */
static unsigned long allocations_so_far(void)
{
	return n_allocations;
}

/* ---- Locks ---------------------------------------------------------------------------- */

enum { WARM_UP = 300, ROUNDS = 1000 };

static void use(const struct scene *scene, struct rival *party, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		scene_expect(scene, "try", rival_try(party, 60000), RDL_OK);
		scene_expect(scene, "release", rival_release(party), RDL_OK);
	}
}

/* hiredis is counted as well: its reader's buffer grows until it is moved up
 * for the first time, after 1 KiB of replies, and is kept from then on. The
 * renewed lock starts a thread each time, whose making the C library pays. */
FOR_EVERY_LOCK(conformance_memory, nothing_is_allocated_after_the_first_uses)
{
	unsigned long before, after;
	struct scene scene;
	struct rival party;

	if (strcmp(lock_rows[*row].name, "renewed lock") == 0)
		cr_skip_test("%s: it starts a thread", lock_rows[*row].name);
	scene_open(&scene, *row);
	rival_open(&scene, &party, "lock");
	use(&scene, &party, WARM_UP);
	before = allocations_so_far();
	use(&scene, &party, ROUNDS);
	after = allocations_so_far();
	cr_assert_eq(after, before, "%s: %lu allocations in %d rounds", scene.row->name,
		     after - before, ROUNDS);
	rival_close(&party);
	scene_close(&scene);
}

Test(conformance_memory, allocations_are_counted)
{
	const unsigned long before = allocations_so_far();
	void *(*volatile allocate)(size_t) = malloc; /* that the compiler does not leave out */
	void *bytes = allocate(16);

	cr_assert_gt(allocations_so_far(), before);
	free(bytes);
}
