/* SPDX-License-Identifier: MIT */
#include "effects.h"

#include <string.h>
#include <strings.h>

#include "access.h"
#include "shapes.h"

bool rr_op_is(const struct rr_op *op, const char *name)
{
	return op->n_words > 0 && strcasecmp(op->words[0].text, name) == 0;
}

bool rr_access_is_script(const struct rr_op *op)
{
	return op->kind == RR_OP_SEND && (rr_op_is(op, "EVAL") || rr_op_is(op, "EVALSHA"));
}

bool rr_access_may_be_refusal(const struct rl_reply *reply)
{
	switch (reply->type) {
	case RL_REPLY_NIL:
		return true;
	case RL_REPLY_INTEGER:
		return reply->integer <= 0;
	case RL_REPLY_ARRAY:
		return reply->length > 0 &&
		       rr_access_may_be_refusal(&reply->elements[0]);
	default:
		return false;
	}
}

/* Neither keys nor anything else that others could notice. */
bool rr_op_is_local(const struct rr_op *op)
{
	static const char *const names[] = { "PING", "ECHO", "MULTI", "DISCARD",
					     "UNWATCH", "SELECT", "AUTH" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (rr_op_is(op, names[i]))
			return true;
	}
	return false;
}

/* By what they answer when they have written nothing. */
bool rr_op_has_written(const struct rr_op *op, const struct rl_reply *reply)
{
	static const char *const zero[] = { "SETNX", "DEL", "UNLINK", "EXPIRE",
					    "PEXPIRE", "PERSIST", "HSETNX",
					    "HDEL", "SREM", "ZREM", "DELIFEQ",
					    "DELEX" };
	static const char *const nil[] = { "SET", "GETDEL", "LPOP", "RPOP",
					   "LMOVE", "RPOPLPUSH", "LMPOP",
					   "ZMPOP" };

	/* the value that it has found, and left */
	if (rr_op_is(op, "SET") && rr_shapes_has_word(op, "NX") &&
	    rr_shapes_has_word(op, "GET"))
		return reply->type == RL_REPLY_NIL;
	if (reply->type == RL_REPLY_INTEGER && reply->integer == 0) {
		for (size_t i = 0; i < sizeof(zero) / sizeof(zero[0]); i++) {
			if (rr_op_is(op, zero[i]))
				return false;
		}
	}
	if (reply->type == RL_REPLY_NIL && op->n_sources > 0)
		return false;
	if (reply->type != RL_REPLY_NIL)
		return reply->type != RL_REPLY_FAILED ||
		       rr_access_is_script(op);
	for (size_t i = 0; i < sizeof(nil) / sizeof(nil[0]); i++) {
		if (rr_op_is(op, nil[i]))
			/* with GET, nil is an old value that was not there */
			return rr_op_is(op, "SET") &&
			       rr_shapes_has_word(op, "GET");
	}
	return true;
}
