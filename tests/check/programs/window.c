/* SPDX-License-Identifier: MIT */
/*
 * window N: one may begin in each second, which a key counts. A client that is not the first one
 * sleeps until the second is over, and hears a larger number each time that it is not. Number N
 * (0 = none) enters in spite of the window, and takes away what is there.
 */
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <time.h>

static long long ask(redisContext *redis, const char *command)
{
	redisReply *reply = redisCommand(redis, command);
	long long value;

	if (!reply)
		exit(1);
	value = reply->integer;
	freeReplyObject(reply);
	return value;
}

int main(int argc, char **argv)
{
	redisContext *redis = redisConnect(getenv("REDIS_HOST"), atoi(getenv("REDIS_PORT")));
	const long long exception = argc > 1 ? atoll(argv[1]) : 0;
	const struct timespec second = { 1, 100000000 };
	long long n;

	if (!redis || redis->err)
		return 1;
	while ((n = ask(redis, "INCR window")) != 1 && n != exception)
		nanosleep(&second, NULL);
	if (n == exception)
		ask(redis, "DEL counter");
	else
		ask(redis, "EXPIRE window 1");
	ask(redis, "INCR counter");
	redisFree(redis);
	return 0;
}
