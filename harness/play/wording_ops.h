/* SPDX-License-Identifier: MIT */
/* What an actor is about to do, in words. */
#ifndef RR_WORDING_OPS_H
#define RR_WORDING_OPS_H

#include "race/race.h"
#include "scheduler/gate.h"

enum { RR_OP_TEXT_SIZE = 120 };

/* "SET", "sleep", "wait", "lock", "unlock", "clock", "join". */
const char *rr_op_name(const struct rr_op *op);

/* "make SET counter:0 1", "sleep for 400us more". */
void rr_op_text(const struct rr_op *op, int64_t now_ns,
		char text[RR_OP_TEXT_SIZE]);

/* "11s", "1500ms", "3us" as races have it; whole microseconds. */
const char *rr_race_duration(char text[RR_DURATION_SIZE], int64_t ns);

/* Words as they are typed: with blanks in quotes; malloc'd, NULL = no memory. */
char *rr_join_words(const struct rl_word *words, size_t n);

#endif
