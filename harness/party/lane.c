/* SPDX-License-Identifier: MIT */
#include "lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/reply.h"
#include "base/resp.h"
#include "base/text.h"

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

/* ---- RESP3 ----------------------------------------------------------------------- */

/*
 * Replies as a server gives them to who has said HELLO 3. Here they are all kept as RESP2
 * has them; what RESP3 makes of one depends on the command that it answers.
 */
enum shape {
	PLAIN,
	DOUBLE,   /* a string is a number */
	DOUBLES,  /* and so are all strings in an array */
	LAST,     /* of an array the last element is */
	SCORES,   /* a flat array of members and numbers: pairs */
	PAIRS,    /* a flat array of names and values: pairs */
	POPPED,   /* a key and pairs with numbers */
	LASTS,    /* those pairs */
	PLACES,   /* of each element the last one is two numbers */
	PLACE,    /* one of them */
	SET,      /* an array whose order has no meaning */
	MAP,      /* a flat array of names and values */
	MAPS,     /* an array of those */
	STREAMS,  /* an array of pairs: a map */
	VERBATIM, /* a text that is to be shown */
	UNKNOWN
};

/* By the first word, one of several names, and where there is one, by another of its words,
 * or by how many there are; of several rows the first. */
static const struct {
	const char *names, *option;
	size_t n_words;
	enum shape shape;
} table[] = {
	{ "HELLO HGETALL", NULL, 0, MAP },
	{ "CONFIG", "GET", 0, MAP },
	{ "LCS", "IDX", 0, MAP },
	{ "XINFO", "FULL", 0, UNKNOWN },
	{ "XINFO", "STREAM", 0, MAP },
	{ "XINFO", "GROUPS", 0, MAPS },
	{ "XINFO", "CONSUMERS", 0, MAPS },
	{ "XREAD XREADGROUP", NULL, 0, STREAMS },
	{ "SMEMBERS SINTER SUNION SDIFF", NULL, 0, SET },
	{ "SPOP", NULL, 3, SET },
	{ "ZSCORE ZINCRBY", NULL, 0, DOUBLE },
	{ "ZADD", "INCR", 0, DOUBLE },
	{ "ZMSCORE GEOPOS", NULL, 0, DOUBLES },
	{ "ZRANGE ZRANGEBYSCORE ZREVRANGE ZREVRANGEBYSCORE", "WITHSCORES", 0, SCORES },
	{ "ZUNION ZINTER ZDIFF ZRANDMEMBER", "WITHSCORES", 0, SCORES },
	{ "ZRANK ZREVRANK", "WITHSCORE", 0, LAST },
	{ "ZPOPMIN ZPOPMAX", NULL, 2, LAST },
	{ "ZPOPMIN ZPOPMAX", NULL, 3, SCORES },
	{ "BZPOPMIN BZPOPMAX", NULL, 0, LAST },
	{ "ZMPOP BZMPOP", NULL, 0, POPPED },
	{ "HRANDFIELD", "WITHVALUES", 0, PAIRS },
	{ "GEOSEARCH GEORADIUS GEORADIUS_RO", "WITHCOORD", 0, PLACES },
	{ "GEORADIUSBYMEMBER GEORADIUSBYMEMBER_RO", "WITHCOORD", 0, PLACES },
	{ "INFO", NULL, 0, VERBATIM },
	{ "FUNCTION", "LIST", 0, UNKNOWN },
	{ "FUNCTION MEMORY", "STATS", 0, UNKNOWN },
	{ "MEMORY", "DOCTOR", 0, VERBATIM },
	{ "ACL", "GETUSER", 0, UNKNOWN },
	{ "ACL", "LOG", 0, UNKNOWN },
	{ "COMMAND LATENCY MODULE CLUSTER", NULL, 0, UNKNOWN },
	{ "CLIENT", "TRACKINGINFO", 0, UNKNOWN },
};

static bool has_word(const struct rdl_command *command, size_t first, const char *text)
{
	for (size_t i = first; i < command->n_words; i++) {
		if (rr_word_is(&command->words[i], text))
			return true;
	}
	return false;
}

static enum shape shape_of(const struct rdl_command *command)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (rr_word_is_one_of(&command->words[0], table[i].names) &&
		    (!table[i].option || has_word(command, 1, table[i].option)) &&
		    (!table[i].n_words || command->n_words == table[i].n_words))
			return table[i].shape;
	}
	return PLAIN;
}

/* A script may ask for such replies itself. */
bool rr_lane_knows_resp3(const struct rdl_command *command)
{
	const struct rdl_word *script = &command->words[command->n_words > 1];

	return shape_of(command) != UNKNOWN && !memmem(script->text, script->length, "setresp", 7);
}

static void write_as(FILE *file, const struct rdl_reply *reply, enum shape shape);

static void write_elements(FILE *file, const struct rdl_reply *reply, enum shape shape,
			   enum shape last)
{
	for (size_t i = 0; i < reply->length; i++)
		write_as(file, &reply->elements[i], i + 1 < reply->length ? shape : last);
}

static void write_array(FILE *file, const struct rdl_reply *reply, enum shape shape)
{
	static const struct {
		enum shape elements, last;
	} of[] = {
		[DOUBLES] = { DOUBLES, DOUBLES },
		[LAST] = { PLAIN, DOUBLE },
		[POPPED] = { PLAIN, LASTS },
		[LASTS] = { LAST, LAST },
		[PLACES] = { PLACE, PLACE },
		[PLACE] = { PLAIN, DOUBLES },
		[MAPS] = { MAP, MAP },
		[UNKNOWN] = { PLAIN, PLAIN },
	};

	if (shape == SCORES || shape == PAIRS) {
		fprintf(file, "*%zu\r\n", reply->length / 2);
		for (size_t i = 0; i + 1 < reply->length; i += 2) {
			fputs("*2\r\n", file);
			write_as(file, &reply->elements[i], PLAIN);
			write_as(file, &reply->elements[i + 1], shape == SCORES ? DOUBLE : PLAIN);
		}
		return;
	}
	if (shape == STREAMS) {
		fprintf(file, "%%%zu\r\n", reply->length);
		for (size_t i = 0; i < reply->length; i++)
			write_elements(file, &reply->elements[i], PLAIN, PLAIN);
		return;
	}
	if (shape == MAP)
		fprintf(file, "%%%zu\r\n", reply->length / 2);
	else
		fprintf(file, shape == SET ? "~%zu\r\n" : "*%zu\r\n", reply->length);
	write_elements(file, reply, of[shape].elements, of[shape].last);
}

static void write_as(FILE *file, const struct rdl_reply *reply, enum shape shape)
{
	const bool is_string = reply->type == RDL_REPLY_STRING;

	if (reply->type == RDL_REPLY_NIL)
		fputs("_\r\n", file);
	else if (is_string && (shape == DOUBLE || shape == DOUBLES))
		fprintf(file, ",%s\r\n", reply->text);
	else if (is_string && shape == VERBATIM)
		fprintf(file, "=%zu\r\ntxt:%s\r\n", reply->length + 4, reply->text);
	else if (reply->type != RDL_REPLY_ARRAY)
		rr_resp_write(file, reply);
	else
		write_array(file, reply, shape);
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
		fprintf(file, ">%zu\r\n", reply->length);
		write_elements(file, reply, PLAIN, PLAIN);
	} else if (!request->ends_queue) {
		write_as(file, reply, shape_of(&terms->command[request->command].words));
	} else if (reply->type != RDL_REPLY_ARRAY || reply->length != lane->n_queued) {
		write_as(file, reply, PLAIN);
	} else {
		fprintf(file, "*%zu\r\n", reply->length);
		for (size_t i = 0; i < reply->length; i++)
			write_as(file, &reply->elements[i],
				 shape_of(&terms->command[lane->queued[i]].words));
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
