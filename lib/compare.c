/* SPDX-License-Identifier: MIT */
/*
 * What a link does not know of its server is asked in the same write as the
 * first command that needs to know, so that finding out costs no wait of its
 * own; that first command goes out as EVAL, which needs no knowledge. From the
 * second use on the link knows its method, and leaves it only for a lower one,
 * when the server refuses it.
 */
#include "compare.h"

#include <string.h>

#include "link.h"
#include "script.h"

const char rl_compare_and_delete[] = "if redis.call('GET', KEYS[1]) == ARGV[1] then "
				     "return redis.call('DEL', KEYS[1]) else return 0 end";

/* Renews the lease of a key that is still ours, and never makes one that is
 * gone. One script: between a GET and a PEXPIRE the key may change hands. */
static const char compare_and_expire[] =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then "
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";

static const char *script_of(const struct rl_guarded *guarded)
{
	return guarded->ttl_ms ? compare_and_expire : rl_compare_and_delete;
}

/* ---- What the server has ----------------------------------------------- */

static bool is_native(enum rl_release_method method)
{
	return method == RL_RELEASE_DELEX || method == RL_RELEASE_DELIFEQ;
}

/* Is the hash of the script worth asking for? */
static bool wants_hash(const struct rl_link *link, const struct rl_guarded *guarded)
{
	const struct rl_means *means = &link->means;

	if (!guarded->ttl_ms && is_native(means->native))
		return false;
	return means->scripted != RL_RELEASE_EVAL && means->scripted != RL_RELEASE_WATCH &&
	       !rl_script_is_known(link, script_of(guarded));
}

/* Queues the questions that are open, unless replies are still to come: what
 * they are answered counts from the next time on. */
static enum rl_outcome queue_questions(struct rl_link *link, const struct rl_guarded *guarded)
{
	struct rl_means *means = &link->means;
	enum rl_outcome outcome = RL_OK;

	if (rl_link_is_busy(link))
		return RL_OK;
	if (!guarded->ttl_ms && means->native == RL_RELEASE_UNTRIED) {
		outcome = rl_queue(link, "COMMAND INFO DELEX DELIFEQ");
		means->asked_native = outcome == RL_OK;
	}
	if (outcome == RL_OK && wants_hash(link, guarded)) {
		outcome = rl_queue(link, "SCRIPT LOAD %s", script_of(guarded));
		means->asked_script = outcome == RL_OK ? script_of(guarded) : NULL;
	}
	return outcome;
}

/* What the server does not say, or may not say, is not there. */
static enum rl_release_method native_method_in(const struct rl_reply *reply)
{
	if (reply->type != RL_REPLY_ARRAY || reply->length != 2)
		return RL_RELEASE_EVALSHA;
	if (reply->elements[0].type == RL_REPLY_ARRAY)
		return RL_RELEASE_DELEX;
	if (reply->elements[1].type == RL_REPLY_ARRAY)
		return RL_RELEASE_DELIFEQ;
	return RL_RELEASE_EVALSHA;
}

enum rl_outcome rl_link_learn_release(struct rl_link *link)
{
	struct rl_means *means = &link->means;
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	enum rl_outcome outcome;

	if (means->native != RL_RELEASE_UNTRIED)
		return RL_OK;
	outcome = rl_run(link, &reply, "COMMAND INFO DELEX DELIFEQ");
	if (outcome != RL_UNKNOWN)
		means->native = native_method_in(&reply);
	return outcome;
}

static void receive_answers(struct rl_link *link, int64_t deadline_ns)
{
	struct rl_means *means = &link->means;
	const char *script = means->asked_script;
	struct rl_reply reply = { .type = RL_REPLY_NIL };

	if (means->asked_native && rl_receive_until(link, &reply, deadline_ns) != RL_UNKNOWN)
		means->native = native_method_in(&reply);
	means->asked_native = false;
	means->asked_script = NULL;
	if (script && rl_receive_until(link, &reply, deadline_ns) != RL_UNKNOWN)
		means->scripted = rl_script_note(link, script, &reply) ? RL_RELEASE_EVALSHA :
									 RL_RELEASE_EVAL;
}

/* By its hash; whole where replies are overdue, since nobody would see in time
 * that the hash is not known. */
static enum rl_release_method choose_method(struct rl_link *link, const struct rl_guarded *guarded)
{
	struct rl_means *means = &link->means;

	if (!guarded->ttl_ms && is_native(means->native))
		return means->native;
	if (means->scripted == RL_RELEASE_WATCH)
		return RL_RELEASE_WATCH;
	if (link->overdue || means->scripted == RL_RELEASE_EVAL ||
	    !rl_script_is_known(link, script_of(guarded)))
		return RL_RELEASE_EVAL;
	means->scripted = RL_RELEASE_EVALSHA;
	return RL_RELEASE_EVALSHA;
}

/* The server has no such command, or does not let us: the next lower method.
 * False when the error is another one, or there is none left. */
static bool step_down(struct rl_means *means, const struct rl_reply *refused)
{
	if (refused->type != RL_REPLY_FAILED ||
	    (strncmp(refused->text, "ERR unknown command", 19) != 0 &&
	     strncmp(refused->text, "NOPERM", 6) != 0))
		return false;
	if (is_native(means->sent_by))
		means->native = RL_RELEASE_EVALSHA;
	else if (means->sent_by != RL_RELEASE_WATCH)
		means->scripted = RL_RELEASE_WATCH;
	else
		return false;
	return true;
}

enum rl_release_method rl_link_release_method(const struct rl_link *link)
{
	return is_native(link->means.native) ? link->means.native : link->means.scripted;
}

/* ---- By a command or a script ------------------------------------------ */

static enum rl_outcome queue_delex(struct rl_link *link, const struct rl_guarded *guarded)
{
	return rl_queue(link, "DELEX %s IFEQ %s", guarded->key, guarded->value);
}

static enum rl_outcome queue_delifeq(struct rl_link *link, const struct rl_guarded *guarded)
{
	return rl_queue(link, "DELIFEQ %s %s", guarded->key, guarded->value);
}

static enum rl_outcome queue_eval(struct rl_link *link, const struct rl_guarded *guarded)
{
	if (guarded->ttl_ms)
		return rl_queue(link, "EVAL %s 1 %s %s %ld", script_of(guarded), guarded->key,
				guarded->value, guarded->ttl_ms);
	return rl_queue(link, "EVAL %s 1 %s %s", script_of(guarded), guarded->key, guarded->value);
}

static enum rl_outcome queue_evalsha(struct rl_link *link, const struct rl_guarded *guarded)
{
	if (guarded->ttl_ms)
		return rl_queue_script(link, script_of(guarded), "1 %s %s %ld", guarded->key,
				       guarded->value, guarded->ttl_ms);
	return rl_queue_script(link, script_of(guarded), "1 %s %s", guarded->key, guarded->value);
}

/* To go on would take replies that are the caller's to receive. */
static enum rl_outcome refuse_to_go_on(struct rl_link *link)
{
	return rl_link_fail(link, RL_ERROR,
			    "not done, and other replies are to come: "
			    "call again when they have been received");
}

/* The server has forgotten the script: it gets it whole. */
static enum rl_outcome repeat_whole(struct rl_link *link, const struct rl_guarded *guarded,
				    int64_t deadline_ns, struct rl_reply *reply)
{
	enum rl_outcome outcome = queue_eval(link, guarded);

	if (outcome == RL_OK)
		outcome = rl_flush(link);
	return outcome == RL_OK ? rl_receive_until(link, reply, deadline_ns) : outcome;
}

static enum rl_outcome receive_number(struct rl_link *link, const struct rl_guarded *guarded,
				      int64_t deadline_ns, bool *again)
{
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	enum rl_outcome outcome = rl_receive_until(link, &reply, deadline_ns);

	if (rl_script_is_forgotten(&reply)) {
		if (rl_link_has_batch(link)) {
			rl_script_forget(link, script_of(guarded));
			return refuse_to_go_on(link);
		}
		outcome = repeat_whole(link, guarded, deadline_ns, &reply);
	}
	*again = outcome == RL_ERROR && step_down(&link->means, &reply);
	if (outcome != RL_OK)
		return outcome;
	return reply.integer == 1 ? RL_OK : RL_LOST;
}

/* ---- By a transaction -------------------------------------------------- */

/* A release that could not be finished may have left its watch. */
static enum rl_outcome queue_watch(struct rl_link *link, const struct rl_guarded *guarded)
{
	enum rl_outcome outcome = rl_queue(link, "UNWATCH");

	if (outcome == RL_OK)
		outcome = rl_queue(link, "WATCH %s", guarded->key);
	return outcome == RL_OK ? rl_queue(link, "GET %s", guarded->key) : outcome;
}

/* The watched key holds our value: MULTI, DEL or PEXPIRE, EXEC. Whoever wrote
 * it since was somebody else, or the clock: then it is ours no more. */
static enum rl_outcome finish_watch(struct rl_link *link, const struct rl_guarded *guarded)
{
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	enum rl_outcome outcome = rl_queue(link, "MULTI");

	if (outcome == RL_OK && guarded->ttl_ms)
		outcome = rl_queue(link, "PEXPIRE %s %ld", guarded->key, guarded->ttl_ms);
	else if (outcome == RL_OK)
		outcome = rl_queue(link, "DEL %s", guarded->key);
	if (outcome == RL_OK)
		outcome = rl_exec(link, 2, &reply);
	if (outcome != RL_OK)
		return outcome;
	return reply.type == RL_REPLY_ARRAY && reply.length == 1 && reply.elements[0].integer == 1 ?
		       RL_OK :
		       RL_LOST;
}

/* No reply in time, but the connection stays: a watch that is left on it would
 * let a later EXEC fail. */
static enum rl_outcome abandon_watch(struct rl_link *link, int64_t deadline_ns)
{
	struct rl_reply reply;

	if (link->context && rl_queue(link, "UNWATCH") == RL_OK && rl_flush(link) == RL_OK)
		rl_receive_until(link, &reply, deadline_ns);
	return RL_UNKNOWN;
}

static bool holds_value(const struct rl_reply *reply, const char *value)
{
	return reply->type == RL_REPLY_STRING && reply->length == strlen(value) &&
	       memcmp(reply->text, value, reply->length) == 0;
}

static enum rl_outcome receive_watch(struct rl_link *link, const struct rl_guarded *guarded,
				     int64_t deadline_ns, bool *again)
{
	struct rl_reply reply;
	enum rl_outcome watched, got;

	*again = false;                              /* there is no lower method */
	rl_receive_until(link, &reply, deadline_ns); /* to UNWATCH */
	watched = rl_receive_until(link, &reply, deadline_ns);
	got = rl_receive_until(link, &reply, deadline_ns);
	if (rl_link_has_batch(link))
		return refuse_to_go_on(link);
	if (watched == RL_UNKNOWN || got == RL_UNKNOWN)
		return abandon_watch(link, deadline_ns);
	if (watched == RL_OK && got == RL_OK && holds_value(&reply, guarded->value))
		return finish_watch(link, guarded);
	if (watched == RL_OK)
		rl_run(link, &reply, "UNWATCH");
	return watched == RL_OK && got == RL_OK ? RL_LOST : RL_ERROR;
}

/* ---- The methods ------------------------------------------------------- */

static const struct {
	const char *name;
	enum rl_outcome (*queue)(struct rl_link *link, const struct rl_guarded *guarded);
	/* `again`: refused, and by the next lower method it may be done. */
	enum rl_outcome (*receive)(struct rl_link *link, const struct rl_guarded *guarded,
				   int64_t deadline_ns, bool *again);
} methods[] = {
	[RL_RELEASE_UNTRIED] = { .name = "untried" },
	[RL_RELEASE_DELEX] = { "DELEX", queue_delex, receive_number },
	[RL_RELEASE_DELIFEQ] = { "DELIFEQ", queue_delifeq, receive_number },
	[RL_RELEASE_EVALSHA] = { "EVALSHA", queue_evalsha, receive_number },
	[RL_RELEASE_EVAL] = { "EVAL", queue_eval, receive_number },
	[RL_RELEASE_WATCH] = { "WATCH", queue_watch, receive_watch },
};

const char *rl_release_method_name(enum rl_release_method method)
{
	return methods[method].name;
}

enum rl_outcome rl_guarded_queue(struct rl_link *link, const struct rl_guarded *guarded)
{
	const enum rl_outcome asked = queue_questions(link, guarded);

	if (asked != RL_OK)
		return asked;
	link->means.sent_by = choose_method(link, guarded);
	return methods[link->means.sent_by].queue(link, guarded);
}

static enum rl_outcome receive_once(struct rl_link *link, const struct rl_guarded *guarded,
				    int64_t deadline_ns, bool *again)
{
	*again = false;
	receive_answers(link, deadline_ns);
	return methods[link->means.sent_by].receive(link, guarded, deadline_ns, again);
}

enum rl_outcome rl_guarded_receive(struct rl_link *link, const struct rl_guarded *guarded,
				   int64_t deadline_ns)
{
	bool again;
	const enum rl_outcome outcome = receive_once(link, guarded, deadline_ns, &again);

	if (!again)
		return outcome;
	return rl_link_has_batch(link) ? refuse_to_go_on(link) :
					 rl_guarded_run(link, guarded, deadline_ns);
}

/* Each step down leads to a lower method, so this ends. */
enum rl_outcome rl_guarded_run(struct rl_link *link, const struct rl_guarded *guarded,
			       int64_t deadline_ns)
{
	enum rl_outcome outcome;
	bool again = true;

	while (again) {
		outcome = rl_guarded_queue(link, guarded);
		if (outcome == RL_OK)
			outcome = rl_flush(link);
		if (outcome != RL_OK)
			return outcome;
		outcome = receive_once(link, guarded, deadline_ns, &again);
	}
	return outcome;
}

enum rl_outcome rl_delete_if_equal(struct rl_link *link, const char *key, const char *value)
{
	return rl_guarded_run(link, &(struct rl_guarded){ key, value, 0 }, 0);
}
