/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"

/* A file is that line, the digest of what comes behind it, the key and the content. */
static const char first_line[] = "redrace verdict 1\n";

enum { HEAD = sizeof(first_line) - 1 + sizeof(uint64_t) };

/* ---- Where ----------------------------------------------------------------------------- */

/* An empty variable is as none; so is a relative path. */
static bool find_directory(char path[RR_PATH_SIZE])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int length = 0;

	if (cache && cache[0] == '/')
		length = snprintf(path, RR_PATH_SIZE, "%s/redrace", cache);
	else if (home && home[0] == '/')
		length = snprintf(path, RR_PATH_SIZE, "%s/.cache/redrace", home);
	return length > 0 && length < RR_PATH_SIZE;
}

bool rr_cache_path(const char *directory, const void *key, size_t length, char path[RR_PATH_SIZE])
{
	size_t n;

	if (directory)
		snprintf(path, RR_PATH_SIZE, "%s%s", directory[0] == '/' ? "" : "./", directory);
	else if (!find_directory(path))
		return false;
	n = strlen(path);
	return snprintf(path + n, RR_PATH_SIZE - n, "/%016llx.check",
			(unsigned long long)rr_bytes_digest(0, key, length)) <
	       (int)(RR_PATH_SIZE - n);
}

bool rr_cache_make_directory(const char *path)
{
	const mode_t before = umask(0077);
	char *directory = rr_strndup(path, (size_t)(strrchr(path, '/') - path));
	struct rr_error error = { 0 };
	const bool good = rr_files_make_directory(directory, &error);

	umask(before);
	free(directory);
	return good;
}

/* ---- Reading --------------------------------------------------------------------------- */

/* A whole file, malloc'd; NULL: there is none. */
static char *read_file(const char *path, size_t *length)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat info;
	char *text = NULL;
	ssize_t n = 0;

	*length = 0;
	if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
	    info.st_size <= RR_CACHE_FILE_MOST) {
		text = rr_malloc((size_t)info.st_size + 1);
		while (*length < (size_t)info.st_size &&
		       (n = read(fd, text + *length, (size_t)info.st_size - *length)) > 0)
			*length += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

static bool is_whole(const char *text, size_t length)
{
	uint64_t digest;

	if (length < HEAD || memcmp(text, first_line, strlen(first_line)) != 0)
		return false;
	memcpy(&digest, text + strlen(first_line), sizeof(digest));
	return digest == rr_bytes_digest(0, text + HEAD, length - HEAD);
}

char *rr_cache_read(const char *path, const void *key, size_t length, struct rr_bytes *content,
		    bool *is_broken)
{
	size_t n, n_key;
	char *text = read_file(path, &n);
	const void *its_key;

	*is_broken = text && !is_whole(text, n);
	if (text && !*is_broken) {
		*content = (struct rr_bytes){ (unsigned char *)text + HEAD,
					      (unsigned char *)text + n };
		its_key = rr_bytes_take(content, &n_key);
		if (n_key == length && memcmp(its_key, key, length) == 0)
			return text;
	}
	free(text);
	return NULL;
}

/* ---- Room ------------------------------------------------------------------------------ */

struct kept_file {
	char *path;
	off_t size;
	int64_t used_ns;
};

static int compare_use(const void *a, const void *b)
{
	const int64_t one = ((const struct kept_file *)a)->used_ns;
	const int64_t other = ((const struct kept_file *)b)->used_ns;

	return (one < other) - (one > other);
}

/* Those that were not used for longest go. */
static void make_room(const char *directory)
{
	size_t n = 0, n_files = 0;
	char **names = rr_files_list(directory, ".check", &n);
	struct kept_file *files = rr_calloc(n + 1, sizeof(*files));
	off_t size = 0;

	for (size_t i = 0; i < n; i++) {
		struct kept_file *file = &files[n_files];
		struct stat info;

		file->path = rr_asprintf("%s/%s", directory, names[i]);
		if (lstat(file->path, &info) == 0 && S_ISREG(info.st_mode)) {
			file->size = info.st_size;
			file->used_ns = rr_time_ns(info.st_mtim);
			n_files++;
		} else {
			free(file->path);
		}
	}
	qsort(files, n_files, sizeof(*files), compare_use);
	for (size_t i = 0; i < n_files; i++) {
		size += files[i].size;
		if (size > RR_CACHE_MOST)
			unlink(files[i].path);
		free(files[i].path);
	}
	free(files);
	rr_files_free_list(names, n);
}

/* ---- Writing --------------------------------------------------------------------------- */

static bool replace(const char *path, const struct rr_draft *draft)
{
	const mode_t before = umask(0077);
	char *directory = rr_strndup(path, (size_t)(strrchr(path, '/') - path));
	struct rr_error error = { 0 };
	const bool good = rr_cache_make_directory(path) &&
			  rr_files_replace(path, draft->text, draft->length, &error);

	umask(before);
	if (good)
		make_room(directory);
	free(directory);
	return good;
}

bool rr_cache_write(const char *path, const void *key, size_t length, const void *content,
		    size_t n_content)
{
	struct rr_draft draft;
	uint64_t digest = 0;
	bool good;

	rr_draft_open(&draft);
	fputs(first_line, draft.out);
	fwrite(&digest, sizeof(digest), 1, draft.out);
	rr_bytes_put(draft.out, key, length);
	fwrite(content, 1, n_content, draft.out);
	fclose(draft.out);
	digest = rr_bytes_digest(0, draft.text + HEAD, draft.length - HEAD);
	memcpy(draft.text + strlen(first_line), &digest, sizeof(digest));
	good = draft.length <= RR_CACHE_FILE_MOST && replace(path, &draft);
	free(draft.text);
	return good;
}
