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

int64_t rr_shim_kernel_ns(void)
{
	struct timespec now;
	const long words[6] = { CLOCK_MONOTONIC, (long)&now };

	rr_shim_kernel_call(SYS_clock_gettime, words);
	return rr_shim_ns(&now);
}

/* ---- Whose turn it is ---------------------------------------------------------------- */

/*
 * Whose turn it is when a thread gives back what another one waits for: it may take it again
 * before the other one has woken, or be too late. Which of the two is up to the kernel. So in
 * every second run, as the page says, a thread that talks to Redis lets the other one go first; in
 * the runs between, who was woken for a semaphore lets the thread take it again. A program whose
 * commands depend on that does not do the same twice.
 *
 * Who waits for a mutex or a condition is read from them (the C library's headers have their
 * fields); who waits for a semaphore is counted.
 *
 * TURN_NS: longer than it takes to wake a thread, where processors are free; LONGEST_NS: where it is
 * seen whether that one has what it waits for. CONTENDED: of a mutex's __lock. The low bits of
 * a condition's __wrefs are flags.
 */
enum {
	TURN_NS = 200 * 1000,
	LONGEST_NS = 50 * 1000 * 1000,
	SEMAPHORES = 256,
	SEMAPHORE_SHIFT = 5,
	CONTENDED = 2,
	FLAG_BITS = 3
};

/* Not asleep, or redrace would take the program to be at rest. */
static void stand_back(void)
{
	const long none[6] = { 0 };
	const int why = errno;
	const int64_t until_ns = rr_shim_kernel_ns() + TURN_NS;

	while (rr_shim_kernel_ns() < until_ns)
		rr_shim_kernel_call(SYS_sched_yield, none);
	errno = why;
}

/* Does this thread talk, and are turns of that kind? */
static bool takes_turns(enum rr_turns turns)
{
	const struct rr_program_page *page = rr_shim_page();

	return page && (enum rr_turns)atomic_load(&page->turns) == turns && rr_shim_talks();
}

static void let_go(void)
{
	if (takes_turns(RR_TURNS_OF_OTHERS))
		stand_back();
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	const bool is_waited_for = __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) >=
				   CONTENDED;
	const int result = RR_SHIM_NEXT(pthread_mutex_unlock)(mutex);

	if (is_waited_for)
		let_go();
	return result;
}

/* ---- Conditions ------------------------------------------------------------------- */

/* Calls `next`, pthread_cond_signal or pthread_cond_broadcast of the C library. */
static int signal_condition(pthread_cond_t *condition, int (*next)(pthread_cond_t *))
{
	bool is_waited_for;
	int result;

	atomic_fetch_add(signals_of(condition), 1);
	is_waited_for = __atomic_load_n(&condition->__data.__wrefs, __ATOMIC_RELAXED) >> FLAG_BITS;
	result = next(condition);
	if (is_waited_for)
		let_go();
	return result;
}

int pthread_cond_signal(pthread_cond_t *condition)
{
	return signal_condition(condition, RR_SHIM_NEXT(pthread_cond_signal));
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
	return signal_condition(condition, RR_SHIM_NEXT(pthread_cond_broadcast));
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

/* ---- Semaphores ---------------------------------------------------------------------- */

/* How many wait, by addresses; and whether the next one that is woken stands back. */
static _Atomic int waiting[SEMAPHORES];
static _Atomic bool is_wanted_back[SEMAPHORES];

static size_t slot_of(const void *semaphore)
{
	return ((uintptr_t)semaphore >> SEMAPHORE_SHIFT) % SEMAPHORES;
}

static int ask_semaphore(void *semaphore, clockid_t clock, const struct timespec *until)
{
	return RR_SHIM_NEXT(sem_clockwait)(semaphore, clock, until) == 0 ? 0 : errno;
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	int result;

	atomic_fetch_add(&waiting[slot_of(semaphore)], 1);
	result = ask_until_time(ask_semaphore, semaphore, clock, until);
	atomic_fetch_sub(&waiting[slot_of(semaphore)], 1);
	if (result == 0)
		return 0;
	errno = result;
	return -1;
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	return sem_clockwait(semaphore, CLOCK_REALTIME, until);
}

int sem_wait(sem_t *semaphore)
{
	int (*const next)(sem_t *) = RR_SHIM_NEXT(sem_wait);
	int result;

	atomic_fetch_add(&waiting[slot_of(semaphore)], 1);
	result = next(semaphore);
	if (result == 0 && atomic_exchange(&is_wanted_back[slot_of(semaphore)], false)) {
		RR_SHIM_NEXT(sem_post)(semaphore);
		stand_back();
		result = next(semaphore);
	}
	atomic_fetch_sub(&waiting[slot_of(semaphore)], 1);
	return result;
}

int sem_post(sem_t *semaphore)
{
	const bool is_waited_for = atomic_load(&waiting[slot_of(semaphore)]) > 0;
	int result;

	if (is_waited_for && takes_turns(RR_TURNS_OWN))
		atomic_store(&is_wanted_back[slot_of(semaphore)], true);
	result = RR_SHIM_NEXT(sem_post)(semaphore);
	if (is_waited_for && takes_turns(RR_TURNS_OF_OTHERS)) {
		const long none[6] = { 0 };
		const int why = errno;
		const int64_t until_ns = rr_shim_kernel_ns() + LONGEST_NS;
		int value;

		while (sem_getvalue(semaphore, &value) == 0 && value > 0 &&
		       rr_shim_kernel_ns() < until_ns)
			rr_shim_kernel_call(SYS_sched_yield, none);
		errno = why;
	}
	return result;
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
	if (number == SYS_futex && ((int)words[1] & FUTEX_CMD_MASK) == FUTEX_WAKE && result > 0)
		let_go();
	return result;
}
