/* SPDX-License-Identifier: MIT */
/*
 * Files that programs write, and servers other than Redis that they connect to. The state there is
 * neither searched nor compared.
 *
 * A file is written by who opens it for writing, makes, moves, removes or changes it, and could do so.
 * These hold nothing that others see, and do not count:
 *
 *	- character devices (/dev/null, terminals), /proc, and pipes;
 *	- redrace's own directories, with the TMPDIR of each start;
 *	- Python's __pycache__, whose files stand for their sources (opened.h), locks of PHP's opcache,
 *	  and a JVM's counters;
 *	- a file of one client's own, where all clients run the same: no other client has tried to
 *	  write it, it was not there before, and was gone again whenever the client came to its end.
 *
 * A server that is a part of the program itself does not count, nor does one that is asked for the
 * address of a name: port 53, and whatever getaddrinfo(3) connects to.
 */
#ifndef RR_TOUCHED_H
#define RR_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "term/term.h"

/* UNKNOWN: files are written of which the names are not known, and `name` says why. */
enum rr_touched_kind { RR_TOUCHED_FILE, RR_TOUCHED_SERVER, RR_TOUCHED_UNKNOWN };

/* MOST: of one run; more than these are unknown. CLIENTS_MAX: those that take another's place are
 * clients of their own. */
enum { RR_TOUCHES_MOST = 10000, RR_TOUCHED_CLIENTS_MAX = 32, RR_TOUCHED_NAME = 64 };

/* By one run of a program, each once. */
struct rr_touches {
	size_t n;
	struct rr_touch {
		enum rr_touched_kind kind;
		bool was_there;  /* a file, before */
		bool is_changed; /* it was not only tried to make one that is there */
		char *name;
	} * all;
};

/* Of a file: was it there before, and is it changed? */
void rr_touches_add(struct rr_touches *touches, enum rr_touched_kind kind, const char *name,
		    bool was_there, bool is_changed);
void rr_touches_release(struct rr_touches *touches);

/* The path of a file that is about to be written, as it is noted, malloc'd: without links, but that
 * `follows` says whether the last part may be one. NULL: it does not count. `own` is a directory of
 * redrace's. */
char *rr_touched_path(const char *path, bool follows, const char *own);

/* By all programs of a check. */
struct rr_touched {
	bool are_equal;         /* all clients run the same command */
	struct rr_intern names; /* of each its kind, a byte, and its name with a NUL */
	struct rr_touched_thing {
		bool stays;       /* it was there before, or at the end of a client */
		bool was_gone;    /* at the end of a run */
		bool is_changed;  /* by any */
		uint32_t clients; /* as bits */
	} * things;
	size_t n_clients;
	char clients[RR_TOUCHED_CLIENTS_MAX][RR_TOUCHED_NAME];
};

/* A run of that client has come to its own end, or was ended. */
void rr_touched_note(struct rr_touched *touched, const struct rr_touches *touches,
		     const char *client, bool has_ended);

/* Is it state that anybody else sees? */
bool rr_touched_counts(const struct rr_touched *touched, uint32_t thing);

void rr_touched_release(struct rr_touched *touched);

#endif
