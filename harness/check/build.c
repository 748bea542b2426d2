/* SPDX-License-Identifier: MIT */
/* The command of --build: makes the programs before any of them is started. */
#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/processes.h"
#include "base/text.h"
#include "verdict.h"

enum { BUILDS_MAX = 64, LOOK_MS = 100, LOG_MIB = 16 };

/* Builds of a suite, in memory that its processes share. */
struct rr_builds {
	pthread_mutex_t lock; /* one builds at a time */
	size_t n;
	uint64_t done[BUILDS_MAX]; /* digests of the commands */
};

struct rr_builds *rr_builds_new(void)
{
	struct rr_builds *builds = mmap(NULL, sizeof(*builds), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attributes;

	if (builds == MAP_FAILED)
		return NULL;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	/* A check that is killed while it builds stops none of the others. */
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&builds->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return builds;
}

void rr_builds_free(struct rr_builds *builds)
{
	if (builds)
		munmap(builds, sizeof(*builds));
}

/* Of what a compiler has printed the first error, "main.go:5:2: undefined: x", which others may follow from;
 * else the line that says best why it failed. malloc'd. */
static char *find_error(const char *log, size_t length)
{
	const char *line = log;
	regex_t place;
	char *found = NULL;

	if (regcomp(&place, ":[0-9]+(:|,|\\))|\\([0-9]+,[0-9]+\\):", REG_EXTENDED | REG_NOSUB) != 0)
		return rr_reason_line(log, length);
	while (*line && !found) {
		const char *start = line;
		const size_t n = rr_take_line(&line);

		found = rr_strndup(start, n);
		if (regexec(&place, found, 0, NULL, 0) != 0 || strstr(found, "warning")) {
			free(found);
			found = NULL;
		}
	}
	regfree(&place);
	return found ? found : rr_reason_line(log, length);
}

/* Why it failed, with the line of its output that says so best. */
static void set_failure(const char *directory, int status, struct rr_error *error)
{
	char path[RR_PATH_SIZE], end[RR_PROCESS_END_SIZE], *log, *line, *plain;
	struct rr_error unread = { 0 };
	size_t length = 0;

	snprintf(path, sizeof(path), "%s/log", directory);
	log = rr_files_read(path, RR_ERROR_FILE, LOG_MIB, &length, &unread);
	line = find_error(log ? log : "", length);
	plain = rr_plain(line);
	rr_error_set(error, RR_ERROR_DATA,
		     "the command of --build %s%s%.300s: run it by hand, and see why",
		     rr_process_end(status, end), plain[0] ? ": " : "", plain);
	free(plain);
	free(line);
	free(log);
}

static bool build(struct rr_check *check, struct rr_error *error)
{
	const char *const argv[] = { "sh", "-c", check->options->build, NULL };
	struct rr_guardian *guardian = &check->session.guardian;
	struct rr_guarded process = { .watch_fd = -1 };
	bool good, has_ended = false;
	int status = 0;

	if (!rr_guardian_prepare(guardian, &process, error))
		return false;
	process.runs_here = true;
	good = rr_guardian_run(guardian, &process, argv, NULL, -1, error);
	while (good && !(has_ended = rr_guardian_has_ended(guardian, &process, &status))) {
		good = rr_guardian_is_there(guardian, error);
		if (good && !rr_signals_wait(&check->session.signals, LOOK_MS))
			good = rr_error_set(error, RR_ERROR_INTERRUPTED, "interrupted");
		else if (good && rr_clock_ns() > check->progress.until_ns)
			good = rr_error_set(
				error, RR_ERROR_DATA,
				"the command of --build does not end within --seconds %ld: give it more",
				check->options->seconds);
	}
	if (has_ended && status != 0) {
		set_failure(process.directory, status, error);
		good = false;
	}
	rr_guardian_kill(guardian, &process);
	return good;
}

bool rr_check_build(struct rr_check *check, struct rr_error *error)
{
	const char *command = check->options->build;
	struct rr_builds *builds = check->options->builds;
	const uint64_t digest = command ? rr_bytes_digest(0, command, strlen(command)) : 0;
	bool is_done = !command, good = true;

	if (is_done || !builds)
		return is_done || build(check, error);
	if (pthread_mutex_lock(&builds->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&builds->lock);
	for (size_t i = 0; i < builds->n; i++)
		is_done |= builds->done[i] == digest;
	if (!is_done)
		good = build(check, error);
	if (!is_done && good && builds->n < BUILDS_MAX)
		builds->done[builds->n++] = digest;
	pthread_mutex_unlock(&builds->lock);
	return good;
}
