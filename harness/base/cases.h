/* SPDX-License-Identifier: MIT */
/*
 * The results of a command as a list of cases, each with a verdict, and how other
 * tools read them: JSON, JUnit's XML, the Test Anything Protocol, annotations of a
 * GitHub workflow. Every command that has results makes such a list of them; what
 * it prints for people (text, pictures, documents) is its own.
 *
 * Order: init, add each, publish, release.
 */
#ifndef RR_CASES_H
#define RR_CASES_H

#include <jansson.h>
#include <stdio.h>

#include "driver.h"
#include "error.h"
#include "format.h"

/* One that is inconclusive has shown nothing: no format calls it passed. */
enum rr_case_verdict {
	RR_CASE_PASSED,
	RR_CASE_FAILED,
	RR_CASE_ERROR, /* it could not be judged */
	RR_CASE_INCONCLUSIVE,
	RR_CASE_SKIPPED,
	RR_CASE_VERDICTS
};

struct rr_case {
	const char *suite; /* what it is one of: "matrix.none" */
	const char *name;  /* the same in every run: "threads" */
	enum rr_case_verdict verdict;
	double seconds;      /* 0 = not measured */
	const char *message; /* one line that says why */
	const char *details; /* lines; NULL = there are none */
	const char *file;    /* its source, if that is there; NULL = it has none */
	long line;           /* 0 = none in particular */
	json_t *properties;  /* an object of figures and words; NULL = none */
};

struct rr_cases {
	char *command;      /* "redrace matrix" */
	double begun;       /* when there was nothing in it */
	double seconds;     /* of all of it */
	json_t *properties; /* of all of it: an object */
	bool is_called_off; /* what is published then is shown, and replaces no file */
	size_t n;
	struct rr_case *cases;
};

/* "passed", "failed", "error", "inconclusive", "skipped". */
extern const char *const rr_case_verdict_names[RR_CASE_VERDICTS];

/* The verdict of something that the program would exit with that code for. */
enum rr_case_verdict rr_case_verdict_of(enum rr_exit code);

void rr_cases_init(struct rr_cases *cases, const char *command);
void rr_cases_release(struct rr_cases *cases);

/* The server of all of it, "Redis 7.0.15", as properties. */
void rr_cases_note_server(struct rr_cases *cases, const char *version);

/* Of such a version its number, "7.0.15". */
const char *rr_version_number(const char *version);

/* Takes the properties over and copies the texts, without colours and control
 * characters. */
void rr_cases_add(struct rr_cases *cases, const struct rr_case *one);

/* The same of a text of several lines as a property; NULL or "": null. */
json_t *rr_case_text(const char *text);

/* A step of a finding. */
struct rr_case_step {
	size_t number;      /* from 1, as in what is drawn; 0 = it has none */
	const char *kind;   /* "run" */
	const char *client; /* NULL = no client's */
	size_t connection;  /* of the client, from 1; 0 = none */
	const char *server; /* NULL = none */
	size_t n_words;     /* of a command; 0 = it is none */
	const struct rdl_word *words;
	const char *text;  /* of a request to an app, or its answer; NULL = none */
	const char *reply; /* NULL = none that the client receives */
	const char *fault; /* NULL = none */
	int64_t ns;        /* so much time passes, or a clock is ahead */
};

/* As docs/formats.md has it. */
json_t *rr_case_step(const struct rr_case_step *step);

/* How a client ended, or what a request was answered. */
struct rr_case_ending {
	const char *client;
	int status; /* of wait(2); -1 = it did not end */
	int http;   /* 0 = none */
	const char *output;
	size_t length;
};

json_t *rr_case_ending(const struct rr_case_ending *ending);

/* A text as a list of its lines. */
json_t *rr_case_lines(const char *text);

/* How long the list has been there. */
double rr_cases_age(const struct rr_cases *cases);

/* {"kind": "data", "text": "..."}. */
json_t *rr_case_error(const struct rr_error *error);

/* What ended all of it, as a case that took all of the time. Its properties are `exit` and `error`. */
void rr_cases_add_error(struct rr_cases *cases, const char *suite, const char *name,
			const struct rr_error *error);

/* How many have that verdict. */
size_t rr_cases_count(const struct rr_cases *cases, enum rr_case_verdict verdict);

/* "3 passed, 1 failed, 2 skipped": what there is none of is left out. */
void rr_cases_summarise(const struct rr_cases *cases, FILE *file);

/* Prints `what` in that format; what is wrong is in the error. */
typedef void rr_print(const void *what, enum rr_format format, FILE *out, struct rr_error *error);

/* Prints and writes all that was asked for: a file without colours, and under another
 * name first. False: the first error; the others are written all the same. */
bool rr_outputs_write(const struct rr_outputs *outputs, rr_print *print, const void *what,
		      struct rr_error *error);

/* The same of cases; `print` is asked for what is no format of cases. With --format
 * github the summary of the workflow's step, the file that $GITHUB_STEP_SUMMARY names,
 * gets a part more. */
bool rr_cases_publish(const struct rr_cases *cases, const struct rr_outputs *outputs,
		      rr_print *print, const void *what, struct rr_error *error);

/* ---- Readers --------------------------------------------------------------- */

/* Those of a file that a command has written as JSON. False: the error, and nothing to
 * release. */
bool rr_cases_read(struct rr_cases *cases, const char *path, struct rr_error *error);

/* The same of what it has written as JSON, without a file; `name` it in errors. */
bool rr_cases_load(struct rr_cases *cases, const char *name, const char *text, size_t size,
		   struct rr_error *error);

/* ---- Writers (cases_print.c) --------------------------------------------- */

/* JSON as results are printed, also into the log of a CI: with a newline at its end. "##[", which is
 * a command to a runner of GitHub wherever it stands in a line, is \u0023#[ in there, which says
 * the same; `flags` are jansson's. */
void rr_json_print(const json_t *root, size_t flags, FILE *out);

/* In one of RR_CASE_FORMATS. */
void rr_cases_print(const struct rr_cases *cases, enum rr_format format, FILE *out);

/* What the summary of a workflow's step gets: Markdown. */
void rr_cases_print_step(const struct rr_cases *cases, FILE *out);

#endif
