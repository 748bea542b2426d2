/* SPDX-License-Identifier: MIT */
/*
 * The verdict of a check, kept for the next one in a file (cache.h), together with all that it depends
 * on: redrace, the server, the machine, the options, the environment, and every file that the programs
 * have looked at (opened.h). It is used as long as all of that is the same, and is not believed even
 * then: the schedule of a finding is replayed with the real programs and must end in the same finding,
 * and after a yes the skeptic runs serial executions and three schedules. If either differs, the
 * record goes and the check is made from nothing. No byte of a record is sent to a server.
 *
 * Kept are findings, and yeses with which the skeptic agrees. Nothing is kept where it is not known on
 * what the programs depend, and where a file is read and written.
 */
#ifndef RR_RECORD_H
#define RR_RECORD_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "party/party.h"

struct rr_check;

struct rr_record {
	char *path;       /* NULL = nothing is kept, or was */
	bool may_be_kept; /* in a directory: what programs look at has to be noted */
	char *key;        /* what is known before the programs run */
	size_t n_key;
	char why[RR_OPENED_WHY];    /* nothing was used, or is kept; "" = it is */
	char remark[RR_OPENED_WHY]; /* that the user should see; "" = none */
	bool is_refused;            /* this verdict is not kept, and that is about the programs */
	bool is_used;               /* what is reported is the verdict of the record */
	json_t *content;            /* of one that is used */
};

/* Decides whether the verdict of this check may be kept, before any program of it is started. */
void rr_record_open(struct rr_check *check);

/* Looks for a verdict of the same check. False: there is none that holds, and the check has to be made;
 * else check->result is as the check had come to its end. */
bool rr_record_use(struct rr_check *check);

/* Keeps what the check has come to, if it may be kept. */
void rr_record_keep(struct rr_check *check);

void rr_record_release(struct rr_record *record);

/* Of a finding that is used: who was refused, as rr_checked_refused() has it; NULL = there is none. */
json_t *rr_record_refused(const struct rr_record *record);

/* Of a yes that is used: its text, and its properties in JSON, a new reference; NULL = there is none. */
const char *rr_record_text(const struct rr_record *record);
json_t *rr_record_properties(const struct rr_record *record);

#endif
