/* SPDX-License-Identifier: MIT */
/* ask URL [--body]: a request of HTTP. Prints the body, after the status if that is not 200 and --body is
 * not there. It is started often, and curl takes five times as long to start. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char text[200000];
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	char path[100] = "";
	size_t n = 0;
	unsigned port;
	int status = 0;
	ssize_t more;
	char *body;

	if (argc < 2 || sscanf(argv[1], "http://127.0.0.1:%u%99s", &port, path) < 1)
		return 64;
	address.sin_port = htons((uint16_t)port);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		return 7;
	dprintf(fd, "POST %s HTTP/1.0\r\n\r\n", path);
	while (n < sizeof(text) - 1 && (more = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)more;
	body = strstr(text, "\r\n\r\n");
	if (!body || sscanf(text, "%*s %d", &status) != 1)
		return 52;
	if (status != 200 && argc < 3)
		printf("HTTP/1.0 %d\n\n", status);
	fwrite(body + 4, 1, n - (size_t)(body + 4 - text), stdout);
	return 0;
}
