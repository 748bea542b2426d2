/* SPDX-License-Identifier: MIT */
#include "fleet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "driver.h"

const char *const rr_persistence_names[RR_PERSIST_KINDS] = {
	[RR_PERSIST_NONE] = "none",
	[RR_PERSIST_RDB] = "rdb",
	[RR_PERSIST_EVERYSEC] = "everysec",
	[RR_PERSIST_ALWAYS] = "always",
};

const char *rr_fleet_transport(const struct rr_fleet *fleet)
{
	return fleet->addresses[0].is_unix ? "unix" : "tcp";
}

/* The last line that a server wrote, for a complaint; "" when it wrote none. */
static void last_log_line(const struct rr_ward *ward, char *line, size_t size)
{
	char path[112], read[512];
	FILE *log;

	line[0] = '\0';
	snprintf(path, sizeof(path), "%s/log", ward->directory);
	log = fopen(path, "re");
	if (!log)
		return;
	while (fgets(read, sizeof(read), log)) {
		read[strcspn(read, "\n")] = '\0';
		if (read[0])
			snprintf(line, size, ": %.300s", read);
	}
	fclose(log);
}

static enum rr_exit ended_early(const struct rr_fleet *fleet,
				const struct rr_ward *ward, int status)
{
	char line[320];

	last_log_line(ward, line, sizeof(line));
	if (WIFEXITED(status))
		return rr_complain(RR_EXIT_REDIS,
				   "'%s' exited with status %d before it answered%s",
				   fleet->program, WEXITSTATUS(status), line);
	return rr_complain(RR_EXIT_REDIS,
			   "'%s' was killed by signal %d before it answered%s",
			   fleet->program, WTERMSIG(status), line);
}

static bool answers(struct rl_link *link)
{
	struct rl_reply reply;

	return rl_run(link, &reply, "PING") == RL_OK;
}

static enum rr_exit wait_until_up(struct rr_fleet *fleet, size_t i)
{
	struct rl_link *link = rl_link_new(&fleet->addresses[i], RR_TIMEOUT_MS);
	enum rr_exit code = RR_EXIT_INTERNAL;
	int64_t deadline_ns;
	int status;

	if (!link)
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	deadline_ns = rl_now_ns(link, RL_CLOCK_MONOTONIC) +
		      RR_START_MS * INT64_C(1000000);
	while (!answers(link)) {
		if (rr_guardian_has_ended(fleet->guardian, &fleet->wards[i],
					  &status)) {
			code = ended_early(fleet, &fleet->wards[i], status);
			goto out;
		}
		if (fleet->signals->interrupted) {
			code = RR_EXIT_INTERRUPTED;
			goto out;
		}
		if (rl_now_ns(link, RL_CLOCK_MONOTONIC) > deadline_ns) {
			code = rr_complain(RR_EXIT_REDIS,
					   "'%s' runs but did not answer within %d s: %s",
					   fleet->program, RR_START_MS / 1000,
					   rl_link_error(link));
			goto out;
		}
		rr_signals_wait(fleet->signals, 2);
	}
	code = RR_EXIT_OK;
out:
	rl_link_free(link);
	return code;
}

static enum rr_exit start(struct rr_fleet *fleet, size_t i)
{
	const enum rr_persistence kind = fleet->persistence;
	const bool aof = kind == RR_PERSIST_EVERYSEC ||
			 kind == RR_PERSIST_ALWAYS;
	const char *const argv[] = {
		fleet->program,	   "--port",	    "0",
		"--unixsocket",	   "redis.sock",    "--unixsocketperm",
		"700",		   "--daemonize",   "no",
		"--loglevel",	   "warning",	    "--save",
		kind == RR_PERSIST_RDB ? "1 1" : "",
		"--appendonly",	   aof ? "yes" : "no",
		"--appendfsync",   aof ? rr_persistence_names[kind] : "no",
		NULL,
	};
	struct rr_ward *ward = &fleet->wards[i];
	struct rl_address address = { .is_unix = true };
	char error[512];

	if (!rr_guardian_spawn(fleet->guardian, ward, argv, fleet->cpu, error,
			       sizeof(error)))
		return rr_complain(RR_EXIT_REDIS,
				   "cannot start a server: %s; install redis-server (make deps) or name one with --redis-server PATH",
				   error);
	snprintf(address.host, sizeof(address.host), "%s/redis.sock",
		 ward->directory);
	fleet->addresses[i] = address;
	return wait_until_up(fleet, i);
}

enum rr_exit rr_fleet_need(struct rr_fleet *fleet, size_t n)
{
	enum rr_exit code = RR_EXIT_OK;

	while (fleet->is_private && fleet->n_servers < n &&
	       code == RR_EXIT_OK) {
		code = start(fleet, fleet->n_servers);
		fleet->n_servers++;
	}
	return code;
}

void rr_fleet_stop(struct rr_fleet *fleet)
{
	for (size_t i = 0; fleet->is_private && i < fleet->n_servers; i++)
		rr_guardian_kill(fleet->guardian, &fleet->wards[i]);
	fleet->n_servers = 0;
}
