/* SPDX-License-Identifier: MIT */
/* Files: read whole, and written whole or not at all. */
#ifndef RR_FILES_H
#define RR_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"

enum { RR_PATH_SIZE = 1024 };

/* All of them: false, with an error, when it cannot be done. */

/* Makes the directory and those above it. */
bool rr_files_make_directory(const char *path, struct rr_error *error);

/* The same of one that is not there yet, in a directory that is. */
bool rr_files_make_new_directory(const char *path, struct rr_error *error);

/* Could `path` be replaced, as far as can be said without doing it? To be asked before
 * the work whose results it shall hold. */
bool rr_files_can_write(const char *path, struct rr_error *error);

/* A whole file of at most so many MiB as a string, malloc'd. NULL: it is larger, an error of the
 * user's data; is not there, one of usage; or cannot be read, an error of that `kind`. */
char *rr_files_read(const char *path, enum rr_error_kind kind, size_t most_mib, size_t *length,
		    struct rr_error *error);

/* Replaces `path` by `text`: written to a new file beside it, whose name nobody can
 * guess, which is renamed. So a symbolic link is replaced, not followed. A device, a
 * pipe and what stands for a descriptor, as /dev/stdout does, is written to
 * instead; a pipe that nobody opens, or of which nobody reads anything, within so many
 * seconds cannot be, unless it stands for a descriptor. */
enum { RR_FILES_READER_S = 5 };
bool rr_files_replace(const char *path, const char *text, size_t length, struct rr_error *error);

/* Appends to `path`, which is made; what is not replaced is written to as there. */
bool rr_files_append(const char *path, const char *text, size_t length, struct rr_error *error);

/* The same of what is printed to draft.out between the two calls; `path` NULL: standard
 * output. Nothing is replaced when the second finds an error that is set already. */
struct rr_draft {
	FILE *out;
	char *text;
	size_t length;
};
void rr_draft_open(struct rr_draft *draft);

/* Asked before the work: may a page of HTML go there? Not where `path` is NULL and standard output a
 * terminal, which it would fill, nor where the name ends as that of another format. */
bool rr_draft_is_for_page(const char *path, struct rr_error *error);
bool rr_draft_replace(struct rr_draft *draft, const char *path, struct rr_error *error);

/* The names of the files in a folder that end in `suffix`, in order; malloc'd, as each
 * is. With n = 0 errno says whether the folder cannot be read; 0: it has none. */
char **rr_files_list(const char *folder, const char *suffix, size_t *n);
void rr_files_free_list(char **names, size_t n);

/* Where the program is, without a slash at the end. False: it cannot be known. */
bool rr_files_program_directory(char path[RR_PATH_SIZE]);

/* Where a folder of the project is: `in_tree` of the working directory or of the tree the
 * program was built in, or `installed` of PREFIX/share/redrace. False: it is not there, and
 * `path` is "". */
bool rr_files_find_folder(const char *in_tree, const char *installed, char path[RR_PATH_SIZE]);

/* Points the symbolic link `path` at `target`. */
bool rr_files_link(const char *path, const char *target, struct rr_error *error);

/* Memory shared with whoever maps the same file, a new one of zeros. Its blocks are there then:
 * a full disk is an error now rather than SIGBUS later. NULL: errno. To be munmap()ed. */
void *rr_files_map_new(const char *path, size_t size);

#endif
