/* SPDX-License-Identifier: MIT */
/* Paths as a search with a wrong rule would have made them, for the free replay to refuse. */
#ifndef RR_TEST_WRONG_RULES_H
#define RR_TEST_WRONG_RULES_H

#include "explore/search.h"

/* Changes a path as a wrong rule would. False: it has nothing to be changed. */
typedef bool plant_rule(const struct rr_terms *terms, struct rr_actions *path);

plant_rule late_command_of_nobody, lost_reply_too_early, lost_reply_overtakes, swapped_commands,
	mutex_too_early, release_too_early, crash_leaves_a_listener, crash_closes_too_much,
	counted_by_another_field, arrives_behind_a_dropped_one, wakes_too_early;

#endif
