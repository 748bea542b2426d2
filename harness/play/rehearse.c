/* SPDX-License-Identifier: MIT */
#include "rehearse.h"

#include <stdlib.h>

#include "base/error.h"
#include "interactive.h"

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
