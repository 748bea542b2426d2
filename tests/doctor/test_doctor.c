/* SPDX-License-Identifier: MIT */
/* What the examination makes of a machine whose /proc and /sys are made up. */
#include "../cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"

TestSuite(doctor, .init = cli_setup, .fini = cli_teardown);

/* A file below the made-up root. */
static void make_file(const char *path, const char *text)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "mkdir -p $(dirname $HERE/root%s) && printf '%%s\\n' '%s' >$HERE/root%s", path,
		 text, path);
	cr_assert_eq(cli_run(command), 0);
}

/* What is said of `name` there; the servers are left out. */
static struct rr_finding examine(const char *name)
{
	char root[SUPPORT_DIRECTORY + 8];
	struct rr_error error = { 0 };
	static char value[256];
	struct rr_finding found = { .health = RR_HEALTHS };
	struct rr_doctor doctor;

	snprintf(root, sizeof(root), "%s/root", cli_home);
	cr_assert(rr_doctor_examine(&doctor, "/no/such/server", root, &error), "%s", error.text);
	cr_assert_not(doctor.has_server);
	for (size_t i = 0; i < doctor.n; i++) {
		if (strcmp(doctor.findings[i].topic.name, name) == 0)
			found = doctor.findings[i];
	}
	snprintf(value, sizeof(value), "%s", found.value ? found.value : "");
	found.value = value;
	rr_doctor_release(&doctor);
	cr_assert_neq(found.health, RR_HEALTHS, "nothing is said of %s", name);
	return found;
}

static void assert_found(const char *name, enum rr_health health, const char *part)
{
	const struct rr_finding found = examine(name);

	cr_assert_eq(found.health, health, "%s is %s: %s", name, rr_health_names[found.health],
		     found.value);
	cr_assert_not_null(strstr(found.value, part), "%s: %s", name, found.value);
	if (health == RR_HEALTH_WARNING)
		cr_assert(found.topic.means[0] && found.topic.remedy[0],
			  "%s: a warning without help", name);
}

/* What is not to be seen is no warning, and nothing is made up. */
Test(doctor, a_machine_without_proc_and_sys_is_unknown)
{
	assert_found("load", RR_HEALTH_UNKNOWN, "not to be seen");
	make_file("/proc/loadavg", "much");
	assert_found("load", RR_HEALTH_UNKNOWN, "not to be seen");
}

Test(doctor, a_quiet_machine_is_ok)
{
	make_file("/proc/loadavg", "0.05 0.10 0.10 1/100 1000");
	make_file("/sys/fs/cgroup/cpu.max", "max 100000");
	assert_found("load", RR_HEALTH_OK, "0.05");
	if (rr_placement_count() > 1)
		assert_found("processors", RR_HEALTH_OK, "may be used");
}

Test(doctor, what_makes_measurements_worse_is_a_warning)
{
	make_file("/proc/loadavg", "99.00 50.00 20.00 9/100 1000");
	make_file("/sys/fs/cgroup/cpu.max", "150000 100000");
	assert_found("load", RR_HEALTH_WARNING, "99.00");
	assert_found("processors", RR_HEALTH_WARNING, "1.50");
}
