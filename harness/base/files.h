/* SPDX-License-Identifier: MIT */
/* Results on disk: whole files or whole rows, never halves. */
#ifndef RR_FILES_H
#define RR_FILES_H

#include <stddef.h>

#include "error.h"

enum { RR_PATH_SIZE = 1024 };

/* The directory and those above it. RR_EXIT_FILE, complained of, if it cannot
 * be made. */
enum rr_exit rr_files_make_directory(const char *path);

/* Replaces `path` by `text`: written under another name first, then renamed. A
 * link, a device or a pipe is kept, and written through. */
enum rr_exit rr_files_replace(const char *path, const char *text,
			      size_t length);

/* Points the symbolic link `path` at `target`. */
enum rr_exit rr_files_link(const char *path, const char *target);

/* Opens a log of rows for appending. A new one gets `header` as its first
 * line; one that begins with another header is refused. Negative: complained
 * of. The caller closes it. */
int rr_files_open_rows(const char *path, const char *header);

/* Appends one row by one write(2), or nothing at all. */
enum rr_exit rr_files_append_row(int fd, const char *path, const char *row);

#endif
