/* SPDX-License-Identifier: MIT */
#include "keys.h"

#include <stdio.h>
#include <sys/random.h>

bool rr_keys_fresh_prefix(char prefix[32])
{
	unsigned long long number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return false;
	snprintf(prefix, 32, "redrace:%016llx:", number);
	return true;
}

void rr_keys_counter(char name[RR_KEY_SIZE], const char *prefix, int i)
{
	snprintf(name, RR_KEY_SIZE, "%scounter:%d", prefix, i);
}

void rr_keys_lock(char name[RR_KEY_SIZE], const char *prefix, int i)
{
	snprintf(name, RR_KEY_SIZE, "%slock:%d", prefix, i);
}

/* Keys that a lock, or a strategy, keeps beside its own: fencing numbers, and
 * the line of those who wait. */
static const char *const companions[] = { ":fence", ":line" };
enum { N_COMPANIONS = sizeof(companions) / sizeof(companions[0]) };

static enum rl_outcome delete_companions(struct rl_link *link,
					 const char *counter, const char *lock,
					 const char *suffix)
{
	char of_counter[RR_KEY_SIZE + 8], of_lock[RR_KEY_SIZE + 8];
	struct rl_reply reply;

	snprintf(of_counter, sizeof(of_counter), "%s%s", counter, suffix);
	snprintf(of_lock, sizeof(of_lock), "%s%s", lock, suffix);
	return rl_run(link, &reply, "DEL %s %s", of_counter, of_lock);
}

enum rl_outcome rr_keys_delete(struct rl_link *link, const char *prefix,
			       int n_keys)
{
	enum rl_outcome outcome = RL_OK;

	for (int i = 0; i < n_keys && outcome == RL_OK; i++) {
		char counter[RR_KEY_SIZE], lock[RR_KEY_SIZE];
		struct rl_reply reply;

		rr_keys_counter(counter, prefix, i);
		rr_keys_lock(lock, prefix, i);
		outcome = rl_run(link, &reply, "DEL %s %s", counter, lock);
		for (size_t j = 0; j < N_COMPANIONS && outcome == RL_OK; j++)
			outcome = delete_companions(link, counter, lock,
						    companions[j]);
	}
	return outcome;
}
