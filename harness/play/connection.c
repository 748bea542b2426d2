/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "environment.h"

#include "base/memory.h"

enum { CONNECT_MS = 2000 };

struct connection {
	redisContext *context;
	bool lists_keys; /* the last command does */
};

/* ---- Opening and closing ------------------------------------------------ */

static bool give_password(struct connection *connection, const struct rl_address *address)
{
	const char *const words[] = { "AUTH", address->password };
	char text[RR_REPLY_TEXT_SIZE];

	return !address->password[0] ||
	       (connection_send(connection, 2, words) &&
		connection_read(connection, CONNECT_MS, text) == CONNECTION_REPLY &&
		strcmp(text, "OK") == 0);
}

struct connection *connection_open(const struct rl_address *address, struct rr_error *error)
{
	const struct timeval timeout = { .tv_sec = CONNECT_MS / 1000 };
	struct connection *connection = rr_calloc(1, sizeof(*connection));
	redisContext *context =
		address->is_unix ? redisConnectUnixWithTimeout(address->host, timeout) :
				   redisConnectWithTimeout(address->host, address->port, timeout);

	if (!context)
		rr_out_of_memory();
	connection->context = context;
	if (!context->err && give_password(connection, address))
		return connection;
	rr_error_set(error, RR_ERROR_REDIS, "cannot connect: %s",
		     context->err ? context->errstr : "refused");
	connection_close(connection);
	return NULL;
}

void connection_close(struct connection *connection)
{
	if (connection)
		redisFree(connection->context);
	free(connection);
}

/* ---- Sending ------------------------------------------------------------ */

bool connection_send_bytes(struct connection *connection, const char *bytes, size_t length)
{
	while (length > 0) {
		const ssize_t n = send(connection->context->fd, bytes, length, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes += n;
		length -= (size_t)n;
	}
	return true;
}

bool connection_send(struct connection *connection, size_t n_words, const char *const words[])
{
	char *command = NULL;
	const int length = (int)redisFormatCommandArgv(&command, (int)n_words, (const char **)words,
						       NULL);
	bool sent;

	if (length < 0)
		return false;
	connection->lists_keys = strcasecmp(words[0], "KEYS") == 0 ||
				 strcasecmp(words[0], "SCAN") == 0;
	sent = connection_send_bytes(connection, command, (size_t)length);
	redisFreeCommand(command);
	return sent;
}

/* ---- Reading ------------------------------------------------------------ */

static int64_t monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum connection_state say_closed(char text[RR_REPLY_TEXT_SIZE])
{
	snprintf(text, RR_REPLY_TEXT_SIZE, "(closed)");
	return CONNECTION_CLOSED;
}

/* Feeds the parser with what comes until the deadline. */
static enum connection_state feed_parser(struct connection *connection, int64_t deadline_ms)
{
	struct pollfd ready = { .fd = connection->context->fd, .events = POLLIN };
	const int64_t left_ms = deadline_ms - monotonic_ms();
	char bytes[4096];
	ssize_t n;

	if (poll(&ready, 1, left_ms > 0 ? (int)left_ms : 0) < 1)
		return CONNECTION_SILENT;
	n = recv(connection->context->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n < 1)
		return CONNECTION_CLOSED;
	return redisReaderFeed(connection->context->reader, bytes, (size_t)n) == REDIS_OK ?
		       CONNECTION_REPLY :
		       CONNECTION_CLOSED;
}

static int compare_names(const void *a, const void *b)
{
	const redisReply *const *one = a, *const *other = b;

	return strcmp((*one)->str, (*other)->str);
}

/* In the order of their names, and not in the server's, which is another each time. */
static void sort_keys(const redisReply *reply)
{
	const redisReply *keys = reply;

	if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
	    reply->element[1]->type == REDIS_REPLY_ARRAY)
		keys = reply->element[1];
	if (keys->type == REDIS_REPLY_ARRAY && keys->elements > 0 &&
	    keys->element[0]->type == REDIS_REPLY_STRING)
		qsort(keys->element, keys->elements, sizeof(*keys->element), compare_names);
}

enum connection_state connection_read(struct connection *connection, int timeout_ms,
				      char text[RR_REPLY_TEXT_SIZE])
{
	const int64_t deadline_ms = monotonic_ms() + timeout_ms;
	void *reply = NULL;

	for (;;) {
		enum connection_state state;

		if (redisReaderGetReply(connection->context->reader, &reply) != REDIS_OK)
			return say_closed(text);
		if (reply)
			break;
		state = feed_parser(connection, deadline_ms);
		if (state == CONNECTION_CLOSED)
			return say_closed(text);
		if (state == CONNECTION_SILENT)
			return CONNECTION_SILENT;
	}
	if (connection->lists_keys)
		sort_keys(reply);
	rr_reply_text(reply, text, RR_REPLY_TEXT_SIZE);
	freeReplyObject(reply);
	return CONNECTION_REPLY;
}
