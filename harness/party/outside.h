/* SPDX-License-Identifier: MIT */
/*
 * What a checked program connects to. The kernel asks about each connect(2) of its processes
 * (watch.h), static ones among them. A stream to an address that it takes for that of Redis
 * (redis_at.h) is led to our server. One to another address than ours
 * is led to a relay here, which looks at the first bytes that the program sends: what is Redis's
 * protocol goes no further, all else is forwarded from then on. Datagrams and other families are
 * let go.
 *
 * This protects the data of a user who has forgotten an address, and is no sandbox: a program that
 * changes the address while it is being read is not held, nor is Redis inside TLS or a tunnel seen.
 */
#ifndef RR_OUTSIDE_H
#define RR_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "redis_at.h"
#include "touched.h"

struct rr_program_page;

/* ---- The first bytes (first_bytes.c) ------------------------------------------------ */

enum rr_first {
	RR_FIRST_UNDECIDED, /* there is no whole line yet, or none but what Redis takes for errors */
	RR_FIRST_OTHER,
	RR_FIRST_INLINE, /* a line of text that Redis would take for a command, and others may, too */
	RR_FIRST_REDIS,
};

/* What a stream is that begins so. *n_harmless: so many of these bytes do nothing at a Redis. */
enum rr_first rr_first_bytes(const char *bytes, size_t n, size_t *n_harmless);

/* ---- A program's connections ---------------------------------------------------------- */

enum { RR_OUTSIDE_WHY = 800 };

struct rr_outside {
	int listener;  /* on which the kernel is answered (watch.h); -1 = it does not ask */
	int calls_fd;  /* where its questions come; -1 = nobody is left to ask about */
	int events_fd; /* readable when there is something to be done (epoll(7)) */
	unsigned app_port;
	pid_t group; /* of the program */
	struct rr_program_page *page;
	struct rr_redis_places *places;
	struct rr_relay *relays;
	unsigned n_called_app;    /* connect(2) calls that may have led to app_port; */
	bool relays_app;          /* one is led there by us */
	int unwatched;            /* an errno: a connection had to be let go unseen; 0 = none was */
	char why[RR_OUTSIDE_WHY]; /* it cannot be checked: what it does, in words; "" = it can */
	bool notes_servers;
	struct rr_touches servers;   /* connections to which were made, but ours and its own */
	char other[RR_ADDRESS_SIZE]; /* what it connected to but us and itself; "" = nothing */
};

/* Questions come from calls_fd, which may be -1. False: errno. Close it in any case, also if it was
 * never opened. */
bool rr_outside_open(struct rr_outside *outside, int calls_fd);
void rr_outside_close(struct rr_outside *outside);

/* Does what there is to be done, without waiting. False: `why` says what it connects to. */
bool rr_outside_take(struct rr_outside *outside);

/* Takes note of what the library of the program has led to us. False: as rr_outside_take(). */
bool rr_outside_take_led(struct rr_outside *outside);

/* Has it a connection at all? Then it is to be asked again, whether or not events_fd is ready. */
static inline bool rr_outside_is_used(const struct rr_outside *outside)
{
	return outside->relays != NULL;
}

/* How many connect(2) calls of the program may have led to its app's port so far; UINT_MAX: that is not
 * known. */
unsigned rr_outside_calls_app(const struct rr_outside *outside);

/* May more come soon? Until then the program's time does not pass, or its time-outs were over before
 * another server has answered. */
bool rr_outside_is_awaited(const struct rr_outside *outside);

/* Are there bytes of a program that have not left yet? */
bool rr_outside_holds_bytes(const struct rr_outside *outside);

/* ---- Who is at the other end of a connection that was accepted, as proc(5) tells (peer.c) ---- */

/* Connections of processes that are no part of a program. */
struct rr_strangers {
	unsigned long n;
	char first[100]; /* which process it was, in words */
};

/* Is it none of a program's? Those are the processes of its group, their children, and who
 * has `own`, the port of REDIS_URL, in the environment; and who cannot be found any more. `port`: to
 * which it has come. A stranger is noted. */
bool rr_peer_is_stranger(int fd, pid_t group, pid_t guardian, unsigned port, unsigned own,
			 struct rr_strangers *strangers);

/* Does a process of that group listen at a port of this machine? */
bool rr_peer_listens(unsigned port, pid_t group);

#endif
