/* SPDX-License-Identifier: MIT */
/* elsewhere PORT [WAY [ADDRESS]]: INCR of a counter at a port of 127.0.0.1, or of another address, by a
 * thread that is not the first. With `ends` the first one has ended before that, with `apart` the thread
 * has descriptors of its own. */
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
static const char *way = "", *host = "127.0.0.1";

static void *increment(void *port)
{
	static const char command[] = "*2\r\n$4\r\nINCR\r\n$1\r\nc\r\n";
	/* A whole one is passed, as many programs do. */
	struct sockaddr_storage address = { .ss_family = AF_INET };
	struct sockaddr_in *in = (struct sockaddr_in *)&address;
	char reply[64];
	int fd;

	if (strcmp(way, "ends") == 0 && pthread_join(first, NULL) != 0)
		exit(1);
	/* A container may forbid it. */
	if (strcmp(way, "apart") == 0 && unshare(CLONE_FILES) != 0)
		perror("unshare");
	in->sin_port = htons((unsigned short)atoi(port));
	inet_pton(AF_INET, host, &in->sin_addr);
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
	if (argc > 3)
		host = argv[3];
	if (argc < 2 || pthread_create(&thread, NULL, increment, argv[1]) != 0)
		return 64;
	if (strcmp(way, "ends") == 0)
		pthread_exit(NULL);
	pthread_join(thread, NULL);
	return 0;
}
