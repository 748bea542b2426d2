/* SPDX-License-Identifier: MIT */
/* A shop that listens on PORT, with a thread and a connection to Redis for each request:
 *
 *	/buy		looks whether there is any in stock, and takes it
 *	/buy-once	the same as a script
 *	/buy-unwatched	looks, and takes in a transaction of its own
 *	/buy-later	as /buy, half a second later
 *	/note		sets a key when it has answered
 *	/noted		says whether it is there
 *	/count		adds one to a key, and says how many there are
 *	/visit		five commands: reads and writes a number, and counts
 *	/visit-once	the same, with one command for the number
 *	/first		says 409, a number, to whom it is the first
 *	/first-far	the same behind a byte that is 0, and behind 100,000 bytes
 *	/first-status	says the same to all, with 404 to whom it is not the first
 *	/missing	404, behind a 100
 *	/dies-in-a-race	ends the shop, if another one has made it meanwhile
 *	/broken		500
 *	/broken-in-a-race	500, if another one has counted meanwhile
 *	/nothing	has nothing to do with Redis
 */
#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static _Thread_local redisContext *redis;

static long ask(const char *command, const char *argument)
{
	redisReply *reply = redisCommand(redis, command, argument);
	long number;

	if (!reply)
		exit(1);
	number = reply->str ? atol(reply->str) : (long)reply->integer;
	freeReplyObject(reply);
	return number;
}

static void answer(int client, int status, const char *text)
{
	dprintf(client, "HTTP/1.0 %d OK\r\n\r\n%s\n", status, text);
	close(client);
}

static void sell(int client, bool is_there)
{
	answer(client, is_there ? 200 : 409, is_there ? "sold" : "out");
}

static void buy(int client)
{
	const bool is_there = ask("GET %s", "stock") > 0;

	if (is_there)
		ask("DECR %s", "stock");
	sell(client, is_there);
}

static void buy_once(int client)
{
	sell(client, ask("EVAL %s 1 stock",
			 "if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end "
			 "redis.call('DECR', KEYS[1]) return 1"));
}

/* The transaction is sent at once. */
static void take(void)
{
	static const char *const commands[] = { "MULTI", "DECR stock", "EXEC" };
	redisReply *reply;

	for (int i = 0; i < 3; i++)
		redisAppendCommand(redis, commands[i]);
	for (int i = 0; i < 3; i++) {
		if (redisGetReply(redis, (void **)&reply) != REDIS_OK)
			exit(1);
		freeReplyObject(reply);
	}
}

static void buy_unwatched(int client)
{
	const bool is_there = ask("EXISTS %s", "stock") && ask("GET %s", "stock") > 0;

	if (is_there)
		take();
	sell(client, is_there);
}

static void count(int client)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", ask("INCR %s", "count"));
	answer(client, 200, text);
}

static void visit(int client, bool is_one_step)
{
	char value[24];

	ask("INCR %s", "seen");
	ask("EXISTS %s", "closed");
	if (is_one_step) {
		ask("INCRBY %s 10", "spent");
	} else {
		snprintf(value, sizeof(value), "%ld", ask("GET %s", "spent") + 10);
		ask("SET spent %s", value);
	}
	ask("INCR %s", "left");
	answer(client, 200, "visited");
}

static void be_first(int client)
{
	const bool is_first = ask("GET %s", "first") == 0;

	ask("SET %s 1", "first");
	answer(client, 200, is_first ? "first\n409" : "first\n410");
}

static void say_first_far(int client)
{
	const bool is_first = ask("GET %s", "first") == 0;
	char text[100000];

	ask("SET %s 1", "first");
	memset(text, 'x', sizeof(text));
	text[0] = '\0';
	dprintf(client, "HTTP/1.0 200 OK\r\n\r\n");
	if (write(client, text, sizeof(text)) != sizeof(text))
		exit(1);
	dprintf(client, "%s\n", is_first ? "first" : "not");
	close(client);
}

static void be_first_by_status(int client)
{
	const bool is_first = ask("GET %s", "first") == 0;

	ask("SET %s 1", "first");
	answer(client, is_first ? 200 : 404, "answered");
}

static void miss(int client)
{
	ask("INCR %s", "count");
	dprintf(client, "HTTP/1.1 100 Continue\r\n\r\n");
	answer(client, 404, "nothing here");
}

static void die_in_a_race(int client)
{
	const bool is_there = ask("GET %s", "made") != 0;

	if (!is_there && !ask("SETNX %s 1", "made"))
		exit(1);
	answer(client, 200, is_there ? "there" : "made");
}

static void break_in_a_race(int client)
{
	const long before = ask("GET %s", "count");
	const bool is_next = ask("INCR %s", "count") == before + 1;

	answer(client, is_next ? 200 : 500, is_next ? "counted" : "broken");
}

static void break_always(int client)
{
	ask("INCR %s", "count");
	answer(client, 500, "broken");
}

static void *serve(void *connection)
{
	const int client = (int)(long)connection;
	char request[1000] = "", path[100] = "";

	redis = redisConnect("127.0.0.1", atoi(getenv("REDIS_PORT")));
	if (read(client, request, sizeof(request) - 1) > 0)
		sscanf(request, "%*s %99s", path);
	if (strcmp(path, "/buy-later") == 0)
		usleep(500 * 1000);
	if (strcmp(path, "/buy-once") == 0) {
		buy_once(client);
	} else if (strcmp(path, "/buy-unwatched") == 0) {
		buy_unwatched(client);
	} else if (strncmp(path, "/buy", 4) == 0) {
		buy(client);
	} else if (strcmp(path, "/note") == 0) {
		answer(client, 202, "noted");
		ask("SET note %s", "1");
	} else if (strcmp(path, "/noted") == 0) {
		answer(client, 200, ask("GET %s", "note") ? "yes" : "no");
	} else if (strcmp(path, "/count") == 0) {
		count(client);
	} else if (strncmp(path, "/visit", 6) == 0) {
		visit(client, strcmp(path, "/visit-once") == 0);
	} else if (strcmp(path, "/first") == 0) {
		be_first(client);
	} else if (strcmp(path, "/first-far") == 0) {
		say_first_far(client);
	} else if (strcmp(path, "/first-status") == 0) {
		be_first_by_status(client);
	} else if (strcmp(path, "/missing") == 0) {
		miss(client);
	} else if (strcmp(path, "/dies-in-a-race") == 0) {
		die_in_a_race(client);
	} else if (strcmp(path, "/broken") == 0) {
		break_always(client);
	} else if (strcmp(path, "/broken-in-a-race") == 0) {
		break_in_a_race(client);
	} else {
		answer(client, 200, path);
	}
	redisFree(redis);
	return NULL;
}

int main(void)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)atoi(getenv("PORT"))),
	};
	const int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listener, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 10) != 0)
		return 1;
	for (;;) {
		const long client = accept(listener, NULL, NULL);

		pthread_create(&thread, NULL, serve, (void *)client);
		pthread_detach(thread);
	}
}
