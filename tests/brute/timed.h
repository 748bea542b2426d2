/* SPDX-License-Identifier: MIT */
/* What the programs in C need that tests/brute/timed --c writes: values of Python, and Redis. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum kind { NONE, INTEGER, STRING };

struct value {
	enum kind kind;
	long n;
	char s[200];
};

static struct value none(void)
{
	return (struct value){ 0 };
}

static struct value integer(long n)
{
	return (struct value){ .kind = INTEGER, .n = n };
}

static struct value string(const char *text)
{
	struct value value = { .kind = STRING };

	snprintf(value.s, sizeof(value.s), "%s", text);
	return value;
}

static int is_true(struct value value)
{
	return value.kind == INTEGER ? value.n != 0 : value.kind == STRING && *value.s;
}

static int is_equal(struct value one, struct value other)
{
	return one.kind == other.kind && one.n == other.n && strcmp(one.s, other.s) == 0;
}

static struct value to_string(struct value value)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", value.n);
	return value.kind == STRING ? value : string(value.kind == NONE ? "None" : text);
}

static struct value to_integer(struct value value)
{
	return value.kind == STRING ? integer(atol(value.s)) : value;
}

static struct value sum(struct value one, struct value other)
{
	struct value both = string(one.s);

	if (one.kind == INTEGER)
		return integer(one.n + other.n);
	strncat(both.s, other.s, sizeof(both.s) - strlen(both.s) - 1);
	return both;
}

static FILE *redis;

static void begin(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_port = htons((unsigned short)atoi(getenv("REDIS_PORT")));
	inet_pton(AF_INET, getenv("REDIS_HOST"), &address.sin_addr);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		exit(99);
	redis = fdopen(fd, "r+");
	setvbuf(redis, NULL, _IOFBF, 4096);
}

static struct value ask(int n, ...)
{
	char line[256] = "", command[2048];
	int used = snprintf(command, sizeof(command), "*%d\r\n", n);
	va_list words;

	va_start(words, n);
	for (int i = 0; i < n; i++) {
		const struct value word = to_string(va_arg(words, struct value));

		used += snprintf(command + used, sizeof(command) - (size_t)used, "$%zu\r\n%s\r\n",
				 strlen(word.s), word.s);
	}
	va_end(words);
	if (write(fileno(redis), command, (size_t)used) != used ||
	    !fgets(line, sizeof(line), redis))
		exit(98);
	line[strcspn(line, "\r")] = '\0';
	if (*line == ':')
		return integer(atol(line + 1));
	if (*line == '+')
		return string(line + 1);
	if (*line != '$')
		exit(97);
	if (line[1] == '-')
		return none();
	if (!fgets(line, sizeof(line), redis))
		exit(96);
	line[strcspn(line, "\r")] = '\0';
	return string(line);
}
