/* SPDX-License-Identifier: MIT */
/* redrace init: a first suite of checks, for the project that lies in this directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/option.h"
#include "base/text.h"
#include "commands.h"
#include "suite/suite.h"

static const struct rr_command_line command_line = {
	.about =
		"Writes a first " RR_SUITE_FILE
		" into this directory, with comments that explain what to put where; redrace check runs it."
		"\vIt asks nothing, looks which kind of project this is (package.json, pyproject.toml, composer.json, Gemfile, go.mod, Procfile), and never replaces a file.",
	.examples = "redrace init",
};

static const struct project {
	const char *file, *language, *program, *server;
} projects[] = {
	{ "package.json", "Node", "node checks/hit.js", "npm start" },
	{ "pyproject.toml", "Python", "python3 checks/hit.py", "python3 app.py" },
	{ "composer.json", "PHP", "php checks/hit.php", "php -S 127.0.0.1:$PORT app.php" },
	{ "Gemfile", "Ruby", "ruby checks/hit.rb", "bundle exec puma -p $PORT" },
	{ "go.mod", "Go", "./hit", "./server" },
	{ NULL, NULL, "sh checks/hit.sh", "./server" }, /* any other */
};

/* What "web:" of a Procfile runs, malloc'd; NULL = there is none. */
static char *find_server(void)
{
	FILE *file = fopen("Procfile", "re");
	char *line = NULL, *server = NULL;
	size_t capacity = 0;

	while (file && !server && getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (strncmp(line, "web:", 4) == 0)
			server = rr_plain(line + 4 + strspn(line + 4, " \t"));
	}
	free(line);
	if (file)
		fclose(file);
	return server;
}

static char *make_text(const struct project *project)
{
	char *server = find_server(), *text;
	FILE *out = rr_open_text(&text);

	fputs("# What `redrace check` checks here. Each check runs several clients concurrently and\n"
	      "# searches all interleavings of their Redis commands for data, or outputs, that no\n"
	      "# order of one after the other leaves. Every option of `redrace check --help=all` is a key\n"
	      "# of the same name; docs/suites.md explains this file.\n\n"
	      "defaults:\n"
	      "  seconds: 60 # of each check; what is not searched by then is not a success\n\n"
	      "checks:\n"
	      "  hit: # a name of your own\n",
	      out);
	if (project->file)
		fprintf(out, "    # %s: this is a %s project.\n", project->file, project->language);
	fprintf(out,
		"    # One operation of your service: a script that connects to REDIS_URL, does the\n"
		"    # work of one request with your own code, and exits. Write it, and put it here.\n"
		"    # It is run many times: what it does outside Redis is really done.\n"
		"    command: %s\n"
		"    clients: 2\n"
		"    # Redis commands, one a line, that fill the empty server first:\n"
		"    # init: checks/stock.redis\n"
		"    # Faults, so many at any point: a client crashes, a lease runs out.\n"
		"    # crashes: 1\n"
		"    # expiries: 1\n"
		"    # What it comes to if all is well (serializable), or a finding that is known\n"
		"    # and must not fail the build:\n"
		"    # expect: not serializable\n"
		"    # known: [\"lost update (counter)\"]\n"
		"\n"
		"  # Or your server as it is, and concurrent requests to it. It listens on\n"
		"  # $PORT and finds Redis in REDIS_URL.\n"
		"  # buy:\n"
		"  #   app: %s\n"
		"  #   requests:\n"
		"  #     - curl -s -X POST {app}/buy\n"
		"  #     - curl -s -X POST {app}/buy\n",
		project->program, server ? server : project->server);
	free(server);
	fclose(out);
	return text;
}

static enum rr_exit run_init(int argc, char **argv, struct rr_error *error)
{
	struct {
		char nothing;
	} options = { 0 };
	const struct project *project = projects;
	bool good;
	char *text;
	int fd;

	rr_command_line_parse(&command_line, &options, argc, argv);
	while (project->file && access(project->file, F_OK) != 0)
		project++;
	text = make_text(project);
	fd = open(RR_SUITE_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd < 0 && errno == EEXIST)
		rr_error_set(error, RR_ERROR_USAGE, "'%s' is there already, and is left as it is",
			     RR_SUITE_FILE);
	else if (!good)
		rr_error_file(error, "write", RR_SUITE_FILE);
	else
		printf("%s is written. Next: write the script that it names,\n'%s', with one operation of your service, or name your\nserver and requests to it, as its last lines do; then run 'redrace check'.\n",
		       RR_SUITE_FILE, project->program);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !good)
		unlink(RR_SUITE_FILE);
	free(text);
	return RR_EXIT_OK;
}

const struct rr_command rr_cmd_init = {
	.name = "init",
	.summary = "write a first " RR_SUITE_FILE ", a suite of checks of your own programs",
	.line = &command_line,
	.run = run_init,
};
