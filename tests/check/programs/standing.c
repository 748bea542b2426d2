/* SPDX-License-Identifier: MIT */
/* Asks for PONG, waits for it for half a second in the way that its argument names, and adds 1 to
 * a counter; without PONG it would set something else. Between its two commands it takes
 * longer than that really: those that are started ahead stand meanwhile. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 500, TAKES_MS = 650, READS = 300 };

static long ms_by(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int polls(int fd)
{
	struct pollfd ready = { fd, POLLIN, 0 };

	return poll(&ready, 1, WAIT_MS) == 1;
}

static int has_timer(int fd)
{
	const struct itimerspec value = { .it_value = { 0, WAIT_MS * 1000000L } };
	struct pollfd ready[] = { { timerfd_create(CLOCK_MONOTONIC, 0), POLLIN, 0 },
				  { fd, POLLIN, 0 } };

	timerfd_settime(ready[0].fd, 0, &value, NULL);
	poll(ready, 2, -1);
	return !(ready[0].revents & POLLIN);
}

/* Of the kernel's time: the program's own stands still. */
static void sleep_really(long us)
{
	const struct timespec duration = { us / 1000000, us % 1000000 * 1000 };

	syscall(SYS_nanosleep, &duration, NULL);
}

/* Less than that, until it has read the clock so often that this moves it. */
static int spins(int fd)
{
	const long begun = ms_by(CLOCK_MONOTONIC);
	char byte;

	while (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1) {
		for (int i = 0; i < READS; i++) {
			if (ms_by(CLOCK_MONOTONIC) > begun)
				return 0;
		}
		sleep_really(50);
	}
	return 1;
}

static void ask(int fd, const char *command)
{
	char reply[100];

	if (write(fd, command, strlen(command)) < 0 || read(fd, reply, sizeof(reply)) <= 0)
		exit(1);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				       .sin_port = htons(atoi(getenv("REDIS_PORT"))) };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	int (*waits)(int) = argc < 2                      ? polls :
			    strcmp(argv[1], "timer") == 0 ? has_timer :
			    strcmp(argv[1], "spin") == 0  ? spins :
							    polls;
	char pong[10];

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    write(fd, "PING\r\n", 6) < 0)
		return 1;
	if (!waits(fd))
		ask(fd, "SET late 1\r\n");
	else if (read(fd, pong, sizeof(pong)) <= 0)
		return 1;
	ask(fd, "INCR counter\r\n");
	sleep_really(TAKES_MS * 1000L);
	ask(fd, "INCR counter\r\n");
	return 0;
}
