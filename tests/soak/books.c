/* SPDX-License-Identifier: MIT */
/*
 * The books of a soak: what each client knows of its effects, in memory that survives
 * it, and how they are compared with what the server has: two bits for each effect,
 * which count how often it was done.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "soak.h"

const char *const soak_names[SOAK_KINDS] = {
	[SOAK_TOKEN] = "token", [SOAK_RENEWED] = "renewed", [SOAK_REENTRANT] = "reentrant",
	[SOAK_FAIR] = "fair",   [SOAK_QUORUM] = "quorum",   [SOAK_FENCED] = "fenced",
	[SOAK_QUEUE] = "queue",
};

void soak_key(char key[SOAK_KEY], enum soak_kind kind, const char *what)
{
	snprintf(key, SOAK_KEY, "soak:%s:%s", soak_names[kind], what);
}

void soak_effects_key(char key[SOAK_KEY], enum soak_kind kind, int client)
{
	snprintf(key, SOAK_KEY, "soak:%s:effects:%d", soak_names[kind], client);
}

struct soak_books *soak_books_open(void)
{
	struct soak_books *books = mmap(NULL, sizeof(*books), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return books == MAP_FAILED ? NULL : books;
}

void soak_books_close(struct soak_books *books)
{
	munmap(books, sizeof(*books));
}

/* ---- Who holds a lock ------------------------------------------------------------- */

long long soak_books_hold(struct soak_books *books, enum soak_kind kind, long long now_ns,
			  long remaining_ms)
{
	const long long until_ns = now_ns + remaining_ms * 1000000LL;
	const long long before_ns = atomic_exchange(&books->held_until_ns[kind], until_ns);

	atomic_fetch_add(&books->counts[kind].held, 1);
	if (before_ns > now_ns)
		atomic_fetch_add(&books->counts[kind].overlaps, 1);
	return until_ns;
}

/* Who is late does not take away what the next one has written there. */
void soak_books_leave(struct soak_books *books, enum soak_kind kind, long long until_ns)
{
	atomic_compare_exchange_strong(&books->held_until_ns[kind], &until_ns, 0);
}

/* ---- Effects -------------------------------------------------------------------- */

long soak_books_begin(struct soak_books *books, enum soak_kind kind, int client)
{
	const long number = atomic_load(&books->next[kind][client]);

	if (number >= SOAK_EFFECTS)
		return -1;
	atomic_store(&books->states[kind][client][number], SOAK_SENT);
	atomic_store(&books->next[kind][client], number + 1);
	return number;
}

void soak_books_end(struct soak_books *books, enum soak_kind kind, int client, long number,
		    enum rdl_outcome outcome)
{
	struct soak_counts *counts = &books->counts[kind];
	atomic_uchar *state = &books->states[kind][client][number];

	if (outcome == RDL_OK) {
		atomic_fetch_add(&counts->done, 1);
		atomic_store(state, SOAK_DONE);
	} else if (outcome == RDL_LOST || outcome == RDL_BUSY) {
		atomic_fetch_add(&counts->refused, 1);
		atomic_store(state, SOAK_UNTRIED);
	} else if (outcome == RDL_ERROR) {
		atomic_fetch_add(&counts->failed, 1);
		atomic_store(state, SOAK_UNTRIED);
	}
}

/* ---- The comparison ------------------------------------------------------------ */

/* How often it was done: the server numbers bits from the highest of a byte on. */
static unsigned times_done(const struct rdl_reply *bits, long number)
{
	const size_t byte = (size_t)number / 4;

	if (byte >= bits->length)
		return 0;
	return (unsigned char)bits->text[byte] >> (6 - 2 * (number % 4)) & 3;
}

static bool complain(enum soak_kind kind, int client, long number, const char *what, unsigned times)
{
	printf("soak: %s: effect %ld of client %d was %s, and is there %u times\n",
	       soak_names[kind], number, client, what, times);
	return false;
}

static bool check_effect(struct soak_books *books, enum soak_kind kind, int client, long number,
			 unsigned times)
{
	const unsigned char state = atomic_load(&books->states[kind][client][number]);

	if (state == SOAK_DONE && times != 1)
		return complain(kind, client, number, "acknowledged", times);
	if (state == SOAK_UNTRIED && times != 0)
		return complain(kind, client, number, "refused", times);
	if (times > 1)
		return complain(kind, client, number, "sent", times);
	if (state == SOAK_SENT)
		atomic_fetch_add(&books->counts[kind].unknown, 1);
	return true;
}

/* Those of one client; *n counts how many are there. */
static bool check_client(struct soak_books *books, enum soak_kind kind, int client,
			 struct rdl_link *data, long long *n)
{
	char key[SOAK_KEY];
	struct rdl_reply bits;
	bool good = true;

	soak_effects_key(key, kind, client);
	if (rdl_run(data, &bits, "GET %s", key) != RDL_OK) {
		printf("soak: %s: %s\n", key, rdl_link_error(data));
		return false;
	}
	for (long i = 0; i < books->next[kind][client]; i++) {
		const unsigned times = times_done(&bits, i);

		*n += times;
		good = check_effect(books, kind, client, i, times) && good;
	}
	return good;
}

/* The counter, which was read and written, has as many as there are effects. */
static bool check_counter(enum soak_kind kind, struct rdl_link *data, long long n)
{
	char key[SOAK_KEY];
	struct rdl_reply reply;
	long long count = 0;

	soak_key(key, kind, "count");
	if (rdl_run(data, &reply, "GET %s", key) == RDL_OK &&
	    (rdl_reply_is_nil(&reply) || rdl_reply_number(&reply, &count)) && count == n)
		return true;
	printf("soak: %s: the counter is %lld, and %lld effects are there\n", soak_names[kind],
	       count, n);
	return false;
}

static bool check_value(const struct soak_books *books, struct rdl_link *data)
{
	struct rdl_reply reply;
	long long value = 0;

	if (rdl_run(data, &reply, "GET soak:value") == RDL_OK &&
	    (rdl_reply_is_nil(&reply) || rdl_reply_number(&reply, &value)) &&
	    value >= books->value_done && value <= books->value_sent)
		return true;
	printf("soak: fenced: the value is %lld; %lld writes were acknowledged of %lld\n", value,
	       books->value_done, books->value_sent);
	return false;
}

bool soak_books_check(struct soak_books *books, struct rdl_link *data)
{
	bool good = check_value(books, data);

	for (int kind = 0; kind < SOAK_KINDS; kind++) {
		long long n = 0;

		for (int i = 0; i < SOAK_CLIENTS; i++)
			good = check_client(books, kind, i, data, &n) && good;
		if (kind != SOAK_QUEUE)
			good = check_counter(kind, data, n) && good;
		if (books->counts[kind].overlaps) {
			printf("soak: %s: two clients had the lock at once, %lld times\n",
			       soak_names[kind], books->counts[kind].overlaps);
			good = false;
		}
	}
	return good;
}

void soak_books_print(const struct soak_books *books)
{
	printf("%-10s %10s %8s %10s %8s %8s %6s %7s %8s\n", "lock", "held", "busy", "done",
	       "unknown", "refused", "lost", "failed", "overlaps");
	for (int kind = 0; kind < SOAK_KINDS; kind++) {
		const struct soak_counts *counts = &books->counts[kind];

		printf("%-10s %10lld %8lld %10lld %8lld %8lld %6lld %7lld %8lld\n",
		       soak_names[kind], counts->held, counts->busy, counts->done, counts->unknown,
		       counts->refused, counts->lost, counts->failed, counts->overlaps);
	}
}
