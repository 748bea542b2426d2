/* SPDX-License-Identifier: MIT */
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/machine.h"
#include "base/memory.h"
#include "environment.h"

enum { CONNECT_MS = 2000 };

struct connection {
	redisContext *context;
	bool lists_keys; /* the last command does */
};

/* ---- Opening and closing ------------------------------------------------ */

struct connection *connection_open(const struct rl_address *address, struct rr_error *error)
{
	const char *const password[] = { "AUTH", address->password };
	const struct timeval timeout = { .tv_sec = CONNECT_MS / 1000 };
	char text[RR_REPLY_TEXT_SIZE];
	struct connection *connection = rr_calloc(1, sizeof(*connection));
	redisContext *context =
		address->is_unix ? redisConnectUnixWithTimeout(address->host, timeout) :
				   redisConnectWithTimeout(address->host, address->port, timeout);

	if (!context)
		rr_out_of_memory();
	connection->context = context;
	if (!context->err && (!address->password[0] ||
			      (connection_send(connection, 2, password) &&
			       connection_read(connection, CONNECT_MS, text) == CONNECTION_REPLY &&
			       strcmp(text, "OK") == 0)))
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

static bool write_all(struct connection *connection)
{
	int done = 0;

	while (!done) {
		if (redisBufferWrite(connection->context, &done) != REDIS_OK)
			return false;
	}
	return true;
}

bool connection_send_bytes(struct connection *connection, const char *bytes, size_t length)
{
	return redisAppendFormattedCommand(connection->context, bytes, length) == REDIS_OK &&
	       write_all(connection);
}

bool connection_send(struct connection *connection, size_t n_words, const char *const words[])
{
	connection->lists_keys = strcasecmp(words[0], "KEYS") == 0 ||
				 strcasecmp(words[0], "SCAN") == 0;
	return redisAppendCommandArgv(connection->context, (int)n_words, (const char **)words,
				      NULL) == REDIS_OK &&
	       write_all(connection);
}

/* ---- Reading ------------------------------------------------------------ */

/* Feeds the parser with what comes until then, by rr_clock_ns(). */
static enum connection_state feed_parser(struct connection *connection, int64_t deadline_ns)
{
	struct pollfd ready = { .fd = connection->context->fd, .events = POLLIN };
	const int64_t left_ms = (deadline_ns - rr_clock_ns()) / 1000000;
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
	const int64_t deadline_ns = rr_clock_ns() + timeout_ms * INT64_C(1000000);
	enum connection_state state = CONNECTION_REPLY;
	void *reply = NULL;

	while (!reply && state == CONNECTION_REPLY) {
		if (redisReaderGetReply(connection->context->reader, &reply) != REDIS_OK)
			state = CONNECTION_CLOSED;
		else if (!reply)
			state = feed_parser(connection, deadline_ns);
	}
	if (state == CONNECTION_CLOSED)
		snprintf(text, RR_REPLY_TEXT_SIZE, "(closed)");
	if (state != CONNECTION_REPLY)
		return state;
	if (connection->lists_keys)
		sort_keys(reply);
	rr_reply_text(reply, text, RR_REPLY_TEXT_SIZE);
	freeReplyObject(reply);
	return CONNECTION_REPLY;
}
