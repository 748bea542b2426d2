/* SPDX-License-Identifier: MIT */
#include "sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"

/* Ports below those that the kernel gives to whoever connects. */
enum { PATH_SIZE = 80, LINE_SIZE = 300, PORT_FIRST = 20000, PORTS = 12000, TRIES = 200 };

/* States, by the kernel's numbers: as netinet/tcp.h has them, which no file can include beside
 * linux/tcp.h. */
enum { SYN_SENT = 2, SYN_RECV = 3, FIN_WAIT1 = 4, LAST_ACK = 9, CLOSING = 11 };

/* ---- As the kernel lists them ------------------------------------------------------ */

/* The old request, and which sockets of all. */
struct list_request {
	struct inet_diag_req sockets;
	struct rtattr attribute;
	struct inet_diag_bc_op filter[5];
};

static int open_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

static bool ask(int fd, int type, int flags, const void *request, size_t size)
{
	struct {
		struct nlmsghdr header;
		char request[sizeof(struct list_request)]; /* the largest one */
	} message = { .header = { .nlmsg_len = (uint32_t)NLMSG_LENGTH(size),
				  .nlmsg_type = (uint16_t)type,
				  .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) } };

	memcpy(message.request, request, size);
	return fd >= 0 && send(fd, &message, message.header.nlmsg_len, 0) > 0;
}

/* Of both families: the request of old kernels, which new ones have kept for that. A machine may have
 * thousands of sockets, and an app is looked at after each command, so the kernel picks those of a port: a
 * filter jumps forward by bytes, and takes a socket where that leads to its end, not behind it. */
static void begin_list(struct rr_sockets *sockets)
{
	const struct list_request request = {
		.sockets = { .idiag_family = AF_INET,
			     .idiag_ext = 1 << (INET_DIAG_INFO - 1),
			     .idiag_states = sockets->states },
		.attribute = { .rta_len = RTA_LENGTH(sizeof(request.filter)),
			       .rta_type = INET_DIAG_REQ_BYTECODE },
		.filter = { { .code = INET_DIAG_BC_S_EQ, .yes = 8, .no = 12 },
			    { .no = (uint16_t)sockets->port },
			    { .code = INET_DIAG_BC_JMP, .yes = 4, .no = 12 },
			    { .code = INET_DIAG_BC_D_EQ, .yes = 8, .no = 12 },
			    { .no = (uint16_t)sockets->port } },
	};
	const size_t size = sockets->port ? sizeof(request) : sizeof(request.sockets);

	sockets->is_begun = true;
	sockets->fd = open_netlink();
	if (ask(sockets->fd, TCPDIAG_GETSOCK, NLM_F_DUMP, &request, size))
		return;
	if (sockets->fd >= 0)
		close(sockets->fd);
	sockets->fd = -1;
}

static void read_message(struct rr_socket *socket, struct nlmsghdr *header)
{
	const struct inet_diag_msg *message = NLMSG_DATA(header);

	*socket = (struct rr_socket){
		.local = ntohs(message->id.idiag_sport),
		.remote = ntohs(message->id.idiag_dport),
		.state = message->idiag_state,
		.sent = message->idiag_state == RR_SOCKET_LISTENS ? 0 : message->idiag_wqueue,
		.received = message->idiag_rqueue,
		.user = message->idiag_uid,
		.inode = message->idiag_inode,
		.family = message->idiag_family,
		.id = message->id,
	};
	const struct rtattr *attribute = (const struct rtattr *)(message + 1);
	size_t length = header->nlmsg_len - NLMSG_LENGTH(sizeof(*message));
	struct tcp_info info = { 0 };

	for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
		if (attribute->rta_type != INET_DIAG_INFO ||
		    RTA_PAYLOAD(attribute) < offsetof(struct tcp_info, tcpi_dsack_dups))
			continue;
		memcpy(&info, RTA_DATA(attribute), offsetof(struct tcp_info, tcpi_dsack_dups));
		socket->has_counts = true;
		socket->out = info.tcpi_bytes_sent - info.tcpi_bytes_retrans;
		socket->in = info.tcpi_bytes_received;
		socket->holds_back = info.tcpi_notsent_bytes > 0;
	}
}

/* The next message; NULL = an error. */
static struct nlmsghdr *next_message(struct rr_sockets *sockets)
{
	struct nlmsghdr *header;
	size_t left;

	if (sockets->at >= sockets->n) {
		const ssize_t n = recv(sockets->fd, sockets->bytes, sizeof(sockets->bytes), 0);

		sockets->n = n > 0 ? (size_t)n : 0;
		sockets->at = 0;
	}
	header = (struct nlmsghdr *)(void *)(sockets->bytes + sockets->at);
	left = sockets->n - sockets->at;
	if (!NLMSG_OK(header, left) || header->nlmsg_type == NLMSG_ERROR)
		return NULL;
	sockets->at += NLMSG_ALIGN(header->nlmsg_len);
	return header;
}

/* ---- Either: the kernel, or as proc(5) tells ----------------------------------------- */

bool rr_sockets_next(struct rr_sockets *sockets, struct rr_socket *socket)
{
	if (!sockets->is_begun)
		begin_list(sockets);
	if (sockets->fd >= 0) {
		struct nlmsghdr *header = next_message(sockets);

		if (header && header->nlmsg_type != NLMSG_DONE) {
			read_message(socket, header);
			return true;
		}
		rr_sockets_end(sockets);
		if (header)
			return false;
		/* There is no list, and proc(5) has to do. */
	}
	static const char *const paths[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	char line[LINE_SIZE];

	for (;;) {
		while (sockets->file && fgets(line, sizeof(line), sockets->file)) {
			static const char format[] =
				" %*d: %*[0-9A-F]:%x %*[0-9A-F]:%x %x %lx:%lx %*x:%*x %*x %u %*u %lu";

			*socket = (struct rr_socket){ .local = 0 };
			if (sscanf(line, format, &socket->local, &socket->remote, &socket->state,
				   &socket->sent, &socket->received, &socket->user,
				   &socket->inode) == 7 &&
			    sockets->states & 1U << socket->state &&
			    (!sockets->port || socket->local == sockets->port ||
			     socket->remote == sockets->port))
				return true;
		}
		if (sockets->file)
			fclose(sockets->file);
		sockets->file = NULL;
		if (sockets->n_files == 2)
			return false;
		sockets->file = fopen(paths[sockets->n_files++], "re");
	}
}

void rr_sockets_end(struct rr_sockets *sockets)
{
	if (sockets->is_begun && sockets->fd >= 0)
		close(sockets->fd);
	sockets->fd = -1;
	if (sockets->file)
		fclose(sockets->file);
	sockets->file = NULL;
}

/* By what a socket is looked up: nothing is listed. */
static bool look_up(int fd, const struct inet_diag_req_v2 *request, struct rr_socket *found)
{
	struct rr_sockets sockets = { .fd = fd };
	struct nlmsghdr *header = NULL;

	if (ask(fd, SOCK_DIAG_BY_FAMILY, 0, request, sizeof(*request)))
		header = next_message(&sockets);
	if (header)
		read_message(found, header);
	return header != NULL;
}

bool rr_sockets_find(unsigned local, unsigned remote, struct rr_socket *found)
{
	const struct inet_diag_req_v2 request = {
		.sdiag_family = AF_INET,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = RR_SOCKETS_CONNECTED,
		.id = { .idiag_sport = htons((uint16_t)local),
			.idiag_dport = htons((uint16_t)remote),
			.idiag_src = { htonl(INADDR_LOOPBACK) },
			.idiag_dst = { htonl(INADDR_LOOPBACK) },
			.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } },
	};
	struct rr_sockets sockets = { .states = RR_SOCKETS_CONNECTED };
	const int fd = open_netlink();
	bool is_found = look_up(fd, &request, found);

	if (fd >= 0)
		close(fd);
	while (!is_found && rr_sockets_next(&sockets, found))
		is_found = found->local == local && found->remote == remote;
	rr_sockets_end(&sockets);
	return is_found;
}

/* Reads again what the kernel has of a socket that it listed, which takes a hundredth of a list. `fd`: a
 * netlink socket that is kept from call to call; -1 = none yet. False: it is gone, or cannot be read. */
static bool read_again(int *fd, struct rr_socket *found)
{
	const struct inet_diag_req_v2 request = {
		.sdiag_family = found->family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = 1 << (INET_DIAG_INFO - 1),
		.idiag_states = RR_SOCKETS_CONNECTED,
		.id = found->id,
	};

	if (*fd < 0)
		*fd = open_netlink();
	/* The kernel leaves the states out of such a request. */
	return look_up(*fd, &request, found) && RR_SOCKETS_CONNECTED >> found->state & 1;
}

bool rr_socket_is_of(unsigned long inode, pid_t pid)
{
	char path[PATH_SIZE], expected[40], target[40];
	bool found = false;
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	snprintf(expected, sizeof(expected), "socket:[%lu]", inode);
	directory = opendir(path);
	while (directory && !found && (entry = readdir(directory))) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%.20s", pid, entry->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		found = strcmp(target, expected) == 0;
	}
	if (directory)
		closedir(directory);
	return found;
}

pid_t rr_process_parent(pid_t pid)
{
	char path[PATH_SIZE], line[LINE_SIZE] = "";
	const char *name_end;
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file) && (name_end = strrchr(line, ')')))
		sscanf(name_end, ") %*c %d", &parent);
	if (file)
		fclose(file);
	return parent;
}

/* ---- Ports ------------------------------------------------------------------------ */

unsigned rr_sockets_free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int yes = 1;
	struct timespec now;
	unsigned seed;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seed = (unsigned)now.tv_nsec ^ (unsigned)getpid() << 16;

	for (int i = 0; i < TRIES; i++) {
		const unsigned port = PORT_FIRST + (unsigned)(rand_r(&seed) % PORTS);
		const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		bool is_free;

		address.sin_port = htons((uint16_t)port);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		is_free = fd >= 0 &&
			  bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
		if (fd >= 0)
			close(fd);
		if (is_free)
			return port;
	}
	return 0;
}

/* ---- What is under way to and from an app ------------------------------------------- */

/* NULL = it is gone. */
static const struct rr_socket *other_end(const struct rr_queue_ends *ends,
					 const struct rr_socket *one)
{
	for (size_t i = 0; i < ends->n; i++) {
		const struct rr_socket *it = &ends->list[i];

		if (it->local == one->remote && it->remote == one->local)
			return it;
	}
	return NULL;
}

/* An end that the other has heard of has one byte more there: its last word, which counts. */
static unsigned long sent_by(const struct rr_queue_ends *ends, const struct rr_socket *socket)
{
	const struct rr_socket *other = other_end(ends, socket);
	const bool has_closed = socket->state == FIN_WAIT1 || socket->state == CLOSING ||
				socket->state == LAST_ACK;

	if (socket->state == RR_SOCKET_LISTENS || socket->sent == 0)
		return 0;
	if (!other || !socket->has_counts || !other->has_counts || socket->holds_back)
		return socket->sent;
	return other->in >= socket->out + has_closed ? 0 : socket->sent;
}

static void list_ends(unsigned port, unsigned states, struct rr_queue_ends *ends)
{
	struct rr_sockets sockets = { .states = states, .port = port };
	struct rr_socket it;

	while (rr_sockets_next(&sockets, &it)) {
		rr_array_grow(&ends->list, ends->n, sizeof(it));
		ends->list[ends->n++] = it;
	}
}

struct rr_queues rr_queues_look(unsigned port, struct rr_queue_ends *ends, unsigned n_called)
{
	struct rr_queues queues = { 0, 0 };

	if (!ends->is_open)
		ends->fd = -1;
	ends->is_open = true;
	if (ends->are_all && n_called == ends->n_called) {
		/*
		 * What listens is listed in any case: the kernel has a table of its own for it,
		 * which is small.
		 */
		size_t n = 0;

		for (size_t i = 0; i < ends->n; i++) {
			if (ends->list[i].state != RR_SOCKET_LISTENS &&
			    read_again(&ends->fd, &ends->list[i]))
				ends->list[n++] = ends->list[i];
		}
		ends->n = n;
		list_ends(port, RR_SOCKETS_LISTENING, ends);
	} else {
		ends->n = 0;
		list_ends(port, RR_SOCKETS_CONNECTED | RR_SOCKETS_LISTENING, ends);
	}
	ends->n_called = n_called;
	ends->are_all = n_called != UINT_MAX;
	for (size_t i = 0; i < ends->n; i++) {
		const struct rr_socket *it = &ends->list[i];

		queues.sent += sent_by(ends, it);
		queues.received += it->received;
		/* Between connect(2) and accept(2) an end is still to come. */
		ends->are_all &=
			it->family != 0 &&
			(it->state == RR_SOCKET_LISTENS ||
			 (it->state != SYN_SENT && it->state != SYN_RECV && other_end(ends, it)));
	}
	return queues;
}

void rr_queue_ends_release(struct rr_queue_ends *ends)
{
	free(ends->list);
	if (ends->is_open && ends->fd >= 0)
		close(ends->fd);
	*ends = (struct rr_queue_ends){ 0 };
}
