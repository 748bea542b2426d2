/* SPDX-License-Identifier: MIT */
/* redrace init: a first suite of checks, for the project that lies in this directory. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/option.h"
#include "base/text.h"
#include "check/check.h"
#include "commands.h"
#include "project/project.h"
#include "suite/suite.h"

/* Of the checks that are written, this many are run, and have this time together. The app is asked for so
 * long what it takes. */
enum { CHECKS_RUN = 4, CHECKS_WRITTEN = 12, CHECK_SECONDS = 50, ASK_SECONDS = 20, NAME_SIZE = 60 };

static const struct rr_command_line command_line = {
	.about =
		"Writes a first " RR_SUITE_FILE
		" for the server in this directory: how it is started, and concurrent requests to it; redrace check runs it."
		"\v"
		"It asks nothing, and finds the server in Procfile, package.json, the WSGI or ASGI application, manage.py, the main package of Go, and their like; the requests in /openapi.json, if the server has one, and in the sources. "
		"To ask for that it starts the server once, with a Redis of its own. "
		"It never replaces a file.",
	.examples = "redrace init && redrace check",
};

/* A first suite, as it is found. */
struct first_suite {
	struct rr_project project;
	struct rr_routes routes;
	char *redis_at;          /* where the server takes Redis to be; NULL = where it is */
	struct rr_error failure; /* why the server does not start; of no kind if it does */
};

/* ---- What the server says ----------------------------------------------------------------- */

/* Documents that frameworks serve: FastAPI, Nest, Spring, others. */
static const char asks[] = "for path in openapi.json api-json v3/api-docs swagger.json; do "
			   "curl -sf -m 5 {app}/$path && break; done; :";

/* Takes the address that an error names: redrace's own says which --redis-at to add; of a connection that was
 * refused ("connect ECONNREFUSED 127.0.0.1:6390") it is a guess. malloc'd; NULL = it names none. */
static char *find_address(const char *text, bool *is_guess)
{
	static const char option[] = "--redis-at ";
	const char *at = strstr(text, option);
	regmatch_t match[2];
	char *found = NULL;
	regex_t address;

	*is_guess = !at;
	if (at)
		return rr_strndup(at + strlen(option), strcspn(at + strlen(option), " ,;"));
	if (!strcasestr(text, "refused") ||
	    regcomp(&address, "[ '\"/]([A-Za-z0-9.-]+:[0-9]+)", REG_EXTENDED) != 0)
		return NULL;
	if (regexec(&address, text, 2, match, 0) == 0)
		found = rr_strndup(text + match[1].rm_so,
				   (size_t)(match[1].rm_eo - match[1].rm_so));
	regfree(&address);
	return found;
}

/* Starts the server once and asks for its OpenAPI document. */
static void ask_server(struct first_suite *suite)
{
	struct rr_check_command chosen = rr_check_defaults();
	struct rr_check_options *options = &chosen.each;
	struct rr_error failure = { .kind = RR_ERROR_NONE };
	bool is_guess = true;
	char *answer;

	options->app = suite->project.app;
	options->build = suite->project.build;
	options->seconds = ASK_SECONDS;
	answer = rr_check_ask(options, asks, &suite->failure);
	if (!answer)
		suite->redis_at = find_address(suite->failure.text, &is_guess);
	if (suite->redis_at) {
		options->redis_at[options->n_redis_at++] = suite->redis_at;
		answer = rr_check_ask(options, asks, &failure);
		if (answer || !is_guess) {
			suite->failure = failure;
		} else {
			free(suite->redis_at);
			suite->redis_at = NULL;
		}
	}
	if (answer)
		rr_routes_of_openapi(&suite->routes, answer, "the OpenAPI document");
	free(answer);
}

/* ---- What is written ---------------------------------------------------------------------- */

/* A value of YAML: as it is, or in quotes. The end of a line becomes a blank. */
static void write_value(FILE *out, const char *text)
{
	const bool is_plain = (isalnum((unsigned char)text[0]) || strchr("./_", text[0])) &&
			      !strstr(text, ": ") && !strstr(text, " #") &&
			      text[strcspn(text, "\r\n\t")] == '\0' &&
			      text[strlen(text) - 1] != ':' && text[strlen(text) - 1] != ' ';

	if (is_plain) {
		fputs(text, out);
		return;
	}
	putc('\'', out);
	for (; *text; text++) {
		putc(strchr("\r\n\t", *text) ? ' ' : *text, out);
		if (*text == '\'')
			putc('\'', out);
	}
	putc('\'', out);
}

/* Names of files may be any, and a comment is a line. */
static void write_comment(FILE *out, const char *text)
{
	char *plain = rr_plain(text);

	fprintf(out, " # %s\n", plain);
	free(plain);
}

/* The command that sends it, malloc'd. */
static char *make_request(const struct rr_route *route)
{
	const bool is_get = strcmp(route->method, "GET") == 0;

	return rr_asprintf("curl -s %s%s%s{app}%s%s%s%s", is_get ? "" : "-X ",
			   is_get ? "" : route->method, is_get ? "" : " ", route->path,
			   route->body ? " -H content-type:application/json -d '" : "",
			   route->body ? route->body : "", route->body ? "'" : "");
}

/* Names a check by its path, "buy", and where a check before has that name by its method, too, or by its
 * number: "delete-buy", "buy-3". */
static void name_check(char names[][NAME_SIZE], size_t number, const struct rr_route *route)
{
	char path[NAME_SIZE / 2] = "", *name = names[number];
	bool is_used = true;
	size_t n = 0;

	for (const char *at = route->path; *at && n < sizeof(path) - 1; at++) {
		const bool is_letter = isalnum((unsigned char)*at) || *at == '_';

		if (is_letter || (n > 0 && path[n - 1] != '-' && at[1]))
			path[n++] = is_letter ? *at : '-';
	}
	if (n == 0)
		snprintf(path, sizeof(path), "root");
	for (int form = 0; is_used && form < 3; form++) {
		char method[RR_ROUTE_METHOD] = "";

		for (size_t i = 0; route->method[i]; i++)
			method[i] = (char)tolower((unsigned char)route->method[i]);
		if (form == 0)
			snprintf(name, NAME_SIZE, "%s", path);
		else if (form == 1)
			snprintf(name, NAME_SIZE, "%s-%s", method, path);
		else
			snprintf(name, NAME_SIZE, "%s-%zu.", path, number + 1);
		is_used = false;
		for (size_t i = 0; i < number; i++)
			is_used |= strcmp(names[i], name) == 0;
	}
}

static void write_server_suite(const struct first_suite *suite, FILE *out)
{
	const struct rr_project *project = &suite->project;
	const struct rr_routes *routes = &suite->routes;
	const size_t n_processors = (size_t)rr_placement_count();
	const size_t n_fit = n_processors < CHECKS_RUN ? n_processors : CHECKS_RUN;
	const char *login = "/login";
	char names[CHECKS_WRITTEN][NAME_SIZE];
	bool has_more = false;

	for (size_t i = routes->n; i-- > 0;)
		login = rr_route_logs_in(&routes->all[i]) ? routes->all[i].path : login;
	fprintf(out,
		"# What `redrace check` checks here: requests that come to the server concurrently. It searches\n"
		"# all orders of their Redis commands for data, or answers, that the requests one after the\n"
		"# other do not give. Every option of `redrace check --help=all` is a key of the same name;\n"
		"# docs/suites.md explains this file.\n\n"
		"defaults:\n"
		"  # The server is started many times: what it does outside Redis is really done.\n"
		"  # Each process has a $PORT of its own, and finds Redis in REDIS_URL or at port 6379.\n");
	if (project->build) {
		fputs("  build: ", out);
		write_value(out, project->build);
		fputs(" # once, before it is started\n", out);
	}
	fputs("  app: ", out);
	write_value(out, project->app);
	write_comment(out, project->from);
	if (project->takes_one)
		fputs("  apps: 2 # one takes one request after the other; several workers are several apps\n",
		      out);
	if (suite->redis_at) {
		fputs("  redis-at: ", out);
		write_value(out, suite->redis_at);
		write_comment(out, "where its own code has Redis");
	}
	fprintf(out,
		"  clients: 2 # so often a check sends its request concurrently\n"
		"  seconds: %d # of each check; what is not searched by then is not a success\n"
		"  # Redis commands, one a line, that fill the empty server first:\n"
		"  # init: checks/stock.redis\n"
		"  # Who has to log in first, once; then in a request: curl -s -b {jar} ...\n"
		"  # setup: curl -s -c {jar} -d user=ada {app}%s\n"
		"  # Faults, this many at any point: the server crashes, a lease runs out.\n"
		"  # crashes: 1\n"
		"  # expiries: 1\n"
		"  # A finding that is known and must not fail the build:\n"
		"  # known: [\"lost update (counter)\"]\n\n"
		"checks:\n",
		CHECK_SECONDS, login);
	for (size_t i = 0; i < routes->n && i < CHECKS_WRITTEN; i++) {
		/* Log-ins stand last, and are what others need. */
		const bool is_run = i == 0 || (i < n_fit && !rr_route_logs_in(&routes->all[i]));
		const char *mark = is_run ? "" : "# ";
		char *request = make_request(&routes->all[i]);

		if (!is_run && !has_more)
			fputs("\n  # More that were found; take the # away to check them.\n", out);
		has_more = !is_run;
		name_check(names, i, &routes->all[i]);
		fprintf(out, "  %s%s:", mark, names[i]);
		write_comment(out, routes->all[i].from);
		fprintf(out, "  %s  request: ", mark);
		write_value(out, request);
		putc('\n', out);
		free(request);
	}
}

/* Without a server the user has to write a script. */
static void write_script_suite(const struct rr_project *project, FILE *out)
{
	fprintf(out,
		"# What `redrace check` checks here. Each check runs several clients concurrently and\n"
		"# searches all interleavings of their Redis commands for data, or outputs, that no\n"
		"# order of one after the other leaves. Every option of `redrace check --help=all` is a key\n"
		"# of the same name; docs/suites.md explains this file.\n\n"
		"defaults:\n"
		"  seconds: %d # of each check; what is not searched by then is not a success\n\n"
		"checks:\n"
		"  hit: # a name of your own\n",
		CHECK_SECONDS);
	if (project->language)
		fprintf(out, "    # This is a %s project in which no server was found.\n",
			project->language);
	fprintf(out,
		"    # One operation of your service: a script that connects to REDIS_URL, does the\n"
		"    # work of one request with your own code, and exits. Write it, and put it here.\n"
		"    # It is run many times: what it does outside Redis is really done.\n"
		"    command: %s\n"
		"    clients: 2\n"
		"    # Redis commands, one a line, that fill the empty server first:\n"
		"    # init: checks/stock.redis\n"
		"    # Faults, this many at any point: a client crashes, a lease runs out.\n"
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
		"  #   app: ./server\n"
		"  #   request: curl -s -X POST {app}/buy\n",
		project->script);
}

/* Writes it into a file that is not there yet. */
static bool write_file(const struct first_suite *suite, struct rr_error *error)
{
	const int fd = open(RR_SUITE_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	char *text;
	FILE *out;
	bool good;

	if (fd < 0 && errno == EEXIST)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "'%s' is there already, and is left as it is", RR_SUITE_FILE);
	out = rr_open_text(&text);
	if (suite->project.app)
		write_server_suite(suite, out);
	else
		write_script_suite(&suite->project, out);
	fclose(out);
	good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (!good)
		rr_error_file(error, "write", RR_SUITE_FILE);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !good)
		unlink(RR_SUITE_FILE);
	free(text);
	return good;
}

static enum rr_exit run_init(int argc, char **argv, struct rr_error *error)
{
	struct {
		char nothing;
	} options = { 0 };
	struct first_suite suite = { .redis_at = NULL };
	enum rr_exit code = RR_EXIT_OK;
	struct rr_sources sources;

	rr_command_line_parse(&command_line, &options, argc, argv);
	if (access(RR_SUITE_FILE, F_OK) == 0) {
		rr_error_set(error, RR_ERROR_USAGE, "'%s' is there already, and is left as it is",
			     RR_SUITE_FILE);
		return RR_EXIT_OK;
	}
	rr_sources_read(&sources);
	rr_project_find(&suite.project, &sources);
	if (suite.project.app) {
		printf("Starts the server once, to ask it for its OpenAPI document:\n  %s\n",
		       suite.project.app);
		fflush(stdout);
		ask_server(&suite);
		if (suite.routes.n == 0)
			rr_routes_of_sources(&suite.routes, &sources);
		rr_routes_sort(&suite.routes);
		if (suite.routes.n == 0)
			rr_routes_add(&suite.routes, "GET", "/", NULL,
				      "no other request was found: write your own");
	}
	if (suite.failure.kind == RR_ERROR_INTERRUPTED) {
		code = RR_EXIT_INTERRUPTED;
	} else if (write_file(&suite, error)) {
		if (!suite.project.app)
			printf("%s is written. Next: write the script that it names,\n'%s', with one operation of your service, or name your\nserver and requests to it, as its last lines do; then run 'redrace check'.\n",
			       RR_SUITE_FILE, suite.project.script);
		else if (suite.failure.kind != RR_ERROR_NONE)
			printf("%s is written, but the server cannot be checked yet, as 'redrace check' will say, too:\n  %s\n",
			       RR_SUITE_FILE, suite.failure.text);
		else
			printf("%s is written. Next: 'redrace check'; then put your own requests there.\n",
			       RR_SUITE_FILE);
	}
	free(suite.redis_at);
	rr_routes_release(&suite.routes);
	rr_project_release(&suite.project);
	rr_sources_release(&sources);
	return code;
}

const struct rr_command rr_cmd_init = {
	.name = "init",
	.summary = "write a first " RR_SUITE_FILE ", a suite of checks of your own programs",
	.line = &command_line,
	.run = run_init,
};
