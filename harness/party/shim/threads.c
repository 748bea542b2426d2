/* SPDX-License-Identifier: MIT */
/*
 * Waiting for other threads with a time-out: conditions, semaphores, locks and the end
 * of a thread. The C library waits in looks, until it gets what it waits for or the
 * time is over.
 *
 * A semaphore or a lock keeps what it was given between two looks. A condition does
 * not: what is signalled while nobody waits is lost. So signals are counted, and who
 * finds after a look that there was one returns as if it was his own, which POSIX
 * allows at any time.
 */
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* BRIEF: what Python's interpreter lock waits until it asks for its turn. */
#define BRIEF_NS INT64_C(10000000)

enum { CONDITIONS = 1024, CONDITION_SHIFT = 4 };

/* Of conditions by their addresses; others with the same number are woken in vain. */
static _Atomic uint32_t signals[CONDITIONS];

static _Atomic uint32_t *signals_of(const pthread_cond_t *condition)
{
	return &signals[((uintptr_t)condition >> CONDITION_SHIFT) % CONDITIONS];
}

void (*rr_shim_library(_Atomic(void *) *known, const char *name))(void)
{
	void *symbol = atomic_load(known);
	void (*function)(void);

	if (!symbol) {
		symbol = dlsym(RTLD_NEXT, name);
		atomic_store(known, symbol);
	}
	memcpy(&function, &symbol, sizeof(function));
	return function;
}

/* ---- Conditions ------------------------------------------------------------------- */

int pthread_cond_signal(pthread_cond_t *condition)
{
	atomic_fetch_add(signals_of(condition), 1);
	return rr_shim_signal(condition, RR_SHIM_NEXT(pthread_cond_signal));
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
	atomic_fetch_add(signals_of(condition), 1);
	return rr_shim_signal(condition, RR_SHIM_NEXT(pthread_cond_broadcast));
}

static int library_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
			     const struct timespec *until)
{
	return RR_SHIM_NEXT(pthread_cond_clockwait)(condition, mutex, clock, until);
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
			   const struct timespec *until)
{
	const int64_t left_ns = rr_shim_ns(until) - rr_shim_now(clock);
	const uint32_t n_signals = atomic_load(signals_of(condition));
	const struct timespec past = { 0, 0 };
	struct rr_shim_wait wait;
	int result;

	if (rr_shim_now(clock) < 0 || until->tv_nsec < 0)
		return library_clockwait(condition, mutex, clock, until);
	if (left_ns <= 0)
		return library_clockwait(condition, mutex, CLOCK_MONOTONIC, &past);
	if (!rr_shim_wait_begin(&wait, left_ns))
		return library_clockwait(condition, mutex, clock, until);
	atomic_store(&wait.slot->is_brief, left_ns <= BRIEF_NS);
	do {
		const struct timespec end = rr_shim_look_end(&wait);

		result = library_clockwait(condition, mutex, CLOCK_MONOTONIC, &end);
		if (result == ETIMEDOUT && n_signals != atomic_load(signals_of(condition)))
			result = 0;
	} while (result == ETIMEDOUT && !rr_shim_wait_is_over(&wait));
	rr_shim_wait_end(&wait);
	return result;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	if (!rr_shim_page())
		return RR_SHIM_NEXT(pthread_cond_timedwait)(condition, mutex, until);
	return pthread_cond_clockwait(condition, mutex, rr_shim_clock_of(rr_shim_ns(until)), until);
}

/* ---- What keeps its state ----------------------------------------------------------- */

/* `ask` waits until a time of the kernel's monotonic clock and returns 0 or an error,
 * ETIMEDOUT among them. */
static int ask_until_time(int (*ask)(void *, clockid_t, const struct timespec *), void *call,
			  clockid_t clock, const struct timespec *until)
{
	const int64_t now_ns = rr_shim_now(clock);
	const struct timespec past = { 0, 0 };
	struct rr_shim_wait wait;
	int result;

	if (now_ns < 0 || until->tv_nsec < 0)
		return ask(call, clock, until);
	result = ask(call, CLOCK_MONOTONIC, &past);
	if (result != ETIMEDOUT || rr_shim_ns(until) <= now_ns)
		return result;
	if (!rr_shim_wait_begin(&wait, rr_shim_ns(until) - now_ns))
		return ask(call, clock, until);
	while (result == ETIMEDOUT && !rr_shim_wait_is_over(&wait)) {
		const struct timespec end = rr_shim_look_end(&wait);

		result = ask(call, CLOCK_MONOTONIC, &end);
	}
	rr_shim_wait_end(&wait);
	return result;
}

static int ask_semaphore(void *semaphore, clockid_t clock, const struct timespec *until)
{
	return RR_SHIM_NEXT(sem_clockwait)(semaphore, clock, until) == 0 ? 0 : errno;
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	int result;

	atomic_fetch_add(rr_shim_waiting(semaphore), 1);
	result = ask_until_time(ask_semaphore, semaphore, clock, until);
	atomic_fetch_sub(rr_shim_waiting(semaphore), 1);
	if (result == 0)
		return 0;
	errno = result;
	return -1;
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	return sem_clockwait(semaphore, CLOCK_REALTIME, until);
}

static int ask_mutex(void *mutex, clockid_t clock, const struct timespec *until)
{
	return RR_SHIM_NEXT(pthread_mutex_clocklock)(mutex, clock, until);
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	return ask_until_time(ask_mutex, mutex, clock, until);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	return ask_until_time(ask_mutex, mutex, CLOCK_REALTIME, until);
}

struct join_call {
	pthread_t thread;
	void **result;
};

static int ask_join(void *context, clockid_t clock, const struct timespec *until)
{
	const struct join_call *call = context;

	return RR_SHIM_NEXT(pthread_clockjoin_np)(call->thread, call->result, clock, until);
}

int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
			 const struct timespec *until)
{
	struct join_call call = { thread, result };

	return ask_until_time(ask_join, &call, clock, until);
}

int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
	return pthread_clockjoin_np(thread, result, CLOCK_REALTIME, until);
}

/* ---- syscall(SYS_futex) --------------------------------------------------------------- */

long rr_shim_kernel_call(long number, const long words[6])
{
	return RR_SHIM_NEXT(syscall)(number, words[0], words[1], words[2], words[3], words[4],
				     words[5]);
}

/* Does a call wait with a time-out? */
static bool is_timed_futex(long number, const long words[6])
{
	const int operation = (int)words[1] & FUTEX_CMD_MASK;

	return number == SYS_futex && words[3] &&
	       (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

/* The same call, until a time of the kernel's monotonic clock. */
static long look_at_futex(const long words[6], const struct timespec *end)
{
	const bool has_bits = ((int)words[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	const long look[6] = { words[0], FUTEX_WAIT_BITSET | ((int)words[1] & FUTEX_PRIVATE_FLAG),
			       words[2], (long)end,
			       0,        has_bits ? words[5] : (long)FUTEX_BITSET_MATCH_ANY };

	return rr_shim_kernel_call(SYS_futex, look);
}

/* A futex is looked at before it is waited for: nothing is lost between two looks. */
static long futex_until_over(const long words[6])
{
	const bool is_relative = ((int)words[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
	const clockid_t clock = (int)words[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME :
								       CLOCK_MONOTONIC;
	const int64_t timeout_ns = rr_shim_ns((const struct timespec *)words[3]) -
				   (is_relative ? 0 : rr_shim_now(clock));
	const struct timespec past = { 0, 0 };
	struct rr_shim_wait wait;
	long result;

	if (timeout_ns <= 0)
		return look_at_futex(words, &past);
	if (!rr_shim_wait_begin(&wait, timeout_ns))
		return rr_shim_kernel_call(SYS_futex, words);
	do {
		const struct timespec end = rr_shim_look_end(&wait);

		result = look_at_futex(words, &end);
	} while (result != 0 && errno == ETIMEDOUT && !rr_shim_wait_is_over(&wait));
	rr_shim_wait_end(&wait);
	return result;
}

long syscall(long number, ...)
{
	long words[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	if (rr_shim_page() && is_timed_futex(number, words))
		return futex_until_over(words);
	/* So libuv looks at files. */
	if (number == SYS_statx)
		return rr_shim_file_call(number, words, RR_NOTED_SEEN);
	if (number == SYS_getrandom)
		return getrandom((void *)words[0], (size_t)words[1], (unsigned)words[2]);
	if (rr_shim_pid_call(number, words, &result))
		return result;
	result = rr_shim_kernel_call(number, words);
	rr_shim_note_woken(number, words, result);
	return result;
}
