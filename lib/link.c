/* SPDX-License-Identifier: MIT */
/*
 * One connection to one server. hiredis connects (see connect.c) and parses
 * (see parser.c); the bytes are sent and received here, because its own loop
 * costs 16 KiB of stack and several allocations per reply. Only these three
 * files know hiredis.
 */
#include "link.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OVERDUE_MAX = 64 };

/* ---- Making and closing ------------------------------------------------- */

struct rl_link *rl_link_new(const struct rl_address *address, int timeout_ms)
{
	struct rl_link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->address = *address;
	link->timeout_ms = timeout_ms;
	return link;
}

void rl_link_disconnect(struct rl_link *link)
{
	redisFree(link->context);
	link->context = NULL;
	link->out.length = 0;
	link->overdue = 0;
	link->asked_native = false;
	link->asked_script = NULL;
}

void rl_link_leave_parents(struct rl_link *link)
{
	if (link->context && link->owner != getpid())
		rl_link_disconnect(link);
}

void rl_link_free(struct rl_link *link)
{
	if (!link)
		return;
	rl_link_disconnect(link);
	rl_buffer_release(&link->out);
	rl_arena_reset(&link->arena);
	free(link);
}

const char *rl_link_error(const struct rl_link *link)
{
	return link->error;
}

uint64_t rl_link_commands(const struct rl_link *link)
{
	return link->commands;
}

void rl_link_set_driver(struct rl_link *link, const struct rl_driver *driver)
{
	link->driver = driver;
}

enum rl_outcome rl_link_fail(struct rl_link *link, enum rl_outcome outcome,
			     const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(link->error, sizeof(link->error), format, arguments);
	va_end(arguments);
	return outcome;
}

enum rl_outcome rl_link_drop(struct rl_link *link, const char *why)
{
	rl_link_fail(link, RL_UNKNOWN, "%s", why); /* may lie in the context */
	rl_link_disconnect(link);
	return RL_UNKNOWN;
}

/* ---- Bytes ------------------------------------------------------------- */

static const char *io_error(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK ? "no reply in time" :
							 strerror(error);
}

enum rl_outcome rl_flush(struct rl_link *link)
{
	size_t sent = 0;

	if (!link->context)
		return rl_link_fail(link, RL_UNKNOWN, "not connected");
	while (sent < link->out.length) {
		const ssize_t n = send(link->context->fd, link->out.bytes + sent,
				       link->out.length - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rl_link_drop(link, io_error(errno));
		sent += (size_t)n;
	}
	link->out.length = 0;
	return RL_OK;
}

/* Waits until something is there, as long as `left_ns`. False: a signal came
 * first. */
static bool wait_readable(const struct rl_link *link, int64_t left_ns)
{
	struct pollfd ready = { .fd = link->context->fd, .events = POLLIN };

	return poll(&ready, 1, (int)((left_ns + 999999) / 1000000)) >= 0;
}

/* recv() that waits for the link's time-out, or until the deadline (0 = none)
 * and not at all after it: what has come until then still counts. */
static ssize_t receive_bytes(struct rl_link *link, char *bytes, size_t size,
			     int64_t deadline_ns)
{
	const int64_t timeout_ns = link->timeout_ms * INT64_C(1000000);
	ssize_t n = -1;

	do {
		int64_t left_ns = timeout_ns;
		int flags = 0;

		if (deadline_ns)
			left_ns = deadline_ns -
				  rl_now_ns(link, RL_CLOCK_MONOTONIC);
		/* Nearly all of the time-out: recv() itself waits as long. */
		if (left_ns < timeout_ns - 1000000)
			flags = MSG_DONTWAIT;
		if (flags && left_ns > 0 && !wait_readable(link, left_ns))
			continue;
		n = recv(link->context->fd, bytes, size, flags);
	} while (n < 0 && errno == EINTR);
	return n;
}

/* No reply by the deadline: it will be thrown away when it comes. */
static enum rl_outcome leave_behind(struct rl_link *link)
{
	if (link->overdue == OVERDUE_MAX)
		return rl_link_drop(link, io_error(EAGAIN));
	link->overdue++;
	return rl_link_fail(link, RL_UNKNOWN, "%s", io_error(EAGAIN));
}

/* Feeds the parser with what one recv() brings. */
static enum rl_outcome read_more(struct rl_link *link, int64_t deadline_ns)
{
	char bytes[512];
	const ssize_t n =
		receive_bytes(link, bytes, sizeof(bytes), deadline_ns);

	if (n < 0 && errno == EAGAIN && deadline_ns)
		return leave_behind(link);
	if (n < 0)
		return rl_link_drop(link, io_error(errno));
	if (n == 0)
		return rl_link_drop(link, "the server closed the connection");
	if (redisReaderFeed(link->context->reader, bytes, (size_t)n) !=
	    REDIS_OK)
		return rl_link_drop(link, "out of memory");
	return RL_OK;
}

/* The next reply, overdue or not. */
static enum rl_outcome read_next(struct rl_link *link, struct rl_reply **reply,
				 int64_t deadline_ns)
{
	enum rl_outcome outcome = RL_OK;
	void *parsed = NULL;

	/* One that was left behind half read lies in the arena still. */
	if (link->context->reader->ridx < 0)
		rl_arena_reset(&link->arena);
	while (outcome == RL_OK) {
		redisReader *reader = link->context->reader;

		if (redisReaderGetReply(reader, &parsed) != REDIS_OK)
			return rl_link_drop(link, reader->errstr);
		if (parsed)
			break;
		outcome = read_more(link, deadline_ns);
	}
	*reply = parsed;
	return outcome;
}

enum rl_outcome rl_link_read(struct rl_link *link, struct rl_reply *reply,
			     int64_t deadline_ns)
{
	struct rl_reply *next = NULL;
	enum rl_outcome outcome;

	if (!link->context || !link->pending)
		return rl_link_fail(link, RL_UNKNOWN, "%s",
				    link->error[0] ? link->error :
						     "not connected");
	link->pending--;
	outcome = read_next(link, &next, deadline_ns);
	while (outcome == RL_OK && link->overdue) {
		link->overdue--;
		outcome = read_next(link, &next, deadline_ns);
	}
	if (outcome != RL_OK)
		return outcome;
	*reply = *next;
	if (reply->type == RL_REPLY_FAILED)
		return rl_link_fail(link, RL_ERROR, "%s", reply->text);
	return RL_OK;
}

void rl_link_catch_up(struct rl_link *link)
{
	const int64_t past_ns = 1;
	struct rl_reply *reply;

	while (link->context && link->overdue) {
		link->overdue--;
		if (read_next(link, &reply, past_ns) != RL_OK)
			return;
	}
}

enum rl_outcome rl_link_listen(struct rl_link *link, struct rl_reply *message,
			       int64_t timeout_ns)
{
	const redisReader *reader;

	if (!link->context)
		return rl_link_fail(link, RL_UNKNOWN, "not connected");
	reader = link->context->reader;
	if (reader->pos == reader->len &&
	    !rl_wait(link, link->context->fd, timeout_ns))
		return RL_BUSY;
	link->pending++;
	return rl_receive(link, message);
}
