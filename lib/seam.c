/* SPDX-License-Identifier: MIT */
/* Clocks, waits, tasks, marks and mutexes: free, or as the link's driver says. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <time.h>

#include "driver.h"
#include "link.h"

int64_t rl_now_ns(const struct rl_link *link, enum rl_clock clock)
{
	struct timespec now;

	if (rl_is_driven(link) && link->driver->ops->now)
		return link->driver->ops->now(link->driver->context, clock);
	clock_gettime(clock == RL_CLOCK_REALTIME ? CLOCK_REALTIME :
						   CLOCK_MONOTONIC,
		      &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool rl_random(const struct rl_link *link, unsigned char *bytes, size_t n)
{
	if (link && rl_is_driven(link) && link->driver->ops->random) {
		link->driver->ops->random(link->driver->context, bytes, n);
		return true;
	}
	return getrandom(bytes, n, 0) == (ssize_t)n;
}

void rl_sleep_ns(const struct rl_link *link, int64_t duration_ns)
{
	struct timespec rest = { .tv_sec = duration_ns / 1000000000,
				 .tv_nsec = duration_ns % 1000000000 };

	if (rl_is_driven(link) && link->driver->ops->sleep) {
		link->driver->ops->sleep(link->driver->context, duration_ns);
		return;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
		continue;
}

bool rl_wait(const struct rl_link *link, int fd, int64_t timeout_ns)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	const struct timespec timeout = { .tv_sec = timeout_ns / 1000000000,
					  .tv_nsec = timeout_ns % 1000000000 };

	if (rl_is_driven(link) && link->driver->ops->wait)
		return link->driver->ops->wait(link->driver->context, fd,
					       timeout_ns);
	if (timeout_ns < 0)
		return false;
	return ppoll(&ready, 1, &timeout, NULL) > 0;
}

static void *run_task(void *argument)
{
	const struct rl_task *task = argument;

	task->body(task->argument);
	return NULL;
}

bool rl_spawn(const struct rl_link *link, struct rl_task *task)
{
	sigset_t all, before;
	bool started;

	if (rl_is_driven(link) && link->driver->ops->spawn)
		return link->driver->ops->spawn(link->driver->context, task);
	sigfillset(&all); /* signals are for the threads of the program */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&task->thread, NULL, run_task, task) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

void rl_join(const struct rl_link *link, struct rl_task *task)
{
	if (rl_is_driven(link) && link->driver->ops->join)
		link->driver->ops->join(link->driver->context, task);
	else
		pthread_join(task->thread, NULL);
}

void rl_mark(const struct rl_link *link, enum rl_mark mark)
{
	if (rl_is_driven(link) && link->driver->ops->mark)
		link->driver->ops->mark(link->driver->context, mark);
}

void rl_mutex_init(struct rl_mutex *mutex)
{
	pthread_mutex_init(&mutex->native, NULL);
}

void rl_mutex_destroy(struct rl_mutex *mutex)
{
	pthread_mutex_destroy(&mutex->native);
}

void rl_mutex_lock(const struct rl_link *link, struct rl_mutex *mutex)
{
	if (rl_is_driven(link) && link->driver->ops->mutex)
		link->driver->ops->mutex(link->driver->context, mutex, true);
	else
		pthread_mutex_lock(&mutex->native);
}

void rl_mutex_unlock(const struct rl_link *link, struct rl_mutex *mutex)
{
	if (rl_is_driven(link) && link->driver->ops->mutex)
		link->driver->ops->mutex(link->driver->context, mutex, false);
	else
		pthread_mutex_unlock(&mutex->native);
}
