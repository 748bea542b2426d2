/* SPDX-License-Identifier: MIT */
#include "fresh.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cluster/cluster.h"

/* ---- Copying ---------------------------------------------------------------------------- */

struct copying {
	const char *directory; /* as the user names it */
	long long left;        /* bytes */
	struct rr_error *error;
};

static bool fail(const struct copying *copying, const char *path)
{
	return rr_error_set(copying->error, RR_ERROR_FILE,
			    "--fresh '%.200s': cannot copy '%.300s': %s", copying->directory, path,
			    strerror(errno));
}

/* The bytes are shared where the file system can. */
static bool copy_bytes(int from, int to)
{
	ssize_t n;

	if (ioctl(to, FICLONE, from) == 0)
		return true;
	do
		n = sendfile(to, from, NULL, RR_FRESH_MOST);
	while (n > 0);
	return n == 0;
}

static bool copy_file(struct copying *copying, const char *from, const char *to,
		      const struct stat *info)
{
	const struct timespec times[2] = { info->st_atim, info->st_mtim };
	const int source = open(from, O_RDONLY | O_CLOEXEC);
	const int target = source < 0 ? -1 :
					open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const bool good = target >= 0 && copy_bytes(source, target) &&
			  fchmod(target, info->st_mode & 07777) == 0 &&
			  futimens(target, times) == 0;

	if (!good)
		fail(copying, from);
	if (source >= 0)
		close(source);
	if (target >= 0)
		close(target);
	return good;
}

/* Leaves out sockets, FIFOs and devices. */
static bool copy_tree(struct copying *copying, const char *from, const char *to)
{
	DIR *directory = opendir(from);
	const struct dirent *entry;
	struct stat info;
	bool good = directory && fstat(dirfd(directory), &info) == 0 && mkdir(to, 0700) == 0;

	if (!good)
		fail(copying, from);
	while (good && (entry = readdir(directory))) {
		char *source = rr_asprintf("%s/%s", from, entry->d_name);
		char *target = rr_asprintf("%s/%s", to, entry->d_name), link[PATH_MAX];
		struct stat part;
		ssize_t n;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
			/* itself */
		} else if (lstat(source, &part) != 0) {
			good = errno == ENOENT || fail(copying, source);
		} else if (S_ISDIR(part.st_mode)) {
			good = copy_tree(copying, source, target);
		} else if (S_ISLNK(part.st_mode)) {
			n = readlink(source, link, sizeof(link) - 1);
			link[n > 0 ? n : 0] = '\0';
			good = symlink(link, target) == 0 || fail(copying, source);
		} else if (S_ISREG(part.st_mode)) {
			copying->left -= part.st_size;
			good = copying->left >= 0 ?
				       copy_file(copying, source, target, &part) :
				       rr_error_set(copying->error, RR_ERROR_USAGE,
						    "--fresh '%.200s': the directory has more than "
						    "%d MiB: name one with the data alone",
						    copying->directory, RR_FRESH_MOST >> 20);
		}
		free(source);
		free(target);
	}
	if (directory)
		closedir(directory);
	return good && (chmod(to, info.st_mode & 07777) == 0 || fail(copying, from));
}

/* ---- Copies ------------------------------------------------------------------------------ */

bool rr_fresh_open(struct rr_fresh *fresh, const char *directory, const char *base,
		   struct rr_error *error)
{
	struct copying copying = { directory, RR_FRESH_MOST, error };
	struct stat info;

	*fresh = (struct rr_fresh){ .directory = realpath(directory, NULL), .base = base };
	if (!fresh->directory || stat(fresh->directory, &info) != 0 || !S_ISDIR(info.st_mode))
		return rr_error_set(error, RR_ERROR_USAGE, "--fresh '%.200s': %s", directory,
				    fresh->directory ? "expected a directory" : strerror(errno));
	if (rr_fresh_has(fresh, base, &(const char *){ NULL }))
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--fresh '%.200s': redrace's own files are in there: name a "
				    "directory with the data alone",
				    directory);
	snprintf(fresh->made_of, sizeof(fresh->made_of), "%s/fresh", base);
	return copy_tree(&copying, fresh->directory, fresh->made_of);
}

void rr_fresh_release(struct rr_fresh *fresh)
{
	if (fresh->together[0])
		rr_guardian_remove_tree(fresh->together);
	if (fresh->made_of[0])
		rr_guardian_remove_tree(fresh->made_of);
	free(fresh->directory);
	*fresh = (struct rr_fresh){ .directory = NULL };
}

bool rr_fresh_copy(const struct rr_fresh *fresh, const char *path, struct rr_error *error)
{
	struct copying copying = { fresh->directory, LLONG_MAX, error };

	return copy_tree(&copying, fresh->made_of, path);
}

bool rr_fresh_begin_together(struct rr_fresh *fresh, struct rr_error *error)
{
	if (fresh->together[0])
		rr_guardian_remove_tree(fresh->together);
	snprintf(fresh->together, sizeof(fresh->together), "%s/fresh%u", fresh->base,
		 ++fresh->n_made);
	return rr_fresh_copy(fresh, fresh->together, error);
}

void rr_fresh_keep_last(struct rr_fresh *fresh)
{
	if (!fresh->together[0])
		return;
	rr_guardian_remove_tree(fresh->made_of);
	if (rename(fresh->together, fresh->made_of) == 0)
		fresh->together[0] = '\0';
}

bool rr_fresh_has(const struct rr_fresh *fresh, const char *path, const char **rest)
{
	const size_t n = fresh && fresh->directory ? strlen(fresh->directory) : 0;

	*rest = path + n;
	return n > 0 && strncmp(path, fresh->directory, n) == 0 &&
	       (path[n] == '/' || path[n] == '\0' || n == 1);
}
