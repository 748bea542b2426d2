/* SPDX-License-Identifier: MIT */
/* Who may run: one thread at a time, which hands the baton to the next. */
#ifndef RR_BATON_H
#define RR_BATON_H

#include <stdatomic.h>
#include <stdint.h>

struct rr_baton {
	_Atomic uint32_t here;
};

/* From the thread that has it to the one that waits for it, or will. */
void rr_baton_give(struct rr_baton *next);

/* Waits until it is given. */
void rr_baton_await(struct rr_baton *own);

/* Gives it away and waits to have it back; nothing when `next` is `own`. */
void rr_baton_pass(struct rr_baton *own, struct rr_baton *next);

#endif
