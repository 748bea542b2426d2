/* SPDX-License-Identifier: MIT */
#include "actions.h"

#include <stdlib.h>

bool rr_actions_add(struct rr_actions *actions, const struct rr_action *action)
{
	if (actions->n == actions->capacity) {
		const size_t capacity = actions->capacity ? 2 * actions->capacity : 64;
		struct rr_action *all = realloc(actions->all, capacity * sizeof(*all));

		if (!all)
			return false;
		actions->all = all;
		actions->capacity = capacity;
	}
	actions->all[actions->n++] = *action;
	return true;
}
