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

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/marks.h"
#include "redis_at.h"

/* The environment variable that names the file. */
#define RR_PROGRAM_PAGE_VARIABLE "REDRACE_PROGRAM_PAGE"

/* SHIM_PLACES: in which a process is looked for in the table of processes. PIDS_FIRST: process ids
 * of the kernel are smaller. SPIN_READS: of a thread that hears nothing and waits for nothing; each further one
 * moves the clock by SPIN_STEP_NS, or a loop that waits for the clock had no end.
 * (Collecting garbage reads the clock some thousands of times.) IDLE_LOOK_READS: as so
 * many counts a look whether something is ready, with no time-out: Python's
 * multiprocessing.connection.wait() does both until the clock has moved. */
enum {
	RR_WAITERS_MAX = 256,
	RR_ALARMS_MAX = 16,
	RR_NOTED_SIZE = 1024 * 1024,
	RR_NOTED_PATHS = 16 * 1024,
	RR_TALKERS_MAX = 64,
	RR_LOOKUPS_MAX = 16,
	RR_SHIM_PROCESSES = 4096,
	RR_SHIM_PLACES = 16,
	RR_PIDS_FIRST = 1 << 22,
	RR_PIDS = 1 << 22,
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

/* A process of the program, found by its process id (shim/random.c). */
struct rr_shim_process {
	_Atomic int pid;     /* the kernel's; 0: there is none */
	_Atomic int shown;   /* the process id that the program sees, if these are fixed */
	_Atomic int is_told; /* its parent knows it by that */
	_Atomic int n_spawning;
	_Atomic uint64_t key;      /* of its streams of random bytes */
	_Atomic uint64_t n_unseen; /* children */
};

/* Of a thread that talks to Redis and gives back what another one waits for, and that one: who goes
 * first (shim/threads.c)? */
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
	_Atomic int64_t monotonic_ns; /* what monotonic clocks show at the beginning */
	_Atomic int64_t begun_ns;    /* the kernel's time of day then, as it writes that of files */
	struct rr_redis_at redis_at; /* where the program takes Redis to be */
	_Atomic int turns;           /* enum rr_turns */
	struct rr_waiter waiters[RR_WAITERS_MAX];
	struct rr_alarm alarms[RR_ALARMS_MAX];
	/* The threads that have sent something to Redis: gettid(2). There may be more of them. */
	_Atomic unsigned n_talkers;
	_Atomic int talkers[RR_TALKERS_MAX];
	_Atomic int
		lookups[RR_LOOKUPS_MAX]; /* threads that ask for the address of a name; 0 = free */
	/* Random bytes: the key of all streams, made of the seed and the client. */
	_Atomic uint64_t random_key;
	_Atomic uint64_t n_drawn;   /* bytes, by all */
	_Atomic uint64_t n_strays;  /* processes whose parents have no key */
	_Atomic int is_registering; /* a lock of what follows */
	struct rr_shim_process processes[RR_SHIM_PROCESSES];
	_Atomic int fixes_pids;     /* processes see process ids that are the same in each run */
	_Atomic int asks_pids;      /* one has asked for its own */
	_Atomic int names_pid_file; /* one has made a file whose name has such a process id */
	/* The files that were opened or looked for: of each RR_NOTED_READ or RR_NOTED_SEEN, and its
	 * path, which a NUL ends. n_noted: bytes; more than there is room for are too many. paths:
	 * digests of what stands there, 0 = a free place. notes_files: they are noted; else the file
	 * ends before `paths`, for making and removing that much takes a tenth of a short start. */
	int notes_files;
	_Atomic int has_unnoted; /* a path could not be read, or means another file than here */
	_Atomic uint64_t n_noted;
	_Atomic uint64_t paths[RR_NOTED_PATHS];
	char noted[RR_NOTED_SIZE];
};

/* A file that was opened for reading, or run; and one that was only looked at. */
#define RR_NOTED_READ 'r'
#define RR_NOTED_SEEN 's'

/* How a file counts that is opened with these flags. '\0': it does not, for it is only written, and
 * made if it is not there. */
static inline char rr_noted_kind_of_open(int flags)
{
	if ((flags & O_ACCMODE) != O_WRONLY && !(flags & O_TRUNC))
		return RR_NOTED_READ;
	return (flags & (O_CREAT | O_EXCL)) == O_CREAT ? '\0' : RR_NOTED_SEEN;
}

/* Adds a path that has no NUL, once. Any process or thread may do so at any time. */
static inline void rr_program_page_note(struct rr_program_page *page, char kind, const char *path,
					size_t length)
{
	uint64_t digest = UINT64_C(0xcbf29ce484222325) ^ (unsigned char)kind, at;

	if (!kind || !page->notes_files)
		return;
	for (size_t i = 0; i < length; i++)
		digest = (digest ^ (unsigned char)path[i]) * UINT64_C(0x100000001b3);
	digest |= 1;
	for (uint64_t i = 0; i < RR_NOTED_PATHS; i++) {
		_Atomic uint64_t *place = &page->paths[(digest / 2 + i) % RR_NOTED_PATHS];
		uint64_t none = 0;

		if (atomic_load(place) == digest)
			return;
		if (atomic_compare_exchange_strong(place, &none, digest))
			break;
		if (none == digest)
			return;
	}
	at = atomic_fetch_add(&page->n_noted, length + 2);
	if (at + length + 2 > sizeof(page->noted))
		return;
	memcpy(page->noted + at + 1, path, length);
	page->noted[at] = kind;
}

#endif
