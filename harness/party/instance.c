/* SPDX-License-Identifier: MIT */
#include "instance.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"

/* So long it is waited in vain for a message until something comes of it. */
#define VAIN_NS INT64_C(60000000000)

#define MS_NS INT64_C(1000000)

/* ---- Running ------------------------------------------------------------------ */

/* Commands of one name come as they were seen first: in another one's words there may be a random
 * value, which is new in each run. A connection that asks nothing comes last. */
static bool asks_before(const struct rr_terms *terms, const struct rr_lane *lane,
			const struct rr_lane *other)
{
	uint32_t a, b;

	if (lane->n == 0 || other->n == 0)
		return lane->n > other->n;
	a = rr_lane_request(lane, 0)->command;
	b = rr_lane_request(other, 0)->command;
	return terms->command[a].name == terms->command[b].name ?
		       a < b :
		       terms->command[a].name < terms->command[b].name;
}

static void swap_lanes(struct rr_lane *a, struct rr_lane *b)
{
	const struct rr_lane copy = *a;

	*a = *b;
	*b = copy;
}

/* Was a connection opened before or after others were closed? They are seen at once. Those of an
 * app stay where they are: its first lanes are given to requests. */
static void close_up_new_lanes(struct rr_instance *instance)
{
	for (size_t i = 0; i < RR_RUN_ORDINALS; i++) {
		for (size_t j = 0; j < i && instance->lanes[i].is_used && instance->lanes[i].is_new;
		     j++) {
			if (!instance->lanes[j].is_used && !instance_keeps_lane(instance, j))
				swap_lanes(&instance->lanes[i], &instance->lanes[j]);
		}
	}
}

static int64_t round_to_ms(int64_t ns)
{
	return (ns + MS_NS / 2) / MS_NS * MS_NS;
}

/* Lets it run until it waits for us or has ended. */
static bool run_instance(struct rr_instance *instance, struct rr_error *error)
{
	const struct rr_program_page *page = instance->process->clock.page;
	const int64_t passed_ns = atomic_load(&page->passed_ns);
	uint64_t n_reads;
	struct rdl_word output;
	enum rr_process_end end;
	char *reason;

	instance->error = error;
	end = rr_process_wait(instance->process, error);
	instance->error = NULL;
	output = rr_process_output(instance->process);
	/*
	 * Which of several threads or children comes first is chance: the connections that they
	 * have opened meanwhile are put into the order of what is asked there.
	 */
	if (!instance->app)
		close_up_new_lanes(instance);
	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		struct rr_lane *lane = &instance->lanes[i];

		for (int j = i + 1; j < RR_RUN_ORDINALS && lane->is_new; j++) {
			struct rr_lane *other = &instance->lanes[j];

			if (other->is_new && asks_before(instance_terms(instance), other, lane))
				swap_lanes(lane, other);
		}
		lane->is_new = false;
	}
	instance->slept_ns = instance->app ? 0 :
					     round_to_ms(atomic_load(&page->passed_ns) - passed_ns);
	/* Since it stood still: it may have read the clock as soon as it was told something. */
	n_reads = atomic_load(&page->n_reads);
	instance->has_read = n_reads != instance->n_reads;
	instance->n_reads = n_reads;
	if (end == RR_PROCESS_ENDED && instance_app_has_failed(instance))
		return rr_error_set(error, RR_ERROR_DATA, "%.*s", (int)strcspn(output.text, "\n"),
				    output.text);
	if (end == RR_PROCESS_STOPPED && instance_app_is_gone(instance))
		return instance_fail_gone(instance, error);
	if (end != RR_PROCESS_HANGS)
		return end != RR_PROCESS_FAILED;
	if (instance->app)
		return instance_fail_hanging(instance, error);
	reason = rr_reason_line(output.text, output.length);
	rr_error_set(
		error, RR_ERROR_HANGS,
		"client %s neither sends a command nor ends: waited %ld s (--hangs-after)%s%.200s%s",
		instance->plan.owner.name, instance->config->process.patience_ms / 1000,
		reason[0] ? "; it printed '" : "", reason, reason[0] ? "'" : "");
	free(reason);
	return false;
}

struct rr_instance *rr_instance_begin(const struct rr_instance_config *config,
				      const char *const *argv, size_t client, const char *name,
				      uint64_t seed, int64_t late_ns, struct rr_error *error)
{
	struct rr_instance *instance = rr_calloc(1, sizeof(*instance));
	const double begun = rr_clock_s();

	instance->config = config;
	instance->client = client;
	instance->app = config->apps ? &config->apps[client] : NULL;
	instance->process_config = config->process;
	instance->process_config.start_ns += late_ns;
	instance->process_config.seed = seed;
	instance->plan = (struct rr_process_plan){
		.config = late_ns > 0 || seed != config->process.seed ? &instance->process_config :
									&config->process,
		.argv = argv,
		.owner = { .name = name,
			   .on_request = instance_on_request,
			   .on_close = instance_on_close,
			   .context = instance },
		.is_app = instance->app && instance->app->has_app,
		.owes = instance_is_owed,
	};
	instance->process = rr_process_start(&instance->plan, error);
	config->times->starting += rr_clock_s() - begun;
	if (instance->process)
		return instance;
	rr_instance_free(instance);
	return NULL;
}

bool rr_instance_settle(struct rr_instance *instance, struct rr_error *error)
{
	const struct rr_instance_config *config = instance->config;
	const double begun = rr_clock_s();
	bool good;

	/* What was begun ahead was begun beside another run: those that are used take turns. */
	if (!config->apps)
		rr_process_set_turns(instance->process,
				     config->n_starts % 2 ? RR_TURNS_OF_OTHERS : RR_TURNS_OWN);
	/*
	 * Which numbers connections have depends on who else has connected: they are another run's,
	 * as a random value is, of ten digits.
	 */
	const uint64_t start = config->n_starts;
	struct rr_random random = { start };

	instance->last_id = (long long)(1000000000 + rr_random_below(&random, 1000000000));
	good = run_instance(instance, error);
	config->times->starting += rr_clock_s() - begun;
	return good;
}

void rr_instance_free(struct rr_instance *instance)
{
	double begun;

	if (!instance)
		return;
	begun = rr_clock_s();
	rr_process_free(instance->process);
	instance->config->times->ending += rr_clock_s() - begun;
	for (int i = 0; i < RR_RUN_ORDINALS; i++)
		rr_lane_release(&instance->lanes[i]);
	rr_renaming_release(&instance->inward);
	rr_renaming_release(&instance->outward);
	free(instance->loaded);
	free(instance);
}

size_t rr_instance_client(const struct rr_instance *instance)
{
	return instance->client;
}

bool rr_instance_has_shim(const struct rr_instance *instance)
{
	const struct rr_program_page *page = instance->process->clock.page;

	return atomic_load(&page->has_shim) && !atomic_load(&page->has_go);
}

uint64_t rr_instance_drawn(const struct rr_instance *instance)
{
	return atomic_load(&instance->process->clock.page->n_drawn);
}

bool rr_instance_asks_pids(const struct rr_instance *instance)
{
	return atomic_load(&instance->process->clock.page->asks_pids);
}

bool rr_instance_names_pid_file(const struct rr_instance *instance)
{
	return atomic_load(&instance->process->clock.page->names_pid_file);
}

/* Does the kernel's time go on for it while it is kept waiting? */
static bool has_kernel_time(const struct rr_program_page *page)
{
	return atomic_load(&page->has_go) || atomic_load(&page->has_timer);
}

/* Time passes by itself for who reads the clock again and again while it waits. */
bool rr_instance_is_as_begun(const struct rr_instance *instance)
{
	const struct rr_program_page *page = instance->process->clock.page;

	return !has_kernel_time(page) && atomic_load(&page->passed_ns) == 0;
}

bool rr_instance_can_stand(struct rr_instance *instance)
{
	return rr_instance_has_shim(instance) && !has_kernel_time(instance->process->clock.page) &&
	       instance_is_owed((void *)instance, INT64_MAX);
}

bool rr_instance_has_uv(const struct rr_instance *instance)
{
	return atomic_load(&instance->process->clock.page->has_uv);
}

bool rr_instance_reads_day(const struct rr_instance *instance)
{
	return atomic_load(&instance->process->clock.page->reads_day);
}

static bool only_listens(const struct rr_instance *instance)
{
	bool listens = false;

	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct rr_lane *lane = &instance->lanes[i];

		if (lane->is_used && lane->n > 0)
			return false;
		listens |= lane->is_used && rr_lane_is_subscribed(lane);
	}
	return listens;
}

/* Node has timers of its own, by which it looks after its memory, and which come when they like: one
 * that still only listens has waited for nothing that anybody sees. It goes on waiting. */
static bool wait_in_vain(struct rr_instance *instance, struct rr_error *error)
{
	struct rr_program_clock *clock = &instance->process->clock;
	const int64_t until_ns = instance->heard_ns + VAIN_NS;

	while (rr_instance_has_uv(instance) && only_listens(instance) &&
	       rr_program_clock_left_ns(clock) <= until_ns - atomic_load(&clock->page->passed_ns)) {
		if (!rr_program_clock_wake(clock) || !run_instance(instance, error))
			return false;
	}
	return true;
}

bool rr_instance_feed(struct rr_instance *instance, const struct rr_input *input, uint8_t number,
		      int64_t passed_ns, struct rr_error *error)
{
	struct rr_lane *lane = &instance->lanes[number];
	const bool is_message = input->kind == RR_INPUT_MESSAGE || input->kind == RR_INPUT_TIMEOUT;
	const double begun = rr_clock_s();
	bool is_reply, good;

	if (!lane->is_used || !(is_message ? rr_lane_is_subscribed(lane) : lane->n > 0))
		return rr_error_set(error, RR_ERROR_INTERNAL, "client %s is not owed a reply",
				    instance->plan.owner.name);
	is_reply = input->kind == RR_INPUT_REPLY &&
		   rr_lane_request(lane, 0)->kind == RR_SENT_COMMAND;
	instance->was_inside = instance->has_entered = instance->has_begun = false;
	instance->n_owed = instance_count_owed(instance);
	instance->heard_ns = rr_program_clock_tell(&instance->process->clock, passed_ns);
	if (input->kind == RR_INPUT_TIMEOUT) {
		/* Nothing has come until the first of those who wait so long goes on. */
		if (!rr_program_clock_wake(&instance->process->clock))
			return rr_error_set(error, RR_ERROR_INTERNAL,
					    "client %s waits for no time-out",
					    instance->plan.owner.name);
	} else if (input->kind == RR_INPUT_REPLY) {
		instance->has_begun = rr_lane_request(lane, 0)->kind == RR_SENT_REQUEST;
		instance->n_under_way += instance->has_begun;
		instance->is_over |= rr_lane_request(lane, 0)->kind == RR_SENT_END;
		rr_lane_request(lane, 0)->answer = (uint32_t)input->value;
		instance_flush_lane(instance, lane);
	} else if (input->kind == RR_INPUT_MESSAGE) {
		instance_send_reply(instance, lane, NULL, (uint32_t)input->value);
	} else {
		/* No reply will come: the connection is closed. */
		if (lane->connection >= 0)
			rr_process_cut(instance->process, lane->connection);
		rr_lane_clear(lane);
	}
	good = run_instance(instance, error) &&
	       (input->kind != RR_INPUT_TIMEOUT || wait_in_vain(instance, error));
	instance_note_rest(instance, is_reply);
	instance->config->times->running += rr_clock_s() - begun;
	return good;
}
