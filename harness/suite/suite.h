/* SPDX-License-Identifier: MIT */
/*
 * A suite: named checks in a YAML file, each with what it is expected to come to. They
 * are run in parallel, by processes of a pool, and judged.
 *
 * A key of a check is an option of `redrace check`, by the same name; which there are,
 * and of which type, follows from the command's own table (keys.c), and so does the
 * JSON schema for editors. What a check says becomes words of a command line, which
 * the command reads as it reads those of a user.
 */
#ifndef RR_SUITE_H
#define RR_SUITE_H

#include "base/cases.h"
#include "base/machine.h"
#include "base/option.h"
#include "base/shard.h"

#define RR_SUITE_FILE "redrace.yaml"

enum { RR_SUITE_CHOSEN_MAX = 256 };

/* The command that makes one check. */
struct rr_suite_command {
	const struct rr_command_line *line;
	size_t size;     /* of the struct that its options set */
	size_t whole_at; /* options from there on are of the whole suite, and no keys */
	void *context;   /* of these two; argv[0] is "redrace check" */
	/* Do the words make a check? False: the error. */
	bool (*accept)(void *context, int argc, char **argv, struct rr_error *error);
	/* Makes the check of that name, and writes its result to standard output as JSON. In a process
	 * of its own. */
	enum rr_exit (*run)(void *context, const char *name, int argc, char **argv,
			    struct rr_error *error);
};

/* What the user says of the whole. */
struct rr_suite_options {
	const char *path; /* NULL = RR_SUITE_FILE */
	long jobs;        /* at once */
	struct rr_shard shard;
	size_t n_chosen; /* names of checks; none = all */
	const char *chosen[RR_SUITE_CHOSEN_MAX];
};

/* Runs the checks, prints and writes what came of them, and returns the worst of their
 * exit codes (rr_exit_worse). An error is of the whole: the file is wrong. */
enum rr_exit rr_suite_run(const struct rr_suite_command *command, struct rr_suite_options *options,
			  const struct rr_outputs *outputs, struct rr_error *error);

/* The names of the checks in the file, malloc'd as each is; none if it cannot be read. */
char **rr_suite_names(const struct rr_suite_command *command, const char *path, size_t *n);

/* The JSON schema of such a file, for editors. */
void rr_suite_write_schema(const struct rr_suite_command *command, FILE *out);

/* ---- The file, read (read.c) --------------------------------------------------------- */

struct rr_suite_check {
	char *name;   /* printable */
	long line;    /* where it stands */
	char **words; /* a command line: options, "--", the program */
	size_t n_words;
	int expected;  /* the index of an outcome */
	char **known;  /* findings that are known, by their names */
	bool has_gone; /* it has a key that says nothing any more */
	size_t n_known;
};

struct rr_suite {
	const char *path;
	struct rr_suite_check *checks; /* in the order of the file */
	size_t n;
};

/* False: the error says where the file is wrong, FILE:LINE:COLUMN, and what to do. Release
 * in any case. The second reads a text instead of the file. */
bool rr_suite_read(struct rr_suite *suite, const char *path, const struct rr_suite_command *command,
		   struct rr_error *error);
bool rr_suite_parse(struct rr_suite *suite, const char *path, const char *text, size_t size,
		    const struct rr_suite_command *command, struct rr_error *error);
void rr_suite_release(struct rr_suite *suite);

/* ---- Keys (keys.c) ------------------------------------------------------------------- */

enum rr_suite_key_kind {
	RR_SUITE_OPTION,
	RR_SUITE_COMMAND,
	RR_SUITE_EXPECT,
	RR_SUITE_KNOWN,
	RR_SUITE_GONE, /* a flag that is read and says nothing any more */
};

struct rr_suite_key {
	enum rr_suite_key_kind kind;
	struct rr_option option; /* if it is one; with its plural it may be given several
				  * times */
};

/* False: there is no such key. `is_list`: its value is a list or a mapping, so that a name
 * which is an option's plural is that option: "clients" is one number, or several of
 * "client". */
bool rr_suite_find_key(const struct rr_suite_command *command, const char *name, bool is_list,
		       struct rr_suite_key *key);

/* The one that is nearest, to be suggested; NULL = none is near. */
const char *rr_suite_nearest_key(const struct rr_suite_command *command, const char *name);

/* Are its values pairs: a mapping, "NAME=COMMAND" or "COMMAND VALUE"? */
bool rr_suite_takes_pairs(const struct rr_option *option);

/* ---- Verdicts (judge.c) -------------------------------------------------------------- */

/* What a check can be expected to come to, as verdicts begin; NULL after the last one. The
 * first is the default. */
extern const char *const rr_suite_outcomes[];

/* What has come back of a check. */
struct rr_suite_result {
	bool is_done; /* false: the suite was called off before */
	enum rr_exit code;
	double seconds;
	struct rr_error error;
	char *json; /* the result; NULL = there is none */
	size_t size;
};

/* Adds the check as a case, judged; what the suite exits with for it. */
enum rr_exit rr_suite_judge(const struct rr_suite *suite, const struct rr_suite_check *check,
			    const struct rr_suite_result *result, struct rr_cases *cases);

#endif
