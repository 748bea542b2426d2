/* SPDX-License-Identifier: MIT */
/*
 * The seam of driver.h: everything that is done here is done freely, or as the
 * link's driver says.
 *
 * Where the driver looks at every command, it is executed when it is queued,
 * and its reply is kept until the caller receives it. Otherwise a command
 * would only be on its way when its step is over, and which of two connections
 * is served first would be the server's choice.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "driver.h"
#include "link.h"

/* ---- Clocks, waits, tasks, marks and mutexes --------------------------- */

int64_t rl_now_ns(const struct rl_link *link, enum rl_clock clock)
{
	struct timespec now;

	if (rl_is_driven(link) && link->driver->ops->now)
		return link->driver->ops->now(link->driver->context, clock);
	clock_gettime(clock == RL_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
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
		return link->driver->ops->wait(link->driver->context, fd, timeout_ns);
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

struct rl_kept_reply {
	struct rl_kept_reply *next;
	enum rl_outcome outcome;
	struct rl_reply reply;
	struct rl_arena arena;
	char error[256];
};

/* ---- Kept replies ------------------------------------------------------ */

static void put_aside(struct rl_kept_replies *keep, struct rl_kept_reply *kept)
{
	rl_arena_reset(&kept->arena);
	kept->next = keep->spare;
	keep->spare = kept;
}

void rl_kept_replies_drop(struct rl_kept_replies *keep)
{
	while (keep->first) {
		struct rl_kept_reply *kept = keep->first;

		keep->first = kept->next;
		put_aside(keep, kept);
	}
	keep->last = NULL;
}

void rl_kept_replies_release(struct rl_kept_replies *keep)
{
	rl_kept_replies_drop(keep);
	if (keep->taken)
		put_aside(keep, keep->taken);
	keep->taken = NULL;
	while (keep->spare) {
		struct rl_kept_reply *kept = keep->spare;

		keep->spare = kept->next;
		free(kept);
	}
}

static struct rl_kept_reply *append(struct rl_kept_replies *keep)
{
	struct rl_kept_reply *kept = keep->spare;

	if (kept)
		keep->spare = kept->next;
	else
		kept = calloc(1, sizeof(*kept));
	if (!kept)
		return NULL;
	kept->next = NULL;
	if (keep->last)
		keep->last->next = kept;
	else
		keep->first = kept;
	keep->last = kept;
	return kept;
}

static bool copy_reply(struct rl_arena *arena, struct rl_reply *copy, const struct rl_reply *reply)
{
	*copy = *reply;
	if (reply->type == RL_REPLY_ARRAY) {
		copy->elements = rl_arena_take(arena,
					       (reply->length + 1) * sizeof(*copy->elements));
		for (size_t i = 0; copy->elements && i < reply->length; i++) {
			if (!copy_reply(arena, &copy->elements[i], &reply->elements[i]))
				return false;
		}
		return copy->elements != NULL;
	}
	if (!reply->text)
		return true;
	copy->text = rl_arena_take(arena, reply->length + 1);
	if (copy->text)
		memcpy((char *)copy->text, reply->text, reply->length + 1);
	return copy->text != NULL;
}

/* ---- Queueing ---------------------------------------------------------- */

static enum rl_outcome execute(struct rl_link *link, struct rl_command *command,
			       struct rl_reply *reply)
{
	enum rl_outcome outcome;

	rl_link_leave_parents(link);
	outcome = rl_link_connect(link);
	if (outcome == RL_OK && !rl_command_encode(command, &link->out))
		outcome = rl_link_fail(link, RL_ERROR, "out of memory");
	if (outcome != RL_OK) {
		rl_link_disconnect(link);
		return outcome;
	}
	link->commands++;
	outcome = rl_flush(link);
	if (outcome != RL_OK)
		return outcome;
	link->pending++;
	return rl_link_read(link, reply, 0);
}

/* What the caller will receive. */
static bool keep_reply(struct rl_link *link, enum rl_outcome outcome, const struct rl_reply *reply)
{
	struct rl_kept_reply *kept = append(&link->keep);

	if (!kept || !copy_reply(&kept->arena, &kept->reply, reply))
		return false;
	kept->outcome = outcome;
	memcpy(kept->error, link->error, sizeof(kept->error));
	link->pending++;
	return true;
}

/* The driver takes the server's place: the link is open without a server. */
static enum rl_outcome submit(struct rl_link *link, const struct rl_command *command)
{
	const struct rl_driver *driver = link->driver;
	enum rl_outcome outcome = rl_link_connect(link);

	if (outcome == RL_OK)
		outcome = driver->ops->submit(driver->context, link, command);
	if (outcome != RL_OK) {
		rl_link_disconnect(link);
		return outcome;
	}
	link->commands++;
	link->pending++;
	return RL_OK;
}

static enum rl_outcome deliver(struct rl_link *link, struct rl_reply *reply)
{
	const struct rl_driver *driver = link->driver;
	enum rl_outcome outcome;

	if (!link->context || !link->pending)
		return rl_link_fail(link, RL_UNKNOWN, "%s",
				    link->error[0] ? link->error : "not connected");
	link->pending--;
	outcome = driver->ops->deliver(driver->context, link, reply);
	if (outcome == RL_OK && reply->type == RL_REPLY_FAILED)
		return rl_link_fail(link, RL_ERROR, "%s", reply->text);
	if (outcome == RL_OK)
		return RL_OK;
	rl_link_fail(link, outcome, "%s",
		     outcome == RL_ERROR ? "connection refused" : "the reply was lost");
	rl_link_disconnect(link);
	return outcome;
}

static enum rl_outcome fail(struct rl_link *link, enum rl_outcome outcome)
{
	rl_link_disconnect(link);
	return outcome;
}

enum rl_outcome rl_driven_queue(struct rl_link *link, struct rl_command *command)
{
	const struct rl_driver *driver = link->driver;
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	enum rl_outcome outcome = RL_OK;

	if (driver->ops->submit)
		return submit(link, command);
	if (link->keep.first && !link->context)
		return fail(link, RL_UNKNOWN); /* went with those before it */
	outcome = driver->ops->send(driver->context, link, command);
	if (outcome != RL_OK)
		return fail(link, outcome);
	outcome = execute(link, command, &reply);
	if (driver->ops->done)
		outcome = driver->ops->done(driver->context, link, &reply, outcome);
	if (outcome == RL_ERROR && reply.type != RL_REPLY_FAILED)
		return fail(link, outcome); /* it was never sent */
	if (outcome == RL_UNKNOWN && link->context)
		rl_link_fail(link, outcome, "the reply was lost");
	if (!keep_reply(link, outcome, &reply))
		return fail(link, rl_link_fail(link, RL_UNKNOWN, "out of memory"));
	return RL_OK;
}

/* ---- Receiving --------------------------------------------------------- */

static enum rl_outcome take(struct rl_link *link, struct rl_reply *reply)
{
	struct rl_kept_replies *keep = &link->keep;
	struct rl_kept_reply *kept = keep->first;

	if (keep->taken)
		put_aside(keep, keep->taken);
	keep->taken = kept;
	keep->first = kept->next;
	if (!keep->first)
		keep->last = NULL;
	link->pending--;
	if (kept->outcome != RL_OK)
		rl_link_fail(link, kept->outcome, "%s", kept->error);
	if (kept->outcome == RL_UNKNOWN)
		rl_link_disconnect(link); /* what is behind it is lost, too */
	else
		*reply = kept->reply;
	return kept->outcome;
}

enum rl_outcome rl_driven_receive(struct rl_link *link, struct rl_reply *reply, int64_t deadline_ns)
{
	const struct rl_driver *driver = link->driver;
	enum rl_outcome outcome;

	if (driver->ops->deliver)
		return deliver(link, reply);
	if (link->keep.first)
		outcome = take(link, reply);
	else if (rl_link_spare_parents(link) != RL_OK)
		return RL_UNKNOWN;
	else
		outcome = rl_link_receive(link, reply, deadline_ns);
	if (driver->ops->receive)
		outcome = driver->ops->receive(driver->context, link, reply, outcome);
	return outcome;
}
