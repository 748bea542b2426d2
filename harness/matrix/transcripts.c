/* SPDX-License-Identifier: MIT */
/* The transcripts of failing cells: as files, and played again. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/files.h"
#include "cell.h"
#include "draw/draw.h"
#include "play/play.h"

/* ---- Saved ------------------------------------------------------------------ */

bool rr_matrix_save(const struct rr_matrix *matrix, const char *folder, struct rr_error *error)
{
	const struct rr_cell *cell = NULL;
	bool good = rr_files_make_directory(folder, error);

	while (good && (cell = rr_matrix_next(matrix, cell))) {
		const struct rr_cell_words words = rr_cell_words(cell);
		char path[RR_PATH_SIZE];

		if (cell->verdict == RR_CELL_UNDONE || cell->verdict == RR_CELL_SKIPPED ||
		    cell->verdict == RR_CELL_FAILED)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, words.file);
		if (cell->transcript)
			good = rr_files_replace(path, cell->transcript, strlen(cell->transcript),
						error);
		else if (unlink(path) != 0 && errno != ENOENT) /* an earlier matrix left it */
			good = rr_error_file(error, "remove", path);
	}
	return good;
}

/* ---- Played again ------------------------------------------------------------ */

static enum rr_exit play_transcript(const char *path, struct rr_cluster *cluster)
{
	struct rr_error error = { 0 };
	struct rr_race *race = rr_race_read(path, &error);
	struct rr_trace trace = { 0 };
	enum rr_exit code = RR_EXIT_OK;

	if (!race)
		return rr_complain(RR_EXIT_USAGE, "%s", error.text);
	if (!rr_player_play(race, cluster, NULL, &trace, &error)) {
		code = rr_complain(rr_exit_of(error.kind), "%s: %s", path, error.text);
	} else if (!trace.as_written) {
		code = rr_complain(RR_EXIT_VIOLATED, "%s differs:", path);
		rr_draw_difference(stderr, &trace);
	}
	rr_trace_free(&trace);
	rr_race_free(race);
	return code;
}

enum rr_exit rr_matrix_replay(const char *folder, struct rr_cluster *cluster,
			      struct rr_error *error)
{
	struct rr_signals *signals = &cluster->session->signals;
	const double begun = rr_clock_s();
	size_t n;
	char **names = rr_files_list(folder, ".race", &n);
	enum rr_exit code = RR_EXIT_OK;

	if (n == 0)
		rr_error_set(error, RR_ERROR_USAGE, "no transcripts in '%s': %s", folder,
			     errno ? strerror(errno) : "no *.race");
	for (size_t i = 0; i < n && !signals->interrupted; i++) {
		char path[RR_PATH_SIZE];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		code = rr_exit_worse(code, play_transcript(path, cluster));
		rr_signals_wait(signals, 0);
	}
	rr_files_free_list(names, n);
	if (signals->interrupted)
		return RR_EXIT_INTERRUPTED;
	if (n > 0 && code == RR_EXIT_OK)
		printf("%s: all %zu transcripts play as written, %.1f s\n", folder, n,
		       rr_clock_s() - begun);
	return code;
}
