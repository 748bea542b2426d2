/* SPDX-License-Identifier: MIT */
/* The program that is to be a server, which is named by --redis-server: where it is,
 * and whether it is one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/memory.h"
#include "server.h"

enum { LOG_BYTES_MAX = 1 << 20, SUSPECT_MS = 1000, VERSION_MS = 800 };

char *rr_program_locate(const char *program)
{
	char *here = program[0] != '/' && strchr(program, '/') ? getcwd(NULL, 0) : NULL;
	char *path = rr_asprintf("%s%s%s", here ? here : "", here ? "/" : "", program);

	free(here);
	return path;
}

/* A server says little before it answers; yes(1) fills the disk. */
static bool floods_its_log(const struct rr_server *server)
{
	char path[128];
	struct stat info;

	snprintf(path, sizeof(path), "%s/log", server->process.directory);
	return stat(path, &info) == 0 && info.st_size > LOG_BYTES_MAX;
}

/* "Redis server v=7.0.15 ..." or "Valkey server v=9.1.0 ..." */
static bool tells_a_version(const char *program, struct rr_signals *signals)
{
	const char *const argv[] = { program, "--version", NULL };
	struct rr_error ignored = { 0 };
	struct rr_child child;

	return rr_child_run(&child, argv, VERSION_MS, signals, &ignored) &&
	       strstr(child.output, " server v=");
}

bool rr_program_is_likely(struct rr_suspicion *suspicion, struct rr_cluster *cluster,
			  const struct rr_server *server, struct rr_error *error)
{
	const char *program = cluster->options.program;
	struct rr_signals *signals = &cluster->session->signals;

	if (floods_its_log(server))
		return rr_error_set(
			error, RR_ERROR_REDIS,
			"'%.300s' is no redis-server: it writes without an end and does not answer",
			program);
	if (suspicion->is_settled ||
	    rr_clock_ns() - suspicion->begun_ns < SUSPECT_MS * INT64_C(1000000))
		return true;
	suspicion->is_settled = true;
	if (tells_a_version(program, signals) || signals->interrupted)
		return true;
	return rr_error_set(
		error, RR_ERROR_REDIS,
		"'%.300s' is no redis-server: it does not answer, and --version shows none",
		program);
}
