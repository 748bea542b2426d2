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
 *		{ .name = "shout", .help = "say it loud", .at = offsetof(struct mine, shouts) },
 *	};
 *
 * Rows are shown in the order of the table, under the headlines that stand
 * between them. --help, manual pages and completion are made from the same table
 * (help.c), to which -h, --help and -V, --version are added.
 *
 * A mistake ends the program: one line, RR_EXIT_USAGE. So do --help and
 * --version. A command of many options has a short help, with its examples and the
 * options that most users need; --help=all shows the rest.
 */
#ifndef RR_OPTION_H
#define RR_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"
#include "format.h"
#include "strategy.h"

/* What an option takes, and the type of the field that it goes to. The first five follow
 * from what its row has. */
enum rr_option_kind {
	RR_TAKES_NOTHING, /* no argument. bool: it is there */
	RR_TAKES_NUMBER,  /* a max. long, or another type of its size: from min to max */
	RR_TAKES_WORD,    /* words. int or an enum: the index of one of them */
	RR_TAKES_MORE,    /* what `take` makes of it */
	RR_TAKES_TEXT,    /* none of these. const char *, not empty */
	RR_TAKES_INT,     /* int: a whole number from min to max */
	RR_TAKES_FILE,    /* const char *: the path of a file that can be written */
	RR_TAKES_FORMAT,  /* enum rr_format: the name of one of `formats` */
	RR_TAKES_OUTPUT,  /* struct rr_outputs: a file more, in one of `formats` */
	RR_TAKES_SHARD    /* struct rr_shard: "2/3" */
};

/* What several subcommands have (option.c). */
enum rr_common_option {
	RR_OPTION_OWN, /* is not one of them */
	RR_OPTION_AUDIT,
	RR_OPTION_CLIENTS,
	RR_OPTION_DOCS,
	RR_OPTION_FORMAT,
	RR_OPTION_GRAPH,
	RR_OPTION_INCREMENTS_EACH,
	RR_OPTION_JOBS,
	RR_OPTION_MAX_STATES,
	RR_OPTION_OUTPUT, /* with `formats` besides standard output: RR_TAKES_OUTPUT */
	RR_OPTION_PROCESSES,
	RR_OPTION_REDIS_SERVER,
	RR_OPTION_REPEATS,
	RR_OPTION_REPLAY,
	RR_OPTION_ROUNDS,
	RR_OPTION_SAVE,
	RR_OPTION_SEED,
	RR_OPTION_SHARD,
	RR_OPTION_STATS,
	RR_OPTION_TIMES,
	RR_OPTION_TTL_MS,
	RR_COMMON_OPTIONS
};

/* Sets a field or several of what is `at` in the command's struct, which is that struct where the
 * row does not say it; false, and the error, when the text will not do. It may be changed. */
typedef bool rr_take(void *into, char *text, struct rr_error *error);

/* The same of an option with two values, "COMMAND VALUE"; the second one may look like an
 * option. */
typedef bool rr_take_pair(void *into, char *first, char *second, struct rr_error *error);

/* With a common option, what is left out here, or 0, is as in option.c. */
struct rr_option {
	enum rr_common_option common;
	const char *name;     /* "ttl-ms"; NULL and a help: a headline */
	char letter;          /* 0 = none */
	const char *argument; /* "MS"; NULL = it takes none or, with a max, "N" */
	const char *help;
	enum rr_option_kind kind;
	size_t at;
	long min, max;
	const char *neighbour; /* that may have been meant by what is no number; or NULL */
	const char *const *words;
	size_t n_words;
	/* Values that completion suggests, NULL behind the last; may be NULL */
	const char *(*name_at)(size_t index);
	unsigned formats;  /* a set: base/format.h; where its help says %s they stand */
	unsigned pictures; /* those of them that only draw a schedule that was found */
	rr_take *take;
	rr_take_pair *take_pair; /* instead of it */
	bool repeats;            /* it may be given several times */
	/* Instead of all of these but `at`: stands for several rows of another table, whose
	 * fields are behind `at`. False: there are no more. */
	bool (*row_at)(size_t index, struct rr_option *option);
};

#define RR_OPTIONS(table) .options = (table), .n_options = sizeof(table) / sizeof((table)[0])

/* A line of the short help: an option of the table by its name, and what it does in a few words. */
struct rr_brief {
	const char *name, *help;
};

struct rr_command_line {
	const char *about;            /* what the command does: paragraphs, which a \v
				* separates; the first is a sentence or two */
	const char *arguments;        /* "[STRATEGY...]"; NULL = there are none */
	const char *missing;          /* said when none is given; NULL = none need be */
	const char *examples;         /* command lines, a \n between them, or NULL */
	const struct rr_brief *brief; /* the short help; NULL = --help shows every option */
	size_t n_brief;
	/* The names that an argument can be, for completion: NULL behind the
	 * last one; and more of them, in malloc'd memory. May be NULL. */
	const char *(*name_at)(size_t index);
	char **(*find_names)(size_t *n);
	const struct rr_option *options; /* RR_OPTIONS(their table) */
	size_t n_options;
	rr_take *take_argument;
	/* When all has been taken: does it go together? May be NULL. */
	bool (*check)(void *into, struct rr_error *error);
};

enum { RR_OPTIONS_MAX = 64 }; /* of one command */

/* `into` is the command's struct, which holds the defaults; argv[0] is what
 * messages begin with, "redrace NAME". */
void rr_command_line_parse(const struct rr_command_line *line, void *into, int argc, char **argv);

/* The same, and a mistake ends nothing: false, and the error. */
bool rr_command_line_take(const struct rr_command_line *line, void *into, int argc, char **argv,
			  struct rr_error *error);

/* A row with what it leaves to the common option; without a name it is a headline.
 * False: there are no more. */
bool rr_option_at(const struct rr_command_line *line, size_t index, struct rr_option *option);

/* What it does, with the formats that it takes in place of a %s; malloc'd (help.c). */
char *rr_option_help(const struct rr_option *option);

/* ---- What a table says (help.c) ----------------------------------------- */

/* The help page of `program`, "redrace NAME": the short one, if there is one. */
void rr_command_line_help(const struct rr_command_line *line, const char *program, FILE *out);

/* The same with every option. */
void rr_command_line_help_all(const struct rr_command_line *line, const char *program, FILE *out);

/* Its manual page, in section 1 and mdoc(7). */
void rr_command_line_manual(const struct rr_command_line *line, const char *name,
			    const char *summary, FILE *out);

/* What can stand behind the words, a line each; the first is the one behind
 * the command's name. "@files" and "@directories" are what they say. */
void rr_command_line_complete(const struct rr_command_line *line, size_t n, char *const *words,
			      FILE *out);

/* -h or -V was given: prints what it asks for, and ends the program. Of --help=WORD, `word` is
 * "all"; NULL = there is none. */
_Noreturn void rr_command_line_answer(const struct rr_command_line *line, int key, const char *word,
				      const char *program);

/* ---- For those that take more ------------------------------------------ */

/* A whole number from `min` to `max`, as the value of --NAME. */
bool rr_take_number(const char *name, const char *text, long min, long max, long *value,
		    struct rr_error *error);

/* Strategies by their names, each once: the first field of the struct of a command that
 * takes them, with rr_take_strategy() as its take_argument. */
enum { RR_CHOSEN_MAX = 64 };
struct rr_chosen_strategies {
	size_t n;
	const struct rr_strategy *all[RR_CHOSEN_MAX];
};
rr_take rr_take_strategy;

/* The index of what is called `name`, of those that name_at() names (NULL
 * behind the last one). If there is none, the nearest is suggested, or `where`
 * says where they are shown: "no STRATEGY 'x'; WHERE". */
bool rr_take_name(const char *what, const char *name, const char *(*name_at)(size_t index),
		  const char *where, size_t *index, struct rr_error *error);

/* There is none of that name: the error. */
bool rr_refuse_name(const char *what, const char *name, const char *(*name_at)(size_t index),
		    const char *where, struct rr_error *error);

#endif
