/* SPDX-License-Identifier: MIT */
/*
 * Files in which something is kept from one check to the next: in a directory that the user names, or in
 * $XDG_CACHE_HOME/redrace or ~/.cache/redrace, one file for each key. A file is replaced as a whole, so that two checks may
 * keep the same at once, and only its owner may read it. All files together stay below
 * RR_CACHE_MOST bytes: those go that were not used for longest. What cannot be read or written is
 * not there: nothing depends on it.
 */
#ifndef RR_CACHE_H
#define RR_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/files.h"

enum { RR_CACHE_MOST = 64 * 1024 * 1024, RR_CACHE_FILE_MOST = 16 * 1024 * 1024 };

/* Where what has that key is kept; `directory` NULL: in the user's. False: there is no home. */
bool rr_cache_path(const char *directory, const void *key, size_t length, char path[RR_PATH_SIZE]);

/* Makes the directory of such a path, into which nobody but its owner may look. False: it cannot be. */
bool rr_cache_make_directory(const char *path);

/* What is kept there under that key, malloc'd; *content is a part of it. NULL: nothing. *is_broken:
 * there is a file, but not a whole one. */
char *rr_cache_read(const char *path, const void *key, size_t length, struct rr_bytes *content,
		    bool *is_broken);

/* Keeps it. False: it cannot be. */
bool rr_cache_write(const char *path, const void *key, size_t length, const void *content,
		    size_t n_content);

#endif
