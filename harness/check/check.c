/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/files.h"
#include "base/text.h"
#include "draw/draw.h"
#include "programs.h"
#include "race/race.h"

/* Of what a program printed before it failed. */
enum { FAILURE_LINES = 20 };

struct check {
	const struct rr_check_options *options;
	struct rr_session session;
	struct rr_cluster cluster;
	struct rr_launcher launcher;
	struct rr_programs *programs;
	char preload[RR_PATH_SIZE];
	struct rr_race *given; /* its `given` are the commands of --init */
	struct rl_command commands[RR_GIVEN_MAX];
	double begun;
	bool is_out_of_time;
	unsigned long shown; /* states, when the progress was shown last */
};

/* ---- What is done first -------------------------------------------------------- */

static void copy_command(const struct rr_step *step, struct rl_command *command)
{
	*command = (struct rl_command){ .n_words = step->n_words };
	for (size_t i = 0; i < step->n_words; i++)
		command->words[i] = (struct rl_word){ step->words[i],
						      strlen(step->words[i]) };
}

/* A race of nothing but what is given: its grammar is that of races. */
static char *read_as_race(FILE *file)
{
	char *text = NULL, *line = NULL;
	size_t size, capacity = 0;
	FILE *race = open_memstream(&text, &size);

	if (!race)
		return NULL;
	fputs("title what is given\nclients A\n", race);
	while (getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[strspn(line, " \t")] && line[0] != '#')
			fprintf(race, "given %s\n", line);
	}
	fputs("A> PING\nverdict nothing broken\n", race);
	free(line);
	fclose(race);
	return text;
}

static bool read_init(struct check *check, struct rr_error *error)
{
	const char *path = check->options->init;
	FILE *file = path ? fopen(path, "re") : NULL;
	char *text;

	if (!path)
		return true;
	if (!file)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--init: cannot read '%s'", path);
	text = read_as_race(file);
	fclose(file);
	check->given = text ? rr_race_parse(path, text, strlen(text), error) :
			      NULL;
	free(text);
	for (size_t i = 0; check->given && i < check->given->n_given; i++)
		copy_command(&check->given->given[i], &check->commands[i]);
	return check->given || rr_error_no_memory(error);
}

/* ---- Beginning and end ----------------------------------------------------------- */

static size_t n_clients_of(const struct rr_check_options *options)
{
	return options->n_named ? options->n_named : (size_t)options->n_clients;
}

static bool make_programs(struct check *check, struct rr_error *error)
{
	const struct rr_check_options *options = check->options;
	struct rr_programs_config config = {
		.instances = {
			.launcher = &check->launcher,
			.directory = check->session.guardian.base,
			.signals = &check->session.signals,
			.preload = check->preload[0] ? check->preload : NULL,
			.start_ns = RR_CLUSTER_START_NS,
			.patience_ms = options->patience_s * 1000,
			.refused = options->refused,
		},
		.n_clients = n_clients_of(options),
	};

	for (size_t i = 0; i < config.n_clients; i++) {
		const struct rr_check_client *named = &options->named[i];

		config.argv[i] = options->n_named ? named->shell :
						    options->command;
		snprintf(config.names[i], RR_CLIENT_NAME, "%s",
			 options->n_named ? named->name :
					    (char[]){ (char)('A' + i), '\0' });
	}
	check->programs = rr_programs_new(&config);
	return check->programs || rr_error_no_memory(error);
}

static bool open_check(struct check *check, struct rr_error *error)
{
	const struct rr_cluster_options servers = {
		.program = check->options->redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};

	rr_preload_find("redrace-program.so", check->preload,
			sizeof(check->preload));
	return rr_launcher_start(&check->launcher, error) &&
	       rr_session_open(&check->session, error) &&
	       rr_cluster_open(&check->cluster, &check->session, &servers,
			       error) &&
	       read_init(check, error) && make_programs(check, error);
}

static void close_check(struct check *check)
{
	rr_programs_free(check->programs);
	rr_launcher_stop(&check->launcher);
	rr_cluster_close(&check->cluster);
	rr_session_close(&check->session);
	rr_race_free(check->given);
}

/* ---- Meanwhile ------------------------------------------------------------------- */

static bool show_progress(void *context, unsigned long states, double share)
{
	struct check *check = context;
	const double elapsed = rr_clock_s() - check->begun;
	char number[RR_GROUPED_SIZE];

	if (isatty(STDERR_FILENO) == 1)
		fprintf(stderr,
			"\r\033[K%s states, %.0f %% of them looked at, %lu runs of the program, %.0f s",
			rr_grouped(number, (long long)states), share * 100,
			rr_programs_figures(check->programs).starts, elapsed);
	check->shown = states;
	check->is_out_of_time = check->options->seconds &&
				elapsed > (double)check->options->seconds;
	rr_signals_wait(&check->session.signals, 0);
	return !check->is_out_of_time && !check->session.signals.interrupted;
}

static void end_progress(const struct check *check)
{
	if (check->shown && isatty(STDERR_FILENO) == 1)
		fputs("\r\033[K", stderr);
}

/* ---- The report -------------------------------------------------------------------- */

static void print_lines(const char *heading, const char *lines)
{
	if (!lines)
		return;
	printf("%s\n", heading);
	while (*lines) {
		const int length = (int)strcspn(lines, "\n");

		printf("  %.*s\n", length, lines);
		lines += length + (lines[length] == '\n');
	}
}

/* "3 clients, 15 runs of the program, 4.6 s". */
static void print_figures(const struct check *check,
			  const struct rr_outcomes_result *result)
{
	const struct rr_programs_figures figures =
		rr_programs_figures(check->programs);

	printf("%zu clients, %lu runs of the program%s, %.1f s)\n",
	       n_clients_of(check->options), figures.starts,
	       check->options->n_named ? "s" : "", result->seconds);
	if (!figures.has_shim)
		printf("  The program keeps its own clock: it is static, or the clock's library is missing.\n");
}

static void print_ending(size_t client, int status)
{
	const char name = (char)('A' + client);

	if (WIFSIGNALED(status))
		printf("  %c was ended by signal %d\n", name, WTERMSIG(status));
	else
		printf("  %c exited with %d\n", name, WEXITSTATUS(status));
}

static void print_endings(const struct check *check,
			  const struct rr_outcomes_result *result)
{
	for (size_t i = 0; i < n_clients_of(check->options); i++) {
		const struct rr_ending ending = rr_programs_ending(
			check->programs, result->endings[i]);

		if (result->endings[i] < 0)
			printf("  %c crashed\n", (char)('A' + i));
		else if (ending.status)
			print_ending(i, ending.status);
	}
}

/* No serial order has done all of their work, whatever its data. */
static void print_who_ended_well(const struct check *check,
				 const struct rr_outcomes_result *result)
{
	const char *between = "";

	fputs("and ", stdout);
	for (size_t i = 0; i < n_clients_of(check->options); i++) {
		if (!(result->ended_well & 1U << i))
			continue;
		printf("%s%c", between, (char)('A' + i));
		between = ", ";
	}
	puts(" have all succeeded: in no serial order of the clients they do.");
}

static bool save_schedule(const struct check *check,
			  const struct rr_outcomes_result *result,
			  struct rr_error *error)
{
	const char *path = check->options->save;

	if (!path)
		return true;
	if (!rr_files_replace(path, result->transcript,
			      strlen(result->transcript), error))
		return false;
	printf("saved: %s\n", path);
	return true;
}

static enum rr_exit report_finding(struct check *check,
				   const struct rr_outcomes_result *result,
				   struct rr_error *error)
{
	struct rr_style style = rr_draw_style(stdout, false);

	style.no_all_clear = true;

	if (result->found & RR_OUTCOME_NOT_SERIAL) {
		printf("not serializable (%lu of %lu final states; ",
		       result->wrong, result->finals);
		print_figures(check, result);
		print_lines("In the end there is", result->data);
		print_lines("and no serial order of the clients leaves that. One leaves",
			    result->nearest);
		if (!result->nearest)
			print_who_ended_well(check, result);
		print_endings(check, result);
	} else if (result->found & RR_OUTCOME_EXCLUSION) {
		printf("two clients are in their critical sections (");
		print_figures(check, result);
	} else {
		printf("no progress: not all clients can end (");
		print_figures(check, result);
	}
	putchar('\n');
	fflush(stdout);
	rr_conclude_draw(stdout, result->transcript, &check->cluster, &style,
			 error);
	save_schedule(check, result, error);
	return RR_EXIT_VIOLATED;
}

/* Why there may be more states; NULL = there are not. */
static const char *cut_of(const struct check *check,
			  const struct rr_outcomes_result *result)
{
	switch (result->explored) {
	case RR_EXPLORED_ALL:
		return NULL;
	case RR_EXPLORED_ROUNDS:
		return "clients that do the same in vain were not followed for ever: --rounds";
	case RR_EXPLORED_RANDOM_REPLIES:
		return "a command's reply is random";
	case RR_EXPLORED_MEMORY:
		return "out of memory: half of what is free";
	case RR_EXPLORED_STOPPED:
		return check->is_out_of_time ? "out of time: --seconds" :
					       "interrupted";
	default:
		return "there are more: --most";
	}
}

/* A client that always failed has shown nothing; how many there are if there is none. */
static size_t find_failing_client(const struct check *check,
				  const struct rr_outcomes_result *result)
{
	const size_t n_clients = n_clients_of(check->options);
	size_t i = 0;

	while (i < n_clients &&
	       (result->finals == 0 || result->ever_well & 1U << i))
		i++;
	return i;
}

/* For what is there to be seen? */
static void print_failure(const struct check *check, size_t client)
{
	struct rr_ending ending;
	const char *from;
	int n = 0;

	if (!rr_programs_last_ending(check->programs, client, &ending))
		return;
	print_ending(client, ending.status);
	from = ending.output + strlen(ending.output);
	while (from > ending.output && n <= FAILURE_LINES)
		n += *--from == '\n';
	if (*from)
		print_lines("  It printed", from + (*from == '\n'));
}

static enum rr_exit report_nothing(struct check *check,
				   const struct rr_outcomes_result *result)
{
	const size_t failing = find_failing_client(check, result);
	const bool is_vacuous = failing < n_clients_of(check->options);
	const char *cut = is_vacuous ? "there is a client that never succeeded" :
				       cut_of(check, result);
	char number[RR_GROUPED_SIZE];

	if (cut)
		printf("no failure found: %s states (",
		       rr_grouped(number, (long long)result->states));
	else
		printf("serializable: all %s states (",
		       rr_grouped(number, (long long)result->states));
	print_figures(check, result);
	if (cut)
		printf("  %s: %s.\n",
		       is_vacuous ? "This shows nothing" :
				    "Not searched to the end",
		       cut);
	if (is_vacuous)
		print_failure(check, failing);
	if (check->session.signals.interrupted)
		return RR_EXIT_INTERRUPTED;
	return cut ? RR_EXIT_INCONCLUSIVE : RR_EXIT_OK;
}

/* ---- The whole ---------------------------------------------------------------------- */

static void init_programs(void *context, struct rr_program *program)
{
	rr_programs_init(context, program);
}

static bool begin_search(void *context)
{
	return rr_programs_begin_search(context);
}

static bool verify_programs(void *context, bool *again, struct rr_error *error)
{
	return rr_programs_verify(context, again, error);
}

static void set_live(void *context, bool is_live)
{
	rr_programs_set_live(context, is_live);
}

static enum rr_exit run_check(struct check *check, struct rr_error *error)
{
	const struct rr_check_options *options = check->options;
	const struct rr_outcomes_config config = {
		.programs = { .init = init_programs,
			      .begin_search = begin_search,
			      .verify = verify_programs,
			      .set_live = set_live,
			      .context = check->programs },
		.n_clients = n_clients_of(options),
		.budget = options->budget,
		.rounds = options->rounds,
		.ttl_ms = options->ttl_ms,
		.most = options->most,
		.memory = options->memory,
		.audit = options->audit,
		.is_atomic = options->is_atomic,
		.given = check->commands,
		.n_given = check->given ? check->given->n_given : 0,
		.title = "Found by redrace check",
		.progress = show_progress,
		.context = check,
	};
	struct rr_outcomes_result result;
	enum rr_exit code = RR_EXIT_OK;
	bool good;

	printf("Runs '%s' again and again: what it does outside Redis is really done.\n",
	       options->n_named ? options->named[0].shell[2] :
				  options->command[0]);
	fflush(stdout);
	check->begun = rr_clock_s();
	good = rr_explore_outcomes(&check->cluster, &config, &result, error);
	end_progress(check);
	if (check->session.signals.interrupted)
		code = RR_EXIT_INTERRUPTED;
	else if (good)
		code = result.found ? report_finding(check, &result, error) :
				      report_nothing(check, &result);
	if (code == RR_EXIT_INTERRUPTED)
		error->kind = RR_ERROR_NONE;
	rr_outcomes_release(&result);
	return code;
}

enum rr_exit rr_check(const struct rr_check_options *options,
		      struct rr_error *error)
{
	struct check *check = calloc(1, sizeof(*check));
	enum rr_exit code = RR_EXIT_OK;

	if (!check) {
		rr_error_no_memory(error);
		return code;
	}
	check->options = options;
	check->launcher.socket = -1;
	if (open_check(check, error))
		code = run_check(check, error);
	close_check(check);
	free(check);
	return code;
}
