/* SPDX-License-Identifier: MIT */
#include "resp3.h"

#include <string.h>
#include <strings.h>

#include "base/reply.h"
#include "base/resp.h"

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

/* ---- Shapes ---------------------------------------------------------------------- */

static bool has_word(const struct rdl_command *command, size_t first, const char *text)
{
	for (size_t i = first; i < command->n_words; i++) {
		if (rr_word_is(&command->words[i], text))
			return true;
	}
	return false;
}

static bool is_named(const struct rdl_command *command, const char *names)
{
	const struct rdl_word *word = &command->words[0];

	for (size_t n; *names; names += n + (names[n] == ' ')) {
		n = strcspn(names, " ");
		if (word->length == n && strncasecmp(word->text, names, n) == 0)
			return true;
	}
	return false;
}

static enum shape shape_of(const struct rdl_command *command)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (is_named(command, table[i].names) &&
		    (!table[i].option || has_word(command, 1, table[i].option)) &&
		    (!table[i].n_words || command->n_words == table[i].n_words))
			return table[i].shape;
	}
	return PLAIN;
}

/* A script may ask for such replies itself. */
bool rr_resp3_is_known(const struct rdl_command *command)
{
	const struct rdl_word *script = &command->words[command->n_words > 1];

	return shape_of(command) != UNKNOWN && !memmem(script->text, script->length, "setresp", 7);
}

/* ---- Writing --------------------------------------------------------------------- */

static void write_as(FILE *file, const struct rdl_reply *reply, enum shape shape);

static void write_elements(FILE *file, const struct rdl_reply *reply, enum shape shape,
			   enum shape last)
{
	for (size_t i = 0; i < reply->length; i++)
		write_as(file, &reply->elements[i], i + 1 < reply->length ? shape : last);
}

/* Every second element of a flat array is written as `second`. */
static void write_pairs(FILE *file, const struct rdl_reply *reply, enum shape second)
{
	fprintf(file, "*%zu\r\n", reply->length / 2);
	for (size_t i = 0; i + 1 < reply->length; i += 2) {
		fputs("*2\r\n", file);
		write_as(file, &reply->elements[i], PLAIN);
		write_as(file, &reply->elements[i + 1], second);
	}
}

static void write_streams(FILE *file, const struct rdl_reply *reply)
{
	fprintf(file, "%%%zu\r\n", reply->length);
	for (size_t i = 0; i < reply->length; i++)
		write_elements(file, &reply->elements[i], PLAIN, PLAIN);
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
	else if (shape == SCORES || shape == PAIRS)
		write_pairs(file, reply, shape == SCORES ? DOUBLE : PLAIN);
	else if (shape == STREAMS)
		write_streams(file, reply);
	else
		write_array(file, reply, shape);
}

void rr_resp3_write(FILE *file, const struct rdl_command *command, const struct rdl_reply *reply)
{
	write_as(file, reply, shape_of(command));
}

void rr_resp3_write_push(FILE *file, const struct rdl_reply *message)
{
	fprintf(file, ">%zu\r\n", message->length);
	write_elements(file, message, PLAIN, PLAIN);
}

void rr_resp3_write_exec(FILE *file, const struct rdl_command *const *queued, size_t n,
			 const struct rdl_reply *reply)
{
	if (reply->type != RDL_REPLY_ARRAY || reply->length != n) {
		write_as(file, reply, PLAIN);
		return;
	}
	fprintf(file, "*%zu\r\n", n);
	for (size_t i = 0; i < n; i++)
		rr_resp3_write(file, queued[i], &reply->elements[i]);
}
