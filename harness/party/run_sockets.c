/* SPDX-License-Identifier: MIT */
/* The same of a run whose links are connected over sockets, with us at the other end
 * (program->on_sockets). */
#include <poll.h>
#include <string.h>

#include "base/resp.h"
#include "run.h"

bool run_is_readable(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, 0) > 0;
}

/* Was the command that is sent next queued in the critical section? */
static bool take_queued(struct rr_client_run *run, struct run_lane *lane)
{
	const bool is_inside = lane->n_queued ? lane->queued_inside[0] : run->view.is_inside;

	if (lane->n_queued)
		memmove(lane->queued_inside, lane->queued_inside + 1,
			--lane->n_queued * sizeof(lane->queued_inside[0]));
	return is_inside;
}

void run_note_queued(struct rr_client_run *run)
{
	for (uint8_t i = 0; run->program->on_sockets && i < RR_RUN_LANES; i++) {
		struct run_lane *lane = run->lanes[i];
		const struct rdl_buffer *out = lane ? &lane->link->out : NULL;
		struct rdl_command command;
		size_t used = 0, n = 0;

		for (size_t at = 0; out && at < out->length && n < RR_RUN_SENT; at += used, n++) {
			if (rr_resp_parse(out->bytes + at, out->length - at, &command, &used) !=
			    RR_RESP_COMPLETE)
				break;
			if (n == lane->n_queued)
				lane->queued_inside[lane->n_queued++] = run->view.is_inside;
		}
	}
}

void run_take_sent(struct run_thread *thread)
{
	struct rr_client_run *run = thread->run;
	struct rdl_command command;

	for (uint8_t i = 0; run->program->on_sockets && i < RR_RUN_LANES; i++) {
		struct run_lane *lane = run->lanes[i];

		while (lane && lane->wire.is_open &&
		       rr_wire_take(&lane->wire, &command) == RR_RESP_COMPLETE)
			run_add_pending(thread, lane, i, &command, take_queued(run, lane));
	}
}

int run_on_open(void *context, struct rdl_link *link)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	struct run_lane *lane;
	uint8_t number;

	if (run->is_dead)
		return -1;
	run_take_sent(thread);
	lane = run_lane_of(run, link, &number);
	if (!lane)
		return -1;
	rr_wire_close(&lane->wire);
	lane->n = lane->n_queued = 0;
	lane->n_opened++;
	return rr_wire_open(&lane->wire);
}

static void answer_on_wire(struct rr_client_run *run, struct run_lane *lane, uint32_t reply)
{
	lane->first = (lane->first + 1) % RR_RUN_SENT;
	lane->n--;
	rr_wire_reply(&lane->wire, &run->program->terms->reply[reply].reply);
}

/* Until the thread may have the next reply. */
void run_on_await(void *context, struct rdl_link *link, int fd)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	struct rr_stop where = { .kind = RR_STOP_RECEIVE };
	struct run_lane *lane = run->is_dead || run_is_readable(fd) ?
					NULL :
					run_lane_of(run, link, &where.lane);
	const struct rr_input *input;

	if (!lane)
		return;
	run_take_sent(thread);
	if (lane->n > 0 && lane->pending[lane->first].answer != RR_NO_ID) {
		answer_on_wire(run, lane, lane->pending[lane->first].answer);
		return;
	}
	input = run_stop(thread, where);
	if (input && input->kind == RR_INPUT_REPLY && lane->n > 0) {
		answer_on_wire(run, lane, (uint32_t)input->value);
		return;
	}
	lane->n = 0;
	rr_wire_close(&lane->wire);
	thread->is_refused = input && input->kind == RR_INPUT_REFUSED;
}

/* Where nobody listens a client is told so when it connects. Here it has connected, to
 * us: that its connection is closed means that it was refused. */
enum rdl_outcome run_on_receive(void *context, struct rdl_link *link, struct rdl_reply *reply,
				enum rdl_outcome outcome)
{
	struct run_thread *thread = context;
	const bool is_refused = thread->is_refused && outcome == RDL_UNKNOWN;

	(void)link;
	(void)reply;
	thread->is_refused = false;
	return is_refused ? RDL_ERROR : outcome;
}

enum rdl_outcome run_on_listen_there(void *context, struct rdl_link *link,
				     struct rdl_reply *message, int64_t timeout_ns)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	struct rr_stop where = { .kind = RR_STOP_LISTEN, .duration_ns = timeout_ns };
	struct run_lane *lane = run->is_dead ? NULL : run_lane_of(run, link, &where.lane);
	const struct rr_input *input = lane ? run_stop(thread, where) : NULL;

	if (!input)
		return RDL_UNKNOWN;
	if (input->kind == RR_INPUT_MESSAGE)
		rr_wire_reply(&lane->wire, &run->program->terms->reply[input->value].reply);
	else if (input->kind == RR_INPUT_LOST)
		rr_wire_close(&lane->wire);
	else
		return RDL_BUSY;
	link->pending++;
	return rdl_receive(link, message);
}
