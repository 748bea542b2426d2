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
	const struct rr_doctor_options options = { .redis_server = "/no/such/server",
						   .root = root };
	struct rr_error error = { 0 };
	struct rr_finding found = { .health = RR_HEALTHS };
	struct rr_doctor doctor;

	snprintf(root, sizeof(root), "%s/root", cli_home);
	cr_assert(rr_doctor_examine(&doctor, &options, &error), "%s", error.text);
	cr_assert_not(doctor.has_server);
	for (size_t i = 0; i < doctor.n; i++) {
		if (strcmp(doctor.findings[i].name, name) == 0)
			found = doctor.findings[i];
	}
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
		cr_assert(found.means[0] && found.remedy[0], "%s: a warning without help", name);
}

#define CPUS "/sys/devices/system/cpu/"
#define CLOCK "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* What is not to be seen is no warning, and nothing is made up. */
Test(doctor, a_machine_without_proc_and_sys_is_unknown)
{
	static const char *const names[] = { "governor", "frequency boost", "SMT",
					     "load",     "stolen time",     "memory" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_found(names[i], RR_HEALTH_UNKNOWN, "not to be seen");
	assert_found("processor quota", RR_HEALTH_OK, "none");
	assert_found("runs in", RR_HEALTH_OK, "no container");
}

Test(doctor, a_quiet_machine_is_ok)
{
	make_file(CPUS "cpu0/cpufreq/scaling_governor", "performance");
	make_file(CPUS "intel_pstate/no_turbo", "1");
	make_file(CPUS "smt/active", "0");
	make_file(CLOCK, "tsc");
	make_file("/proc/loadavg", "0.05 0.10 0.10 1/100 1000");
	make_file("/proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0");
	make_file("/proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB");
	make_file("/sys/fs/cgroup/cpu.max", "max 100000");
	make_file("/sys/fs/cgroup/memory.max", "max");
	assert_found("frequency boost", RR_HEALTH_OK, "off");
	assert_found("SMT", RR_HEALTH_OK, "off");
	assert_found("load", RR_HEALTH_OK, "0.05");
	assert_found("stolen time", RR_HEALTH_OK, "0.0 %");
	assert_found("processor quota", RR_HEALTH_OK, "none");
	assert_found("clock source", RR_HEALTH_OK, "tsc, ");
	assert_found("memory", RR_HEALTH_OK, "3906 of 7812 MiB");
}

Test(doctor, what_makes_measurements_worse_is_a_warning)
{
	for (int i = 0; i < 64; i++) {
		char path[80];

		snprintf(path, sizeof(path), CPUS "cpu%d/cpufreq/scaling_governor", i);
		if (i < rr_placement_count() || i == rr_placement_cpu())
			make_file(path, i == rr_placement_cpu() ? "powersave" : "performance");
	}
	make_file(CPUS "cpufreq/boost", "1");
	make_file(CPUS "smt/active", "1");
	make_file(CLOCK, "hpet");
	make_file("/proc/loadavg", "99.00 50.00 20.00 9/100 1000");
	make_file("/proc/stat", "cpu  100 0 100 700 0 0 0 100 0 0");
	make_file("/proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB");
	make_file("/sys/fs/cgroup/cpu.max", "150000 100000");
	make_file("/sys/fs/cgroup/memory.max", "268435456");
	make_file("/sys/fs/cgroup/pids.max", "100");
	assert_found("governor", RR_HEALTH_WARNING, "powersave");
	assert_found("frequency boost", RR_HEALTH_WARNING, "on");
	assert_found("SMT", RR_HEALTH_WARNING, "on");
	assert_found("clock source", RR_HEALTH_WARNING, "hpet");
	assert_found("load", RR_HEALTH_WARNING, "99.00");
	assert_found("stolen time", RR_HEALTH_WARNING, "10.0 %");
	assert_found("processor quota", RR_HEALTH_WARNING, "1.50");
	assert_found("memory", RR_HEALTH_WARNING, "256 of 256 MiB");
	assert_found("processes", RR_HEALTH_WARNING, "100");
}

/* cgroup v1 has files of other names, -1 for no limit. */
Test(doctor, older_control_groups_are_read)
{
	make_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
	make_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
	assert_found("processor quota", RR_HEALTH_OK, "none");
	make_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000");
	assert_found("processor quota", RR_HEALTH_WARNING, "0.50");
	make_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "0");
	assert_found("processor quota", RR_HEALTH_OK, "none");
}

Test(doctor, surroundings_are_recognised)
{
	unsetenv("container");
	make_file("/.dockerenv", "");
	assert_found("runs in", RR_HEALTH_OK, "a container (docker)");
	make_file("/proc/cpuinfo", "model name : Q\nflags : fpu hypervisor sse");
	assert_found("runs in", RR_HEALTH_OK, "a container (docker) in a virtual machine");
	make_file("/sys/class/dmi/id/sys_vendor", "QEMU");
	assert_found("runs in", RR_HEALTH_OK, "virtual machine (QEMU)");
	make_file("/run/systemd/container", "lxc");
	assert_found("runs in", RR_HEALTH_OK, "a container (lxc)");
	assert_found("processors", examine("processors").health, "; Q");
}

/* Words that are no numbers, files that are empty, and control characters. */
Test(doctor, odd_files_are_no_trouble)
{
	make_file(CPUS "smt/active", "");
	make_file(CPUS "intel_pstate/no_turbo", "who knows");
	make_file("/proc/loadavg", "much");
	make_file("/proc/stat", "cpu  1 2");
	make_file("/proc/meminfo", "MemTotal");
	make_file(CPUS "cpu0/cpufreq/scaling_governor", "a\033[31mb");
	make_file(CPUS "cpu1/cpufreq/scaling_governor", "a\033[31mb");
	assert_found("SMT", RR_HEALTH_UNKNOWN, "not to be seen");
	assert_found("frequency boost", RR_HEALTH_UNKNOWN, "not to be seen");
	assert_found("load", RR_HEALTH_UNKNOWN, "not to be seen");
	assert_found("stolen time", RR_HEALTH_UNKNOWN, "not to be seen");
	assert_found("memory", RR_HEALTH_UNKNOWN, "not to be seen");
	cr_assert_null(strchr(examine("governor").value, '\033'));
}
