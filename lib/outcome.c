/* SPDX-License-Identifier: MIT */
/* Names of outcomes. */
#include "redislock.h"

const char *rl_outcome_name(enum rl_outcome outcome)
{
	static const char *const names[] = {
		[RL_OK] = "ok",           [RL_BUSY] = "busy",
		[RL_LOST] = "lost",       [RL_UNKNOWN] = "unknown",
		[RL_ERROR] = "error",
	};

	return names[outcome];
}
