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
#include <time.h>

enum { OVERDUE_MAX = 64 };

/* ---- Making and closing ------------------------------------------------ */

struct rl_link *rl_link_new(const struct rl_address *address, int timeout_ms)
{
	struct rl_link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->address = *address;
	link->timeout_ms = timeout_ms;
	link->process = rl_process_page_new();
	if (address->kind == RL_ADDRESS_SERVER)
		return link;
	link->route = rl_route_new(address);
	if (link->route)
		return link;
	rl_link_free(link);
	return NULL;
}

static void close_connection(struct rl_link *link)
{
	redisFree(link->context);
	link->context = NULL;
	link->out.length = 0;
	link->overdue = 0;
	link->means.asked_native = false;
	link->means.asked_script = NULL;
	if (link->tls)
		rl_tls_end(link->tls);
	if (link->route)
		rl_route_forget(link);
}

static bool is_parents(const struct rl_link *link)
{
	return link->context && link->owner != rl_process(link);
}

void rl_link_leave_parents(struct rl_link *link)
{
	if (is_parents(link))
		rl_link_disconnect(link);
}

enum rl_outcome rl_link_spare_parents(struct rl_link *link)
{
	if (is_parents(link))
		return rl_link_fail(link, RL_UNKNOWN, "the parent's connection");
	return RL_OK;
}

void rl_link_disconnect(struct rl_link *link)
{
	close_connection(link);
	rl_kept_replies_drop(&link->keep);
}

void rl_link_free(struct rl_link *link)
{
	if (!link)
		return;
	rl_link_disconnect(link);
	rl_buffer_release(&link->out);
	rl_buffer_release(&link->plain);
	rl_tls_free(link->tls);
	rl_route_free(link->route);
	rl_kept_replies_release(&link->keep);
	rl_arena_reset(&link->arena);
	rl_process_page_free(link->process);
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

const struct rl_address *rl_link_address(const struct rl_link *link)
{
	return &link->address;
}

void rl_link_set_driver(struct rl_link *link, const struct rl_driver *driver)
{
	link->driver = driver;
	if (link->context)
		rl_link_apply_timeout(link);
}

enum rl_outcome rl_link_fail(struct rl_link *link, enum rl_outcome outcome, const char *format, ...)
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
	close_connection(link);
	return RL_UNKNOWN;
}

/* ---- Waiting for bytes ------------------------------------------------- */

/* Waits until something is there, as long as `left_ns`. False: a signal came
 * first. */
static bool wait_readable(const struct rl_link *link, int64_t left_ns)
{
	struct pollfd ready = { .fd = link->context->fd, .events = POLLIN };

	return poll(&ready, 1, (int)((left_ns + 999999) / 1000000)) >= 0;
}

bool rl_link_has_unread(const struct rl_link *link)
{
	struct pollfd ready = { .events = POLLIN };
	const redisReader *reader;

	if (!link->context)
		return false;
	reader = link->context->reader;
	ready.fd = link->context->fd;
	return reader->pos < reader->len || poll(&ready, 1, 0) > 0;
}

/* Hands bytes that came to the parser. */
static bool feed_parser(struct rl_link *link, const char *bytes, size_t n)
{
	redisReader *reader = link->context->reader;

	if (!link->tls)
		return redisReaderFeed(reader, bytes, n) == REDIS_OK;
	link->plain.length = 0;
	if (!rl_tls_decrypt(link->tls, bytes, n, &link->plain))
		return false;
	return link->plain.length == 0 ||
	       redisReaderFeed(reader, link->plain.bytes, link->plain.length) == REDIS_OK;
}

bool rl_link_take_unread(struct rl_link *link)
{
	redisReader *reader;
	char bytes[512];
	ssize_t n;

	if (!link->context)
		return false;
	reader = link->context->reader;
	while (reader->len <= RL_REPLY_BYTES_MAX &&
	       (n = recv(link->context->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		feed_parser(link, bytes, (size_t)n);
	return reader->pos < reader->len;
}

int64_t rl_kernel_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What is left of the time-out, or until the deadline (0 = none). */
static int64_t left_to_wait_ns(const struct rl_link *link, int64_t timeout_ns, int64_t deadline_ns)
{
	int64_t left_ns;

	if (!deadline_ns)
		return timeout_ns;
	left_ns = deadline_ns - rl_now_ns(link, RL_CLOCK_MONOTONIC);
	return left_ns < timeout_ns ? left_ns : timeout_ns;
}

/* What is left of it: it is one for a whole reply, in however many pieces that
 * comes. */
static int64_t timeout_left_ns(const struct rl_link *link)
{
	return rl_link_timeout_ms(link) * INT64_C(1000000) - (rl_kernel_ns() - link->reading_ns);
}

ssize_t rl_link_take_bytes(struct rl_link *link, char *bytes, size_t size, int64_t deadline_ns)
{
	const int64_t timeout_ns = rl_link_timeout_ms(link) * INT64_C(1000000);
	int64_t left_ns = timeout_ns;

	if (rl_is_driven(link) && link->driver->ops->await)
		link->driver->ops->await(link->driver->context, link, link->context->fd);
	if (link->reading_ns)
		left_ns = timeout_left_ns(link);
	else
		link->reading_ns = rl_kernel_ns();
	if (left_ns <= 0) { /* though there may be more of it */
		errno = EAGAIN;
		return -1;
	}
	left_ns = left_to_wait_ns(link, left_ns, deadline_ns);
	for (;;) {
		/* Nearly all of the time-out: recv() itself waits as long. */
		const bool waits = left_ns >= timeout_ns - 1000000;
		ssize_t n = -1;

		if (waits || left_ns <= 0 || wait_readable(link, left_ns))
			n = recv(link->context->fd, bytes, size, waits ? 0 : MSG_DONTWAIT);
		if (n >= 0 || errno != EINTR)
			return n;
		left_ns = left_to_wait_ns(link, timeout_left_ns(link), deadline_ns);
	}
}

/* ---- Bytes ------------------------------------------------------------- */

static const char *io_error(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK ? "no reply in time" : strerror(error);
}

enum rl_outcome rl_flush(struct rl_link *link)
{
	size_t sent = 0;

	if (!link->context)
		return rl_link_fail(link, RL_UNKNOWN, "not connected");
	if (link->out.length == 0)
		return RL_OK;
	if (rl_link_spare_parents(link) != RL_OK)
		return RL_UNKNOWN;
	if (link->tls && !rl_tls_encrypt(link->tls, &link->out))
		return rl_link_drop(link, "TLS: cannot encrypt");
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
	const ssize_t n = rl_link_take_bytes(link, bytes, sizeof(bytes), deadline_ns);

	if (n < 0 && errno == EAGAIN && deadline_ns)
		return leave_behind(link);
	if (n < 0)
		return rl_link_drop(link, io_error(errno));
	if (n == 0)
		return rl_link_drop(link, "the server closed the connection");
	if (!feed_parser(link, bytes, (size_t)n))
		return rl_link_drop(link,
				    link->tls ? "TLS: what came is damaged" : "out of memory");
	if (link->context->reader->len > RL_REPLY_BYTES_MAX)
		return rl_link_drop(link, "a reply is longer than 64 MiB");
	return RL_OK;
}

/* The next reply, overdue or not. */
static enum rl_outcome read_next(struct rl_link *link, struct rl_reply **reply, int64_t deadline_ns)
{
	enum rl_outcome outcome = RL_OK;
	void *parsed = NULL;

	link->reading_ns = link->since_ns;
	/* One that was left behind half read lies in the arena still. */
	if (link->context->reader->ridx < 0)
		rl_arena_reset(&link->arena);
	while (outcome == RL_OK) {
		redisReader *reader = link->context->reader;

		if (redisReaderGetReply(reader, &parsed) != REDIS_OK)
			return rl_link_drop(link, link->arena.is_too_much ?
							  "a reply has more than 1048576 elements" :
							  reader->errstr);
		if (parsed)
			break;
		outcome = read_more(link, deadline_ns);
	}
	*reply = parsed;
	return outcome;
}

enum rl_outcome rl_link_read(struct rl_link *link, struct rl_reply *reply, int64_t deadline_ns)
{
	struct rl_reply *next = NULL;
	enum rl_outcome outcome;

	if (!link->context || !link->pending)
		return rl_link_fail(link, RL_UNKNOWN, "%s",
				    link->error[0] ? link->error : "not connected");
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

enum rl_outcome rl_link_listen(struct rl_link *link, struct rl_reply *message, int64_t timeout_ns)
{
	const redisReader *reader;

	if (!link->context)
		return rl_link_fail(link, RL_UNKNOWN, "not connected");
	if (rl_is_driven(link) && link->driver->ops->listen)
		return link->driver->ops->listen(link->driver->context, link, message, timeout_ns);
	reader = link->context->reader;
	if (reader->pos == reader->len && !rl_wait(link, link->context->fd, timeout_ns))
		return RL_BUSY;
	link->pending++;
	return rl_receive(link, message);
}
