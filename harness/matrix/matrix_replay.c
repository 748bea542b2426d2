/* SPDX-License-Identifier: MIT */
/* Plays saved transcripts, one after another on the same servers. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "draw/draw.h"
#include "base/files.h"
#include "matrix.h"
#include "play/player.h"

static int is_race(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && strcmp(end, ".race") == 0;
}

static enum rr_exit play(const char *path, struct rr_cluster *cluster)
{
	struct rr_error error = { 0 };
	struct rr_race *race = rr_race_read(path, &error);
	struct rr_trace trace = { 0 };
	enum rr_exit code;

	if (!race)
		return rr_complain(RR_EXIT_USAGE, "%s", error.text);
	code = rr_player_play(race, cluster, NULL, &trace);
	if (code != RR_EXIT_OK) {
		rr_complain(code, "%s: %s", path, trace.error);
	} else if (!trace.as_written) {
		code = rr_complain(RR_EXIT_VIOLATED, "%s differs:", path);
		rr_draw_difference(stderr, &trace);
	}
	rr_trace_free(&trace);
	rr_race_free(race);
	return code;
}

static enum rr_exit play_all(const char *folder, struct dirent **entries, int n,
			     struct rr_cluster *cluster)
{
	struct rr_signals *signals = &cluster->session->signals;
	enum rr_exit code = RR_EXIT_OK;
	char path[RR_PATH_SIZE];

	for (int i = 0; i < n; i++) {
		rr_signals_wait(signals, 0);
		if (signals->interrupted)
			return RR_EXIT_INTERRUPTED;
		snprintf(path, sizeof(path), "%s/%s", folder,
			 entries[i]->d_name);
		code = rr_exit_worse(code, play(path, cluster));
	}
	return code;
}

enum rr_exit rr_matrix_replay(const char *folder, struct rr_cluster *cluster)
{
	struct timespec begin, end;
	struct dirent **entries = NULL;
	const int n = scandir(folder, &entries, is_race, alphasort);
	enum rr_exit code;

	if (n <= 0) {
		free(entries);
		return rr_complain(RR_EXIT_USAGE,
				   "no transcripts in '%s': %s", folder,
				   n < 0 ? strerror(errno) : "no *.race");
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	code = play_all(folder, entries, n, cluster);
	clock_gettime(CLOCK_MONOTONIC, &end);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	if (code == RR_EXIT_OK)
		printf("%s: all %d transcripts play as written, %.1f s\n",
		       folder, n,
		       (double)(end.tv_sec - begin.tv_sec) +
			       (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	return code;
}
