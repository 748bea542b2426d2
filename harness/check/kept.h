/* SPDX-License-Identifier: MIT */
/*
 * What is kept of programs from one check to the next, in a file (cache.h): what each client did
 * after each history, its random values and how it ended. These are facts: which histories are
 * one state, and all else that is believed, is found out anew, without programs. Apps keep nothing:
 * what an app has answered so far is a part of every state that it comes to, and the file has it
 * only of states in which a client has ended.
 *
 * It holds for a command line in its directory with its environment, and as long as no file has
 * changed that a run has opened (opened.h), redrace, its shim and the server among them. When it is
 * read, some histories are really run again, at random: if a program does something else, nothing
 * is believed of what was kept, and it is learned anew.
 *
 * A check that once came to its end with what is known now is settled: it has played the serial
 * orders and random paths with the same programs, and plays less of them again. What it plays, a
 * finding or a path, is what is run again then.
 */
#ifndef RR_KEPT_H
#define RR_KEPT_H

#include "cluster/cluster.h"
#include "opened.h"

enum { RR_SETTLED_MAX = 64 };

struct rr_kept_config {
	const struct rr_cluster *cluster; /* whose server counts; NULL: nothing is kept */
	uint64_t question;                /* a digest of all that is asked of the programs */
	bool plays;                       /* some path, with all of them, before it ends */
};

struct rr_kept {
	struct rr_opened opened;
	struct rr_intern asked; /* commands, by their numbers, that were answered at once */
	int64_t begun_ns;       /* a time of day: what has changed since then was not read */
	bool is_loaded;         /* what was kept is in the tables */
	bool is_given_up;       /* it is not read again */
	bool is_contradicted;   /* a program did something else than was known */
	bool wants_anew;        /* the tables are wrong, because it was */
	uint32_t n_states;      /* that were in the file */
	unsigned long n_again;  /* runs for histories that were kept */
	size_t n_settled;
	uint64_t settled[RR_SETTLED_MAX]; /* questions */
	char remark[RR_OPENED_WHY];       /* what the user should know; "" = nothing */
	char why[RR_OPENED_WHY];          /* nothing was read, or is kept; "" = it was */
};

struct rr_programs;

void rr_kept_init(struct rr_kept *kept);
void rr_kept_release(struct rr_kept *kept);

/* Before a search, when servers can be asked: fills tables of which nothing is known yet. */
void rr_kept_load(struct rr_programs *programs);

/* Something is wrong with programs: is it what was kept? Then they are learned anew. */
bool rr_kept_doubt(struct rr_programs *programs);

/* The tables are made anew. */
void rr_kept_give_up(struct rr_programs *programs);

/* Has this check come to its end before, with all that is known now? */
bool rr_kept_is_settled(const struct rr_programs *programs);

/* A check has come to its end; or the search has, and there may be more to ask another time. */
void rr_kept_save(struct rr_programs *programs, bool is_settled);

/* ---- Among its own files ---------------------------------------------------------------- */

/* kept_file.c: all but files and settled questions, into the file and out of it. False: it is
 * wrong, or of another search (programs are told which scripts servers know), which is no
 * mistake. */
void rr_kept_write(const struct rr_programs *programs, FILE *out);
bool rr_kept_read(struct rr_programs *programs, struct rr_bytes *bytes);

#endif
