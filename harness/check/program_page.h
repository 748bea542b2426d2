/* SPDX-License-Identifier: MIT */
/*
 * What redrace and the shim inside a checked program share: a file that all processes
 * of the program have mapped. Time stands still in there but for what redrace adds.
 *
 * A thread that sleeps, or waits for descriptors with a time-out, takes a slot and
 * waits until its descriptors are ready or until redrace says that its time is over.
 */
#ifndef RR_PROGRAM_PAGE_H
#define RR_PROGRAM_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

/* The environment variable that names the file. */
#define RR_PROGRAM_PAGE_VARIABLE "REDRACE_PROGRAM_PAGE"

enum { RR_WAITERS_MAX = 64 };

enum rr_waiter_state {
	RR_WAITER_NONE,
	RR_WAITER_TAKEN, /* is being filled in */
	RR_WAITER_WAITS,
	RR_WAITER_OVER   /* its time is over: redrace says so */
};

struct rr_waiter {
	_Atomic int state;
	_Atomic int64_t until_ns; /* in passed_ns */
};

struct rr_program_page {
	_Atomic int64_t start_ns;  /* time of day at the beginning, since 1970 */
	_Atomic int64_t passed_ns; /* since then */
	_Atomic uint64_t n_reads;  /* of any clock */
	_Atomic int has_shim;      /* a process has mapped the page */
	_Atomic int64_t monotonic_ns; /* at the beginning, that of the kernel */
	struct rr_waiter waiters[RR_WAITERS_MAX];
};

#endif
