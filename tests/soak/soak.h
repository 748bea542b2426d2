/* SPDX-License-Identifier: MIT */
/*
 * A soak of libredislock: client processes take all its locks on real servers, have
 * effects under them, and are killed, stopped and cut off at random, for as long as
 * one likes. In the end each effect is looked up on the server:
 *
 *	one that was acknowledged is there exactly once;
 *	one that was refused is not there;
 *	of one whose client was killed, or had no reply, either may be true, and it is
 *	counted as unknown.
 *
 * That holds whatever the locks do, because each effect is fenced: the server does it
 * only if nobody has read since its client did. What the locks promise is watched
 * besides: a client that is told that it has a lock writes down until when; nobody
 * else may be told so before (books.c).
 */
#ifndef RR_TEST_SOAK_H
#define RR_TEST_SOAK_H

#include <redislock.h>
#include <stdatomic.h>

#include "base/random.h"

enum {
	SOAK_CLIENTS = 8,
	SOAK_NODES = 5, /* servers of the quorum lock; one more has the data */
	SOAK_SERVERS = SOAK_NODES + 1,
	SOAK_EFFECTS = 1 << 20, /* of a client and a kind, at most */
	SOAK_KEY = 48,
	SOAK_TTL_MS = 1000,
	SOAK_WAIT_MS = 2000,
	SOAK_TIMEOUT_MS = 500
};

enum soak_kind {
	SOAK_TOKEN,
	SOAK_RENEWED,
	SOAK_REENTRANT,
	SOAK_FAIR,
	SOAK_QUORUM,
	SOAK_FENCED,
	SOAK_QUEUE, /* no lock: items are put, and done once each */
	SOAK_KINDS
};

extern const char *const soak_names[SOAK_KINDS];

/* What is known of an effect. */
enum soak_state {
	SOAK_UNTRIED, /* also: refused, and so not done */
	SOAK_SENT,    /* and not heard of since: unknown if it stays so */
	SOAK_DONE
};

/* How often; of a kind. */
struct soak_counts {
	atomic_llong held;          /* times that the lock was got */
	atomic_llong busy;          /* waited for in vain */
	atomic_llong done, unknown; /* effects */
	atomic_llong refused;       /* by the fence: somebody has read since */
	atomic_llong lost;          /* the lock said that it was ours no more */
	atomic_llong failed;        /* not sent, or the server refused it */
	atomic_llong overlaps;      /* two were told at once that they have it */
};

/* What all processes write into; it outlives each of them. */
struct soak_books {
	struct soak_counts counts[SOAK_KINDS];
	atomic_llong held_until_ns[SOAK_KINDS];     /* by the monotonic clock */
	atomic_llong value_sent, value_done;        /* writes with the lock's own numbers */
	atomic_long next[SOAK_KINDS][SOAK_CLIENTS]; /* number of an effect */
	atomic_bool is_over;                        /* clients end of themselves */
	atomic_uchar states[SOAK_KINDS][SOAK_CLIENTS][SOAK_EFFECTS];
};

struct soak {
	struct soak_books *books;
	struct rdl_address addresses[SOAK_SERVERS]; /* the first has the data */
	uint64_t seed;
};

/* The life of a client, until the books say that it is over; its exit code. */
int soak_client(const struct soak *soak, int client, uint64_t seed);

/* ---- Books (books.c) ------------------------------------------------------------- */

/* In memory that processes forked later share. NULL: out of memory. */
struct soak_books *soak_books_open(void);
void soak_books_close(struct soak_books *books);

/* A client was told that it has the lock for remaining_ms; returns what it is to
 * give back. A client that held it still is an overlap. */
long long soak_books_hold(struct soak_books *books, enum soak_kind kind, long long now_ns,
			  long remaining_ms);

/* It is about to give it back. */
void soak_books_leave(struct soak_books *books, enum soak_kind kind, long long until_ns);

/* A client begins an effect: its number; -1 = no more fit in. */
long soak_books_begin(struct soak_books *books, enum soak_kind kind, int client);

/* What came of it. */
void soak_books_end(struct soak_books *books, enum soak_kind kind, int client, long number,
		    enum rdl_outcome outcome);

/* Looks every effect up on the data's server. False: the books do not agree, and it
 * has been printed where. */
bool soak_books_check(struct soak_books *books, struct rdl_link *data);

void soak_books_print(const struct soak_books *books);

/* The names of keys. */
void soak_key(char key[SOAK_KEY], enum soak_kind kind, const char *what);
void soak_effects_key(char key[SOAK_KEY], enum soak_kind kind, int client);

#endif
