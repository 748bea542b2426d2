/* SPDX-License-Identifier: MIT */
/* What a process may have: open files, processes, memory, temporary files, ports. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "probes.h"

enum { LIMIT_TEXT = 32 };

static const char *name_limit(char text[LIMIT_TEXT], rlim_t limit)
{
	if (limit == RLIM_INFINITY)
		snprintf(text, LIMIT_TEXT, "unlimited");
	else
		snprintf(text, LIMIT_TEXT, "%llu", (unsigned long long)limit);
	return text;
}

/* "1024 (at most 524288)" */
static struct rr_finding describe_limit(enum rr_health health, const struct rlimit *limit,
					const char *unit)
{
	char soft[LIMIT_TEXT], hard[LIMIT_TEXT];

	return rr_found(health, "%s%s (at most %s)", name_limit(soft, limit->rlim_cur),
			limit->rlim_cur == RLIM_INFINITY ? "" : unit,
			name_limit(hard, limit->rlim_max));
}

static struct rr_finding look_at_files(const struct rr_doctor *doctor)
{
	struct rlimit limit;

	(void)doctor;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return rr_found(RR_HEALTH_UNKNOWN, "not to be seen here");
	if (limit.rlim_cur >= 1024)
		return describe_limit(RR_HEALTH_OK, &limit, "");
	return rr_advise(
		describe_limit(RR_HEALTH_WARNING, &limit, ""),
		"Each client of bench has a connection for each server: runs with many clients are refused.",
		"ulimit -n 4096");
}

/* The limit of the control group is another one. */
static struct rr_finding look_at_processes(const struct rr_doctor *doctor)
{
	struct rlimit limit;
	long long most;

	if (getrlimit(RLIMIT_NPROC, &limit) != 0)
		return rr_found(RR_HEALTH_UNKNOWN, "not to be seen here");
	if (rr_number_in(doctor, "/sys/fs/cgroup/pids.max", &most) && most > 0 &&
	    (rlim_t)most < limit.rlim_cur)
		limit.rlim_cur = (rlim_t)most;
	if (limit.rlim_cur >= 256)
		return describe_limit(RR_HEALTH_OK, &limit, "");
	return rr_advise(
		describe_limit(RR_HEALTH_WARNING, &limit, ""),
		"Threads and servers are counted, too: bench with many clients and matrix with many jobs cannot start them.",
		"ulimit -u 4096");
}

static struct rr_finding look_at_locked_memory(const struct rr_doctor *doctor)
{
	struct rlimit limit;

	(void)doctor;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		return rr_found(RR_HEALTH_UNKNOWN, "not to be seen here");
	return describe_limit(RR_HEALTH_OK, &limit, " bytes");
}

static struct rr_finding look_at_address_space(const struct rr_doctor *doctor)
{
	struct rlimit limit;

	(void)doctor;
	if (getrlimit(RLIMIT_AS, &limit) != 0)
		return rr_found(RR_HEALTH_UNKNOWN, "not to be seen here");
	if (limit.rlim_cur == RLIM_INFINITY)
		return describe_limit(RR_HEALTH_OK, &limit, " bytes");
	return rr_advise(describe_limit(RR_HEALTH_WARNING, &limit, " bytes"),
			 "Servers and searches that need more end with 'out of memory'.",
			 "ulimit -v unlimited");
}

/* ---- Temporary files -------------------------------------------------------------- */

static const char *temporary_directory(void)
{
	const char *set = getenv("TMPDIR");

	return set && *set ? set : "/tmp";
}

static struct rr_finding look_at_space(const struct rr_doctor *doctor)
{
	const char *path = temporary_directory();
	struct statvfs info;
	double free_mib;

	(void)doctor;
	if (statvfs(path, &info) != 0 || access(path, W_OK | X_OK) != 0)
		return rr_advise(
			rr_found(RR_HEALTH_FAILED, "%.150s: %s", path, strerror(errno)),
			"Servers work there: none can be started.",
			"TMPDIR=/tmp redrace ..., or another directory that can be written");
	free_mib = (double)info.f_bavail * (double)info.f_frsize / (1 << 20);
	if (free_mib >= 100)
		return rr_found(RR_HEALTH_OK, "%.150s, %.0f MiB are free", path, free_mib);
	return rr_advise(
		rr_found(RR_HEALTH_WARNING, "%.150s, %.0f MiB are free", path, free_mib),
		"The files of servers may fill it: writes are then refused in the middle of a run.",
		"TMPDIR=/var/tmp redrace ..., or another directory with more");
}

static struct rr_finding look_at_disk(const struct rr_doctor *doctor)
{
	const char *path = temporary_directory();
	struct statfs info;

	(void)doctor;
	if (statfs(path, &info) != 0)
		return rr_found(RR_HEALTH_UNKNOWN, "%.150s: %s", path, strerror(errno));
	if (info.f_type != TMPFS_MAGIC && info.f_type != RAMFS_MAGIC)
		return rr_found(RR_HEALTH_OK, "%.150s is on a disk", path);
	return rr_advise(
		rr_found(RR_HEALTH_WARNING, "%.150s is in memory", path),
		"fsync costs nothing there: bench --persistence everysec or always measures no disk.",
		"TMPDIR=/var/tmp redrace bench --persistence always ...");
}

/* ---- Ports ------------------------------------------------------------------------- */

/* Binds any port of 127.0.0.1; its number, 0 = in vain, with errno. */
static int try_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int port = 0;

	if (fd < 0)
		return 0;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 1) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &size) == 0)
		port = ntohs(address.sin_port);
	close(fd);
	return port;
}

static struct rr_finding look_at_ports(const struct rr_doctor *doctor)
{
	char range[RR_LINE_SIZE] = "a range that is not to be seen";
	int first, last;

	if (!try_port())
		return rr_advise(
			rr_found(RR_HEALTH_WARNING, "none can be had on 127.0.0.1: %s",
				 strerror(errno)),
			"Races with replicas and redrace check need one: they end with 69.",
			"ip link set lo up (as root)");
	if (rr_first_line(doctor, "/proc/sys/net/ipv4/ip_local_port_range", range) &&
	    sscanf(range, "%d %d", &first, &last) == 2)
		snprintf(range, sizeof(range), "%d to %d", first, last);
	return rr_found(RR_HEALTH_OK, "can be had on 127.0.0.1, of %s", range);
}

const struct rr_probe rr_limit_probes[] = {
	{ "open files", look_at_files },
	{ "processes", look_at_processes },
	{ "locked memory", look_at_locked_memory },
	{ "address space", look_at_address_space },
	{ "temporary files", look_at_space },
	{ "their disk", look_at_disk },
	{ "ports", look_at_ports },
	{ NULL, NULL },
};
