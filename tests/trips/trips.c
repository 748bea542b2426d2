/* SPDX-License-Identifier: MIT */
/* The floor of a client that asks several servers one after the other: INCR, to each unix socket of the
 * arguments in their order, again and again. Prints how many round trips it made a second.
 *
 *	trips NUMBER SOCKET...     a socket may stand there several times
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A connection to that socket; -1: errno. */
static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ?
		       fd :
		       -1;
}

int main(int argc, char **argv)
{
	static const char incr[] = "*2\r\n$4\r\nINCR\r\n$5\r\ntrips\r\n";
	const long most = argc > 2 ? atol(argv[1]) : 0;
	const int n = argc - 2;
	double begun;
	int *fds;

	if (most <= 0) {
		fprintf(stderr, "usage: trips NUMBER SOCKET...\n");
		return 64;
	}
	fds = calloc((size_t)n, sizeof(*fds));
	for (int i = 0; fds && i < n; i++) {
		fds[i] = connect_to(argv[2 + i]);
		if (fds[i] < 0) {
			perror(argv[2 + i]);
			return 69;
		}
	}
	begun = now_s();
	for (long i = 0; fds && i < most; i++) {
		const int fd = fds[i % n];
		char reply[64];

		/* A number and its line end come in one piece. */
		if (write(fd, incr, sizeof(incr) - 1) < 0 || read(fd, reply, sizeof(reply)) <= 0) {
			perror("trips");
			return 69;
		}
	}
	printf("%.1f\n", (double)most / (now_s() - begun));
	free(fds);
	return 0;
}
