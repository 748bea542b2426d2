/* SPDX-License-Identifier: MIT */
#include "opened.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/text.h"

static const char cache_directory[] = "__pycache__";

enum { DIGEST_SIZE = 17 };

/* ---- Files as they are ----------------------------------------------------------------- */

/* What a path leads to. `way` is a digest of how: links, permissions, and what kind of thing is there;
 * `content` one of a file's bytes, or of a listed directory's names. The rest tells a file that was not
 * touched, whose bytes need not be read again. */
struct stamp {
	bool is_file, is_directory;
	uint64_t way, content;
	int64_t size, number, device, changed_ns, written_ns;
};

static uint64_t digest_text(uint64_t before, const char *text)
{
	return rr_bytes_digest(before, text, strlen(text));
}

static struct stamp look_at(const char *path)
{
	char text[PATH_MAX];
	struct stamp stamp = { .is_file = false };
	const ssize_t n = readlink(path, text, sizeof(text));
	struct stat info;

	if (n > 0)
		stamp.way = rr_bytes_digest(1, text, (size_t)n);
	if (stat(path, &info) != 0)
		return stamp;
	if (realpath(path, text))
		stamp.way = digest_text(stamp.way, text);
	stamp.way = rr_bytes_digest(stamp.way, &info.st_mode, sizeof(info.st_mode));
	stamp.is_directory = S_ISDIR(info.st_mode);
	stamp.is_file = S_ISREG(info.st_mode);
	if (stamp.is_file) {
		stamp.size = info.st_size;
		stamp.number = (int64_t)info.st_ino;
		stamp.device = (int64_t)info.st_dev;
		stamp.changed_ns = rr_time_ns(info.st_ctim);
		stamp.written_ns = rr_time_ns(info.st_mtim);
	}
	return stamp;
}

static uint64_t digest_of(const char *path)
{
	enum { SIZE = 256 * 1024 };
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char *bytes = rr_malloc(SIZE);
	uint64_t digest = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, bytes, SIZE)) > 0)
		digest = rr_bytes_digest(digest, bytes, (size_t)n);
	if (fd >= 0)
		close(fd);
	free(bytes);
	return digest;
}

/* In any order. */
static uint64_t digest_names(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	uint64_t sum = 0;

	while (directory && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, cache_directory) != 0)
			sum += digest_text(entry->d_type, entry->d_name);
	}
	if (directory)
		closedir(directory);
	return sum;
}

/* ---- Noting -------------------------------------------------------------------------- */

void rr_opened_release(struct rr_opened *opened)
{
	rr_intern_release(&opened->paths);
	free(opened->listed);
	*opened = (struct rr_opened){ .own = opened->own };
}

/* Is it that directory, or in it? */
static bool is_below(const char *path, const char *directory)
{
	const size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 && (path[length] == '/' || !path[length]);
}

/* DIRECTORY/__pycache__/NAME.cpython-311.pyc: DIRECTORY/NAME.py, malloc'd; NULL: it is no such
 * file, or there is no source. */
static char *source_of(const char *path)
{
	const char *at = strstr(path, cache_directory);
	const char *name = at ? at + strlen(cache_directory) + 1 : NULL;
	char *source;

	if (!at || at == path || at[-1] != '/' || name[-1] != '/' || strchr(name, '/'))
		return NULL;
	source = rr_asprintf("%.*s%.*s.py", (int)(at - path), path, (int)strcspn(name, "."), name);
	if (access(source, R_OK) == 0)
		return source;
	free(source);
	return NULL;
}

bool rr_opened_is_of_cache(const char *path)
{
	const char *last = strrchr(path, '/');
	char *source = source_of(path);
	const bool is = source || (last && strcmp(last + 1, cache_directory) == 0);

	free(source);
	return is;
}

static void add(struct rr_opened *opened, char kind, const char *path)
{
	char *source = source_of(path), *key;
	bool is_new;
	uint32_t number;

	if (path[0] == '/' && !is_below(path, "/proc") && !is_below(path, "/sys") &&
	    (!is_below(path, "/dev") || is_below(path, "/dev/shm")) &&
	    !(opened->own && is_below(path, opened->own))) {
		key = rr_asprintf("%c%s", kind, source ? source : path);
		number = rr_intern_put(&opened->paths, key, strlen(key) + 1, &is_new);
		if (is_new && kind == RR_NOTED_READ && look_at(key + 1).is_directory) {
			rr_array_grow(&opened->listed, opened->n_listed, sizeof(*opened->listed));
			opened->listed[opened->n_listed++] =
				(struct rr_listed){ number, digest_names(key + 1) };
		}
		free(key);
	}
	free(source);
}

void rr_opened_add(struct rr_opened *opened, const char *path)
{
	add(opened, RR_NOTED_READ, path);
}

void rr_opened_note(struct rr_opened *opened, const struct rr_program_page *page,
		    const char *connected)
{
	const uint64_t n = page ? atomic_load(&page->n_noted) : 0;
	const size_t size = n < RR_NOTED_SIZE ? (size_t)n : RR_NOTED_SIZE;

	if (!opened || !page)
		return;
	if (n > RR_NOTED_SIZE)
		snprintf(opened->why, sizeof(opened->why), "a program looks at too many files");
	if (atomic_load(&page->has_unnoted))
		snprintf(
			opened->why, sizeof(opened->why),
			"not all files are known that a program looks at: it is of 32 bits, changes "
			"its root, or hides its memory");
	if (connected[0])
		snprintf(opened->why, sizeof(opened->why), "a program connects to %s, too",
			 connected);
	for (const char *at = page->noted, *end = at + size; at < end;) {
		const size_t length = strnlen(at, (size_t)(end - at));

		/* One that a process was killed over has a hole. */
		if (length > 1 && at + length < end)
			add(opened, *at, at + 1);
		at += length + 1;
	}
}

/* ---- In a record ----------------------------------------------------------------------- */

/* The interpreter of a script is opened by the kernel. */
static void add_interpreter(struct rr_opened *opened, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char line[PATH_MAX] = "";
	const ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	char *name = line + 2;

	if (fd >= 0)
		close(fd);
	if (n < 2 || line[0] != '#' || line[1] != '!')
		return;
	name += strspn(name, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	rr_opened_add(opened, name);
}

static json_t *digest_as_json(uint64_t digest)
{
	char text[DIGEST_SIZE];

	snprintf(text, sizeof(text), "%016" PRIx64, digest);
	return json_string(text);
}

static json_t *stamp_as_json(const char *kind_and_path, const struct stamp *stamp)
{
	const char kind[] = { kind_and_path[0], '\0' };
	json_t *file = json_pack("{s:s, s:s, s:o, s:o}", "path", kind_and_path + 1, "kind", kind,
				 "way", digest_as_json(stamp->way), "content",
				 digest_as_json(stamp->content));

	if (file && stamp->is_file)
		json_object_set_new(file, "untouched",
				    json_pack("[I, I, I, I, I]", (json_int_t)stamp->size,
					      (json_int_t)stamp->number, (json_int_t)stamp->device,
					      (json_int_t)stamp->changed_ns,
					      (json_int_t)stamp->written_ns));
	return file;
}

json_t *rr_opened_as_json(struct rr_opened *opened, int64_t since_ns)
{
	json_t *files = json_array();

	for (uint32_t i = 0; i < opened->paths.n && !opened->why[0]; i++) {
		const char *path = (const char *)rr_intern_get(&opened->paths, i) + 1;
		const bool is_read = path[-1] == RR_NOTED_READ;
		struct stamp stamp = look_at(path);
		bool has_changed = stamp.changed_ns >= since_ns;
		json_t *file;

		if (stamp.is_file && is_read)
			add_interpreter(opened, path);
		path = (const char *)rr_intern_get(&opened->paths, i) + 1;
		if (stamp.is_file)
			stamp.content = digest_of(path);
		else if (stamp.is_directory && is_read)
			stamp.content = digest_names(path);
		for (size_t k = 0; k < opened->n_listed; k++)
			has_changed |= opened->listed[k].path == i &&
				       opened->listed[k].names != stamp.content;
		file = stamp_as_json(path - 1, &stamp);
		if (!file)
			snprintf(opened->why, sizeof(opened->why),
				 "the name of a file is not a text in UTF-8");
		else if (has_changed)
			snprintf(opened->why, sizeof(opened->why),
				 "a program reads and writes %.300s, or it has changed meanwhile",
				 path);
		json_array_append_new(files, file);
	}
	if (!opened->why[0])
		return files;
	json_decref(files);
	return NULL;
}

/* Is it the same file, which nobody has touched since? */
static bool is_untouched(const json_t *known, const struct stamp *now)
{
	const int64_t values[] = { now->size, now->number, now->device, now->changed_ns,
				   now->written_ns };
	bool is = json_array_size(known) == sizeof(values) / sizeof(values[0]);

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]) && is; i++)
		is = json_integer_value(json_array_get(known, i)) == values[i];
	return is;
}

static bool is_same_digest(const json_t *known, uint64_t digest)
{
	char text[DIGEST_SIZE];

	snprintf(text, sizeof(text), "%016" PRIx64, digest);
	return json_is_string(known) && strcmp(json_string_value(known), text) == 0;
}

static bool is_same_file(const json_t *file, const char *path)
{
	const char *kind = json_string_value(json_object_get(file, "kind"));
	const json_t *content = json_object_get(file, "content");
	const struct stamp now = look_at(path);

	if (!is_same_digest(json_object_get(file, "way"), now.way))
		return false;
	if (now.is_file)
		return is_untouched(json_object_get(file, "untouched"), &now) ||
		       is_same_digest(content, digest_of(path));
	return is_same_digest(content, now.is_directory && kind && kind[0] == RR_NOTED_READ ?
					       digest_names(path) :
					       0);
}

bool rr_opened_are_same(const json_t *files, const char **changed)
{
	const json_t *file;
	size_t i;

	*changed = NULL;
	json_array_foreach((json_t *)files, i, file) {
		const char *path = json_string_value(json_object_get(file, "path"));

		if (path && is_same_file(file, path))
			continue;
		*changed = path ? path : "a file";
		return false;
	}
	return json_is_array(files);
}
