/* SPDX-License-Identifier: MIT */
#include "baton.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static void futex(struct rr_baton *baton, int operation, uint32_t value)
{
	syscall(SYS_futex, &baton->here, operation, value, NULL, NULL, 0);
}

void rr_baton_give(struct rr_baton *next)
{
	atomic_store(&next->here, 1);
	futex(next, FUTEX_WAKE_PRIVATE, 1);
}

void rr_baton_await(struct rr_baton *own)
{
	while (!atomic_exchange(&own->here, 0))
		futex(own, FUTEX_WAIT_PRIVATE, 0);
}

void rr_baton_pass(struct rr_baton *own, struct rr_baton *next)
{
	if (next == own)
		return;
	rr_baton_give(next);
	rr_baton_await(own);
}
