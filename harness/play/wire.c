/* SPDX-License-Identifier: MIT */
#include "wire.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "race/race.h"

enum { CONNECT_MS = 2000 };

struct rr_wire {
	redisContext *context;
};

/* ---- Opening and closing --------------------------------------------------- */

static bool introduce(struct rr_wire *wire, const struct rl_address *address)
{
	const char *const words[] = { "AUTH", address->password };
	const size_t lengths[] = { 4, strlen(address->password) };
	char text[RR_REPLY_TEXT_SIZE];

	if (!address->password[0])
		return true;
	return rr_wire_send(wire, 2, words, lengths) &&
	       rr_wire_read(wire, CONNECT_MS, text) == RR_WIRE_REPLY &&
	       strcmp(text, "OK") == 0;
}

struct rr_wire *rr_wire_open(const struct rl_address *address, char *error,
			     size_t error_size)
{
	const struct timeval timeout = { .tv_sec = CONNECT_MS / 1000 };
	struct rr_wire *wire = calloc(1, sizeof(*wire));

	if (!wire) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	wire->context = address->is_unix ?
				redisConnectUnixWithTimeout(address->host,
							    timeout) :
				redisConnectWithTimeout(address->host,
							address->port, timeout);
	if (wire->context && !wire->context->err && introduce(wire, address))
		return wire;
	snprintf(error, error_size, "cannot connect: %s",
		 wire->context && wire->context->err ? wire->context->errstr :
						       "refused");
	rr_wire_close(wire);
	return NULL;
}

void rr_wire_close(struct rr_wire *wire)
{
	if (!wire)
		return;
	if (wire->context)
		redisFree(wire->context);
	free(wire);
}

/* ---- Sending ------------------------------------------------------------------ */

bool rr_wire_send_bytes(struct rr_wire *wire, const char *bytes, size_t length)
{
	while (length > 0) {
		const ssize_t n =
			send(wire->context->fd, bytes, length, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes += n;
		length -= (size_t)n;
	}
	return true;
}

bool rr_wire_send(struct rr_wire *wire, size_t n_words,
		  const char *const words[], const size_t lengths[])
{
	char *command = NULL;
	const int length = (int)redisFormatCommandArgv(
		&command, (int)n_words, (const char **)words, lengths);
	bool sent;

	if (length < 0)
		return false;
	sent = rr_wire_send_bytes(wire, command, (size_t)length);
	redisFreeCommand(command);
	return sent;
}

/* ---- Reading ------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum rr_wire_state closed(char text[RR_REPLY_TEXT_SIZE])
{
	snprintf(text, RR_REPLY_TEXT_SIZE, "(closed)");
	return RR_WIRE_CLOSED;
}

/* Feeds the parser with what comes until the deadline. */
static enum rr_wire_state read_more(struct rr_wire *wire, int64_t deadline_ms)
{
	struct pollfd ready = { .fd = wire->context->fd, .events = POLLIN };
	const int64_t left_ms = deadline_ms - now_ms();
	char bytes[4096];
	ssize_t n;

	if (poll(&ready, 1, left_ms > 0 ? (int)left_ms : 0) < 1)
		return RR_WIRE_SILENT;
	n = recv(wire->context->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n < 1)
		return RR_WIRE_CLOSED;
	return redisReaderFeed(wire->context->reader, bytes, (size_t)n) ==
			       REDIS_OK ?
		       RR_WIRE_REPLY :
		       RR_WIRE_CLOSED;
}

enum rr_wire_state rr_wire_read(struct rr_wire *wire, int timeout_ms,
				char text[RR_REPLY_TEXT_SIZE])
{
	const int64_t deadline_ms = now_ms() + timeout_ms;
	void *reply = NULL;

	for (;;) {
		enum rr_wire_state state;

		if (redisReaderGetReply(wire->context->reader, &reply) !=
		    REDIS_OK)
			return closed(text);
		if (reply)
			break;
		state = read_more(wire, deadline_ms);
		if (state == RR_WIRE_CLOSED)
			return closed(text);
		if (state == RR_WIRE_SILENT)
			return RR_WIRE_SILENT;
	}
	rr_reply_text(reply, text, RR_REPLY_TEXT_SIZE);
	freeReplyObject(reply);
	return RR_WIRE_REPLY;
}
