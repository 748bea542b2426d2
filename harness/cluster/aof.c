/* SPDX-License-Identifier: MIT */
/* The append-only file on disk: which file it is, where its commands end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster_parts.h"

/* The last file of type `i` in the manifest: "file NAME seq 1 type i". */
static bool newest_part(const char *manifest, char *name, size_t size)
{
	FILE *file = fopen(manifest, "re");
	char line[512], part[256], type;
	bool is_found = false;

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "file %255s seq %*d type %c", part, &type) ==
			    2 &&
		    type == 'i') {
			snprintf(name, size, "%s", part);
			is_found = true;
		}
	}
	fclose(file);
	return is_found;
}

bool cluster_aof_path(const struct rr_server *server, char *path, size_t size,
		      const char **name)
{
	char manifest[192], part[256] = "appendonly.aof";

	/* Before Redis 7.0 it is one file beside dump.rdb. */
	snprintf(manifest, sizeof(manifest),
		 "%s/appendonlydir/appendonly.aof.manifest",
		 server->ward.directory);
	if (newest_part(manifest, part, sizeof(part)))
		snprintf(path, size, "%s/appendonlydir/%s",
			 server->ward.directory, part);
	else
		snprintf(path, size, "%s/%s", server->ward.directory, part);
	*name = strrchr(path, '/') + 1;
	return cluster_file_length(path) >= 0;
}

int64_t cluster_file_length(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 ? info.st_size : -1;
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

		if (bytes < 0 || fseek(file, bytes + 2, SEEK_CUR) != 0 ||
		    ftell(file) > length)
			return false;
	}
	return words > 0;
}

bool cluster_aof_command(const char *path, long n, int64_t *start, int64_t *end)
{
	const int64_t length = cluster_file_length(path);
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

bool cluster_aof_take_out(const char *path, int64_t start, int64_t end)
{
	const int64_t behind = cluster_file_length(path) - end;
	FILE *file = fopen(path, "r+e");
	char *bytes = malloc((size_t)behind + 1);
	bool done = file && bytes && fseek(file, end, SEEK_SET) == 0 &&
		    fread(bytes, 1, (size_t)behind, file) == (size_t)behind &&
		    fseek(file, start, SEEK_SET) == 0 &&
		    fwrite(bytes, 1, (size_t)behind, file) == (size_t)behind;

	free(bytes);
	if (file && fclose(file) != 0)
		done = false;
	return done && truncate(path, start + behind) == 0;
}

bool cluster_aof_overwrite(const char *path, int64_t at)
{
	FILE *file = fopen(path, "r+e");
	bool done = file && fseek(file, at, SEEK_SET) == 0 &&
		    fputc('?', file) == '?';

	if (file && fclose(file) != 0)
		done = false;
	return done;
}
