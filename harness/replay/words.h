/* SPDX-License-Identifier: MIT */
/*
 * Transitions in words, read and written: in schedules of `redrace play`, in those that
 * `redrace check` has saved, in graphs and in the game.
 *
 *	A:SET            client A's next command, which is a SET, is executed
 *	A:SET@n1         ... on server n1, where there are several
 *	A.1:SET          ... on A's second connection to that server
 *	A:sleep          A goes on with something else: sleep, wait, clock, lock, unlock,
 *	                 join, end, go
 *	A':EVAL          A's renewer; EVAL and EVALSHA are the same here
 *	A                whatever A does next
 *	lose-reply:A:SET drop:A:SET late:A:SET begin:A crash:A notice:A
 *	restart:n1 return:n1 jump:n1
 *	tick:10s pause:A:11s
 *	tick near half whole pause-half pause
 *	whole:3          until the third of the keys' times is over
 *
 * The words before the first colon are those of transitions.h.
 */
#ifndef RR_WORDS_H
#define RR_WORDS_H

#include "base/error.h"
#include "party/party.h"
#include "transitions.h"

enum { RR_WORD_SIZE = 64, RR_WORD_SERVER = 12 };

/* What a word can name. */
struct rr_word_names {
	size_t n_clients, n_servers;
};

struct rr_word {
	enum rr_transition_kind kind; /* EXECUTE is any step, GO one that is no command */
	int client;                   /* -1 = none is named */
	int thread;                   /* 1 = its first renewer */
	int connection;
	int server;                 /* -1 = none is named */
	int more;                   /* ends that time passes, besides the first */
	int64_t ns;                 /* 0 = none are named */
	char command[RR_WORD_SIZE]; /* "" = any */
};

/* False: RR_ERROR_USAGE, "expected X, found 'Y'". */
bool rr_word_read(const char *text, const struct rr_word_names *names, struct rr_word *word,
		  struct rr_error *error);

/* As short as it can be read again. */
void rr_word_write(const struct rr_word *word, const struct rr_word_names *names,
		   char text[RR_WORD_SIZE]);

/* Is the one that somebody has said what happens in the other one? */
bool rr_word_means(const struct rr_word *said, const struct rr_word *other);

/* Is the command that somebody has said ("" = any) the one with that first word? */
bool rr_word_is_command(const char *said, const char *command);

/* "redis" if it is the only one; else "data", "n1", "n2" ... */
const char *rr_word_server(const struct rr_word_names *names, size_t server,
			   char text[RR_WORD_SERVER]);

/* "sleep", "lock": what a thread does that goes on after such a stop. */
const char *rr_word_of_stop(enum rr_stop_kind kind);

#endif
