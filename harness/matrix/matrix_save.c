/* SPDX-License-Identifier: MIT */
/* The transcripts of failing cells, as files. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "matrix.h"

/* One that an earlier matrix left. */
static enum rr_exit remove_old(const char *path)
{
	if (unlink(path) == 0 || errno == ENOENT)
		return RR_EXIT_OK;
	return rr_complain(RR_EXIT_FILE, "cannot remove '%s': %s", path,
			   strerror(errno));
}

static enum rr_exit save_cell(const struct rr_cell *cell, const char *folder)
{
	char file[100], path[RR_PATH_SIZE];

	if (cell->verdict == RR_CELL_UNDONE ||
	    cell->verdict == RR_CELL_SKIPPED ||
	    cell->verdict == RR_CELL_FAILED)
		return RR_EXIT_OK;
	snprintf(path, sizeof(path), "%s/%s", folder,
		 rr_cell_file(cell, file, sizeof(file)));
	if (!cell->transcript)
		return remove_old(path);
	return rr_files_replace(path, cell->transcript,
				strlen(cell->transcript));
}

enum rr_exit rr_matrix_save(const struct rr_matrix *matrix, const char *folder)
{
	enum rr_exit code = rr_files_make_directory(folder);

	for (size_t i = 0; code == RR_EXIT_OK &&
			   i < matrix->n_strategies * RR_HAZARDS; i++)
		code = save_cell(&matrix->cells[i], folder);
	return code;
}
