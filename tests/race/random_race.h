/* SPDX-License-Identifier: MIT */
/* Races of the whole language, with everything that means something somewhere, made at random. */
#ifndef RR_TEST_RANDOM_RACE_H
#define RR_TEST_RANDOM_RACE_H

#include <stdint.h>

/* The text of a file, malloc'd: the same for the same seed. */
char *random_race(uint64_t seed);

#endif
