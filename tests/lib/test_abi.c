/* SPDX-License-Identifier: MIT */
/*
 * What a compiled program relies on beside the names of tests/lib/symbols: sizes and places in
 * public structs, and values of constants. A change needs another soname (SONAME in the
 * Makefile), except where a caller names the size itself: struct rdl_policy may grow.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "redislock.h"

Test(abi, structs_are_as_they_were_compiled)
{
#if defined __LP64__
	cr_assert_eq(sizeof(struct rdl_address), 2388);
	cr_assert_eq(offsetof(struct rdl_address, sni), 2258);
	cr_assert_eq(sizeof(struct rdl_reply), 40);
	cr_assert_eq(sizeof(struct rdl_holder), 344);
	cr_assert_eq(sizeof(struct rdl_stats), 552);
	cr_assert_eq(offsetof(struct rdl_policy, fails_fast), 48);
	cr_assert_eq(sizeof(struct rdl_word), 16);
	cr_assert_eq(sizeof(struct rdl_command), 2256);
	cr_assert_eq(sizeof(struct rdl_task), 32);
	cr_assert_eq(sizeof(struct rdl_driver), 16);
	cr_assert_eq(sizeof(struct rdl_driver_ops), 128);
#else
	cr_skip("kept for LP64 only");
#endif
}

Test(abi, constants_have_their_values)
{
	cr_assert_eq(RDL_OK, 0);
	cr_assert_eq(RDL_BUSY, 1);
	cr_assert_eq(RDL_LOST, 2);
	cr_assert_eq(RDL_UNKNOWN, 3);
	cr_assert_eq(RDL_ERROR, 4);
	cr_assert_eq(RDL_REASON_CALLER, 9);
	cr_assert_eq(RDL_REPLY_FAILED, 5);
	cr_assert_eq(RDL_ADDRESS_CLUSTER, 2);
	cr_assert_eq(RDL_RELEASE_WATCH, 5);
	cr_assert_eq(RDL_TOKEN_SIZE, 41);
	cr_assert_eq(RDL_LABEL_SIZE, 64);
	cr_assert_eq(RDL_BUCKETS, 32);
	cr_assert_eq(RDL_QUORUM_NODES_MAX, 15);
	cr_assert_eq(RDL_VERSION_NUMBER, 300);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The version script is what the linker exports; tests/installed looks at the library itself. */
Test(abi, names_are_those_that_are_kept)
{
	FILE *map = fopen("lib/redislock.map", "r"), *kept = fopen("tests/lib/symbols", "r");
	char line[128], *names[512];
	size_t n = 0;

	cr_assert_not_null(map);
	cr_assert_not_null(kept);
	while (fgets(line, sizeof(line), map)) {
		char name[100];

		if (sscanf(line, " %99[a-z_0-9];", name) == 1 && strncmp(name, "rdl_", 4) == 0)
			names[n++] = strdup(name);
	}
	qsort(names, n, sizeof(*names), compare_lines);
	for (size_t i = 0; i < n; i++) {
		cr_assert(fgets(line, sizeof(line), kept), "%s is not in tests/lib/symbols",
			  names[i]);
		line[strcspn(line, "\n")] = '\0';
		cr_assert_str_eq(names[i], line, "lib/redislock.map has %s, tests/lib/symbols %s",
				 names[i], line);
		free(names[i]);
	}
	cr_assert_null(fgets(line, sizeof(line), kept), "%s is not exported any more", line);
	fclose(map);
	fclose(kept);
}
