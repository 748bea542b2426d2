/* SPDX-License-Identifier: MIT */
/* The table of options: what is taken, and what is said of a mistake. */
#include "base/option.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct given {
	bool loud;
	int small;
	long ttl_ms;
	const char *output;
	enum rr_format format;
	size_t n_words;
};

static bool count_word(void *into, char *text, struct rr_error *error)
{
	struct given *given = into;

	(void)error;
	(void)text;
	given->n_words++;
	return true;
}

static bool check(void *into, struct rr_error *error)
{
	const struct given *given = into;

	return !given->loud || !given->small ||
	       rr_error_set(error, RR_ERROR_USAGE, "loud or small");
}

static const struct rr_option options[] = {
	{ .name = "loud", .at = offsetof(struct given, loud) },
	{ .name = "small",
	  .letter = 'x',
	  .argument = "N",
	  .kind = RR_TAKES_INT,
	  .at = offsetof(struct given, small),
	  .min = 0,
	  .max = 8 },
	{ .name = "word", .argument = "W", .take = count_word },
	{ .common = RR_OPTION_TTL_MS,
	  .at = offsetof(struct given, ttl_ms),
	  .min = 5000,
	  .max = 6000 },
	{ .common = RR_OPTION_OUTPUT, .at = offsetof(struct given, output) },
	{ .common = RR_OPTION_FORMAT,
	  .at = offsetof(struct given, format),
	  .formats = RR_ONLY(RR_FORMAT_TEXT) | RR_ONLY(RR_FORMAT_JSON) | RR_ONLY(RR_FORMAT_HTML) },
};

static const struct rr_command_line line = {
	.about = "A test.",
	.options = options,
	.n_options = sizeof(options) / sizeof(options[0]),
	.check = check,
};

enum { WORDS_MAX = 16 };

static struct given parse(const struct rr_command_line *command, char *text)
{
	char *argv[WORDS_MAX + 1] = { "test" };
	struct given given = { 0 };
	int argc = 1;

	for (char *word = strtok(text, " "); word && argc < WORDS_MAX; word = strtok(NULL, " "))
		argv[argc++] = strcmp(word, "''") == 0 ? "" : word;
	rr_command_line_parse(command, &given, argc, argv);
	return given;
}

/* A mistake ends the program: a child's. */
static void assert_refused(const struct rr_command_line *command, const char *text,
			   const char *message)
{
	char said[500] = "";
	int pipes[2], status;
	ssize_t n;
	pid_t pid;

	cr_assert_eq(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		char *copy = strdup(text);

		dup2(pipes[1], STDERR_FILENO);
		parse(command, copy);
		_exit(0);
	}
	close(pipes[1]);
	for (size_t used = 0; (n = read(pipes[0], said + used, sizeof(said) - 1 - used)) > 0;)
		used += (size_t)n;
	close(pipes[0]);
	waitpid(pid, &status, 0);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 64, "%s", text);
	cr_assert_not_null(strstr(said, message), "%s: %s", text, said);
	cr_assert_eq(strchr(said, '\n'), said + strlen(said) - 1, "%s", said);
}

Test(option, goes_where_its_row_says)
{
	char text[] = "--loud --ttl-ms 5500 -o file -f html --word a --word=b";
	const struct given given = parse(&line, text);

	cr_assert(given.loud);
	cr_assert_eq(given.ttl_ms, 5500);
	cr_assert_str_eq(given.output, "file");
	cr_assert_eq(given.format, RR_FORMAT_HTML);
	cr_assert_eq(given.n_words, 2);
	cr_assert_eq(given.small, 0);
}

Test(option, mistake_is_said_in_one_line)
{
	static const struct {
		const char *text, *message;
	} mistakes[] = {
		{ "-x 9", "--small: '9' is not a whole number from 0 to 8" },
		{ "--small many", "--small: 'many' is not a whole number" },
		{ "--ttl-ms 10", "--ttl-ms: '10' is not a whole number from 5000 to 6000" },
		{ "--format pdf", "--format 'pdf': expected text, json or html" },
		{ "--output ''", "is empty" },
		{ "--loud --small 1", "loud or small" },
		{ "here", "'here': the command takes no arguments" },
	};

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		assert_refused(&line, mistakes[i].text, mistakes[i].message);
}

Test(option, missing_argument_is_asked_for)
{
	struct rr_command_line needing = line;

	needing.arguments = "WORD...";
	needing.missing = "test what?";
	needing.take_argument = count_word;
	assert_refused(&needing, "--loud", "test what?");
}

static const char *fruit_at(size_t index)
{
	static const char *const fruit[] = { "apple", "pear" };

	return index < 2 ? fruit[index] : NULL;
}

Test(option, nearest_name_is_suggested)
{
	struct rr_error error = { 0 };
	size_t index = 9;

	cr_assert(rr_take_name("fruit", "pear", fruit_at, "", &index, &error));
	cr_assert_eq(index, 1);
	cr_assert_not(rr_take_name("fruit", "aple", fruit_at, "", &index, &error));
	cr_assert_str_eq(error.text, "no fruit 'aple'; did you mean 'apple'?");
	error.kind = RR_ERROR_NONE;
	cr_assert_not(
		rr_take_name("fruit", "window", fruit_at, "a market shows them", &index, &error));
	cr_assert_str_eq(error.text, "no fruit 'window'; a market shows them");
}
