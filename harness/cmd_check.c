/* SPDX-License-Identifier: MIT */
/* redrace check: all interleavings of a program in any language. */

#include "check/check.h"
#include "commands.h"
#include "report/report.h"

static enum rr_exit run_check(int argc, char **argv, struct rr_error *error)
{
	struct rr_check_command chosen = rr_check_defaults();
	enum rr_exit code = RR_EXIT_OK;

	chosen.each.write_game = rr_game_write_checked;
	if (!rr_check_take_words(&chosen, argc, argv, error))
		code = RR_EXIT_OK;
	else if (!rr_check_has_program(&chosen.each))
		code = rr_check_run_suite(&chosen, argc, argv, error);
	else if (rr_check_refuse_suite(&chosen.whole, error) && rr_check_fits(&chosen.each, error))
		code = rr_check(&chosen.each, error);
	rr_replay_release(&chosen.replay);
	return code;
}

const struct rr_command rr_cmd_check = {
	.name = "check",
	.summary = "search every interleaving of your own programs, in any language",
	.line = &rr_check_command_line,
	.run = run_check,
};
