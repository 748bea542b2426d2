/* SPDX-License-Identifier: MIT */
#include "keys.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

bool rr_keys_fresh_prefix(char prefix[32])
{
	unsigned long long number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return false;
	snprintf(prefix, 32, "redrace:%016llx:", number);
	return true;
}

void rr_keys_tag_prefix(char prefix[32])
{
	char name[30];

	if (prefix[0] == '{')
		return;
	snprintf(name, sizeof(name), "%.*s", (int)strlen(prefix) - 1, prefix);
	snprintf(prefix, 32, "{%.28s}:", name);
}

void rr_keys_counter(char name[RR_KEY_SIZE], const char *prefix, int i)
{
	snprintf(name, RR_KEY_SIZE, "%scounter:%d", prefix, i);
}

void rr_keys_lock(char name[RR_KEY_SIZE], const char *prefix, int i)
{
	snprintf(name, RR_KEY_SIZE, "%slock:%d", prefix, i);
}

void rr_keys_queue(char name[RR_KEY_SIZE], const char *prefix)
{
	snprintf(name, RR_KEY_SIZE, "%squeue", prefix);
}

enum rdl_outcome rr_keys_delete(struct rdl_link *link, const char *prefix, int n_keys)
{
	/* The keys that rdl_delay_queue_new() makes of a name. */
	static const char *const suffixes[] = { "due", "processing", "takes", "attempts", "dead" };
	enum rdl_outcome outcome = RDL_OK;
	char queue[RR_KEY_SIZE];
	struct rdl_reply reply;

	rr_keys_queue(queue, prefix);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]) && outcome == RDL_OK; i++) {
		char key[RR_KEY_SIZE + 16];

		snprintf(key, sizeof(key), "%s:%s", queue, suffixes[i]);
		outcome = rdl_run(link, &reply, "DEL %s", key);
	}
	for (int i = 0; i < n_keys && outcome == RDL_OK; i++) {
		/*
		 * With them goes what a lock, or a strategy, keeps beside its own key: fencing
		 * numbers, and the line of those who wait.
		 */
		static const char *const companions[] = { ":fence", ":line" };
		char counter[RR_KEY_SIZE], lock[RR_KEY_SIZE];
		char beside[2][2][RR_KEY_SIZE + 8];

		rr_keys_counter(counter, prefix, i);
		rr_keys_lock(lock, prefix, i);
		for (size_t j = 0; j < 2; j++) {
			snprintf(beside[j][0], sizeof(beside[j][0]), "%s%s", counter,
				 companions[j]);
			snprintf(beside[j][1], sizeof(beside[j][1]), "%s%s", lock, companions[j]);
		}
		outcome = rdl_queue(link, "DEL %s %s %s %s %s %s", counter, lock, beside[0][0],
				    beside[0][1], beside[1][0], beside[1][1]);
		if (outcome == RDL_OK)
			outcome = rdl_flush(link);
		if (outcome == RDL_OK)
			outcome = rdl_receive(link, &reply);
	}
	return outcome;
}
