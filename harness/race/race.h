/* SPDX-License-Identifier: MIT */
/*
 * A race: a transcript of what several clients do to one or more servers. It
 * is read from a text file and written to one, and what happens when it is
 * played is observed and judged. docs/races.md explains the language.
 */
#ifndef RR_RACE_H
#define RR_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "cluster/cluster.h"
#include "driver.h"

struct rdl_reply;

enum {
	RR_RACE_CLIENTS_MAX = 12,
	RR_RACE_SERVERS_MAX = 8,
	RR_KEYS_SHOWN_MAX = 8,
	RR_WORDS_MAX = 160,
	RR_STEPS_MAX = 4096,
	RR_FINDINGS_NAMED_MAX = 8,
	RR_NEEDS_MAX = 4,
};

/* What one line of a transcript does. */
enum rr_step_kind {
	RR_STEP_RUN,     /* A> COMMAND => REPLY */
	RR_STEP_WRITE,   /* A writes COMMAND: the reply is not waited for yet */
	RR_STEP_BYTES,   /* A writes bytes "...": a part of a command */
	RR_STEP_READ,    /* A < REPLY: the next one on its connection */
	RR_STEP_ENTER,   /* A enters its critical section */
	RR_STEP_LEAVE,   /* A leaves it */
	RR_STEP_COUNT,   /* A counts: its increment was acknowledged */
	RR_STEP_CRASH,   /* A crashes: its connections are gone */
	RR_STEP_CONNECT, /* A connects again */
	RR_STEP_LOCK,    /* A locks m: a mutex outside Redis */
	RR_STEP_UNLOCK,  /* A unlocks m */
	RR_STEP_COMPUTE, /* A computes end = now + 11 */
	RR_STEP_NOTE,    /* -- text */
	RR_STEP_TICK,    /* tick 10s */
	RR_STEP_CLOCK,   /* clock A +60s: a client's or a server's is off */
	RR_STEP_FAULT,   /* kill n1: something happens to a server */
};

struct rr_step {
	enum rr_step_kind kind;
	int line;       /* in the file */
	int repetition; /* 0, or which round of a repeat */
	int repetitions;
	int client; /* -1 = none */
	int server; /* -1 = none */
	int peer;   /* CLOCK of a client: that client; of a note of a command that never
		     * arrived: whose; else -1 */
	enum rr_fault fault;
	enum rr_tear tear;
	const char *injected; /* the fault that a search has injected, "crash"; NULL = none */
	size_t n_words;
	const struct rdl_word *words; /* a command, still with its $variables */
	const char *text;             /* a note, a mutex, a variable, a key, bytes */
	size_t length;                /* of bytes */
	int64_t amount;               /* ns of TICK and CLOCK, of TEAR, s of COMPUTE */
	const char *expected;         /* the pattern after =>; NULL = anything that
				* is not an error */
	const char *remark;           /* after !: why this is the deciding step, or NULL */
	bool is_lost;                 /* => (lost): executed, the client never knows */
	bool is_waiting;              /* => (waits): no reply yet */
	bool skips;                   /* else skip: with another reply the race is about
				* other servers */
};

/* What a document says, so that it can be compared with what happens. */
struct rr_saying {
	const char *claim;
	int line;
	int step;         /* whose reply is meant; -1 = a finding is */
	const char *says; /* a pattern of a reply, or a finding */
};

enum { RR_CONFIG_LINES_MAX = 8 };

struct rr_race_server {
	const char *name;
	struct rr_server_options options;
	const char *config[RR_CONFIG_LINES_MAX + 1];
};

/* A client: its name, and whose connection it uses (usually its own index). Of what was recorded,
 * a client may be one connection of several of another one: whose, and which, from 1; 0 = none. */
struct rr_race_client {
	const char *name;
	int connection;
	const char *of; /* NULL = its own */
	size_t number;
};

struct rr_race {
	const char *path;
	const char *title;
	const char *claims; /* as written, "" = none */
	const char *shows;  /* what its author has found in it, beside
					* what is observed; NULL = nothing */
	const char *safe;   /* one of ours that keeps what this one
					* breaks, to be compared; NULL = none */
	size_t n_clients;
	struct rr_race_client clients[RR_RACE_CLIENTS_MAX];
	size_t n_servers;
	struct rr_race_server servers[RR_RACE_SERVERS_MAX];
	size_t n_keys;
	const char *keys[RR_KEYS_SHOWN_MAX]; /* shown, a column each */
	const char *lock;                    /* whose holder is kept an eye on, or NULL */
	bool lock_is_timestamp;              /* its value is the time of its end */
	bool lock_is_count;                  /* everybody who asks changes its value */
	int64_t limit;                       /* of clients in the critical section at
					* once: a semaphore's; 0 = one */
	const char *counter;                 /* that "counts" is about, or NULL */
	int64_t counter_from;                /* its value at the beginning */
	size_t n_given;                      /* commands before the first step */
	struct rr_step *given;
	size_t n_together; /* keys that change together or not at all */
	const char *together[RR_KEYS_SHOWN_MAX];
	size_t n_needs;
	struct rr_need {
		const char *command;
		bool not_there; /* ... must not be there */
	} needs[RR_NEEDS_MAX];  /* what the first server must have */
	size_t n_steps;
	struct rr_step *steps;
	size_t n_sayings;
	struct rr_saying *sayings;
	size_t n_verdicts;
	const char *verdicts[RR_FINDINGS_NAMED_MAX]; /* expected findings */
	int verdict_line;
	struct rr_race_text *texts; /* everything the pointers point into */
};

/* ---- Reading ------------------------------------------------------------ */

/* Reads a race from `text`. NULL when it is none: the error is "PATH:LINE:
 * expected ..., found ...". */
struct rr_race *rr_race_parse(const char *path, const char *text, size_t length,
			      struct rr_error *error);

/* The same from a file; NULL when it cannot be read, too. */
struct rr_race *rr_race_read(const char *path, struct rr_error *error);

void rr_race_free(struct rr_race *race);

/* A copy of `length` bytes, with a NUL at its end, that lives as long as the race. */
char *rr_race_keep(struct rr_race *race, const char *text, size_t length);

/* Frees the texts that were kept since `last` was the last one. */
void rr_race_drop_texts(struct rr_race *race, const struct rr_race_text *last);

/* What servers are to let clients of races do, as rr_server_options has it: nothing of what
 * a race may not do, nor of what is reserved. malloc'd. */
char *rr_race_rights(void);

/* May a race have this command? */
bool rr_step_is_allowed(const struct rr_step *step);

/* A command that a race may have and no client may do: the program does it, as a user of
 * its own. */
bool rr_step_is_reserved(const struct rr_step *step);

/* One that is reserved because a user may do more after it. */
bool rr_step_makes_user(const struct rr_step *step);

/* The word for a fault, "power-cut". */
const char *rr_fault_name(enum rr_fault fault);

/* ---- The project's races (race.c) --------------------------------------- */

/* A race by its file, or by the name of one of ours; NULL = there is none. */
struct rr_race *rr_library_open(const char *name, struct rr_error *error);

/* Is it one of ours, or a file? */
bool rr_library_has(const char *name);

/* "enters" of "A enters" and "tick" of "tick 10s". A command has no such word: NULL. */
const char *rr_step_word(enum rr_step_kind kind);

/* KEY or KEY@SERVER: the number of its server, the first one unless it is named, and how
 * many bytes the key's own name has. */
int rr_race_key_server(const struct rr_race *race, const char *key, size_t *length);

/* Does time pass in it, is it computed with, or read? Where servers' clocks
 * cannot be stopped such a race may not go as it is written. */
bool rr_race_needs_time(const struct rr_race *race);

/* The names of ours, sorted, in a malloc'd array of malloc'd strings:
 * rr_files_free_list(). */
char **rr_library_names(size_t *n);

/* Prints ours, a line each: name, claims, title. False: a file is no race. */
bool rr_library_print(bool markdown, struct rr_error *error);

/* ---- Writing (write.c) -------------------------------------------------- */

/*
 * Writes the file that the parser reads as this race: headings, steps, what
 * documents say, the verdict. Comments and blank lines of a file that was read
 * are no part of a race. What no parser made must be sayable, too: titles,
 * notes and remarks without newlines, a pattern for each reply that was taken
 * from a server (rr_reply_to_pattern()), times in whole microseconds (others
 * are rounded up).
 */
void rr_race_write(FILE *file, const struct rr_race *race);

/* The same as a text, malloc'd. */
char *rr_race_text(const struct rr_race *race);

/* One step as its line, without the newline. */
void rr_race_write_step(FILE *file, const struct rr_race *race, const struct rr_step *step);

/* What a step's reply has to be, in words: its pattern, or that it must be no
 * error. */
const char *rr_step_expectation(const struct rr_step *step);

/* ---- Replies and patterns (reply_text.c) -------------------------------- */

enum { RR_REPLY_TEXT_SIZE = 4096, RR_VARIABLES_MAX = 64, RR_VARIABLE_SIZE = 512 };

/* As redis-cli prints it, arrays on one line; cut off with ... if too long. */
void rr_reply_text(const struct rdl_reply *reply, char *text, size_t size);

/* What the names after a $ stand for. */
struct rr_variables {
	size_t n;
	struct rr_variable {
		char name[32];
		char value[RR_VARIABLE_SIZE];
	} all[RR_VARIABLES_MAX];
};

/* A value; NULL = there is none of that name. */
const char *rr_variable_get(const struct rr_variables *variables, const char *name, size_t length);

/* Gives a value; false = there is no room. */
bool rr_variable_set(struct rr_variables *variables, const char *name, size_t name_length,
		     const char *value, size_t length);

/* `word` with $names replaced by values; its text is malloc'd. */
struct rdl_word rr_variables_expand(const struct rr_variables *variables,
				    const struct rdl_word *word);

/*
 * Does `text` match `pattern`? * is any text, 1 is short for (integer) 1,
 * $name a variable, which ends where the pattern goes on: one without a value
 * takes the one it meets. Without `variables` it is any text. All else stands
 * for itself.
 */
bool rr_reply_matches(const char *pattern, const char *text, struct rr_variables *variables);

/*
 * Makes a reply's text, in place, a pattern that it matches: what would mean
 * something else in a race ($, and outside of quotes ! and #) becomes *. A
 * reply that is compared as it is needs no pattern.
 */
void rr_reply_to_pattern(char *text);

/* ---- Findings: what went wrong (verdict.c) ------------------------------ */

/* They are found by looking at what happened, never read from the file. */
enum rr_finding {
	RR_EXCLUSION_BROKEN, /* more clients inside at once than may be */
	RR_UPDATE_LOST,      /* the counter is lower than what was counted */
	RR_COUNTED_TWICE,    /* it is higher */
	RR_FOREIGN_RELEASE,  /* a living holder's lock was removed by another */
	RR_FOREIGN_CHANGE,   /* its value or lease was changed by another */
	RR_DEADLOCK,         /* a dead holder's lock that never expires */
	RR_KEPT_ALIVE,       /* a dead holder's lock, its lease renewed by others */
	RR_GHOST_LOCK,       /* a lock whose maker never entered */
	RR_LEFT_BEHIND,      /* a lock whose holder has left without it */
	RR_HALF_DONE,        /* of keys that change together, only some did */
	RR_WRITE_LOST,       /* an acknowledged write is gone after a fault */
	RR_REPLIES_CROSSED,  /* a client read the reply to another's command */
	RR_FINDINGS
};

/* A set of findings: bit i = enum rr_finding i. */
typedef unsigned rr_findings;

/* "exclusion broken". */
const char *rr_finding_name(enum rr_finding finding);

/* The identifier in JSON of a name, which stays when names change, and the name of an identifier: what is
 * neither is itself. */
const char *rr_finding_id(const char *phrase);
const char *rr_finding_spelling(const char *phrase);

/* What it means, in a sentence for a student. In a race of a semaphore more
 * than one client may be in the critical section. */
const char *rr_finding_meaning(const struct rr_race *race, enum rr_finding finding);

/* What a search has found in a race, which a player does not see, as its verdict names it. */
#define RR_NOT_SERIALIZABLE "not serializable"
#define RR_NOT_AS_EXPECTED "not as expected"
#define RR_NO_PROGRESS "no progress"

/* Does its verdict name such a finding? */
bool rr_race_is_found(const struct rr_race *race);

/*
 * Does `phrase` hold for this set? It is a finding's name, or one that says
 * that there is none: "exclusion kept", "count exact", "all or nothing",
 * "writes kept", "replies in order", "progress", "own locks only", "nothing
 * broken", or what only a search finds. *known is false when it is none of these.
 */
bool rr_finding_holds(const char *phrase, rr_findings findings, bool *known);

/* ---- Traces: what happened (verdict.c) ---------------------------------- */

/* One step as it went. Texts belong to the trace. */
struct rr_event {
	const struct rr_step *step;
	char *command;                 /* as sent, variables filled in; NULL = none */
	char *reply;                   /* what came, "(lost)" and "(waits)" too; NULL = none */
	char *remark;                  /* what it broke: "two inside: A B"; NULL = nothing */
	char *keys[RR_KEYS_SHOWN_MAX]; /* their values after it, "(nil)" too */
	bool differs;                  /* the reply is not the one that was expected */
	int64_t at_ns;                 /* virtual time since the beginning */
};

struct rr_trace {
	const struct rr_race *race;
	char *beginning[RR_KEYS_SHOWN_MAX]; /* the watched keys' values before
					     * the first step; NULL = not
					     * looked at */
	size_t n_events;
	struct rr_event *events;
	rr_findings findings;
	rr_findings broken_off;            /* those of a race that ended where this one did */
	char conclusion[RR_FINDINGS][160]; /* what each finding was, in figures */
	bool as_written;                   /* every reply as expected, and the verdict too */
};

void rr_trace_free(struct rr_trace *trace);

/* A race together with how it went: what a search has found. It is played once, and drawn and
 * written from its trace. */
struct rr_played {
	struct rr_race *race; /* NULL = there is none */
	struct rr_trace trace;
};

void rr_played_release(struct rr_played *played);

/* The findings' names, comma separated, or "nothing broken". */
void rr_trace_verdict(const struct rr_trace *trace, char *text, size_t size);

/* Makes them what the race is said to show. */
void rr_race_set_verdict(struct rr_race *race, rr_findings found);

/* What it is said to show, comma separated. */
enum { RR_VERDICT_SIZE = 300 };
const char *rr_race_verdict(const struct rr_race *race, char *text, size_t size);

/*
 * Writes a race that is as this one went: where it differed from what was
 * written down it ends, with the reply that came, and the verdict is what was
 * found. A race that was as written is written as it is.
 */
void rr_trace_write(FILE *file, const struct rr_trace *trace);

/* Does what the document says hold? */
bool rr_trace_saying_holds(const struct rr_trace *trace, const struct rr_saying *saying);

/* ---- The observer (observer.c) ------------------------------------------ */

/*
 * Watches a race and finds what it breaks: who is inside, whose lock it is,
 * what was counted, what was there before a fault. It is told what happened
 * and what the keys hold, and asks no server.
 */
enum { RR_REMARK_SIZE = 160, RR_VALUE_SIZE = 512 };

/* What a lock's key holds; expires_ns of virtual time, -1 = never. */
struct rr_lock_state {
	char value[RR_VALUE_SIZE]; /* "(nil)" = not there */
	int64_t expires_ns;
};

struct rr_observer {
	const struct rr_race *race;
	rr_findings findings;
	char conclusion[RR_FINDINGS][RR_REMARK_SIZE];
	bool inside[RR_RACE_CLIENTS_MAX];
	bool crashed[RR_RACE_CLIENTS_MAX];
	int owner;          /* the client that made the lock; -1 = not known */
	bool owner_entered; /* since then */
	struct rr_lock_state lock;
	long long counted;
	char together[RR_KEYS_SHOWN_MAX][RR_VALUE_SIZE]; /* at the beginning */
};

void rr_observer_begin(struct rr_observer *observer, const struct rr_race *race);

/* A mark: enters, leaves, counts, crashes, connects. `remark` says what it
 * broke, "" = nothing; so below. */
void rr_observer_mark(struct rr_observer *observer, const struct rr_step *step,
		      char remark[RR_REMARK_SIZE]);

/* The lock after a step of `client` (-1 = time, a fault); now_s is the second
 * of the epoch that a client would read. */
void rr_observer_lock(struct rr_observer *observer, int client, const struct rr_lock_state *lock,
		      long long now_s, char remark[RR_REMARK_SIZE]);

/* A client has read the reply to a command of another client's. */
void rr_observer_crossed(struct rr_observer *observer, int reader, int sender,
			 char remark[RR_REMARK_SIZE]);

/* A key that held `before` holds `after` when the server is back. */
void rr_observer_survived(struct rr_observer *observer, const char *key, const char *before,
			  const char *after, char remark[RR_REMARK_SIZE]);

/* At the end: the counter's value, and those of the keys that belong together,
 * as rr_reply_text() has them. */
void rr_observer_end(struct rr_observer *observer, const char *counter,
		     char *together[RR_KEYS_SHOWN_MAX]);

#endif
