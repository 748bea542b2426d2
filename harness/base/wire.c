/* SPDX-License-Identifier: MIT */
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "memory.h"

enum { CHUNK = 4096, REQUEST_MAX = 64 * 1024 * 1024, WRITE_MS = 1000 };

void rr_wire_begin(struct rr_wire *wire, int fd)
{
	wire->is_open = true;
	wire->fd = fd;
	wire->used = wire->n = 0;
}

int rr_wire_open(struct rr_wire *wire)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -1;
	rr_wire_begin(wire, ends[0]);
	return ends[1];
}

void rr_wire_close(struct rr_wire *wire)
{
	if (wire->is_open)
		close(wire->fd);
	wire->is_open = false;
}

void rr_wire_release(struct rr_wire *wire)
{
	rr_wire_close(wire);
	free(wire->bytes);
	*wire = (struct rr_wire){ .bytes = NULL };
}

/* False: nothing more has come. */
static bool read_more(struct rr_wire *wire)
{
	ssize_t n;

	if (!wire->is_open)
		return false;
	if (wire->capacity - wire->n < CHUNK) {
		wire->capacity = 2 * wire->capacity + CHUNK;
		wire->bytes = rr_realloc(wire->bytes, wire->capacity, 1);
	}
	n = recv(wire->fd, wire->bytes + wire->n, wire->capacity - wire->n, MSG_DONTWAIT);
	if (n > 0)
		wire->n += (size_t)n;
	else if (n == 0 || errno != EAGAIN)
		rr_wire_close(wire);
	return n > 0;
}

enum rr_resp_result rr_wire_take(struct rr_wire *wire, struct rdl_command *command)
{
	enum rr_resp_result result;

	do {
		wire->n -= wire->used;
		if (wire->used > 0)
			memmove(wire->bytes, wire->bytes + wire->used, wire->n);
		wire->used = 0;
		result = RR_RESP_PARTIAL;
		if (wire->n > 0)
			result = rr_resp_parse(wire->bytes, wire->n, command, &wire->used);
		if (result == RR_RESP_PARTIAL) {
			wire->used = 0;
			if (wire->n > REQUEST_MAX)
				return RR_RESP_MALFORMED;
		}
	} while (result == RR_RESP_EMPTY || (result == RR_RESP_PARTIAL && read_more(wire)));
	return result;
}

void rr_wire_write(struct rr_wire *wire, const char *text, size_t length)
{
	struct pollfd ready = { wire->fd, POLLOUT, 0 };
	size_t at = 0;

	while (wire->is_open && at < length) {
		const ssize_t n = send(wire->fd, text + at, length - at,
				       MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && (errno != EAGAIN || poll(&ready, 1, WRITE_MS) <= 0))
			break;
		at += n > 0 ? (size_t)n : 0;
	}
}

void rr_wire_reply(struct rr_wire *wire, const struct rdl_reply *reply)
{
	char *text;
	size_t length;
	FILE *file = rr_open_memory(&text, &length);

	rr_resp_write(file, reply);
	fclose(file);
	rr_wire_write(wire, text, length);
	free(text);
}
