/* SPDX-License-Identifier: MIT */
/* What is compared of final data: pairs of states that differ in one thing, or in nothing
 * that means anything; and comparisons that leave something out, which the pairs must
 * show. */
#include <stdlib.h>
#include <string.h>

#include "../cluster/stage.h"
#include "base/memory.h"
#include "compare/compare.h"

static struct stage stage;

static void setup(void)
{
	stage_open(&stage, RR_CLUSTER_FROZEN);
	stage_server(&stage, "redis", (struct rr_server_options){ 0 });
}

static void teardown(void)
{
	stage_close(&stage);
}

TestSuite(contents, .init = setup, .fini = teardown);

/* Commands with a bar between two, in which ~ is a byte 0, ^ one of 255, % a
 * blank and ; a newline. */
struct pair {
	const char *one, *other;
	const char *shows; /* what the server replies to it differs; NULL: they are the
			    * same, to whatever one asks for */
};

static const struct pair pairs[] = {
	/* Types and values. */
	{ "SET a 1", "SET a 2", "GET a" },
	{ "SET a 1", "SET b 1", "GET a" },
	{ "SET a 1", "INCR a", NULL },
	{ "RPUSH a x y", "SADD a x y", "TYPE a" },
	{ "ZADD a 1 x", "HSET a x 1", "TYPE a" },
	{ "RPUSH a x y", "RPUSH a y x", "LINDEX a 0" },
	{ "SADD a x y", "SADD a y x", NULL },
	{ "SADD a 1 2", "SADD a 1 2 x|SREM a x", NULL },
	{ "HSET a x 1 y 2", "HSET a y 2 x 1", NULL },
	{ "HSET a x y z x", "HSET a x x z y", "HGET a x" },
	{ "ZADD a 1 x 2 y", "ZADD a 2 y 1 x", NULL },
	{ "ZADD a 1 x", "ZADD a 1.0000000000000002 x", "ZSCORE a x" },
	{ "RPUSH a x", "CONFIG SET list-max-listpack-size 1|RPUSH a y x|LPOP a", NULL },
	/* Times, of fields as well, databases, functions. */
	{ "HSET a x 1|HPEXPIRE a 10001 FIELDS 1 x", "HSET a x 1|HPEXPIRE a 10002 FIELDS 1 x",
	  "HPTTL a FIELDS 1 x" },
	{ "HSET a x 1|HPEXPIRE a 10001 FIELDS 1 x", "HSET a x 1", "HPTTL a FIELDS 1 x" },
	{ "SET a 1 PX 10001", "SET a 1 PX 10002", "PTTL a" },
	{ "SET a 1", "SET a 1 PX 10002", "PTTL a" },
	{ "SET a 1", "SELECT 1|SET a 1", "GET a" },
	{ "SELECT 2|SET a 1", "SELECT 1|SET a 1", "INFO keyspace" },
	{ "FUNCTION LOAD #!lua%name=a;redis.register_function('f',function()end)|"
	  "FUNCTION LOAD #!lua%name=b;redis.register_function('g',function()end)",
	  "FUNCTION LOAD #!lua%name=b;redis.register_function('g',function()end)|"
	  "FUNCTION LOAD #!lua%name=a;redis.register_function('f',function()end)",
	  NULL },
	{ "FUNCTION LOAD #!lua%name=a;redis.register_function('f',function()end)",
	  "FUNCTION LOAD #!lua%name=a;redis.register_function('g',function()end)",
	  "FUNCTION LIST" },
	/* Bytes. */
	{ "SET a~b 1", "SET a~c 1", "KEYS *" },
	{ "SET a~b 1", "SET a 1", "GET a" },
	{ "SET a b~c", "SET a b~d", "GET a" },
	{ "SET a ^", "SET a \\xff", "GET a" },
	{ "SADD a ^~x ^~y", "SADD a ^~y ^~x", NULL },
	{ "SADD a ^~x", "SADD a ^~y", "SMEMBERS a" },
	{ "HSET a x~ 1 x 2", "HSET a x~ 2 x 1", "HGET a x" },
	/* Streams: what is left of entries that are gone; groups. */
	{ "XADD s 1-1 f v|XADD s 2-1 f v", "XADD s 1-1 f v|XADD s 3-1 f v", "XRANGE s - +" },
	{ "XADD s 1-1 f v|XADD s 2-1 f v|XDEL s 2-1", "XADD s 1-1 f v", "XADD s 2-0 f v" },
	{ "XADD s 1-1 f v", "XADD s 1-1 f v|XSETID s 5-0", "XADD s 2-0 f v" },
	{ "XADD s 5-1 f v", "XADD s 1-1 f v|XADD s 5-1 f v|XDEL s 1-1", "XINFO STREAM s" },
	{ "XGROUP CREATE s g 0 MKSTREAM", "XGROUP CREATE s h 0 MKSTREAM", "XINFO GROUPS s" },
	{ "XGROUP CREATE s g 0 MKSTREAM", "XGROUP CREATE s g 1-0 MKSTREAM", "XINFO GROUPS s" },
	{ "XGROUP CREATE s g 0 MKSTREAM", "XADD s 1-1 f v|XTRIM s MAXLEN 0", "XINFO GROUPS s" },
	{ "XADD s 1-1 f v|XGROUP CREATE s g 0|XREADGROUP GROUP g c STREAMS s >",
	  "XADD s 1-1 f v|XGROUP CREATE s g 0|XREADGROUP GROUP g d STREAMS s >", "XPENDING s g" },
	{ "XADD s 1-1 f v|XGROUP CREATE s g 0|XREADGROUP GROUP g c STREAMS s >",
	  "XADD s 1-1 f v|XGROUP CREATE s g 0|XREADGROUP GROUP g c STREAMS s >|XACK s g 1-1",
	  "XPENDING s g" },
	{ "XADD s 1-1 f v|XGROUP CREATE s g 0|XREADGROUP GROUP g c STREAMS s >",
	  "XADD s 1-1 f v|XGROUP CREATE s g 0|XREADGROUP GROUP g c STREAMS s >|"
	  "XCLAIM s g c 0 1-1",
	  "XPENDING s g - + 9" },
	{ "XGROUP CREATE s g 0 MKSTREAM",
	  "XGROUP CREATE s g 0 MKSTREAM|XGROUP CREATECONSUMER s g c", "XINFO CONSUMERS s g" },
	{ "XADD s 1-1 f v|XADD s 2-1 f v|XDEL s 1-1", "XADD s 1-1 f v|XADD s 2-1 f v|XDEL s 1-1",
	  NULL },
	/* HyperLogLogs: what a count leaves there, and how registers are kept. */
	{ "PFADD h x y", "PFADD h x y|PFCOUNT h", NULL },
	{ "PFADD h x|PFCOUNT h|PFADD h y", "PFADD h y x", NULL },
	{ "PFADD h x y", "PFADD h y x|PFDEBUG TODENSE h", NULL },
	{ "PFADD h x y", "PFADD h x z", "PFADD h z" },
	{ "PFADD h x y|PFDEBUG TODENSE h", "PFADD h x z|PFDEBUG TODENSE h", "PFADD h z" },
	{ "SET h HYLL1234567890123456", "SET h HYLL1234567x90123456", "GET h" },
	{ "SET a 1", "", "GET a" },
};

enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]), SLOT = 0 };

struct scene {
	struct rr_terms terms;
	struct rr_scripts scripts;
	struct rr_server_table table;
	struct rr_contents contents;
};

static void open_scene(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	cr_assert(rr_server_table_init(&scene->table, &stage.cluster, 0, &scene->terms,
				       &scene->scripts, "-", false));
	scene->contents.table = &scene->table;
}

static void close_scene(struct scene *scene)
{
	rr_contents_release(&scene->contents);
	rr_server_table_release(&scene->table);
	rr_terms_release(&scene->terms);
}

static const struct rr_server_row *ask(struct scene *scene, uint32_t state, const char *line,
				       size_t length)
{
	struct rr_question question = { .kind = RR_ASK_COMMAND, .slot = SLOT };
	struct rdl_command command = { .n_words = 0 };
	char *text = rr_strndup(line, length);
	const struct rr_server_row *row;

	for (char *at = text; at < text + length; at += command.words[command.n_words++].length + 1)
		command.words[command.n_words] = (struct rdl_word){ at, strcspn(at, " ") };
	for (char *at = text; at < text + length; at++)
		*at = (char)(*at == '~' ? 0 :
			     *at == '^' ? 255 :
			     *at == '%' ? ' ' :
			     *at == ';' ? '\n' :
					  *at);
	question.argument = rr_terms_command(&scene->terms, &command);
	row = rr_server_table_ask(&scene->table, state, &question);
	cr_assert_not_null(row, "%s: %s", line, scene->table.error.text);
	free(text);
	return row;
}

/* The state that commands lead to; RESET leads back to the first database. RR_NO_ID: the server
 * does not know one of them. */
static uint32_t run(struct scene *scene, const char *commands)
{
	uint32_t state = 0;

	while (*commands) {
		const size_t length = strcspn(commands, "|");
		const struct rr_server_row *row = ask(scene, state, commands, length);

		const struct rdl_reply *reply = &scene->terms.reply[row->reply].reply;

		if (reply->type == RDL_REPLY_FAILED && strstr(reply->text, "unknown command"))
			return RR_NO_ID;
		cr_assert_neq(reply->type, RDL_REPLY_FAILED, "%s: %s", commands, reply->text);
		state = row->to;
		commands += length + (commands[length] != '\0');
	}
	return ask(scene, state, "RESET", strlen("RESET"))->to;
}

static uint32_t reply_to(struct scene *scene, uint32_t state, const char *command)
{
	return ask(scene, state, command, strlen(command))->reply;
}

static bool print_alike(struct scene *scene, uint32_t one, uint32_t other)
{
	char *texts[2] = { rr_contents_text(&scene->contents, one, RR_NO_ID),
			   rr_contents_text(&scene->contents, other, RR_NO_ID) };
	const bool alike = strcmp(texts[0], texts[1]) == 0;

	free(texts[0]);
	free(texts[1]);
	return alike;
}

static void judge_pair(struct scene *scene, const struct pair *pair)
{
	const uint32_t one = run(scene, pair->one), other = run(scene, pair->other);

	if (one == RR_NO_ID)
		return;
	cr_expect(!pair->shows ||
			  reply_to(scene, one, pair->shows) != reply_to(scene, other, pair->shows),
		  "%s and %s: %s is answered alike", pair->one, pair->other, pair->shows);
	cr_expect_eq(rr_contents_are_same(&scene->contents, one, other), !pair->shows, "%s and %s",
		     pair->one, pair->other);
	cr_expect_eq(print_alike(scene, one, other), !pair->shows, "%s and %s", pair->one,
		     pair->other);
	cr_expect_eq(scene->table.error.kind, RR_ERROR_NONE, "%s", scene->table.error.text);
}

Test(contents, what_a_server_tells_apart_is_not_the_same)
{
	for (size_t i = 0; i < PAIRS; i++) {
		struct scene scene;

		open_scene(&scene);
		judge_pair(&scene, &pairs[i]);
		close_scene(&scene);
	}
}

/* ---- Planted ------------------------------------------------------------------------ */

/* Of a key, as the comparison takes it from the server: something is left out. */
struct omission {
	const char *what;
	void (*leave_out)(struct rdl_reply *parts);
};

static void forget(struct rdl_reply *reply)
{
	if (reply->type == RDL_REPLY_ARRAY)
		reply->type = RDL_REPLY_NIL;
	else
		reply->length = 0;
}

static void forget_type(struct rdl_reply *parts)
{
	forget(&parts[RR_KEY_TYPE]);
}

static void reuse_name(struct rdl_reply *parts)
{
	forget(&parts[RR_KEY_NAME]);
}

static void forget_value(struct rdl_reply *parts)
{
	forget(&parts[RR_KEY_VALUE]);
}

static void forget_time(struct rdl_reply *parts)
{
	parts[RR_KEY_LEFT_MS].integer = -1;
}

static void forget_database(struct rdl_reply *parts)
{
	parts[RR_KEY_DATABASE].integer = 0;
}

static void cut_name(struct rdl_reply *parts)
{
	parts[RR_KEY_NAME].length = strlen(parts[RR_KEY_NAME].text);
}

static void cut_value(struct rdl_reply *parts)
{
	struct rdl_reply *value = &parts[RR_KEY_VALUE];

	if (value->text)
		value->length = strlen(value->text);
}

static void forget_of_stream(struct rdl_reply *parts, int which)
{
	if (rr_contents_has_type(parts, "stream"))
		forget(&parts[RR_KEY_VALUE].elements[which]);
}

static void forget_entries(struct rdl_reply *parts)
{
	forget_of_stream(parts, RR_STREAM_ENTRIES);
}

static void forget_last_id(struct rdl_reply *parts)
{
	forget_of_stream(parts, RR_STREAM_ATTRIBUTES);
}

static void forget_of_groups(struct rdl_reply *parts, int which)
{
	const struct rdl_reply *groups = &parts[RR_KEY_VALUE].elements[RR_STREAM_GROUPS];

	for (size_t i = 0; rr_contents_has_type(parts, "stream") && i < groups->length; i++)
		forget(&groups->elements[i].elements[which]);
}

static void reuse_group(struct rdl_reply *parts)
{
	forget_of_groups(parts, RR_GROUP_NAME);
}

static void forget_delivered(struct rdl_reply *parts)
{
	forget_of_groups(parts, RR_GROUP_ATTRIBUTES);
}

static void forget_consumers(struct rdl_reply *parts)
{
	forget_of_groups(parts, RR_GROUP_CONSUMERS);
}

static void forget_pending(struct rdl_reply *parts)
{
	forget_of_groups(parts, RR_GROUP_PENDING);
}

static const struct omission omissions[] = {
	{ "a key's type", forget_type },
	{ "a key's name", reuse_name },
	{ "a key's value", forget_value },
	{ "the time a key has left", forget_time },
	{ "its database", forget_database },
	{ "a name behind a byte 0", cut_name },
	{ "a value behind a byte 0", cut_value },
	{ "a stream's entries", forget_entries },
	{ "its last id", forget_last_id },
	{ "a group's name", reuse_group },
	{ "its last id delivered", forget_delivered },
	{ "its consumers", forget_consumers },
	{ "pending entries", forget_pending },
};

/* In all that has been learned of servers' keys. */
static void plant(struct scene *scene, const struct omission *omission)
{
	const struct rr_server_table *table = &scene->table;

	for (uint32_t i = 0; i < table->rows.n; i++) {
		const struct rr_server_row *row = &table->row[i];
		const struct rdl_reply *keys = &scene->terms.reply[row->reply].reply;

		if (row->question.kind != RR_ASK_COMMAND || row->question.slot == SLOT ||
		    keys->type != RDL_REPLY_ARRAY || keys->length == 0)
			continue;
		/* A list of ignored keys and fields follows the keys. */
		keys = keys->elements;
		for (size_t k = 0; k < keys->length; k++) {
			if (keys->elements[k].length == RR_KEY_PARTS)
				omission->leave_out(keys->elements[k].elements);
		}
	}
}

/* Is the pair judged wrongly by a comparison that leaves something out? */
static bool is_noticed(const struct pair *pair, const struct omission *omission)
{
	struct rr_contents spoilt;
	struct scene scene;
	uint32_t one, other;
	bool is_same = !pair->shows;

	open_scene(&scene);
	one = run(&scene, pair->one);
	other = run(&scene, pair->other);
	if (one != RR_NO_ID) {
		rr_contents_are_same(&scene.contents, one, other);
		plant(&scene, omission);
		spoilt = (struct rr_contents){ .table = &scene.table };
		is_same = rr_contents_are_same(&spoilt, one, other);
		rr_contents_release(&spoilt);
	}
	close_scene(&scene);
	return is_same != !pair->shows;
}

Test(contents, a_comparison_that_leaves_something_out_is_noticed)
{
	for (size_t i = 0; i < sizeof(omissions) / sizeof(omissions[0]); i++) {
		size_t at = 0;

		while (at < PAIRS && !is_noticed(&pairs[at], &omissions[i]))
			at++;
		cr_expect_lt(at, PAIRS, "no pair shows that %s is left out", omissions[i].what);
	}
}
