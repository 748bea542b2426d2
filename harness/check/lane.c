/* SPDX-License-Identifier: MIT */
#include "lane.h"

#include <string.h>

#include "base/memory.h"

struct rr_request *rr_lane_request(const struct rr_lane *lane, size_t i)
{
	return &lane->requests[(lane->first + i) % RR_LANE_REQUESTS];
}

bool rr_lane_push(struct rr_lane *lane, struct rr_request request)
{
	if (lane->n == RR_LANE_REQUESTS)
		return false;
	if (!lane->requests)
		lane->requests = rr_calloc(RR_LANE_REQUESTS, sizeof(*lane->requests));
	*rr_lane_request(lane, lane->n++) = request;
	return true;
}

struct rr_request rr_lane_pop(struct rr_lane *lane)
{
	const struct rr_request first = lane->requests[lane->first];

	lane->first = (lane->first + 1) % RR_LANE_REQUESTS;
	lane->n--;
	return first;
}

bool rr_lane_is_subscribed(const struct rr_lane *lane)
{
	return lane->connection >= 0 && (lane->n_channels > 0 || lane->n_shards > 0);
}

bool rr_lane_will_be_subscribed(const struct rr_lane *lane)
{
	bool subscribes = rr_lane_is_subscribed(lane);

	for (size_t i = 0; i < lane->n; i++)
		subscribes |= rr_lane_request(lane, i)->subscribes;
	return subscribes;
}

void rr_lane_note_reply(struct rr_lane *lane, const struct rl_reply *reply)
{
	static const char end[] = "subscribe";
	const struct rl_reply *elements = reply->elements;
	const char *word;
	size_t length;

	if (reply->type != RL_REPLY_ARRAY || reply->length != 3 ||
	    elements[2].type != RL_REPLY_INTEGER || !elements[0].text)
		return;
	word = elements[0].text;
	length = elements[0].length;
	if (length < strlen(end) || strcmp(word + length - strlen(end), end) != 0)
		return;
	/* Those of shards are counted by themselves. */
	if (strncmp(word, "ssub", 4) == 0 || strncmp(word, "suns", 4) == 0)
		lane->n_shards = elements[2].integer;
	else
		lane->n_channels = elements[2].integer;
}
