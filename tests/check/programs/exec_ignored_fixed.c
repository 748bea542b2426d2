/* SPDX-License-Identifier: MIT */
/* Right: EXEC's nil means once more. */
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdlib.h>

static bool count(redisContext *db)
{
	redisReply *reply;
	long value;
	bool done;

	freeReplyObject(redisCommand(db, "WATCH sequence"));
	reply = redisCommand(db, "GET sequence");
	value = reply->str ? atol(reply->str) : 0;
	freeReplyObject(reply);
	freeReplyObject(redisCommand(db, "MULTI"));
	freeReplyObject(redisCommand(db, "SET sequence %ld", value + 1));
	reply = redisCommand(db, "EXEC");
	done = reply->type != REDIS_REPLY_NIL;
	freeReplyObject(reply);
	return done;
}

int main(void)
{
	redisContext *db = redisConnect(getenv("REDIS_HOST"), atoi(getenv("REDIS_PORT")));

	if (!db || db->err)
		return 1;
	while (!count(db))
		;
	redisFree(db);
	return 0;
}
