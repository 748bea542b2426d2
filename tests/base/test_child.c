/* SPDX-License-Identifier: MIT */
/* Another program, run to its end. */
#include "../support.h"

#include "base/child.h"

static struct rr_error run_child(struct rr_child *child, const char *command, long limit_ms)
{
	const char *const argv[] = { "sh", "-c", command, NULL };
	struct rr_error error = { .kind = RR_ERROR_NONE };
	struct rr_signals signals;

	cr_assert(rr_signals_open(&signals));
	rr_child_run(child, argv, limit_ms, &signals, &error);
	rr_signals_close(&signals);
	return error;
}

Test(child, that_says_much_is_remembered_by_its_end)
{
	struct rr_child child;
	struct rr_error error = run_child(&child, "seq 100000; echo end 1; exit 3", 60000);
	char line[64];

	cr_assert_eq(error.kind, RR_ERROR_NONE, "%s", error.text);
	cr_assert(rr_child_exited(&child, 3));
	cr_assert(rr_child_line(&child, line, sizeof(line)));
	cr_assert_str_eq(line, "end 1");
}

Test(child, that_takes_too_long_is_ended)
{
	struct rr_child child;
	struct rr_error error = run_child(&child, "sleep 1000", 100);

	cr_assert_eq(error.kind, RR_ERROR_INTERNAL);
	cr_assert_str_eq(error.text, "sh did not end within 0 s");
	cr_assert_not(rr_child_exited(&child, 0));
}
