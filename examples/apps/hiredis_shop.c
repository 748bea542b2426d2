/* libmicrohttpd with hiredis: a thread for each request, each with a connection of its own.
 *
 *	cc -o hiredis_shop hiredis_shop.c -lmicrohttpd -lhiredis
 */
#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char take[] = "if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end "
			   "redis.call('DECR', KEYS[1]) "
			   "return 1";

/* The number that is the reply, or that stands in it. */
static long long number_of(redisReply *reply)
{
	long long number = -1;

	if (reply && reply->type == REDIS_REPLY_INTEGER)
		number = reply->integer;
	else if (reply && reply->type == REDIS_REPLY_STRING)
		number = atoll(reply->str);
	freeReplyObject(reply);
	return number;
}

/* Wrong: looks first and takes then; another request may take the last one in between. */
static bool buy(redisContext *redis)
{
	if (number_of(redisCommand(redis, "GET stock")) <= 0)
		return false;
	freeReplyObject(redisCommand(redis, "DECR stock"));
	return true;
}

/* Right: a script looks and takes in one step. */
static bool buy_once(redisContext *redis)
{
	return number_of(redisCommand(redis, "EVAL %s 1 stock", take)) == 1;
}

static enum MHD_Result answer(void *unused, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	redisContext *redis = redisConnect(getenv("REDIS_HOST"), atoi(getenv("REDIS_PORT")));
	const bool sold = strcmp(url, "/buy-once") == 0 ? buy_once(redis) : buy(redis);
	struct MHD_Response *response = MHD_create_response_from_buffer(
		sold ? 5 : 4, sold ? "sold\n" : "out\n", MHD_RESPMEM_PERSISTENT);
	const enum MHD_Result result =
		MHD_queue_response(connection, sold ? MHD_HTTP_OK : MHD_HTTP_CONFLICT, response);

	(void)unused, (void)method, (void)version, (void)upload, (void)upload_size, (void)request;
	MHD_destroy_response(response);
	redisFree(redis);
	return result;
}

int main(void)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons((uint16_t)atoi(getenv("PORT"))),
					     .sin_addr = { htonl(INADDR_LOOPBACK) } };

	if (!MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0,
			      NULL, NULL, answer, NULL, MHD_OPTION_SOCK_ADDR, &address,
			      MHD_OPTION_END))
		return 1;
	for (;;)
		pause();
}
