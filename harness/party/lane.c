/* SPDX-License-Identifier: MIT */
#include "lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/resp.h"
#include "base/text.h"
#include "resp3.h"

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
	return lane->connection >= 0 &&
	       (lane->n_channels > 0 || lane->n_shards > 0 || lane->n_owed > 0);
}

bool rr_lane_will_be_subscribed(const struct rr_lane *lane)
{
	bool subscribes = rr_lane_is_subscribed(lane);

	for (size_t i = 0; i < lane->n; i++)
		subscribes |= rr_lane_request(lane, i)->subscribes;
	return subscribes;
}

void rr_lane_note_reply(struct rr_lane *lane, const struct rr_terms *terms,
			const struct rr_request *request, const struct rdl_reply *reply)
{
	const struct rdl_reply *elements = reply->elements;
	const char *word;
	size_t n_words;

	lane->n_owed -= !request && lane->n_owed > 0;
	if (reply->type != RDL_REPLY_ARRAY || reply->length != 3 ||
	    elements[2].type != RDL_REPLY_INTEGER || !elements[0].text)
		return;
	word = elements[0].text;
	if (!rr_ends_in(word, "subscribe"))
		return;
	n_words = request ? terms->command[request->command].words.n_words : 0;
	if (n_words > 2 && request->subscribes)
		lane->n_owed += n_words - 2;
	/* Those of shards are counted by themselves. */
	if (strncmp(word, "ssub", 4) == 0 || strncmp(word, "suns", 4) == 0)
		lane->n_shards = elements[2].integer;
	else
		lane->n_channels = elements[2].integer;
}

/* ---- Replies --------------------------------------------------------------------- */

char *rr_lane_reply_text(struct rr_lane *lane, const struct rr_terms *terms,
			 const struct rr_request *request, const struct rdl_reply *reply,
			 size_t *length)
{
	char *text;
	FILE *file = rr_open_memory(&text, length);

	if (request && request->protocol)
		lane->protocol = request->protocol;
	if (lane->protocol != 3) {
		rr_resp_write(file, reply);
	} else if (reply->type == RDL_REPLY_ARRAY && (!request || request->subscribes)) {
		rr_resp3_write_push(file, reply);
	} else if (request->ends_queue) {
		const struct rdl_command **queued = rr_calloc(lane->n_queued + 1, sizeof(*queued));

		for (size_t i = 0; i < lane->n_queued; i++)
			queued[i] = &terms->command[lane->queued[i]].words;
		rr_resp3_write_exec(file, queued, lane->n_queued, reply);
		free(queued);
	} else {
		rr_resp3_write(file, &terms->command[request->command].words, reply);
	}
	fclose(file);
	if (request && request->ends_queue)
		lane->n_queued = 0;
	if (request && reply->type == RDL_REPLY_STATUS && strcmp(reply->text, "QUEUED") == 0) {
		rr_array_grow(&lane->queued, lane->n_queued, sizeof(*lane->queued));
		lane->queued[lane->n_queued++] = request->command;
	}
	return text;
}

void rr_lane_clear(struct rr_lane *lane)
{
	*lane = (struct rr_lane){ .requests = lane->requests,
				  .queued = lane->queued,
				  .connection = -1,
				  .name = RR_NO_ID };
}

void rr_lane_release(struct rr_lane *lane)
{
	free(lane->requests);
	free(lane->queued);
}
