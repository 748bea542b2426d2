/* SPDX-License-Identifier: MIT */
/* How probes look at things and say what they found; of this folder only. */
#ifndef RR_PROBES_H
#define RR_PROBES_H

#include "base/machine.h"
#include "cluster/cluster.h"
#include "doctor.h"

enum { RR_PROBE_MS = 2000, RR_LINE_SIZE = 4096 };

/* One thing to look at: what it is called, and how it is. */
struct rr_probe {
	const char *name;
	struct rr_finding (*look)(const struct rr_doctor *doctor);
};

/* A finding without name and section. */
struct rr_finding rr_found(enum rr_health health, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same with what it means and the command that mends it ("" = none). */
struct rr_finding rr_advise(struct rr_finding finding, const char *means, const char *remedy);

/* Keeps it under that name. False: out of memory. */
bool rr_doctor_add(struct rr_doctor *doctor, const char *section, const char *name,
		   const struct rr_finding *finding, struct rr_error *error);

/* The first line of a file below options.root; false when there is none. */
bool rr_first_line(const struct rr_doctor *doctor, const char *path, char line[RR_LINE_SIZE]);

/* What follows "FIELD:", or "FIELD " where there is no colon, in the first line
 * that begins so. */
bool rr_field(const struct rr_doctor *doctor, const char *path, const char *field,
	      char line[RR_LINE_SIZE]);

/* A whole number in the first line of a file. */
bool rr_number_in(const struct rr_doctor *doctor, const char *path, long long *number);

/* Where on PATH a program is, from the root on; false when it is not there. */
bool rr_find_program(const char *name, char *path, size_t size);

/* ---- What is looked at, a file each ------------------------------------------- */

/* servers.c: each server that is there is started, unless the session could not be
 * opened, for which there is a reason then. */
bool rr_examine_servers(struct rr_doctor *doctor, struct rr_session *session,
			const struct rr_error *why_closed, struct rr_error *error);

/* programs.c: programs and libraries. */
bool rr_examine_programs(struct rr_doctor *doctor, struct rr_signals *signals,
			 struct rr_error *error);

/* Tables that end in a name that is NULL. */
extern const struct rr_probe rr_processor_probes[]; /* processors.c */
extern const struct rr_probe rr_system_probes[];    /* system.c */
extern const struct rr_probe rr_limit_probes[];     /* limits.c */

#endif
