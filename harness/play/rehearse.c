/* SPDX-License-Identifier: MIT */
#include "rehearse.h"

#include <stdlib.h>

#include "director.h"
#include "base/error.h"
#include "transcript.h"

/* ---- What was asked for ------------------------------------------------------------ */

/* Their clients are woken by messages, which no transcript shows. */
static bool can_be_saved(const struct rr_strategy *strategy)
{
	return strategy->lock.kind != RR_LOCK_QUEUE;
}

static enum rr_exit check(const struct rr_rehearse_options *options)
{
	const char *name = options->setup.strategy->name;

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
	if (options->save && !can_be_saved(options->setup.strategy))
		return rr_complain(RR_EXIT_USAGE,
				   "--save: the clients of %s are woken by messages, which a transcript does not show",
				   name);
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

/* ---- Under a schedule ----------------------------------------------------------------- */

static enum rr_exit follow(const struct rr_rehearse_options *options,
			   struct rr_schedule *schedule,
			   struct rr_cluster *cluster, rr_show show,
			   void *context)
{
	struct rr_rehearsal *rehearsal = calloc(1, sizeof(*rehearsal));
	enum rr_exit code;

	if (!rehearsal)
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	code = rr_rehearsal_run(rehearsal, &options->setup, cluster,
				rr_schedule_ask, schedule);
	if (cluster->session->signals.interrupted)
		code = RR_EXIT_INTERRUPTED;
	else if (code != RR_EXIT_OK)
		rr_complain(code, "%s", rehearsal->error);
	else
		code = show(context, &rehearsal->trace);
	if (code == RR_EXIT_OK && options->save)
		code = rr_transcript_save(rehearsal->race, options->save);
	rr_rehearsal_close(rehearsal);
	free(rehearsal);
	return code;
}

enum rr_exit rr_rehearse(const struct rr_rehearse_options *options,
			 struct rr_cluster *cluster, rr_show show,
			 void *context)
{
	struct rr_schedule *schedule = calloc(1, sizeof(*schedule));
	char error[300];
	enum rr_exit code;

	if (options->interactive) {
		free(schedule);
		return rr_direct(&options->setup, cluster);
	}
	if (!schedule)
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	schedule->stops = options->stops;
	if (rr_schedule_parse(schedule,
			      options->schedule ? options->schedule : "",
			      &options->setup, error, sizeof(error)))
		code = follow(options, schedule, cluster, show, context);
	else
		code = rr_complain(RR_EXIT_USAGE, "%s", error);
	free(schedule);
	return code;
}
