/* SPDX-License-Identifier: MIT */
#include "reply_copy.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

#include "race/race.h"

static int type_of(const struct rl_reply *reply)
{
	static const int types[] = {
		[RL_REPLY_NIL] = REDIS_REPLY_NIL,
		[RL_REPLY_STATUS] = REDIS_REPLY_STATUS,
		[RL_REPLY_STRING] = REDIS_REPLY_STRING,
		[RL_REPLY_INTEGER] = REDIS_REPLY_INTEGER,
		[RL_REPLY_ARRAY] = REDIS_REPLY_ARRAY,
		[RL_REPLY_FAILED] = REDIS_REPLY_ERROR,
	};

	return types[reply->type];
}

static void free_copy(redisReply *copy)
{
	if (!copy)
		return;
	for (size_t i = 0; i < copy->elements; i++)
		free_copy(copy->element[i]);
	free(copy->element);
	free(copy);
}

static redisReply *copy_of(const struct rl_reply *reply)
{
	redisReply *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	copy->type = type_of(reply);
	copy->integer = reply->integer;
	copy->str = (char *)reply->text;
	copy->len = reply->length;
	if (reply->type != RL_REPLY_ARRAY)
		return copy;
	copy->element = calloc(reply->length + 1, sizeof(*copy->element));
	while (copy->element && copy->elements < reply->length) {
		redisReply *element =
			copy_of(&reply->elements[copy->elements]);

		if (!element)
			break;
		copy->element[copy->elements++] = element;
	}
	if (copy->elements == reply->length)
		return copy;
	free_copy(copy);
	return NULL;
}

bool rr_reply_copy_text(const struct rl_reply *reply, char *text, size_t size)
{
	redisReply *copy = copy_of(reply);

	if (!copy)
		return false;
	rr_reply_text(copy, text, size);
	free_copy(copy);
	return true;
}
