/* SPDX-License-Identifier: MIT */
/* The servers of this machine: asked for their version, then started, as races
 * start them, and asked again. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "probes.h"

static const char section[] = "servers";

static const char no_clock[] =
	"Leases expire in real time only: races that need time are skipped, and explore, matrix, check and game cannot run.";

/* Where servers are started; why not, if the session could not be opened. */
struct place {
	struct rr_session *session;
	const struct rr_error *why_closed;
};

/* ---- Its version ----------------------------------------------------------- */

/* Of "Redis server v=7.0.15 sha=...", and of Valkey's and Redict's like: "Redis
 * 7.0.15". Other programs are not started: they may do anything. */
static bool read_version(const char *line, char *version, size_t size)
{
	static const char middle[] = " server v=";
	const char *found = strstr(line, middle);
	const char *number = found ? found + strlen(middle) : NULL;

	if (found)
		snprintf(version, size, "%.*s %.*s", (int)strcspn(line, " "), line,
			 (int)strcspn(number, " "), number);
	return found != NULL;
}

/* What a program says it is, or what is wrong with it (RR_ERROR_REDIS). */
static bool ask_version(const char *path, struct rr_signals *signals, char *version, size_t size,
			struct rr_error *error)
{
	const char *const argv[] = { path, "--version", NULL };
	struct rr_error late = { 0 };
	struct rr_child child;
	char line[200] = "";

	if (!rr_child_run(&child, argv, RR_PROBE_MS, signals, &late)) {
		if (late.kind == RR_ERROR_INTERRUPTED)
			return rr_error_interrupted(error);
		return rr_error_set(error, RR_ERROR_REDIS, "--version: given up after %d s",
				    RR_PROBE_MS / 1000);
	}
	rr_child_line(&child, line, sizeof(line));
	return read_version(line, version, size) ||
	       rr_error_set(error, RR_ERROR_REDIS, "is no Redis or Valkey: --version says '%s'",
			    line);
}

/* ---- A start ----------------------------------------------------------------- */

static struct rr_finding describe_server(bool has_time, const char *version, const char *path)
{
	const struct rr_finding finding = rr_found(has_time ? RR_HEALTH_OK : RR_HEALTH_WARNING,
						   "%s, %s; starts and answers; its clock %s",
						   version, path,
						   has_time ? "can be moved" : "cannot be moved");
	char library[PATH_MAX];

	if (has_time)
		return finding;
	rr_preload_find("redrace-clock.so", library, sizeof(library));
	return rr_advise(
		finding, no_clock,
		library[0] ?
			"name another server with --redis-server PATH, one that is linked dynamically" :
			"redrace-clock.so is missing: see below");
}

/* As for a race. Whether its time can be moved; false, and the error, if it cannot
 * be started. */
static bool try_server(struct rr_session *session, const char *path, bool *has_time,
		       struct rr_error *error)
{
	const struct rr_cluster_options options = {
		.program = path, .clock = RR_CLUSTER_FROZEN, .start_ms = RR_PROBE_MS, .cpu = -1
	};
	struct rr_cluster cluster;
	const bool good = rr_cluster_open(&cluster, session, &options, error);

	*has_time = good && rr_cluster_has_time(&cluster);
	rr_cluster_close(&cluster);
	return good;
}

/* False: interrupted, or out of memory. */
static bool examine_server(struct rr_doctor *doctor, const char *name, const char *path,
			   const struct place *place, struct rr_error *error)
{
	struct rr_error why = { 0 };
	struct rr_finding finding;
	char version[64];
	bool has_time;

	if (ask_version(path, &place->session->signals, version, sizeof(version), &why) &&
	    place->why_closed->kind)
		why = *place->why_closed;
	if (!why.kind && try_server(place->session, path, &has_time, &why)) {
		doctor->has_server = true;
		finding = describe_server(has_time, version, path);
	} else if (why.kind == RR_ERROR_INTERRUPTED) {
		return rr_error_interrupted(error);
	} else {
		finding = rr_advise(rr_found(RR_HEALTH_FAILED, "%s: %s", path, why.text),
				    "Nothing can be run with it.", "");
	}
	return rr_doctor_add(doctor, section, name, &finding, error);
}

/* ---- Which there are ------------------------------------------------------------ */

struct kind {
	const char *name, *without, *remedy;
};

static const struct kind kinds[] = {
	{ "redis-server", "Commands need --redis-server PATH to start a server.",
	  "apt-get install redis-server" },
	{ "valkey-server", "Nothing is run on Valkey.",
	  "apt-get install valkey-server (Debian 13 and newer), or make servers" },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* The folder that `make servers` fills, beside the program. */
static bool find_unpacked(char *folder, size_t size)
{
	static const char name[] = "/servers";
	const ssize_t length = readlink("/proc/self/exe", folder, size - sizeof(name));

	if (length <= 0)
		return false;
	folder[length] = '\0';
	strcpy(strrchr(folder, '/'), name);
	return true;
}

/* Each is one directory; the newest of a series have another name besides, which
 * is a link. */
static int is_unpacked(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type != DT_LNK;
}

static bool examine_unpacked(struct rr_doctor *doctor, const struct place *place,
			     struct rr_error *error)
{
	char folder[PATH_MAX - 300], path[PATH_MAX];
	struct dirent **entries = NULL;
	bool good = true;
	int n;

	if (!find_unpacked(folder, sizeof(folder)))
		return true;
	n = scandir(folder, &entries, is_unpacked, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s/redis-server", folder, entries[i]->d_name);
		if (good && access(path, X_OK) == 0)
			good = examine_server(doctor, entries[i]->d_name, path, place, error);
		free(entries[i]);
	}
	free(entries);
	return good;
}

/* One that is looked for on PATH. Whether it is needed is not known yet. */
static bool examine_kind(struct rr_doctor *doctor, const struct kind *kind,
			 const struct place *place, struct rr_error *error)
{
	struct rr_finding finding;
	char path[PATH_MAX];

	if (rr_find_program(kind->name, path, sizeof(path)))
		return examine_server(doctor, kind->name, path, place, error);
	finding = rr_advise(rr_found(RR_HEALTH_MISSING, "is not on PATH"), kind->without,
			    kind->remedy);
	return rr_doctor_add(doctor, section, kind->name, &finding, error);
}

static bool examine_named(struct rr_doctor *doctor, const struct place *place,
			  struct rr_error *error)
{
	const char *name = doctor->options.redis_server;
	struct rr_finding finding;
	char path[PATH_MAX];

	if (rr_find_program(name, path, sizeof(path)))
		return examine_server(doctor, name, path, place, error);
	finding = rr_advise(rr_found(RR_HEALTH_FAILED, "there is no such program"), "",
			    kinds[0].remedy);
	return rr_doctor_add(doctor, section, name, &finding, error);
}

bool rr_examine_servers(struct rr_doctor *doctor, struct rr_session *session,
			const struct rr_error *why_closed, struct rr_error *error)
{
	const struct place place = { session, why_closed };

	if (doctor->options.redis_server)
		return examine_named(doctor, &place, error);
	for (int k = 0; k < KINDS; k++) {
		if (!examine_kind(doctor, &kinds[k], &place, error))
			return false;
	}
	if (!examine_unpacked(doctor, &place, error))
		return false;
	for (size_t i = 0; !doctor->has_server && i < doctor->n; i++) {
		if (doctor->findings[i].health == RR_HEALTH_MISSING)
			doctor->findings[i].health = RR_HEALTH_FAILED;
	}
	return true;
}
