/* SPDX-License-Identifier: MIT */
/* What the processes of a program are doing, as proc(5) tells. */
#ifndef RR_PROCESS_TREE_H
#define RR_PROCESS_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* Do all threads of a process, its children and whoever else is in its process group
 * wait for something? `launcher` is the parent of those whose own has ended. */
bool rr_process_tree_sleeps(pid_t pid, pid_t launcher);

/* Is there any process that was started by the program whose port that is, by its
 * environment? Of a program that has ended, with its process group. */
bool rr_process_tree_has_strays(unsigned port);

#endif
