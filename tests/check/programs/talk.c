/* SPDX-License-Identifier: MIT */
/* talk WORD...: sends a command to $REDIS_PORT and prints the reply as redis-cli does where it does not
 * talk to a terminal. Tests start it thousands of times, and redis-cli takes four times as long to
 * start; it does not send a command again whose reply is lost. */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int give_up(const char *what)
{
	fprintf(stderr, "Error: %s\n", what);
	return 1;
}

static void send_words(FILE *redis, char *const words[], int n)
{
	fprintf(redis, "*%d\r\n", n);
	for (int i = 0; i < n; i++)
		fprintf(redis, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
	fflush(redis);
}

/* False: it ends in the middle. */
static bool print_reply(FILE *redis)
{
	char line[1000], *text = line + 1;
	long n;

	if (!fgets(line, sizeof(line), redis))
		return false;
	line[strcspn(line, "\r\n")] = '\0';
	n = atol(text);
	switch (line[0]) {
	case '$':
		for (long i = 0; i < n; i++) {
			const int c = getc(redis);

			if (c == EOF)
				return false;
			putchar(c);
		}
		return n < 0 || (getc(redis) != EOF && getc(redis) != EOF);
	case '*':
		for (long i = 0; i < n; i++) {
			if (i > 0)
				putchar('\n');
			if (!print_reply(redis))
				return false;
		}
		return true;
	case '-':
		printf("%s\n", text);
		return true;
	default:
		fputs(text, stdout);
		return true;
	}
}

int main(int argc, char **argv)
{
	const char *port = getenv("REDIS_PORT");
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				       .sin_port = htons((uint16_t)atoi(port ? port : "0")) };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	FILE *redis;

	if (argc < 2 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		return give_up("no command, or no server");
	redis = fdopen(fd, "r+");
	send_words(redis, argv + 1, argc - 1);
	if (!print_reply(redis))
		return give_up("Server closed the connection");
	putchar('\n');
	return 0;
}
