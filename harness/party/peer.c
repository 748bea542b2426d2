/* SPDX-License-Identifier: MIT */
#include "outside.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "process_tree.h"
#include "sockets.h"

enum { PATH_SIZE = 300, PARENTS_MAX = 64 };

/* ---- Whose socket it is ----------------------------------------------------------- */

struct peer {
	pid_t pid; /* 0 = it is not to be found, or is of the group */
	uid_t user;
};

/* Its own, or of a descendant in the group: far fewer than the machine has processes. */
static bool is_of_family(unsigned long inode, pid_t pid, pid_t group)
{
	bool found = rr_socket_is_of(inode, pid);
	char path[PATH_SIZE];
	FILE *file;
	int child;

	if (found)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "re");
	while (file && !found && fscanf(file, "%d", &child) == 1)
		found = getpgid(child) == group && is_of_family(inode, child, group);
	if (file)
		fclose(file);
	return found;
}

/* Of the group, or of all others; 0 = none has it. */
static pid_t find_process(unsigned long inode, pid_t group, bool is_of_group)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (directory && !found && (entry = readdir(directory))) {
		const pid_t pid = atoi(entry->d_name);

		if (pid > 0 && (getpgid(pid) == group) == is_of_group &&
		    rr_socket_is_of(inode, pid))
			found = pid;
	}
	if (directory)
		closedir(directory);
	return found;
}

static struct peer find_peer(int fd, pid_t group, unsigned port)
{
	struct peer peer = { .user = geteuid() };
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	struct ucred credentials;
	struct rr_socket socket;

	if (getpeername(fd, (struct sockaddr *)&address, &size) != 0)
		return peer;
	if (address.sin_family != AF_INET) {
		size = sizeof(credentials);
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0)
			peer = (struct peer){ credentials.pid, credentials.uid };
		return peer;
	}
	if (!rr_sockets_find(ntohs(address.sin_port), port, &socket) || !socket.inode)
		return peer;
	peer.user = socket.user;
	if (!is_of_family(socket.inode, group, group) && !find_process(socket.inode, group, true))
		peer.pid = find_process(socket.inode, group, false);
	return peer;
}

bool rr_peer_is_stranger(int fd, pid_t group, pid_t guardian, unsigned port, unsigned own,
			 struct rr_strangers *strangers)
{
	const struct peer peer = find_peer(fd, group, port);
	char path[PATH_SIZE], name[40] = "";
	unsigned its;
	FILE *file;

	/* We have led it here (redis_at.h). */
	if (peer.pid == getpid())
		return false;
	/* Of other users only root finds the processes. */
	if (!peer.pid || getpgid(peer.pid) < 0) {
		if (geteuid() == 0 || peer.user == geteuid())
			return false;
	} else if ((its = rr_process_tree_port(peer.pid)) == own) {
		return false;
	} else if (its == 0) {
		pid_t pid = peer.pid;

		/* A daemon's parent is the guardian. */
		for (int i = 0; i < PARENTS_MAX && pid > 1; i++) {
			if (pid == guardian || getpgid(pid) == group)
				return false;
			pid = rr_process_parent(pid);
		}
	}
	if (strangers->n++ <= 0) {
		snprintf(path, sizeof(path), "/proc/%d/comm", peer.pid);
		file = fopen(path, "re");
		if (file && fgets(name, sizeof(name), file))
			name[strcspn(name, "\n")] = '\0';
		if (file)
			fclose(file);
		snprintf(strangers->first, sizeof(strangers->first), "process %d (%s) of user %u",
			 peer.pid, name, peer.user);
	}
	return true;
}

bool rr_peer_listens(unsigned port, pid_t group)
{
	struct rr_sockets sockets = { .states = RR_SOCKETS_LISTENING, .port = port };
	struct rr_socket socket;
	bool listens = false;

	while (!listens && rr_sockets_next(&sockets, &socket))
		listens = socket.inode && (is_of_family(socket.inode, group, group) ||
					   find_process(socket.inode, group, true));
	rr_sockets_end(&sockets);
	return listens;
}
