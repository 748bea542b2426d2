/* SPDX-License-Identifier: MIT */
/* Commands and replies in a file. */
#include <stdlib.h>

#include "base/memory.h"
#include "terms.h"

enum { DEPTH_MAX = 32 };

void rr_command_write(FILE *out, const struct rl_command *command)
{
	rr_bytes_put_number(out, (int64_t)command->n_words);
	for (size_t i = 0; i < command->n_words; i++)
		rr_bytes_put(out, command->words[i].text, command->words[i].length);
}

uint32_t rr_terms_read_command(struct rr_terms *terms, struct rr_bytes *bytes)
{
	struct rl_command command = { .n_words = 0 };

	command.n_words = (size_t)rr_bytes_take_number(bytes, 1, RL_WORDS_MAX);
	for (size_t i = 0; i < command.n_words; i++)
		command.words[i].text = rr_bytes_take(bytes, &command.words[i].length);
	return bytes->is_wrong ? RR_NO_ID : rr_terms_command(terms, &command);
}

void rr_reply_write(FILE *out, const struct rl_reply *reply)
{
	rr_bytes_put_number(out, reply->type);
	if (reply->type == RL_REPLY_INTEGER) {
		rr_bytes_put_number(out, reply->integer);
	} else if (reply->type == RL_REPLY_ARRAY) {
		rr_bytes_put_number(out, (int64_t)reply->length);
		for (size_t i = 0; i < reply->length; i++)
			rr_reply_write(out, &reply->elements[i]);
	} else if (reply->type != RL_REPLY_NIL) {
		rr_bytes_put(out, reply->text, reply->length);
	}
}

/* Texts stay where they are; elements are to be freed. */
static struct rl_reply take_reply(struct rr_bytes *bytes, int depth)
{
	struct rl_reply reply = {
		.type = (enum rl_reply_type)rr_bytes_take_number(bytes, RL_REPLY_NIL,
								 RL_REPLY_FAILED),
	};

	bytes->is_wrong |= depth > DEPTH_MAX;
	if (bytes->is_wrong)
		return (struct rl_reply){ .type = RL_REPLY_NIL };
	if (reply.type == RL_REPLY_INTEGER) {
		reply.integer = rr_bytes_take_number(bytes, INT64_MIN, INT64_MAX);
	} else if (reply.type == RL_REPLY_ARRAY) {
		reply.length = rr_bytes_take_count(bytes);
		reply.elements = rr_calloc(reply.length, sizeof(*reply.elements));
		for (size_t i = 0; i < reply.length; i++)
			reply.elements[i] = take_reply(bytes, depth + 1);
	} else if (reply.type != RL_REPLY_NIL) {
		reply.text = rr_bytes_take(bytes, &reply.length);
	}
	return reply;
}

static void free_elements(struct rl_reply *reply)
{
	for (size_t i = 0; reply->elements && i < reply->length; i++)
		free_elements(&reply->elements[i]);
	free(reply->elements);
}

uint32_t rr_terms_read_reply(struct rr_terms *terms, struct rr_bytes *bytes)
{
	struct rl_reply reply = take_reply(bytes, 0);
	const uint32_t number = bytes->is_wrong ? RR_NO_ID : rr_terms_reply(terms, &reply);

	free_elements(&reply);
	return number;
}
