/* SPDX-License-Identifier: MIT */
/* Wrong: the high score is compared here, and a higher one in between is lost. */
#include <hiredis/hiredis.h>
#include <stdlib.h>

int main(void)
{
	const int score = getenv("REDRACE_CLIENT")[0] == 'A' ? 10 : 20;
	redisContext *db = redisConnectUnix(getenv("REDIS_SOCKET"));
	redisReply *reply;

	if (!db || db->err)
		return 1;
	reply = redisCommand(db, "GET high-score");
	if (!reply)
		return 1;
	if (!reply->str || atoi(reply->str) < score)
		freeReplyObject(redisCommand(db, "SET high-score %d", score));
	freeReplyObject(reply);
	redisFree(db);
	return 0;
}
