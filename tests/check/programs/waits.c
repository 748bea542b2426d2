/* SPDX-License-Identifier: MIT */
/* Waits for something that does not come, in the way its argument names, and exits with
 * 0 if just the time-out has passed by the program's own clock. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 100 };

static const struct timespec whole = { SECONDS, 0 };
static volatile sig_atomic_t n_alarms;

static struct timespec end_by(clockid_t clock)
{
	struct timespec end;

	clock_gettime(clock, &end);
	end.tv_sec += SECONDS;
	return end;
}

/* ---- Conditions, semaphores, locks, threads ------------------------------------ */

static int wait_for_condition(clockid_t clock, int of_attribute)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	const struct timespec end = end_by(clock);
	pthread_condattr_t attribute;
	pthread_cond_t condition;
	int result;

	pthread_condattr_init(&attribute);
	if (of_attribute)
		pthread_condattr_setclock(&attribute, clock);
	pthread_cond_init(&condition, &attribute);
	pthread_mutex_lock(&mutex);
	do
		result = of_attribute ? pthread_cond_timedwait(&condition, &mutex, &end) :
					pthread_cond_clockwait(&condition, &mutex, clock, &end);
	while (result == 0);
	return result == ETIMEDOUT;
}

static int cond_timedwait_realtime(void)
{
	return wait_for_condition(CLOCK_REALTIME, 1);
}

static int cond_timedwait_monotonic(void)
{
	return wait_for_condition(CLOCK_MONOTONIC, 1);
}

static int cond_clockwait(void)
{
	return wait_for_condition(CLOCK_MONOTONIC, 0);
}

/* As Ruby sleeps: to be just as late as the end is not enough. */
static int cond_until_later(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	const struct timespec end = end_by(CLOCK_MONOTONIC);
	struct timespec now;

	pthread_mutex_lock(&mutex);
	do {
		pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &end);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec <= end.tv_nsec));
	return 1;
}

static int semaphore_timedwait(void)
{
	const struct timespec end = end_by(CLOCK_REALTIME);
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	return sem_timedwait(&semaphore, &end) == -1 && errno == ETIMEDOUT;
}

static int semaphore_clockwait(void)
{
	const struct timespec end = end_by(CLOCK_MONOTONIC);
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end) == -1 && errno == ETIMEDOUT;
}

static void *sleep_with(void *mutex)
{
	pthread_mutex_lock(mutex);
	sleep(5 * SECONDS);
	pthread_mutex_unlock(mutex);
	return NULL;
}

static int mutex_timedlock(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	const struct timespec end = end_by(CLOCK_REALTIME);
	pthread_t holder;

	pthread_create(&holder, NULL, sleep_with, &mutex);
	while (pthread_mutex_trylock(&mutex) == 0) {
		pthread_mutex_unlock(&mutex);
		sched_yield();
	}
	return pthread_mutex_timedlock(&mutex, &end) == ETIMEDOUT;
}

static int timedjoin(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	const struct timespec end = end_by(CLOCK_REALTIME);
	pthread_t sleeper;

	pthread_create(&sleeper, NULL, sleep_with, &mutex);
	return pthread_timedjoin_np(sleeper, NULL, &end) == ETIMEDOUT;
}

static int futex_wait(void)
{
	static int word;

	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &whole, NULL, 0) == -1 &&
	       errno == ETIMEDOUT;
}

static int futex_wait_bitset(void)
{
	static int word;
	const struct timespec end = end_by(CLOCK_MONOTONIC);

	return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &end, NULL,
		       FUTEX_BITSET_MATCH_ANY) == -1 &&
	       errno == ETIMEDOUT;
}

/* ---- Signals -------------------------------------------------------------------- */

static void count_alarm(int signal)
{
	(void)signal;
	n_alarms = n_alarms + 1;
}

static int one_alarm(void)
{
	signal(SIGALRM, count_alarm);
	alarm(SECONDS);
	pause();
	return n_alarms == 1 && alarm(0) == 0;
}

static int ten_alarms(void)
{
	const struct itimerval tenth = { { SECONDS / 10, 0 }, { SECONDS / 10, 0 } };

	signal(SIGALRM, count_alarm);
	setitimer(ITIMER_REAL, &tenth, NULL);
	while (n_alarms < 10)
		pause();
	return 1;
}

static int alarm_in_sleep(void)
{
	signal(SIGALRM, count_alarm);
	alarm(SECONDS);
	return sleep(SECONDS + 30) == 30 && n_alarms == 1;
}

static int timed_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return sigtimedwait(&set, NULL, &whole) == -1 && errno == EAGAIN;
}

/* ---- Descriptors and sleeping ----------------------------------------------------- */

static int ppoll_nothing(void)
{
	return ppoll(NULL, 0, &whole, NULL) == 0;
}

static int pselect_nothing(void)
{
	return pselect(0, NULL, NULL, NULL, &whole, NULL) == 0;
}

static int epoll_nothing(void)
{
	struct epoll_event event;

	return epoll_pwait2(epoll_create1(0), &event, 1, &whole, NULL) == 0;
}

static int usleep_long(void)
{
	return usleep(SECONDS * 1000000) == 0;
}

static int thrd_sleep_long(void)
{
	return thrd_sleep(&whole, NULL) == 0;
}

static int two_sleepers(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_t sleeper;

	pthread_create(&sleeper, NULL, sleep_with, &mutex);
	for (int i = 0; i < SECONDS; i++)
		sleep(1);
	return 1;
}

/* A child that is killed sleeps no more. */
static int killed_sleeper(void)
{
	const pid_t child = fork();

	if (child == 0) {
		sleep(SECONDS / 2);
		_exit(0);
	}
	usleep(1000);
	kill(child, SIGKILL);
	return usleep(SECONDS * 1000000 - 1000) == 0;
}

/* Nothing but looking at the clock. */
static int spin(void)
{
	const struct timespec end = end_by(CLOCK_MONOTONIC);
	struct timespec now;

	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < end.tv_sec);
	return 1;
}

/* Another thread sleeps meanwhile. */
static int spin_beside_a_sleeper(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_t sleeper;

	pthread_create(&sleeper, NULL, sleep_with, &mutex);
	return spin();
}

static const struct {
	const char *name;
	int (*wait)(void);
} waits[] = {
	{ "cond_timedwait_realtime", cond_timedwait_realtime },
	{ "cond_timedwait_monotonic", cond_timedwait_monotonic },
	{ "cond_clockwait", cond_clockwait },
	{ "cond_until_later", cond_until_later },
	{ "sem_timedwait", semaphore_timedwait },
	{ "sem_clockwait", semaphore_clockwait },
	{ "mutex_timedlock", mutex_timedlock },
	{ "timedjoin", timedjoin },
	{ "futex_wait", futex_wait },
	{ "futex_wait_bitset", futex_wait_bitset },
	{ "alarm", one_alarm },
	{ "setitimer", ten_alarms },
	{ "alarm_in_sleep", alarm_in_sleep },
	{ "sigtimedwait", timed_signal },
	{ "ppoll", ppoll_nothing },
	{ "pselect", pselect_nothing },
	{ "epoll_pwait2", epoll_nothing },
	{ "usleep", usleep_long },
	{ "thrd_sleep", thrd_sleep_long },
	{ "two_sleepers", two_sleepers },
	{ "killed_sleeper", killed_sleeper },
	{ "spin", spin },
	{ "spin_beside_a_sleeper", spin_beside_a_sleeper },
};

int main(int argc, char **argv)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (argc != 2 || strcmp(argv[1], waits[i].name) != 0)
			continue;
		if (!waits[i].wait()) {
			printf("%s: another result\n", argv[1]);
			return 1;
		}
		clock_gettime(CLOCK_MONOTONIC, &end);
		printf("%s: %ld s\n", argv[1], (long)(end.tv_sec - begin.tv_sec));
		return end.tv_sec - begin.tv_sec == SECONDS ? 0 : 1;
	}
	printf("no such wait\n");
	return 2;
}
