/* SPDX-License-Identifier: MIT */
/* elsewhere PORT [ends|apart]: INCR of a counter at a port of 127.0.0.1, by a thread that is not the
 * first; after the first one has ended, or with descriptors of its own. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_t first;
static const char *way = "";

static void *increment(void *port)
{
	static const char command[] = "*2\r\n$4\r\nINCR\r\n$1\r\nc\r\n";
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((unsigned short)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	char reply[64];
	int fd;

	if (strcmp(way, "ends") == 0 && pthread_join(first, NULL) != 0)
		exit(1);
	/* A container may forbid it. */
	if (strcmp(way, "apart") == 0 && unshare(CLONE_FILES) != 0)
		perror("unshare");
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    write(fd, command, strlen(command)) < 0 || read(fd, reply, sizeof(reply)) <= 0) {
		perror("connection");
		exit(1);
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	first = pthread_self();
	if (argc > 2)
		way = argv[2];
	if (argc < 2 || pthread_create(&thread, NULL, increment, argv[1]) != 0)
		return 64;
	if (strcmp(way, "ends") == 0)
		pthread_exit(NULL);
	pthread_join(thread, NULL);
	return 0;
}
