/* SPDX-License-Identifier: MIT */
/* Right: a sorted set keeps the higher score itself (ZADD GT). */
#include <hiredis/hiredis.h>
#include <stdlib.h>

int main(void)
{
	const int score = getenv("REDRACE_CLIENT")[0] == 'A' ? 10 : 20;
	redisContext *db = redisConnectUnix(getenv("REDIS_SOCKET"));
	redisReply *reply;

	if (!db || db->err)
		return 1;
	reply = redisCommand(db, "ZADD high-score GT %d ada", score);
	if (!reply)
		return 1;
	freeReplyObject(reply);
	redisFree(db);
	return 0;
}
