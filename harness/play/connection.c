/* SPDX-License-Identifier: MIT */
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/reply.h"
#include "environment.h"
#include "parser.h"

enum { CONNECT_MS = 2000 };

struct connection {
	redisContext *context;
	struct rdl_arena arena; /* the last reply */
	bool is_unsorted;       /* what the last command lists is in no order */
};

/* ---- Opening and closing ------------------------------------------------ */

struct connection *connection_open(const struct rdl_address *address, struct rr_error *error)
{
	const struct rdl_word login[] = { { "AUTH", 4 },
					  { address->user, strlen(address->user) },
					  { address->password, strlen(address->password) } };
	const struct rdl_word password[] = { login[0], login[2] };
	const bool has_user = address->user[0] != '\0';
	const struct timeval timeout = { .tv_sec = CONNECT_MS / 1000 };
	char text[RR_REPLY_TEXT_SIZE];
	struct connection *connection = rr_calloc(1, sizeof(*connection));
	redisContext *context =
		address->is_unix ? redisConnectUnixWithTimeout(address->host, timeout) :
				   redisConnectWithTimeout(address->host, address->port, timeout);

	if (!context)
		rr_out_of_memory();
	connection->context = context;
	rdl_parser_attach(context->reader, &connection->arena);
	if (!context->err &&
	    (!address->password[0] ||
	     (connection_send(connection, has_user ? 3 : 2, has_user ? login : password) &&
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
	if (!connection)
		return;
	redisFree(connection->context);
	rdl_arena_reset(&connection->arena);
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

bool connection_send(struct connection *connection, size_t n_words, const struct rdl_word *words)
{
	const char *texts[RR_WORDS_MAX];
	size_t lengths[RR_WORDS_MAX];

	for (size_t i = 0; i < n_words; i++) {
		texts[i] = words[i].text;
		lengths[i] = words[i].length;
	}
	connection->is_unsorted = rr_lists_without_order(texts[0]);
	return redisAppendCommandArgv(connection->context, (int)n_words, texts, lengths) ==
		       REDIS_OK &&
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
	if (connection->is_unsorted)
		rr_reply_sort_list(reply);
	rr_reply_text(reply, text, RR_REPLY_TEXT_SIZE);
	rdl_arena_reset(&connection->arena);
	return CONNECTION_REPLY;
}
