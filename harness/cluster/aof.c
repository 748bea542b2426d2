/* SPDX-License-Identifier: MIT */
/* The append-only file on disk: which file it is, where its commands end, how
 * much of it was synced, and how it is cut and damaged. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "server.h"

/* ---- Which file, and its commands ------------------------------------------------ */

int64_t rr_aof_length(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 ? info.st_size : -1;
}

/* The last file of type `i` in the manifest: "file NAME seq 1 type i". */
static bool newest_part(const char *manifest, char *name, size_t size)
{
	FILE *file = fopen(manifest, "re");
	char line[512], part[256], type;
	bool is_found = false;

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "file %255s seq %*d type %c", part, &type) == 2 && type == 'i') {
			snprintf(name, size, "%s", part);
			is_found = true;
		}
	}
	fclose(file);
	return is_found;
}

bool rr_aof_path(const struct rr_server *server, char *path, size_t size, const char **name)
{
	char manifest[192], part[256] = "appendonly.aof";

	/* Before Redis 7.0 it is one file beside dump.rdb. */
	snprintf(manifest, sizeof(manifest), "%s/appendonlydir/appendonly.aof.manifest",
		 server->process.directory);
	if (newest_part(manifest, part, sizeof(part)))
		snprintf(path, size, "%s/appendonlydir/%s", server->process.directory, part);
	else
		snprintf(path, size, "%s/%s", server->process.directory, part);
	*name = strrchr(path, '/') + 1;
	return rr_aof_length(path) >= 0;
}

/* "*3\r\n": the number after the sign; -1 if there is no such line. */
static long read_length(FILE *file, char sign)
{
	char line[32];

	if (!fgets(line, sizeof(line), file) || line[0] != sign)
		return -1;
	return strtol(line + 1, NULL, 10);
}

/* Over one whole command; false at the end and where none begins. */
static bool skip_command(FILE *file, int64_t length)
{
	const long words = read_length(file, '*');

	for (long i = 0; i < words; i++) {
		const long bytes = read_length(file, '$');

		if (bytes < 0 || fseek(file, bytes + 2, SEEK_CUR) != 0 || ftell(file) > length)
			return false;
	}
	return words > 0;
}

/* Where the n-th command begins and ends; false when there are fewer. */
static bool aof_command(const char *path, long n, int64_t *start, int64_t *end)
{
	const int64_t length = rr_aof_length(path);
	FILE *file = fopen(path, "re");
	bool is_there = file && n > 0;

	*start = *end = 0;
	for (long i = 0; is_there && i < n; i++) {
		is_there = skip_command(file, length);
		*start = *end;
		*end = is_there ? ftell(file) : *end;
	}
	if (file)
		fclose(file);
	return is_there;
}

/* Takes the bytes from `start` to `end` out: those behind move up. False with
 * errno. */
static bool aof_take_out(const char *path, int64_t start, int64_t end)
{
	const int64_t behind = rr_aof_length(path) - end;
	FILE *file = fopen(path, "r+e");
	char *bytes = rr_malloc((size_t)behind + 1);
	bool done = file && fseek(file, end, SEEK_SET) == 0 &&
		    fread(bytes, 1, (size_t)behind, file) == (size_t)behind &&
		    fseek(file, start, SEEK_SET) == 0 &&
		    fwrite(bytes, 1, (size_t)behind, file) == (size_t)behind;

	free(bytes);
	if (file && fclose(file) != 0)
		done = false;
	return done && truncate(path, start + behind) == 0;
}

/* Makes one byte another. False with errno. */
static bool aof_overwrite(const char *path, int64_t at)
{
	FILE *file = fopen(path, "r+e");
	bool done = file && fseek(file, at, SEEK_SET) == 0 && fputc('?', file) == '?';

	if (file && fclose(file) != 0)
		done = false;
	return done;
}

/* ---- How much of it was synced ------------------------------------------------ */

static struct rr_synced *find_synced(const struct rr_server *server, const char *name)
{
	const unsigned n = atomic_load(&server->page->n_synced);

	for (unsigned i = 0; i < n; i++) {
		if (strcmp(server->page->synced[i].name, name) == 0)
			return &server->page->synced[i];
	}
	return NULL;
}

int64_t rr_aof_synced(const struct rr_server *server, const char *name)
{
	const struct rr_synced *file = find_synced(server, name);

	return file ? atomic_load(&file->length) : 0;
}

void rr_aof_forget_torn(struct rr_server *server)
{
	struct rr_synced *file;
	const char *name;
	char path[512];

	if (!server->page || !rr_aof_path(server, path, sizeof(path), &name))
		return;
	file = find_synced(server, name);
	if (file && atomic_load(&file->length) > rr_aof_length(path))
		atomic_store(&file->length, rr_aof_length(path));
}

/* ---- Truncation and damage ------------------------------------------------------ */

bool rr_aof_shorten(const char *path, int64_t length, struct rr_error *error)
{
	return truncate(path, length) == 0 || rr_error_file(error, "cut", path);
}

/* Where to cut; -1 when the file does not have that. */
static int64_t tear_at(const char *path, enum rr_tear tear, long n)
{
	const int64_t length = rr_aof_length(path);
	int64_t start, end;

	if (n < 0)
		return -1;
	if (tear == RR_TEAR_LAST_BYTES)
		return n <= length ? length - n : -1;
	if (tear == RR_TEAR_AT_BYTE)
		return n <= length ? n : -1;
	if (tear == RR_TEAR_AFTER_COMMAND && n == 0)
		return 0;
	if (!aof_command(path, n, &start, &end))
		return -1;
	return tear == RR_TEAR_IN_COMMAND ? (start + end) / 2 : end;
}

bool rr_aof_tear(const char *path, enum rr_tear tear, long n, struct rr_error *error)
{
	int64_t at, start, end;

	/* One command in the middle; the later ones stay. */
	if ((tear == RR_TEAR_OVER_COMMAND || tear == RR_TEAR_WITHOUT_COMMAND) &&
	    aof_command(path, n, &start, &end))
		return (tear == RR_TEAR_OVER_COMMAND ? aof_overwrite(path, start) :
						       aof_take_out(path, start, end)) ||
		       rr_error_file(error, "change", path);
	at = tear_at(path, tear, n);
	return at >= 0 && rr_aof_shorten(path, at, error);
}
