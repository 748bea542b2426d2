/* SPDX-License-Identifier: MIT */
/* What is looked at, the list of findings, and how it is printed. */
#include "doctor.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <yaml.h>

#include "base/array.h"
#include "base/cases.h"
#include "base/memory.h"
#include "base/text.h"
#include "version.h"

enum { START_MS = 2000, VALUE_COLUMN = 30 };

const char *const rr_health_names[RR_HEALTHS] = {
	[RR_HEALTH_OK] = "ok",           [RR_HEALTH_UNKNOWN] = "unknown",
	[RR_HEALTH_MISSING] = "missing", [RR_HEALTH_WARNING] = "warning",
	[RR_HEALTH_FAILED] = "failed",
};

static enum rr_health warn_unless(bool is_good)
{
	return is_good ? RR_HEALTH_OK : RR_HEALTH_WARNING;
}

/* Adds a finding, without advice where it is ok or unknown. */
__attribute__((format(printf, 4, 5))) static void note(struct rr_doctor *doctor,
						       struct rr_topic topic, enum rr_health health,
						       const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = rr_vasprintf(format, arguments);
	va_end(arguments);
	if (health == RR_HEALTH_OK || health == RR_HEALTH_UNKNOWN)
		topic.means = topic.remedy = NULL;
	doctor->counts[health]++;
	rr_array_grow(&doctor->findings, doctor->n, sizeof(*doctor->findings));
	/* Files and programs may say anything. */
	doctor->findings[doctor->n++] = (struct rr_finding){ topic, health, rr_plain(text) };
	free(text);
}

/* Where a program is that is looked up on PATH, as execvp(3) does it. False: it is not there. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *folders = strchr(name, '/') ? "" : getenv("PATH");

	for (const char *at = folders; at; at = *at ? at + 1 : NULL) {
		const int length = (int)strcspn(at, ":");

		snprintf(path, PATH_MAX, "%.*s%s%s", length, at, length > 0 ? "/" : "", name);
		if (access(path, X_OK) == 0)
			return true;
		at += length;
	}
	return false;
}

/* What is looked at, what it means where it is not well, and what mends it. */
enum {
	REDIS,
	VALKEY,
	BENCHMARK,
	GNUPLOT,
	CLOCK,
	PROGRAM,
	YAML,
	CORES,
	LOAD,
	FILES,
	PROCESSES,
	SPACE
};

static const struct rr_topic topics[] = {
	[REDIS] = { "servers", "redis-server",
		    "Commands need --redis-server PATH to start a server.",
		    "apt-get install redis-server" },
	[VALKEY] = { "servers", "valkey-server", "Nothing is run on Valkey.",
		     "apt-get install valkey-server (Debian 13 and newer)" },
	[BENCHMARK] = { "programs", "redis-benchmark", "make bench-floor cannot compare with it.",
			"apt-get install redis-tools" },
	[GNUPLOT] = { "programs", "gnuplot", "make bench and make plots draw nothing.",
		      "apt-get install gnuplot-nox" },
	[CLOCK] = { "libraries", "redrace-clock.so", "Races that need time are skipped.",
		    "make all, or install redrace again" },
	[PROGRAM] = { "libraries", "redrace-program.so",
		      "redrace check cannot move the clocks of the programs that it checks.",
		      "make all, or install redrace again" },
	[YAML] = { "libraries", "libyaml", NULL, NULL },
	[CORES] = { "processors", "processors",
		    "Client and server take turns, or are stopped for up to 100 ms: throughput over threads says nothing.",
		    "start it without taskset, its container without --cpus or a CPU limit" },
	[LOAD] = { "processors", "load",
		   "Others use the processors, too: figures are lower, and runs differ.",
		   "end what need not run: top shows it" },
	[FILES] = { "limits", "open files", "Runs of bench with many clients are refused.",
		    "ulimit -n 4096" },
	[PROCESSES] = { "limits", "processes",
			"bench with many clients and matrix with many jobs cannot start them.",
			"ulimit -u 4096" },
	[SPACE] = { "limits", "temporary files",
		    "Servers work there, and need room for what they write.",
		    "TMPDIR=/tmp redrace ..., or another directory that can be written" },
};

/* Starts the server as for a race. False: interrupted. */
static bool look_for_server(struct rr_doctor *doctor, struct rr_topic topic, struct rr_error *error)
{
	char path[PATH_MAX];
	const struct rr_cluster_options options = {
		.program = path, .clock = RR_CLUSTER_FROZEN, .start_ms = START_MS, .cpu = -1
	};
	struct rr_error why = { 0 };
	struct rr_workplace *place;
	bool has_time;

	if (!find_program(topic.name, path)) {
		note(doctor, topic, doctor->has_server ? RR_HEALTH_MISSING : RR_HEALTH_FAILED,
		     "is not on PATH");
		return true;
	}
	place = rr_workplace_new(&options, &why);
	topic.remedy = NULL;
	if (!place) {
		topic.means = "Nothing can be run with it.";
		note(doctor, topic, RR_HEALTH_FAILED, "%s: %s", path, why.text);
		return why.kind != RR_ERROR_INTERRUPTED || rr_error_interrupted(error);
	}
	topic.means =
		"Leases expire in real time only: races that need time are skipped, and explore, matrix, check and game cannot run. It has to be linked dynamically, and redrace-clock.so to be there.";
	has_time = rr_cluster_has_time(&place->cluster);
	note(doctor, topic, warn_unless(has_time),
	     "%s, %s; starts and answers; its clock can%s be moved", place->version, path,
	     has_time ? "" : "not");
	doctor->has_server = true;
	rr_workplace_free(place);
	return true;
}

/* The number that a file below the root begins with. False: there is none. */
static bool read_number(const struct rr_doctor *doctor, const char *path, double *number)
{
	char *whole = rr_asprintf("%s%s", doctor->root, path);
	FILE *file = fopen(whole, "re");
	const bool is_found = file && fscanf(file, "%lf", number) == 1;

	if (file)
		fclose(file);
	free(whole);
	return is_found;
}

static void look_for_program(struct rr_doctor *doctor, struct rr_topic topic)
{
	char path[PATH_MAX];

	if (find_program(topic.name, path))
		note(doctor, topic, RR_HEALTH_OK, "%s", path);
	else
		note(doctor, topic, RR_HEALTH_MISSING, "is not on PATH");
}

static void look_for_library(struct rr_doctor *doctor, struct rr_topic topic)
{
	char path[PATH_MAX];

	rr_preload_find(topic.name, path, sizeof(path));
	note(doctor, topic, warn_unless(path[0]), "%s",
	     path[0] ? path : "is neither next to the program nor in ../libexec/redrace");
}

static void look_at_limit(struct rr_doctor *doctor, struct rr_topic topic, int resource,
			  rlim_t enough)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	getrlimit(resource, &limit);
	note(doctor, topic, warn_unless(limit.rlim_cur >= enough),
	     limit.rlim_cur == RLIM_INFINITY ? "unlimited" : "%llu",
	     (unsigned long long)limit.rlim_cur);
}

static void look_at_space(struct rr_doctor *doctor, struct rr_topic topic)
{
	const char *set = getenv("TMPDIR"), *path = set && *set ? set : "/tmp";
	struct statvfs info;
	double mib;

	if (statvfs(path, &info) != 0 || access(path, W_OK | X_OK) != 0) {
		note(doctor, topic, RR_HEALTH_FAILED, "%s: %s", path, strerror(errno));
		return;
	}
	mib = (double)info.f_bavail * (double)info.f_frsize / (1 << 20);
	note(doctor, topic, warn_unless(mib >= 100), "%s, %.0f MiB are free", path, mib);
}

/* ---- All ------------------------------------------------------------------------ */

bool rr_doctor_examine(struct rr_doctor *doctor, const char *only_server, const char *root,
		       struct rr_error *error)
{
	struct rr_topic server = topics[REDIS];

	*doctor = (struct rr_doctor){ .root = root };
	if (only_server)
		server.name = only_server;
	if (!look_for_server(doctor, server, error) ||
	    (!only_server && !look_for_server(doctor, topics[VALKEY], error)))
		return false;
	look_for_program(doctor, topics[BENCHMARK]);
	look_for_program(doctor, topics[GNUPLOT]);
	look_for_library(doctor, topics[CLOCK]);
	look_for_library(doctor, topics[PROGRAM]);
	note(doctor, topics[YAML], RR_HEALTH_OK, "%s; reads suites of checks",
	     yaml_get_version_string());

	/* A control group's cpu.max is "150000 100000", or "max 100000". */
	const int allowed = rr_placement_count();
	double quota_us = allowed * 100000.0, load = 0;
	const bool is_limited = read_number(doctor, "/sys/fs/cgroup/cpu.max", &quota_us);

	note(doctor, topics[CORES], warn_unless(allowed > 1 && !is_limited),
	     "%d of %ld may be used, for the time of %.2f", allowed, sysconf(_SC_NPROCESSORS_ONLN),
	     quota_us / 100000);
	if (read_number(doctor, "/proc/loadavg", &load))
		note(doctor, topics[LOAD], warn_unless(load <= 0.3 * allowed),
		     "%.2f in the last minute", load);
	else
		note(doctor, topics[LOAD], RR_HEALTH_UNKNOWN, "not to be seen here");
	look_at_limit(doctor, topics[FILES], RLIMIT_NOFILE, 1024);
	look_at_limit(doctor, topics[PROCESSES], RLIMIT_NPROC, 256);
	look_at_space(doctor, topics[SPACE]);
	return true;
}

void rr_doctor_release(struct rr_doctor *doctor)
{
	for (size_t i = 0; i < doctor->n; i++)
		free(doctor->findings[i].value);
	free(doctor->findings);
	*doctor = (struct rr_doctor){ .n = 0 };
}

/* ---- Printed -------------------------------------------------------------------- */

static void print_below(FILE *out, const char *sign, const char *text)
{
	const size_t column = VALUE_COLUMN + strlen(sign);

	if (!text)
		return;
	fprintf(out, "%*s%s", VALUE_COLUMN, "", sign);
	rr_print_wrapped(out, text, column, column);
}

static void print_text(const struct rr_doctor *doctor, FILE *out)
{
	const size_t n_warnings = doctor->counts[RR_HEALTH_WARNING] +
				  doctor->counts[RR_HEALTH_FAILED];
	const char *section = "";

	fprintf(out, "redrace %s (%s)\n", RR_VERSION, RR_COMMIT);
	for (size_t i = 0; i < doctor->n; i++) {
		const struct rr_finding *finding = &doctor->findings[i];

		if (strcmp(section, finding->topic.section) != 0)
			fprintf(out, "\n%s\n", finding->topic.section);
		section = finding->topic.section;
		fprintf(out, "  %-8s %-18s ", rr_health_names[finding->health],
			finding->topic.name);
		rr_print_wrapped(out, finding->value, VALUE_COLUMN, VALUE_COLUMN);
		print_below(out, "", finding->topic.means);
		print_below(out, "> ", finding->topic.remedy);
	}
	if (!doctor->has_server)
		fputs("\nNo server can be started: nothing can be run.\n", out);
	else
		fprintf(out,
			"\nServers can be started. %zu warning%s, %zu missing: see below each.\n",
			n_warnings, n_warnings == 1 ? "" : "s", doctor->counts[RR_HEALTH_MISSING]);
}

static void print_json(const struct rr_doctor *doctor, FILE *out)
{
	json_t *findings = json_array(), *summary = json_object(), *root;

	for (size_t i = 0; i < doctor->n; i++) {
		const struct rr_finding *finding = &doctor->findings[i];
		const struct rr_topic *topic = &finding->topic;

		json_array_append_new(findings,
				      json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s?}", "section",
						topic->section, "name", topic->name, "health",
						rr_health_names[finding->health], "value",
						finding->value, "means", topic->means, "remedy",
						topic->remedy));
	}
	for (int i = 0; i < RR_HEALTHS; i++)
		json_object_set_new(summary, rr_health_names[i],
				    json_integer((json_int_t)doctor->counts[i]));
	root = json_pack("{s:i, s:s, s:s, s:s, s:b, s:o, s:o}", "schema", 1, "command",
			 "redrace doctor", "version", RR_VERSION, "commit", RR_COMMIT, "has_server",
			 doctor->has_server, "summary", summary, "findings", findings);
	rr_json_print(root, JSON_INDENT(2), out);
	json_decref(root);
}

void rr_doctor_print(const void *doctor, enum rr_format format, FILE *out, struct rr_error *error)
{
	(void)error;
	(format == RR_FORMAT_JSON ? print_json : print_text)(doctor, out);
}
