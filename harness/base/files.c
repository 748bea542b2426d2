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

static enum rr_exit cannot(const char *verb, const char *path)
{
	return rr_complain(RR_EXIT_FILE, "cannot %s '%s': %s", verb, path,
			   strerror(errno));
}

enum rr_exit rr_files_make_directory(const char *path)
{
	char partial[RR_PATH_SIZE];
	struct stat info;

	if (strlen(path) >= sizeof(partial)) {
		errno = ENAMETOOLONG;
		return cannot("create", path);
	}
	for (const char *at = path; *at; at++) {
		const size_t length = strcspn(at + 1, "/") + 1;

		at += length - 1;
		memcpy(partial, path, (size_t)(at + 1 - path));
		partial[at + 1 - path] = '\0';
		if (mkdir(partial, 0777) != 0 && errno != EEXIST)
			return cannot("create", path);
	}
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return RR_EXIT_OK;
	errno = ENOTDIR;
	return cannot("create", path);
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

enum rr_exit rr_files_replace(const char *path, const char *text, size_t length)
{
	char other[RR_PATH_SIZE];
	enum rr_exit code;

	if (is_special(path))
		return write_whole(path, text, length) ? RR_EXIT_OK :
							 cannot("write", path);
	snprintf(other, sizeof(other), "%s.%d", path, (int)getpid());
	if (write_whole(other, text, length) && rename(other, path) == 0)
		return RR_EXIT_OK;
	code = cannot("write", path);
	unlink(other);
	return code;
}

enum rr_exit rr_files_link(const char *path, const char *target)
{
	char other[RR_PATH_SIZE];

	snprintf(other, sizeof(other), "%s.%d", path, (int)getpid());
	unlink(other);
	if (symlink(target, other) != 0)
		return cannot("link", path);
	if (rename(other, path) == 0)
		return RR_EXIT_OK;
	cannot("link", path);
	unlink(other);
	return RR_EXIT_FILE;
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

int rr_files_open_rows(const char *path, const char *header)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			    0666);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0) {
		cannot("write", path);
		return -1;
	}
	if (info.st_size == 0) {
		if (rr_files_append_row(fd, path, header) == RR_EXIT_OK)
			return fd;
	} else if (has_header(path, header)) {
		return fd;
	} else {
		rr_complain(RR_EXIT_FILE,
			    "'%s' has other columns than this version writes; choose another --output",
			    path);
	}
	close(fd);
	return -1;
}

enum rr_exit rr_files_append_row(int fd, const char *path, const char *row)
{
	const size_t length = strlen(row);
	struct stat before;
	ssize_t written;

	if (fstat(fd, &before) != 0)
		return cannot("write", path);
	written = write(fd, row, length);
	if (written == (ssize_t)length)
		return RR_EXIT_OK;
	if (written >= 0)
		errno = ENOSPC;
	cannot("write", path);
	if (written > 0 && ftruncate(fd, before.st_size) != 0)
		cannot("shorten", path);
	return RR_EXIT_FILE;
}
