/* SPDX-License-Identifier: MIT */
/* Scripts that the user's commands name, and that are not there or may not be run: a client that ends before its first
 * command would leave a check of nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "verdict.h"

/* Programs whose first argument is a script. */
static bool is_interpreter(const char *program)
{
	static const char *const names[] = { "sh",  "bash", "dash", "node",
					     "php", "perl", "ruby", "python3" };
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static bool is_missing(const char *path)
{
	char module[RR_PATH_SIZE]; /* "hit.test": Node runs hit.test.js */

	snprintf(module, sizeof(module), "%.900s.js", path);
	return access(path, F_OK) != 0 && errno == ENOENT && access(module, F_OK) != 0;
}

/* Is it a file that may be run? False: the error says how it could be. `command`: what the user has
 * written. */
static bool may_run(const char *path, const char *command, struct rr_error *error)
{
	static const struct {
		const char *suffix, *interpreter;
	} kinds[] = { { ".sh", "sh" },    { ".py", "python3" }, { ".js", "node" },
		      { ".mjs", "node" }, { ".cjs", "node" },   { ".php", "php" },
		      { ".rb", "ruby" },  { ".pl", "perl" } };
	const char *interpreter = NULL;
	struct stat info;

	if (access(path, X_OK) == 0 || errno != EACCES || stat(path, &info) != 0 ||
	    !S_ISREG(info.st_mode))
		return true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (rr_ends_in(path, kinds[i].suffix))
			interpreter = kinds[i].interpreter;
	}
	return interpreter ?
		       rr_error_set(
			       error, RR_ERROR_USAGE,
			       "cannot run '%.200s': permission denied: 'chmod +x %.200s', or name the interpreter: '%s %.200s'",
			       command, path, interpreter, command) :
		       rr_error_set(error, RR_ERROR_USAGE,
				    "cannot run '%.200s': permission denied: 'chmod +x %.200s'",
				    command, path);
}

/* Is the file there that the words name as a program or a script? Words that may mean something else
 * are not looked at. `command`: what the user has written. */
static bool is_there(const char *const *words, const char *command, struct rr_error *error)
{
	const char *slash, *script = words[0] ? words[1] : NULL, *missing = NULL;

	if (!words[0])
		return true;
	slash = script ? strrchr(script, '/') : NULL;
	if (strchr(words[0], '/') && is_missing(words[0]))
		missing = words[0];
	else if (script && is_interpreter(words[0]) && script[0] != '-' && !strchr(script, '{') &&
		 strchr(slash ? slash : script, '.') && is_missing(script))
		missing = script;
	if (!missing && strchr(words[0], '/'))
		return may_run(words[0], command, error);
	return !missing ||
	       rr_error_set(
		       error, RR_ERROR_USAGE,
		       "cannot run '%.200s': the file '%.200s' does not exist: write it, or change the command",
		       command, missing);
}

/* The same of a line of the shell, if it is plain words. */
static bool is_line_there(const char *line, struct rr_error *error)
{
	char *copy, *rest;
	const char *words[3] = { NULL };
	bool good;

	if (!line || line[strcspn(line, "'\"\\$`;&|<>()*?[]{}~#!=\n")])
		return true;
	copy = rest = rr_strdup(line);
	for (int n = 0; n < 2; n++)
		words[n] = strtok_r(rest, " \t", &rest);
	good = is_there(words, line, error);
	free(copy);
	return good;
}

bool rr_check_finds_scripts(const struct rr_check_options *options, struct rr_error *error)
{
	bool good = is_line_there(options->app, error) && is_line_there(options->ready, error) &&
		    is_line_there(options->setup, error) &&
		    is_line_there(options->checker[2], error);

	for (size_t i = 0; good && i < options->n_named; i++)
		good = is_line_there(options->named[i].shell[2], error);
	for (size_t i = 0; good && i < options->n_requests; i++)
		good = options->is_line[i] || is_line_there(options->requests[i], error);
	if (!good || !options->command)
		return good;

	const char *const *command = options->command;
	int n = 0;

	while (command[n])
		n++;
	/* As a suite runs a line. */
	if (n == 3 && strcmp(command[0], "sh") == 0 && strcmp(command[1], "-c") == 0)
		return is_line_there(command[2], error);
	char *words = rr_shell_words(n, (char *const *)command); /* which are only read */

	good = is_there(command, words, error);
	free(words);
	return good;
}
