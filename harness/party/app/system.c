/* SPDX-License-Identifier: MIT */
#include "app.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "party/sockets.h"

enum { HOLDERS_MAX = 64 };

char *app_fill_in(const char *command, unsigned port)
{
	static const char name[] = "{app}";
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	while (*command) {
		if (strncmp(command, name, strlen(name)) == 0) {
			fprintf(file, "http://127.0.0.1:%u", port);
			command += strlen(name);
		} else {
			fputc(*command++, file);
		}
	}
	fclose(file);
	return text;
}

int app_run(const char *command, unsigned port, int output)
{
	char variable[12];
	int status = 0;
	pid_t pid;

	snprintf(variable, sizeof(variable), "%u", port);
	pid = fork();
	if (pid == 0) {
		setenv("PORT", variable, 1);
		dup2(output, STDOUT_FILENO);
		dup2(output, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- Ports ------------------------------------------------------------------------ */

bool app_listens(unsigned port)
{
	struct rr_sockets sockets = { .states = RR_SOCKETS_LISTENING, .port = port };
	struct rr_socket socket;
	const bool listens = rr_sockets_next(&sockets, &socket);

	rr_sockets_end(&sockets);
	return listens;
}

struct holders {
	size_t n;
	pid_t pids[HOLDERS_MAX];
};

static bool is_holder(const struct holders *holders, pid_t pid)
{
	bool is = false;

	for (size_t i = 0; i < holders->n; i++)
		is |= holders->pids[i] == pid;
	return is;
}

/* Adds the processes of our group that have a socket open. */
static void add_holders(struct holders *holders, unsigned long inode)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		const pid_t pid = atoi(entry->d_name);

		if (pid > 0 && getpgid(pid) == getpgrp() && holders->n < HOLDERS_MAX &&
		    !is_holder(holders, pid) && rr_socket_is_of(inode, pid))
			holders->pids[holders->n++] = pid;
	}
	if (directory)
		closedir(directory);
}

static bool has_holder(unsigned long inode)
{
	struct holders holders = { .n = 0 };

	add_holders(&holders, inode);
	return holders.n > 0;
}

/* Whoever has given the socket to a child leaves it to the child. */
size_t app_count_workers(unsigned port)
{
	struct rr_sockets sockets = { .states = RR_SOCKETS_LISTENING, .port = port };
	struct holders holders = { .n = 0 }, parents = { .n = 0 };
	struct rr_socket socket;
	size_t n = 0;

	while (rr_sockets_next(&sockets, &socket))
		add_holders(&holders, socket.inode);
	for (size_t i = 0; i < holders.n; i++)
		parents.pids[parents.n++] = rr_process_parent(holders.pids[i]);
	for (size_t i = 0; i < holders.n; i++)
		n += !is_holder(&parents, holders.pids[i]);
	return n;
}

unsigned app_other_port(unsigned port)
{
	struct rr_sockets sockets = { .states = RR_SOCKETS_LISTENING };
	struct rr_socket socket;
	unsigned other = 0;

	while (rr_sockets_next(&sockets, &socket)) {
		if (!other && socket.local != port && has_holder(socket.inode))
			other = socket.local;
	}
	return other;
}

/* ---- Marks ------------------------------------------------------------------------ */

int app_connect(void)
{
	const char *port = getenv("REDIS_PORT");
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)atoi(port ? port : "")),
	};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

void app_send_mark(int connection, const char *mark)
{
	dprintf(connection, "*2\r\n$4\r\nECHO\r\n$%zu\r\n%s\r\n", strlen(mark), mark);
}

/* The first character of a line; '\0': the connection is closed. */
static char skip_line(int connection)
{
	char first = '\0', byte = '\0';

	while (byte != '\n' && read(connection, &byte, 1) == 1)
		first = first ? first : byte;
	return byte == '\n' ? first : '\0';
}

/* A mark's reply is the mark, of two lines; where redrace tries which replies matter, it is any. */
bool app_await_reply(int connection)
{
	const char first = skip_line(connection);

	return first == '$' ? skip_line(connection) != '\0' : first != '\0';
}

/* ---- The end ---------------------------------------------------------------------- */

static FILE *open_children(void)
{
	char path[60];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	return fopen(path, "re");
}

size_t app_count_children(void)
{
	FILE *file = open_children();
	size_t n = 0;
	int child;

	while (file && fscanf(file, "%d", &child) == 1)
		n++;
	if (file)
		fclose(file);
	return n;
}

void app_end_children(void)
{
	do {
		FILE *file = open_children();
		int child;

		while (file && fscanf(file, "%d", &child) == 1)
			kill(child, SIGKILL);
		if (file)
			fclose(file);
	} while (wait(NULL) > 0 || errno == EINTR);
}
