/* SPDX-License-Identifier: MIT */
/* The options of `redrace check`, of one check and of a suite of them: what each takes. */
#include <limits.h>
#include <regex.h>
#include <string.h>

#include "base/option.h"
#include "check.h"

#define AT(field) .at = offsetof(struct rr_check_command, each.field)
#define AT_WHOLE(field) .at = offsetof(struct rr_check_command, whole.field)

/* NAME=COMMAND. */
static bool take_client(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;
	const size_t length = strcspn(text, "=");
	struct rr_check_client *client = &options->named[options->n_named];

	if (!text[length] || !text[length + 1] || length == 0 || length >= RR_CHECK_NAME)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--client '%s': expected NAME=COMMAND; how many run the same one says --clients N",
			text);
	if (options->n_named == RR_RUN_CLIENTS)
		return rr_error_set(error, RR_ERROR_USAGE, "more than %d clients", RR_RUN_CLIENTS);
	*client = (struct rr_check_client){ .shell = { "sh", "-c", text + length + 1, NULL } };
	memcpy(client->name, text, length);
	options->n_named++;
	return true;
}

/* Appends to a list of at most `most`; `what`: of these, "requests". */
static bool append(const char **list, size_t *n, int most, const char *text, const char *what,
		   struct rr_error *error)
{
	if (*n == (size_t)most)
		return rr_error_set(error, RR_ERROR_USAGE, "more than %d %s", most, what);
	list[(*n)++] = text;
	return true;
}

static bool take_request(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;

	return append(options->requests, &options->n_requests, RR_RUN_CLIENTS, text, "requests",
		      error);
}

static bool take_line(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;

	if (options->n_requests < RR_RUN_CLIENTS)
		options->is_line[options->n_requests] = true;
	return take_request(into, text, error);
}

/* Compiling it takes stack for each bracket that is open, and memory for each repetition. */
enum { EXPRESSION_MAX = 1000, BRACKETS_MAX = 50, REPETITIONS_MAX = 1000 };

/* False: it is too long, too deep, or repeats too much: "(a{1,200}){1,200}". */
static bool is_small(const char *text)
{
	long n_open = 0, n_repeated = 1;
	const char *at = text;

	for (; *at && n_open <= BRACKETS_MAX && n_repeated <= REPETITIONS_MAX; at++) {
		n_open += *at == '(';
		n_open -= *at == ')' && n_open > 0;
		if (*at == '\\' && at[1]) {
			at++;
		} else if (*at == '{') {
			long least = strtol(at + 1, NULL, 10), most = least;
			const char *comma = at + 1 + strspn(at + 1, "0123456789");

			if (*comma == ',' && comma[1] != '}')
				most = strtol(comma + 1, NULL, 10);
			least = most > least ? most : least;
			n_repeated = least > REPETITIONS_MAX ? least :
				     least > 1               ? n_repeated * least :
							       n_repeated;
		}
	}
	return !*at && n_open <= BRACKETS_MAX && n_repeated <= REPETITIONS_MAX &&
	       at - text <= EXPRESSION_MAX;
}

static bool is_expression(const char *option, const char *text, struct rr_error *error)
{
	regex_t pattern;

	if (!is_small(text))
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"%s '%.40s...': expected at most %d characters, %d brackets in each other and %d repetitions",
			option, text, EXPRESSION_MAX, BRACKETS_MAX, REPETITIONS_MAX);
	if (regcomp(&pattern, text, REG_EXTENDED | REG_NOSUB) != 0)
		return rr_error_set(error, RR_ERROR_USAGE, "%s '%s': no regular expression", option,
				    text);
	regfree(&pattern);
	return true;
}

static bool take_refused(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;

	options->refused = text;
	return is_expression("--refused", text, error);
}

static bool take_allowed(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;

	return append(options->allowed, &options->n_allowed, RR_CHECK_IGNORED_MAX, text,
		      "times --allow-output", error) &&
	       is_expression("--allow-output", text, error);
}

static bool take_ignored(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;

	return append(options->ignored, &options->search.compare.n_ignored, RR_CHECK_IGNORED_MAX,
		      text, "times --ignore", error);
}

static bool take_given(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;

	if (!text[0] || strchr(text, '='))
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--env '%s': expected the NAME of a variable alone", text);
	return append(options->given, &options->n_given, RR_CHECK_GIVEN_MAX, text, "times --env",
		      error);
}

static bool take_redis_at(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;
	char address[RR_ADDRESS_SIZE];

	if (!rr_redis_at_read(text, address))
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--redis-at '%.200s': expected HOST:PORT, as in redis:6379 or [::1]:6380, or unix:PATH with a path from / on",
			text);
	for (size_t i = 0; i < options->n_redis_at; i++) {
		if (strcmp(options->redis_at[i], text) == 0)
			return true;
	}
	return append(options->redis_at, &options->n_redis_at, RR_REDIS_AT_MAX, text,
		      "times --redis-at", error);
}

static bool take_outside(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;

	if (!rr_check_outside_reads(text))
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--allow-outside '%.200s': expected the path of a file or directory, HOST:PORT, as in db:5432, or unix:PATH",
			text);
	return append(options->outside, &options->n_outside, RR_CHECK_OUTSIDE_MAX, text,
		      "times --allow-outside", error);
}

/* What the skeptic does, as the option says it. */
static bool take_skeptic(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;

	for (int i = 0; i < 3; i++) {
		if (strcmp(text, rr_check_skeptic_modes[i]) == 0) {
			options->skeptic = (enum rr_skeptic_mode)i;
			return true;
		}
	}
	return rr_error_set(error, RR_ERROR_USAGE, "--skeptic '%s': expected off, report or judge",
			    text);
}

static bool take_checker(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;

	(void)error;
	options->checker[0] = "sh";
	options->checker[1] = "-c";
	options->checker[2] = text;
	return true;
}

static bool take_final(void *into, char *command, char *value, struct rr_error *error)
{
	struct rr_check_options *options = into;

	if (options->n_finals == RR_CHECK_FINALS_MAX)
		return rr_error_set(error, RR_ERROR_USAGE, "more than %d times --final",
				    RR_CHECK_FINALS_MAX);
	options->finals[options->n_finals++] = (struct rr_check_final){ command, value };
	return true;
}

/* The name of a check: a command stands after --, see rr_check_take_words(). */
static bool take_name(void *into, char *text, struct rr_error *error)
{
	struct rr_check_command *command = into;

	if (command->whole.n_chosen == RR_SUITE_CHOSEN_MAX)
		return rr_error_set(error, RR_ERROR_USAGE, "more than %d names of checks",
				    RR_SUITE_CHOSEN_MAX);
	command->whole.chosen[command->whole.n_chosen++] = text;
	return true;
}

static const struct rr_option options_table[] = {
	{ .help = "Programs" },
	{ .common = RR_OPTION_CLIENTS,
	  .help = "number of clients, which run COMMAND concurrently (2)",
	  .neighbour = "a client with a command of its own is --client NAME=COMMAND",
	  .max = RR_RUN_CLIENTS,
	  AT(n_clients) },
	{ .name = "client",
	  .argument = "NAME=COMMAND",
	  .help = "a client with a shell command of its own, instead of COMMAND",
	  .repeats = true,
	  .take = take_client },
	{ .name = "app",
	  .argument = "COMMAND",
	  .help = "a server, run by the shell, which listens on $PORT: its clients are the requests",
	  AT(app) },
	{ .name = "request",
	  .argument = "COMMAND",
	  .help = "a shell command that asks the app, at {app}: curl -s {app}/buy; a single one is sent by each of --clients",
	  .repeats = true,
	  .take = take_request },
	{ .name = "line",
	  .argument = "TEXT",
	  .help = "a request that is a line for the app's standard input; it has no answer",
	  .repeats = true,
	  .take = take_line },
	{ .name = "build",
	  .argument = "COMMAND",
	  .help = "a shell command that makes the programs, run once before them, in a suite once for all checks",
	  AT(build) },
	{ .name = "apps",
	  .help = "processes of the app, which get the requests in turn (1)",
	  .neighbour = "its command is --app COMMAND",
	  .min = 1,
	  .max = 4,
	  AT(n_apps) },
	{ .name = "ready",
	  .argument = "COMMAND",
	  .help = "exits with 0 when the app is up (its port is open)",
	  AT(ready) },
	{ .name = "init",
	  .argument = "FILE",
	  .help = "Redis commands, one a line, that fill the empty server first",
	  AT(init) },
	{ .name = "setup",
	  .argument = "COMMAND",
	  .help = "a shell command that fills the server before, after --init, as a client does; with {app} it asks the app, and {jar} is a file for cookies, of which each request gets a copy",
	  AT(setup) },
	{ .name = "redis-at",
	  .argument = "HOST:PORT",
	  .help = "where the program takes Redis to be, or unix:PATH: such a connection leads to redrace's server, as one to port 6379 of any address does",
	  .repeats = true,
	  .take = take_redis_at },
	{ .name = "fresh",
	  .argument = "DIR",
	  .help = "each run begins with a copy of this directory, 64 MiB at most, in its place: of a SQLite database, of uploads; clients that run together share one",
	  AT(fresh) },
	{ .help = "What is right" },
	{ .name = "refused",
	  .argument = "STATUS|REGEX",
	  .help = "a client that exits with this status, or prints what matches, was refused, also if it has changed data; one that fails without having changed any always was",
	  .take = take_refused },
	{ .name = "strict-exits",
	  .help = "a client that is refused is a finding, unless a serial execution fails likewise or it is --refused",
	  AT(search.compare.strict_exits) },
	{ .name = "data-only",
	  .help = "compare only the data: what clients print and how they exit need not be that of a serial order",
	  AT(data_only) },
	{ .name = "allow-output",
	  .argument = "REGEX",
	  .help = "do not compare lines of output that match",
	  .repeats = true,
	  .take = take_allowed },
	{ .name = "final",
	  .argument = "COMMAND VALUE",
	  .help = "the Redis command must be answered with VALUE when all have done their work",
	  .repeats = true,
	  .take_pair = take_final },
	{ .name = "check",
	  .argument = "COMMAND",
	  .help = "the shell command, run on all final data, must exit with 0",
	  .take = take_checker },
	{ .name = "all",
	  .help = "show a shortest schedule to each wrong final state, 20 at most",
	  AT(search.shows_all) },
	{ .name = "ignore",
	  .argument = "PATTERN",
	  .help = "do not compare keys that match (*, ?, [abc]); KEY.FIELD also leaves out a field of a hash",
	  .repeats = true,
	  .take = take_ignored },
	{ .name = "allow-outside",
	  .argument = "PATH|HOST:PORT",
	  .help = "state outside Redis need not be compared: a file that programs write (PATH and what begins so: PATH/..., PATH-journal; *, ?, [abc]), or a server that they connect to; otherwise a check that finds nothing exits with 2",
	  .repeats = true,
	  .take = take_outside },
	{ .help = "Faults, at any point of the schedule" },
	{ .row_at = rr_budget_check_option, AT(search.budget) },
	{ .name = "restart",
	  .help = "a client that has crashed is started again: a program when all others have ended, and its work must be done once; an app (--crashes 1) for what comes later",
	  AT(search.compare.restarts) },
	{ .name = "allow-repeats",
	  .help = "with --restart: the work of a program that is started again may be done twice",
	  AT(search.compare.allows_repeats) },
	{ .name = "allow-partial",
	  .help = "serial executions may have the same faults: what a client does wrong by itself after one is not found",
	  AT(search.compare.is_partial) },
	{ .common = RR_OPTION_TTL_MS,
	  .help = "lease of a lock in milliseconds (10000): the longest that there is",
	  .min = 1,
	  .max = 86400000,
	  AT(search.ttl_ms) },
	{ .help = "Search" },
	{ .common = RR_OPTION_ROUNDS,
	  .help = "rounds of a client that leaves something new in each: how often it goes round (2, 8 and 32, one after the other)",
	  AT(search.rounds) },
	{ .name = "hold-clock",
	  .help = "the time of day stands still while a program waits (done on its own where the search does not end otherwise)",
	  AT(holds_day) },
	{ .name = "accept-bounded",
	  .help = "exit with 0, not 2, although a client has no end and was followed for --rounds rounds",
	  AT(accepts_bounded) },
	{ .name = "seconds",
	  .letter = 's',
	  .help = "stop after N seconds (600)",
	  .min = 1,
	  .max = 1000000,
	  AT(seconds) },
	{ .name = "starts",
	  .help = "stop after N starts of programs, on a busy machine as on another (as many as it takes)",
	  .min = 1,
	  .max = 1000000000,
	  AT(starts) },
	{ .common = RR_OPTION_MAX_STATES, AT(search.most) },
	{ .name = "hangs-after",
	  .help = "a program that neither sends a command nor ends for N seconds is an error (10)",
	  .min = 1,
	  .max = 3600,
	  AT(patience_s) },
	{ .common = RR_OPTION_SEED,
	  .help = "seed, of what the programs draw at random: the same at each start (1)",
	  .min = 1,
	  .max = LONG_MAX / 2,
	  AT(seed) },
	{ .name = "fixed-pids",
	  .help = "process ids are made of the seed, too (done by itself where runs differ otherwise)",
	  AT(fixes_pids) },
	{ .common = RR_OPTION_AUDIT,
	  .help = "play N random interleavings for real, before a program is called serializable (10)",
	  .max = 100000,
	  AT(search.audit) },
	{ .name = "skeptic",
	  .argument = "off|report|judge",
	  .help = "before a yes the real programs are run in some schedules, without what the search has learned: let what comes of it change the exit code (judge, the default), say it only (report), or not (off)",
	  .take = take_skeptic },
	{ .common = RR_OPTION_REPLAY,
	  .help = "only play what --save has written: the schedule in FILE, with the real programs",
	  AT(replay) },
	{ .name = "cache",
	  .argument = "DIR",
	  .help = "keep verdicts in DIR for the next check ($XDG_CACHE_HOME/redrace, ~/.cache/redrace)",
	  AT(cache) },
	{ .name = "no-cache",
	  .help = "do not use the verdict of another check, and keep none",
	  AT(no_cache) },
	{ .name = "env",
	  .argument = "NAME",
	  .help = "give the programs this variable of the environment, which they do not get otherwise: those of a CI job (GITHUB_*, CI_*) or a terminal",
	  .repeats = true,
	  .take = take_given },
	{ .help = "Output" },
	{ .common = RR_OPTION_SAVE,
	  .help = "save the schedule as a race, for redrace play and --replay: the one that was found",
	  AT(save) },
	{ .name = "game",
	  .argument = "FILE",
	  .help = "write a page in which the reader is the scheduler of the programs",
	  .kind = RR_TAKES_FILE,
	  AT(game) },
	{ .common = RR_OPTION_OUTPUT,
	  AT(report),
	  .formats = RR_RESULT_FORMATS | RR_CHECK_PICTURES,
	  .pictures = RR_CHECK_PICTURES },
	{ .common = RR_OPTION_FORMAT,
	  AT(report.printed),
	  .formats = RR_RESULT_FORMATS | RR_CHECK_PICTURES,
	  .pictures = RR_CHECK_PICTURES },
	{ .common = RR_OPTION_GRAPH, .take = rr_explore_take_graph, AT(search) },
	{ .common = RR_OPTION_STATS, AT(stats) },
	{ .name = "verbose",
	  .help = "say what a verdict assumes, in figures, what was arranged for it, and what was covered",
	  AT(verbose) },
	{ .help = "Servers" },
	{ .common = RR_OPTION_REDIS_SERVER, AT(redis_server) },
	{ .help = "A suite, without a COMMAND" },
	{ .name = "suite",
	  .argument = "FILE",
	  .help = "the checks that FILE names (" RR_SUITE_FILE
		  "); other options hold for each of them, and go before what it says",
	  AT_WHOLE(path) },
	{ .common = RR_OPTION_JOBS, AT_WHOLE(jobs) },
	{ .common = RR_OPTION_SHARD, AT_WHOLE(shard) },
	{ .common = RR_OPTION_TIMES, AT_WHOLE(shard.times) },
};

static const struct rr_brief brief_table[] = {
	{ "clients", "how many clients run COMMAND (2)" },
	{ "client", "a client of its own, instead of COMMAND" },
	{ "app", "a server that listens on $PORT" },
	{ "request", "what asks it, by a shell; may be repeated" },
	{ "init", "Redis commands that fill the server first" },
	{ "redis-at", "its Redis, if that is not at port 6379" },
	{ "final", "what this command must be answered in the end" },
	{ "ignore", "do not compare keys that match" },
	{ "allow-outside", "do not compare this file or server" },
	{ "crashes", "clients crash, at most N times (0)" },
	{ "expiries", "leases expire, at most N times (0)" },
	{ "lost-replies", "replies are lost, at most N times (0)" },
	{ "seconds", "stop after N seconds (600)" },
	{ "save", "save the schedule that was found" },
	{ "replay", "replay what --save has saved" },
	{ "output", "also write FILE: .json, .xml, .html, .svg, ..." },
	{ "suite", "run the checks in FILE (" RR_SUITE_FILE ")" },
};

const struct rr_command_line rr_check_command_line = {
	.about =
		"Runs programs that use Redis, in any language and unmodified, as clients of a private server, in every order of their commands. Shows the shortest order whose final data or outputs no serial execution gives."
		"\v"
		"Each client runs COMMAND, which follows --. It finds the port to connect to in REDIS_URL, REDIS_HOST, REDIS_PORT and REDIS_SOCKET; {url}, {host}, {port} and {socket} in its arguments are replaced. "
		"A connection to port 6379, or to what --redis-at names, leads there, too. "
		"It is run many times, and what it does outside Redis is really done."
		"\v"
		"Without a COMMAND, the checks in " RR_SUITE_FILE
		" are run, or those that are named; 'redrace init' begins such a file.",
	.arguments = "-- COMMAND [ARGUMENT...] | [NAME...]",
	.examples = "redrace check -- python3 hit.py           # connects to $REDIS_URL\n"
		    "redrace check --client a='python3 add.py' --client b='node take.js'\n"
		    "redrace check --app 'python3 shop.py' --request 'curl -s {app}/buy'",
	.brief = brief_table,
	.n_brief = sizeof(brief_table) / sizeof(brief_table[0]),
	.find_names = rr_check_names,
	.options = options_table,
	.n_options = sizeof(options_table) / sizeof(options_table[0]),
	.take_argument = take_name,
};

/* ---- Words --------------------------------------------------------------------------- */

struct rr_check_command rr_check_defaults(void)
{
	return (struct rr_check_command){
		.each = { .n_clients = 2,
			  .skeptic = RR_SKEPTIC_JUDGES,
			  .search = { .ttl_ms = 10000, .audit = 10, .broad = 20000 },
			  .n_apps = 1,
			  .seed = 1,
			  .seconds = 600,
			  .patience_s = 10,
			  .redis_server = "redis-server" }
	};
}

bool rr_check_take_words(struct rr_check_command *chosen, int argc, char **argv,
			 struct rr_error *error)
{
	int n = 0; /* words before "--" */

	for (; n < argc && strcmp(argv[n], "--") != 0; n++) {
		if (strcmp(argv[n], "--atomic") == 0)
			return rr_error_set(
				error, RR_ERROR_USAGE,
				"--atomic: every check compares so now: leave it out (--allow-partial compares as checks without it did)");
	}
	if (n + 1 < argc)
		chosen->each.command = (const char *const *)argv + n + 1;
	if (!rr_replay_take(&chosen->replay, &rr_check_command_line, chosen, n, argv, error))
		return false;
	if (chosen->replay.words)
		chosen->each.search.schedule = chosen->replay.words;
	if (!rr_command_line_take(&rr_check_command_line, chosen, n, argv, error))
		return false;
	if (!chosen->each.argv && rr_check_has_program(&chosen->each)) {
		chosen->each.argc = argc;
		chosen->each.argv = argv;
	}
	chosen->each.search.graph_of = chosen->each.game ? RR_CHECKED_GAME_STATES : 0;
	return true;
}

bool rr_check_has_program(const struct rr_check_options *options)
{
	return options->command || options->n_named || options->app || options->n_requests;
}

/* Do --setup, {app} and {jar} go together? */
static bool fits_setup(const struct rr_check_options *options, struct rr_error *error)
{
	const char *setup = options->setup ? options->setup : "";
	const bool fills = strstr(setup, "{jar}");
	bool uses = false;

	for (size_t i = 0; i < options->n_requests; i++)
		uses |= !options->is_line[i] && strstr(options->requests[i], "{jar}");
	if ((strstr(setup, "{app}") || fills) && !options->app)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--setup: %s is of an app: it goes with --app COMMAND",
				    fills ? "{jar}" : "{app}");
	if (fills && !strstr(setup, "{app}"))
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--setup: {jar} holds the cookies of the app: ask it at {app}, as in curl -c {jar} -d user=a {app}/login");
	if (fills && !uses)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--setup fills {jar}, which no --request uses: write curl -b {jar} there");
	return !uses || fills ||
	       rr_error_set(
		       error, RR_ERROR_USAGE,
		       "--request: {jar} is filled by --setup: add --setup 'curl -c {jar} {app}/login'");
}

bool rr_check_fits(const struct rr_check_options *options, struct rr_error *error)
{
	const struct rr_explore_config *search = &options->search;

	if (options->app && strspn(options->app, "0123456789") == strlen(options->app))
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--app '%s': expected a command; how many processes run it says --apps N",
			options->app);
	if (options->n_apps > 1 && !options->app)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--apps %ld is of an app: it goes with --app COMMAND",
				    options->n_apps);
	if (options->replay && (options->game || options->search.dot || options->search.json))
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--replay follows one schedule: it has no %s",
				    options->game ? "--game" : "--graph");
	if (search->compare.restarts && !search->budget.of[RR_CRASHES])
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--restart starts again a client that has crashed: it goes with --crashes N");
	if (search->compare.restarts && options->app && search->budget.of[RR_CRASHES] != 1)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--restart: an app is started again once: it goes with --crashes 1");
	if (search->compare.restarts && search->compare.is_partial)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--restart and --allow-partial: after a restart the work must be done, and may not be partial");
	if (search->compare.allows_repeats && (!search->compare.restarts || options->app))
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--allow-repeats: it goes with --restart, of a program that is no --app");
	if (!fits_setup(options, error))
		return false;
	if (options->app || options->n_requests)
		return (options->app && options->n_requests && !options->command &&
			!options->n_named) ||
		       rr_error_set(
			       error, RR_ERROR_USAGE,
			       "--app 'COMMAND' and --request 'COMMAND' (or --line TEXT) belong together, without another command");
	return !options->command || !options->n_named ||
	       rr_error_set(error, RR_ERROR_USAGE,
			    "a client of --client has its own command: leave out the one of all");
}
