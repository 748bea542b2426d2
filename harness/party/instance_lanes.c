/* SPDX-License-Identifier: MIT */
/* The connections of an instance: what it sends on them, and what it gets. */
#include <stdlib.h>

#include "base/array.h"
#include "base/marks.h"
#include "base/reply.h"
#include "instance.h"
#include "requests.h"

/* NULL = all lanes are in use. */
static struct rr_lane *lane_for(struct rr_instance *instance, int connection)
{
	struct rr_lane *unused = NULL;

	for (size_t i = RR_RUN_ORDINALS; i-- > 0;) {
		struct rr_lane *lane = &instance->lanes[i];

		if (lane->is_used && lane->connection == connection)
			return lane;
		if (!lane->is_used && !instance_keeps_lane(instance, i))
			unused = lane;
	}
	if (!unused)
		return NULL;
	rr_lane_clear(unused);
	unused->connection = connection;
	unused->is_used = unused->is_new = true;
	unused->id = ++instance->last_id;
	instance->n_connections++;
	return unused;
}

void instance_send_reply(struct rr_instance *instance, struct rr_lane *lane,
			 const struct rr_request *request, uint32_t number)
{
	const uint32_t renamed = rr_rename_reply(&instance->outward, instance_terms(instance),
						 number);
	const struct rdl_reply *reply;
	size_t length;
	char *text;

	if (renamed == RR_NO_ID || lane->connection < 0)
		return;
	reply = &instance_terms(instance)->reply[renamed].reply;
	rr_lane_note_reply(lane, instance_terms(instance), request, reply);
	text = rr_lane_reply_text(lane, instance_terms(instance), request, reply, &length);
	rr_process_write(instance->process, lane->connection, text, length);
	free(text);
}

void instance_flush_lane(struct rr_instance *instance, struct rr_lane *lane)
{
	bool quits = false;

	while (lane->n > 0 && rr_lane_request(lane, 0)->answer != RR_NO_ID) {
		const struct rr_request answered = rr_lane_pop(lane);

		instance_send_reply(instance, lane, &answered, answered.answer);
		quits |= answered.is_quit;
	}
	if (quits && lane->connection >= 0) {
		rr_process_cut(instance->process, lane->connection);
		instance_on_close(instance, lane->connection);
	}
	if (lane->connection < 0 && (lane->n == 0 || instance->is_over))
		lane->is_used = false;
}

static bool add_request(struct rr_instance *instance, struct rr_lane *lane,
			struct rr_request request)
{
	if (!rr_lane_push(lane, request))
		return rr_error_set(
			instance->error, RR_ERROR_DATA,
			"client %s sent more than %d commands without waiting for a reply: send them in parts",
			instance->plan.owner.name, RR_LANE_REQUESTS);
	instance_flush_lane(instance, lane);
	return true;
}

static bool fail_refused(const struct rr_instance *instance, const struct rdl_command *command)
{
	const struct rdl_word *words = command->words;
	const bool is_two = command->n_words > 1;

	return rr_error_set(
		instance->error, RR_ERROR_DATA,
		"client %s sent %.*s%s%.*s, which redrace check cannot judge: leave it out of what is checked",
		instance->plan.owner.name, (int)words[0].length, words[0].text, is_two ? " " : "",
		is_two ? (int)words[1].length : 0, is_two ? words[1].text : "");
}

/* Scripts that a client loads are there before it calls them by their hashes. One that it has not
 * loaded itself may be there or not. */
static void note_scripts(struct rr_instance *instance, const struct rdl_command *command,
			 unsigned traits, uint32_t answer)
{
	const struct rr_terms *terms = instance_terms(instance);
	size_t i = 0;

	if (traits & RR_REQUEST_LOADS_SCRIPT && answer != RR_NO_ID) {
		rr_array_grow(&instance->loaded, instance->n_loaded, sizeof(*instance->loaded));
		instance->loaded[instance->n_loaded++] = answer;
	}
	if (!(traits & RR_REQUEST_CALLS_SCRIPT) || command->n_words < 2 ||
	    instance->config->program->loads_scripts)
		return;
	while (i < instance->n_loaded &&
	       !(terms->reply[instance->loaded[i]].reply.text &&
		 rr_word_is(&command->words[1], terms->reply[instance->loaded[i]].reply.text)))
		i++;
	if (i == instance->n_loaded)
		rr_request_want_scripts(&command->words[1], instance->config->program);
}

bool instance_on_request(void *context, int connection, const struct rdl_command *command)
{
	struct rr_instance *instance = context;
	struct rr_lane *lane = lane_for(instance, connection);
	struct rr_terms *terms = instance_terms(instance);
	const unsigned traits = rr_request_traits(command);
	struct rr_request request = {
		.is_inside = instance->is_inside,
		.is_quit = traits & RR_REQUEST_QUITS,
		.subscribes = traits & RR_REQUEST_SUBSCRIBES,
		.ends_queue = traits & RR_REQUEST_ENDS_QUEUE,
		.may_block = traits & RR_REQUEST_BLOCKS,
	};

	if (!lane)
		return rr_error_set(
			instance->error, RR_ERROR_DATA,
			"client %s uses more than %d connections at once: make its pool smaller",
			instance->plan.owner.name, RR_RUN_ORDINALS);
	if (traits & RR_REQUEST_REFUSED || (traits & RR_REQUEST_NAMES && lane->is_queueing) ||
	    (traits & RR_REQUEST_RESETS && rr_lane_will_be_subscribed(lane)) ||
	    !rr_request_is_known(command, lane))
		return fail_refused(instance, command);
	lane->is_dirty |= (traits & RR_REQUEST_MAKES_DIRTY) != 0;
	if (instance->app) {
		request.kind = instance_kind_of(traits);
		request.is_waiting = request.kind == RR_SENT_ANSWER;
		instance->n_under_way -= request.kind == RR_SENT_ANSWER &&
					 !(instance->app->unanswered >> (lane - instance->lanes) &
					   1);
		if (request.kind == RR_SENT_REQUEST || request.kind == RR_SENT_END)
			lane = instance_move_lane(instance, lane, command);
	}
	request.command = rr_rename_command(&instance->inward, terms,
					    rr_terms_command(terms, command));
	request.answer = rr_request_answer(command, lane, instance->config->program);
	note_scripts(instance, command, traits, request.answer);
	request.protocol = lane->asked_protocol;
	if (traits & RR_REQUEST_MUST_FAIL && request.answer != RR_NO_ID &&
	    terms->reply[request.answer].reply.type != RDL_REPLY_FAILED)
		return fail_refused(instance, command);
	if (traits & (RR_REQUEST_QUEUES | RR_REQUEST_ENDS_QUEUE))
		lane->is_queueing = traits & RR_REQUEST_QUEUES;
	if (traits & (RR_REQUEST_ENTERS | RR_REQUEST_LEAVES)) {
		instance->is_inside = traits & RR_REQUEST_ENTERS;
		instance->has_entered |= instance->is_inside;
		instance->was_inside |= instance->is_inside;
	}
	return add_request(instance, lane, request);
}

/* What was sent is executed all the same; what the connection carried goes. */
void instance_on_close(void *context, int connection)
{
	static const char *const reset[] = { RR_MARK_CLOSED, NULL };
	struct rr_instance *instance = context;
	struct rr_lane *lane = lane_for(instance, connection);

	if (!lane)
		return;
	lane->connection = -1;
	for (size_t i = 0; i < lane->n; i++)
		lane->is_dirty |= rr_lane_request(lane, i)->may_block;
	if (lane->is_dirty && !instance->is_over)
		add_request(instance, lane,
			    (struct rr_request){
				    .command = rr_terms_words(instance_terms(instance), reset),
				    .answer = RR_NO_ID });
	instance_flush_lane(instance, lane);
}
