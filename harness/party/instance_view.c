/* SPDX-License-Identifier: MIT */
/* What an instance waits for and has done, as a search sees it. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "instance.h"

/* Values that have given their names to others are called as those of no client. */
enum { FORGOTTEN = 9 };

static void add_stop(struct rr_run_view *view, struct rr_stop stop)
{
	if (view->n_threads == RR_RUN_THREADS)
		view->is_too_much = true;
	else
		view->stops[view->n_threads++] = stop;
}

/* Of very many commands the first are enough, as long as each lane has room for one. */
static void view_lane(struct rr_run_view *view, const struct rr_lane *lane, uint8_t number)
{
	const uint32_t room = RR_RUN_SENT - (RR_RUN_ORDINALS - 1U - number);

	if (!lane->is_used || lane->n == 0)
		return;
	add_stop(view, (struct rr_stop){ .kind = RR_STOP_RECEIVE, .lane = number });
	for (size_t i = 0; i < lane->n && view->n_sent < room; i++) {
		const struct rr_request *request = rr_lane_request(lane, i);

		if (request->answer == RR_NO_ID)
			view->sent[view->n_sent++] =
				(struct rr_sent){ .lane = number,
						  .is_inside = request->is_inside,
						  .is_waiting = request->is_waiting,
						  .kind = request->kind,
						  .command = request->command };
	}
}

struct rr_ending rr_instance_ending(const struct rr_instance *instance)
{
	const struct rdl_word output = rr_process_output(instance->process);

	return (struct rr_ending){ .status = instance->process->status,
				   .output = output.text,
				   .length = output.length };
}

/* How it ended, as a number. What it printed has its random values renamed. */
static uint32_t keep_ending(const struct rr_instance *instance)
{
	struct rr_ending ending = rr_instance_ending(instance);
	struct rr_terms *terms = instance_terms(instance);

	if (instance->inward.n) {
		const struct rdl_reply printed = { .type = RDL_REPLY_STRING,
						   .text = ending.output,
						   .length = ending.length };
		const uint32_t renamed = rr_rename_reply(&instance->inward, terms,
							 rr_terms_reply(terms, &printed));

		ending.output = terms->reply[renamed].reply.text;
		ending.length = terms->reply[renamed].reply.length;
	}
	return rr_endings_put(instance->config->endings, ending);
}

struct rr_run_view rr_instance_view(struct rr_instance *instance)
{
	const bool is_inside = instance->is_inside || instance->was_inside;
	struct rr_run_view view = { .is_inside = is_inside,
				    .is_holding = is_inside,
				    .slept_ns = instance->slept_ns,
				    .has_entered = instance->has_entered,
				    .has_read = instance->has_read };
	struct rr_ending ending;

	for (uint8_t i = 0; i < RR_RUN_ORDINALS; i++)
		view_lane(&view, &instance->lanes[i], i);
	/*
	 * Where it is subscribed a message may come, also before a reply. A time-out may be over at
	 * any time, as long as the program is owed no reply.
	 */
	const bool may_time_out = view.n_threads == 0 &&
				  rr_program_clock_has_waiter(&instance->process->clock);

	for (uint8_t i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct rr_lane *lane = &instance->lanes[i];

		if (lane->is_used && rr_lane_is_subscribed(lane))
			add_stop(&view,
				 (struct rr_stop){ .kind = RR_STOP_LISTEN,
						   .lane = i,
						   .duration_ns = may_time_out ? 0 : RR_NEVER });
	}
	if (instance->app)
		view.tally.ending = keep_ending(instance);
	if (view.n_threads > 0)
		return view;
	view.n_threads = 1;
	view.stops[0].kind = RR_STOP_ENDED;
	view.is_inside = view.is_holding = false;
	ending = rr_instance_ending(instance);
	view.tally.ok = ending.status == 0 &&
			!rr_ending_is_declared(instance->config->refused, ending);
	view.tally.failed = !view.tally.ok;
	view.tally.ending = keep_ending(instance);
	return view;
}

static void rename_sent(struct rr_instance *instance, const struct rr_renaming *renaming)
{
	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		struct rr_lane *lane = &instance->lanes[i];

		for (size_t j = 0; j < lane->n; j++) {
			struct rr_request *request = rr_lane_request(lane, j);

			request->command = rr_rename_command(renaming, instance_terms(instance),
							     request->command);
		}
	}
}

bool rr_instance_rename(struct rr_instance *instance, struct rdl_word canonical,
			struct rdl_word actual)
{
	if (rr_renaming_has(&instance->inward, actual) ||
	    rr_renaming_has(&instance->outward, canonical))
		return false;
	rr_renaming_add(&instance->inward, actual, canonical);
	rr_renaming_add(&instance->outward, canonical, actual);
	rename_sent(instance, &instance->inward);
	return true;
}

bool rr_instance_exchange(struct rr_instance *instance, struct rdl_word canonical,
			  struct rdl_word actual)
{
	struct rr_renaming both = { 0 };

	if (rr_renaming_has(&instance->inward, actual) ||
	    rr_renaming_has(&instance->inward, canonical))
		return false;
	rr_renaming_add(&both, actual, canonical);
	rr_renaming_add(&both, canonical, actual);
	rename_sent(instance, &both);
	rr_renaming_release(&both);
	rr_renaming_add(&instance->inward, actual, canonical);
	rr_renaming_add(&instance->inward, canonical, actual);
	rr_renaming_add(&instance->outward, actual, canonical);
	rr_renaming_add(&instance->outward, canonical, actual);
	return true;
}

bool rr_instance_drop_exchange(struct rr_instance *instance, struct rdl_word canonical)
{
	const struct rdl_word own = rr_renaming_of(&instance->outward, canonical);
	const struct rdl_word actual = { rr_memdup(own.text, own.length), own.length };
	struct rr_renaming none = { 0 };
	/* What is exchanged has a pair in both directions. */
	const bool is_exchanged = rr_renaming_drop(&instance->inward, &none, canonical);

	if (is_exchanged) {
		rr_renaming_drop(&instance->inward, &none, actual);
		rr_renaming_drop(&instance->outward, &none, canonical);
		rr_renaming_drop(&instance->outward, &none, actual);
	}
	free((char *)actual.text);
	return is_exchanged;
}

struct rdl_word rr_instance_own(const struct rr_instance *instance, struct rdl_word canonical)
{
	return rr_renaming_of(&instance->outward, canonical);
}

void rr_instance_forget(struct rr_instance *instance, struct rdl_word canonical)
{
	struct rdl_word actual = rr_renaming_of(&instance->outward, canonical);
	char *own = rr_memdup(actual.text, actual.length);
	struct rdl_word shifted = rr_token_of_client(canonical, FORGOTTEN,
						     instance->config->process.start_ns);
	char *text = rr_asprintf("%.*s.%u", (int)shifted.length, shifted.text,
				 ++instance->n_forgotten);
	const struct rdl_word other = { text, strlen(text) };

	rr_renaming_drop(&instance->outward, &instance->inward, canonical);
	actual.text = own;
	rr_renaming_add(&instance->inward, actual, other);
	rr_renaming_add(&instance->outward, other, actual);
	free((char *)shifted.text);
	free(text);
	free(own);
}

bool rr_instance_renames(const struct rr_instance *instance, struct rdl_word canonical)
{
	return rr_renaming_has(&instance->outward, canonical);
}
