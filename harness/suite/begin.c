/* SPDX-License-Identifier: MIT */
/* A first suite, for the project that lies in this directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "suite.h"

static const struct project {
	const char *file, *language, *program, *server;
} projects[] = {
	{ "package.json", "Node", "node checks/hit.js", "npm start" },
	{ "pyproject.toml", "Python", "python3 checks/hit.py", "python3 app.py" },
	{ "composer.json", "PHP", "php checks/hit.php", "php -S 127.0.0.1:$PORT app.php" },
	{ "Gemfile", "Ruby", "ruby checks/hit.rb", "bundle exec puma -p $PORT" },
	{ "go.mod", "Go", "./hit", "./server" },
};

static const struct project other = { NULL, NULL, "sh checks/hit.sh", "./server" };

enum { N_PROJECTS = sizeof(projects) / sizeof(projects[0]) };

static const struct project *find_project(void)
{
	for (size_t i = 0; i < N_PROJECTS; i++) {
		if (access(projects[i].file, F_OK) == 0)
			return &projects[i];
	}
	return &other;
}

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

	fputs("# What `redrace check` checks here. Each check runs several clients at once and\n"
	      "# searches all interleavings of their Redis commands for data, or outputs, that no\n"
	      "# order of one after the other leaves. Every option of `redrace help check` is a key\n"
	      "# of the same name; docs/suites.md explains this file.\n\n"
	      "defaults:\n"
	      "  seconds: 60 # of each check; what is not searched by then is no success\n\n"
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
		"  # Or your server as it is, and requests to it that come at once. It listens on\n"
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

bool rr_suite_begin(const char *path, FILE *told, struct rr_error *error)
{
	const struct project *project = find_project();
	char *text = make_text(project);
	const size_t size = strlen(text);
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	const bool good = fd >= 0 && write(fd, text, size) == (ssize_t)size;

	if (fd < 0 && errno == EEXIST)
		rr_error_set(error, RR_ERROR_USAGE, "'%s' is there already, and is left as it is",
			     path);
	else if (!good)
		rr_error_file(error, "write", path);
	else
		fprintf(told,
			"%s is written. Next: write the script that it names,\n'%s', with one operation of your service, or name your\nserver and requests to it, as its last lines do; then run 'redrace check'.\n",
			path, project->program);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !good)
		unlink(path);
	free(text);
	return good;
}
