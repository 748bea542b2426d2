/* SPDX-License-Identifier: MIT */
#include "outside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "cluster/cluster.h"
#include "program_page.h"
#include "watch.h"

enum {
	FLOW_SIZE = 16 * 1024,
	EVENTS_MAX = 32,
	PASSED_MAX = 253, /* descriptors in one message, as the kernel has it */
	PATH_SIZE = 200,
	THREADS_OWN = O_EXCL, /* PIDFD_THREAD, which older headers do not have */
	ACCEPT_MS = 1000,
	/* A program that does not wait for its connection gets one here after that time, although
	 * the server's is not made yet. */
	GRACE_NS = 100 * 1000 * 1000,
	/* A server that says nothing to what only Redis answers. */
	ANSWER_NS = 1000 * 1000 * 1000,
	/* Other servers answer in less, or have nothing to answer. */
	AWAITED_NS = 200 * 1000 * 1000,
};

/* Redis answers this with an error of its protocol, and does nothing: "*" is no number of words. */
static const char question[] = "*?\r\n";
static const char unknown[] = "-ERR unknown command";

/* Bytes on their way from one end to the other. */
struct flow {
	char bytes[FLOW_SIZE];
	size_t n, n_sent;
	int passed[PASSED_MAX];     /* descriptors that go with the byte at passed_at, */
	size_t n_passed, passed_at; /* which is of the last ones */
	bool has_ended;             /* nothing more comes */
	bool has_closed;            /* and the other end was told so */
};

enum stage {
	STAGE_JUDGES,   /* the first bytes are not known yet */
	STAGE_ASKS,     /* `server` is a connection to ask whether it is Redis */
	STAGE_FORWARDS, /* whatever comes */
};

/* A connection of the program to another address, from its connect(2) on. */
struct rr_relay {
	struct rr_relay *next;
	uint64_t call;      /* that waits for its end, and its socket; */
	int target;         /* -1 = it has been told */
	int client, server; /* -1 = not yet; our ends */
	uint32_t client_events, server_events;
	bool is_connected; /* the server's */
	bool is_touched;   /* it is noted when it is made */
	bool is_over;
	enum stage stage;
	int64_t since_ns; /* of its connect(2), or that the server is asked */
	int64_t moved_ns; /* when bytes have come last, from either end */
	union rr_socket_address address;
	socklen_t size;
	char name[RR_ADDRESS_SIZE]; /* of the address */
	int path_fd;                /* of a unix socket; -1 = of another, or one without a path */
	struct flow outward, inward;
};

/* ---- Calls ---------------------------------------------------------------------------- */

static void answer_call(const struct rr_outside *outside, uint64_t id, int error_number)
{
	struct seccomp_notif_resp answer = { .id = id, .error = -error_number };

	ioctl(outside->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* The kernel does what was asked. */
static void let_go(const struct rr_outside *outside, uint64_t id)
{
	struct seccomp_notif_resp answer = { .id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	ioctl(outside->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Reads the file of a thread's descriptor, as "socket:[4711]"; "" = it has none of that number. */
static void read_descriptor(const char *whose, int fd, char text[PATH_SIZE])
{
	char path[PATH_SIZE];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/fd/%d", whose, fd);
	n = readlink(path, text, PATH_SIZE - 1);
	text[n > 0 ? n : 0] = '\0';
}

/* Our own descriptor of the socket that a thread connects; -1: errno. */
static int take_socket(const struct rr_watched_call *call)
{
	char path[PATH_SIZE], line[PATH_SIZE], whose[PATH_SIZE], its[PATH_SIZE], taken[PATH_SIZE];
	/* A thread may have descriptors of its own, and outlive the first one. */
	int process = (int)syscall(SYS_pidfd_open, call->thread, THREADS_OWN), fd, why;
	const bool is_its = process >= 0;
	pid_t leader = call->thread;
	FILE *file;

	/* Before Linux 6.9 only the first thread of a process is known. */
	if (!is_its && errno == EINVAL) {
		snprintf(path, sizeof(path), "/proc/%d/status", call->thread);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file) &&
		       sscanf(line, "Tgid: %d", &leader) != 1)
			continue;
		if (file)
			fclose(file);
		process = (int)syscall(SYS_pidfd_open, leader, 0);
	}
	fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, call->fd, 0);
	why = errno;
	if (process >= 0)
		close(process);
	if (!is_its && (fd >= 0 || why == EBADF || why == ESRCH)) {
		snprintf(whose, sizeof(whose), "%d", call->thread);
		read_descriptor(whose, call->fd, its);
		read_descriptor("self", fd, taken);
		if (strcmp(its, taken) != 0) {
			if (fd >= 0)
				close(fd);
			fd = -1;
			why = EPERM;
		}
	}
	errno = why;
	return fd;
}

/* ---- Addresses ------------------------------------------------------------------------ */

static bool is_loopback(const union rr_socket_address *address)
{
	const struct in6_addr *at = &address->in6.sin6_addr;
	uint32_t of_v4;

	if (address->any.sa_family == AF_INET)
		of_v4 = address->in.sin_addr.s_addr;
	else if (IN6_IS_ADDR_V4MAPPED(at))
		memcpy(&of_v4, &at->s6_addr[12], sizeof(of_v4));
	else
		return IN6_IS_ADDR_LOOPBACK(at) || IN6_IS_ADDR_UNSPECIFIED(at);
	return of_v4 == htonl(INADDR_ANY) || ntohl(of_v4) >> 24 == 127;
}

/* Is it a port of ours, or no stream to anybody? */
static bool may_pass(const struct rr_outside *outside, const union rr_socket_address *address)
{
	const struct rr_redis_at *at = &outside->page->redis_at;
	const unsigned port = rr_address_port(address);
	const bool is_path = address->any.sa_family == AF_UNIX;
	bool is_ours = !is_path && port != 0 && port == outside->app_port;

	if (!is_path && address->any.sa_family != AF_INET && address->any.sa_family != AF_INET6)
		return true;
	for (unsigned i = 0; i < at->n_places; i++)
		is_ours |= is_path ? strcmp(address->un.sun_path, at->paths[i]) == 0 :
				     port == at->ports[i];
	return is_ours && (is_path || is_loopback(address));
}

/* A path that is relative is the thread's, and one with symbolic links has the name that --redis-at
 * has then. */
static void name_address(const struct rr_outside *outside, struct rr_relay *relay, pid_t thread)
{
	const char *path = relay->address.un.sun_path;
	char link[PATH_SIZE], directory[RR_ADDRESS_SIZE / 2];
	ssize_t n;

	rr_address_write(&outside->page->redis_at, &relay->address, relay->name);
	if (relay->address.any.sa_family != AF_UNIX || !path[0])
		return;
	snprintf(link, sizeof(link), "/proc/%d/cwd", thread);
	n = path[0] == '/' ? 0 : readlink(link, directory, sizeof(directory));
	if (n > 0 && (size_t)n < sizeof(directory))
		snprintf(relay->name, sizeof(relay->name), "%.*s/%s", (int)n, directory, path);
	rr_redis_at_resolve(relay->name);
}

/* A path is one of the program's, which may have another root and directory. *is_ours: it leads to
 * our own socket. Returns an errno, or 0. */
static int open_path(const struct rr_outside *outside, struct rr_relay *relay,
		     const struct rr_watched_call *call, bool *is_ours)
{
	const char *path = relay->address.un.sun_path;
	char whole[PATH_SIZE];
	const struct rr_redis_at *at = &outside->page->redis_at;
	struct stat its, own;

	*is_ours = false;
	if (relay->address.any.sa_family != AF_UNIX || !path[0])
		return 0;
	snprintf(whole, sizeof(whole), "/proc/%d/%s/%.107s", call->thread,
		 path[0] == '/' ? "root" : "cwd", path);
	relay->path_fd = open(whole, O_PATH | O_CLOEXEC);
	if (relay->path_fd < 0)
		return errno;
	for (unsigned i = 0; i < at->n_places; i++)
		*is_ours |= fstat(relay->path_fd, &its) == 0 && stat(at->paths[i], &own) == 0 &&
			    its.st_dev == own.st_dev && its.st_ino == own.st_ino;
	return 0;
}

/* ---- Both ends ------------------------------------------------------------------------ */

/* What is waited for; nothing: what has ended would be ready for ever. */
static void wait_for(const struct rr_outside *outside, struct rr_relay *relay, int fd,
		     uint32_t *events, uint32_t wanted)
{
	struct epoll_event event = { .events = wanted, .data.ptr = relay };

	if (*events == wanted || fd < 0)
		return;
	epoll_ctl(outside->events_fd,
		  !wanted ? EPOLL_CTL_DEL :
		  *events ? EPOLL_CTL_MOD :
			    EPOLL_CTL_ADD,
		  fd, &event);
	*events = wanted;
}

static void close_end(int *fd, uint32_t *events)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	*events = 0;
}

/* Begins to connect. Returns an errno, or 0. */
static int open_server(const struct rr_outside *outside, struct rr_relay *relay)
{
	const int yes = 1;
	struct sockaddr_un by_fd = { .sun_family = AF_UNIX };
	const struct sockaddr *address = &relay->address.any;
	socklen_t size = relay->size;

	relay->is_connected = false;
	relay->server = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (relay->server < 0)
		return errno;
	setsockopt(relay->server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (relay->path_fd >= 0) {
		snprintf(by_fd.sun_path, sizeof(by_fd.sun_path), "/proc/self/fd/%d",
			 relay->path_fd);
		address = (const struct sockaddr *)&by_fd;
		size = sizeof(by_fd);
	}
	if (connect(relay->server, address, size) == 0)
		relay->is_connected = true;
	else if (errno != EINPROGRESS)
		return errno;
	wait_for(outside, relay, relay->server, &relay->server_events, EPOLLIN | EPOLLOUT);
	return 0;
}

/* Has the connection been made? Returns an errno if it was not, EINPROGRESS before that. */
static int end_of_connect(struct rr_relay *relay)
{
	struct pollfd ready = { .fd = relay->server, .events = POLLOUT };
	socklen_t size = sizeof(int);
	int why = 0;

	if (relay->is_connected)
		return 0;
	if (poll(&ready, 1, 0) == 0)
		return EINPROGRESS;
	getsockopt(relay->server, SOL_SOCKET, SO_ERROR, &why, &size);
	relay->is_connected = why == 0;
	return why;
}

enum { NAMES_PORT = 53 };

/* Does the thread ask for the address of a name? */
static bool asks_for_name(const struct rr_program_page *page, pid_t thread)
{
	bool asks = false;

	for (int i = 0; i < RR_LOOKUPS_MAX; i++)
		asks |= atomic_load(&page->lookups[i]) == thread;
	return asks;
}

/* A connection of the program to another server was made. */
static void note_made(struct rr_outside *outside, const struct rr_relay *relay)
{
	struct ucred peer = { .pid = 0 };
	socklen_t size = sizeof(peer);

	if (!outside->notes_servers || !relay->is_touched)
		return;
	if (relay->address.any.sa_family == AF_UNIX && relay->server >= 0 &&
	    getsockopt(relay->server, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0 &&
	    getpgid(peer.pid) == outside->group)
		return;
	rr_touches_add(&outside->servers, RR_TOUCHED_SERVER, relay->name, false, true);
}

/* Connects the program's socket to one of ours, which nobody else can reach first. Returns what
 * connect(2) ends with there: 0 or an errno. */
static int lead_here(struct rr_relay *relay)
{
	const sa_family_t family = relay->address.any.sa_family;
	union rr_socket_address own = { .any.sa_family = family };
	struct pollfd ready = { .events = POLLIN };
	const int yes = 1;
	socklen_t size = sizeof(own.in);
	int why = 0;

	if (family == AF_UNIX) {
		size = sizeof(own.any.sa_family); /* an abstract name that is free */
	} else if (family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&relay->address.in6.sin6_addr)) {
		/* Its socket may be one of IPv6 only. */
		own.in6.sin6_addr = in6addr_loopback;
		size = sizeof(own.in6);
	} else {
		own.in = (struct sockaddr_in){ AF_INET, 0, { htonl(INADDR_LOOPBACK) }, { 0 } };
	}
	ready.fd = socket(own.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ready.fd < 0 || bind(ready.fd, &own.any, size) != 0 || listen(ready.fd, 1) != 0)
		why = errno;
	size = sizeof(own);
	getsockname(ready.fd, &own.any, &size);
	if (family == AF_INET6 && own.any.sa_family == AF_INET) {
		const in_port_t port = own.in.sin_port;

		own.in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port };
		inet_pton(AF_INET6, "::ffff:127.0.0.1", &own.in6.sin6_addr);
		size = sizeof(own.in6);
	}
	if (!why && connect(relay->target, &own.any, size) != 0)
		why = errno;
	if ((!why || why == EINPROGRESS) && poll(&ready, 1, ACCEPT_MS) == 1)
		relay->client = accept4(ready.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	setsockopt(relay->client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (ready.fd >= 0)
		close(ready.fd);
	if (relay->client < 0 && (!why || why == EINPROGRESS))
		why = ECONNREFUSED;
	return why;
}

/* Ends the call that has begun all this, when it is known how. */
static void end_call(struct rr_outside *outside, struct rr_relay *relay)
{
	const bool waits = !(fcntl(relay->target, F_GETFL) & O_NONBLOCK);
	int why = end_of_connect(relay);

	if (why == EINPROGRESS && (waits || rr_clock_ns() - relay->since_ns < GRACE_NS))
		return;
	if (!why || why == EINPROGRESS) {
		note_made(outside, relay);
		why = lead_here(relay);
	}
	relay->is_over = relay->client < 0;
	answer_call(outside, relay->call, why);
	close(relay->target);
	relay->target = -1;
}

/* ---- Bytes ---------------------------------------------------------------------------- */

/* Descriptors that come with bytes of a unix socket. */
union passed {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(PASSED_MAX * sizeof(int))];
};

static void close_passed(struct flow *flow)
{
	while (flow->n_passed > 0)
		close(flow->passed[--flow->n_passed]);
}

static bool can_take(const struct flow *flow)
{
	return !flow->has_ended && flow->n < FLOW_SIZE && flow->n_passed == 0;
}

/* False: the connection has broken. */
static bool read_into(struct flow *flow, int fd)
{
	union passed passed;
	struct iovec part;
	struct msghdr header = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &passed,
				 .msg_controllen = sizeof(passed) };
	const struct cmsghdr *with;
	ssize_t n;

	if (flow->n_sent == flow->n && flow->n == FLOW_SIZE)
		flow->n = flow->n_sent = 0;
	if (fd < 0 || !can_take(flow))
		return true;
	part = (struct iovec){ flow->bytes + flow->n, FLOW_SIZE - flow->n };
	n = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	with = CMSG_FIRSTHDR(&header);
	if (with && with->cmsg_level == SOL_SOCKET && with->cmsg_type == SCM_RIGHTS) {
		flow->n_passed = (with->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(flow->passed, CMSG_DATA(with), flow->n_passed * sizeof(int));
		flow->passed_at = flow->n;
	}
	flow->n += (size_t)n;
	flow->has_ended = n == 0;
	return true;
}

/* So many bytes may go. False: the connection has broken. */
static bool write_from(struct flow *flow, int fd, size_t n_allowed)
{
	while (flow->n_sent < n_allowed) {
		/* What can be sent, with descriptors as they have come. */
		const bool is_before = flow->n_passed > 0 && flow->n_sent < flow->passed_at;
		const size_t end = is_before && flow->passed_at < n_allowed ? flow->passed_at :
									      n_allowed;
		struct iovec part = { flow->bytes + flow->n_sent, end - flow->n_sent };
		struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
		union passed passed = { .header = { .cmsg_level = SOL_SOCKET,
						    .cmsg_type = SCM_RIGHTS,
						    .cmsg_len = CMSG_LEN(flow->n_passed *
									 sizeof(int)) } };
		ssize_t n;

		if (flow->n_passed > 0 && !is_before) {
			memcpy(CMSG_DATA(&passed.header), flow->passed,
			       flow->n_passed * sizeof(int));
			header.msg_control = &passed;
			header.msg_controllen = CMSG_SPACE(flow->n_passed * sizeof(int));
		}
		n = sendmsg(fd, &header, MSG_NOSIGNAL);
		if (n > 0 && header.msg_control)
			close_passed(flow);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		flow->n_sent += (size_t)n;
	}
	if (flow->has_ended && !flow->has_closed && flow->n_sent == flow->n) {
		shutdown(fd, SHUT_WR);
		flow->has_closed = true;
	}
	return true;
}

/* Opens another connection instead: the server has got nothing of which it could do anything. */
static bool open_again(const struct rr_outside *outside, struct rr_relay *relay, enum stage stage)
{
	close_end(&relay->server, &relay->server_events);
	relay->outward.n_sent = 0;
	relay->outward.has_closed = false;
	relay->stage = stage;
	relay->since_ns = rr_clock_ns();
	return open_server(outside, relay) == 0;
}

/* Redis begins an error with "-"; who says nothing is taken for it. False: it is Redis. */
static bool hear_answer(const struct rr_outside *outside, struct rr_relay *relay)
{
	char first = '\0';
	const int why = end_of_connect(relay);
	const ssize_t n = why ? -1 : recv(relay->server, &first, 1, 0);
	const bool is_late = rr_clock_ns() - relay->since_ns >= ANSWER_NS;

	if (n > 0 && first == '-')
		return false;
	if (why == EINPROGRESS || (!why && n < 0 && errno == EAGAIN)) {
		if (!why && relay->server_events & EPOLLOUT)
			send(relay->server, question, strlen(question), MSG_NOSIGNAL);
		wait_for(outside, relay, relay->server, &relay->server_events,
			 EPOLLIN | (why ? EPOLLOUT : 0));
		return !is_late;
	}
	relay->is_over = !open_again(outside, relay, STAGE_FORWARDS);
	return true;
}

/* How many bytes of the program may go to the server now. False: they are for a Redis. */
static bool judge(const struct rr_outside *outside, struct rr_relay *relay, size_t *n_allowed)
{
	struct flow *flow = &relay->outward;
	size_t n_harmless = 0;

	*n_allowed = flow->n;
	/* Only Redis says so, to a line that is no command of it. */
	if (relay->inward.n >= strlen(unknown) &&
	    memcmp(relay->inward.bytes, unknown, strlen(unknown)) == 0)
		return false;
	if (relay->stage == STAGE_FORWARDS)
		return true;
	/* Redis lets clients speak first, unless it has no place for one more. */
	if (relay->stage == STAGE_JUDGES && relay->inward.n > 0 && relay->inward.bytes[0] != '-')
		relay->stage = STAGE_FORWARDS;
	if (relay->stage == STAGE_JUDGES) {
		switch (rr_first_bytes(flow->bytes, flow->n, &n_harmless)) {
		case RR_FIRST_REDIS:
			return false;
		case RR_FIRST_OTHER:
			relay->stage = STAGE_FORWARDS;
			return true;
		case RR_FIRST_INLINE:
			relay->is_over = !open_again(outside, relay, STAGE_ASKS);
			break;
		case RR_FIRST_UNDECIDED:
			*n_allowed = flow->has_ended ? flow->n : n_harmless;
			return true;
		}
	}
	if (relay->stage == STAGE_ASKS && !relay->is_over && !hear_answer(outside, relay))
		return false;
	*n_allowed = relay->stage == STAGE_FORWARDS ? flow->n : 0;
	return true;
}

/* Does what there is to be done for one. False: it leads to Redis. */
static bool forward(const struct rr_outside *outside, struct rr_relay *relay)
{
	struct flow *outward = &relay->outward, *inward = &relay->inward;
	const int before = end_of_connect(relay);
	const size_t n_before = outward->n + inward->n;
	bool is_whole = !before || before == EINPROGRESS;
	size_t n_allowed = 0;
	bool writes;

	is_whole = is_whole && read_into(outward, relay->client);
	if (is_whole && !before && relay->stage != STAGE_ASKS)
		is_whole = read_into(inward, relay->server);
	if (outward->n + inward->n != n_before)
		relay->moved_ns = rr_clock_ns();
	if (!judge(outside, relay, &n_allowed))
		return false;
	if (relay->is_over)
		return true;
	writes = relay->is_connected && relay->stage != STAGE_ASKS;
	if (writes)
		is_whole &= write_from(outward, relay->server, n_allowed);
	is_whole &= write_from(inward, relay->client, inward->n);
	if (outward->n_sent == outward->n && relay->stage == STAGE_FORWARDS)
		outward->n = outward->n_sent = 0;
	if (inward->n_sent == inward->n && relay->stage == STAGE_FORWARDS)
		inward->n = inward->n_sent = 0;
	relay->is_over |= !is_whole || (outward->has_closed && inward->has_closed);
	wait_for(outside, relay, relay->client, &relay->client_events,
		 (can_take(outward) ? EPOLLIN : 0) | (inward->n_sent < inward->n ? EPOLLOUT : 0));
	if (relay->stage != STAGE_ASKS)
		wait_for(outside, relay, relay->server, &relay->server_events,
			 !relay->is_connected ?
				 EPOLLOUT :
				 (can_take(inward) ? EPOLLIN : 0) |
					 (outward->n_sent < n_allowed ? EPOLLOUT : 0));
	return true;
}

/* ---- Beginning and end ------------------------------------------------------------------ */

static void free_relay(struct rr_relay *relay)
{
	const struct linger at_once = { .l_onoff = 1 };

	/* What was not sent to its end is broken off. */
	if (!relay->inward.has_closed && relay->client >= 0)
		setsockopt(relay->client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close_end(&relay->client, &relay->client_events);
	close_end(&relay->server, &relay->server_events);
	close_passed(&relay->outward);
	close_passed(&relay->inward);
	if (relay->target >= 0)
		close(relay->target);
	if (relay->path_fd >= 0)
		close(relay->path_fd);
	free(relay);
}

static void remove_ended(struct rr_outside *outside)
{
	struct rr_relay **at = &outside->relays;

	while (*at) {
		struct rr_relay *relay = *at;

		if (relay->is_over) {
			*at = relay->next;
			free_relay(relay);
		} else {
			at = &relay->next;
		}
	}
}

/* Is the socket of a call a stream that is not connected yet? */
static bool is_new_stream(int target)
{
	union rr_socket_address peer;
	socklen_t size = sizeof(int);
	int type = 0;

	getsockopt(target, SOL_SOCKET, SO_TYPE, &type, &size);
	size = sizeof(peer);
	return type == SOCK_STREAM && getpeername(target, &peer.any, &size) != 0;
}

static bool is_datagram(int target)
{
	socklen_t size = sizeof(int);
	int type = 0;

	return getsockopt(target, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type != SOCK_STREAM;
}

/* Stands in --redis-at before the name of an abstract unix socket. */
static const char *unix_prefix(const char *address)
{
	return address[0] == '@' ? "unix:" : "";
}

/* Takes note of an address from which a connection is led to us. False: it is a second Redis. */
static bool note_led(struct rr_outside *outside, const char *address)
{
	char other[RR_ADDRESS_SIZE];

	if (rr_redis_places_take(outside->places, address, other))
		return true;
	if (outside->places->named.n_places > 1)
		snprintf(outside->why, sizeof(outside->why),
			 "connects to Redis at %s, which no --redis-at names: add --redis-at %s%s",
			 address, unix_prefix(address), address);
	else
		snprintf(outside->why, sizeof(outside->why),
			 "connects to a second Redis, at %s and %s: to keep their data apart, "
			 "add --redis-at %s%s --redis-at %s%s",
			 address, other, unix_prefix(other), other, unix_prefix(address), address);
	return false;
}

/*
 * What a program receives from others than us and itself may differ the next time. Not noted
 * are a path at which there is nothing, but as a file that was looked for; and what finds the way to
 * an address and sends nothing, a datagram's connect(2) to port 0 (getaddrinfo(3)).
 */
static void note_other(struct rr_outside *outside, struct rr_relay *relay, pid_t thread)
{
	const union rr_socket_address *address = &relay->address;
	const char *path = address->un.sun_path;
	const sa_family_t family = address->any.sa_family;
	const unsigned port = rr_address_port(address);

	if ((family != AF_UNIX && port == 0) ||
	    (family != AF_UNIX && is_loopback(address) && rr_peer_listens(port, outside->group)))
		return;
	relay->is_touched = port != NAMES_PORT && !asks_for_name(outside->page, thread);
	if (outside->other[0])
		return;
	if (family == AF_UNIX && path[0] == '/' && access(path, F_OK) != 0)
		rr_program_page_note(outside->page, RR_NOTED_SEEN, path, strnlen(path, PATH_SIZE));
	else
		memcpy(outside->other, relay->name, sizeof(relay->name));
}

/* Of a call: lets it go, leads it to our server, or begins a relay. */
static void take_call(struct rr_outside *outside, const struct rr_watched_call *call)
{
	struct rr_relay *relay = rr_calloc(1, sizeof(*relay));
	const struct rr_redis_at *at = &outside->page->redis_at;
	enum rr_leads leads = RR_LEADS_ELSEWHERE;
	bool is_ours = false, is_read;
	int why = 0;

	relay->call = call->id;
	relay->target = relay->client = relay->server = relay->path_fd = -1;
	relay->since_ns = rr_clock_ns();
	/* That of a unix socket may be without a NUL, which is there then. */
	relay->size = call->size < sizeof(relay->address.un) ? call->size :
							       sizeof(relay->address.un);
	is_read = rr_watch_read(call->thread, call->at, &relay->address, relay->size);
	/* Counted before it is let go. */
	outside->n_called_app += !is_read || rr_address_port(&relay->address) == outside->app_port;
	if (!is_read)
		why = errno;
	if (is_read && !may_pass(outside, &relay->address)) {
		name_address(outside, relay, call->thread);
		leads = rr_redis_at_leads(at, &relay->address, relay->name);
		if (leads == RR_LEADS_ELSEWHERE)
			note_other(outside, relay, call->thread);
		relay->target = take_socket(call);
		why = relay->target < 0 ? errno : 0;
	}
	/* What we cannot look at is let go, but for an address where a Redis is; a bad address or
	 * descriptor is the kernel's to refuse, and a thread may have ended. */
	if (why && why != EBADF && why != EIO && why != ESRCH && why != ENOENT) {
		outside->unwatched = why;
		if (leads == RR_LEADS_TO_REDIS) {
			snprintf(outside->why, sizeof(outside->why),
				 "connects to Redis at %s, which cannot be led to redrace's here "
				 "(%s): give the container that right (docker run --cap-add "
				 "SYS_PTRACE), or let it connect to REDIS_URL",
				 relay->name, strerror(why));
			free_relay(relay);
			return;
		}
	}
	if (relay->target < 0 || !is_new_stream(relay->target) ||
	    ioctl(outside->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) != 0) {
		if (relay->target >= 0 && is_datagram(relay->target))
			note_made(outside, relay);
		let_go(outside, call->id);
		free_relay(relay);
		return;
	}
	if (leads == RR_LEADS_NOWHERE) {
		if (!outside->places->lost[0])
			memcpy(outside->places->lost, relay->name, sizeof(relay->name));
		answer_call(outside, call->id, EHOSTUNREACH);
		free_relay(relay);
		return;
	}
	if (leads == RR_LEADS_TO_REDIS) {
		/* The server is there, and so it is made as soon as it is begun. */
		if (note_led(outside, relay->name)) {
			why = rr_redis_at_lead(at, relay->target, relay->name,
					       relay->address.any.sa_family, connect) == 0 ?
				      0 :
				      errno;
			answer_call(outside, call->id, why);
		}
		free_relay(relay);
		return;
	}
	if (!outside->places->other[0] && rr_address_port(&relay->address) != 0)
		memcpy(outside->places->other, relay->name, sizeof(relay->name));
	why = open_path(outside, relay, call, &is_ours);
	if (is_ours) {
		let_go(outside, call->id);
		free_relay(relay);
		return;
	}
	if (!why)
		why = open_server(outside, relay);
	if (why) {
		answer_call(outside, call->id, why);
		free_relay(relay);
		return;
	}
	outside->relays_app |= rr_address_port(&relay->address) == outside->app_port;
	relay->next = outside->relays;
	outside->relays = relay;
}

bool rr_outside_take_led(struct rr_outside *outside)
{
	const char *address = "";

	for (int i = 0; i < RR_NOTES_MAX && address && !outside->why[0]; i++) {
		address = rr_note_text(&outside->page->redis_at.led[i]);
		if (address)
			note_led(outside, address);
	}
	return !outside->why[0];
}

bool rr_outside_take(struct rr_outside *outside)
{
	struct epoll_event events[EVENTS_MAX];
	const int n = epoll_wait(outside->events_fd, events, EVENTS_MAX, 0);
	struct rr_watched_call call;

	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr)
			continue;
		if (events[i].events & EPOLLIN) {
			if (read(outside->calls_fd, &call, sizeof(call)) == (ssize_t)sizeof(call))
				take_call(outside, &call);
		} else if (events[i].events & EPOLLHUP) {
			/* Nobody is left to ask about. */
			epoll_ctl(outside->events_fd, EPOLL_CTL_DEL, outside->calls_fd, NULL);
		}
	}
	if (outside->why[0])
		return false;
	for (struct rr_relay *relay = outside->relays; relay; relay = relay->next) {
		if (relay->target >= 0)
			end_call(outside, relay);
		if (relay->client >= 0 && !relay->is_over && !forward(outside, relay)) {
			snprintf(outside->why, sizeof(outside->why),
				 "connects to Redis at %s, which is not redrace's, and its command "
				 "was held back: to check it there, add --redis-at %s%s",
				 relay->name, unix_prefix(relay->name), relay->name);
			return false;
		}
	}
	remove_ended(outside);
	return true;
}

unsigned rr_outside_calls_app(const struct rr_outside *outside)
{
	return outside->listener < 0 || outside->relays_app ? UINT_MAX : outside->n_called_app;
}

bool rr_outside_is_awaited(const struct rr_outside *outside)
{
	const int64_t now_ns = rr_clock_ns();
	bool is = false;

	for (const struct rr_relay *relay = outside->relays; relay; relay = relay->next)
		is |= relay->target >= 0 || relay->stage == STAGE_ASKS ||
		      now_ns - relay->moved_ns < AWAITED_NS;
	return is;
}

bool rr_outside_holds_bytes(const struct rr_outside *outside)
{
	bool holds = false;

	for (const struct rr_relay *relay = outside->relays; relay; relay = relay->next)
		holds |= relay->outward.n_sent < relay->outward.n;
	return holds;
}

bool rr_outside_open(struct rr_outside *outside, int calls_fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	outside->events_fd = epoll_create1(EPOLL_CLOEXEC);
	outside->calls_fd = calls_fd;
	return outside->events_fd >= 0 &&
	       (calls_fd < 0 ||
		epoll_ctl(outside->events_fd, EPOLL_CTL_ADD, calls_fd, &event) == 0);
}

void rr_outside_close(struct rr_outside *outside)
{
	for (struct rr_relay *relay = outside->relays; relay; relay = relay->next)
		relay->is_over = true;
	remove_ended(outside);
	if (outside->events_fd >= 0)
		close(outside->events_fd);
	outside->events_fd = -1;
}
