/* SPDX-License-Identifier: MIT */
/* redrace check: all interleavings of a program in any language. */
#include <ctype.h>
#include <locale.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/option.h"
#include "check/check.h"
#include "commands.h"

enum { REPLAYED_MAX = 20 }; /* options that are saved with a schedule */

#define AT(field) .at = offsetof(struct rr_check_options, field)

/* NAME=COMMAND. */
static bool take_client(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;
	const size_t length = strcspn(text, "=");
	struct rr_check_client *client = &options->named[options->n_named];

	if (!text[length] || !text[length + 1] || length == 0 || length >= RR_CHECK_NAME)
		return rr_error_set(error, RR_ERROR_USAGE, "--client '%s': expected NAME=COMMAND",
				    text);
	if (options->n_named == RR_CHECK_CLIENTS_MAX)
		return rr_error_set(error, RR_ERROR_USAGE, "more than %d clients",
				    RR_CHECK_CLIENTS_MAX);
	*client = (struct rr_check_client){ .shell = { "sh", "-c", text + length + 1, NULL } };
	memcpy(client->name, text, length);
	options->n_named++;
	return true;
}

static bool is_expression(const char *option, const char *text, struct rr_error *error)
{
	regex_t pattern;

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

	if (options->n_allowed == RR_CHECK_IGNORED_MAX)
		return rr_error_set(error, RR_ERROR_USAGE, "more than %d times --allow-output",
				    RR_CHECK_IGNORED_MAX);
	options->allowed[options->n_allowed++] = text;
	return is_expression("--allow-output", text, error);
}

static bool take_ignored(void *into, char *text, struct rr_error *error)
{
	struct rr_check_options *options = into;

	if (options->search.n_ignored == RR_CHECK_IGNORED_MAX)
		return rr_error_set(error, RR_ERROR_USAGE, "more than %d times --ignore",
				    RR_CHECK_IGNORED_MAX);
	options->ignored[options->search.n_ignored++] = text;
	return true;
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

/* The command stands behind --, see run_check(). */
static bool take_word(void *into, char *text, struct rr_error *error)
{
	(void)into;
	return rr_error_set(
		error, RR_ERROR_USAGE,
		"'%s': the command must stand behind --, as in: redrace check -- python3 hit.py",
		text);
}

static const struct rr_option options[] = {
	{ .help = "Programs" },
	{ .common = RR_OPTION_CLIENTS,
	  .help = "number of clients that run COMMAND at once (2)",
	  .max = RR_CHECK_CLIENTS_MAX,
	  AT(n_clients) },
	{ .name = "client",
	  .argument = "NAME=COMMAND",
	  .help = "a client with a shell command of its own, instead of COMMAND",
	  .repeats = true,
	  .take = take_client },
	{ .name = "init",
	  .argument = "FILE",
	  .help = "Redis commands, one a line, that fill the empty server first",
	  AT(init) },
	{ .help = "What is right" },
	{ .name = "refused",
	  .argument = "REGEX",
	  .help = "a client that prints this has not done its work; nor has one that exits with a status other than 0",
	  .take = take_refused },
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
	{ .common = RR_OPTION_ALL,
	  .help = "show a shortest schedule to each wrong final state, 20 at most",
	  AT(search.shows_all) },
	{ .name = "ignore",
	  .argument = "PATTERN",
	  .help = "do not compare keys that match (*, ?, [abc])",
	  .repeats = true,
	  .take = take_ignored },
	{ .name = "atomic",
	  .help = "a client that crashed or failed has done all of its work or none; one that lost a reply has done it once",
	  AT(search.is_atomic) },
	{ .help = "Faults, at any point of the schedule" },
	{ .row_at = rr_budget_check_option, AT(search.budget) },
	{ .common = RR_OPTION_TTL_MS,
	  .help = "the longest lease in milliseconds (10000)",
	  .min = 1,
	  .max = 86400000,
	  AT(search.ttl_ms) },
	{ .help = "Search" },
	{ .common = RR_OPTION_ROUNDS,
	  .help = "how often a client goes round that sends something new in each round (2)",
	  AT(search.rounds) },
	{ .name = "accept-bounded",
	  .help = "exit with 0, not 2, although a client has no end and was followed for --rounds rounds",
	  AT(accepts_bounded) },
	{ .common = RR_OPTION_SECONDS, .help = "stop after N seconds", .max = 1000000, AT(seconds) },
	{ .common = RR_OPTION_MAX_STATES, AT(search.most) },
	{ .name = "hangs-after",
	  .argument = "N",
	  .help = "a program that neither sends a command nor ends for N seconds is an error (10)",
	  .min = 1,
	  .max = 3600,
	  AT(patience_s) },
	{ .common = RR_OPTION_AUDIT,
	  .help = "play N random interleavings for real before a program is called serializable (10)",
	  .max = 100000,
	  AT(search.audit) },
	{ .common = RR_OPTION_REPLAY,
	  .help = "only play the schedule in FILE, which --save has written, with the real programs",
	  AT(replay) },
	{ .help = "Output" },
	{ .common = RR_OPTION_SAVE,
	  .help = "save the schedule that was found, for --replay and redrace play",
	  AT(save) },
	{ .common = RR_OPTION_OUTPUT,
	  .help = "also write FILE, in the format of its suffix: .txt, .json, .xml (JUnit) or .tap, or a picture of the schedule: .html, .svg, .mmd or .race",
	  AT(report),
	  .formats = RR_CHECK_FORMATS },
	{ .common = RR_OPTION_FORMAT,
	  .help = "what is printed: text, json, junit, tap or github; or only a picture of the schedule: html, svg, mermaid or race (text)",
	  AT(report.printed),
	  .formats = RR_CHECK_FORMATS },
	{ .common = RR_OPTION_STATS, .help = "print where the time went", AT(stats) },
	{ .help = "Servers" },
	{ .common = RR_OPTION_REDIS_SERVER, AT(redis_server) },
};

static const struct rr_command_line command_line = {
	.about =
		"Searches all interleavings of programs that use Redis, in any language and unmodified, for final data that no serial order of the programs leaves."
		"\v"
		"COMMAND, which stands behind --, is run by each client. It finds the port to connect to in REDIS_URL, REDIS_HOST, REDIS_PORT and REDIS_SOCKET; {url}, {host}, {port} and {socket} in its arguments are replaced. "
		"It is run many times, and what it does outside Redis is really done.",
	.arguments = "-- COMMAND [ARGUMENT...]",
	.examples = "redrace check -- sh examples/check/counter.sh\n"
		    "redrace check --clients 3 --crashes 1 -- python3 hit.py\n"
		    "redrace check --client a='python3 add.py' --client b='node take.js'",
	.options = options,
	.n_options = sizeof(options) / sizeof(options[0]),
	.take_argument = take_word,
};

/* The bounds with which a schedule was found count, unless others are given. */
static void take_replayed(const struct rr_replay *replay, struct rr_check_options *options)
{
	char *argv[2 * REPLAYED_MAX] = { "redrace check" };
	int n = 1;

	for (char *word = strtok(replay->options, " "); word && n < 2 * REPLAYED_MAX;
	     word = strtok(NULL, " "))
		argv[n++] = word;
	options->search.schedule = replay->words;
	rr_command_line_parse(&command_line, options, n, argv);
}

static const char *find_replay(int n, char **argv)
{
	for (int i = 1; i < n; i++) {
		if (strcmp(argv[i], "--replay") == 0 && i + 1 < n)
			return argv[i + 1];
		if (strncmp(argv[i], "--replay=", 9) == 0)
			return argv[i] + 9;
	}
	return NULL;
}

static enum rr_exit check_program(struct rr_check_options *chosen, int n, int argc, char **argv,
				  struct rr_error *error)
{
	rr_command_line_parse(&command_line, chosen, n, argv);
	if (n + 1 < argc)
		chosen->command = (const char *const *)argv + n + 1;
	if (!chosen->command == !chosen->n_named) {
		rr_error_set(
			error, RR_ERROR_USAGE, "%s",
			chosen->command ?
				"a client of --client has its own command: leave out the one behind --" :
				"check what? The command stands behind --, as in: redrace check -- python3 hit.py");
		return RR_EXIT_OK;
	}
	return rr_check(chosen, error);
}

static enum rr_exit run_check(int argc, char **argv, struct rr_error *error)
{
	int n = 0; /* words before "--" */
	const char *path;
	struct rr_replay replay = { .options = NULL };
	struct rr_check_options chosen = { .n_clients = 2,
					   .search = { .rounds = 2, .ttl_ms = 10000, .audit = 10 },
					   .patience_s = 10,
					   .redis_server = "redis-server" };
	enum rr_exit code = RR_EXIT_OK;

	setlocale(LC_CTYPE, "");
	while (n < argc && strcmp(argv[n], "--") != 0)
		n++;
	path = find_replay(n, argv);
	if (path && rr_replay_read(path, &replay, error))
		take_replayed(&replay, &chosen);
	if (!error->kind)
		code = check_program(&chosen, n, argc, argv, error);
	rr_replay_release(&replay);
	return code;
}

const struct rr_command rr_cmd_check = {
	.name = "check",
	.summary = "search every interleaving of your own programs, in any language",
	.line = &command_line,
	.run = run_check,
};
