/* SPDX-License-Identifier: MIT */
/*
 * What redrace and the shim inside a checked program share: a file that all processes
 * of the program have mapped. Time stands still in there but for what redrace adds. Where it holds
 * the time of day, waiting does not add to that.
 *
 * A thread that sleeps, or waits for something with a time-out, takes a slot and waits
 * until it gets what it waits for or until redrace says that its time is over. An alarm
 * is sent by redrace when its time has come.
 */
#ifndef RR_PROGRAM_PAGE_H
#define RR_PROGRAM_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

/* The environment variable that names the file. */
#define RR_PROGRAM_PAGE_VARIABLE "REDRACE_PROGRAM_PAGE"

/* SPIN_READS: of a thread that hears nothing and waits for nothing; each further one
 * moves the clock by SPIN_STEP_NS, or a loop that waits for the clock had no end.
 * (Collecting garbage reads the clock some thousands of times.) IDLE_LOOK_READS: as so
 * many counts a look whether something is ready, with no time-out: Python's
 * multiprocessing.connection.wait() does both until the clock has moved. */
enum {
	RR_WAITERS_MAX = 256,
	RR_ALARMS_MAX = 16,
	RR_OPENED_SIZE = 1024 * 1024,
	RR_TALKERS_MAX = 64,
	RR_SPIN_READS = 1000 * 1000,
	RR_IDLE_LOOK_READS = 1000,
	RR_SPIN_STEP_NS = 1000 * 1000
};

enum rr_waiter_state {
	RR_WAITER_NONE,
	RR_WAITER_TAKEN, /* is being filled in */
	RR_WAITER_WAITS,
	RR_WAITER_OVER /* its time is over: redrace says so */
};

struct rr_waiter {
	_Atomic int state;        /* also a futex */
	_Atomic int thread;       /* whose it is: gettid(2) */
	_Atomic uint32_t ticket;  /* another one each time it is taken */
	_Atomic int is_brief;     /* as those for a lock often are */
	_Atomic int64_t until_ns; /* in passed_ns */
};

/* setitimer(2) of a process. */
struct rr_alarm {
	_Atomic int process;         /* 0: nobody's */
	_Atomic int64_t until_ns;    /* in passed_ns; 0: it is not set */
	_Atomic int64_t interval_ns; /* to the next; 0: there is none */
};

/* Of a thread that talks to Redis and gives back what another one waits for, and that one: who goes
 * first (shim/turns.c)? */
enum rr_turns { RR_TURNS_OF_KERNEL, RR_TURNS_OF_OTHERS, RR_TURNS_OWN };

struct rr_program_page {
	_Atomic int64_t start_ns;     /* time of day at the beginning, since 1970 */
	_Atomic int64_t passed_ns;    /* since then */
	_Atomic int64_t told_ns;      /* of that, what redrace has said; the rest it has waited */
	_Atomic int holds_day;        /* the time of day is without what it has waited */
	_Atomic int reads_day;        /* somebody has read the time of day after waiting */
	_Atomic uint64_t n_reads;     /* of any clock */
	_Atomic uint64_t n_heard;     /* replies and the like: redrace counts */
	_Atomic int has_shim;         /* a process has mapped the page */
	_Atomic int has_go;           /* one is in Go, and asks the kernel itself */
	_Atomic int has_uv;           /* one has libuv, as Node has */
	_Atomic int has_timer;        /* one has set a timerfd, which the kernel keeps */
	_Atomic int64_t monotonic_ns; /* at the beginning, that of the kernel; */
	_Atomic int64_t begun_ns;     /* and its time of day, as it writes that of files */
	_Atomic unsigned redis_port;
	_Atomic int turns; /* enum rr_turns */
	struct rr_waiter waiters[RR_WAITERS_MAX];
	struct rr_alarm alarms[RR_ALARMS_MAX];
	/* The threads that have sent something to Redis: gettid(2). There may be more of them. */
	_Atomic unsigned n_talkers;
	_Atomic int talkers[RR_TALKERS_MAX];
	/* The files that were opened or mapped: of each RR_OPENED_READ or RR_OPENED_WRITTEN, and
	 * its path, which a NUL ends. n_opened: bytes; more than there is room for are too many. */
	_Atomic uint64_t n_opened;
	char opened[RR_OPENED_SIZE];
};

#define RR_OPENED_READ 'r'
#define RR_OPENED_WRITTEN 'w'

#endif
