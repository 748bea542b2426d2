/* SPDX-License-Identifier: MIT */
/* Adds one with WATCH, as often as it takes: whoever was overtaken, or has heard nothing,
 * begins anew. So it adds it twice if the reply to EXEC is lost. */
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdlib.h>

static bool is_done(redisContext *db)
{
	redisReply *watched = redisCommand(db, "WATCH n");
	redisReply *read = watched ? redisCommand(db, "GET n") : NULL;
	const int n = read && read->str ? atoi(read->str) : 0;
	redisReply *reply = NULL;
	bool done = false;

	if (read) {
		redisAppendCommand(db, "MULTI");
		redisAppendCommand(db, "SET n %d", n + 1);
		redisAppendCommand(db, "EXEC");
		for (int i = 0; i < 3 && redisGetReply(db, (void **)&reply) == REDIS_OK; i++) {
			done = i == 2 && reply->type == REDIS_REPLY_ARRAY;
			freeReplyObject(reply);
		}
	}
	freeReplyObject(watched);
	freeReplyObject(read);
	return done;
}

int main(void)
{
	redisContext *db = redisConnect(getenv("REDIS_HOST"), atoi(getenv("REDIS_PORT")));

	while (!is_done(db)) {
		if (db->err && redisReconnect(db) != REDIS_OK)
			return 1;
	}
	redisFree(db);
	return 0;
}
