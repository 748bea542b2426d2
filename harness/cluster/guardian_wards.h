/* SPDX-License-Identifier: MIT */
/* The guardian's servers, inside the guardian: see guardian.h. */
#ifndef RR_GUARDIAN_WARDS_H
#define RR_GUARDIAN_WARDS_H

#include <stdbool.h>

#include "guardian_protocol.h"

enum { GUARDIAN_WARDS_MAX = 64 };

struct guardian_ward {
	bool is_used; /* its directory is there */
	pid_t pid;    /* 0 = has ended */
	int status;
};

struct guardian_wards {
	const char *base;
	int n;
	struct guardian_ward list[GUARDIAN_WARDS_MAX];
};

/* A ward's directory, under the first number that is free. */
void guardian_prepare(struct guardian_wards *wards,
		      struct guardian_answer *answer);

/* A process for a ward that has none. */
void guardian_spawn(struct guardian_wards *wards,
		    const struct guardian_request *request,
		    struct guardian_answer *answer);

/* See rr_guardian_signal(). */
void guardian_signal(struct guardian_ward *ward, int number,
		     struct guardian_answer *answer);

/* Notes which processes have ended. */
void guardian_reap(struct guardian_wards *wards);

/* Kills it and removes its directory. */
void guardian_end(struct guardian_wards *wards, int index);

#endif
