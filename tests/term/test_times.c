/* SPDX-License-Identifier: MIT */
/* Which texts are times of day near the one at which programs begin. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "replay/replay.h"

enum { TEXT_SIZE = 60 };

struct text {
	char with[TEXT_SIZE], without[TEXT_SIZE];
};

ParameterizedTestParameters(times, are_left_out)
{
	static struct text texts[] = {
		{ "1900000000", "<time>" },
		{ "1900000000.25", "<time>" },
		{ "1900000000250", "<time>" },
		{ "at 1900000050, by A", "at <time>, by A" },
		{ "at 1900000050.", "at <time>." },
		{ "{\"at\":1900000000210,\"n\":3}", "{\"at\":<time>,\"n\":3}" },
		{ "1900000000000-0", "<time>-0" },
		{ "2030-03-17", "<time>" },
		{ "2030-03-17T17:46:40.050Z", "<time>Z" },
		{ "on 2030-03-17 17:46:40 sold", "on <time> sold" },
		{ "1900000000 1900000001", "<time> <time>" },
		/* none */
		{ "1800000000", "1800000000" },
		{ "190000000", "190000000" },
		{ "19000", "19000" },
		{ "x1900000000", "x1900000000" },
		{ "1900000000f3", "1900000000f3" },
		{ "2031-03-17", "2031-03-17" },
		{ "", "" },
	};

	return cr_make_param_array(struct text, texts, sizeof(texts) / sizeof(texts[0]));
}

ParameterizedTest(const struct text *text, times, are_left_out)
{
	size_t length = strlen(text->with);
	char *without = rr_without_times(text->with, length, RR_CLUSTER_START_NS, &length);

	cr_assert_eq(without != NULL, strcmp(text->with, text->without) != 0, "%s", text->with);
	cr_assert_str_eq(without ? without : text->with, text->without);
	free(without);
}
