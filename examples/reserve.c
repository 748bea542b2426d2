/* SPDX-License-Identifier: MIT */
/*
 * No lock at all: reserves a seat by an optimistic update.
 *
 *	reserve redis://localhost
 *
 * The server is asked to store the new value only if nobody wrote the key since
 * it was read; if somebody did, it is read and computed again. Right for one
 * key, a quick computation and few who meet; nobody ever waits for a lease.
 *
 * Exit: 0 reserved, 65 sold out, 75 too many others, try again; 69 no server;
 * 70 it may have been reserved.
 */
#include <redislock.h>
#include <stdio.h>
#include <sysexits.h>

enum { TIMEOUT_MS = 500, ATTEMPTS = 100 };

/* Called anew for every attempt, and so free of other effects. */
static enum rl_outcome take_one(void *context, const struct rl_reply *old, char *value, size_t size)
{
	long long *left = context;

	if (!rl_reply_number(old, left) || *left < 1)
		return RL_LOST; /* ends the update: there is none to be had */
	(*left)--;
	snprintf(value, size, "%lld", *left);
	return RL_OK;
}

static int reserve(struct rl_link *link)
{
	long long left = 0;

	switch (rl_update(link, "seats", take_one, &left, ATTEMPTS, NULL)) {
	case RL_OK:
		printf("reserved, %lld left\n", left);
		return EX_OK;
	case RL_LOST:
		fputs("reserve: sold out\n", stderr);
		return EX_DATAERR;
	case RL_BUSY:
		fputs("reserve: too many others\n", stderr);
		return EX_TEMPFAIL;
	case RL_UNKNOWN:
		fprintf(stderr, "reserve: unknown: %s\n", rl_link_error(link));
		return EX_SOFTWARE;
	default:
		fprintf(stderr, "reserve: %s\n", rl_link_error(link));
		return EX_UNAVAILABLE;
	}
}

int main(int argc, char **argv)
{
	char error[128] = "usage: reserve URI";
	struct rl_address address;
	struct rl_link *link;
	int code = EX_OSERR;

	if (argc != 2 || !rl_address_parse(&address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "reserve: %s\n", error);
		return EX_USAGE;
	}
	link = rl_link_new(&address, TIMEOUT_MS);
	if (link)
		code = reserve(link);
	rl_link_free(link);
	return code;
}
