/* SPDX-License-Identifier: MIT */
/*
 * A race: a transcript of what several clients do to one or more servers, read
 * from a text file. docs/races.md explains the language.
 */
#ifndef RR_RACE_H
#define RR_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/cluster.h"

enum {
	RR_ACTORS_MAX = 12,
	RR_RACE_SERVERS_MAX = 8,
	RR_KEYS_SHOWN_MAX = 8,
	RR_WORDS_MAX = 64,
	RR_STEPS_MAX = 4096,
	RR_FINDINGS_NAMED_MAX = 8,
	RR_GIVEN_MAX = 16,
	RR_NEEDS_MAX = 4,
};

/* What one line of a transcript does. */
enum rr_step_kind {
	RR_STEP_RUN,      /* A> COMMAND => REPLY */
	RR_STEP_WRITE,    /* A writes COMMAND: nobody waits for the reply yet */
	RR_STEP_BYTES,    /* A writes bytes "...": a part of a command */
	RR_STEP_READ,     /* A < REPLY: the next one on its connection */
	RR_STEP_ENTER,    /* A enters its critical section */
	RR_STEP_LEAVE,    /* A leaves it */
	RR_STEP_COUNT,    /* A counts: its increment was acknowledged */
	RR_STEP_CRASH,    /* A crashes: its connections are gone */
	RR_STEP_CONNECT,  /* A connects again */
	RR_STEP_LOCK,     /* A locks m: a mutex outside Redis */
	RR_STEP_UNLOCK,   /* A unlocks m */
	RR_STEP_COMPUTE,  /* A computes end = now + 11 */
	RR_STEP_NOTE,     /* -- text */
	RR_STEP_TICK,     /* tick 10s */
	RR_STEP_CLOCK,    /* clock A +60s: a client's or a server's is off */
	RR_STEP_FAULT,    /* kill n1: something happens to a server */
};

/* What can happen to a server. */
enum rr_fault {
	RR_FAULT_KILL,       /* kill N: kill -9 */
	RR_FAULT_SHUT_DOWN,  /* shutdown N: SIGTERM, save points are honoured */
	RR_FAULT_AWAIT_END,  /* await-end N: until it has ended by itself */
	RR_FAULT_RESTART,    /* restart N: start again, its files kept */
	RR_FAULT_RESTART_FAILS, /* restart-fails N: its files are not right */
	RR_FAULT_WIPE,       /* wipe N: start again without its files */
	RR_FAULT_HANG,       /* hang N: SIGSTOP */
	RR_FAULT_RESUME,     /* resume N */
	RR_FAULT_CUT,        /* cut N: a replica loses its link */
	RR_FAULT_JOIN,       /* join N: and has it again */
	RR_FAULT_PROMOTE,    /* promote N: a replica becomes a master */
	RR_FAULT_CATCH_UP,   /* catch-up N: until a replica has everything */
	RR_FAULT_POWER,      /* power-cut N: kill, what no fsync covered is gone */
	RR_FAULT_AWAIT_SYNC, /* await-sync N: until an fsync covers everything */
	RR_FAULT_AWAIT_SAVE, /* await-save N: until a snapshot holds everything */
	RR_FAULT_TEAR,       /* tear N last|at BYTES, after|in COMMAND: its AOF */
	RR_FAULT_SLOW_DISK,  /* slow-disk N 100ms: every fsync takes longer */
	RR_FAULT_DIE_IN_SYNC, /* die-in-sync N: it kills itself in the next fsync */
	RR_FAULT_BREAK_DISK, /* break-disk N: snapshots fail */
	RR_FAULT_MEND_DISK,  /* mend-disk N */
	RR_FAULT_FILL,       /* fill N: its memory is full */
	RR_FAULT_EMPTY,      /* unfill N: as large as declared again */
	RR_FAULT_KINDS
};

struct rr_step {
	enum rr_step_kind kind;
	int line;              /* in the file */
	int repetition;        /* 0, or which round of a repeat */
	int repetitions;
	int actor;             /* -1 = none */
	int server;            /* -1 = none */
	int peer;              /* CLOCK of a client: that client, else -1 */
	enum rr_fault fault;
	enum rr_tear tear;
	size_t n_words;
	const char *const *words; /* a command, still with its $variables */
	const char *text;      /* a note, a mutex, a variable, a key, bytes */
	size_t length;         /* of bytes */
	int64_t amount;        /* ns of TICK and CLOCK, of TEAR, s of COMPUTE */
	const char *expected;  /* the pattern after =>, NULL = anything */
	const char *remark;    /* after !: why this is the deciding step, or NULL */
	bool is_lost;          /* => (lost): executed, the client never knows */
	bool is_waiting;       /* => (waits): no reply yet */
};

/* What a document says, so that it can be compared with what happens. */
struct rr_saying {
	const char *claim;
	int line;
	int step;             /* whose reply is meant; -1 = a finding is */
	const char *says;     /* a pattern of a reply, or a finding */
};

enum { RR_CONFIG_LINES_MAX = 8 };

struct rr_race_server {
	const char *name;
	struct rr_server_options options;
	const char *config[RR_CONFIG_LINES_MAX + 1];
};

/* One client: a name, and whose connection it uses (its own index, usually). */
struct rr_race_actor {
	const char *name;
	int connection;
};

struct rr_race {
	const char *path;
	const char *title;
	const char *claims;            /* as written, "" = none */
	size_t n_actors;
	struct rr_race_actor actors[RR_ACTORS_MAX];
	size_t n_servers;
	struct rr_race_server servers[RR_RACE_SERVERS_MAX];
	size_t n_keys;
	const char *keys[RR_KEYS_SHOWN_MAX];   /* shown, a column each */
	const char *lock;              /* whose holder is kept an eye on, or NULL */
	bool lock_is_timestamp;        /* its value is the time of its end */
	bool lock_is_count;            /* everybody who asks changes its value */
	const char *counter;           /* that "counts" is about, or NULL */
	int64_t counter_from;          /* its value at the beginning */
	size_t n_given;                /* commands before the first step */
	struct rr_step given[RR_GIVEN_MAX];
	size_t n_together;             /* keys that change together or not at all */
	const char *together[RR_KEYS_SHOWN_MAX];
	size_t n_needs;
	struct rr_need {
		const char *command;
		bool not_there;        /* ... must not be there */
	} needs[RR_NEEDS_MAX];         /* what the first server must have */
	size_t n_steps;
	struct rr_step *steps;
	size_t n_sayings;
	struct rr_saying *sayings;
	size_t n_verdicts;
	const char *verdicts[RR_FINDINGS_NAMED_MAX]; /* expected findings */
	int verdict_line;
	struct rr_race_text *texts;    /* everything the pointers point into */
};

/*
 * Reads a race from `text`; `path` is what messages begin with. NULL, and
 * "PATH:LINE: expected ..., found ..." in `error`, when it is not one.
 */
struct rr_race *rr_race_parse(const char *path, const char *text,
			      size_t length, char *error, size_t error_size);

/* The same from a file; NULL with a message when it cannot be read, too. */
struct rr_race *rr_race_read(const char *path, char *error, size_t error_size);

void rr_race_free(struct rr_race *race);

/* A copy of `length` bytes, with a NUL behind, that lives as long as the race;
 * NULL when out of memory. */
char *rr_race_keep(struct rr_race *race, const char *text, size_t length);

/* The word for a fault, "power-cut". */
const char *rr_fault_name(enum rr_fault fault);

#endif
