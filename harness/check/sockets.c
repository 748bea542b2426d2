/* SPDX-License-Identifier: MIT */
#include "sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Ports below those that the kernel gives to whoever connects. */
enum { PATH_SIZE = 80, LINE_SIZE = 300, PORT_FIRST = 20000, PORTS = 12000, TRIES = 200 };

static bool read_line(const char *line, struct rr_socket *socket)
{
	static const char format[] =
		" %*d: %*[0-9A-F]:%x %*[0-9A-F]:%x %x %lx:%lx %*x:%*x %*x %u %*u %lu";

	return sscanf(line, format, &socket->local, &socket->remote, &socket->state, &socket->sent,
		      &socket->received, &socket->user, &socket->inode) == 7;
}

bool rr_sockets_next(struct rr_sockets *sockets, struct rr_socket *socket)
{
	static const char *const paths[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	char line[LINE_SIZE];

	for (;;) {
		while (sockets->file && fgets(line, sizeof(line), sockets->file)) {
			if (read_line(line, socket))
				return true;
		}
		rr_sockets_end(sockets);
		if (sockets->n_files == 2)
			return false;
		sockets->file = fopen(paths[sockets->n_files++], "re");
	}
}

void rr_sockets_end(struct rr_sockets *sockets)
{
	if (sockets->file)
		fclose(sockets->file);
	sockets->file = NULL;
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

/* ---- Ports ------------------------------------------------------------------------ */

static bool is_free(unsigned port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)port),
	};
	const int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	is = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
	if (fd >= 0)
		close(fd);
	return is;
}

unsigned rr_sockets_free_ports(size_t n)
{
	struct timespec now;
	unsigned seed;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seed = (unsigned)now.tv_nsec ^ (unsigned)getpid() << 16;

	for (int i = 0; i < TRIES; i++) {
		const unsigned first = PORT_FIRST + (unsigned)(rand_r(&seed) % PORTS);
		size_t k = 0;

		while (k < n && is_free(first + (unsigned)k))
			k++;
		if (k == n)
			return first;
	}
	return 0;
}

struct rr_queues rr_sockets_queues(unsigned port, size_t n)
{
	struct rr_sockets sockets = { NULL, 0 };
	struct rr_queues queues = { 0, 0 };
	struct rr_socket it;

	while (rr_sockets_next(&sockets, &it)) {
		if (it.local - port >= n && it.remote - port >= n)
			continue;
		queues.sent += it.sent;
		queues.received += it.received;
	}
	return queues;
}
