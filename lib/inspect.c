/* SPDX-License-Identifier: MIT */
/*
 * Who holds a lock, for how long still, and how many wait, without taking part:
 *
 *	MULTI, GET key, PTTL key, LLEN key:line, EXEC
 *
 * One transaction: between a GET and a PTTL the key may change hands. Of a lock that several
 * clients may hold:
 *
 *	MULTI, GET key, PTTL key, ZRANGE key, ZRANGE key:readers, TIME, EXEC
 *
 * And the labels, which tell one holder from another.
 */
#include "inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hold.h"
#include "link.h"

/* Commands before EXEC: MULTI and the others. */
enum { QUEUED = 4, QUEUED_OF_ALL = 6 };

bool rdl_label_take(char label[RDL_LABEL_SIZE], const char *given)
{
	const size_t length = given ? strlen(given) : 0;

	if (length >= RDL_LABEL_SIZE)
		return false;
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)given[i] <= ' ' || given[i] == 0x7f)
			return false;
	}
	memcpy(label, given ? given : "", length + 1);
	return true;
}

void rdl_label_append(char *token, const char *label)
{
	if (label[0])
		sprintf(token + strlen(token), "@%s", label);
}

enum rdl_outcome rdl_inspect_queue(struct rdl_link *link, const char *key)
{
	const size_t size = rdl_name_size(key, ":line");
	char *line = malloc(size);
	enum rdl_outcome outcome;

	if (!line)
		return rdl_link_fail(link, RDL_ERROR, "out of memory");
	rdl_name_beside(link, key, ":line", line, size);
	outcome = rdl_queue(link, "MULTI");
	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "GET %s", key);
	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "PTTL %s", key);
	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "LLEN %s", line);
	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "EXEC");
	free(line);
	return outcome;
}

/* A token as a key or a sorted set has it. False: no lock's. */
static bool take_token(const struct rdl_reply *token, struct rdl_holder *holder)
{
	const char *label;

	if (token->length >= sizeof(holder->token) || strlen(token->text) != token->length)
		return false;
	holder->is_held = true;
	memcpy(holder->token, token->text, token->length + 1);
	label = strchr(holder->token, '@');
	if (label)
		rdl_label_take(holder->label, label + 1);
	return true;
}

static enum rdl_outcome refuse_value(struct rdl_link *link)
{
	rdl_link_fail(link, RDL_ERROR, "the key's value is not a lock's");
	link->reason = RDL_REASON_TYPE;
	return RDL_ERROR;
}

/* GET, PTTL, LLEN. A line of another type is not this lock's: no client waits. */
static enum rdl_outcome take_view(struct rdl_link *link, const struct rdl_reply *executed,
				  struct rdl_holder *holder)
{
	const struct rdl_reply *value = executed->elements;

	if (executed->type != RDL_REPLY_ARRAY || executed->length != 3)
		return rdl_link_fail(link, RDL_ERROR, "not the reply that was expected");
	if (value->type == RDL_REPLY_FAILED)
		return rdl_link_refuse(link, value->text);
	if (value[2].type == RDL_REPLY_INTEGER)
		holder->n_waiting = (long)value[2].integer;
	if (rdl_reply_is_nil(value))
		return RDL_OK;
	if (!take_token(value, holder))
		return refuse_value(link);
	holder->remaining_ms = (long)value[1].integer;
	return RDL_OK;
}

/* The replies to what was queued, and the one to EXEC. */
static enum rdl_outcome receive_executed(struct rdl_link *link, int queued,
					 struct rdl_reply *executed, int64_t deadline_ns)
{
	char why[256] = ""; /* EXEC only says that something was refused */
	enum rdl_outcome outcome;

	for (int i = 0; i < queued; i++) {
		if (rdl_receive_until(link, executed, deadline_ns) == RDL_ERROR && !why[0])
			snprintf(why, sizeof(why), "%s", rdl_link_error(link));
	}
	outcome = rdl_receive_until(link, executed, deadline_ns);
	return outcome == RDL_ERROR && why[0] ? rdl_link_refuse(link, why) : outcome;
}

enum rdl_outcome rdl_inspect_receive(struct rdl_link *link, struct rdl_holder *holder,
				     int64_t deadline_ns)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = receive_executed(link, QUEUED, &reply, deadline_ns);

	*holder = (struct rdl_holder){ 0 };
	return outcome == RDL_OK ? take_view(link, &reply, holder) : outcome;
}

enum rdl_outcome rdl_inspect(struct rdl_link *link, const char *key, struct rdl_holder *holder)
{
	enum rdl_outcome outcome = rdl_inspect_queue(link, key);

	*holder = (struct rdl_holder){ 0 };
	if (outcome == RDL_OK)
		outcome = rdl_flush(link);
	return outcome == RDL_OK ? rdl_inspect_receive(link, holder, 0) : outcome;
}

/* ---- Several holders --------------------------------------------------- */

static enum rdl_outcome queue_look_at_all(struct rdl_link *link, const char *key,
					  const char *readers)
{
	enum rdl_outcome outcome = rdl_queue(link, "MULTI");

	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "GET %s", key);
	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "PTTL %s", key);
	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "ZRANGE %s 0 -1 WITHSCORES", key);
	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "ZRANGE %s 0 -1 WITHSCORES", readers);
	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "TIME");
	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "EXEC");
	return outcome == RDL_OK ? rdl_flush(link) : outcome;
}

/* Those of a sorted set, token -> end in microseconds, whose lease lasts. */
static void take_set(const struct rdl_reply *set, long long now_us, struct rdl_holder *holders,
		     size_t size, size_t *n_holders)
{
	for (size_t i = 0; set->type == RDL_REPLY_ARRAY && i + 1 < set->length; i += 2) {
		const double left_us = atof(set->elements[i + 1].text) - (double)now_us;
		struct rdl_holder holder = { .remaining_ms = (long)(left_us / RDL_US_PER_MS) };

		if (left_us <= 0 || !take_token(&set->elements[i], &holder))
			continue;
		if (*n_holders < size)
			holders[*n_holders] = holder;
		(*n_holders)++;
	}
}

/* GET, PTTL, the semaphore's or the readers' set, TIME. */
static enum rdl_outcome take_all(struct rdl_link *link, const struct rdl_reply *executed,
				 struct rdl_holder *holders, size_t size, size_t *n_holders)
{
	const struct rdl_reply *value = executed->elements;
	struct rdl_holder one = { 0 };
	long long seconds, us;

	if (executed->type != RDL_REPLY_ARRAY || executed->length != 5 ||
	    value[4].type != RDL_REPLY_ARRAY || value[4].length != 2 ||
	    !rdl_reply_number(&value[4].elements[0], &seconds) ||
	    !rdl_reply_number(&value[4].elements[1], &us))
		return rdl_link_fail(link, RDL_ERROR, "not the reply that was expected");
	if (value[0].type == RDL_REPLY_FAILED && value[2].type == RDL_REPLY_FAILED)
		return rdl_link_refuse(link, value[0].text);
	if (value[0].type == RDL_REPLY_STRING) {
		if (!take_token(&value[0], &one))
			return refuse_value(link);
		one.remaining_ms = (long)value[1].integer;
		if (size > 0)
			holders[0] = one;
		*n_holders = 1;
	}
	take_set(&value[2], seconds * 1000000 + us, holders, size, n_holders);
	take_set(&value[3], seconds * 1000000 + us, holders, size, n_holders);
	return RDL_OK;
}

enum rdl_outcome rdl_inspect_all(struct rdl_link *link, const char *key, struct rdl_holder *holders,
				 size_t size, size_t *n_holders)
{
	const size_t name_size = rdl_name_size(key, ":readers");
	char *readers = malloc(name_size);
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	*n_holders = 0;
	if (!readers)
		return rdl_link_fail(link, RDL_ERROR, "out of memory");
	rdl_name_beside(link, key, ":readers", readers, name_size);
	outcome = queue_look_at_all(link, key, readers);
	free(readers);
	if (outcome == RDL_OK)
		outcome = receive_executed(link, QUEUED_OF_ALL, &reply, 0);
	return outcome == RDL_OK ? take_all(link, &reply, holders, size, n_holders) : outcome;
}

enum rdl_outcome rdl_force_release(struct rdl_link *link, const char *key,
				   const struct rdl_holder *holder)
{
	return holder->is_held ? rdl_delete_if_equal(link, key, holder->token) : RDL_LOST;
}
