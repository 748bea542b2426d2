/* SPDX-License-Identifier: MIT */
#include "ladder.h"

#include <string.h>

#include "compare.h"
#include "link.h"
#include "script.h"

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

static bool is_native(enum rl_release_method method)
{
	return method == RL_RELEASE_DELEX || method == RL_RELEASE_DELIFEQ;
}

enum rl_release_method rl_ladder_method(const struct rl_link *link,
					bool deletes)
{
	if (deletes && is_native(link->native))
		return link->native;
	return link->scripted ? link->scripted : RL_RELEASE_EVALSHA;
}

enum rl_release_method rl_link_release_method(const struct rl_link *link)
{
	return is_native(link->native) ? link->native : link->scripted;
}

bool rl_ladder_step_down(struct rl_link *link, enum rl_release_method method,
			 const struct rl_reply *refused)
{
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

/* ---- Finding out ----------------------------------------------------------- */

static bool wants_hash(const struct rl_link *link, const char *script)
{
	return link->scripted != RL_RELEASE_EVAL &&
	       link->scripted != RL_RELEASE_WATCH &&
	       !rl_script_is_known(link, script);
}

enum rl_outcome rl_ladder_ask(struct rl_link *link, const char *script,
			      bool deletes)
{
	enum rl_outcome outcome = RL_OK;

	if (rl_link_is_busy(link))
		return RL_OK;
	if (deletes && link->native == RL_RELEASE_UNTRIED) {
		outcome = rl_queue(link, "COMMAND INFO DELEX DELIFEQ");
		link->asked_native = outcome == RL_OK;
	}
	if (outcome == RL_OK && wants_hash(link, script) &&
	    !(deletes && is_native(link->native))) {
		outcome = rl_queue(link, "SCRIPT LOAD %s", script);
		link->asked_script = outcome == RL_OK ? script : NULL;
	}
	return outcome;
}

/* What the server does not say, or may not say, is not there. */
static enum rl_release_method native_in(const struct rl_reply *reply)
{
	if (reply->type != RL_REPLY_ARRAY || reply->length != 2)
		return RL_RELEASE_EVALSHA;
	if (reply->elements[0].type == RL_REPLY_ARRAY)
		return RL_RELEASE_DELEX;
	if (reply->elements[1].type == RL_REPLY_ARRAY)
		return RL_RELEASE_DELIFEQ;
	return RL_RELEASE_EVALSHA;
}

void rl_ladder_hear(struct rl_link *link, int64_t deadline_ns)
{
	const char *script = link->asked_script;
	struct rl_reply reply = { .type = RL_REPLY_NIL };

	if (link->asked_native &&
	    rl_receive_until(link, &reply, deadline_ns) != RL_UNKNOWN)
		link->native = native_in(&reply);
	link->asked_native = false;
	link->asked_script = NULL;
	if (script && rl_receive_until(link, &reply, deadline_ns) != RL_UNKNOWN)
		link->scripted = rl_script_note(link, script, &reply) ?
					 RL_RELEASE_EVALSHA :
					 RL_RELEASE_EVAL;
}
