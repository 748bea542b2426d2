/* SPDX-License-Identifier: MIT */
/* Wrong: the queue's length is read before MULTI, and not watched: one place too many. */
#include <hiredis/hiredis.h>
#include <stdlib.h>

int main(void)
{
	redisContext *db = redisConnect(getenv("REDIS_HOST"), atoi(getenv("REDIS_PORT")));
	redisReply *reply;
	long long waiting;

	if (!db || db->err)
		return 1;
	reply = redisCommand(db, "LLEN waiting");
	waiting = reply->integer;
	freeReplyObject(reply);
	if (waiting < 1) {
		freeReplyObject(redisCommand(db, "MULTI"));
		freeReplyObject(redisCommand(db, "RPUSH waiting %s", getenv("REDRACE_CLIENT")));
		freeReplyObject(redisCommand(db, "EXEC"));
	}
	redisFree(db);
	return 0;
}
