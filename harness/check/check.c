/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/machine.h"
#include "base/text.h"
#include "parts.h"

/* ---- Commands of the user's ------------------------------------------------------ */

static void copy_command(const struct rr_step *step, struct rl_command *command)
{
	*command = (struct rl_command){ .n_words = step->n_words };
	for (size_t i = 0; i < step->n_words; i++)
		command->words[i] = (struct rl_word){ step->words[i], strlen(step->words[i]) };
}

/* Commands as what is given in a race, whose grammar they have; the n-th line is the
 * n-th. */
static void write_given(FILE *race, char *line)
{
	line[strcspn(line, "\r\n")] = '\0';
	if (line[strspn(line, " \t")] && line[0] != '#')
		fprintf(race, "given %s\n", line);
	else
		fputc('\n', race);
}

/* The race that `write` has written what is given of. */
static struct rr_race *parse_given(const char *path, void (*write)(const void *from, FILE *race),
				   const void *from, struct rr_error *error)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct rr_race *race;

	if (!file) {
		rr_error_no_memory(error);
		return NULL;
	}
	write(from, file);
	fputs("title what is given\nclients A\nA> PING\nverdict nothing broken\n", file);
	fclose(file);
	race = rr_race_parse(path, text, size, error);
	free(text);
	return race;
}

static void write_init(const void *from, FILE *race)
{
	FILE *const *file = from;
	char *line = NULL;
	size_t capacity = 0;

	while (getline(&line, &capacity, *file) > 0)
		write_given(race, line);
	free(line);
}

static bool read_init(struct rr_check *check, struct rr_error *error)
{
	const char *path = check->options->init;
	FILE *file = path ? fopen(path, "re") : NULL;

	if (!path)
		return true;
	if (!file)
		return rr_error_set(error, RR_ERROR_USAGE, "--init: cannot read '%s'", path);
	check->given = parse_given(path, write_init, &file, error);
	fclose(file);
	for (size_t i = 0; check->given && i < check->given->n_given; i++)
		copy_command(&check->given->given[i], &check->commands[i]);
	return check->given != NULL;
}

static void write_finals(const void *from, FILE *race)
{
	const struct rr_check_options *options = from;

	for (size_t i = 0; i < options->n_finals; i++)
		fprintf(race, "given %s\n", options->finals[i].command);
}

static bool read_finals(struct rr_check *check, struct rr_error *error)
{
	const struct rr_check_options *options = check->options;

	if (options->n_finals == 0)
		return true;
	check->finals = parse_given("--final", write_finals, options, error);
	for (size_t i = 0; check->finals && i < check->finals->n_given; i++) {
		copy_command(&check->finals->given[i], &check->asked[i]);
		check->expected[i] = (struct rr_expected){ .asked = &check->asked[i],
							   .value = options->finals[i].value };
	}
	return check->finals != NULL;
}

/* ---- Beginning and end ----------------------------------------------------------- */

size_t rr_check_n_clients(const struct rr_check *check)
{
	return check->options->n_named ? check->options->n_named :
					 (size_t)check->options->n_clients;
}

static struct rr_instance_config instances_of(struct rr_check *check)
{
	return (struct rr_instance_config){
		.guardian = &check->session.guardian,
		.signals = &check->session.signals,
		.preload = check->preload[0] ? check->preload : NULL,
		.until_ns = check->until_ns,
		.start_ns = RR_CLUSTER_START_NS,
		.patience_ms = check->options->patience_s * 1000,
	};
}

static bool make_programs(struct rr_check *check, struct rr_error *error)
{
	const struct rr_check_options *options = check->options;
	struct rr_programs_config config = {
		.instances = instances_of(check),
		.compares_outputs = options->outputs,
		.n_clients = rr_check_n_clients(check),
	};

	config.instances.refused = options->refused;
	for (size_t i = 0; i < config.n_clients; i++) {
		const struct rr_check_client *named = &options->named[i];

		config.argv[i] = options->n_named ? named->shell : options->command;
		snprintf(config.names[i], RR_CLIENT_NAME, "%s",
			 options->n_named ? named->name : (char[]){ (char)('A' + i), '\0' });
	}
	check->programs = rr_programs_new(&config);
	return check->programs || rr_error_no_memory(error);
}

static bool make_checker(struct rr_check *check, struct rr_error *error)
{
	const struct rr_programs_config config = {
		.instances = instances_of(check),
		.n_clients = 1,
		.argv = { check->options->checker },
		.names = { "check" },
	};

	if (!check->options->checker[0])
		return true;
	check->checker = rr_programs_new(&config);
	return check->checker || rr_error_no_memory(error);
}

static bool open_check(struct rr_check *check, struct rr_error *error)
{
	const struct rr_cluster_options servers = {
		.program = check->options->redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};

	rr_preload_find("redrace-program.so", check->preload, sizeof(check->preload));
	return rr_session_open(&check->session, error) &&
	       rr_cluster_open(&check->cluster, &check->session, &servers, error) &&
	       read_init(check, error) && read_finals(check, error) &&
	       make_programs(check, error) && make_checker(check, error);
}

static void close_check(struct rr_check *check)
{
	rr_programs_free(check->programs);
	rr_programs_free(check->checker);
	rr_cluster_close(&check->cluster);
	rr_session_close(&check->session);
	rr_race_free(check->given);
	rr_race_free(check->finals);
}

/* ---- Meanwhile ------------------------------------------------------------------- */

static void note_time(struct rr_check *check)
{
	check->is_out_of_time = check->until_ns != 0 && rr_clock_ns() > check->until_ns;
}

static bool go_on(void *context, unsigned long states, double share)
{
	struct rr_check *check = context;

	rr_check_show_progress(check, states, share);
	note_time(check);
	rr_signals_wait(&check->session.signals, 0);
	return !check->is_out_of_time && !check->session.signals.interrupted;
}

/* ---- The whole ---------------------------------------------------------------------- */

static void init_programs(void *context, struct rr_program *program)
{
	rr_programs_init(context, program);
}

static void begin_search(void *context)
{
	rr_programs_begin_search(context);
}

static bool verify_programs(void *context, bool *again, struct rr_error *error)
{
	return rr_programs_verify(context, again, error);
}

static void set_live(void *context, bool is_live)
{
	rr_programs_set_live(context, is_live);
}

static void describe_ending(void *context, long ending, FILE *out)
{
	const struct rr_ending how = rr_programs_ending(context, ending);

	if (WIFSIGNALED(how.status))
		fprintf(out, "the command of --check was ended by signal %d", WTERMSIG(how.status));
	else
		fprintf(out, "the command of --check exited with %d", WEXITSTATUS(how.status));
	fprintf(out, how.output[0] ? ": %.*s\n" : "\n", (int)strcspn(how.output, "\n"), how.output);
}

static struct rr_explored_programs ops_of(struct rr_programs *programs)
{
	if (!programs)
		return (struct rr_explored_programs){ .init = NULL };
	return (struct rr_explored_programs){
		.init = init_programs,
		.begin_search = begin_search,
		.verify = verify_programs,
		.set_live = set_live,
		.describe = describe_ending,
		.context = programs,
	};
}

static struct rr_explore_config config_of(struct rr_check *check)
{
	const struct rr_check_options *options = check->options;

	return (struct rr_explore_config){
		.programs = ops_of(check->programs),
		.n_clients = rr_check_n_clients(check),
		.budget = options->budget,
		.rounds = options->rounds,
		.ttl_ms = options->ttl_ms,
		.most = options->most,
		.memory = options->memory,
		.audit = options->audit,
		.is_atomic = options->is_atomic,
		.given = check->commands,
		.n_given = check->given ? check->given->n_given : 0,
		.outputs = options->outputs,
		.ignored = options->ignored,
		.n_ignored = options->n_ignored,
		.expected = check->expected,
		.n_expected = options->n_finals,
		.checker = ops_of(check->checker),
		.schedule = options->schedule,
		.title = "Found by redrace check",
		.progress = go_on,
		.context = check,
	};
}

static void print_warning(const struct rr_check_options *options, FILE *out)
{
	const char *const *words = options->n_named ? NULL : options->command;

	fputs("Runs '", out);
	for (size_t i = 0; words && words[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", words[i]);
	for (size_t i = 0; i < options->n_named; i++)
		fprintf(out, "%s%s", i ? "', '" : "", options->named[i].shell[2]);
	fputs("' many times: what it does outside Redis is really done.\n", out);
	fflush(out);
}

static enum rr_exit run_check(struct rr_check *check, struct rr_error *error)
{
	const struct rr_explore_config config = config_of(check);
	struct rr_explore_result result;
	enum rr_exit code = RR_EXIT_OK;
	bool good;

	print_warning(check->options, rr_check_report_file(check->options));
	good = rr_explore(&check->cluster, &config, &result);
	if (!good)
		*error = result.error;
	rr_progress_end(&check->progress);
	note_time(check);
	if (check->session.signals.interrupted)
		code = RR_EXIT_INTERRUPTED;
	else if (good)
		code = rr_check_report(check, &result, error);
	else
		rr_check_report_error(check, error);
	if (code == RR_EXIT_INTERRUPTED)
		error->kind = RR_ERROR_NONE;
	rr_explore_release(&result);
	return code;
}

enum rr_exit rr_check(const struct rr_check_options *options, struct rr_error *error)
{
	struct rr_check *check = calloc(1, sizeof(*check));
	enum rr_exit code = RR_EXIT_OK;

	if (!check) {
		rr_error_no_memory(error);
		return code;
	}
	check->options = options;
	check->begun = rr_clock_s();
	if (options->seconds)
		check->until_ns = rr_clock_ns() + options->seconds * INT64_C(1000000000);
	if (open_check(check, error))
		code = run_check(check, error);
	else if (error->kind != RR_ERROR_USAGE)
		rr_check_report_error(check, error);
	close_check(check);
	free(check);
	return code;
}
