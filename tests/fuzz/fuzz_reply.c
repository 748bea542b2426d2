/* SPDX-License-Identifier: MIT */
/*
 * What a server says, through a link on a real socket: the first byte says which
 * calls ask, the others are the answer, after which the connection is closed. A
 * call has to end, with an outcome, and a reply has to be what its type says; it
 * is the same one when it is written down and read again.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/reply.h"
#include "base/resp.h"
#include "fuzz.h"
#include "race/race.h"
#include "redislock.h"

enum { TIMEOUT_MS = 1000, TTL_MS = 1000 };

/* A server's socket, whose path goes when the client is connected: a link that
 * connects again is refused at once. */
static int open_listener(struct rdl_address *address)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(name.sun_path, sizeof(name.sun_path), "/tmp/rr-fuzz-%d", getpid());
	*address = (struct rdl_address){ .is_unix = true };
	memcpy(address->host, name.sun_path, sizeof(name.sun_path));
	unlink(name.sun_path);
	demand(bind(listener, (struct sockaddr *)&name, sizeof(name)) == 0);
	demand(listen(listener, 1) == 0);
	return listener;
}

/* A link whose server has said all of it already, and will say nothing more. */
static struct rdl_link *link_to(const uint8_t *data, size_t size, int *server)
{
	struct rdl_address address;
	const int listener = open_listener(&address);
	struct rdl_link *link = rdl_link_new(&address, TIMEOUT_MS);

	demand(link && rdl_link_connect(link) == RDL_OK);
	*server = accept(listener, NULL, NULL);
	close(listener);
	unlink(address.host);
	demand(*server >= 0);
	demand(write(*server, data, size) == (ssize_t)size);
	demand(shutdown(*server, SHUT_WR) == 0);
	return link;
}

static void check_reply(const struct rdl_reply *reply)
{
	if (reply->type == RDL_REPLY_ARRAY) {
		for (size_t i = 0; i < reply->length; i++)
			check_reply(&reply->elements[i]);
	} else if (reply->type == RDL_REPLY_NIL || reply->type == RDL_REPLY_INTEGER) {
		demand(!reply->text);
	} else {
		demand(reply->text && reply->text[reply->length] == '\0');
	}
}

static char *write_reply(const struct rdl_reply *reply)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	demand(file && rr_resp_write(file, reply));
	rr_write_reply(file, reply);
	demand(fclose(file) == 0);
	return text;
}

static void show_reply(const struct rdl_reply *reply)
{
	char text[RR_REPLY_TEXT_SIZE];

	free(write_reply(reply));
	rr_reply_text(reply, text, sizeof(text));
	demand(strlen(text) < sizeof(text));
	rr_reply_to_pattern(text);
	demand(strlen(text) < sizeof(text));
}

static void run_commands(struct rdl_link *link)
{
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };
	enum rdl_outcome outcome;
	long long number;

	for (int i = 0; i < 16; i++)
		rdl_queue(link, "GET %s", "key");
	rdl_flush(link);
	do {
		outcome = rdl_receive(link, &reply);
		demand(outcome <= RDL_ERROR);
		if (outcome == RDL_OK || reply.type == RDL_REPLY_FAILED) {
			check_reply(&reply);
			rdl_reply_number(&reply, &number);
			show_reply(&reply);
		}
	} while (outcome == RDL_OK);
}

static void run_token_lock(struct rdl_link *link)
{
	struct rdl_lock *lock = rdl_lock_new(link, "lock");
	long long number;

	demand(lock != NULL);
	rdl_lock_try(lock, TTL_MS);
	demand(rdl_lock_remaining_ms(lock) <= TTL_MS);
	rdl_lock_extend(lock, TTL_MS);
	rdl_lock_release(lock);
	rdl_lock_try_fenced(lock, TTL_MS, &number);
	rdl_lock_free(lock);
}

static void run_quorum(struct rdl_link *link)
{
	struct rdl_quorum *quorum = rdl_quorum_new(&link, 1, "lock", TIMEOUT_MS);

	demand(quorum != NULL);
	rdl_quorum_try(quorum, TTL_MS);
	rdl_quorum_query(quorum);
	rdl_quorum_release(quorum);
	rdl_quorum_free(quorum);
}

static void run_queue(struct rdl_link *link)
{
	struct rdl_delay_queue *queue = rdl_delay_queue_new(link, "queue");
	long long due, processing;
	char id[16];

	demand(queue != NULL);
	if (rdl_delay_queue_take(queue, TTL_MS, id, sizeof(id)) == RDL_OK)
		demand(memchr(id, '\0', sizeof(id)) != NULL);
	rdl_delay_queue_length(queue, &due, &processing);
	rdl_delay_queue_put(queue, "item", 0);
	rdl_delay_queue_free(queue);
}

static enum rdl_outcome change(void *context, const struct rdl_reply *old, char *value, size_t size)
{
	(void)context;
	check_reply(old);
	snprintf(value, size, "new");
	return RDL_OK;
}

static void run_update(struct rdl_link *link)
{
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };

	rdl_update_try(link, "key", change, NULL);
	rdl_fenced_get(link, "key", 1, &reply);
	rdl_delete_if_equal(link, "key", "value");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const calls[])(struct rdl_link * link) = { run_commands, run_token_lock,
								 run_quorum, run_queue,
								 run_update };
	struct rdl_link *link;
	int server;

	if (size == 0)
		return 0;
	link = link_to(data + 1, size - 1, &server);
	calls[data[0] % 5](link);
	rdl_link_free(link);
	close(server);
	return 0;
}
