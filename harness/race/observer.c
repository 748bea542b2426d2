/* SPDX-License-Identifier: MIT */
/* What happens in a race, and which of it is a finding. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "race.h"

static const char nothing[] = "(nil)";

/* ---- Findings ----------------------------------------------------------- */

static void note_finding(struct rr_observer *observer, enum rr_finding finding,
			 char remark[RR_REMARK_SIZE], const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The first of its kind is kept as the conclusion. */
static void note_finding(struct rr_observer *observer, enum rr_finding finding,
			 char remark[RR_REMARK_SIZE], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(remark, RR_REMARK_SIZE, format, arguments);
	va_end(arguments);
	if (!(observer->findings & 1U << finding))
		snprintf(observer->conclusion[finding], RR_REMARK_SIZE, "%s", remark);
	observer->findings |= 1U << finding;
}

static const char *client_name(const struct rr_observer *observer, int client)
{
	return client < 0 ? "nobody" : observer->race->clients[client].name;
}

void rr_observer_begin(struct rr_observer *observer, const struct rr_race *race)
{
	*observer = (struct rr_observer){ .race = race, .owner = -1 };
	snprintf(observer->lock.value, sizeof(observer->lock.value), "%s", nothing);
	observer->lock.expires_ns = -1;
}

/* ---- Marks -------------------------------------------------------------- */

static void note_entering(struct rr_observer *observer, int client, char remark[RR_REMARK_SIZE])
{
	const int64_t limit = observer->race->limit;
	char names[RR_REMARK_SIZE - 64] = "";
	int64_t n = 0;

	observer->inside[client] = true;
	if (client == observer->owner)
		observer->owner_entered = true;
	for (size_t i = 0; i < observer->race->n_clients; i++) {
		if (!observer->inside[i])
			continue;
		rr_add_text(names, sizeof(names), " %s", client_name(observer, (int)i));
		n++;
	}
	if (limit > 1 && n > limit)
		note_finding(observer, RR_EXCLUSION_BROKEN, remark,
			     "%" PRId64 " in the critical section, the limit is %" PRId64 ":%s", n,
			     limit, names);
	else if (limit <= 1 && n > 1)
		note_finding(observer, RR_EXCLUSION_BROKEN, remark,
			     "%" PRId64 " in the critical section:%s", n, names);
}

void rr_observer_mark(struct rr_observer *observer, const struct rr_step *step,
		      char remark[RR_REMARK_SIZE])
{
	const int client = step->client;

	switch (step->kind) {
	case RR_STEP_ENTER:
		note_entering(observer, client, remark);
		break;
	case RR_STEP_LEAVE:
		observer->inside[client] = false;
		break;
	case RR_STEP_COUNT:
		observer->counted++;
		break;
	case RR_STEP_CRASH:
		observer->inside[client] = false;
		observer->crashed[client] = true;
		break;
	case RR_STEP_CONNECT:
		observer->crashed[client] = false;
		break;
	default:
		break;
	}
}

void rr_observer_crossed(struct rr_observer *observer, int reader, int sender,
			 char remark[RR_REMARK_SIZE])
{
	note_finding(observer, RR_REPLIES_CROSSED, remark, "%s reads the reply to %s%s",
		     client_name(observer, reader),
		     reader == sender ? "an earlier" : client_name(observer, sender),
		     reader == sender ? " command" : "'s command");
}

void rr_observer_survived(struct rr_observer *observer, const char *key, const char *before,
			  const char *after, char remark[RR_REMARK_SIZE])
{
	if (strcmp(before, nothing) != 0 && strcmp(before, after) != 0)
		note_finding(observer, RR_WRITE_LOST, remark, "%s was %.40s, is %.40s", key, before,
			     after);
}

/* ---- The lock ----------------------------------------------------------- */

static bool lock_exists(const struct rr_lock_state *lock)
{
	return strcmp(lock->value, nothing) != 0;
}

/* The second that a timestamp lock holds. */
static long long lock_end_s(const struct rr_lock_state *lock)
{
	return atoll(lock->value + (lock->value[0] == '"'));
}

/* By what its holder stored, its lease runs. */
static bool lease_runs(const struct rr_observer *observer, long long now_s)
{
	return !observer->race->lock_is_timestamp || lock_end_s(&observer->lock) >= now_s;
}

/* Its holder is alive, and its lease runs. */
static bool lock_is_held(const struct rr_observer *observer, long long now_s)
{
	return observer->owner >= 0 && !observer->crashed[observer->owner] &&
	       lease_runs(observer, now_s);
}

/* Does it last longer than before? */
static bool lease_is_longer(const struct rr_observer *observer, const struct rr_lock_state *lock)
{
	const struct rr_lock_state *before = &observer->lock;

	if (observer->race->lock_is_timestamp)
		return lock_end_s(lock) > lock_end_s(before);
	return before->expires_ns >= 0 &&
	       (lock->expires_ns < 0 || lock->expires_ns > before->expires_ns);
}

static void note_lock_made(struct rr_observer *observer, int client)
{
	observer->owner = client;
	observer->owner_entered = client >= 0 && observer->inside[client];
}

/* Does the value say of another holder? A count only says who else asked. */
static bool value_differs(const struct rr_observer *observer, const struct rr_lock_state *lock)
{
	return !observer->race->lock_is_count && strcmp(lock->value, observer->lock.value) != 0;
}

void rr_observer_lock(struct rr_observer *observer, int client, const struct rr_lock_state *lock,
		      long long now_s, char remark[RR_REMARK_SIZE])
{
	const struct rr_lock_state *before = &observer->lock;

	if (!lock_exists(before) && lock_exists(lock))
		note_lock_made(observer, client);
	else if (lock_exists(before) && !lock_exists(lock)) {
		if (client >= 0 && client != observer->owner && lock_is_held(observer, now_s))
			note_finding(observer, RR_FOREIGN_RELEASE, remark, "%s removes %s's lock",
				     client_name(observer, client),
				     client_name(observer, observer->owner));
		observer->owner = -1;
	} else if (lock_exists(lock) && client >= 0 && client != observer->owner &&
		   (value_differs(observer, lock) || before->expires_ns != lock->expires_ns)) {
		/* Another value, or another lease, by somebody who does not hold it. */
		if (lock_is_held(observer, now_s))
			note_finding(observer, RR_FOREIGN_CHANGE, remark, "%s changes %s's lock",
				     client_name(observer, client),
				     client_name(observer, observer->owner));
		else if (observer->owner >= 0 && lease_runs(observer, now_s) &&
			 lease_is_longer(observer, lock))
			note_finding(observer, RR_KEPT_ALIVE, remark,
				     "%s renews the lock of %s, who is dead",
				     client_name(observer, client),
				     client_name(observer, observer->owner));
		else if (value_differs(observer, lock))
			note_lock_made(observer, client);
	}
	observer->lock = *lock;
}

/* ---- The end ------------------------------------------------------------ */

void rr_observer_end(struct rr_observer *observer, const char *counter,
		     char *together[RR_KEYS_SHOWN_MAX])
{
	const struct rr_race *race = observer->race;
	const int owner = observer->owner;
	const char *name = client_name(observer, owner);
	char remark[RR_REMARK_SIZE];
	size_t changed = 0;

	if (race->counter) {
		const long long wanted = race->counter_from + observer->counted;
		const long long final = strcmp(counter, nothing) == 0 ?
						0 :
						atoll(counter + (counter[0] == '"'));

		if (final < wanted)
			note_finding(observer, RR_UPDATE_LOST, remark,
				     "expected %lld, actual %lld, lost %lld", wanted, final,
				     wanted - final);
		else if (final > wanted)
			note_finding(observer, RR_COUNTED_TWICE, remark,
				     "expected %lld, actual %lld, too much %lld", wanted, final,
				     final - wanted);
	}
	if (race->lock && lock_exists(&observer->lock) && owner >= 0) {
		if (observer->crashed[owner]) {
			if (observer->lock.expires_ns < 0 && !race->lock_is_timestamp)
				note_finding(observer, RR_DEADLOCK, remark,
					     "%s is %s's, who is dead, and never expires",
					     race->lock, name);
		} else if (!observer->owner_entered) {
			note_finding(observer, RR_GHOST_LOCK, remark,
				     "%s was made by %s, who does not hold it", race->lock, name);
		} else if (!observer->inside[owner]) {
			note_finding(observer, RR_LEFT_BEHIND, remark,
				     "%s is still there, %s has left", race->lock, name);
		}
	}
	for (size_t i = 0; i < race->n_together; i++)
		changed += strcmp(observer->together[i], together[i]) != 0;
	if (changed > 0 && changed < race->n_together)
		note_finding(observer, RR_HALF_DONE, remark, "%zu of %zu keys have changed",
			     changed, race->n_together);
}
