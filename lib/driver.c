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

int64_t rdl_now_ns(const struct rdl_link *link, enum rdl_clock clock)
{
	struct timespec now;

	if (rdl_is_driven(link) && link->driver->ops->now)
		return link->driver->ops->now(link->driver->context, clock);
	/* CLOCK_MONOTONIC stops while the machine is suspended, and leases do not. */
	clock_gettime(clock == RDL_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool rdl_random(const struct rdl_link *link, unsigned char *bytes, size_t n)
{
	if (link && rdl_is_driven(link) && link->driver->ops->random) {
		link->driver->ops->random(link->driver->context, bytes, n);
		return true;
	}
	return getrandom(bytes, n, 0) == (ssize_t)n;
}

void rdl_sleep_ns(const struct rdl_link *link, int64_t duration_ns)
{
	struct timespec rest = { .tv_sec = duration_ns / 1000000000,
				 .tv_nsec = duration_ns % 1000000000 };

	if (rdl_is_driven(link) && link->driver->ops->sleep) {
		link->driver->ops->sleep(link->driver->context, duration_ns);
		return;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
		continue;
}

bool rdl_wait(const struct rdl_link *link, int fd, int64_t timeout_ns)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	const int64_t since_ns = rdl_kernel_ns();

	if (rdl_is_driven(link) && link->driver->ops->wait)
		return link->driver->ops->wait(link->driver->context, fd, timeout_ns);
	for (int64_t left_ns = timeout_ns; left_ns >= 0;) {
		const struct timespec left = { left_ns / 1000000000, left_ns % 1000000000 };
		const int n = ppoll(&ready, 1, &left, NULL);

		if (n >= 0 || errno != EINTR) /* a signal is no expiry */
			return n > 0;
		left_ns = timeout_ns - (rdl_kernel_ns() - since_ns);
	}
	return false;
}

static void *run_task(void *argument)
{
	const struct rdl_task *task = argument;

	task->body(task->argument);
	return NULL;
}

bool rdl_spawn(const struct rdl_link *link, struct rdl_task *task)
{
	sigset_t all, before;
	bool started;

	if (rdl_is_driven(link) && link->driver->ops->spawn)
		return link->driver->ops->spawn(link->driver->context, task);
	sigfillset(&all); /* signals are for the threads of the program */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&task->thread, NULL, run_task, task) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

void rdl_join(const struct rdl_link *link, struct rdl_task *task)
{
	if (rdl_is_driven(link) && link->driver->ops->join)
		link->driver->ops->join(link->driver->context, task);
	else
		pthread_join(task->thread, NULL);
}

void rdl_mark(const struct rdl_link *link, enum rdl_mark mark)
{
	if (rdl_is_driven(link) && link->driver->ops->mark)
		link->driver->ops->mark(link->driver->context, mark);
}

void rdl_mutex_init(struct rdl_mutex *mutex)
{
	pthread_mutex_init(&mutex->native, NULL);
}

void rdl_mutex_destroy(struct rdl_mutex *mutex)
{
	pthread_mutex_destroy(&mutex->native);
}

void rdl_mutex_lock(const struct rdl_link *link, struct rdl_mutex *mutex)
{
	if (rdl_is_driven(link) && link->driver->ops->mutex)
		link->driver->ops->mutex(link->driver->context, mutex, true);
	else
		pthread_mutex_lock(&mutex->native);
}

void rdl_mutex_unlock(const struct rdl_link *link, struct rdl_mutex *mutex)
{
	if (rdl_is_driven(link) && link->driver->ops->mutex)
		link->driver->ops->mutex(link->driver->context, mutex, false);
	else
		pthread_mutex_unlock(&mutex->native);
}

struct rdl_kept_reply {
	struct rdl_kept_reply *next;
	enum rdl_outcome outcome;
	struct rdl_reply reply;
	struct rdl_arena arena;
	char error[256];
};

/* ---- Kept replies ------------------------------------------------------ */

static void put_aside(struct rdl_kept_replies *keep, struct rdl_kept_reply *kept)
{
	rdl_arena_reset(&kept->arena);
	kept->next = keep->spare;
	keep->spare = kept;
}

void rdl_kept_replies_drop(struct rdl_kept_replies *keep)
{
	while (keep->first) {
		struct rdl_kept_reply *kept = keep->first;

		keep->first = kept->next;
		put_aside(keep, kept);
	}
	keep->last = NULL;
}

void rdl_kept_replies_release(struct rdl_kept_replies *keep)
{
	rdl_kept_replies_drop(keep);
	if (keep->taken)
		put_aside(keep, keep->taken);
	keep->taken = NULL;
	while (keep->spare) {
		struct rdl_kept_reply *kept = keep->spare;

		keep->spare = kept->next;
		free(kept);
	}
}

static struct rdl_kept_reply *append(struct rdl_kept_replies *keep)
{
	struct rdl_kept_reply *kept = keep->spare;

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

static bool copy_reply(struct rdl_arena *arena, struct rdl_reply *copy,
		       const struct rdl_reply *reply)
{
	*copy = *reply;
	if (reply->type == RDL_REPLY_ARRAY) {
		copy->elements = rdl_arena_take(arena,
						(reply->length + 1) * sizeof(*copy->elements));
		for (size_t i = 0; copy->elements && i < reply->length; i++) {
			if (!copy_reply(arena, &copy->elements[i], &reply->elements[i]))
				return false;
		}
		return copy->elements != NULL;
	}
	if (!reply->text)
		return true;
	copy->text = rdl_arena_take(arena, reply->length + 1);
	if (copy->text)
		memcpy((char *)copy->text, reply->text, reply->length + 1);
	return copy->text != NULL;
}

/* ---- Queueing ---------------------------------------------------------- */

static enum rdl_outcome execute(struct rdl_link *link, struct rdl_command *command,
				struct rdl_reply *reply)
{
	enum rdl_outcome outcome;

	rdl_link_leave_parents(link);
	outcome = rdl_link_connect(link);
	if (outcome == RDL_OK && !rdl_command_encode(command, &link->out))
		outcome = rdl_link_fail(link, RDL_ERROR, "out of memory");
	if (outcome != RDL_OK) {
		rdl_link_disconnect(link);
		return outcome;
	}
	link->commands++;
	outcome = rdl_flush(link);
	if (outcome != RDL_OK)
		return outcome;
	link->pending++;
	return rdl_link_read(link, reply, 0);
}

/* What the caller will receive. */
static bool keep_reply(struct rdl_link *link, enum rdl_outcome outcome,
		       const struct rdl_reply *reply)
{
	struct rdl_kept_reply *kept = append(&link->keep);

	if (!kept || !copy_reply(&kept->arena, &kept->reply, reply))
		return false;
	kept->outcome = outcome;
	memcpy(kept->error, link->error, sizeof(kept->error));
	link->pending++;
	return true;
}

/* The driver takes the server's place: the link is open without a server. */
static enum rdl_outcome submit(struct rdl_link *link, const struct rdl_command *command)
{
	const struct rdl_driver *driver = link->driver;
	enum rdl_outcome outcome = rdl_link_connect(link);

	if (outcome == RDL_OK)
		outcome = driver->ops->submit(driver->context, link, command);
	if (outcome != RDL_OK) {
		rdl_link_disconnect(link);
		return outcome;
	}
	link->commands++;
	link->pending++;
	return RDL_OK;
}

static enum rdl_outcome deliver(struct rdl_link *link, struct rdl_reply *reply)
{
	const struct rdl_driver *driver = link->driver;
	enum rdl_outcome outcome;

	if (!link->context || !link->pending)
		return rdl_link_fail(link, RDL_UNKNOWN, "%s",
				     link->error[0] ? link->error : "not connected");
	link->pending--;
	outcome = driver->ops->deliver(driver->context, link, reply);
	if (outcome == RDL_OK && reply->type == RDL_REPLY_FAILED)
		return rdl_link_refuse(link, reply->text);
	if (outcome == RDL_OK)
		return RDL_OK;
	rdl_link_fail(link, outcome, "%s",
		      outcome == RDL_ERROR ? "connection refused" : "the reply was lost");
	if (outcome == RDL_ERROR)
		link->reason = RDL_REASON_UNREACHABLE;
	rdl_link_disconnect(link);
	return outcome;
}

static enum rdl_outcome fail(struct rdl_link *link, enum rdl_outcome outcome)
{
	rdl_link_disconnect(link);
	return outcome;
}

enum rdl_outcome rdl_driven_queue(struct rdl_link *link, struct rdl_command *command)
{
	const struct rdl_driver *driver = link->driver;
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };
	enum rdl_outcome outcome = RDL_OK;

	if (driver->ops->submit)
		return submit(link, command);
	if (link->keep.first && !link->context)
		return fail(link, RDL_UNKNOWN); /* went with those before it */
	outcome = driver->ops->send(driver->context, link, command);
	if (outcome != RDL_OK)
		return fail(link, outcome);
	outcome = execute(link, command, &reply);
	if (driver->ops->done)
		outcome = driver->ops->done(driver->context, link, &reply, outcome);
	if (outcome == RDL_ERROR && reply.type != RDL_REPLY_FAILED)
		return fail(link, outcome); /* it was never sent */
	if (outcome == RDL_UNKNOWN && link->context)
		rdl_link_fail(link, outcome, "the reply was lost");
	if (!keep_reply(link, outcome, &reply))
		return fail(link, rdl_link_fail(link, RDL_UNKNOWN, "out of memory"));
	return RDL_OK;
}

/* ---- Receiving --------------------------------------------------------- */

static enum rdl_outcome take(struct rdl_link *link, struct rdl_reply *reply)
{
	struct rdl_kept_replies *keep = &link->keep;
	struct rdl_kept_reply *kept = keep->first;

	if (keep->taken)
		put_aside(keep, keep->taken);
	keep->taken = kept;
	keep->first = kept->next;
	if (!keep->first)
		keep->last = NULL;
	link->pending--;
	if (kept->outcome != RDL_OK)
		rdl_link_fail(link, kept->outcome, "%s", kept->error);
	if (kept->outcome == RDL_UNKNOWN)
		rdl_link_disconnect(link); /* what is behind it is lost, too */
	else
		*reply = kept->reply;
	return kept->outcome;
}

enum rdl_outcome rdl_driven_receive(struct rdl_link *link, struct rdl_reply *reply,
				    int64_t deadline_ns)
{
	const struct rdl_driver *driver = link->driver;
	enum rdl_outcome outcome;

	if (driver->ops->deliver)
		return deliver(link, reply);
	if (link->keep.first)
		outcome = take(link, reply);
	else if (rdl_link_spare_parents(link) != RDL_OK)
		return RDL_UNKNOWN;
	else
		outcome = rdl_link_receive(link, reply, deadline_ns);
	if (driver->ops->receive)
		outcome = driver->ops->receive(driver->context, link, reply, outcome);
	return outcome;
}
