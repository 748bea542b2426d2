/* SPDX-License-Identifier: MIT */
/*
 * One connection to one server. hiredis connects and parses (see parser.c);
 * the bytes are sent and received here, because its own loop costs 16 KiB of
 * stack and several allocations per reply. Only these two files know hiredis.
 */
#include "link.h"
#include "parser.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Making, connecting, closing --------------------------------------- */

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

/* Closes after a failure: what was on its way has an unknown end. */
static enum rl_outcome drop(struct rl_link *link, const char *why)
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
			return drop(link, io_error(errno));
		sent += (size_t)n;
	}
	link->out.length = 0;
	return RL_OK;
}

/* recv() that waits for the link's time-out, or not at all once the deadline
 * (0 = none) has passed: what has come until then still counts. */
static ssize_t receive_bytes(struct rl_link *link, char *bytes, size_t size,
			     int64_t deadline_ns)
{
	const bool late = deadline_ns &&
			  rl_now_ns(link, RL_CLOCK_MONOTONIC) >= deadline_ns;
	ssize_t n;

	do
		n = recv(link->context->fd, bytes, size,
			 late ? MSG_DONTWAIT : 0);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Feeds the parser with what one recv() brings. */
static enum rl_outcome read_more(struct rl_link *link, int64_t deadline_ns)
{
	char bytes[512];
	const ssize_t n =
		receive_bytes(link, bytes, sizeof(bytes), deadline_ns);

	if (n < 0)
		return drop(link, io_error(errno));
	if (n == 0)
		return drop(link, "the server closed the connection");
	if (redisReaderFeed(link->context->reader, bytes, (size_t)n) !=
	    REDIS_OK)
		return drop(link, "out of memory");
	return RL_OK;
}

enum rl_outcome rl_link_read(struct rl_link *link, struct rl_reply *reply,
			     int64_t deadline_ns)
{
	void *parsed = NULL;
	enum rl_outcome outcome = RL_OK;

	if (!link->context || !link->pending)
		return rl_link_fail(link, RL_UNKNOWN, "%s",
				    link->error[0] ? link->error :
						     "not connected");
	link->pending--;
	rl_arena_reset(&link->arena);
	while (outcome == RL_OK) {
		redisReader *reader = link->context->reader;

		if (redisReaderGetReply(reader, &parsed) != REDIS_OK)
			return drop(link, reader->errstr);
		if (parsed)
			break;
		outcome = read_more(link, deadline_ns);
	}
	if (outcome != RL_OK)
		return outcome;
	*reply = *(struct rl_reply *)parsed;
	if (reply->type == RL_REPLY_FAILED)
		return rl_link_fail(link, RL_ERROR, "%s", reply->text);
	return RL_OK;
}

/* ---- Connecting -------------------------------------------------------- */

/* A command of the connection's own: not counted, not driven. */
static enum rl_outcome setup(struct rl_link *link, const char *format, ...)
{
	struct rl_command command = { 0 };
	struct rl_reply reply;
	va_list arguments;
	enum rl_outcome outcome;
	bool good;

	va_start(arguments, format);
	good = rl_command_parse(&command, format, arguments) &&
	       rl_command_encode(&command, &link->out);
	va_end(arguments);
	if (!good)
		return rl_link_fail(link, RL_ERROR, "out of memory");
	link->pending++;
	outcome = rl_flush(link);
	return outcome == RL_OK ? rl_link_read(link, &reply, 0) : outcome;
}

static enum rl_outcome introduce(struct rl_link *link)
{
	const struct rl_address *address = &link->address;
	enum rl_outcome outcome = RL_OK;

	if (address->password[0] && address->user[0])
		outcome = setup(link, "AUTH %s %s", address->user,
				address->password);
	else if (address->password[0])
		outcome = setup(link, "AUTH %s", address->password);
	if (outcome == RL_OK && address->db)
		outcome = setup(link, "SELECT %d", address->db);
	return outcome;
}

static struct timeval timeout_of(const struct rl_link *link)
{
	return (struct timeval){ link->timeout_ms / 1000,
				 link->timeout_ms % 1000 * 1000 };
}

void rl_link_set_timeout(struct rl_link *link, int timeout_ms)
{
	link->timeout_ms = timeout_ms;
	if (link->context)
		redisSetTimeout(link->context, timeout_of(link));
}

enum rl_outcome rl_link_connect(struct rl_link *link)
{
	const struct rl_address *address = &link->address;
	const struct timeval timeout = timeout_of(link);
	redisContext *context;

	if (link->context)
		return RL_OK;
	link->pending = 0;
	link->error[0] = '\0';
	context = address->is_unix ?
			  redisConnectUnixWithTimeout(address->host, timeout) :
			  redisConnectWithTimeout(address->host, address->port,
						  timeout);
	link->context = context;
	link->connections++;
	if (!context)
		return rl_link_fail(link, RL_ERROR, "out of memory");
	if (context->err || redisSetTimeout(context, timeout) != REDIS_OK) {
		rl_link_fail(link, RL_ERROR, "%s", context->errstr);
		rl_link_disconnect(link);
		return RL_ERROR;
	}
	rl_parser_attach(context->reader, &link->arena);
	if (introduce(link) != RL_OK) {
		rl_link_disconnect(link);
		return RL_ERROR;
	}
	return RL_OK;
}
