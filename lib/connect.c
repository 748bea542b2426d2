/* SPDX-License-Identifier: MIT */
/*
 * Opening connections, any number of them in the time of one: all are begun,
 * waited for together, and introduced (AUTH, SELECT) together.
 */
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"
#include "parser.h"

/* How far a link of a batch has come. */
enum stage { CONNECTED, CONNECTING, SHAKING_HANDS, INTRODUCING, FAILED };

/* ---- Sockets ----------------------------------------------------------- */

static struct timeval timeout_of(const struct rdl_link *link)
{
	const int ms = rdl_link_timeout_ms(link);

	return (struct timeval){ ms / 1000, ms % 1000 * 1000 };
}

void rdl_link_apply_timeout(const struct rdl_link *link)
{
	const struct timeval timeout = timeout_of(link);

	setsockopt(link->context->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(link->context->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
}

void rdl_link_set_timeout(struct rdl_link *link, int timeout_ms)
{
	link->timeout_ms = timeout_ms;
	if (link->context)
		rdl_link_apply_timeout(link);
}

int64_t rdl_link_deadline_ns(const struct rdl_link *link)
{
	return rdl_now_ns(link, RDL_CLOCK_MONOTONIC) + link->timeout_ms * INT64_C(1000000);
}

static enum stage fail_connecting(struct rdl_link *link, const char *why)
{
	rdl_link_fail(link, RDL_ERROR, "%s", why); /* may lie in the context */
	link->reason = RDL_REASON_UNREACHABLE;
	rdl_link_disconnect(link);
	return FAILED;
}

/* Where the driver takes the server's place nothing is ever sent: an open file
 * that is not used. */
static enum stage open_pretended(struct rdl_link *link)
{
	const int fd = eventfd(0, EFD_CLOEXEC);

	if (fd < 0)
		return fail_connecting(link, strerror(errno));
	link->context = redisConnectFd(fd);
	link->connections++;
	link->owner = rdl_process(link);
	return link->context ? CONNECTED : fail_connecting(link, "out of memory");
}

/* It is there for commands. */
static enum stage use_connection(struct rdl_link *link)
{
	const int fd = link->context->fd;

	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) != 0)
		return fail_connecting(link, strerror(errno));
	rdl_link_apply_timeout(link);
	rdl_parser_attach(link->context->reader, &link->arena);
	return INTRODUCING;
}

/* Where the driver connects. */
static enum stage open_by_driver(struct rdl_link *link)
{
	const int fd = link->driver->ops->open(link->driver->context, link);

	if (fd < 0)
		return fail_connecting(link, "connection refused");
	link->context = redisConnectFd(fd);
	link->connections++;
	link->owner = rdl_process(link);
	if (link->context)
		return use_connection(link);
	close(fd);
	return fail_connecting(link, "out of memory");
}

static bool is_answered_by_driver(const struct rdl_link *link)
{
	return rdl_is_driven(link) && link->driver->ops->submit;
}

/* Where it is to be connected to. */
static const struct rdl_address *server_of(const struct rdl_link *link)
{
	return link->route ? &link->route->node : &link->address;
}

static enum stage begin_connecting(struct rdl_link *link)
{
	const struct rdl_address *address = server_of(link);

	if (link->context)
		return CONNECTED;
	link->pending = 0;
	rdl_kept_replies_drop(&link->keep);
	link->error[0] = '\0';
	if (is_answered_by_driver(link))
		return open_pretended(link);
	if (rdl_is_driven(link) && link->driver->ops->open)
		return open_by_driver(link);
	link->context = address->is_unix ? redisConnectUnixNonBlock(address->host) :
					   redisConnectNonBlock(address->host, address->port);
	link->connections++;
	link->owner = rdl_process(link);
	if (!link->context)
		return fail_connecting(link, "out of memory");
	if (link->context->err)
		return fail_connecting(link, link->context->errstr);
	/* hiredis does not; a program that is run must not speak on it. */
	fcntl(link->context->fd, F_SETFD, FD_CLOEXEC);
	return CONNECTING;
}

static enum stage shake_hands(struct rdl_link *link)
{
	char why[200];

	switch (rdl_tls_handshake(link->tls, link->context->fd, why, sizeof(why))) {
	case RDL_TLS_DONE:
		return use_connection(link);
	case RDL_TLS_GOES_ON:
		return SHAKING_HANDS;
	default:
		return fail_connecting(link, why);
	}
}

static enum stage begin_handshake(struct rdl_link *link)
{
	char why[200];

	if (!link->tls)
		link->tls = rdl_tls_new(&link->address, why, sizeof(why));
	if (!link->tls)
		return fail_connecting(link, why);
	if (!rdl_tls_begin(link->tls, server_of(link)))
		return fail_connecting(link, "out of memory");
	return shake_hands(link);
}

/* The socket is connected, or it failed. */
static enum stage finish_connecting(struct rdl_link *link)
{
	socklen_t length = sizeof(int);
	int error = 0;

	if (getsockopt(link->context->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
		error = errno;
	if (error)
		return fail_connecting(link, strerror(error));
	return server_of(link)->is_tls ? begin_handshake(link) : use_connection(link);
}

/* Connecting takes real time, whatever moves the clock: whether there is
 * anything to connect depends on what was before, and a driver is not to see
 * that. */
static int64_t real_deadline_ns(const struct rdl_link *link)
{
	const int64_t deadline_ns = rdl_kernel_ns() + link->timeout_ms * INT64_C(1000000);

	return link->patience && link->patience->until_ns < deadline_ns ? link->patience->until_ns :
									  deadline_ns;
}

static bool is_awaited(enum stage stage)
{
	return stage == CONNECTING || stage == SHAKING_HANDS;
}

static enum stage go_on(struct rdl_link *link, enum stage stage, bool ready)
{
	if (!ready && stage == CONNECTING)
		return fail_connecting(link, "no connection in time");
	if (!ready)
		return fail_connecting(link, "TLS: no handshake in time: is this a port for TLS?");
	return stage == CONNECTING ? finish_connecting(link) : shake_hands(link);
}

/* Which descriptors, and what for; how many. */
static size_t choose_awaited(struct rdl_link *const *links, const enum stage *stages, size_t n,
			     struct pollfd *fds)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		fds[i] = (struct pollfd){
			.fd = -1,
			.events = stages[i] == CONNECTING ? POLLOUT : POLLIN,
		};
		if (is_awaited(stages[i]))
			fds[i].fd = links[i]->context->fd;
		left += is_awaited(stages[i]);
	}
	return left;
}

/* Until all of them are connected, or the deadline. */
static void await(struct rdl_link *const *links, enum stage *stages, size_t n, int64_t deadline_ns)
{
	struct pollfd fds[RDL_QUORUM_NODES_MAX + 1];
	const struct rdl_patience *patience = links[0]->patience;

	fds[n] = (struct pollfd){
		.fd = patience ? patience->cancel_fd : -1,
		.events = POLLIN,
	};
	while (choose_awaited(links, stages, n, fds) > 0) {
		int64_t left_ns = deadline_ns - rdl_kernel_ns();

		poll(fds, n + 1, left_ns > 0 ? (int)(left_ns / 1000000) + 1 : 0);
		if (fds[n].revents) /* cancelled */
			left_ns = 0;
		for (size_t i = 0; i < n; i++) {
			if (fds[i].fd >= 0 && (fds[i].revents || left_ns <= 0))
				stages[i] = go_on(links[i], stages[i], fds[i].revents);
		}
	}
}

/* ---- Introductions ----------------------------------------------------- */

/* A command of the connection's own: not counted, not driven. */
static bool queue_setup(struct rdl_link *link, const char *format, ...)
{
	struct rdl_command command = { 0 };
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = rdl_command_parse(&command, format, arguments) &&
	       rdl_command_encode(&command, &link->out);
	va_end(arguments);
	link->pending += good;
	return good;
}

static bool is_sentinels(const struct rdl_link *link)
{
	return link->address.kind == RDL_ADDRESS_SENTINEL;
}

static enum stage introduce(struct rdl_link *link)
{
	const struct rdl_address *address = server_of(link);
	bool good = true;

	if (address->password[0] && address->user[0])
		good = queue_setup(link, "AUTH %s %s", address->user, address->password);
	else if (address->password[0])
		good = queue_setup(link, "AUTH %s", address->password);
	if (good && address->db)
		good = queue_setup(link, "SELECT %d", address->db);
	if (good && is_sentinels(link))
		good = queue_setup(link, "ROLE");
	if (!good)
		return fail_connecting(link, "out of memory");
	return rdl_flush(link) == RDL_OK ? INTRODUCING : FAILED;
}

/* A Sentinel may name a master that was one. Who may not ask for the role takes
 * it for one. */
static enum rdl_outcome judge_role(struct rdl_link *link, const struct rdl_reply *reply,
				   enum rdl_outcome outcome)
{
	if (outcome == RDL_ERROR && reply->type == RDL_REPLY_FAILED &&
	    strncmp(reply->text, "NOPERM", 6) == 0)
		return RDL_OK;
	if (outcome != RDL_OK)
		return outcome;
	if (reply->type == RDL_REPLY_ARRAY && reply->length > 0 && reply->elements[0].text &&
	    strcmp(reply->elements[0].text, "master") == 0)
		return RDL_OK;
	return rdl_link_fail(link, RDL_ERROR, "%.100s:%d is not a master", server_of(link)->host,
			     server_of(link)->port);
}

/* Both must have been accepted: nothing may be sent to the wrong database. With
 * a driver, whose clock may be any, each reply is waited for as long as the
 * link's time-out, by the kernel's clock. */
static void receive_introduction(struct rdl_link *link, int64_t deadline_ns)
{
	const int64_t until_ns = rdl_is_driven(link) ? 0 : deadline_ns;
	enum rdl_outcome outcome = RDL_OK;
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };
	unsigned left = 1;

	while (outcome == RDL_OK && link->pending) {
		left = link->pending;
		outcome = rdl_link_read(link, &reply, until_ns);
	}
	if (is_sentinels(link) && left == 1)
		outcome = judge_role(link, &reply, outcome);
	if (outcome != RDL_OK)
		rdl_link_disconnect(link);
}

void rdl_links_connect_to(struct rdl_link *const *links, size_t n, int64_t deadline_ns)
{
	enum stage stages[RDL_QUORUM_NODES_MAX];

	for (size_t i = 0; i < n; i++)
		stages[i] = begin_connecting(links[i]);
	await(links, stages, n, rdl_is_driven(links[0]) ? real_deadline_ns(links[0]) : deadline_ns);
	for (size_t i = 0; i < n; i++) {
		if (stages[i] == INTRODUCING)
			stages[i] = introduce(links[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (stages[i] == INTRODUCING)
			receive_introduction(links[i], deadline_ns);
		deadline_ns = rdl_link_hurry(
			links[i], stages[i] == INTRODUCING && !links[i]->context, deadline_ns);
	}
}

void rdl_links_connect(struct rdl_link *const *links, size_t n, int64_t deadline_ns)
{
	struct rdl_link *plain[RDL_QUORUM_NODES_MAX];
	size_t n_plain = 0;

	for (size_t i = 0; i < n; i++) {
		if (!links[i]->route || is_answered_by_driver(links[i]))
			plain[n_plain++] = links[i];
		else if (!links[i]->context)
			rdl_route_connect(links[i], rdl_is_driven(links[i]) ?
							    real_deadline_ns(links[i]) :
							    deadline_ns);
	}
	if (n_plain > 0)
		rdl_links_connect_to(plain, n_plain, deadline_ns);
}

enum rdl_outcome rdl_link_connect(struct rdl_link *link)
{
	if (!link->context)
		rdl_links_connect(&link, 1, real_deadline_ns(link));
	return link->context ? RDL_OK : RDL_ERROR;
}
