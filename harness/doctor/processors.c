/* SPDX-License-Identifier: MIT */
/* Processors, and what makes them go at another speed from one second to the
 * next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probes.h"

#define CPUS "/sys/devices/system/cpu/"

static struct rr_finding look_at_cores(const struct rr_doctor *doctor)
{
	const int allowed = rr_placement_count();
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	char model[RR_LINE_SIZE];
	struct utsname name;
	struct rr_finding finding;

	uname(&name);
	if (!rr_field(doctor, "/proc/cpuinfo", "model name", model))
		snprintf(model, sizeof(model), "%s", name.machine);
	finding = rr_found(allowed > 1 ? RR_HEALTH_OK : RR_HEALTH_WARNING,
			   "%d of %ld may be used; %s", allowed, online, model);
	if (allowed > 1)
		return finding;
	return rr_advise(
		finding,
		"Client and server take turns on one processor: throughput over threads says nothing.",
		online > 1 ? "taskset -c 0-N redrace ..." : "");
}

/* cgroup v2 says "max 100000" or "150000 100000", v1 has a file for each. */
static struct rr_finding look_at_quota(const struct rr_doctor *doctor)
{
	long long quota = -1, period = 100000;
	char line[RR_LINE_SIZE];

	if (rr_first_line(doctor, "/sys/fs/cgroup/cpu.max", line)) {
		if (sscanf(line, "%lld %lld", &quota, &period) != 2)
			quota = -1;
	} else if (!rr_number_in(doctor, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota) ||
		   !rr_number_in(doctor, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period)) {
		quota = -1;
	}
	if (quota <= 0 || period <= 0)
		return rr_found(RR_HEALTH_OK, "none");
	return rr_advise(
		rr_found(RR_HEALTH_WARNING, "%.2f processors", (double)quota / (double)period),
		"The control group stops processes that have used it up: some operations take up to 100 ms longer.",
		"start the container without --cpus or a CPU limit");
}

/* The first processor whose governor is not `performance`, else the last one. */
static struct rr_finding look_at_governor(const struct rr_doctor *doctor)
{
	char path[128], line[RR_LINE_SIZE], seen[RR_LINE_SIZE] = "";

	for (int i = 0; i < rr_placement_count(); i++) {
		snprintf(path, sizeof(path), CPUS "cpu%d/cpufreq/scaling_governor",
			 rr_placement_nth(i));
		if (!rr_first_line(doctor, path, line))
			continue;
		memcpy(seen, line, sizeof(seen));
		if (strcmp(seen, "performance") != 0)
			break;
	}
	if (!seen[0])
		return rr_found(RR_HEALTH_UNKNOWN,
				"not to be seen here (in a virtual machine its host decides)");
	if (strcmp(seen, "performance") == 0)
		return rr_found(RR_HEALTH_OK, "%s", seen);
	return rr_advise(
		rr_found(RR_HEALTH_WARNING, "%s", seen),
		"The frequency follows the load: short runs are slower, and runs differ.",
		"apt-get install linux-cpupower; cpupower frequency-set -g performance (as root)");
}

static struct rr_finding look_at_boost(const struct rr_doctor *doctor)
{
	long long value;
	const char *remedy = "echo 1 >" CPUS "intel_pstate/no_turbo (as root)";
	bool is_on;

	if (rr_number_in(doctor, CPUS "intel_pstate/no_turbo", &value)) {
		is_on = value == 0;
	} else if (rr_number_in(doctor, CPUS "cpufreq/boost", &value)) {
		remedy = "echo 0 >" CPUS "cpufreq/boost (as root)";
		is_on = value != 0;
	} else {
		return rr_found(RR_HEALTH_UNKNOWN, "not to be seen here");
	}
	if (!is_on)
		return rr_found(RR_HEALTH_OK, "off");
	return rr_advise(
		rr_found(RR_HEALTH_WARNING, "on"),
		"The frequency depends on temperature and on the other processors: runs differ.",
		remedy);
}

static struct rr_finding look_at_smt(const struct rr_doctor *doctor)
{
	long long is_active;

	if (!rr_number_in(doctor, CPUS "smt/active", &is_active))
		return rr_found(RR_HEALTH_UNKNOWN, "not to be seen here");
	if (!is_active)
		return rr_found(RR_HEALTH_OK, "off");
	return rr_advise(
		rr_found(RR_HEALTH_WARNING, "on"),
		"Two processors share one core: how fast one is depends on what the other does.",
		"echo off >" CPUS "smt/control (as root)");
}

/* ---- Clocks and company ------------------------------------------------------- */

/* The cheapest of some readings, in nanoseconds. */
static int64_t cost_of_clock(void)
{
	enum { ROUNDS = 20, READINGS = 500 };
	int64_t best = INT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		const int64_t begun = rr_clock_ns();
		int64_t last = begun;

		for (int k = 0; k < READINGS; k++)
			last = rr_clock_ns();
		if (last - begun < best)
			best = last - begun;
	}
	return best / READINGS;
}

/* Without help of the kernel a reading takes about 30 ns. */
static struct rr_finding look_at_clock(const struct rr_doctor *doctor)
{
	const long long cost_ns = cost_of_clock();
	char source[RR_LINE_SIZE];
	bool is_slow;

	if (!rr_first_line(doctor,
			   "/sys/devices/system/clocksource/clocksource0/current_clocksource",
			   source))
		snprintf(source, sizeof(source), "not to be seen here");
	is_slow = cost_ns > 200 || strcmp(source, "hpet") == 0 || strcmp(source, "acpi_pm") == 0 ||
		  strcmp(source, "jiffies") == 0;
	if (!is_slow)
		return rr_found(RR_HEALTH_OK, "%s, %lld ns a reading", source, cost_ns);
	return rr_advise(
		rr_found(RR_HEALTH_WARNING, "%s, %lld ns a reading", source, cost_ns),
		"bench reads the clock twice for each operation: a slow one adds to every figure.",
		"boot with clocksource=tsc, if the kernel calls it stable");
}

static struct rr_finding look_at_load(const struct rr_doctor *doctor)
{
	char line[RR_LINE_SIZE];
	const int cores = rr_placement_count();
	double load;

	if (!rr_first_line(doctor, "/proc/loadavg", line) || sscanf(line, "%lf", &load) != 1)
		return rr_found(RR_HEALTH_UNKNOWN, "not to be seen here");
	if (load <= 0.3 * cores)
		return rr_found(RR_HEALTH_OK, "%.2f in the last minute", load);
	return rr_advise(rr_found(RR_HEALTH_WARNING, "%.2f in the last minute, on %d processors",
				  load, cores),
			 "Others use the processors, too: figures are lower, and runs differ.",
			 "end what need not run: top shows it");
}

static struct rr_finding look_at_steal(const struct rr_doctor *doctor)
{
	char line[RR_LINE_SIZE];
	double part[8] = { 0 }, all = 0;

	if (!rr_field(doctor, "/proc/stat", "cpu", line) ||
	    sscanf(line, "%lf %lf %lf %lf %lf %lf %lf %lf", &part[0], &part[1], &part[2], &part[3],
		   &part[4], &part[5], &part[6], &part[7]) != 8)
		return rr_found(RR_HEALTH_UNKNOWN, "not to be seen here");
	for (int i = 0; i < 8; i++)
		all += part[i];
	if (part[7] <= 0.005 * all)
		return rr_found(RR_HEALTH_OK, "%.1f %% since the start",
				all > 0 ? 100 * part[7] / all : 0);
	return rr_advise(
		rr_found(RR_HEALTH_WARNING, "%.1f %% since the start", 100 * part[7] / all),
		"The host gives processor time to its other guests: runs differ, with no work here.",
		"measure on a machine of one's own, or compare within one run only");
}

const struct rr_probe rr_processor_probes[] = {
	{ "processors", look_at_cores },
	{ "processor quota", look_at_quota },
	{ "governor", look_at_governor },
	{ "frequency boost", look_at_boost },
	{ "SMT", look_at_smt },
	{ "clock source", look_at_clock },
	{ "load", look_at_load },
	{ "stolen time", look_at_steal },
	{ NULL, NULL },
};
