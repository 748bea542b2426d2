/* SPDX-License-Identifier: MIT */
/*
 * What went wrong in a race: found by looking at what happened, never read from
 * the file. A race's verdict is the set of its findings.
 */
#ifndef RR_FINDINGS_H
#define RR_FINDINGS_H

#include <stdbool.h>

enum rr_finding {
	RR_EXCLUSION_BROKEN, /* two clients inside at once */
	RR_UPDATE_LOST,      /* the counter is lower than what was counted */
	RR_COUNTED_TWICE,    /* it is higher */
	RR_FOREIGN_RELEASE,  /* a living holder's lock was removed by another */
	RR_FOREIGN_CHANGE,   /* its value or lease was changed by another */
	RR_DEADLOCK,         /* a dead holder's lock that never expires */
	RR_KEPT_ALIVE,       /* a dead holder's lock, its lease renewed by others */
	RR_GHOST_LOCK,       /* a lock whose maker never entered */
	RR_LEFT_BEHIND,      /* a lock whose holder has left without it */
	RR_HALF_DONE,        /* of keys that change together, only some did */
	RR_WRITE_LOST,       /* an acknowledged write is gone after a fault */
	RR_REPLIES_CROSSED,  /* somebody read the reply to another's command */
	RR_FINDINGS
};

/* A set of findings: bit i = enum rr_finding i. */
typedef unsigned rr_findings;

/* "exclusion broken". */
const char *rr_finding_name(enum rr_finding finding);

/* What it means, in a sentence for a student. */
const char *rr_finding_meaning(enum rr_finding finding);

/*
 * Does `phrase` hold for this set? It is a finding's name, or one that says that
 * there is none: "exclusion kept", "count exact", "all or nothing", "writes
 * kept", "replies in order", "progress", "own locks only", "nothing broken".
 * *known is false when it is none of these.
 */
bool rr_finding_holds(const char *phrase, rr_findings findings, bool *known);

#endif
