/* SPDX-License-Identifier: MIT */
/* Right: WATCH before the length is read; who was overtaken has no place. */
#include <hiredis/hiredis.h>
#include <stdlib.h>

int main(void)
{
	redisContext *db = redisConnect(getenv("REDIS_HOST"), atoi(getenv("REDIS_PORT")));
	redisReply *reply;
	long long waiting;

	if (!db || db->err)
		return 1;
	freeReplyObject(redisCommand(db, "WATCH waiting"));
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
