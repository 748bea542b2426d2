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
enum { TTL_MS = 10000, WAIT_MS = 3000, TIMEOUT_MS = 500, ENOUGH_MS = 1000 };

static int give_up(enum rl_outcome outcome, const char *why)
{
	const bool again = outcome == RL_BUSY || outcome == RL_LOST;

	fprintf(stderr, "deposit: %s: %s\n", rl_outcome_name(outcome),
		again ? "the lock; nothing was written" : why);
	return again ? EX_TEMPFAIL : EX_UNAVAILABLE;
}

static int refuse(const char *why)
{
	fprintf(stderr, "deposit: %s; nothing was written\n", why);
	return EX_DATAERR;
}

static int deposit(struct rl_link *link, struct rl_lock *lock, long long amount)
{
	const struct rl_policy policy = { .wait_ms = WAIT_MS, .cancel_fd = -1 };
	long long balance = 0;
	struct rl_reply reply;
	enum rl_outcome outcome = rl_lock_acquire(lock, TTL_MS, &policy);

	if (outcome == RL_OK)
		outcome = rl_run(link, &reply, "GET balance");
	if (outcome == RL_OK && !rl_reply_is_nil(&reply) && !rl_reply_number(&reply, &balance))
		return refuse("the balance is not a number");
	if (outcome == RL_OK && __builtin_add_overflow(balance, amount, &balance))
		return refuse("the balance would be too large");
	if (outcome == RL_OK && rl_lock_remaining_ms(lock) < ENOUGH_MS)
		outcome = RL_LOST;
	if (outcome != RL_OK)
		return give_up(outcome, rl_link_error(link));
	outcome = rl_run(link, &reply, "SET balance %lld", balance);
	if (outcome != RL_OK)
		give_up(outcome, rl_link_error(link));
	else
		printf("balance %lld\n", balance);
	return outcome == RL_OK ? EX_OK : EX_SOFTWARE;
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
	struct rl_address address;
	struct rl_link *link;
	struct rl_lock *lock;
	long long amount;
	int code = EX_OSERR;

	if (argc != 3 || !rl_address_parse(&address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "deposit: %s\n", error);
		return EX_USAGE;
	}
	if (!parse_amount(argv[2], &amount)) {
		fprintf(stderr, "deposit: amount '%s' is not a whole number from %lld to %lld\n",
			argv[2], LLONG_MIN, LLONG_MAX);
		return EX_USAGE;
	}
	link = rl_link_new(&address, TIMEOUT_MS);
	lock = link ? rl_lock_new(link, "balance:lock") : NULL;
	if (lock) {
		code = deposit(link, lock, amount);
		rl_lock_release(lock); /* if it fails, the lease ends */
	}
	rl_lock_free(lock);
	rl_link_free(link);
	return code;
}
