/* SPDX-License-Identifier: MIT */
/* Commands that own their words. */
#ifndef RR_COMMAND_LIST_H
#define RR_COMMAND_LIST_H

#include "driver.h"

/* Empty: all zeroes. */
struct rr_command_list {
	size_t n;
	struct rdl_command *all;
};

/* Adds a copy; behind each word there is a NUL. */
void rr_command_list_add(struct rr_command_list *list, const struct rdl_word *words, size_t n);

/* Empties it. */
void rr_command_list_release(struct rr_command_list *list);

#endif
