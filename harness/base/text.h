/* SPDX-License-Identifier: MIT */
/* Texts: what users type and read, what can be printed anywhere and how much room
 * it takes, and what XML, and so SVG and HTML, and Markdown need. */
#ifndef RR_TEXT_H
#define RR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RR_GROUPED_SIZE = 32 };

/* 100000 -> "100,000". */
const char *rr_grouped(char buffer[RR_GROUPED_SIZE], long long value);

/* 12345 ns -> "12.3 us"; three digits, in the unit that fits. */
const char *rr_duration(char buffer[RR_GROUPED_SIZE], uint64_t value_ns);

/* In the largest unit that needs no fraction, rounded up to a microsecond: "11s", "1500ms",
 * "3us". */
const char *rr_exact_duration(char buffer[RR_GROUPED_SIZE], int64_t ns);

/* Such a duration, of more than 0 and of `most_ns` at most, or with a sign of as much either way;
 * false otherwise. */
bool rr_parse_duration(const char *text, bool is_signed, int64_t most_ns, int64_t *ns);

/* A whole decimal number in [min, max], without a blank or a plus before it;
 * false otherwise. */
bool rr_parse_number(const char *text, long min, long max, long *value);

/* The n_names' one that is nearest to `name`, or the only one that begins so; NULL when none
 * is near. */
const char *rr_nearest(const char *name, const char *const names[], size_t n_names);

/* Is it one of the words, which any of the characters in `between` stand between? Of NULL none is. */
bool rr_has_word(const char *words, const char *between, const char *word);

/* The length of a text's first line, without its end; *text moves on to the next. */
size_t rr_take_line(const char **text);

bool rr_ends_in(const char *text, const char *suffix);

/* Puts more behind a text of `size` bytes at most, as far as there is room. */
void rr_add_text(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "a, b or c". */
const char *rr_list_words(char *list, size_t size, const char *const words[], size_t n);

/* A word as a shell takes it: as it is, in '...', or with escapes in $'...'. */
void rr_shell_word(FILE *out, const char *word);

/* A command line as one can type it again: the first word as it is, others in quotes
 * where the shell needs them. Malloc'd. */
char *rr_shell_words(int n, char *const words[]);

/* Bytes as a string, malloc'd, in which a byte 0 is \x00. */
char *rr_text_of_bytes(const char *bytes, size_t length);

/* The line of what a program printed that says best why it failed, malloc'd: the last one that names
 * an error ("redis.exceptions.ResponseError: ..."), else the last that is not empty. A byte 0 in it
 * is \x00. */
char *rr_reason_line(const char *output, size_t length);

/* ---- On a terminal ----------------------------------------------------------- */

/* A malloc'd copy of `length` bytes, of anybody's, as UTF-8 that does nothing but show
 * itself: control characters, those that turn a line round, and bytes that are no UTF-8
 * become \n, \x1f, \xff; and so does the first character of what is a command to a
 * runner of GitHub: of "##[error]", and of "::error" at the beginning or behind a blank,
 * where a line may begin. */
char *rr_plain_bytes(const char *text, size_t length);

/* The same of a string; of NULL it is NULL. */
char *rr_plain(const char *text);

/* Is there such a command at `i`? "##[word" is one wherever it stands. */
bool rr_is_command(const char *text, size_t length, size_t i);

/* Is no character of a line, but a tab, one that does not show itself? */
bool rr_is_shown(const char *text, size_t length);

/* Columns on a terminal. */
size_t rr_plain_width(const char *text);

/* How many bytes of `text` fit into so many columns. */
size_t rr_plain_fit(const char *text, size_t columns);

/* As rr_plain_bytes(), in so many columns at most, 0 = any number; `mark` stands behind what is cut. */
char *rr_plain_cut(const char *text, size_t length, size_t columns, const char *mark);

/* The next line of a text that is wrapped at so many columns: its length in
 * bytes; *text moves on to what follows, to the NUL at the end. Breaks at
 * blanks, and inside a word when it is longer than a line, but not before a "::error". */
size_t rr_plain_line(const char **text, size_t columns);

/* Prints what stands at column `from` of a line of its own, wrapped at RR_COLUMNS, other
 * lines at column `indent`; with a newline at the end. */
enum { RR_COLUMNS = 79 };
void rr_print_wrapped(FILE *out, const char *text, size_t from, size_t indent);

/* Prints a sentence that begins at column `from` and goes on at column `indent`, so wide that
 * a suite may indent the lines. */
enum { RR_COLUMNS_OF_SUITES = 2 };
void rr_print_sentence(FILE *out, size_t from, size_t indent, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Each line as a sentence that goes on two columns further in. */
void rr_print_sentences(FILE *out, size_t from, const char *lines);

/* Prints lines, the first of which may be a long sentence: a verdict, a heading. */
void rr_print_verdict(FILE *out, const char *text);

/* How many lines that makes. */
size_t rr_plain_lines(const char *text, size_t columns);

/* ---- In XML ------------------------------------------------------------------- */

/* Text with &, <, >, " and ' as entities, and what does not show itself as above, but for
 * newlines and tabs; NULL is "". */
void rr_xml_text(FILE *out, const char *text);

/* Like fprintf(), with its texts written as rr_xml_text() does; the format has
 * %s, %.*s, %d and %zu only. */
void rr_xml_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- In Markdown --------------------------------------------------------------- */

/* Writes what rr_plain() makes of a text within a line of Markdown, also in the cell of a table,
 * so that it shows itself. NULL is "". */
void rr_markdown_text(FILE *out, const char *text);

/* Like rr_xml_print(), with its texts written as rr_markdown_text() does. */
void rr_markdown_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
