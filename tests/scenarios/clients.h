/* SPDX-License-Identifier: MIT */
/*
 * Clients of one strategy on a private server, moved step by step by a test:
 * something may happen just before a client's command, and the clock of all of
 * them stands where the test puts it.
 */
#ifndef RR_TEST_CLIENTS_H
#define RR_TEST_CLIENTS_H

#include "../support.h"

struct clients;

struct test_client {
	struct clients *clients;
	struct support_client client;
	struct rdl_driver driver;
	const char *before;            /* once, before this command goes out, */
	void (*act)(struct clients *); /* this happens, if it is not NULL, */
	bool dies;                     /* and the client sends no more */
	bool loses_a_reply;            /* the next one, once */
};

struct clients {
	struct support support;
	const struct rr_strategy *strategy;
	struct test_client a, b, c;
	struct rdl_link *other; /* somebody else */
	int64_t clock_s;        /* 1000 to begin with */
};

void clients_open(struct clients *clients, const char *strategy);
void clients_close(struct clients *clients);

enum rdl_outcome clients_acquire(struct test_client *client);
enum rdl_outcome clients_increment(struct test_client *client);
enum rdl_outcome clients_release(struct test_client *client);

/* A's `operation`, one of these, when `act` happens just before its `command`.
 * The test fails unless A sends that. */
enum rdl_outcome clients_interrupt(struct clients *clients,
				   enum rdl_outcome (*operation)(struct test_client *),
				   const char *command, void (*act)(struct clients *));

/* After A's release C gets the lock, although B took it over just before A's
 * DEL, by `takes_over`: A's release is not atomic. */
void clients_assert_release_deletes_bs_lock(const char *strategy,
					    void (*takes_over)(struct clients *));

/* What somebody else is answered; support_ask(). */
const char *clients_ask(struct clients *clients, const char *command, const char *key);

/* Somebody else writes. */
void clients_set(struct clients *clients, const char *key, const char *value);

/* The lease of the lock ends now. */
void clients_expire(struct clients *clients);

#endif
