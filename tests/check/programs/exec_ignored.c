/* SPDX-License-Identifier: MIT */
/* Wrong: EXEC's nil is taken for success. */
#include <hiredis/hiredis.h>
#include <stdlib.h>

int main(void)
{
	redisContext *db = redisConnect(getenv("REDIS_HOST"), atoi(getenv("REDIS_PORT")));
	redisReply *reply;
	long value;

	if (!db || db->err)
		return 1;
	freeReplyObject(redisCommand(db, "WATCH sequence"));
	reply = redisCommand(db, "GET sequence");
	value = reply->str ? atol(reply->str) : 0;
	freeReplyObject(reply);
	freeReplyObject(redisCommand(db, "MULTI"));
	freeReplyObject(redisCommand(db, "SET sequence %ld", value + 1));
	freeReplyObject(redisCommand(db, "EXEC"));
	redisFree(db);
	return 0;
}
