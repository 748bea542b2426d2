/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <string.h>

#include "ladder.h"
#include "link.h"
#include "script.h"
#include "token.h"

/* Renews the lease of a key that is still ours, and never makes one that is
 * gone. One script: between a GET and a PEXPIRE the key may change hands. */
static const char compare_and_expire[] =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then "
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";

/* What is to be done: expire after ttl_ms, or delete (0). */
struct guarded {
	const char *key;
	const char *value;
	long ttl_ms;
};

/* ---- By a command or a script ------------------------------------------------ */

static const char *script_of(const struct guarded *guarded)
{
	return guarded->ttl_ms ? compare_and_expire : rl_compare_and_delete;
}

static enum rl_outcome queue_whole(struct rl_link *link, const struct guarded *g)
{
	if (g->ttl_ms)
		return rl_queue(link, "EVAL %s 1 %s %s %ld", script_of(g),
				g->key, g->value, g->ttl_ms);
	return rl_queue(link, "EVAL %s 1 %s %s", script_of(g), g->key,
			g->value);
}

/* By its hash; whole where replies are overdue, since nobody would see in time
 * that the hash is not known. */
static enum rl_outcome queue_script(struct rl_link *link,
				    const struct guarded *g)
{
	if (link->overdue || link->scripted == RL_RELEASE_EVAL ||
	    !rl_script_is_known(link, script_of(g)))
		return queue_whole(link, g);
	link->scripted = RL_RELEASE_EVALSHA;
	if (g->ttl_ms)
		return rl_queue_script(link, script_of(g), "1 %s %s %ld",
				       g->key, g->value, g->ttl_ms);
	return rl_queue_script(link, script_of(g), "1 %s %s", g->key, g->value);
}

/* A release that could not be finished may have left its watch. */
static enum rl_outcome queue_watch(struct rl_link *link, const char *key)
{
	enum rl_outcome outcome = rl_queue(link, "UNWATCH");

	if (outcome == RL_OK)
		outcome = rl_queue(link, "WATCH %s", key);
	return outcome == RL_OK ? rl_queue(link, "GET %s", key) : outcome;
}

/* The method is chosen before the questions: what they are answered counts from
 * the next time on. */
static enum rl_outcome queue_guarded(struct rl_link *link,
				     const struct guarded *g)
{
	const enum rl_outcome asked =
		rl_ladder_ask(link, script_of(g), !g->ttl_ms);

	if (asked != RL_OK)
		return asked;
	link->guarded_by = rl_ladder_method(link, !g->ttl_ms);
	switch (link->guarded_by) {
	case RL_RELEASE_DELEX:
		return rl_queue(link, "DELEX %s IFEQ %s", g->key, g->value);
	case RL_RELEASE_DELIFEQ:
		return rl_queue(link, "DELIFEQ %s %s", g->key, g->value);
	case RL_RELEASE_WATCH:
		return queue_watch(link, g->key);
	default:
		return queue_script(link, g);
	}
}

/* ---- By a transaction ---------------------------------------------------------- */

/* The watched key holds our value: MULTI, DEL or PEXPIRE, EXEC. Whoever wrote
 * it since was somebody else, or the clock: then it is ours no more. */
static enum rl_outcome finish_watch(struct rl_link *link,
				    const struct guarded *g)
{
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	enum rl_outcome outcome = rl_queue(link, "MULTI");

	if (outcome == RL_OK && g->ttl_ms)
		outcome = rl_queue(link, "PEXPIRE %s %ld", g->key, g->ttl_ms);
	else if (outcome == RL_OK)
		outcome = rl_queue(link, "DEL %s", g->key);
	if (outcome == RL_OK)
		outcome = rl_exec(link, 2, &reply);
	if (outcome != RL_OK)
		return outcome;
	return reply.type == RL_REPLY_ARRAY && reply.length == 1 &&
			       reply.elements[0].integer == 1 ?
		       RL_OK :
		       RL_LOST;
}

/* No reply in time, but the connection stays: a watch that is left on it would
 * let a later EXEC fail. */
static enum rl_outcome leave_watch(struct rl_link *link, int64_t deadline_ns)
{
	struct rl_reply reply;

	if (link->context && rl_queue(link, "UNWATCH") == RL_OK &&
	    rl_flush(link) == RL_OK)
		rl_receive_until(link, &reply, deadline_ns);
	return RL_UNKNOWN;
}

/* To go on would take replies that are the caller's to receive. */
static enum rl_outcome refuse_to_go_on(struct rl_link *link)
{
	return rl_link_fail(link, RL_ERROR,
			    "not done, and other replies are to come: "
			    "call again when they have been received");
}

static bool is_value(const struct rl_reply *reply, const char *value)
{
	return reply->type == RL_REPLY_STRING &&
	       reply->length == strlen(value) &&
	       memcmp(reply->text, value, reply->length) == 0;
}

static enum rl_outcome receive_watch(struct rl_link *link,
				     const struct guarded *g,
				     int64_t deadline_ns)
{
	struct rl_reply reply;
	enum rl_outcome watched, got;

	rl_receive_until(link, &reply, deadline_ns); /* to UNWATCH */
	watched = rl_receive_until(link, &reply, deadline_ns);
	got = rl_receive_until(link, &reply, deadline_ns);
	if (rl_link_has_batch(link))
		return refuse_to_go_on(link);
	if (watched == RL_UNKNOWN || got == RL_UNKNOWN)
		return leave_watch(link, deadline_ns);
	if (watched == RL_OK && got == RL_OK &&
	    is_value(&reply, g->value))
		return finish_watch(link, g);
	if (watched == RL_OK)
		rl_run(link, &reply, "UNWATCH");
	return watched == RL_OK && got == RL_OK ? RL_LOST : RL_ERROR;
}

/* ---- Both ------------------------------------------------------------------------ */

static enum rl_outcome run_guarded(struct rl_link *link, const struct guarded *g,
				   int64_t deadline_ns);

static enum rl_outcome receive_guarded(struct rl_link *link,
				       const struct guarded *g,
				       int64_t deadline_ns)
{
	const enum rl_release_method method = link->guarded_by;
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	enum rl_outcome outcome;

	rl_ladder_hear(link, deadline_ns);
	if (method == RL_RELEASE_WATCH)
		return receive_watch(link, g, deadline_ns);
	outcome = rl_receive_until(link, &reply, deadline_ns);
	if (rl_script_is_forgotten(&reply)) {
		if (rl_link_has_batch(link)) {
			rl_script_forget(link, script_of(g));
			return refuse_to_go_on(link);
		}
		outcome = queue_whole(link, g);
		if (outcome == RL_OK)
			outcome = rl_flush(link);
		if (outcome == RL_OK)
			outcome = rl_receive_until(link, &reply, deadline_ns);
	}
	if (outcome == RL_ERROR && rl_ladder_step_down(link, method, &reply))
		return rl_link_has_batch(link) ?
			       refuse_to_go_on(link) :
			       run_guarded(link, g, deadline_ns);
	if (outcome != RL_OK)
		return outcome;
	return reply.integer == 1 ? RL_OK : RL_LOST;
}

/* Each step down leads to a lower method, so this ends. */
static enum rl_outcome run_guarded(struct rl_link *link, const struct guarded *g,
				   int64_t deadline_ns)
{
	enum rl_outcome outcome = queue_guarded(link, g);

	if (outcome == RL_OK)
		outcome = rl_flush(link);
	return outcome == RL_OK ? receive_guarded(link, g, deadline_ns) :
				  outcome;
}

/* ---- What the others call ---------------------------------------------------------- */

enum rl_outcome rl_queue_delete_if_equal(struct rl_link *link, const char *key,
					 const char *value)
{
	return queue_guarded(link, &(struct guarded){ key, value, 0 });
}

enum rl_outcome rl_receive_delete_if_equal(struct rl_link *link,
					   const char *key, const char *value,
					   int64_t deadline_ns)
{
	return receive_guarded(link, &(struct guarded){ key, value, 0 },
			       deadline_ns);
}

enum rl_outcome rl_delete_if_equal_until(struct rl_link *link, const char *key,
					 const char *value, int64_t deadline_ns)
{
	return run_guarded(link, &(struct guarded){ key, value, 0 },
			   deadline_ns);
}

enum rl_outcome rl_delete_if_equal(struct rl_link *link, const char *key,
				   const char *value)
{
	return run_guarded(link, &(struct guarded){ key, value, 0 }, 0);
}

enum rl_outcome rl_queue_expire_if_equal(struct rl_link *link, const char *key,
					 const char *value, long ttl_ms)
{
	return queue_guarded(link, &(struct guarded){ key, value, ttl_ms });
}

enum rl_outcome rl_receive_expire_if_equal(struct rl_link *link,
					   const char *key, const char *value,
					   long ttl_ms, int64_t deadline_ns)
{
	return receive_guarded(link, &(struct guarded){ key, value, ttl_ms },
			       deadline_ns);
}

enum rl_outcome rl_expire_if_equal(struct rl_link *link, const char *key,
				   const char *value, long ttl_ms)
{
	return run_guarded(link, &(struct guarded){ key, value, ttl_ms }, 0);
}
