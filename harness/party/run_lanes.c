/* SPDX-License-Identifier: MIT */
/* Commands that a run has sent, and what it hears of them: its links lead nowhere. */
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"
#include "run.h"

static int server_of(const struct rr_program *program, const struct rdl_link *link)
{
	const struct rdl_address *address = rdl_link_address(link);

	for (size_t i = 0; i < program->n_servers; i++) {
		const struct rdl_address *known = &program->addresses[i];

		if (known->port == address->port && strcmp(known->host, address->host) == 0)
			return (int)i;
	}
	return -1;
}

/* A link's lane, by its server and how many were there before it; NULL = there is
 * no room, or it leads elsewhere. */
struct run_lane *run_lane_of(struct rr_client_run *run, struct rdl_link *link, uint8_t *number)
{
	const int server = server_of(run->program, link);

	for (int i = 0; server >= 0 && i < RR_RUN_OWN_ORDINALS; i++) {
		const size_t at = (size_t)i * run->program->n_servers + (size_t)server;
		struct run_lane **lane = &run->lanes[at];

		if (!*lane) {
			*lane = rr_calloc(1, sizeof(**lane));
			(*lane)->link = link;
		}
		*number = (uint8_t)at;
		if ((*lane)->link == link)
			return *lane;
	}
	run->view.is_too_much = true;
	return NULL;
}

/* Nobody else could notice it, and whether it is sent depends on what the link has
 * been used for before. */
static bool is_unnoticed(const struct rdl_command *command)
{
	return rr_word_is(&command->words[0], "COMMAND") ||
	       (command->n_words > 1 && rr_word_is(&command->words[0], "SCRIPT") &&
		rr_word_is(&command->words[1], "LOAD"));
}

/* A script that is sent whole is known by its hash as well: whether the client knew
 * that is no difference. */
static void name_script(const struct rr_client_run *run, int server, struct rdl_command *command)
{
	const struct rr_program *program = run->program;
	const struct rdl_command load = {
		.n_words = 3,
		.words = { { "SCRIPT", 6 }, { "LOAD", 4 }, command->words[1] },
	};
	const struct rdl_reply *reply;
	uint32_t answer;

	if (!program->knows_scripts || command->n_words < 3 ||
	    !rr_word_is(&command->words[0], "EVAL"))
		return;
	answer = program->ask(program->ask_context, server, &load);
	if (answer == RR_NO_ID)
		return;
	reply = &program->terms->reply[answer].reply;
	if (reply->type != RDL_REPLY_STRING)
		return;
	command->words[0] = (struct rdl_word){ "EVALSHA", 7 };
	command->words[1] = (struct rdl_word){ reply->text, reply->length };
}

static uint32_t answer_at_once(const struct rr_client_run *run, int server,
			       struct rdl_command *command)
{
	const struct rr_program *program = run->program;

	if (is_unnoticed(command))
		return program->ask(program->ask_context, server, command);
	name_script(run, server, command);
	return program->mutate ? program->mutate(program->mutate_context, command) : RR_NO_ID;
}

/* A command is on its way from now on. */
bool run_add_pending(struct run_thread *thread, struct run_lane *lane, uint8_t number,
		     const struct rdl_command *command, bool is_inside)
{
	struct rr_client_run *run = thread->run;
	struct rdl_command changed = *command;
	struct run_pending *pending = &lane->pending[(lane->first + lane->n) % RR_RUN_SENT];

	if (lane->n == RR_RUN_SENT) {
		run->view.is_too_much = true;
		return false;
	}
	lane->n++;
	pending->answer = answer_at_once(run, rr_lane_server(run->program, number), &changed);
	pending->command = rr_terms_command(run->program->terms, &changed);
	pending->thread = thread->number;
	pending->is_inside = is_inside;
	return true;
}

enum rdl_outcome run_on_submit(void *context, struct rdl_link *link,
			       const struct rdl_command *command)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	struct run_lane *lane;
	uint8_t number;

	if (run->is_dead)
		return RDL_ERROR;
	lane = run_lane_of(run, link, &number);
	return lane && run_add_pending(thread, lane, number, command, run->view.is_inside) ?
		       RDL_OK :
		       RDL_ERROR;
}

/* The next reply of the lane; the thread stops if it has to wait. */
enum rdl_outcome run_on_deliver(void *context, struct rdl_link *link, struct rdl_reply *reply)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	const struct rr_input *input;
	struct rr_stop where = { .kind = RR_STOP_RECEIVE };
	struct run_lane *lane = run->is_dead ? NULL : run_lane_of(run, link, &where.lane);
	uint32_t answer;

	if (!lane || lane->n == 0)
		return RDL_UNKNOWN;
	answer = lane->pending[lane->first].answer;
	if (answer == RR_NO_ID) {
		input = run_stop(thread, where);
		if (!input || input->kind != RR_INPUT_REPLY) {
			lane->n = 0;
			run->view.is_unheard |= input && input->kind == RR_INPUT_LOST;
			return input && input->kind == RR_INPUT_REFUSED ? RDL_ERROR : RDL_UNKNOWN;
		}
		answer = (uint32_t)input->value;
	}
	lane->first = (lane->first + 1) % RR_RUN_SENT;
	lane->n--;
	*reply = run->program->terms->reply[answer].reply;
	return RDL_OK;
}

enum rdl_outcome run_on_listen(void *context, struct rdl_link *link, struct rdl_reply *message,
			       int64_t timeout_ns)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	struct rr_stop where = { .kind = RR_STOP_LISTEN, .duration_ns = timeout_ns };
	const struct rr_input *input;

	if (run->is_dead || !run_lane_of(run, link, &where.lane))
		return RDL_UNKNOWN;
	input = run_stop(thread, where);
	if (!input || input->kind == RR_INPUT_LOST)
		return RDL_UNKNOWN;
	if (input->kind != RR_INPUT_MESSAGE)
		return RDL_BUSY;
	*message = run->program->terms->reply[input->value].reply;
	return RDL_OK;
}
