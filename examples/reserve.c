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
static enum rdl_outcome take_one(void *context, const struct rdl_reply *old, char *value,
				 size_t size)
{
	long long *left = context;

	if (!rdl_reply_number(old, left) || *left < 1)
		return RDL_LOST; /* ends the update: there is none to be had */
	(*left)--;
	snprintf(value, size, "%lld", *left);
	return RDL_OK;
}

static int reserve(struct rdl_link *link)
{
	long long left = 0;

	switch (rdl_update(link, "seats", take_one, &left, ATTEMPTS, NULL)) {
	case RDL_OK:
		printf("reserved, %lld left\n", left);
		return EX_OK;
	case RDL_LOST:
		fputs("reserve: sold out\n", stderr);
		return EX_DATAERR;
	case RDL_BUSY:
		fputs("reserve: too many others\n", stderr);
		return EX_TEMPFAIL;
	case RDL_UNKNOWN:
		fprintf(stderr, "reserve: unknown: %s\n", rdl_link_error(link));
		return EX_SOFTWARE;
	default:
		fprintf(stderr, "reserve: %s\n", rdl_link_error(link));
		return EX_UNAVAILABLE;
	}
}

int main(int argc, char **argv)
{
	char error[128] = "usage: reserve URI";
	struct rdl_address address;
	struct rdl_link *link;
	int code = EX_OSERR;

	if (argc != 2 || !rdl_address_parse(&address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "reserve: %s\n", error);
		return EX_USAGE;
	}
	link = rdl_link_new(&address, TIMEOUT_MS);
	if (link)
		code = reserve(link);
	rdl_link_free(link);
	return code;
}
