/* SPDX-License-Identifier: MIT */
/* Which files are sources of the project itself. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "project.h"

/* A large project is read in part, which is enough for a first suite. */
enum { DEPTH_MOST = 5, SOURCES_MOST = 1000, SOURCE_BYTES = 256 * 1024 };

static bool is_one_of(const char *name, const char *words)
{
	return rr_has_word(words, " ", name);
}

/* Packages, what is made of sources, tests and pages. */
static bool is_left_out(const char *name)
{
	return name[0] == '.' ||
	       is_one_of(name,
			 "node_modules bower_components venv env virtualenv vendor dist build "
			 "target out coverage test tests spec specs __tests__ __pycache__ "
			 "checks docs doc static assets migrations site-packages");
}

static bool is_source(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && name[0] != '.' &&
	       is_one_of(dot + 1, "js mjs cjs ts mts cts py go rb ru php java kt rs") &&
	       !strstr(name, ".test.") && !strstr(name, ".spec.") && !strstr(name, ".min.") &&
	       !strstr(name, ".d.ts") && !strstr(name, "_test.") && strncmp(name, "test_", 5) != 0;
}

static void read_directory(struct rr_sources *sources, const char *directory, int depth)
{
	struct dirent **entries = NULL;
	const int n = scandir(directory[0] ? directory : ".", &entries, NULL, alphasort);
	struct rr_error unread = { 0 };

	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		char *path = rr_asprintf("%s%s%s", directory, directory[0] ? "/" : "", name);
		struct stat info;
		size_t length;

		/* A link may lead round. */
		if (lstat(path, &info) != 0)
			info.st_mode = 0;
		if (S_ISDIR(info.st_mode) && depth < DEPTH_MOST && !is_left_out(name))
			read_directory(sources, path, depth + 1);
		if (S_ISREG(info.st_mode) && is_source(name) && info.st_size <= SOURCE_BYTES &&
		    sources->n < SOURCES_MOST) {
			char *text = rr_files_read(path, RR_ERROR_FILE, 1, &length, &unread);

			if (text) {
				rr_array_grow(&sources->all, sources->n, sizeof(*sources->all));
				sources->all[sources->n++] = (struct rr_source){ rr_strdup(path),
										 text };
			}
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
}

void rr_sources_read(struct rr_sources *sources)
{
	*sources = (struct rr_sources){ .n = 0 };
	read_directory(sources, "", 0);
}

void rr_sources_release(struct rr_sources *sources)
{
	for (size_t i = 0; i < sources->n; i++) {
		free(sources->all[i].path);
		free(sources->all[i].text);
	}
	free(sources->all);
	*sources = (struct rr_sources){ .n = 0 };
}
