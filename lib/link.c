/* SPDX-License-Identifier: MIT */
/*
 * One connection to one server. hiredis connects (see connect.c) and parses
 * (see parser.c); the bytes are sent and received here, because its own loop
 * costs 16 KiB of stack and several allocations per reply. Only these three
 * files know hiredis.
 */
#include "link.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "hold.h"

enum { OVERDUE_MAX = 64 };

/* ---- Making and closing ------------------------------------------------ */

struct rdl_link *rdl_link_new(const struct rdl_address *address, int timeout_ms)
{
	struct rdl_link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->address = *address;
	link->timeout_ms = timeout_ms;
	link->process = rdl_process_page_new();
	if (address->kind == RDL_ADDRESS_SERVER)
		return link;
	link->route = rdl_route_new(address);
	if (link->route)
		return link;
	rdl_link_free(link);
	return NULL;
}

static void close_connection(struct rdl_link *link)
{
	redisFree(link->context);
	link->context = NULL;
	link->out.length = 0;
	link->overdue = 0;
	link->state = 0;
	link->means.asked_native = false;
	link->means.asked_script = NULL;
	if (link->tls)
		rdl_tls_end(link->tls);
	if (link->route)
		rdl_route_forget(link);
}

static bool is_parents(const struct rdl_link *link)
{
	return link->context && link->owner != rdl_process(link);
}

void rdl_link_leave_parents(struct rdl_link *link)
{
	if (is_parents(link))
		rdl_link_disconnect(link);
}

enum rdl_outcome rdl_link_spare_parents(struct rdl_link *link)
{
	if (is_parents(link))
		return rdl_link_fail(link, RDL_UNKNOWN, "the parent's connection");
	return RDL_OK;
}

static bool has_hash_tag(const char *key)
{
	const char *open = strchr(key, '{');

	return open && open[1] != '}' && strchr(open, '}');
}

bool rdl_name_beside(const struct rdl_link *link, const char *key, const char *suffix, char *name,
		     size_t size)
{
	const bool tags = link->address.kind == RDL_ADDRESS_CLUSTER && !has_hash_tag(key) &&
			  !strchr(key, '}');

	return (size_t)snprintf(name, size, tags ? "{%s}%s" : "%s%s", key, suffix) < size;
}

void rdl_link_disconnect(struct rdl_link *link)
{
	close_connection(link);
	rdl_kept_replies_drop(&link->keep);
}

void rdl_link_free(struct rdl_link *link)
{
	if (!link)
		return;
	rdl_link_disconnect(link);
	rdl_buffer_release(&link->out);
	rdl_buffer_release(&link->plain);
	rdl_buffer_release(&link->piece);
	rdl_tls_free(link->tls);
	rdl_route_free(link->route);
	rdl_kept_replies_release(&link->keep);
	rdl_arena_reset(&link->arena);
	rdl_process_page_free(link->process);
	free(link);
}

const char *rdl_link_error(const struct rdl_link *link)
{
	return link->error;
}

uint64_t rdl_link_commands(const struct rdl_link *link)
{
	return link->commands;
}

const struct rdl_address *rdl_link_address(const struct rdl_link *link)
{
	return &link->address;
}

void rdl_link_set_driver(struct rdl_link *link, const struct rdl_driver *driver)
{
	link->driver = driver;
	if (link->context)
		rdl_link_apply_timeout(link);
}

enum rdl_outcome rdl_link_fail(struct rdl_link *link, enum rdl_outcome outcome, const char *format,
			       ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(link->error, sizeof(link->error), format, arguments);
	va_end(arguments);
	link->reason = outcome == RDL_UNKNOWN ? RDL_REASON_NO_REPLY :
		       outcome == RDL_ERROR   ? RDL_REASON_CALLER :
						RDL_REASON_NONE;
	return outcome;
}

enum rdl_reason rdl_link_reason(const struct rdl_link *link)
{
	return link->reason;
}

enum rdl_reason rdl_reason_of_reply(const char *text)
{
	static const struct {
		const char *word;
		enum rdl_reason reason;
	} words[] = {
		{ "NOAUTH", RDL_REASON_AUTH },        { "WRONGPASS", RDL_REASON_AUTH },
		{ "NOPERM", RDL_REASON_AUTH },        { "LOADING", RDL_REASON_LOADING },
		{ "READONLY", RDL_REASON_READ_ONLY }, { "OOM", RDL_REASON_MEMORY },
		{ "WRONGTYPE", RDL_REASON_TYPE },
	};
	const size_t length = strcspn(text, " ");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) == length && memcmp(words[i].word, text, length) == 0)
			return words[i].reason;
	}
	return RDL_REASON_SERVER;
}

enum rdl_outcome rdl_link_refuse(struct rdl_link *link, const char *text)
{
	rdl_link_fail(link, RDL_ERROR, "%s", text);
	link->reason = rdl_reason_of_reply(text);
	return RDL_ERROR;
}

enum rdl_outcome rdl_link_drop(struct rdl_link *link, const char *why)
{
	rdl_link_fail(link, RDL_UNKNOWN, "%s", why); /* may lie in the context */
	close_connection(link);
	return RDL_UNKNOWN;
}

/* ---- Waiting for bytes ------------------------------------------------- */

/* Waits until something is there, as long as `left_ns`. False, with errno: a
 * signal came first, or the caller has cancelled (ECANCELED). */
static bool wait_readable(const struct rdl_link *link, int64_t left_ns)
{
	struct pollfd ready[] = {
		{ .fd = link->context->fd, .events = POLLIN },
		{ .fd = link->patience ? link->patience->cancel_fd : -1, .events = POLLIN },
	};
	int ms = (int)((left_ns + 999999) / 1000000);

	if (poll(ready, 2, ms) < 0)
		return false;
	if (!ready[1].revents || ready[0].revents)
		return true;
	if (poll(ready, 1, ms < RDL_GRACE_MS ? ms : RDL_GRACE_MS) > 0)
		return true;
	errno = ECANCELED;
	return false;
}

int64_t rdl_link_hurry(const struct rdl_link *link, bool was_silent, int64_t deadline_ns)
{
	struct pollfd cancel = { .fd = link->patience ? link->patience->cancel_fd : -1,
				 .events = POLLIN };
	int64_t until_ns;

	if (cancel.fd < 0 || poll(&cancel, 1, 0) <= 0)
		return deadline_ns;
	until_ns = rdl_deadline_after(rdl_kernel_ns(), was_silent ? 0 : RDL_GRACE_MS);
	return until_ns < deadline_ns ? until_ns : deadline_ns;
}

bool rdl_link_has_unread(const struct rdl_link *link)
{
	struct pollfd ready = { .events = POLLIN };
	const redisReader *reader;

	if (!link->context)
		return false;
	reader = link->context->reader;
	ready.fd = link->context->fd;
	return reader->pos < reader->len || poll(&ready, 1, 0) > 0;
}

/* Hands bytes that came to the parser. */
static bool feed_parser(struct rdl_link *link, const char *bytes, size_t n)
{
	redisReader *reader = link->context->reader;

	if (!link->tls)
		return redisReaderFeed(reader, bytes, n) == REDIS_OK;
	link->plain.length = 0;
	if (!rdl_tls_decrypt(link->tls, bytes, n, &link->plain))
		return false;
	return link->plain.length == 0 ||
	       redisReaderFeed(reader, link->plain.bytes, link->plain.length) == REDIS_OK;
}

bool rdl_link_take_unread(struct rdl_link *link)
{
	redisReader *reader;
	char bytes[512];
	ssize_t n;

	if (!link->context)
		return false;
	reader = link->context->reader;
	while (reader->len <= RDL_REPLY_BYTES_MAX &&
	       (n = recv(link->context->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		feed_parser(link, bytes, (size_t)n);
	return reader->pos < reader->len;
}

/* What a command leaves behind in its connection. */
enum { STATE_OF_TRANSACTION = 1, STATE_TO_STAY = 2 };

void rdl_link_note_state(struct rdl_link *link, const struct rdl_word *name)
{
	static const struct {
		const char *name;
		unsigned char length, adds, removes;
	} states[] = {
		{ "WATCH", 5, STATE_OF_TRANSACTION, 0 },
		{ "MULTI", 5, STATE_OF_TRANSACTION, 0 },
		{ "EXEC", 4, 0, STATE_OF_TRANSACTION },
		{ "DISCARD", 7, 0, STATE_OF_TRANSACTION },
		{ "UNWATCH", 7, 0, STATE_OF_TRANSACTION },
		{ "SELECT", 6, STATE_TO_STAY, 0 },
		{ "SUBSCRIBE", 9, STATE_TO_STAY, 0 },
		{ "PSUBSCRIBE", 10, STATE_TO_STAY, 0 },
		{ "SSUBSCRIBE", 10, STATE_TO_STAY, 0 },
		{ "HELLO", 5, STATE_TO_STAY, 0 },
		{ "AUTH", 4, STATE_TO_STAY, 0 },
		{ "CLIENT", 6, STATE_TO_STAY, 0 },
		{ "MONITOR", 7, STATE_TO_STAY, 0 },
		{ "READONLY", 8, STATE_TO_STAY, 0 },
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (states[i].length == name->length &&
		    strncasecmp(states[i].name, name->text, name->length) == 0)
			link->state = (link->state & ~states[i].removes) | states[i].adds;
	}
}

/* Has the server closed it? What has come before that is parsed. */
static bool is_closed_by_server(struct rdl_link *link)
{
	char bytes[512];
	ssize_t n;

	while ((n = recv(link->context->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		if (!feed_parser(link, bytes, (size_t)n))
			return true;
	}
	return n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Only after a pause: a connection that has just been used is not asked for. */
void rdl_link_renew_if_closed(struct rdl_link *link)
{
	enum { PAUSE_NS = 1000000 };

	if (!link->context || rdl_link_is_busy(link) || link->state || rdl_is_driven(link) ||
	    rdl_kernel_ns() - link->reading_ns < PAUSE_NS)
		return;
	if (is_closed_by_server(link))
		rdl_link_disconnect(link);
}

int64_t rdl_kernel_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What is left of the time-out, of an acquire's patience, or until the deadline (0 =
 * none). */
static int64_t left_to_wait_ns(const struct rdl_link *link, int64_t timeout_ns, int64_t deadline_ns)
{
	int64_t left_ns;

	if (link->patience) {
		left_ns = link->patience->until_ns - rdl_kernel_ns();
		timeout_ns = left_ns < timeout_ns ? left_ns : timeout_ns;
	}
	if (!deadline_ns)
		return timeout_ns;
	left_ns = deadline_ns - rdl_now_ns(link, RDL_CLOCK_MONOTONIC);
	return left_ns < timeout_ns ? left_ns : timeout_ns;
}

/* What is left of it: it is one for a whole reply, in however many pieces that
 * comes. */
static int64_t timeout_left_ns(const struct rdl_link *link)
{
	return rdl_link_timeout_ms(link) * INT64_C(1000000) - (rdl_kernel_ns() - link->reading_ns);
}

ssize_t rdl_link_take_bytes(struct rdl_link *link, char *bytes, size_t size, int64_t deadline_ns)
{
	const int64_t timeout_ns = rdl_link_timeout_ms(link) * INT64_C(1000000);
	int64_t left_ns = timeout_ns;

	if (rdl_is_driven(link) && link->driver->ops->await)
		link->driver->ops->await(link->driver->context, link, link->context->fd);
	if (link->reading_ns)
		left_ns = timeout_left_ns(link);
	else
		link->reading_ns = rdl_kernel_ns();
	if (left_ns <= 0) { /* though there may be more of it */
		errno = EAGAIN;
		return -1;
	}
	left_ns = left_to_wait_ns(link, left_ns, deadline_ns);
	for (;;) {
		/* Nearly all of the time-out: recv() itself waits as long. */
		const bool waits = left_ns >= timeout_ns - 1000000 && !link->patience;
		ssize_t n = -1;

		if (waits || left_ns <= 0 || wait_readable(link, left_ns))
			n = recv(link->context->fd, bytes, size, waits ? 0 : MSG_DONTWAIT);
		if (n >= 0 || errno != EINTR)
			return n;
		left_ns = left_to_wait_ns(link, timeout_left_ns(link), deadline_ns);
	}
}

/* ---- Bytes ------------------------------------------------------------- */

static const char *io_error(int error)
{
	if (error == ECANCELED)
		return "cancelled before the reply came";
	return error == EAGAIN || error == EWOULDBLOCK ? "no reply in time" : strerror(error);
}

enum rdl_outcome rdl_flush(struct rdl_link *link)
{
	size_t sent = 0;

	if (!link->context)
		return rdl_link_fail(link, RDL_UNKNOWN, "not connected");
	if (link->out.length == 0)
		return RDL_OK;
	if (rdl_link_spare_parents(link) != RDL_OK)
		return RDL_UNKNOWN;
	if (link->tls && !rdl_tls_encrypt(link->tls, &link->out))
		return rdl_link_drop(link, "TLS: cannot encrypt");
	while (sent < link->out.length) {
		const ssize_t n = send(link->context->fd, link->out.bytes + sent,
				       link->out.length - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rdl_link_drop(link, io_error(errno));
		sent += (size_t)n;
	}
	link->out.length = 0;
	return RDL_OK;
}

/* No reply by the deadline, or before the caller cancelled: it will be thrown away when it comes. */
static enum rdl_outcome leave_behind(struct rdl_link *link, int error)
{
	if (link->overdue == OVERDUE_MAX)
		return rdl_link_drop(link, io_error(error));
	link->overdue++;
	return rdl_link_fail(link, RDL_UNKNOWN, "%s", io_error(error));
}

/* Feeds the parser with what one recv() brings. Most replies fit into 512 bytes; the rest of a
 * longer one is read in larger pieces. */
static enum rdl_outcome read_more(struct rdl_link *link, bool is_long, int64_t deadline_ns)
{
	enum { SHORT = 512, LONG = 65536 };
	char bytes[SHORT], *piece = is_long ? rdl_buffer_room(&link->piece, LONG) : bytes;
	const size_t size = piece == bytes ? SHORT : LONG;
	ssize_t n;

	if (!piece)
		return rdl_link_drop(link, "out of memory");
	n = rdl_link_take_bytes(link, piece, size, deadline_ns);

	if (n < 0 && (errno == EAGAIN || errno == ECANCELED) && deadline_ns)
		return leave_behind(link, errno);
	if (n < 0)
		return rdl_link_drop(link, io_error(errno));
	if (n == 0)
		return rdl_link_drop(link, "the server closed the connection");
	if (!feed_parser(link, piece, (size_t)n))
		return rdl_link_drop(link,
				     link->tls ? "TLS: what came is damaged" : "out of memory");
	if (link->context->reader->len > RDL_REPLY_BYTES_MAX)
		return rdl_link_drop(link, "a reply is longer than 64 MiB");
	return RDL_OK;
}

/* The next reply, overdue or not. */
static enum rdl_outcome read_next(struct rdl_link *link, struct rdl_reply **reply,
				  int64_t deadline_ns)
{
	enum rdl_outcome outcome = RDL_OK;
	void *parsed = NULL;
	bool is_long = false;

	link->reading_ns = link->since_ns;
	/* One that was left behind half read lies in the arena still. */
	if (link->context->reader->ridx < 0)
		rdl_arena_reset(&link->arena);
	while (outcome == RDL_OK) {
		redisReader *reader = link->context->reader;

		if (redisReaderGetReply(reader, &parsed) != REDIS_OK)
			return rdl_link_drop(link,
					     link->arena.is_too_much ?
						     "a reply has more than 1048576 elements" :
						     reader->errstr);
		if (parsed)
			break;
		outcome = read_more(link, is_long, deadline_ns);
		is_long = true;
	}
	*reply = parsed;
	return outcome;
}

enum rdl_outcome rdl_link_read(struct rdl_link *link, struct rdl_reply *reply, int64_t deadline_ns)
{
	struct rdl_reply *next = NULL;
	enum rdl_outcome outcome;

	if (!link->context || !link->pending)
		return rdl_link_fail(link, RDL_UNKNOWN, "%s",
				     link->error[0] ? link->error : "not connected");
	link->pending--;
	outcome = read_next(link, &next, deadline_ns);
	while (outcome == RDL_OK && link->overdue) {
		link->overdue--;
		outcome = read_next(link, &next, deadline_ns);
	}
	if (outcome != RDL_OK)
		return outcome;
	*reply = *next;
	if (reply->type == RDL_REPLY_FAILED)
		return rdl_link_refuse(link, reply->text);
	return RDL_OK;
}

enum rdl_outcome rdl_link_poll(struct rdl_link *link, struct rdl_reply *reply, bool gives_up)
{
	const int64_t past_ns = 1;
	enum rdl_outcome outcome;

	if (rdl_is_driven(link))
		return rdl_receive(link, reply);
	if (rdl_link_spare_parents(link) != RDL_OK)
		return RDL_UNKNOWN;
	outcome = rdl_link_read(link, reply, past_ns);
	if (outcome != RDL_UNKNOWN || gives_up || !link->context)
		return outcome;
	link->overdue--; /* it is not left behind */
	link->pending++;
	return RDL_BUSY;
}

int rdl_link_fd(const struct rdl_link *link)
{
	return link->context ? link->context->fd : -1;
}

void rdl_link_catch_up(struct rdl_link *link)
{
	const int64_t past_ns = 1;
	struct rdl_reply *reply;

	while (link->context && link->overdue) {
		link->overdue--;
		if (read_next(link, &reply, past_ns) != RDL_OK)
			return;
	}
}

enum rdl_outcome rdl_link_listen(struct rdl_link *link, struct rdl_reply *message,
				 int64_t timeout_ns)
{
	const redisReader *reader;

	if (!link->context)
		return rdl_link_fail(link, RDL_UNKNOWN, "not connected");
	if (rdl_is_driven(link) && link->driver->ops->listen)
		return link->driver->ops->listen(link->driver->context, link, message, timeout_ns);
	reader = link->context->reader;
	if (reader->pos == reader->len && !rdl_wait(link, link->context->fd, timeout_ns))
		return RDL_BUSY;
	link->pending++;
	return rdl_receive(link, message);
}
