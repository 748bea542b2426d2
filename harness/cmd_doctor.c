/* SPDX-License-Identifier: MIT */
/* redrace doctor: what this machine has, what it lacks, and how to get that. */
#include "base/cases.h"
#include "base/option.h"
#include "commands.h"
#include "doctor/doctor.h"

enum { DOCTOR_FORMATS = RR_ONLY(RR_FORMAT_TEXT) | RR_ONLY(RR_FORMAT_JSON) };

struct options {
	const char *redis_server;
	struct rr_outputs outputs;
};

static const struct rr_option options_table[] = {
	{ .common = RR_OPTION_REDIS_SERVER,
	  .help = "program to start private servers with (redis-server and valkey-server of PATH): only this one is looked at",
	  .at = offsetof(struct options, redis_server) },
	{ .common = RR_OPTION_OUTPUT,
	  .at = offsetof(struct options, outputs),
	  .formats = DOCTOR_FORMATS },
	{ .common = RR_OPTION_FORMAT,
	  .at = offsetof(struct options, outputs.printed),
	  .formats = DOCTOR_FORMATS },
};

static const struct rr_command_line command_line = {
	.about =
		"Shows what this machine has for redrace: servers (each is started), programs, libraries, processors, limits. For what is missing or makes measurements worse it says what that means and which command mends it. Nothing is changed.\v"
		"Each line begins with ok, unknown (cannot be seen here), missing (something can do without it), warning (measurements are worse, or some runs fail) or failed. The exit code is 69 if no server can be started, else 0, with warnings, too.",
	.examples = "redrace doctor\n"
		    "redrace doctor --redis-server /opt/valkey/bin/valkey-server\n"
		    "redrace doctor --format json",
	RR_OPTIONS(options_table),
};

static enum rr_exit run_doctor(int argc, char **argv, struct rr_error *error)
{
	struct options options = { .redis_server = NULL };
	struct rr_doctor doctor;

	rr_command_line_parse(&command_line, &options, argc, argv);
	if (rr_doctor_examine(&doctor, options.redis_server, "", error) &&
	    rr_outputs_write(&options.outputs, rr_doctor_print, &doctor, error) &&
	    !doctor.has_server)
		rr_error_set(
			error, RR_ERROR_REDIS,
			"no server can be started; apt-get install redis-server, or name one with --redis-server PATH");
	rr_doctor_release(&doctor);
	return RR_EXIT_OK;
}

const struct rr_command rr_cmd_doctor = {
	.name = "doctor",
	.summary = "show what this machine has, what is missing and how to get it",
	.line = &command_line,
	.run = run_doctor,
};
