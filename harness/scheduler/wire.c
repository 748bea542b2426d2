/* SPDX-License-Identifier: MIT */
#include "wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/resp.h"

enum { CHUNK = 4096 };

int rr_wire_open(struct rr_wire *wire)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -1;
	wire->is_open = true;
	wire->fd = ends[0];
	wire->used = wire->n = 0;
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

	if (wire->capacity - wire->n < CHUNK) {
		wire->capacity += CHUNK;
		wire->bytes = rr_realloc(wire->bytes, wire->capacity, 1);
	}
	n = wire->is_open ? recv(wire->fd, wire->bytes + wire->n, CHUNK, MSG_DONTWAIT) : 0;
	if (n > 0)
		wire->n += (size_t)n;
	if (n == 0)
		rr_wire_close(wire);
	return n > 0;
}

bool rr_wire_take(struct rr_wire *wire, struct rl_command *command)
{
	size_t used;

	wire->n -= wire->used;
	if (wire->used > 0)
		memmove(wire->bytes, wire->bytes + wire->used, wire->n);
	wire->used = 0;
	do {
		if (wire->n > 0 &&
		    rr_resp_parse(wire->bytes, wire->n, command, &used) == RR_RESP_COMPLETE) {
			wire->used = used;
			return true;
		}
	} while (read_more(wire));
	return false;
}

bool rr_wire_reply(struct rr_wire *wire, const struct rl_reply *reply)
{
	char *text;
	size_t length;
	FILE *file = rr_open_memory(&text, &length);
	bool good;

	rr_resp_write(file, reply);
	fclose(file);
	good = wire->is_open &&
	       send(wire->fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
	free(text);
	return good;
}
