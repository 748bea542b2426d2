/* SPDX-License-Identifier: MIT */
/*
 * A counter under a lock that is asked for again and again, and taken by force after so many
 * refusals, 50 unless an argument says otherwise: "whoever holds it must be dead". Nobody is.
 *
 *	cc -o lock_by_force examples/check/lock_by_force.c -lhiredis
 *	redrace check -- ./lock_by_force
 */
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <unistd.h>

static int is_refused(redisContext *db)
{
	redisReply *reply = redisCommand(db, "SET lock held NX");
	const int is_nil = reply->type == REDIS_REPLY_NIL;

	freeReplyObject(reply);
	return is_nil;
}

int main(int argc, char **argv)
{
	const char *host = getenv("REDIS_HOST"), *port = getenv("REDIS_PORT");
	const int patience = argc > 1 ? atoi(argv[1]) : 50;
	redisContext *db = redisConnect(host ? host : "127.0.0.1", port ? atoi(port) : 6379);
	redisReply *reply;
	long value;

	if (!db || db->err)
		return 1;
	for (int refused = 0; refused < patience && is_refused(db); refused++)
		usleep(50000);
	reply = redisCommand(db, "GET counter");
	value = reply->str ? atol(reply->str) : 0;
	freeReplyObject(reply);
	freeReplyObject(redisCommand(db, "SET counter %ld", value + 1));
	freeReplyObject(redisCommand(db, "DEL lock"));
	redisFree(db);
	return 0;
}
