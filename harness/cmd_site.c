/* SPDX-License-Identifier: MIT */
/* redrace site: everything as pages that link to each other. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/machine.h"
#include "commands.h"
#include "race/race.h"
#include "report/report.h"
#include "site/site.h"

struct site_options {
	struct rr_site_config config;
	long jobs;
};

/* ---- Options ------------------------------------------------------------------------------ */

static bool take_directory(void *into, char *path, struct rr_error *error)
{
	(void)error;
	((struct site_options *)into)->config.directory = path;
	return true;
}

static bool take_name(const char *names[RR_SITE_NAMES_MAX], size_t *n, const char *name,
		      struct rr_error *error)
{
	if (*n == RR_SITE_NAMES_MAX)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "'%s': at most %d of a kind can be named", name,
				    RR_SITE_NAMES_MAX);
	names[(*n)++] = name;
	return true;
}

static bool take_subject(void *into, char *text, struct rr_error *error)
{
	struct rr_site_config *config = &((struct site_options *)into)->config;

	if (rr_report_is_results(text))
		return take_name(config->results, &config->n_results, text, error);
	if (!strchr(text, '/') && rr_strategy_find(text))
		return rr_take_strategy(&config->strategies, text, error);
	if (!strchr(text, '/') && rr_library_has(text))
		return take_name(config->races, &config->n_races, text, error);
	return rr_error_set(
		error, RR_ERROR_USAGE,
		"'%s' is not a race of ours, a strategy or a results directory of bench; 'redrace list' and 'redrace list --races' show what there is",
		text);
}

#define AT(field) offsetof(struct site_options, field)

static const struct rr_option options_table[] = {
	{ .help = "Output" },
	{ .common = RR_OPTION_OUTPUT,
	  .argument = "DIR",
	  .help = "write the pages to DIR, which is made if it is not there",
	  .kind = RR_TAKES_MORE,
	  .take = take_directory },
	{ .help = "Servers" },
	{ .common = RR_OPTION_JOBS, .at = AT(jobs) },
	{ .common = RR_OPTION_REDIS_SERVER, .at = AT(config.redis_server) },
};

static bool complete_options(void *into, struct rr_error *error)
{
	return ((struct site_options *)into)->config.directory ||
	       rr_error_set(error, RR_ERROR_USAGE, "where to? Name a directory with -o DIR");
}

static const struct rr_command_line command_line = {
	.about =
		"Writes a site of pages that link to each other: every race, by subject and by document, each cell of the safety matrix that fails, the claims, the races that were found, the game, plots and lessons. It is played and searched now, which takes some minutes.\v"
		"The pages need no network and no server: open DIR/index.html, or put DIR anywhere as it is. With races or strategies named the site has only these; with results directories of bench, their tables and plots.",
	.arguments = "[RACE|STRATEGY|DIR...]",
	.examples = "redrace site -o site\n"
		    "redrace site -o site results/latest",
	.name_at = rr_strategy_name,
	.find_names = rr_library_names,
	RR_OPTIONS(options_table),
	.take_argument = take_subject,
	.check = complete_options,
};

/* ---- The command ---------------------------------------------------------------------------- */

static void tell(const char *what)
{
	fprintf(stderr, "redrace site: %s\n", what);
}

static enum rr_exit run_site(int argc, char **argv, struct rr_error *error)
{
	struct site_options options = {
		.config = { .redis_server = "redis-server", .progress = tell },
		.jobs = rr_placement_count(),
	};
	bool as_expected = true;

	rr_command_line_parse(&command_line, &options, argc, argv);
	options.config.jobs = (int)options.jobs;
	if (rr_site_write(&options.config, &as_expected, error))
		printf("%s/index.html\n", options.config.directory);
	return as_expected ? RR_EXIT_OK : RR_EXIT_VIOLATED;
}

const struct rr_command rr_cmd_site = {
	.name = "site",
	.summary = "write everything as a site of linked pages",
	.line = &command_line,
	.run = run_site,
};
