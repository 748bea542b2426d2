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
	"Leases expire in real time only: races that need time are skipped, and explore and check cannot let leases expire.";

/* ---- Its version ----------------------------------------------------------- */

/* Both "Redis server v=7.0.15 sha=..." and "Valkey server v=9.0.0 ..."; other
 * programs are not started: they may do anything. */
static bool is_server(const char *line)
{
	return strstr(line, " server v=") != NULL;
}

/* What is wrong with a program that is to be a server; has no text when nothing
 * is. False: interrupted. */
static bool ask_program(const char *path, struct rr_signals *signals,
			char why[RR_LINE_SIZE], struct rr_error *error)
{
	const char *const argv[] = { path, "--version", NULL };
	struct rr_error late = { 0 };
	struct rr_child child;
	char line[RR_LINE_SIZE] = "";

	why[0] = '\0';
	if (!rr_child_run(&child, argv, -1, RR_PROBE_MS, signals, &late)) {
		snprintf(why, RR_LINE_SIZE, "--version: given up after %d s",
			 RR_PROBE_MS / 1000);
		return late.kind != RR_ERROR_INTERRUPTED ||
		       rr_error_interrupted(error);
	}
	rr_child_line(&child, "", line, sizeof(line));
	if (!is_server(child.output))
		snprintf(why, RR_LINE_SIZE,
			 "is no Redis or Valkey: --version says '%.200s'", line);
	return true;
}

/* ---- A start ----------------------------------------------------------------- */

/* What follows FIELD in the server's INFO; false when it does not say. */
static bool read_info(const char *info, const char *field, char value[32])
{
	const char *found = info ? strstr(info, field) : NULL;

	if (!found)
		return false;
	found += strlen(field);
	snprintf(value, 32, "%.*s", (int)strcspn(found, "\r\n"), found);
	return true;
}

/* "Redis 7.0.15", "Valkey 9.0.0": Valkey calls itself a Redis, too. */
static void name_version(const struct rl_address *address, char *version,
			 size_t size)
{
	struct rl_link *link = rl_link_new(address, RR_PROBE_MS);
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	char number[32];

	snprintf(version, size, "a server that does not tell its version");
	if (link && rl_run(link, &reply, "INFO server") == RL_OK) {
		if (read_info(reply.text, "valkey_version:", number))
			snprintf(version, size, "Valkey %s", number);
		else if (read_info(reply.text, "redis_version:", number))
			snprintf(version, size, "Redis %s", number);
	}
	rl_link_free(link);
}

static struct rr_finding describe_server(struct rr_cluster *cluster,
					 const char *path)
{
	const bool has_time = rr_cluster_has_time(cluster);
	struct rr_finding finding;
	char version[64];

	name_version(rr_cluster_address(cluster, 0), version, sizeof(version));
	finding = rr_found(
		has_time ? RR_HEALTH_OK : RR_HEALTH_WARNING,
		"%s, %s; starts and answers; its clock %s", version, path,
		has_time ? "can be moved" : "cannot be moved");
	if (has_time)
		return finding;
	return rr_advise(finding, no_clock,
			 "name another server with --redis-server PATH, one that is linked dynamically");
}

/* The finding of a server that is a server by its version. */
static struct rr_finding start_server(struct rr_doctor *doctor,
				      struct rr_session *session,
				      const char *path, struct rr_error *error)
{
	const struct rr_cluster_options options = { .program = path,
						    .clock = RR_CLUSTER_FROZEN,
						    .start_ms = RR_PROBE_MS,
						    .cpu = -1 };
	const struct rr_server_options plain = { 0 };
	struct rr_finding finding;
	struct rr_cluster cluster;
	int server;

	if (rr_cluster_open(&cluster, session, &options, error) &&
	    rr_cluster_declare(&cluster, "doctor", &plain, &server, error) &&
	    rr_cluster_start(&cluster, error)) {
		doctor->has_server = true;
		finding = describe_server(&cluster, path);
	} else {
		finding = rr_advise(rr_found(RR_HEALTH_FAILED, "%s: %s", path,
					     error->text),
				    "Nothing can be run with this server.", "");
	}
	rr_cluster_close(&cluster);
	return finding;
}

/* False: interrupted, or out of memory. */
static bool examine_server(struct rr_doctor *doctor, const char *name,
			   const char *path, struct rr_session *session,
			   const struct rr_error *no_session,
			   struct rr_error *error)
{
	struct rr_error why = *no_session;
	char what[RR_LINE_SIZE];
	struct rr_finding finding;

	if (!ask_program(path, &session->signals, what, error))
		return false;
	if (what[0])
		finding = rr_found(RR_HEALTH_FAILED, "%s: %s", path, what);
	else if (why.kind)
		finding = rr_found(RR_HEALTH_FAILED, "%s: not started: %s",
				   path, why.text);
	else
		finding = start_server(doctor, session, path, &why);
	if (why.kind == RR_ERROR_INTERRUPTED)
		return rr_error_interrupted(error);
	return rr_doctor_add(doctor, section, name, &finding, error);
}

/* ---- Which there are ------------------------------------------------------------ */

struct kind {
	const char *name, *without, *remedy;
};

static const struct kind kinds[] = {
	{ "redis-server",
	  "Commands need --redis-server PATH to start a server.",
	  "apt-get install redis-server" },
	{ "valkey-server", "Nothing is run on Valkey.",
	  "apt-get install valkey-server (Debian 13 and newer), or make servers" },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Every server that `make servers` has unpacked beside the program. */
static bool examine_unpacked(struct rr_doctor *doctor,
			     struct rr_session *session,
			     const struct rr_error *no_session,
			     struct rr_error *error)
{
	char folder[PATH_MAX - 300], path[PATH_MAX];
	const ssize_t length =
		readlink("/proc/self/exe", folder, sizeof(folder) - 10);
	struct dirent **entries;
	bool good = true;
	int n;

	if (length <= 0)
		return true;
	folder[length] = '\0';
	strcpy(strrchr(folder, '/'), "/servers");
	n = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < KINDS && good && *entries[i]->d_name != '.';
		     k++) {
			snprintf(path, sizeof(path), "%s/%s/%s", folder,
				 entries[i]->d_name, kinds[k].name);
			if (rr_find_program(path, path, sizeof(path)))
				good = examine_server(doctor,
						      entries[i]->d_name, path,
						      session, no_session,
						      error);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return good;
}

/* One that is looked for on PATH. Whether it is needed is not known yet. */
static bool examine_kind(struct rr_doctor *doctor, const struct kind *kind,
			 struct rr_session *session,
			 const struct rr_error *no_session,
			 struct rr_error *error)
{
	struct rr_finding finding;
	char path[PATH_MAX];

	if (rr_find_program(kind->name, path, sizeof(path)))
		return examine_server(doctor, kind->name, path, session,
				      no_session, error);
	finding = rr_advise(rr_found(RR_HEALTH_MISSING, "is not on PATH"),
			    kind->without, kind->remedy);
	return rr_doctor_add(doctor, section, kind->name, &finding, error);
}

static bool examine_named(struct rr_doctor *doctor, struct rr_session *session,
			  const struct rr_error *no_session,
			  struct rr_error *error)
{
	const char *name = doctor->options.redis_server;
	struct rr_finding finding;
	char path[PATH_MAX];

	if (rr_find_program(name, path, sizeof(path)))
		return examine_server(doctor, name, path, session, no_session,
				      error);
	finding = rr_advise(rr_found(RR_HEALTH_FAILED,
				     "there is no such program"),
			    "", kinds[0].remedy);
	return rr_doctor_add(doctor, section, name, &finding, error);
}

bool rr_examine_servers(struct rr_doctor *doctor, struct rr_session *session,
			const struct rr_error *no_session,
			struct rr_error *error)
{
	if (doctor->options.redis_server)
		return examine_named(doctor, session, no_session, error);
	for (int k = 0; k < KINDS; k++) {
		if (!examine_kind(doctor, &kinds[k], session, no_session,
				  error))
			return false;
	}
	if (!examine_unpacked(doctor, session, no_session, error))
		return false;
	for (size_t i = 0; !doctor->has_server && i < doctor->n; i++) {
		if (doctor->findings[i].health == RR_HEALTH_MISSING)
			doctor->findings[i].health = RR_HEALTH_FAILED;
	}
	return true;
}
