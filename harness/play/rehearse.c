/* SPDX-License-Identifier: MIT */
#include "rehearse.h"

#include <stdlib.h>

#include "base/error.h"
#include "interactive.h"

/* ---- What was asked for ------------------------------------------------------------ */

static enum rr_exit check(const struct rr_rehearse_options *options)
{
	if (options->interactive && (options->schedule || options->stops))
		return rr_complain(RR_EXIT_USAGE,
				   "--interactive is your own schedule: it takes neither --schedule nor --stop");
	if (options->interactive && options->save)
		return rr_complain(RR_EXIT_USAGE,
				   "--interactive saves when you press s: it takes no --save");
	if (options->stops && !options->schedule)
		return rr_complain(RR_EXIT_USAGE, "--stop needs a --schedule");
	if (options->save && !options->save[0])
		return rr_complain(RR_EXIT_USAGE, "--save: the name is empty");
	return RR_EXIT_OK;
}

enum rr_exit rr_rehearse_take(struct rr_rehearse_options *options,
			      const char *name)
{
	options->setup.strategy = rr_strategy_find(name);
	if (options->setup.strategy)
		return check(options);
	if (options->any)
		return rr_complain(RR_EXIT_USAGE,
				   "'%s' is no strategy: --schedule, --interactive and their like need one; 'redrace list' shows them",
				   name);
	return RR_EXIT_OK;
}

/* ---- Under a schedule -------------------------------------------------------- */

static enum rr_exit follow(const struct rr_rehearse_options *options,
			   struct rr_schedule *schedule,
			   struct rr_cluster *cluster, rr_show show,
			   void *context, struct rr_error *error)
{
	struct rr_guided *guided = calloc(1, sizeof(*guided));
	enum rr_exit code = RR_EXIT_OK;
	bool good;

	if (!guided) {
		rr_error_no_memory(error);
		return code;
	}
	good = rr_guided_run(guided, &options->setup, cluster,
			     rr_schedule_decide, schedule);
	if (cluster->session->signals.interrupted)
		rr_error_set(error, RR_ERROR_INTERRUPTED, "%s", "");
	else if (!good)
		*error = guided->error;
	else
		code = show(context, &guided->trace);
	if (!error->kind && code == RR_EXIT_OK && options->save)
		rr_guided_save(guided, options->save, error);
	rr_guided_close(guided);
	free(guided);
	return code;
}

enum rr_exit rr_rehearse(const struct rr_rehearse_options *options,
			 struct rr_cluster *cluster, rr_show show,
			 void *context, struct rr_error *error)
{
	struct rr_schedule *schedule;
	enum rr_exit code = RR_EXIT_OK;

	if (options->interactive) {
		rr_interactive_run(&options->setup, cluster, error);
		return code;
	}
	schedule = calloc(1, sizeof(*schedule));
	if (!schedule) {
		rr_error_no_memory(error);
		return code;
	}
	schedule->stops = options->stops;
	if (rr_schedule_parse(schedule,
			      options->schedule ? options->schedule : "",
			      &options->setup, error))
		code = follow(options, schedule, cluster, show, context, error);
	free(schedule);
	return code;
}
