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

const char rdl_compare_and_delete[] = "if redis.call('GET', KEYS[1]) == ARGV[1] then "
				      "return redis.call('DEL', KEYS[1]) else return 0 end";

/* Renews the lease of a key that is still ours, and never makes one that is
 * gone. One script: between a GET and a PEXPIRE the key may change hands. */
static const char compare_and_expire[] =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then "
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";

static const char *script_of(const struct rdl_guarded *guarded)
{
	return guarded->ttl_ms ? compare_and_expire : rdl_compare_and_delete;
}

/* ---- What the server has ----------------------------------------------- */

static bool is_native(enum rdl_release_method method)
{
	return method == RDL_RELEASE_DELEX || method == RDL_RELEASE_DELIFEQ;
}

/* Is the hash of the script worth asking for? */
static bool wants_hash(const struct rdl_link *link, const struct rdl_guarded *guarded)
{
	const struct rdl_means *means = &link->means;

	if (!guarded->ttl_ms && is_native(means->native))
		return false;
	return means->scripted != RDL_RELEASE_EVAL && means->scripted != RDL_RELEASE_WATCH &&
	       !rdl_script_is_known(link, script_of(guarded));
}

/* Queues the questions that are open, unless replies are still to come: what
 * they are answered counts from the next time on. */
static enum rdl_outcome queue_questions(struct rdl_link *link, const struct rdl_guarded *guarded)
{
	struct rdl_means *means = &link->means;
	enum rdl_outcome outcome = RDL_OK;

	if (rdl_link_is_busy(link))
		return RDL_OK;
	if (!guarded->ttl_ms && means->native == RDL_RELEASE_UNTRIED) {
		outcome = rdl_queue(link, "COMMAND INFO DELEX DELIFEQ");
		means->asked_native = outcome == RDL_OK;
	}
	if (outcome == RDL_OK && wants_hash(link, guarded)) {
		outcome = rdl_queue(link, "SCRIPT LOAD %s", script_of(guarded));
		means->asked_script = outcome == RDL_OK ? script_of(guarded) : NULL;
	}
	return outcome;
}

/* What the server does not say, or may not say, is not there. */
static enum rdl_release_method native_method_in(const struct rdl_reply *reply)
{
	if (reply->type != RDL_REPLY_ARRAY || reply->length != 2)
		return RDL_RELEASE_EVALSHA;
	if (reply->elements[0].type == RDL_REPLY_ARRAY)
		return RDL_RELEASE_DELEX;
	if (reply->elements[1].type == RDL_REPLY_ARRAY)
		return RDL_RELEASE_DELIFEQ;
	return RDL_RELEASE_EVALSHA;
}

enum rdl_outcome rdl_link_learn_release(struct rdl_link *link)
{
	struct rdl_means *means = &link->means;
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };
	enum rdl_outcome outcome;

	if (means->native != RDL_RELEASE_UNTRIED)
		return RDL_OK;
	outcome = rdl_run(link, &reply, "COMMAND INFO DELEX DELIFEQ");
	if (outcome != RDL_UNKNOWN)
		means->native = native_method_in(&reply);
	return outcome;
}

static void receive_answers(struct rdl_link *link, int64_t deadline_ns)
{
	struct rdl_means *means = &link->means;
	const char *script = means->asked_script;
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };

	if (means->asked_native && rdl_receive_until(link, &reply, deadline_ns) != RDL_UNKNOWN)
		means->native = native_method_in(&reply);
	means->asked_native = false;
	means->asked_script = NULL;
	if (script && rdl_receive_until(link, &reply, deadline_ns) != RDL_UNKNOWN)
		means->scripted = rdl_script_note(link, script, &reply) ? RDL_RELEASE_EVALSHA :
									  RDL_RELEASE_EVAL;
}

/* By its hash; whole where replies are overdue, since no client would see in time
 * that the hash is not known. */
static enum rdl_release_method choose_method(struct rdl_link *link,
					     const struct rdl_guarded *guarded)
{
	struct rdl_means *means = &link->means;

	if (!guarded->ttl_ms && is_native(means->native))
		return means->native;
	if (means->scripted == RDL_RELEASE_WATCH)
		return RDL_RELEASE_WATCH;
	if (link->overdue || means->scripted == RDL_RELEASE_EVAL ||
	    !rdl_script_is_known(link, script_of(guarded)))
		return RDL_RELEASE_EVAL;
	means->scripted = RDL_RELEASE_EVALSHA;
	return RDL_RELEASE_EVALSHA;
}

/* The server has no such command, or does not let us: the next lower method.
 * False when the error is another one, or there is none left. */
static bool step_down(struct rdl_means *means, const struct rdl_reply *refused)
{
	if (refused->type != RDL_REPLY_FAILED ||
	    (strncmp(refused->text, "ERR unknown command", 19) != 0 &&
	     strncmp(refused->text, "NOPERM", 6) != 0))
		return false;
	if (is_native(means->sent_by))
		means->native = RDL_RELEASE_EVALSHA;
	else if (means->sent_by != RDL_RELEASE_WATCH)
		means->scripted = RDL_RELEASE_WATCH;
	else
		return false;
	return true;
}

enum rdl_release_method rdl_link_release_method(const struct rdl_link *link)
{
	return is_native(link->means.native) ? link->means.native : link->means.scripted;
}

/* ---- By a command or a script ------------------------------------------ */

static enum rdl_outcome queue_delex(struct rdl_link *link, const struct rdl_guarded *guarded)
{
	return rdl_queue(link, "DELEX %s IFEQ %s", guarded->key, guarded->value);
}

static enum rdl_outcome queue_delifeq(struct rdl_link *link, const struct rdl_guarded *guarded)
{
	return rdl_queue(link, "DELIFEQ %s %s", guarded->key, guarded->value);
}

enum rdl_outcome rdl_guarded_queue_whole(struct rdl_link *link, const struct rdl_guarded *guarded)
{
	if (guarded->ttl_ms)
		return rdl_queue(link, "EVAL %s 1 %s %s %ld", script_of(guarded), guarded->key,
				 guarded->value, guarded->ttl_ms);
	return rdl_queue(link, "EVAL %s 1 %s %s", script_of(guarded), guarded->key, guarded->value);
}

static enum rdl_outcome queue_evalsha(struct rdl_link *link, const struct rdl_guarded *guarded)
{
	if (guarded->ttl_ms)
		return rdl_queue_script(link, script_of(guarded), "1 %s %s %ld", guarded->key,
					guarded->value, guarded->ttl_ms);
	return rdl_queue_script(link, script_of(guarded), "1 %s %s", guarded->key, guarded->value);
}

/* To go on would take replies that are the caller's to receive. */
static enum rdl_outcome refuse_to_go_on(struct rdl_link *link)
{
	return rdl_link_fail(link, RDL_ERROR,
			     "not done, and other replies are to come: "
			     "call again when they have been received");
}

/* The server has forgotten the script: it gets it whole. */
static enum rdl_outcome repeat_whole(struct rdl_link *link, const struct rdl_guarded *guarded,
				     int64_t deadline_ns, struct rdl_reply *reply)
{
	enum rdl_outcome outcome = rdl_guarded_queue_whole(link, guarded);

	if (outcome == RDL_OK)
		outcome = rdl_flush(link);
	return outcome == RDL_OK ? rdl_receive_until(link, reply, deadline_ns) : outcome;
}

static enum rdl_outcome receive_number(struct rdl_link *link, const struct rdl_guarded *guarded,
				       int64_t deadline_ns, bool *again)
{
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };
	enum rdl_outcome outcome = rdl_receive_until(link, &reply, deadline_ns);

	if (rdl_script_is_forgotten(&reply)) {
		if (rdl_link_has_batch(link)) {
			rdl_script_forget(link, script_of(guarded));
			return refuse_to_go_on(link);
		}
		outcome = repeat_whole(link, guarded, deadline_ns, &reply);
	}
	*again = outcome == RDL_ERROR && step_down(&link->means, &reply);
	if (outcome != RDL_OK)
		return outcome;
	return reply.integer == 1 ? RDL_OK : RDL_LOST;
}

/* ---- By a transaction -------------------------------------------------- */

/* A release that could not be finished may have left its watch. */
static enum rdl_outcome queue_watch(struct rdl_link *link, const struct rdl_guarded *guarded)
{
	enum rdl_outcome outcome = rdl_queue(link, "UNWATCH");

	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "WATCH %s", guarded->key);
	return outcome == RDL_OK ? rdl_queue(link, "GET %s", guarded->key) : outcome;
}

/* The watched key holds our value: MULTI, DEL or PEXPIRE, EXEC. A write
 * since then was another client's, or its lease has ended: then it is ours no more. */
static enum rdl_outcome finish_watch(struct rdl_link *link, const struct rdl_guarded *guarded)
{
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };
	enum rdl_outcome outcome = rdl_queue(link, "MULTI");

	if (outcome == RDL_OK && guarded->ttl_ms)
		outcome = rdl_queue(link, "PEXPIRE %s %ld", guarded->key, guarded->ttl_ms);
	else if (outcome == RDL_OK)
		outcome = rdl_queue(link, "DEL %s", guarded->key);
	if (outcome == RDL_OK)
		outcome = rdl_exec(link, 2, &reply);
	if (outcome != RDL_OK)
		return outcome;
	return reply.type == RDL_REPLY_ARRAY && reply.length == 1 &&
			       reply.elements[0].integer == 1 ?
		       RDL_OK :
		       RDL_LOST;
}

/* No reply in time, but the connection stays: a watch that is left on it would
 * let a later EXEC fail. */
static enum rdl_outcome abandon_watch(struct rdl_link *link, int64_t deadline_ns)
{
	struct rdl_reply reply;

	if (link->context && rdl_queue(link, "UNWATCH") == RDL_OK && rdl_flush(link) == RDL_OK)
		rdl_receive_until(link, &reply, deadline_ns);
	return RDL_UNKNOWN;
}

static bool holds_value(const struct rdl_reply *reply, const char *value)
{
	return reply->type == RDL_REPLY_STRING && reply->length == strlen(value) &&
	       memcmp(reply->text, value, reply->length) == 0;
}

static enum rdl_outcome receive_watch(struct rdl_link *link, const struct rdl_guarded *guarded,
				      int64_t deadline_ns, bool *again)
{
	struct rdl_reply reply;
	enum rdl_outcome watched, got;

	*again = false;                               /* there is no lower method */
	rdl_receive_until(link, &reply, deadline_ns); /* to UNWATCH */
	watched = rdl_receive_until(link, &reply, deadline_ns);
	got = rdl_receive_until(link, &reply, deadline_ns);
	if (rdl_link_has_batch(link))
		return refuse_to_go_on(link);
	if (watched == RDL_UNKNOWN || got == RDL_UNKNOWN)
		return abandon_watch(link, deadline_ns);
	if (watched == RDL_OK && got == RDL_OK && holds_value(&reply, guarded->value))
		return finish_watch(link, guarded);
	if (watched == RDL_OK)
		rdl_run(link, &reply, "UNWATCH");
	return watched == RDL_OK && got == RDL_OK ? RDL_LOST : RDL_ERROR;
}

/* ---- The methods ------------------------------------------------------- */

static const struct {
	const char *name;
	enum rdl_outcome (*queue)(struct rdl_link *link, const struct rdl_guarded *guarded);
	/* `again`: refused, and by the next lower method it may be done. */
	enum rdl_outcome (*receive)(struct rdl_link *link, const struct rdl_guarded *guarded,
				    int64_t deadline_ns, bool *again);
} methods[] = {
	[RDL_RELEASE_UNTRIED] = { .name = "untried" },
	[RDL_RELEASE_DELEX] = { "DELEX", queue_delex, receive_number },
	[RDL_RELEASE_DELIFEQ] = { "DELIFEQ", queue_delifeq, receive_number },
	[RDL_RELEASE_EVALSHA] = { "EVALSHA", queue_evalsha, receive_number },
	[RDL_RELEASE_EVAL] = { "EVAL", rdl_guarded_queue_whole, receive_number },
	[RDL_RELEASE_WATCH] = { "WATCH", queue_watch, receive_watch },
};

const char *rdl_release_method_name(enum rdl_release_method method)
{
	return methods[method].name;
}

enum rdl_outcome rdl_guarded_queue(struct rdl_link *link, const struct rdl_guarded *guarded)
{
	const enum rdl_outcome asked = queue_questions(link, guarded);

	if (asked != RDL_OK)
		return asked;
	link->means.sent_by = choose_method(link, guarded);
	return methods[link->means.sent_by].queue(link, guarded);
}

static enum rdl_outcome receive_once(struct rdl_link *link, const struct rdl_guarded *guarded,
				     int64_t deadline_ns, bool *again)
{
	*again = false;
	receive_answers(link, deadline_ns);
	return methods[link->means.sent_by].receive(link, guarded, deadline_ns, again);
}

enum rdl_outcome rdl_guarded_receive(struct rdl_link *link, const struct rdl_guarded *guarded,
				     int64_t deadline_ns)
{
	bool again;
	const enum rdl_outcome outcome = receive_once(link, guarded, deadline_ns, &again);

	if (!again)
		return outcome;
	return rdl_link_has_batch(link) ? refuse_to_go_on(link) :
					  rdl_guarded_run(link, guarded, deadline_ns);
}

/* Each step down leads to a lower method, so this ends. */
enum rdl_outcome rdl_guarded_run(struct rdl_link *link, const struct rdl_guarded *guarded,
				 int64_t deadline_ns)
{
	enum rdl_outcome outcome;
	bool again;

	do {
		outcome = rdl_guarded_queue(link, guarded);
		if (outcome == RDL_OK)
			outcome = rdl_flush(link);
		if (outcome != RDL_OK)
			return outcome;
		outcome = receive_once(link, guarded, deadline_ns, &again);
	} while (again);
	return outcome;
}

enum rdl_outcome rdl_delete_if_equal(struct rdl_link *link, const char *key, const char *value)
{
	return rdl_guarded_run(link, &(struct rdl_guarded){ key, value, 0 }, 0);
}
