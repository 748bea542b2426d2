/* SPDX-License-Identifier: MIT */
/*
 * Whose turn it is when a thread gives back what another one waits for: it may take it again
 * before the other one has woken, or be too late. Which of the two is up to the kernel. So in
 * every second run, as the page says, a thread that talks to Redis lets the other one go first; in
 * the runs between, who was woken for a semaphore lets the thread take it again. A program whose
 * commands depend on that does not do the same twice.
 *
 * Who waits for a mutex or a condition is read from them (the C library's headers have their
 * fields); who waits for a semaphore is counted.
 */
#include "shim.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

/* TURN_NS: longer than it takes to wake a thread, where processors are free; LONGEST_NS: where it is
 * seen whether that one has what it waits for. CONTENDED: of a mutex's __lock. The low bits of
 * a condition's __wrefs are flags. */
enum {
	TURN_NS = 200 * 1000,
	LONGEST_NS = 50 * 1000 * 1000,
	SEMAPHORES = 256,
	SEMAPHORE_SHIFT = 5,
	CONTENDED = 2,
	FLAG_BITS = 3
};

int64_t rr_shim_kernel_ns(void)
{
	struct timespec now;
	const long words[6] = { CLOCK_MONOTONIC, (long)&now };

	rr_shim_kernel_call(SYS_clock_gettime, words);
	return rr_shim_ns(&now);
}

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

/* ---- Mutexes and conditions ---------------------------------------------------------- */

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	const bool is_waited_for = __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) >=
				   CONTENDED;
	const int result = RR_SHIM_NEXT(pthread_mutex_unlock)(mutex);

	if (is_waited_for)
		let_go();
	return result;
}

int rr_shim_signal(pthread_cond_t *condition, int (*next)(pthread_cond_t *))
{
	const bool is_waited_for = __atomic_load_n(&condition->__data.__wrefs, __ATOMIC_RELAXED) >>
				   FLAG_BITS;
	const int result = next(condition);

	if (is_waited_for)
		let_go();
	return result;
}

/* ---- Semaphores ---------------------------------------------------------------------- */

/* How many wait, by addresses; and whether the next one that is woken stands back. */
static _Atomic int waiting[SEMAPHORES];
static _Atomic bool is_wanted_back[SEMAPHORES];

static size_t slot_of(const void *semaphore)
{
	return ((uintptr_t)semaphore >> SEMAPHORE_SHIFT) % SEMAPHORES;
}

_Atomic int *rr_shim_waiting(const void *semaphore)
{
	return &waiting[slot_of(semaphore)];
}

int sem_wait(sem_t *semaphore)
{
	int (*const next)(sem_t *) = RR_SHIM_NEXT(sem_wait);
	int result;

	atomic_fetch_add(rr_shim_waiting(semaphore), 1);
	result = next(semaphore);
	if (result == 0 && atomic_exchange(&is_wanted_back[slot_of(semaphore)], false)) {
		RR_SHIM_NEXT(sem_post)(semaphore);
		stand_back();
		result = next(semaphore);
	}
	atomic_fetch_sub(rr_shim_waiting(semaphore), 1);
	return result;
}

int sem_post(sem_t *semaphore)
{
	const bool is_waited_for = atomic_load(rr_shim_waiting(semaphore)) > 0;
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

/* ---- Futexes ------------------------------------------------------------------------- */

void rr_shim_note_woken(long number, const long words[6], long result)
{
	if (number == SYS_futex && ((int)words[1] & FUTEX_CMD_MASK) == FUTEX_WAKE && result > 0)
		let_go();
}
