/* SPDX-License-Identifier: MIT */
/*
 * The command line of a subcommand, as a table. A row is an option: what it is
 * called, what it takes, and where in the command's own struct that goes. What
 * several subcommands have is described once, in option.c, so that it has one
 * name, one letter and one meaning everywhere; a row names it and says where it
 * goes:
 *
 *	static const struct rr_option options[] = {
 *		{ .common = RR_OPTION_JOBS, .at = offsetof(struct mine, jobs) },
 *		{ .name = "shout", .help = "say it loud", .kind = RR_TAKES_NOTHING,
 *		  .at = offsetof(struct mine, shouts) },
 *	};
 *
 * A mistake ends the program: one line, RR_EXIT_USAGE. Asking for --help ends
 * it, too.
 */
#ifndef RR_OPTION_H
#define RR_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/* What an option takes, and the type of the field that it goes to. */
enum rr_option_kind {
	RR_TAKES_NOTHING, /* bool: it is there */
	RR_TAKES_INT,     /* int: a whole number from min to max */
	RR_TAKES_NUMBER,  /* long, or another type of its size: the same */
	RR_TAKES_TEXT,    /* const char *, not empty */
	RR_TAKES_WORD,    /* int or an enum: the index of one of `words` */
	RR_TAKES_MORE     /* what `take` makes of it */
};

/* What several subcommands have (option.c). */
enum rr_common_option {
	RR_OPTION_OWN, /* is not one of them */
	RR_OPTION_ALL,
	RR_OPTION_CLIENTS,
	RR_OPTION_FORMAT,
	RR_OPTION_INCREMENTS,
	RR_OPTION_JOBS,
	RR_OPTION_MOST,
	RR_OPTION_OUTPUT,
	RR_OPTION_REDIS_SERVER,
	RR_OPTION_REPEATS,
	RR_OPTION_SAVE,
	RR_OPTION_SECONDS,
	RR_OPTION_SEED,
	RR_OPTION_TTL_MS,
	RR_COMMON_OPTIONS
};

/* Sets a field or several of the command's struct; false, and the error, when
 * the text will not do. It may be changed. */
typedef bool rr_take(void *into, char *text, struct rr_error *error);

/* With a common option, what is left out here is as in option.c. */
struct rr_option {
	enum rr_common_option common;
	const char *name;     /* "ttl-ms"; NULL and a help: a headline */
	char letter;          /* 0 = none */
	const char *argument; /* "MS"; NULL = it takes none */
	const char *help;
	enum rr_option_kind kind;
	size_t at;
	long min, max;
	const char *const *words;
	size_t n_words;
	rr_take *take;
};

struct rr_command_line {
	const char *about;     /* what the command does; what comes after a \v is
				* printed behind the options */
	const char *arguments; /* "[STRATEGY...]"; NULL = there are none */
	const char *missing;   /* said when none is given; NULL = none need be */
	const struct rr_option *options;
	size_t n_options;
	rr_take *take_argument;
	/* When all has been taken: does it go together? May be NULL. */
	bool (*check)(void *into, struct rr_error *error);
};

enum { RR_OPTIONS_MAX = 48 }; /* of one command */

/* `into` is the command's struct, which holds the defaults; argv[0] is what
 * messages begin with. */
void rr_command_line_parse(const struct rr_command_line *line, void *into,
			   int argc, char **argv);

/* Prints the help page of "redrace NAME" to standard output. */
void rr_command_line_help(const struct rr_command_line *line,
			  const char *name);

/* ---- For those that take more ------------------------------------------ */

/* A whole number from `min` to `max`, as the value of --NAME. */
bool rr_take_number(const char *name, const char *text, long min, long max,
		    long *value, struct rr_error *error);

/* The index of what is called `name`, of those that name_at() names (NULL
 * behind the last one). If there is none, the nearest is suggested, or `where`
 * says where they are shown: "no STRATEGY 'x'; WHERE". */
bool rr_take_name(const char *what, const char *name,
		  const char *(*name_at)(size_t index), const char *where,
		  size_t *index, struct rr_error *error);

/* There is none of that name: the error. */
bool rr_refuse_name(const char *what, const char *name,
		    const char *(*name_at)(size_t index), const char *where,
		    struct rr_error *error);

#endif
