/* SPDX-License-Identifier: MIT */
/* What is looked at, the list of findings, and how it is printed. */
#include "doctor.h"

#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/child.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "version.h"

enum { PROBE_MS = 2000 };

const char *const rr_health_names[RR_HEALTHS] = {
	[RR_HEALTH_OK] = "ok",           [RR_HEALTH_UNKNOWN] = "unknown",
	[RR_HEALTH_MISSING] = "missing", [RR_HEALTH_WARNING] = "warning",
	[RR_HEALTH_FAILED] = "failed",
};

/* Adds a finding, without advice where it is ok or unknown. */
__attribute__((format(printf, 4, 5))) static void note(struct rr_doctor *doctor,
						       struct rr_finding what,
						       enum rr_health health, const char *format,
						       ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = rr_vasprintf(format, arguments);
	va_end(arguments);
	/* Files and programs may say anything. */
	what.value = rr_plain(text);
	free(text);
	what.health = health;
	if (health == RR_HEALTH_OK || health == RR_HEALTH_UNKNOWN)
		what.means = what.remedy = NULL;
	doctor->counts[health]++;
	rr_array_grow(&doctor->findings, doctor->n, sizeof(what));
	doctor->findings[doctor->n++] = what;
}

/* Where on PATH a program is; "" if it is not there, or a signal has come. */
static void find_program(const char *name, struct rr_signals *signals, char *path, size_t size)
{
	const char *const argv[] = { "/bin/sh", "-c", "command -v \"$0\"", name, NULL };
	struct rr_error ignored = { 0 };
	struct rr_child child;

	path[0] = '\0';
	if (rr_child_run(&child, argv, PROBE_MS, signals, &ignored) && rr_child_exited(&child, 0))
		rr_child_line(&child, path, size);
}

/* What is looked at, what it means where it is not well, and what mends it. */
enum { REDIS, VALKEY, BENCHMARK, GNUPLOT, CLOCK, PROGRAM, CORES, LOAD, FILES, PROCESSES, SPACE };

static const struct rr_finding texts[] = {
	[REDIS] = { "servers", "redis-server",
		    "Commands need --redis-server PATH to start a server.",
		    "apt-get install redis-server", 0, NULL },
	[VALKEY] = { "servers", "valkey-server", "Nothing is run on Valkey.",
		     "apt-get install valkey-server (Debian 13 and newer), or make servers", 0,
		     NULL },
	[BENCHMARK] = { "programs", "redis-benchmark", "make bench-floor cannot compare with it.",
			"apt-get install redis-tools", 0, NULL },
	[GNUPLOT] = { "programs", "gnuplot", "make bench and make plots draw nothing.",
		      "apt-get install gnuplot-nox", 0, NULL },
	[CLOCK] = { "libraries", "redrace-clock.so", "Races that need time are skipped.",
		    "make all, or install redrace again", 0, NULL },
	[PROGRAM] = { "libraries", "redrace-program.so",
		      "redrace check cannot move the clocks of the programs that it checks.",
		      "make all, or install redrace again", 0, NULL },
	[CORES] = { "processors", "processors",
		    "Client and server take turns, or are stopped for up to 100 ms: throughput over threads says nothing.",
		    "start it without taskset, its container without --cpus or a CPU limit", 0,
		    NULL },
	[LOAD] = { "processors", "load",
		   "Others use the processors, too: figures are lower, and runs differ.",
		   "end what need not run: top shows it", 0, NULL },
	[FILES] = { "limits", "open files", "Runs of bench with many clients are refused.",
		    "ulimit -n 4096", 0, NULL },
	[PROCESSES] = { "limits", "processes",
			"bench with many clients and matrix with many jobs cannot start them.",
			"ulimit -u 4096", 0, NULL },
	[SPACE] = { "limits", "temporary files",
		    "Servers work there, and need room for what they write.",
		    "TMPDIR=/tmp redrace ..., or another directory that can be written", 0, NULL },
};

/* ---- Servers -------------------------------------------------------------------- */

/* What a program says it is, "Redis 7.0.15". Other programs are not started: they
 * may do anything. */
static bool ask_version(const char *path, struct rr_signals *signals, char version[64],
			struct rr_error *error)
{
	const char *const argv[] = { path, "--version", NULL };
	struct rr_error late = { 0 };
	struct rr_child child;
	char line[200] = "", product[24], number[24];

	if (!rr_child_run(&child, argv, PROBE_MS, signals, &late))
		return late.kind == RR_ERROR_INTERRUPTED ?
			       rr_error_interrupted(error) :
			       rr_error_set(error, RR_ERROR_REDIS, "--version: given up after %d s",
					    PROBE_MS / 1000);
	rr_child_line(&child, line, sizeof(line));
	if (sscanf(line, "%23s server v=%23s", product, number) != 2)
		return rr_error_set(error, RR_ERROR_REDIS,
				    "is no Redis or Valkey: --version says '%s'", line);
	snprintf(version, 64, "%s %s", product, number);
	return true;
}

/* As for a race. False: it cannot be started. */
static bool try_server(struct rr_session *session, const char *path, bool *has_time,
		       struct rr_error *error)
{
	const struct rr_cluster_options options = {
		.program = path, .clock = RR_CLUSTER_FROZEN, .start_ms = PROBE_MS, .cpu = -1
	};
	struct rr_cluster cluster;
	const bool good = rr_cluster_open(&cluster, session, &options, error);

	*has_time = good && rr_cluster_has_time(&cluster);
	rr_cluster_close(&cluster);
	return good;
}

/* False: interrupted. */
static bool examine_server(struct rr_doctor *doctor, struct rr_session *session,
			   struct rr_error why, const char *name, const char *path,
			   struct rr_error *error)
{
	struct rr_finding what = { "servers", name, "Nothing can be run with it.", NULL, 0, NULL };
	struct rr_error unlike = { 0 };
	bool has_time = false, good = false;
	char version[64];

	if (!ask_version(path, &session->signals, version, &unlike))
		why = unlike;
	else if (!why.kind)
		good = try_server(session, path, &has_time, &why);
	if (why.kind == RR_ERROR_INTERRUPTED)
		return rr_error_interrupted(error);
	if (good)
		what.means =
			"Leases expire in real time only: races that need time are skipped, and explore, matrix, check and game cannot run. It has to be linked dynamically, and redrace-clock.so to be there.";
	if (good)
		note(doctor, what, has_time ? RR_HEALTH_OK : RR_HEALTH_WARNING,
		     "%s, %s; starts and answers; its clock can%s be moved", version, path,
		     has_time ? "" : "not");
	else
		note(doctor, what, RR_HEALTH_FAILED, "%s: %s", path, why.text);
	doctor->has_server |= good;
	return true;
}

/* On PATH, or else what is said in `what`. */
static bool look_for_server(struct rr_doctor *doctor, struct rr_session *session,
			    const struct rr_error *why_closed, struct rr_finding what,
			    struct rr_error *error)
{
	char path[PATH_MAX];

	find_program(what.name, &session->signals, path, sizeof(path));
	if (path[0])
		return examine_server(doctor, session, *why_closed, what.name, path, error);
	note(doctor, what, doctor->has_server ? RR_HEALTH_MISSING : RR_HEALTH_FAILED,
	     "is not on PATH");
	return true;
}

/* Those that `make servers` has unpacked beside the program; the newest of a series
 * has another name besides, without a dot. */
static bool examine_unpacked(struct rr_doctor *doctor, struct rr_session *session,
			     const struct rr_error *why_closed, struct rr_error *error)
{
	char program[PATH_MAX] = "", *pattern;
	glob_t found = { 0 };
	bool good = true;

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) <= 0)
		return true;
	pattern = rr_asprintf("%s/servers/*.*/redis-server", dirname(program));
	glob(pattern, 0, NULL, &found);
	free(pattern);
	for (size_t i = 0; good && i < found.gl_pathc; i++)
		good = examine_server(doctor, session, *why_closed, "of make servers",
				      found.gl_pathv[i], error);
	globfree(&found);
	return good;
}

/* ---- The rest -------------------------------------------------------------------- */

/* Reads a number after `field` in a file below options.root. False: there is none. */
static bool read_number(const struct rr_doctor *doctor, const char *path, const char *field,
			double *number)
{
	char *whole = rr_asprintf("%s%s", doctor->options.root, path), line[256];
	FILE *file = fopen(whole, "re");
	bool is_found = false;

	while (file && !is_found && fgets(line, sizeof(line), file))
		is_found = strncmp(line, field, strlen(field)) == 0 &&
			   sscanf(line + strlen(field), "%lf", number) == 1;
	if (file)
		fclose(file);
	free(whole);
	return is_found;
}

static enum rr_health warn_unless(bool is_good)
{
	return is_good ? RR_HEALTH_OK : RR_HEALTH_WARNING;
}

static void look_for_library(struct rr_doctor *doctor, struct rr_finding what)
{
	char path[PATH_MAX];

	rr_preload_find(what.name, path, sizeof(path));
	note(doctor, what, warn_unless(path[0]), "%s",
	     path[0] ? path : "is neither beside the program nor in ../libexec/redrace");
}

/* A control group's cpu.max is "150000 100000", or "max 100000". */
static void look_at_processors(struct rr_doctor *doctor, struct rr_finding cores,
			       struct rr_finding busy)
{
	const int allowed = rr_placement_count();
	double quota_us = allowed * 100000.0, load = 0;
	const bool is_limited = read_number(doctor, "/sys/fs/cgroup/cpu.max", "", &quota_us);

	note(doctor, cores, warn_unless(allowed > 1 && !is_limited),
	     "%d of %ld may be used, for the time of %.2f", allowed, sysconf(_SC_NPROCESSORS_ONLN),
	     quota_us / 100000);
	if (read_number(doctor, "/proc/loadavg", "", &load))
		note(doctor, busy, warn_unless(load <= 0.3 * allowed), "%.2f in the last minute",
		     load);
	else
		note(doctor, busy, RR_HEALTH_UNKNOWN, "not to be seen here");
}

static void look_at_limit(struct rr_doctor *doctor, struct rr_finding what, int resource,
			  rlim_t enough)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	getrlimit(resource, &limit);
	note(doctor, what, warn_unless(limit.rlim_cur >= enough),
	     limit.rlim_cur == RLIM_INFINITY ? "unlimited" : "%llu",
	     (unsigned long long)limit.rlim_cur);
}

static void look_at_space(struct rr_doctor *doctor, struct rr_finding what)
{
	const char *set = getenv("TMPDIR"), *path = set && *set ? set : "/tmp";
	struct statvfs info;
	double mib;

	if (statvfs(path, &info) != 0 || access(path, W_OK | X_OK) != 0) {
		note(doctor, what, RR_HEALTH_FAILED, "%s: %s", path, strerror(errno));
		return;
	}
	mib = (double)info.f_bavail * (double)info.f_frsize / (1 << 20);
	note(doctor, what, warn_unless(mib >= 100), "%s, %.0f MiB are free", path, mib);
}

/* ---- All ------------------------------------------------------------------------ */

bool rr_doctor_examine(struct rr_doctor *doctor, const struct rr_doctor_options *options,
		       struct rr_error *error)
{
	struct rr_finding redis = texts[REDIS];
	struct rr_error why_closed = { 0 };
	struct rr_session session;
	char path[PATH_MAX];
	bool good;

	*doctor = (struct rr_doctor){ .options = *options };
	rr_session_open(&session, &why_closed);
	if (options->redis_server) {
		redis.name = options->redis_server;
		good = look_for_server(doctor, &session, &why_closed, redis, error);
	} else {
		good = look_for_server(doctor, &session, &why_closed, redis, error) &&
		       look_for_server(doctor, &session, &why_closed, texts[VALKEY], error) &&
		       examine_unpacked(doctor, &session, &why_closed, error);
	}
	for (int i = BENCHMARK; good && i <= GNUPLOT; i++) {
		find_program(texts[i].name, &session.signals, path, sizeof(path));
		note(doctor, texts[i], path[0] ? RR_HEALTH_OK : RR_HEALTH_MISSING, "%s",
		     path[0] ? path : "is not on PATH");
	}
	rr_session_close(&session);
	look_for_library(doctor, texts[CLOCK]);
	look_for_library(doctor, texts[PROGRAM]);
	look_at_processors(doctor, texts[CORES], texts[LOAD]);
	look_at_limit(doctor, texts[FILES], RLIMIT_NOFILE, 1024);
	look_at_limit(doctor, texts[PROCESSES], RLIMIT_NPROC, 256);
	look_at_space(doctor, texts[SPACE]);
	return good;
}

void rr_doctor_release(struct rr_doctor *doctor)
{
	for (size_t i = 0; i < doctor->n; i++)
		free(doctor->findings[i].value);
	free(doctor->findings);
	*doctor = (struct rr_doctor){ .n = 0 };
}

/* ---- Printed -------------------------------------------------------------------- */

static void print_text(const struct rr_doctor *doctor, FILE *out)
{
	const size_t n_warnings = doctor->counts[RR_HEALTH_WARNING] +
				  doctor->counts[RR_HEALTH_FAILED];
	const char *section = "";

	fprintf(out, "redrace %s (%s)\n", RR_VERSION, RR_COMMIT);
	for (size_t i = 0; i < doctor->n; i++) {
		const struct rr_finding *finding = &doctor->findings[i];

		if (strcmp(section, finding->section) != 0)
			fprintf(out, "\n%s\n", finding->section);
		section = finding->section;
		fprintf(out, "  %-8s %-18s %s\n", rr_health_names[finding->health], finding->name,
			finding->value);
		if (finding->means)
			fprintf(out, "  %-27s %s\n", "", finding->means);
		if (finding->remedy)
			fprintf(out, "  %-27s > %s\n", "", finding->remedy);
	}
	if (!doctor->has_server)
		fputs("\nNo server can be started: nothing can be run.\n", out);
	else
		fprintf(out,
			"\nServers can be started. %zu warning%s, %zu missing: what that means stands below each.\n",
			n_warnings, n_warnings == 1 ? "" : "s", doctor->counts[RR_HEALTH_MISSING]);
}

static void print_json(const struct rr_doctor *doctor, FILE *out)
{
	json_t *findings = json_array(), *summary = json_object(), *root;

	for (size_t i = 0; i < doctor->n; i++) {
		const struct rr_finding *finding = &doctor->findings[i];

		json_array_append_new(findings,
				      json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s?}", "section",
						finding->section, "name", finding->name, "health",
						rr_health_names[finding->health], "value",
						finding->value, "means", finding->means, "remedy",
						finding->remedy));
	}
	for (int i = 0; i < RR_HEALTHS; i++)
		json_object_set_new(summary, rr_health_names[i],
				    json_integer((json_int_t)doctor->counts[i]));
	root = json_pack("{s:i, s:s, s:s, s:s, s:b, s:o, s:o}", "schema", 1, "command",
			 "redrace doctor", "version", RR_VERSION, "commit", RR_COMMIT, "has_server",
			 doctor->has_server, "summary", summary, "findings", findings);
	json_dumpf(root, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(root);
}

static void print_doctor(const struct rr_doctor *doctor, enum rr_format format, FILE *out)
{
	(format == RR_FORMAT_JSON ? print_json : print_text)(doctor, out);
}

bool rr_doctor_publish(const struct rr_doctor *doctor, const struct rr_outputs *outputs,
		       struct rr_error *error)
{
	bool good = true;

	print_doctor(doctor, outputs->printed, stdout);
	for (size_t i = 0; good && i < outputs->n; i++) {
		const struct rr_output *file = &outputs->files[i];
		struct rr_draft draft;

		rr_draft_open(&draft);
		print_doctor(doctor, file->format == RR_FORMATS ? outputs->printed : file->format,
			     draft.out);
		good = rr_draft_replace(&draft, file->path, error);
	}
	return good;
}
