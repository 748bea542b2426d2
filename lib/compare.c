/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <string.h>

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

const char *rl_release_method_name(enum rl_release_method method)
{
	static const char *const names[] = {
		[RL_RELEASE_UNTRIED] = "untried",
		[RL_RELEASE_DELEX] = "DELEX",
		[RL_RELEASE_DELIFEQ] = "DELIFEQ",
		[RL_RELEASE_EVALSHA] = "EVALSHA",
		[RL_RELEASE_EVAL] = "EVAL",
		[RL_RELEASE_WATCH] = "WATCH",
	};

	return names[method];
}

/* ---- Which method ---------------------------------------------------------- */

/* Asks the server once whether it has a command for it. What it does not say,
 * or may not say, is not there. */
static void look_for_native(struct rl_link *link)
{
	struct rl_reply reply;

	if (link->native != RL_RELEASE_UNTRIED || rl_link_is_busy(link))
		return;
	if (rl_run(link, &reply, "COMMAND INFO DELEX DELIFEQ") == RL_UNKNOWN)
		return;
	link->native = RL_RELEASE_EVALSHA;
	if (reply.type != RL_REPLY_ARRAY || reply.length != 2)
		return;
	if (reply.elements[0].type == RL_REPLY_ARRAY)
		link->native = RL_RELEASE_DELEX;
	else if (reply.elements[1].type == RL_REPLY_ARRAY)
		link->native = RL_RELEASE_DELIFEQ;
}

static enum rl_release_method scripted(const struct rl_link *link)
{
	return link->scripted ? link->scripted : RL_RELEASE_EVALSHA;
}

static bool is_native(enum rl_release_method method)
{
	return method == RL_RELEASE_DELEX || method == RL_RELEASE_DELIFEQ;
}

static enum rl_release_method method_for(const struct rl_link *link,
					 const struct guarded *guarded)
{
	return !guarded->ttl_ms && is_native(link->native) ? link->native :
							     scripted(link);
}

enum rl_release_method rl_link_release_method(const struct rl_link *link)
{
	if (is_native(link->native))
		return link->native;
	return link->scripted;
}

/* The server has no such command, or does not let us: the next method down.
 * False when the error is another one, or there is none left. */
static bool step_down(struct rl_link *link, const struct guarded *guarded,
		      const struct rl_reply *refused)
{
	const enum rl_release_method method = method_for(link, guarded);

	if (refused->type != RL_REPLY_FAILED ||
	    (strncmp(refused->text, "ERR unknown command", 19) != 0 &&
	     strncmp(refused->text, "NOPERM", 6) != 0))
		return false;
	if (is_native(method))
		link->native = RL_RELEASE_EVALSHA;
	else if (method != RL_RELEASE_WATCH)
		link->scripted = RL_RELEASE_WATCH;
	else
		return false;
	return true;
}

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
	const bool idle = !rl_link_is_busy(link);
	enum rl_outcome outcome;

	if (link->overdue || link->scripted == RL_RELEASE_EVAL)
		return queue_whole(link, g);
	if (g->ttl_ms)
		outcome = rl_queue_script(link, script_of(g), "1 %s %s %ld",
					  g->key, g->value, g->ttl_ms);
	else
		outcome = rl_queue_script(link, script_of(g), "1 %s %s", g->key,
					  g->value);
	if (outcome == RL_OK && rl_script_is_known(link, script_of(g)))
		link->scripted = RL_RELEASE_EVALSHA;
	else if (outcome == RL_OK && idle)
		link->scripted = RL_RELEASE_EVAL;
	return outcome;
}

static enum rl_outcome queue_watch(struct rl_link *link, const char *key)
{
	const enum rl_outcome outcome = rl_queue(link, "WATCH %s", key);

	return outcome == RL_OK ? rl_queue(link, "GET %s", key) : outcome;
}

static enum rl_outcome queue_guarded(struct rl_link *link,
				     const struct guarded *g)
{
	look_for_native(link);
	switch (method_for(link, g)) {
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

static enum rl_outcome receive_watch(struct rl_link *link,
				     const struct guarded *g,
				     int64_t deadline_ns)
{
	struct rl_reply reply;
	const enum rl_outcome watched =
		rl_receive_until(link, &reply, deadline_ns);
	enum rl_outcome outcome = rl_receive_until(link, &reply, deadline_ns);
	bool equal;

	if (watched == RL_UNKNOWN || outcome == RL_UNKNOWN) {
		rl_link_disconnect(link); /* or it would watch for ever */
		return RL_UNKNOWN;
	}
	if (watched != RL_OK || outcome != RL_OK)
		return RL_ERROR;
	equal = reply.type == RL_REPLY_STRING &&
		strcmp(reply.text, g->value) == 0;
	if (equal)
		return finish_watch(link, g);
	rl_run(link, &reply, "UNWATCH");
	return RL_LOST;
}

/* ---- Both ------------------------------------------------------------------------ */

static enum rl_outcome run_guarded(struct rl_link *link,
				   const struct guarded *g);

static enum rl_outcome receive_guarded(struct rl_link *link,
				       const struct guarded *g,
				       int64_t deadline_ns)
{
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	enum rl_outcome outcome;

	if (method_for(link, g) == RL_RELEASE_WATCH)
		return receive_watch(link, g, deadline_ns);
	outcome = rl_receive_until(link, &reply, deadline_ns);
	if (rl_script_is_forgotten(&reply)) {
		outcome = queue_whole(link, g);
		if (outcome == RL_OK)
			outcome = rl_flush(link);
		if (outcome == RL_OK)
			outcome = rl_receive(link, &reply);
	}
	if (outcome == RL_ERROR && step_down(link, g, &reply))
		return run_guarded(link, g);
	if (outcome != RL_OK)
		return outcome;
	return reply.integer == 1 ? RL_OK : RL_LOST;
}

/* Each step down leads to a lower method, so this ends. */
static enum rl_outcome run_guarded(struct rl_link *link,
				   const struct guarded *g)
{
	enum rl_outcome outcome = queue_guarded(link, g);

	if (outcome == RL_OK)
		outcome = rl_flush(link);
	return outcome == RL_OK ? receive_guarded(link, g, 0) : outcome;
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

enum rl_outcome rl_delete_if_equal(struct rl_link *link, const char *key,
				   const char *value)
{
	return run_guarded(link, &(struct guarded){ key, value, 0 });
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
	return run_guarded(link, &(struct guarded){ key, value, ttl_ms });
}
