/* SPDX-License-Identifier: MIT */
/* The system: its kernel, what it runs in, its memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probes.h"

#define MIB (1024.0 * 1024)

static struct rr_finding look_at_kernel(const struct rr_doctor *doctor)
{
	struct utsname name;

	(void)doctor;
	uname(&name);
	return rr_found(RR_HEALTH_OK, "%.80s %.80s %.40s", name.sysname, name.release,
			name.machine);
}

static bool is_there(const struct rr_doctor *doctor, const char *path)
{
	char whole[300];

	snprintf(whole, sizeof(whole), "%s%s", doctor->options.root, path);
	return access(whole, F_OK) == 0;
}

/* The word by which a container is known; false when there is none. */
static bool find_container(const struct rr_doctor *doctor, char name[RR_LINE_SIZE])
{
	const char *set = getenv("container");

	if (set && *set)
		snprintf(name, RR_LINE_SIZE, "%s", set);
	else if (rr_first_line(doctor, "/run/systemd/container", name))
		return true;
	else if (is_there(doctor, "/.dockerenv"))
		snprintf(name, RR_LINE_SIZE, "docker");
	else if (is_there(doctor, "/run/.containerenv"))
		snprintf(name, RR_LINE_SIZE, "podman");
	else
		return false;
	return true;
}

/* Processors of virtual machines say so, where there is x86. */
static bool find_hypervisor(const struct rr_doctor *doctor, char name[RR_LINE_SIZE])
{
	static const char vendor[] = "/sys/class/dmi/id/sys_vendor";
	char line[RR_LINE_SIZE];
	const bool has_flags = rr_field(doctor, "/proc/cpuinfo", "flags", line);

	if (rr_first_line(doctor, "/sys/hypervisor/type", name))
		return true;
	if (has_flags && !strstr(line, " hypervisor"))
		return false;
	if (rr_first_line(doctor, vendor, name))
		return has_flags || strcasestr(name, "QEMU") || strcasestr(name, "VMware");
	snprintf(name, RR_LINE_SIZE, "its kind is not to be seen");
	return has_flags;
}

static struct rr_finding look_at_surroundings(const struct rr_doctor *doctor)
{
	char container[RR_LINE_SIZE], hypervisor[RR_LINE_SIZE];
	const bool is_contained = find_container(doctor, container);
	const bool is_virtual = find_hypervisor(doctor, hypervisor);

	if (is_contained && is_virtual)
		return rr_found(RR_HEALTH_OK, "a container (%.60s) in a virtual machine (%.60s)",
				container, hypervisor);
	if (is_contained)
		return rr_found(RR_HEALTH_OK, "a container (%.60s)", container);
	if (is_virtual)
		return rr_found(RR_HEALTH_OK, "a virtual machine (%.60s)", hypervisor);
	return rr_found(RR_HEALTH_OK, "no container and no virtual machine, as far as can be seen");
}

/* What a control group allows, in bytes; "max", and more than there is, is no
 * limit. */
static long long memory_limit(const struct rr_doctor *doctor, long long total)
{
	long long limit;

	if (!rr_number_in(doctor, "/sys/fs/cgroup/memory.max", &limit) &&
	    !rr_number_in(doctor, "/sys/fs/cgroup/memory/memory.limit_in_bytes", &limit))
		return total;
	return limit > 0 && limit < total ? limit : total;
}

static struct rr_finding look_at_memory(const struct rr_doctor *doctor)
{
	char total[RR_LINE_SIZE], available[RR_LINE_SIZE];
	long long limit, left;

	if (!rr_field(doctor, "/proc/meminfo", "MemTotal", total) ||
	    !rr_field(doctor, "/proc/meminfo", "MemAvailable", available))
		return rr_found(RR_HEALTH_UNKNOWN, "not to be seen here");
	limit = memory_limit(doctor, strtoll(total, NULL, 10) * 1024);
	left = strtoll(available, NULL, 10) * 1024;
	if (left > limit)
		left = limit;
	if (left >= 512 * MIB)
		return rr_found(RR_HEALTH_OK, "%.0f of %.0f MiB are free", (double)left / MIB,
				(double)limit / MIB);
	return rr_advise(
		rr_found(RR_HEALTH_WARNING, "%.0f of %.0f MiB are free", (double)left / MIB,
			 (double)limit / MIB),
		"Large searches and many servers at once need more: one process of bench or matrix takes about 20 MiB, a server 10.",
		"redrace matrix --jobs 1; redrace explore --max-states N");
}

const struct rr_probe rr_system_probes[] = {
	{ "kernel", look_at_kernel },
	{ "runs in", look_at_surroundings },
	{ "memory", look_at_memory },
	{ NULL, NULL },
};
