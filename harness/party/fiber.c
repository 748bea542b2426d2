/* SPDX-License-Identifier: MIT */
#include "fiber.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* Of which only what is used takes memory; a page below it catches overflows. */
enum { STACK_SIZE = 512 * 1024, GUARD_SIZE = 64 * 1024 };

/* ---- The thread sanitizer has to be told ---------------------------------- */

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

static void *make_shadow(void)
{
	return __tsan_create_fiber(0);
}

static void free_shadow(void *shadow)
{
	__tsan_destroy_fiber(shadow);
}

static void announce(struct rr_fiber *own, struct rr_fiber *next)
{
	if (!own->stack)
		own->shadow = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(next->shadow, 0);
}
#else
static void *make_shadow(void)
{
	return NULL;
}

static void free_shadow(void *shadow)
{
	(void)shadow;
}

static void announce(struct rr_fiber *own, struct rr_fiber *next)
{
	(void)own;
	(void)next;
}
#endif

/* ---- Fibers --------------------------------------------------------------- */

/* makecontext() passes nothing but ints: the pointer in two halves. */
static void begin(unsigned low, unsigned high)
{
	const uintptr_t address = (uintptr_t)((uint64_t)high << 32 | low);
	const struct rr_fiber *fiber = (const struct rr_fiber *)address;

	fiber->body(fiber->argument);
}

bool rr_fiber_make(struct rr_fiber *fiber, void (*body)(void *argument), void *argument)
{
	const uint64_t address = (uintptr_t)fiber;
	void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return false;
	mprotect(stack, GUARD_SIZE, PROT_NONE);
	fiber->stack = stack;
	fiber->body = body;
	fiber->argument = argument;
	fiber->shadow = make_shadow();
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = stack;
	fiber->context.uc_stack.ss_size = STACK_SIZE;
	fiber->context.uc_link = NULL;
	makecontext(&fiber->context, (void (*)(void))begin, 2, (unsigned)address,
		    (unsigned)(address >> 32));
	return true;
}

void rr_fiber_release(struct rr_fiber *fiber)
{
	if (!fiber->stack)
		return;
	free_shadow(fiber->shadow);
	munmap(fiber->stack, STACK_SIZE);
	fiber->stack = NULL;
}

void rr_fiber_pass(struct rr_fiber *own, struct rr_fiber *next)
{
	if (next == own)
		return;
	announce(own, next);
	swapcontext(&own->context, &next->context);
}
