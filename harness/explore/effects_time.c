/* SPDX-License-Identifier: MIT */
/* What commands have to do with time: they set leases, or read clocks. */
#include <string.h>
#include <strings.h>

#include "access.h"
#include "effects.h"
#include "shapes.h"

static bool is_one_of(const struct rr_op *op, const char *const names[])
{
	for (size_t i = 0; names[i]; i++) {
		if (rr_op_is(op, names[i]))
			return true;
	}
	return false;
}

/* ---- Leases --------------------------------------------------------------- */

static bool begins_with(const char *text, const char *const beginnings[])
{
	for (size_t i = 0; beginnings[i]; i++) {
		if (strncasecmp(text, beginnings[i], strlen(beginnings[i])) ==
		    0)
			return true;
	}
	return false;
}

/* All that it calls are these, by name. */
static bool only_sets_leases(const char *script)
{
	static const char call[] = "redis.call(";
	static const char *const setters[] = { "'EXPIRE'", "'PEXPIRE'", NULL };
	static const char *const readers[] = { "'GET'", "'EXISTS'", "'TTL'",
					       "'PTTL'", NULL };
	bool sets = false;

	if (!script || strstr(script, "pcall"))
		return false;
	for (const char *at = strstr(script, call); at;
	     at = strstr(at, call)) {
		at += strlen(call);
		sets = sets || begins_with(at, setters);
		if (!begins_with(at, setters) && !begins_with(at, readers))
			return false;
	}
	return sets;
}

/* A lease that is over at once takes the key with it. */
static bool is_positive(const struct rl_word *word)
{
	return word->length > 0 && word->text[0] >= '1' && word->text[0] <= '9';
}

bool rr_op_sets_lease(const struct rr_op *op, const char *script)
{
	static const char *const names[] = { "EXPIRE", "PEXPIRE", NULL };

	if (rr_access_is_script(op))
		return only_sets_leases(script) &&
		       is_positive(&op->words[op->n_words - 1]);
	return is_one_of(op, names) && op->n_words > 2 &&
	       is_positive(&op->words[2]);
}

bool rr_op_knows_lease(const struct rr_op *op)
{
	static const char *const values[] = { "GET",	"SET",	  "SETNX",
					      "DEL",	"UNLINK", "EXISTS",
					      "GETDEL", "GETSET", "STRLEN",
					      "LLEN",	"LPOP",	  "RPOP",
					      "HGET",	"HEXISTS", "HSETNX",
					      "HDEL",	NULL };

	return !is_one_of(op, values);
}

/* ---- Clocks --------------------------------------------------------------- */

static bool holds_any(const char *script, const char *const words[])
{
	for (size_t i = 0; words[i]; i++) {
		if (strcasestr(script, words[i]))
			return true;
	}
	return false;
}

static bool script_is_timed(const char *script, bool has_written)
{
	static const char *const readers[] = { "ttl", "'time'", "\"time\"",
					       NULL };
	static const char *const setters[] = { "'ex'",   "\"ex\"",  "'px'",
					       "\"px\"", "expire", "setex",
					       NULL };

	return !script || holds_any(script, readers) ||
	       (has_written && holds_any(script, setters));
}

bool rr_op_is_timed(const struct rr_op *op, const char *script,
		    bool has_written)
{
	static const char *const readers[] = { "TTL", "PTTL", "TIME", "OBJECT",
					       "EXPIRETIME", "PEXPIRETIME" };
	static const char *const setters[] = { "SETEX", "PSETEX", "EXPIRE",
					       "PEXPIRE", "EXPIREAT",
					       "PEXPIREAT", "GETEX",
					       "RESTORE", "PERSIST" };
	static const char *const words[] = { "EX", "PX", "EXAT", "PXAT" };

	if (op->n_sources > 0)
		return op->until_ns < INT64_MAX;
	if (rr_access_is_script(op))
		return script_is_timed(script, has_written);
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		if (rr_op_is(op, readers[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof(setters) / sizeof(setters[0]); i++) {
		if (rr_op_is(op, setters[i]))
			return has_written;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (rr_op_is(op, "SET") && rr_shapes_has_word(op, words[i]))
			return has_written;
	}
	return false;
}
