/* SPDX-License-Identifier: MIT */
#include "meeting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	LINK_MS = 2000,
	POLL_MS = 2,
	ROUND_TRIPS = 16,  /* of which the shortest tells the clocks' distance */
	AHEAD_MS = 100,    /* that a start is agreed upon before it comes */
	KEYS_END_S = 3600, /* what shards leave that were killed goes by itself */
	KEY = 96,
};

void rr_meeting_prefix(char prefix[32], const char *run)
{
	snprintf(prefix, 32, "redrace:%.18s:", run);
}

/* "redrace:RUN:shards:NAME". */
static void name_key(const struct rr_meeting *meeting, const char *name, char key[KEY])
{
	snprintf(key, KEY, "%sshards:%s", meeting->prefix, name);
}

static void name_point(const struct rr_meeting *meeting, const char *what, long number,
		       char key[KEY])
{
	char name[32];

	snprintf(name, sizeof(name), "%s:%ld", what, number);
	name_key(meeting, name, key);
}

static bool fail_meeting(const struct rr_meeting *meeting, struct rr_error *error)
{
	return rr_error_set(error, RR_ERROR_REDIS, "shard %d/%d of run '%s': %s",
			    meeting->shard.index, meeting->shard.of, meeting->run,
			    rl_link_error(meeting->link));
}

/* ---- Meeting ----------------------------------------------------------------- */

/* Has one of them given up? */
static bool look_for_failure(struct rr_meeting *meeting, struct rr_error *error)
{
	struct rl_reply reply;
	char key[KEY];

	name_key(meeting, "failed", key);
	if (rl_run(meeting->link, &reply, "GET %s", key) != RL_OK)
		return fail_meeting(meeting, error);
	return rl_reply_is_nil(&reply) ||
	       rr_error_set(error, RR_ERROR_REDIS, "shard %s/%d of run '%s' has given up",
			    reply.text, meeting->shard.of, meeting->run);
}

static bool is_meeting_over(struct rr_meeting *meeting, int64_t begun_ns, long long n,
			    struct rr_error *error)
{
	if (meeting->signals->interrupted)
		return !rr_error_interrupted(error);
	if (!look_for_failure(meeting, error))
		return true;
	if (rr_clock_ns() - begun_ns < meeting->limit_s * INT64_C(1000000000))
		return false;
	rr_error_set(
		error, RR_ERROR_REDIS,
		"run '%s': %lld of %d shards have come within %ld s (--wait-shards); start all of them",
		meeting->run, n, meeting->shard.of, meeting->limit_s);
	return true;
}

bool rr_meeting_point(struct rr_meeting *meeting, struct rr_error *error)
{
	const int64_t begun_ns = rr_clock_ns();
	struct rl_reply reply;
	long long n = 0;
	char key[KEY];

	name_point(meeting, "point", meeting->n_points++, key);
	if (rl_run(meeting->link, &reply, "SADD %s %d", key, meeting->shard.index) != RL_OK ||
	    rl_run(meeting->link, &reply, "EXPIRE %s %d", key, KEYS_END_S) != RL_OK)
		return fail_meeting(meeting, error);
	for (;;) {
		if (rl_run(meeting->link, &reply, "SCARD %s", key) != RL_OK)
			return fail_meeting(meeting, error);
		rl_reply_number(&reply, &n);
		if (n >= meeting->shard.of)
			return true;
		if (is_meeting_over(meeting, begun_ns, n, error))
			return false;
		rr_signals_wait(meeting->signals, POLL_MS);
	}
}

/* ---- Clocks ------------------------------------------------------------------- */

static int64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The server has read its clock between two readings of ours. */
static bool measure_once(struct rr_meeting *meeting, struct rr_error *error)
{
	const int64_t before_ns = realtime_ns();
	long long seconds = 0, micros = 0;
	struct rl_reply reply;
	int64_t half_ns, offset_ns;

	if (rl_run(meeting->link, &reply, "TIME") != RL_OK || reply.type != RL_REPLY_ARRAY ||
	    reply.length != 2 || !rl_reply_number(&reply.elements[0], &seconds) ||
	    !rl_reply_number(&reply.elements[1], &micros))
		return fail_meeting(meeting, error);
	half_ns = (realtime_ns() - before_ns) / 2;
	offset_ns = seconds * INT64_C(1000000000) + micros * 1000 - (before_ns + half_ns);
	if (half_ns < meeting->half_width_ns) {
		meeting->half_width_ns = half_ns;
		meeting->offset_ns = offset_ns;
	}
	return true;
}

static bool measure_clock(struct rr_meeting *meeting, struct rr_error *error)
{
	meeting->half_width_ns = INT64_MAX;
	for (int i = 0; i < ROUND_TRIPS; i++) {
		if (!measure_once(meeting, error))
			return false;
	}
	return true;
}

/* The first one says when, on the server's clock, in microseconds. */
static bool agree_on_start(struct rr_meeting *meeting, long long *start_us, struct rr_error *error)
{
	const long long wish = (realtime_ns() + meeting->offset_ns) / 1000 + AHEAD_MS * 1000;
	struct rl_reply reply;
	char key[KEY];

	name_point(meeting, "start", meeting->n_points, key);
	if (rl_run(meeting->link, &reply, "SET %s %lld NX EX %d", key, wish, KEYS_END_S) != RL_OK ||
	    rl_run(meeting->link, &reply, "GET %s", key) != RL_OK ||
	    !rl_reply_number(&reply, start_us))
		return fail_meeting(meeting, error);
	return true;
}

bool rr_meeting_start(struct rr_meeting *meeting, struct rr_error *error)
{
	struct timespec at;
	long long start_us;
	int64_t start_ns;

	if (!measure_clock(meeting, error) || !rr_meeting_point(meeting, error) ||
	    !agree_on_start(meeting, &start_us, error))
		return false;
	start_ns = start_us * 1000 - meeting->offset_ns;
	at = (struct timespec){ .tv_sec = start_ns / 1000000000, .tv_nsec = start_ns % 1000000000 };
	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL) == EINTR &&
	       !meeting->signals->interrupted)
		continue;
	meeting->late_ns = realtime_ns() - start_ns;
	return true;
}

/* ---- Coming and going ----------------------------------------------------------- */

static bool compare_meeting_options(struct rr_meeting *meeting, const char *options,
				    struct rr_error *error)
{
	struct rl_reply reply;
	char key[KEY];

	name_key(meeting, "options", key);
	if (rl_run(meeting->link, &reply, "SET %s %s NX EX %d", key, options, KEYS_END_S) !=
		    RL_OK ||
	    rl_run(meeting->link, &reply, "GET %s", key) != RL_OK)
		return fail_meeting(meeting, error);
	if (reply.text && strcmp(reply.text, options) == 0)
		return true;
	return rr_error_set(
		error, RR_ERROR_USAGE,
		"shard %d/%d has other options than those that are in run '%s' already: %.300s, not %.300s",
		meeting->shard.index, meeting->shard.of, meeting->run, options, reply.text);
}

bool rr_meeting_open(struct rr_meeting *meeting, const struct rl_address *address,
		     const char *options, struct rr_error *error)
{
	struct rl_reply reply;
	long long is_new = 0;
	char key[KEY];

	meeting->link = rl_link_new(address, LINK_MS);
	if (!meeting->link)
		return rr_error_no_memory(error);
	if (!compare_meeting_options(meeting, options, error))
		return false;
	name_key(meeting, "joined", key);
	if (rl_run(meeting->link, &reply, "SADD %s %d", key, meeting->shard.index) != RL_OK ||
	    !rl_reply_number(&reply, &is_new) ||
	    rl_run(meeting->link, &reply, "EXPIRE %s %d", key, KEYS_END_S) != RL_OK)
		return fail_meeting(meeting, error);
	meeting->has_joined = is_new == 1;
	return meeting->has_joined ||
	       rr_error_set(
		       error, RR_ERROR_USAGE,
		       "shard %d/%d is in run '%s' already; after a run that was broken off take another --run",
		       meeting->shard.index, meeting->shard.of, meeting->run);
}

static void delete_key(struct rr_meeting *meeting, const char *key)
{
	struct rl_reply reply;

	rl_run(meeting->link, &reply, "DEL %s", key);
}

static void delete_all_keys(struct rr_meeting *meeting)
{
	static const char *const names[] = { "options", "joined", "failed", "left" };
	char key[KEY];

	for (long i = 0; i <= meeting->n_points; i++) {
		name_point(meeting, "point", i, key);
		delete_key(meeting, key);
		name_point(meeting, "start", i, key);
		delete_key(meeting, key);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		name_key(meeting, names[i], key);
		delete_key(meeting, key);
	}
}

void rr_meeting_close(struct rr_meeting *meeting, bool has_failed)
{
	struct rl_reply reply;
	long long n = 0;
	char key[KEY];

	if (meeting->has_joined && has_failed) {
		name_key(meeting, "failed", key);
		rl_run(meeting->link, &reply, "SET %s %d EX %d", key, meeting->shard.index,
		       KEYS_END_S);
	}
	if (meeting->has_joined) {
		name_key(meeting, "left", key);
		if (rl_run(meeting->link, &reply, "INCR %s", key) == RL_OK)
			rl_reply_number(&reply, &n);
		rl_run(meeting->link, &reply, "EXPIRE %s %d", key, KEYS_END_S);
		if (n >= meeting->shard.of)
			delete_all_keys(meeting);
	}
	rl_link_free(meeting->link);
	meeting->link = NULL;
	meeting->has_joined = false;
}
