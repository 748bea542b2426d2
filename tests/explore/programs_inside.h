/* SPDX-License-Identifier: MIT */
/* Programs' inside, for the files that make them up. */
#ifndef RR_TEST_PROGRAMS_INSIDE_H
#define RR_TEST_PROGRAMS_INSIDE_H

#include "programs.h"

/* What the clients of a program do, and where their server is. */
struct program_cast {
	struct rl_address address;
	struct program programs[PROGRAM_CLIENTS];
};

/* Fills in make, run and free of `program`, whose context must be a cast. */
void program_cast_init(struct rr_program *program);

/* Adds bytes to a digest. */
uint64_t program_mix(uint64_t digest, const void *bytes, size_t length);

#endif
