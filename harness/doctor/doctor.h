/* SPDX-License-Identifier: MIT */
/*
 * What this machine has for redrace: servers, programs, libraries, processors,
 * limits; what is missing or makes measurements worse, what that means, and the
 * command that mends it. The folder's public header.
 *
 * Nothing is changed, and a server that does not answer within two seconds is ended.
 *
 * Order: examine, print, release.
 */
#ifndef RR_DOCTOR_H
#define RR_DOCTOR_H

#include <stdio.h>

#include "base/error.h"
#include "base/format.h"
#include "cluster/cluster.h"

enum rr_health {
	RR_HEALTH_OK,
	RR_HEALTH_UNKNOWN, /* it cannot be seen here */
	RR_HEALTH_MISSING, /* something can do without it */
	RR_HEALTH_WARNING, /* measurements are worse, or some runs fail */
	RR_HEALTH_FAILED,
	RR_HEALTHS
};

/* "ok", "unknown", "missing", "warning", "failed". */
extern const char *const rr_health_names[RR_HEALTHS];

/* What is looked at; what it means when it is not well, and the command that mends it. */
struct rr_topic {
	const char *section, *name, *means, *remedy;
};

struct rr_finding {
	struct rr_topic topic; /* means and remedy: NULL where it is ok or unknown */
	enum rr_health health;
	char *value; /* what is there: one printable line */
};

struct rr_doctor {
	const char *root; /* /proc and /sys lie below it: "" */
	size_t n, counts[RR_HEALTHS];
	struct rr_finding *findings;
	bool has_server; /* one that starts and answers */
};

/* Looks at everything, of servers at `only_server` only unless that is NULL. False:
 * interrupted. A server that cannot be started is a finding, no error. */
bool rr_doctor_examine(struct rr_doctor *doctor, const char *only_server, const char *root,
		       struct rr_error *error);
void rr_doctor_release(struct rr_doctor *doctor);

/* Prints a struct rr_doctor as text or JSON, for rr_outputs_write(). */
void rr_doctor_print(const void *doctor, enum rr_format format, FILE *out, struct rr_error *error);

#endif
