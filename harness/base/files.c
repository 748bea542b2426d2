/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool cannot(const char *verb, const char *path, struct rr_error *error)
{
	return rr_error_set(error, RR_ERROR_FILE, "cannot %s '%s': %s", verb,
			    path, strerror(errno));
}

bool rr_files_make_directory(const char *path, struct rr_error *error)
{
	char partial[RR_PATH_SIZE];
	struct stat info;

	if (strlen(path) >= sizeof(partial)) {
		errno = ENAMETOOLONG;
		return cannot("create", path, error);
	}
	for (const char *at = path; *at; at++) {
		const size_t length = strcspn(at + 1, "/") + 1;

		at += length - 1;
		memcpy(partial, path, (size_t)(at + 1 - path));
		partial[at + 1 - path] = '\0';
		if (mkdir(partial, 0777) != 0 && errno != EEXIST)
			return cannot("create", path, error);
	}
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return true;
	errno = ENOTDIR;
	return cannot("create", path, error);
}

/* Creates or empties `path` and writes it. */
static bool write_whole(const char *path, const char *text, size_t length)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			    0666);
	ssize_t written;
	int why = 0;

	if (fd < 0)
		return false;
	written = write(fd, text, length);
	if (written < 0)
		why = errno;
	else if ((size_t)written < length)
		why = ENOSPC;
	if (close(fd) != 0 && !why)
		why = errno;
	errno = why;
	return why == 0;
}

/* A link, a device or a pipe stays what it is: root's `-o /dev/stdout` must not
 * leave a file of that name to everybody. */
static bool is_special(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0 && !S_ISREG(info.st_mode) &&
	       !S_ISDIR(info.st_mode);
}

/* Writes it beside `path` and renames that. */
static bool write_and_rename(const char *path, const char *text, size_t length,
			     struct rr_error *error)
{
	char other[RR_PATH_SIZE];

	snprintf(other, sizeof(other), "%s.%d", path, (int)getpid());
	if (write_whole(other, text, length) && rename(other, path) == 0)
		return true;
	cannot("write", path, error);
	unlink(other);
	return false;
}

bool rr_files_replace(const char *path, const char *text, size_t length,
		      struct rr_error *error)
{
	if (!is_special(path))
		return write_and_rename(path, text, length, error);
	return write_whole(path, text, length) || cannot("write", path, error);
}

bool rr_draft_open(struct rr_draft *draft, struct rr_error *error)
{
	*draft = (struct rr_draft){ 0 };
	draft->out = open_memstream(&draft->text, &draft->length);
	return draft->out || rr_error_no_memory(error);
}

bool rr_draft_replace(struct rr_draft *draft, const char *path,
		      struct rr_error *error)
{
	if (fclose(draft->out) != 0)
		rr_error_no_memory(error);
	if (!error->kind)
		rr_files_replace(path, draft->text, draft->length, error);
	free(draft->text);
	return !error->kind;
}

bool rr_files_link(const char *path, const char *target, struct rr_error *error)
{
	char other[RR_PATH_SIZE];

	snprintf(other, sizeof(other), "%s.%d", path, (int)getpid());
	unlink(other);
	if (symlink(target, other) != 0)
		return cannot("link", path, error);
	if (rename(other, path) == 0)
		return true;
	cannot("link", path, error);
	unlink(other);
	return false;
}

/* Does the file begin with `header`? */
static bool has_header(const char *path, const char *header)
{
	const size_t length = strlen(header);
	char *begin = malloc(length);
	FILE *file = fopen(path, "re");
	const bool same = file && begin &&
			  fread(begin, 1, length, file) == length &&
			  memcmp(begin, header, length) == 0;

	if (file)
		fclose(file);
	free(begin);
	return same;
}

int rr_files_open_rows(const char *path, const char *header,
		       struct rr_error *error)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			    0666);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0) {
		cannot("write", path, error);
		return -1;
	}
	if (info.st_size == 0) {
		if (rr_files_append_row(fd, path, header, error))
			return fd;
	} else if (has_header(path, header)) {
		return fd;
	} else {
		rr_error_set(
			error, RR_ERROR_FILE,
			"'%s' has other columns than this version writes; choose another --output",
			path);
	}
	close(fd);
	return -1;
}

bool rr_files_append_row(int fd, const char *path, const char *row,
			 struct rr_error *error)
{
	const size_t length = strlen(row);
	struct stat before;
	ssize_t written;

	if (fstat(fd, &before) != 0)
		return cannot("write", path, error);
	written = write(fd, row, length);
	if (written == (ssize_t)length)
		return true;
	if (written >= 0)
		errno = ENOSPC;
	cannot("write", path, error);
	if (written > 0 && ftruncate(fd, before.st_size) != 0)
		rr_error_set(error, RR_ERROR_FILE,
			     "cannot write or shorten '%s': %s", path,
			     strerror(errno));
	return false;
}
