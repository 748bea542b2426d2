/* SPDX-License-Identifier: MIT */
/*
 * Fencing: writes that are refused when they come too late. Takes from a stock
 * under a lock whose lease is short, and asks before it writes.
 *
 *	order redis://localhost 5
 *
 * Wait for longer than the lease before answering, and let another `order` run
 * meanwhile: it gets the lock, and a higher number with it. The server has seen
 * that number and refuses the write that bears the lower one. No check of the
 * time could do that: a process can be stopped right after its last look.
 *
 * Exit: 0 done, 75 not done, try again; 65 the stock is too small; 69 no
 * server; 70 it may have been done.
 */
#include <redislock.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

enum { TTL_MS = 2000, TIMEOUT_MS = 500 };

static int give_up(enum rdl_outcome outcome, const struct rdl_link *link)
{
	const bool again = outcome == RDL_BUSY || outcome == RDL_LOST;

	fprintf(stderr, "order: %s: %s\n", rdl_outcome_name(outcome),
		again ? "another order was faster" : rdl_link_error(link));
	return again ? EX_TEMPFAIL : EX_UNAVAILABLE;
}

static int write_stock(struct rdl_link *link, long long number, long long stock)
{
	char value[24];
	enum rdl_outcome outcome;

	snprintf(value, sizeof(value), "%lld", stock);
	outcome = rdl_fenced_set(link, "stock", number, value);
	if (outcome == RDL_OK) {
		printf("stock %lld\n", stock);
		return EX_OK;
	}
	give_up(outcome, link);
	return outcome == RDL_LOST ? EX_TEMPFAIL : EX_SOFTWARE;
}

static int order(struct rdl_link *link, struct rdl_lock *lock, long long amount)
{
	long long number = 0, stock = 0;
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_lock_try_fenced(lock, TTL_MS, &number);

	if (outcome == RDL_OK) /* shows the number to the server, too */
		outcome = rdl_fenced_get(link, "stock", number, &reply);
	if (outcome != RDL_OK)
		return give_up(outcome, link);
	if (!rdl_reply_number(&reply, &stock) || stock < amount) {
		fputs("order: the stock is too small\n", stderr);
		return EX_DATAERR;
	}
	printf("number %lld: %lld there, take %lld? ", number, stock, amount);
	fflush(stdout);
	return getchar() == 'y' ? write_stock(link, number, stock - amount) : EX_OK;
}

int main(int argc, char **argv)
{
	char error[128] = "usage: order URI AMOUNT";
	struct rdl_address address;
	struct rdl_link *link;
	struct rdl_lock *lock;
	int code = EX_OSERR;

	if (argc != 3 || !rdl_address_parse(&address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "order: %s\n", error);
		return EX_USAGE;
	}
	link = rdl_link_new(&address, TIMEOUT_MS);
	lock = link ? rdl_lock_new(link, "stock:lock") : NULL;
	if (lock) {
		code = order(link, lock, atoll(argv[2]));
		rdl_lock_release(lock); /* leaves the next holder's alone */
	}
	rdl_lock_free(lock);
	rdl_link_free(link);
	return code;
}
