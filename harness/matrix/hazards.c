/* SPDX-License-Identifier: MIT */
#include "hazards.h"

#include <stdio.h>
#include <string.h>

#include "explore/explore.h"

const struct rr_hazard_text rr_hazard_texts[RR_HAZARDS] = {
	[RR_THREADS] = {
		"threads", "threads",
		"The clients are threads of one process." },
	[RR_PROCESSES] = {
		"processes", "processes",
		"The clients are processes, so that a mutex of one means nothing to the others." },
	[RR_CRASH] = {
		"crash", "crash",
		"A process dies, at any point, and does not come back." },
	[RR_SLOW_WORK] = {
		"slow-work", "slow work",
		"The work between reading and writing takes longer than the lease; renewers run meanwhile." },
	[RR_PAUSE] = {
		"pause", "pause",
		"A client stops, at any point, for longer than the lease, and its renewer with it." },
	[RR_LOST_REPLY] = {
		"lost-reply", "lost reply",
		"A reply is lost after the command was executed, and the caller repeats its whole increment." },
	[RR_RESTART] = {
		"restart", "restart",
		"A lock server comes back empty; the data server never does. Only for strategies with lock servers of their own." },
	[RR_SKEW] = {
		"skew", "clock skew",
		"Clocks are apart by more than the lease: those of the clients all the time, and a server's jumps forward." },
};

enum rr_hazard rr_hazard_find(const char *name)
{
	int i = 0;

	while (i < RR_HAZARDS && strcmp(name, rr_hazard_texts[i].name) != 0)
		i++;
	return (enum rr_hazard)i;
}

const char *rr_invariant_meaning(int bit)
{
	static const char *const meanings[RR_INVARIANTS] = {
		"the counter is not what the clients were told it is",
		"two clients were inside at once",
		"two were inside, and the lease of the first one still ran: no fault of the holder",
		"a lock was removed or changed by another than its holder",
		"nobody can go on any more",
		"clients go on asking for ever, and nobody gets in",
	};

	return meanings[bit];
}

const char *rr_breaks_text(unsigned breaks, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (breaks >> i & 1 && used < size)
			used += (size_t)snprintf(text + used, size - used,
						 "%s%s", used ? ", " : "",
						 rr_invariant_name(i));
	}
	return text;
}
