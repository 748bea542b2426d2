/* SPDX-License-Identifier: MIT */
#include "wrong_rules.h"

#include <string.h>

/* ---- Changing paths --------------------------------------------------------------- */

static bool is_request(const struct rr_action *action)
{
	return action->kind == RR_ACTION_ASK && action->question.kind == RR_ASK_COMMAND &&
	       !action->is_late;
}

static bool is_named(const struct rr_terms *terms, const struct rr_action *action, const char *name)
{
	return is_request(action) &&
	       strcmp(terms->command[action->command].words.words[0].text, name) == 0;
}

static void move_action(struct rr_actions *path, size_t from, size_t to)
{
	const struct rr_action moved = path->all[from];

	for (; from < to; from++)
		path->all[from] = path->all[from + 1];
	for (; from > to; from--)
		path->all[from] = path->all[from - 1];
	path->all[to] = moved;
}

static void insert_action(struct rr_actions *path, size_t at, struct rr_action action)
{
	rr_actions_add(path, &action);
	move_action(path, path->n - 1, at);
}

/* The first action from `at` on that feeds the client; path->n = none does. */
static size_t find_feed(const struct rr_actions *path, size_t at, uint8_t client, uint8_t stop)
{
	while (at < path->n && (path->all[at].kind != RR_ACTION_FEED ||
				path->all[at].client != client || path->all[at].stop.kind != stop))
		at++;
	return at;
}

/* With the beginning of the client's attempt, if that is right before it. */
static void move_with_begin(struct rr_actions *path, size_t from, size_t to)
{
	const struct rr_action *before = &path->all[from - 1];

	if (before->kind == RR_ACTION_FEED && before->client == path->all[from].client &&
	    before->stop.kind == RR_STOP_ATTEMPT)
		move_action(path, from - 1, to++);
	move_action(path, from, to);
}

/* ---- Wrong rules -------------------------------------------------------------------- */

/* The client has heard that its reply is lost; what it had sent is executed again. */
bool late_command_of_nobody(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		struct rr_action again = path->all[i];
		const size_t heard = find_feed(path, i, again.client, RR_STOP_RECEIVE);

		if (!is_request(&again) || again.answer != RR_ANSWER_LOST || heard == path->n)
			continue;
		again.is_late = true;
		insert_action(path, heard + 1, again);
		return true;
	}
	return false;
}

bool lost_reply_too_early(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 1; i < path->n; i++) {
		if (path->all[i].kind != RR_ACTION_FEED ||
		    path->all[i].input.kind != RR_INPUT_LOST || !is_request(&path->all[i - 1]))
			continue;
		move_action(path, i, i - 1);
		return true;
	}
	return false;
}

/* The client hears of it before it hears the reply that came first. */
bool lost_reply_overtakes(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 1; i + 1 < path->n; i++) {
		struct rr_action *feed = &path->all[i];
		const struct rr_action *lost = &path->all[i + 1];

		if (feed->kind != RR_ACTION_FEED || feed->input.kind != RR_INPUT_REPLY ||
		    !is_request(lost) || lost->answer != RR_ANSWER_LOST ||
		    lost->client != feed->client || lost->lane != feed->stop.lane)
			continue;
		feed->input.kind = RR_INPUT_LOST;
		move_action(path, i, i + 1);
		return true;
	}
	return false;
}

/* Both were sent at once. */
bool swapped_commands(const struct rr_terms *terms, struct rr_actions *path)
{
	for (size_t i = 0; i < path->n; i++) {
		struct rr_action *set = &path->all[i];
		size_t get = i + 1;

		while (get < path->n && !(is_named(terms, &path->all[get], "GET") &&
					  path->all[get].client == set->client))
			get++;
		if (!is_named(terms, set, "SET") || set->is_inside || get == path->n)
			continue;
		move_action(path, get, i);
		return true;
	}
	return false;
}

/* Another client has the mutex before it was given back. */
bool mutex_too_early(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *unlock = &path->all[i];
		const size_t lock = find_feed(path, i, !unlock->client, RR_STOP_LOCK);

		if (unlock->kind != RR_ACTION_FEED || unlock->stop.kind != RR_STOP_UNLOCK ||
		    lock == path->n)
			continue;
		move_with_begin(path, lock, i);
		return true;
	}
	return false;
}

/* Another client has the lock before it was given back. */
bool release_too_early(const struct rr_terms *terms, struct rr_actions *path)
{
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *release = &path->all[i];
		size_t take = i + 1;

		while (take < path->n && (!is_named(terms, &path->all[take], "SETNX") ||
					  path->all[take].client == release->client))
			take++;
		if (!is_named(terms, release, "DEL") || take == path->n)
			continue;
		move_with_begin(path, take, i);
		return true;
	}
	return false;
}

/* The server never notices that a client which listened is dead. */
bool crash_leaves_a_listener(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *close = &path->all[i];
		size_t later = i + 1;

		while (later < path->n && !is_request(&path->all[later]))
			later++;
		if (close->kind != RR_ACTION_ASK || close->question.kind != RR_ASK_CLOSE ||
		    later == path->n)
			continue;
		move_action(path, i, path->n - 1);
		path->n--;
		return true;
	}
	return false;
}

/* A crash closes what a client that lives has open. */
bool crash_closes_too_much(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *read = &path->all[i];
		size_t before = i;

		if (read->kind != RR_ACTION_ASK || read->question.kind != RR_ASK_READ)
			continue;
		while (before > 0 && path->all[before].kind != RR_ACTION_CRASH &&
		       !(is_request(&path->all[before]) &&
			 path->all[before].client != read->client))
			before--;
		insert_action(path, before,
			      (struct rr_action){ .kind = RR_ACTION_ASK,
						  .client = read->client,
						  .server = read->server,
						  .question = { .kind = RR_ASK_CLOSE,
								.slot = read->question.slot } });
		return true;
	}
	return false;
}

/* When the client was told that it has ended well, not when its write was answered. */
bool counted_by_another_field(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *feed = &path->all[i];
		const size_t next = find_feed(path, i + 1, feed->client, RR_STOP_RECEIVE);

		if (feed->kind != RR_ACTION_FEED || !feed->n_counted || next == path->n)
			continue;
		path->all[next].n_counted = feed->n_counted;
		path->all[i].n_counted = 0;
		return true;
	}
	return false;
}

/* What a connection has lost does not arrive, and what is behind it does. */
bool arrives_behind_a_dropped_one(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *dropped = &path->all[i];
		struct rr_action behind = { .kind = RR_ACTION_ASK };

		if (dropped->kind != RR_ACTION_ANSWER || !dropped->is_fault)
			continue;
		behind.client = dropped->client;
		behind.server = dropped->server;
		behind.lane = dropped->lane;
		behind.command = dropped->command;
		behind.question.kind = RR_ASK_COMMAND;
		insert_action(path, i + 1, behind);
		return true;
	}
	return false;
}

bool wakes_too_early(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *next = &path->all[i + 1];

		if (path->all[i].kind != RR_ACTION_TIME || i + 1 == path->n ||
		    next->kind != RR_ACTION_FEED || next->stop.kind != RR_STOP_WAIT)
			continue;
		path->all[i].ns /= 2;
		return true;
	}
	return false;
}
