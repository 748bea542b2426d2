/* SPDX-License-Identifier: MIT */
/*
 * The documents' counter: read, add one, write. Two of these lose an update.
 *
 *	cc -o counter examples/check/counter.c -lhiredis
 *	redrace check -- ./counter
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	const char *host = getenv("REDIS_HOST"), *port = getenv("REDIS_PORT");
	redisContext *db = redisConnect(host ? host : "127.0.0.1", port ? atoi(port) : 6379);
	redisReply *reply;
	long value;

	if (!db || db->err) {
		fprintf(stderr, "cannot connect\n");
		return 1;
	}
	reply = redisCommand(db, "GET counter");
	value = reply && reply->str ? atol(reply->str) : 0;
	freeReplyObject(reply);
	reply = redisCommand(db, "SET counter %ld", value + 1);
	freeReplyObject(reply);
	redisFree(db);
	return 0;
}
