/* SPDX-License-Identifier: MIT */
/* The words for what is found, and for its absence. */
#include <criterion/criterion.h>
#include <string.h>

#include "race/race.h"

Test(findings, are_known_by_name)
{
	const struct rr_race race = { .limit = 1 };
	bool known;

	for (int i = 0; i < RR_FINDINGS; i++) {
		const char *name = rr_finding_name((enum rr_finding)i);

		cr_assert(rr_finding_holds(name, 1U << i, &known) && known);
		cr_assert_not(rr_finding_holds(name, ~(1U << i), &known));
		cr_assert_not(rr_finding_holds("nothing broken", 1U << i, &known));
		cr_assert(strlen(rr_finding_meaning(&race, (enum rr_finding)i)) > 20);
	}
	cr_assert(rr_finding_holds("nothing broken", 0, &known) && known);
	cr_assert_not(rr_finding_holds("all is well", ~0U, &known));
	cr_assert_not(known);
}

Test(findings, have_names_for_their_absence)
{
	static const struct {
		const char *phrase;
		enum rr_finding finding;
	} absences[] = {
		{ "exclusion kept", RR_EXCLUSION_BROKEN },
		{ "count exact", RR_UPDATE_LOST },
		{ "count exact", RR_COUNTED_TWICE },
		{ "all or nothing", RR_HALF_DONE },
		{ "writes kept", RR_WRITE_LOST },
		{ "replies in order", RR_REPLIES_CROSSED },
		{ "progress", RR_DEADLOCK },
		{ "progress", RR_KEPT_ALIVE },
		{ "progress", RR_GHOST_LOCK },
		{ "progress", RR_LEFT_BEHIND },
		{ "own locks only", RR_FOREIGN_RELEASE },
		{ "own locks only", RR_FOREIGN_CHANGE },
	};
	bool known;

	for (size_t i = 0; i < sizeof(absences) / sizeof(absences[0]); i++) {
		cr_assert(rr_finding_holds(absences[i].phrase, 0, &known));
		cr_assert_not(
			rr_finding_holds(absences[i].phrase, 1U << absences[i].finding, &known));
	}
}
