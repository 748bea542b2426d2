/* SPDX-License-Identifier: MIT */
/*
 * What this machine has for redrace: servers, programs, libraries, processors,
 * limits; what is missing or makes measurements worse, what that means, and the
 * command that mends it. The folder's public header.
 *
 * Nothing is changed, and no probe lasts longer than two seconds: a server that
 * hangs, or prints for ever, is ended.
 *
 * Order: examine, publish, release.
 */
#ifndef RR_DOCTOR_H
#define RR_DOCTOR_H

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

struct rr_finding {
	const char *section, *name;
	const char *means, *remedy; /* unless it is ok or unknown; a remedy is a command */
	enum rr_health health;
	char *value; /* what is there: one printable line */
};

struct rr_doctor_options {
	const char *redis_server; /* the only server to look at; NULL = all */
	const char *root;         /* /proc and /sys lie below it: "" */
};

struct rr_doctor {
	struct rr_doctor_options options;
	size_t n, counts[RR_HEALTHS];
	struct rr_finding *findings;
	bool has_server; /* one that starts and answers */
};

/* Looks at everything. False: interrupted; what was found so far is there. A server
 * that cannot be started is a finding, no error. */
bool rr_doctor_examine(struct rr_doctor *doctor, const struct rr_doctor_options *options,
		       struct rr_error *error);
void rr_doctor_release(struct rr_doctor *doctor);

/* Prints it, and writes the files that were asked for: text or JSON. */
bool rr_doctor_publish(const struct rr_doctor *doctor, const struct rr_outputs *outputs,
		       struct rr_error *error);

#endif
