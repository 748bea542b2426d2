/* SPDX-License-Identifier: MIT */
/* Writes on two connections at once, as event loops do: so many times on each, the next one when
 * it has heard of the one before, and counts in the end. With "remembers", whose second reply was heard first is thought of at the end: then
 * the last count is not INCR, but GET and SET. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

struct connection {
	redisContext *redis;
	const char *key;
	int n; /* replies */
};

static redisReply *ask(struct connection *connection, const char *command, const char *value)
{
	return redisCommand(connection->redis, value ? "%s %s %s" : "%s %s", command,
			    connection->key, value);
}

static void write_next(struct connection *connection)
{
	int is_written = 0;

	redisAppendCommand(connection->redis, "SET %s %d", connection->key, connection->n);
	while (!is_written)
		redisBufferWrite(connection->redis, &is_written);
}

/* Which of the two connections has something to be read. */
static struct connection *wait_for(struct connection *both, int rounds)
{
	struct pollfd fds[2];

	for (int i = 0; i < 2; i++)
		fds[i] = (struct pollfd){ both[i].n < rounds ? both[i].redis->fd : -1, POLLIN, 0 };
	poll(fds, 2, -1);
	return fds[0].revents ? &both[0] : &both[1];
}

static void end_wrongly(struct connection *connection)
{
	char value[20];
	redisReply *reply;

	connection->key = "last";
	reply = ask(connection, "GET", NULL);
	snprintf(value, sizeof(value), "%d", reply->str ? atoi(reply->str) + 1 : 1);
	freeReplyObject(reply);
	freeReplyObject(ask(connection, "SET", value));
}

int main(int argc, char **argv)
{
	const int rounds = atoi(argv[1]);
	const int remembers = argc > 2 && strcmp(argv[2], "remembers") == 0;
	const char *address = getenv("REDIS_SOCKET");
	struct connection both[] = { { redisConnectUnix(address), "one", 0 },
				     { redisConnectUnix(address), "two", 0 } };
	int is_other_way_round = 0;
	void *reply;

	write_next(&both[0]);
	write_next(&both[1]);
	while (both[0].n < rounds || both[1].n < rounds) {
		struct connection *heard = wait_for(both, rounds);

		redisGetReply(heard->redis, &reply);
		freeReplyObject(reply);
		if (++heard->n == 2)
			is_other_way_round |= heard == &both[1] && both[0].n < 2;
		if (heard->n < rounds)
			write_next(heard);
	}
	if (remembers && is_other_way_round) {
		end_wrongly(&both[0]);
	} else {
		both[0].key = "last";
		freeReplyObject(ask(&both[0], "INCR", NULL));
	}
	redisFree(both[0].redis);
	redisFree(both[1].redis);
	return 0;
}
