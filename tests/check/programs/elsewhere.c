/* SPDX-License-Identifier: MIT */
/* INCR of a counter at a port of 127.0.0.1, by a thread that is not the first. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void *increment(void *port)
{
	static const char command[] = "*2\r\n$4\r\nINCR\r\n$1\r\nc\r\n";
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((unsigned short)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	char reply[64];

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

	if (argc < 2 || pthread_create(&thread, NULL, increment, argv[1]) != 0)
		return 64;
	pthread_join(thread, NULL);
	return 0;
}
