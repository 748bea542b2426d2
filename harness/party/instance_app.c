/* SPDX-License-Identifier: MIT */
/* What is special about a program that is an app and its requests. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/marks.h"
#include "base/memory.h"
#include "base/text.h"
#include "instance.h"
#include "requests.h"

/* By an app's clock: how long it may sleep before a request's first command, a request may wait
 * for nothing but time, and the app works by itself when all are answered. */
#define FIRST_NS (1 * INT64_C(1000000000))
#define ANSWER_NS (60 * INT64_C(1000000000))
#define LINGER_NS (1 * INT64_C(1000000000))

enum rr_sent_kind instance_kind_of(unsigned traits)
{
	return traits & RR_REQUEST_BEGINS  ? RR_SENT_REQUEST :
	       traits & RR_REQUEST_ANSWERS ? RR_SENT_ANSWER :
	       traits & RR_REQUEST_ENDS    ? RR_SENT_END :
					     RR_SENT_COMMAND;
}

bool instance_keeps_lane(const struct rr_instance *instance, size_t lane)
{
	return instance->app && (lane < instance->app->n_requests || lane == RR_RUN_ORDINALS - 1);
}

struct rr_lane *instance_move_lane(struct rr_instance *instance, struct rr_lane *lane,
				   const struct rdl_command *mark)
{
	/* The last lane is that of the end. */
	const char *text = mark->words[1].text;

	const size_t number = strncmp(text, RR_MARK_REQUEST, strlen(RR_MARK_REQUEST)) == 0 ?
				      strtoul(text + strlen(RR_MARK_REQUEST), NULL, 10) - 1 :
				      RR_RUN_ORDINALS - 1;
	struct rr_lane *place = &instance->lanes[number];

	/* A worker that is up, and gets no requests: nobody will talk to its port. */
	if (!instance->app->n_requests)
		instance->process->app_port = 0;
	if (!instance_keeps_lane(instance, number) || place->is_used)
		return lane;
	rr_lane_release(place);
	*place = *lane;
	place->is_new = false;
	*lane = (struct rr_lane){ .connection = -1 };
	return place;
}

/* Commands that have no reply yet. */
size_t instance_count_owed(const struct rr_instance *instance)
{
	size_t n = 0;

	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct rr_lane *lane = &instance->lanes[i];

		if (lane->is_used && lane->connection >= 0 && lane->n > 0 &&
		    rr_lane_request(lane, 0)->kind == RR_SENT_COMMAND)
			n += lane->n;
	}
	return n;
}

/* Does time go on to whatever the app waits for next? While a request is under way and nobody
 * can be told anything, and when all have been answered, it does, but not for ever. For who is
 * owed a reply it stands still, so that no time-out is over; but who sleeps before the first
 * command of a request is woken, or others would be through before it. */
static bool time_goes_on(const struct rr_instance *instance, enum rr_sent_kind owed,
			 int64_t left_ns)
{
	const int64_t passed_ns = atomic_load(&instance->process->clock.page->passed_ns);
	const bool is_before_first = instance->has_begun &&
				     instance_count_owed(instance) <= instance->n_owed;
	const int64_t most_ns = owed == RR_SENT_COMMAND ? (is_before_first ? FIRST_NS : 0) :
				instance->n_under_way   ? ANSWER_NS :
				owed == RR_SENT_END     ? LINGER_NS :
							  0;

	return left_ns < most_ns - (passed_ns - instance->heard_ns);
}

/* What it is owed, commands first; RR_SENT_ANSWER = nothing. Nobody waits for what is still to be
 * done on a connection that is closed. */
static enum rr_sent_kind owed_to(const struct rr_instance *instance)
{
	enum rr_sent_kind owed = RR_SENT_ANSWER;

	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct rr_lane *lane = &instance->lanes[i];
		const enum rr_sent_kind kind = lane->n > 0 ? rr_lane_request(lane, 0)->kind :
							     RR_SENT_COMMAND;

		if (!lane->is_used || lane->connection < 0 ||
		    (lane->n == 0 && !rr_lane_is_subscribed(lane)))
			continue;
		if (kind == RR_SENT_ANSWER || kind == RR_SENT_COMMAND)
			return RR_SENT_COMMAND;
		owed = kind;
	}
	return owed;
}

bool instance_is_owed(void *context, int64_t left_ns)
{
	const struct rr_instance *instance = context;
	const enum rr_sent_kind owed = owed_to(instance);

	return owed != RR_SENT_ANSWER && !time_goes_on(instance, owed, left_ns);
}

void instance_note_rest(struct rr_instance *instance, bool is_reply)
{
	struct rr_rest rest = { instance->n_under_way, 0 };

	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct rr_lane *lane = &instance->lanes[i];

		rest.n_asking += lane->is_used && lane->connection >= 0 && lane->n > 0 &&
				 rr_lane_request(lane, 0)->kind == RR_SENT_COMMAND;
	}
	rr_handover_note(&instance->handover, &instance->process->threads, rest, is_reply);
}

bool rr_instance_hands_over(const struct rr_instance *instance)
{
	return rr_handover_happened(&instance->handover, instance->process->clock.page);
}

bool instance_fail_hanging(const struct rr_instance *instance, struct rr_error *error)
{
	const long seconds = instance->config->process.patience_ms / 1000;

	if (!instance->lanes[0].is_used && instance->app->n_requests)
		return rr_error_set(
			error, RR_ERROR_HANGS,
			"the app is not up, and does not end: waited %ld s (--hangs-after)",
			seconds);
	return rr_error_set(
		error, RR_ERROR_HANGS,
		"the app neither waits for anything nor ends, with %zu request%s under way: waited %ld s (--hangs-after)",
		instance->n_under_way, instance->n_under_way == 1 ? "" : "s", seconds);
}

/* Behind the mark of its record; NULL = there is none. */
static const char *record_of_end(const struct rr_instance *instance)
{
	static const char record[] = { RR_MARK_RECORD, '0', ' ' };
	const struct rdl_word output = rr_process_output(instance->process);
	const char *at = memmem(output.text, output.length, record, sizeof(record));

	return at ? at + sizeof(record) : NULL;
}

/* As many connections as there were marks on are redrace-app's. */
bool instance_app_is_gone(const struct rr_instance *instance)
{
	size_t n_marks = 0;

	for (size_t i = 0; i < RR_RUN_ORDINALS; i++)
		n_marks += instance_keeps_lane(instance, i) && instance->lanes[i].is_used;
	return instance->app && instance->app->has_app && instance->n_connections <= n_marks &&
	       record_of_end(instance);
}

bool instance_fail_gone(const struct rr_instance *instance, struct rr_error *error)
{
	const char *record = record_of_end(instance);
	const char *printed = record + strcspn(record, "\n") + 1;
	char *reason = rr_reason_line(printed, strcspn(printed, (char[]){ RR_MARK_RECORD, '\0' }));

	rr_error_set(error, RR_ERROR_DATA,
		     "the app exited with %d before it asked Redis for anything%s%s%s",
		     atoi(record), reason[0] ? "; it printed '" : "", reason, reason[0] ? "'" : "");
	free(reason);
	return false;
}

bool instance_app_has_failed(const struct rr_instance *instance)
{
	const int status = instance->process->status;

	return instance->app && WIFEXITED(status) && WEXITSTATUS(status) == RR_APP_FAILED;
}
