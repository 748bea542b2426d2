/* SPDX-License-Identifier: MIT */
#include "variables.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* docs/kept-verdict.md has the same list. */
static const char *const patterns[] = {
	/* Of a shell, a terminal, a login, a host. */
	"_",
	"OLDPWD",
	"SHLVL",
	"TERM",
	"COLORTERM",
	"TERM_*",
	"VTE_VERSION",
	"LINES",
	"COLUMNS",
	"WINDOWID",
	"TMUX",
	"TMUX_PANE",
	"STY",
	"HOSTNAME",
	"SSH_*",
	"XDG_SESSION_*",
	"INVOCATION_ID",
	"JOURNAL_STREAM",
	"SYSTEMD_EXEC_PID",
	"MAKEFLAGS",
	"MAKELEVEL",
	"MFLAGS",
	/* Of a job. */
	"GITHUB_*",
	"RUNNER_*",
	"ACTIONS_*",
	"CI_*",
	"GITLAB_*",
	"BUILD_*",
	"JENKINS_*",
	"EXECUTOR_NUMBER",
	"JOB_URL",
	"RUN_*_URL",
};

char **rr_variables_left_out(const char *const *named, size_t n_named)
{
	char **names = rr_calloc(RR_LEFT_OUT_MAX + 1, sizeof(*names));
	size_t n = 0;

	for (char **variable = environ; *variable && n < RR_LEFT_OUT_MAX; variable++) {
		char *name = rr_strndup(*variable, strcspn(*variable, "="));
		bool is_left_out = false;

		for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
			is_left_out |= fnmatch(patterns[i], name, 0) == 0;
		for (size_t i = 0; i < n_named; i++)
			is_left_out &= strcmp(name, named[i]) != 0;
		if (is_left_out)
			names[n++] = name;
		else
			free(name);
	}
	names[n] = NULL;
	return names;
}

void rr_variables_free(char **left_out)
{
	for (size_t i = 0; left_out && left_out[i]; i++)
		free(left_out[i]);
	free(left_out);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void rr_variables_write(FILE *out, char **left_out)
{
	const char **given;
	size_t n = 0, n_out = 0;

	while (environ[n])
		n++;
	while (left_out[n_out])
		n_out++;
	given = rr_calloc(n + 1, sizeof(*given));
	n = 0;
	for (char **variable = environ; *variable; variable++) {
		const size_t length = strcspn(*variable, "=");
		size_t i = 0;

		while (i < n_out && (strncmp(left_out[i], *variable, length) != 0 ||
				     left_out[i][length] != '\0'))
			i++;
		if (i == n_out)
			given[n++] = *variable;
	}
	qsort(given, n, sizeof(*given), compare_texts);
	for (size_t i = 0; i < n; i++)
		fwrite(given[i], 1, strlen(given[i]) + 1, out);
	free(given);
}
