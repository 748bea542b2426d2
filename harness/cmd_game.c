/* SPDX-License-Identifier: MIT */
/* redrace game: a page in which the reader is the scheduler. */
#include <stdio.h>
#include <unistd.h>

#include "base/files.h"
#include "base/machine.h"
#include "commands.h"
#include "report/report.h"

struct game_options {
	struct rr_game_config config;
	const char *output, *redis_server;
};

static const struct rr_option options_table[] = {
	{ .common = RR_OPTION_OUTPUT, .at = offsetof(struct game_options, output) },
	{ .common = RR_OPTION_REDIS_SERVER, .at = offsetof(struct game_options, redis_server) },
};

static bool take_level(void *into, char *name, struct rr_error *error)
{
	struct rr_game_config *config = &((struct game_options *)into)->config;

	if (config->n_levels == RR_GAME_LEVELS_MAX)
		return rr_error_set(error, RR_ERROR_USAGE, "too many levels");
	config->levels[config->n_levels++] = name;
	return true;
}

static const struct rr_command_line command_line = {
	.about =
		"Writes an HTML page in which the reader picks whose command comes next: levels with a goal each, from a lost update up to Redlock. What can be picked and how many interleavings end well is searched on real servers.",
	.arguments = "[LEVEL...]",
	.examples = "redrace game -o game.html",
	RR_OPTIONS(options_table),
	.take_argument = take_level,
};

/* ---- Writing --------------------------------------------------------------- */

/* "level 3 of 16: two-mutexes"; on a terminal in one line. */
static void print_level(void *context, size_t n, size_t of, const char *name)
{
	(void)context;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Klevel %zu of %zu: %s ", n, of, name);
}

static enum rr_exit run_game(int argc, char **argv, struct rr_error *error)
{
	struct game_options options = {
		.config = { .progress = print_level },
		.redis_server = "redis-server",
	};
	struct rr_draft draft;

	rr_command_line_parse(&command_line, &options, argc, argv);
	if (!rr_draft_is_for_page(options.output, error))
		return RR_EXIT_USAGE;
	rr_draft_open(&draft);

	FILE *out = draft.out;
	const struct rr_cluster_options servers = {
		.program = options.redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = rr_placement_cpu(),
	};
	struct rr_workplace *place;

	rr_placement_settle(servers.cpu);
	place = rr_workplace_new(&servers, error);
	if (place)
		rr_game_write(out, &place->cluster, &options.config, error);
	rr_workplace_free(place);
	rr_draft_replace(&draft, options.output, error);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return RR_EXIT_OK;
}

const struct rr_command rr_cmd_game = {
	.name = "game",
	.summary = "write a page in which the reader is the scheduler",
	.line = &command_line,
	.run = run_game,
};
