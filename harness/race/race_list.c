/* SPDX-License-Identifier: MIT */
#include "race_list.h"

#include <stdio.h>

#include "library.h"

static enum rr_exit print_race(const char *name, bool markdown)
{
	char error[600];
	struct rr_race *race = rr_library_open(name, error, sizeof(error));

	if (!race)
		return rr_complain(RR_EXIT_USAGE, "%s", error);
	if (markdown)
		printf("| [`%s`](scenarios/races/%s.race) | %s | %s |\n", name,
		       name, race->claims, race->title);
	else
		printf("%-32s %-20s %s\n", name, race->claims, race->title);
	rr_race_free(race);
	return RR_EXIT_OK;
}

enum rr_exit rr_race_list_print(bool markdown)
{
	enum rr_exit code = RR_EXIT_OK;
	size_t n;
	char **names = rr_library_names(&n);

	if (!markdown)
		printf("%-32s %-20s %s\n", "race", "claims", "shows");
	for (size_t i = 0; names && i < n; i++)
		code = rr_exit_worse(code, print_race(names[i], markdown));
	rr_library_free_names(names, n);
	return code;
}
