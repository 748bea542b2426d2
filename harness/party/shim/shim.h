/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the shim share: the page, its time, and slots to wait in. All of
 * it works without a page, and then leaves everything to the kernel.
 */
#ifndef RR_SHIM_H
#define RR_SHIM_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>

#include "party/program_page.h"

#define RR_SHIM_SECOND_NS INT64_C(1000000000)
enum { RR_SHIM_PROC_PATH = 256 };

#define RR_SHIM_INNER __attribute__((visibility("hidden")))

/* NULL: nothing is changed. */
RR_SHIM_INNER struct rr_program_page *rr_shim_page(void);

/* The program's time by a clock, without counting it as read; -1: the clock is left
 * to the kernel. */
RR_SHIM_INNER int64_t rr_shim_now(clockid_t clock);

/* The thread does something else than to read the clock. */
RR_SHIM_INNER void rr_shim_forget_reads(void);

/* The thread has looked whether something is ready, and did not wait. */
RR_SHIM_INNER void rr_shim_count_idle_look(void);

/* The C library's own function of that name, which is looked for once. */
RR_SHIM_INNER void (*rr_shim_library(_Atomic(void *) *known, const char *name))(void);
#define RR_SHIM_NEXT(function)                                              \
	({                                                                  \
		static _Atomic(void *) known;                               \
		(__typeof__(function) *)rr_shim_library(&known, #function); \
	})

/* syscall(2) of the C library: our own changes the time-out of a futex. */
RR_SHIM_INNER long rr_shim_kernel_call(long number, const long words[6]);

/* A system call whose first words are a directory and a path, and that has no sixth argument: the
 * path is noted (files.c). */
RR_SHIM_INNER long rr_shim_file_call(long number, const long words[6], char kind);

/* The time of the kernel's monotonic clock, by which a thread really waits. */
RR_SHIM_INNER int64_t rr_shim_kernel_ns(void);

/* Notes the program's own file and the libraries that are mapped now. */
RR_SHIM_INNER void rr_shim_note_libraries(void);

RR_SHIM_INNER int64_t rr_shim_ns(const struct timespec *time);

/* Which clock an absolute time is of, where nobody says: that which is nearer. */
RR_SHIM_INNER clockid_t rr_shim_clock_of(int64_t ns);

/* Has the thread sent something to Redis? */
RR_SHIM_INNER bool rr_shim_talks(void);

/* ---- Processes (random.c) ---------------------------------------------------------- */

/* The kernel's ids of this process and this thread; and those that the program sees where they are
 * fixed. There is a page. */
static inline int rr_shim_real_pid(void)
{
	return (int)rr_shim_kernel_call(SYS_getpid, (const long[6]){ 0 });
}

static inline int rr_shim_real_tid(void)
{
	return (int)rr_shim_kernel_call(SYS_gettid, (const long[6]){ 0 });
}

RR_SHIM_INNER int rr_shim_own_pid(void);
RR_SHIM_INNER int rr_shim_own_tid(void);

/* What the program sees of another process; of a child, what its parent was told. What is not
 * positive, or of a child that was not told, is returned as it is. */
RR_SHIM_INNER int rr_shim_shown_pid(int pid, bool is_child);

/* And the other way round: the kernel's id; what is none of ours is returned as it is. */
RR_SHIM_INNER int rr_shim_real_pid_of(int shown);

/* ---- Process ids (pids.c) ----------------------------------------------------------- */

/* A path in /proc with the kernel's process ids instead of those that the program sees, in `text`. Any
 * other path is returned itself. */
RR_SHIM_INNER const char *rr_shim_real_path(const char *path, char text[RR_SHIM_PROC_PATH]);

/* Is it in the directory that each start has of its own? */
RR_SHIM_INNER bool rr_shim_is_private(const char *path);

/* A file is made. */
RR_SHIM_INNER void rr_shim_note_made(const char *path);

/* A system call that the program makes itself, about process ids. False: it is another one. */
RR_SHIM_INNER bool rr_shim_pid_call(long number, const long words[6], long *result);

/* ---- Random bytes (random.c) ----------------------------------------------------- */

/* The page is mapped: this process gets its key. */
RR_SHIM_INNER void rr_shim_begin_random(void);

/* The next bytes of this thread's stream. False: there is no page, and the kernel has to do it. */
RR_SHIM_INNER bool rr_shim_draw(void *bytes, size_t n);

/* Is that the path of a device of random bytes? Then a file that stands for it is opened; -1 and
 * errno: that is not possible. `closes`: when a program is executed. */
RR_SHIM_INNER bool rr_shim_is_random_device(const char *path);
RR_SHIM_INNER int rr_shim_open_random(const char *path, bool closes);

/* ---- Waiting in looks ---------------------------------------------------------- */

struct rr_shim_wait {
	struct rr_waiter *slot;
	uint32_t ticket;
	int64_t begun_ns; /* of the kernel */
};

/* False: there is no slot or no page, and the kernel has to do it. */
RR_SHIM_INNER bool rr_shim_wait_begin(struct rr_shim_wait *wait, int64_t duration_ns);
RR_SHIM_INNER bool rr_shim_wait_is_over(const struct rr_shim_wait *wait);
RR_SHIM_INNER void rr_shim_wait_end(struct rr_shim_wait *wait);

/* How long to wait in the kernel until the next look. */
RR_SHIM_INNER struct timespec rr_shim_look(const struct rr_shim_wait *wait);

/* Such a time from now, by the kernel's monotonic clock. */
RR_SHIM_INNER struct timespec rr_shim_look_end(const struct rr_shim_wait *wait);

#endif
