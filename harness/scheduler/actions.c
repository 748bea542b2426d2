/* SPDX-License-Identifier: MIT */
#include "actions.h"

#include "base/memory.h"

void rr_actions_add(struct rr_actions *actions, const struct rr_action *action)
{
	if (actions->n == actions->capacity) {
		actions->capacity = actions->capacity ? 2 * actions->capacity : 64;
		actions->all = rr_realloc(actions->all, actions->capacity, sizeof(*action));
	}
	actions->all[actions->n++] = *action;
}
