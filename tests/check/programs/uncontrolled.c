/* SPDX-License-Identifier: MIT */
/*
 * A counter under a lock with a random token of 16 digits, to be linked statically: no shim is in its
 * way. "wrong" as argument: without the lock, the token is a member of a set.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static int server;

/* Sends a command of words without spaces, and returns the last line of its reply. */
static const char *ask(const char *format, ...)
{
	static char reply[256];
	char command[256], *line;
	va_list words;
	ssize_t n;

	va_start(words, format);
	vsnprintf(command, sizeof(command), format, words);
	va_end(words);
	if (write(server, command, strlen(command)) < 0 ||
	    (n = read(server, reply, sizeof(reply) - 1)) < 3) {
		perror("connection");
		exit(1);
	}
	reply[n - 2] = '\0';
	line = strrchr(reply, '\n');
	return line ? line + 1 : reply;
}

int main(int argc, char **argv)
{
	const int is_wrong = argc > 1 && strcmp(argv[1], "wrong") == 0;
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((unsigned short)atoi(getenv("REDIS_PORT"))),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	unsigned long token;

	server = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(server, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    getrandom(&token, sizeof(token), 0) != sizeof(token))
		return 1;
	if (is_wrong)
		ask("SADD tokens %016lx\r\n", token);
	while (!is_wrong && strcmp(ask("SET lock %016lx NX\r\n", token), "+OK") != 0)
		usleep(1000);
	ask("SET counter %d\r\n", atoi(ask("GET counter\r\n")) + 1);
	if (!is_wrong && strtoul(ask("GET lock\r\n"), NULL, 16) == token)
		ask("DEL lock\r\n");
	return 0;
}
