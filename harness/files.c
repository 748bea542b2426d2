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

enum rr_exit rr_files_replace(const char *path, const char *text, size_t length)
{
	char other[RR_PATH_SIZE];
	enum rr_exit code = RR_EXIT_OK;
	ssize_t written;
	int fd;

	snprintf(other, sizeof(other), "%s.%d", path, (int)getpid());
	fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return cannot("write", path);
	written = write(fd, text, length);
	if (written >= 0 && (size_t)written < length) {
		errno = ENOSPC;
		written = -1;
	}
	if (written < 0)
		code = cannot("write", path);
	if (close(fd) != 0 && code == RR_EXIT_OK)
		code = cannot("write", path);
	if (code == RR_EXIT_OK && rename(other, path) != 0)
		code = cannot("write", path);
	if (code != RR_EXIT_OK)
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
			    "'%s' has other columns than this version writes; choose another --out",
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
