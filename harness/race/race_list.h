/* SPDX-License-Identifier: MIT */
/* The project's races, a line each: name, claims, title. */
#ifndef RR_RACE_LIST_H
#define RR_RACE_LIST_H

#include <stdbool.h>

#include "base/exit_code.h"

/* On stdout. A file that is no race is complained of. */
enum rr_exit rr_race_list_print(bool markdown);

#endif
