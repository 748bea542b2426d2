/* SPDX-License-Identifier: MIT */
/* An app that listens on PORT, with a connection to Redis for each request and, unless it has an
 * argument, a thread. Requests hold a lock with a lease, and do
 * nothing else at Redis meanwhile, since each command doubles the starts of a check:
 *
 *	/del		removes the lock, without looking whose it is
 *	/compare	removes it if it is its own
 *	/renew		puts its end off, without looking, and removes it as /compare
 *	/overwrite	gives it another value, without looking, and removes it as /compare
 *	/late		as /del, when it has answered
 *	/in-turn	as /compare, behind a lock of the app
 *	/login		takes the lock for good
 *	/logout		removes it
 */
#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void answer(int client, int status)
{
	dprintf(client, "HTTP/1.0 %d OK\r\n\r\n", status);
	close(client);
}

/* Is the reply OK, or a number that is not 0? */
static int ask(redisContext *redis, const char *command, const char *argument)
{
	redisReply *reply = redisCommand(redis, command, argument);
	int good;

	if (!reply)
		exit(1);
	good = reply->type == REDIS_REPLY_STATUS || reply->integer > 0;
	freeReplyObject(reply);
	return good;
}

static void release(redisContext *redis, const char *token)
{
	redisReply *reply = redisCommand(redis, "EVAL %s 1 lock %s",
					 "if redis.call('GET', KEYS[1]) == ARGV[1] then "
					 "return redis.call('DEL', KEYS[1]) end return 0",
					 token);

	if (!reply)
		exit(1);
	freeReplyObject(reply);
}

static void work(redisContext *redis, int client, const char *path, const char *token)
{
	if (!ask(redis, "SET lock %s NX PX 1000", token)) {
		answer(client, 409);
		return;
	}
	if (strcmp(path, "/late") == 0)
		answer(client, 200);
	if (strcmp(path, "/renew") == 0)
		ask(redis, "PEXPIRE %s 5000", "lock");
	if (strcmp(path, "/overwrite") == 0)
		ask(redis, "SET lock %s XX KEEPTTL", token);
	if (strcmp(path, "/del") == 0 || strcmp(path, "/late") == 0)
		ask(redis, "DEL %s", "lock");
	else
		release(redis, token);
	if (strcmp(path, "/late") != 0)
		answer(client, 200);
}

static void *serve(void *connection)
{
	const int client = (int)(long)connection;
	redisContext *redis;
	char path[40] = "", name[8] = "", text[4096];

	/* The path says who asks: /del?a */
	if (read(client, text, sizeof(text)) <= 0 ||
	    sscanf(text, "%*s %39[^? ]?%7[^ ]", path, name) < 1)
		exit(1);
	if (strcmp(path, "/in-turn") == 0)
		pthread_mutex_lock(&turn);
	redis = redisConnect("127.0.0.1", atoi(getenv("REDIS_PORT")));
	if (strcmp(path, "/login") == 0)
		answer(client, ask(redis, "SET lock %s NX PX 1000", "session") ? 200 : 409);
	else if (strcmp(path, "/logout") == 0)
		answer(client, ask(redis, "DEL %s", "lock") ? 200 : 409);
	else
		work(redis, client, path, name);
	redisFree(redis);
	if (strcmp(path, "/in-turn") == 0)
		pthread_mutex_unlock(&turn);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
					     .sin_port = htons((uint16_t)atoi(getenv("PORT"))) };
	const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	(void)argv;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 16) < 0)
		return 1;
	for (;;) {
		const long client = accept(listener, NULL, NULL);
		pthread_t thread;

		if (argc > 1)
			serve((void *)client);
		else if (pthread_create(&thread, NULL, serve, (void *)client) == 0)
			pthread_detach(thread);
	}
}
