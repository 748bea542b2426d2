/* SPDX-License-Identifier: MIT */
/* Programs that some commands use, and the libraries that this one was built
 * with or preloads. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "probes.h"
#include "redislock.h"
#include "version.h"

/* ---- Programs --------------------------------------------------------------- */

struct program {
	const char *name, *without, *remedy;
};

static const struct program programs[] = {
	{ "redis-cli", "Servers cannot be looked into by hand.", "apt-get install redis-tools" },
	{ "redis-benchmark", "make bench-floor cannot say what the machine allows.",
	  "apt-get install redis-tools" },
	{ "gnuplot", "make bench and make plots draw nothing.", "apt-get install gnuplot-nox" },
};

static bool examine_program(struct rr_doctor *doctor, const struct program *program,
			    struct rr_signals *signals, struct rr_error *error)
{
	struct rr_finding finding;
	struct rr_error late = { 0 };
	char path[PATH_MAX], line[RR_LINE_SIZE] = "";
	const char *const argv[] = { path, "--version", NULL };
	struct rr_child child;

	if (!rr_find_program(program->name, path, sizeof(path))) {
		finding = rr_advise(rr_found(RR_HEALTH_MISSING, "is not on PATH"), program->without,
				    program->remedy);
	} else if (rr_child_run(&child, argv, RR_PROBE_MS, signals, &late)) {
		rr_child_line(&child, line, sizeof(line));
		finding = rr_found(RR_HEALTH_OK, "%s, %s", line, path);
	} else if (late.kind == RR_ERROR_INTERRUPTED) {
		return rr_error_interrupted(error);
	} else {
		finding = rr_advise(rr_found(RR_HEALTH_WARNING, "%s: %s", path, late.text),
				    program->without, program->remedy);
	}
	return rr_doctor_add(doctor, "programs", program->name, &finding, error);
}

/* ---- Libraries ----------------------------------------------------------------- */

static struct rr_finding look_at_hiredis(const struct rr_doctor *doctor)
{
	(void)doctor;
	return rr_found(RR_HEALTH_OK, "%s", RR_HIREDIS);
}

static struct rr_finding look_at_tls(const struct rr_doctor *doctor)
{
	struct rl_address address;
	char why[128];

	(void)doctor;
	if (rl_address_parse(&address, "rediss://localhost", why, sizeof(why)))
		return rr_found(RR_HEALTH_OK, "rediss:// is understood");
	return rr_advise(
		rr_found(RR_HEALTH_MISSING, "rediss:// is not understood"),
		"Servers that want TLS cannot be used with --redis.",
		"install the headers of OpenSSL (Debian: libssl-dev) and build redrace again");
}

static struct rr_finding look_for(const char *library, const char *without)
{
	char path[PATH_MAX];

	rr_preload_find(library, path, sizeof(path));
	if (path[0])
		return rr_found(RR_HEALTH_OK, "%s", path);
	return rr_advise(rr_found(RR_HEALTH_WARNING,
				  "is neither beside the program nor in ../libexec/redrace"),
			 without, "make all, or install redrace again");
}

static struct rr_finding look_for_clock(const struct rr_doctor *doctor)
{
	(void)doctor;
	return look_for("redrace-clock.so", "Races that need time are skipped.");
}

static struct rr_finding look_for_program(const struct rr_doctor *doctor)
{
	(void)doctor;
	return look_for("redrace-program.so",
			"redrace check cannot move the clocks of the programs that it checks.");
}

static const struct rr_probe libraries[] = {
	{ "hiredis", look_at_hiredis },
	{ "TLS", look_at_tls },
	{ "redrace-clock.so", look_for_clock },
	{ "redrace-program.so", look_for_program },
};

bool rr_examine_programs(struct rr_doctor *doctor, struct rr_signals *signals,
			 struct rr_error *error)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!examine_program(doctor, &programs[i], signals, error))
			return false;
	}
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		const struct rr_finding finding = libraries[i].look(doctor);

		if (!rr_doctor_add(doctor, "libraries", libraries[i].name, &finding, error))
			return false;
	}
	return true;
}
