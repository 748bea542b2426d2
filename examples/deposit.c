/* SPDX-License-Identifier: MIT */
/*
 * A read-modify-write under the token lock: adds to a balance.
 *
 *	deposit redis://localhost 25
 *
 * Reading and writing are two commands; the lock keeps others from coming in
 * between for as long as its lease lasts, and the time left is looked at just
 * before the write. That is enough unless this process can be stopped between
 * the look and the write for longer than ENOUGH_MS: then see order.c.
 *
 * Exit: 0 done, 75 not done, try again; 64 wrong usage; 65 the balance is no
 * number, or would be too large; 69 no server; 70 it may have been done.
 */
#include <errno.h>
#include <limits.h>
#include <redislock.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

/* A write is given up after TIMEOUT_MS, and so before the lease ends. */
enum { TTL_MS = 10000, WAIT_MS = 3000, TIMEOUT_MS = 2000, ENOUGH_MS = 3000 };

static int give_up(enum rdl_outcome outcome, const char *why)
{
	const bool again = outcome == RDL_BUSY || outcome == RDL_LOST;

	fprintf(stderr, "deposit: %s: %s\n", rdl_outcome_name(outcome),
		again ? "the lock; nothing was written" : why);
	return again ? EX_TEMPFAIL : EX_UNAVAILABLE;
}

static int refuse(const char *why)
{
	fprintf(stderr, "deposit: %s; nothing was written\n", why);
	return EX_DATAERR;
}

static int deposit(struct rdl_link *link, struct rdl_lock *lock, long long amount)
{
	const struct rdl_policy policy = { .wait_ms = WAIT_MS };
	long long balance = 0;
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_lock_acquire(lock, TTL_MS, &policy);

	if (outcome == RDL_OK)
		outcome = rdl_run(link, &reply, "GET balance");
	if (outcome == RDL_OK && !rdl_reply_is_nil(&reply) && !rdl_reply_number(&reply, &balance))
		return refuse("the balance is not a number");
	if (outcome == RDL_OK && __builtin_add_overflow(balance, amount, &balance))
		return refuse("the balance would be too large");
	if (outcome == RDL_OK && rdl_lock_remaining_ms(lock) < ENOUGH_MS)
		outcome = RDL_LOST;
	if (outcome != RDL_OK)
		return give_up(outcome, rdl_link_error(link));
	outcome = rdl_run(link, &reply, "SET balance %lld", balance);
	if (outcome != RDL_OK)
		give_up(outcome, rdl_link_error(link));
	else
		printf("balance %lld\n", balance);
	return outcome == RDL_OK ? EX_OK : EX_SOFTWARE;
}

static bool parse_amount(const char *text, long long *amount)
{
	char *end;

	errno = 0;
	*amount = strtoll(text, &end, 10);
	return end != text && *end == '\0' && errno == 0;
}

int main(int argc, char **argv)
{
	char error[128] = "usage: deposit URI AMOUNT";
	struct rdl_address address;
	struct rdl_link *link;
	struct rdl_lock *lock;
	long long amount;
	int code = EX_OSERR;

	if (argc != 3 || !rdl_address_parse(&address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "deposit: %s\n", error);
		return EX_USAGE;
	}
	if (!parse_amount(argv[2], &amount)) {
		fprintf(stderr, "deposit: amount '%s' is not a whole number from %lld to %lld\n",
			argv[2], LLONG_MIN, LLONG_MAX);
		return EX_USAGE;
	}
	link = rdl_link_new(&address, TIMEOUT_MS);
	lock = link ? rdl_lock_new(link, "balance:lock") : NULL;
	if (lock) {
		code = deposit(link, lock, amount);
		rdl_lock_release(lock); /* if it fails, the lease ends */
	}
	rdl_lock_free(lock);
	rdl_link_free(link);
	return code;
}
