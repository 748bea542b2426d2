/* SPDX-License-Identifier: MIT */
/* A random program's client, for the explorer. */
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "programs.h"

#define SECOND INT64_C(1000000000)

/* A client, and its connections. */
struct seat {
	struct rr_client_run *run;
	const struct program *program;
	struct rdl_link *link, *side;
	uint64_t told; /* a digest of all that it has received */
};

/* ---- Digests -------------------------------------------------------------- */

uint64_t program_mix(uint64_t digest, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < length; i++)
		digest = (digest ^ at[i]) * UINT64_C(0x100000001b3);
	return digest;
}

static uint64_t digest_of(uint64_t digest, const struct rdl_reply *reply)
{
	const long long head[2] = { (long long)reply->type, reply->integer };

	digest = program_mix(digest, head, sizeof(head));
	if (reply->type == RDL_REPLY_ARRAY) {
		for (size_t i = 0; i < reply->length; i++)
			digest = digest_of(digest, &reply->elements[i]);
	} else if (reply->text) {
		digest = program_mix(digest, reply->text, reply->length);
	}
	return digest;
}

/* ---- Clients -------------------------------------------------------------- */

static enum rdl_outcome run_words(struct rdl_link *link, const struct program_command *given,
				  struct rdl_reply *reply)
{
	struct rdl_command command = { .n_words = 0 };

	while (command.n_words < PROGRAM_WORDS && given->words[command.n_words]) {
		const char *text = given->words[command.n_words];

		command.words[command.n_words++] = (struct rdl_word){ text, strlen(text) };
	}
	return rdl_run_command(link, reply, &command);
}

static void step(struct seat *seat, const struct program_command *command)
{
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };
	int64_t outcome = RDL_OK;

	if (program_is(command, "SLEEP"))
		rdl_sleep_ns(seat->link, atoi(command->words[1]) * SECOND);
	else if (program_is(command, "READ"))
		outcome = rdl_now_ns(seat->link, RDL_CLOCK_MONOTONIC);
	else if (program_is(command, "LISTEN"))
		outcome = rdl_link_listen(seat->side, &reply, atoi(command->words[1]) * SECOND);
	else
		outcome = run_words(strstr(command->words[0], "SUBSCRIBE") ? seat->side :
									     seat->link,
				    command, &reply);
	seat->told = program_mix(seat->told, &outcome, sizeof(outcome));
	seat->told = digest_of(seat->told, &reply);
}

/* What it was told is a part of what the client's state is known by. */
static void run(void *argument)
{
	struct seat *seat = argument;

	for (size_t i = 0; i < seat->program->n_steps; i++) {
		const size_t choice = seat->told >> 8 & 1;

		step(seat, &seat->program->steps[i][choice]);
		if (!rr_client_run_is_alive(seat->run))
			return;
		rr_client_run_tally(seat->run)->ok = (long)seat->told;
	}
}

static void *make(void *context, struct rr_client_run *client_run, int client,
		  struct rdl_link **links, struct rdl_mutex *mutex)
{
	struct program_clients *clients = context;
	struct seat *seat = calloc(1, sizeof(*seat));

	(void)mutex;
	if (!seat)
		return NULL;
	seat->run = client_run;
	seat->program = &clients->programs[client];
	seat->link = links[0];
	seat->side = rdl_link_new(&clients->address, 1000);
	rdl_link_set_driver(seat->side, rr_client_run_driver(client_run));
	return seat;
}

static void free_seat(void *argument)
{
	struct seat *seat = argument;

	rdl_link_free(seat->side);
	free(seat);
}

void program_clients_init(struct rr_program *program)
{
	program->make = make;
	program->run = run;
	program->free = free_seat;
}
