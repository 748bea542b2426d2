/* SPDX-License-Identifier: MIT */
/* Where the races are: the directory of the project's own ones. */
#ifndef RR_LIBRARY_H
#define RR_LIBRARY_H

#include "race.h"

enum { RR_RACE_PATH_SIZE = 1024 };

/* scenarios/races of the working directory, or of the tree the program was
 * built in, or what `make install` made of it; "" when there is none. */
void rr_library_directory(char path[RR_RACE_PATH_SIZE]);

/* A race by its file, or by the name of one of ours. NULL with a message. */
struct rr_race *rr_library_open(const char *name, char *error,
				size_t error_size);

/* The names of ours, sorted, in a malloc'd array of malloc'd strings; NULL when
 * out of memory. */
char **rr_library_names(size_t *n);
void rr_library_free_names(char **names, size_t n);

#endif
