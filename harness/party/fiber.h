/* SPDX-License-Identifier: MIT */
/*
 * Fibers: routines with stacks of their own that take turns on one thread, each
 * until it hands on to another. That costs a twentieth of what a change of
 * threads does.
 */
#ifndef RR_FIBER_H
#define RR_FIBER_H

#include <stdbool.h>
#include <ucontext.h>

struct rr_fiber {
	ucontext_t context; /* while another one runs */
	void *stack;        /* NULL: it runs on its thread's own */
	void (*body)(void *argument);
	void *argument;
	void *shadow; /* the thread sanitizer's */
};

/* A zeroed fiber stands for the thread that first hands on with it. This gives it
 * a stack instead, on which `body` begins when it is first handed on to; it must
 * not return. False when out of memory. */
bool rr_fiber_make(struct rr_fiber *fiber, void (*body)(void *argument), void *argument);

/* Whatever was on its stack is gone; it must not be the one that runs. */
void rr_fiber_release(struct rr_fiber *fiber);

/* Goes on with `next`, and returns when somebody hands on to `own`; at once when
 * they are the same. */
void rr_fiber_pass(struct rr_fiber *own, struct rr_fiber *next);

#endif
