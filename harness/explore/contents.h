/* SPDX-License-Identifier: MIT */
/*
 * What a server holds, as a reader sees it: whichever order it has its keys in, or the
 * fields of a hash and the members of a set, which depends on how they came about. Asked
 * by the commands that anybody would use.
 */
#ifndef RR_CONTENTS_H
#define RR_CONTENTS_H

#include "server_table.h"

/* A line for each key, sorted by databases: its value, and the time it has left (`ms`:
 * in whole milliseconds). malloc'd; NULL = out of memory. */
char *rr_contents_text(struct rr_server_table *table, uint32_t state, bool ms);

/* The names of those of database 0; *names is the caller's to free, the texts are the table's. */
size_t rr_contents_keys(struct rr_server_table *table, uint32_t state,
			const char ***names);

/* Do two states hold the same? False, and table->error, if they cannot be asked. */
bool rr_contents_are_same(struct rr_server_table *table, uint32_t a, uint32_t b);

#endif
