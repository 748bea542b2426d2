/* SPDX-License-Identifier: MIT */
#include "opened.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- Noting -------------------------------------------------------------------------- */

void rr_opened_release(struct rr_opened *opened)
{
	rr_intern_release(&opened->paths);
	rr_intern_release(&opened->seen);
	opened->are_too_many = false;
}

static bool begins_with(const char *path, const char *beginning)
{
	return strncmp(path, beginning, strlen(beginning)) == 0;
}

/* DIRECTORY/__pycache__/NAME.cpython-311.pyc: DIRECTORY/NAME.py, malloc'd; NULL: it is no such
 * file, or there is no source. */
static char *source_of(const char *path)
{
	static const char cache[] = "/__pycache__/";
	const char *at = strstr(path, cache), *name = at ? at + strlen(cache) : NULL;
	char *source;

	if (!at || !rr_ends_in(path, ".pyc") || strchr(name, '/'))
		return NULL;
	source = rr_asprintf("%.*s/%.*s.py", (int)(at - path), path, (int)strcspn(name, "."), name);
	if (access(source, R_OK) == 0)
		return source;
	free(source);
	return NULL;
}

/* How a file was opened first is what counts. */
static void add_opened(struct rr_opened *opened, char kind, const char *path)
{
	bool is_new;

	if (path[0] != '/' || begins_with(path, "/proc/") || begins_with(path, "/sys/") ||
	    begins_with(path, "/dev/"))
		return;
	rr_intern_put(&opened->seen, path, strlen(path) + 1, &is_new);
	if (is_new && kind != RR_OPENED_WRITTEN)
		rr_intern_put(&opened->paths, path, strlen(path) + 1, NULL);
}

void rr_opened_add(struct rr_opened *opened, const char *path)
{
	char *source = source_of(path);

	add_opened(opened, RR_OPENED_READ, source ? source : path);
	free(source);
}

void rr_opened_note(struct rr_opened *opened, const struct rr_program_page *page)
{
	const uint64_t n = atomic_load(&page->n_opened);
	const size_t size = n < sizeof(page->opened) ? (size_t)n : sizeof(page->opened);
	const char *at = page->opened, *end = at + size;

	opened->are_too_many |= n > sizeof(page->opened);
	while (at < end) {
		const size_t length = strnlen(at, (size_t)(end - at));
		char *path = length > 1 ? rr_strndup(at + 1, length - 1) : NULL;

		if (path && *at == RR_OPENED_WRITTEN)
			add_opened(opened, RR_OPENED_WRITTEN, path);
		else if (path)
			rr_opened_add(opened, path);
		free(path);
		at += length + 1;
	}
}

/* ---- Files as they are ----------------------------------------------------------------- */

enum kind { IS_ABSENT, IS_FILE, IS_OTHER };

struct stamp {
	enum kind kind;
	int64_t size, number, changed_ns, written_ns;
	uint64_t digest; /* of what is in there */
};

static struct stamp look_at(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0)
		return (struct stamp){ .kind = IS_ABSENT };
	if (!S_ISREG(info.st_mode))
		return (struct stamp){ .kind = IS_OTHER };
	return (struct stamp){ .kind = IS_FILE,
			       .size = info.st_size,
			       .number = (int64_t)info.st_ino,
			       .changed_ns = rr_time_ns(info.st_ctim),
			       .written_ns = rr_time_ns(info.st_mtim) };
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

static void write_stamp(const char *path, const struct stamp *stamp, FILE *out)
{
	rr_bytes_put(out, path, strlen(path) + 1);
	rr_bytes_put_number(out, stamp->kind);
	if (stamp->kind != IS_FILE)
		return;
	rr_bytes_put_number(out, stamp->size);
	rr_bytes_put_number(out, stamp->number);
	rr_bytes_put_number(out, stamp->changed_ns);
	rr_bytes_put_number(out, stamp->written_ns);
	rr_bytes_put_number(out, (int64_t)stamp->digest);
}

bool rr_opened_write(const struct rr_opened *opened, int64_t since_ns, FILE *out,
		     char why[RR_OPENED_WHY])
{
	rr_bytes_put_number(out, opened->paths.n);
	for (uint32_t i = 0; i < opened->paths.n; i++) {
		const char *path = rr_intern_get(&opened->paths, i);
		struct stamp stamp = look_at(path);

		if (stamp.kind == IS_FILE &&
		    (stamp.changed_ns >= since_ns || stamp.written_ns >= since_ns)) {
			snprintf(why, RR_OPENED_WHY, "%s has changed meanwhile", path);
			return false;
		}
		if (stamp.kind == IS_FILE)
			stamp.digest = digest_of(path);
		write_stamp(path, &stamp, out);
	}
	return true;
}

/* A path, as a string; NULL: it is wrong. */
static const char *take_path(struct rr_bytes *bytes)
{
	size_t length;
	const char *path = rr_bytes_take(bytes, &length);

	bytes->is_wrong |= length == 0 || length > PATH_MAX || path[length - 1] != '\0';
	return bytes->is_wrong ? NULL : path;
}

static struct stamp take_stamp(struct rr_bytes *bytes)
{
	struct stamp stamp = {
		.kind = (enum kind)rr_bytes_take_number(bytes, IS_ABSENT, IS_OTHER),
	};

	if (stamp.kind != IS_FILE)
		return stamp;
	stamp.size = rr_bytes_take_number(bytes, 0, INT64_MAX);
	stamp.number = rr_bytes_take_number(bytes, INT64_MIN, INT64_MAX);
	stamp.changed_ns = rr_bytes_take_number(bytes, INT64_MIN, INT64_MAX);
	stamp.written_ns = rr_bytes_take_number(bytes, INT64_MIN, INT64_MAX);
	stamp.digest = (uint64_t)rr_bytes_take_number(bytes, INT64_MIN, INT64_MAX);
	return stamp;
}

/* One that was only touched, or copied to where it was, is the same. */
static bool is_same_file(const char *path, const struct stamp *known)
{
	const struct stamp now = look_at(path);

	if (now.kind != known->kind || now.size != known->size)
		return false;
	return now.kind != IS_FILE ||
	       (now.number == known->number && now.changed_ns == known->changed_ns &&
		now.written_ns == known->written_ns) ||
	       digest_of(path) == known->digest;
}

bool rr_opened_are_same(struct rr_opened *opened, struct rr_bytes *bytes, char why[RR_OPENED_WHY])
{
	const size_t n = rr_bytes_take_count(bytes);
	bool are_same = true;

	for (size_t i = 0; i < n && are_same && !bytes->is_wrong; i++) {
		const char *path = take_path(bytes);
		const struct stamp known = take_stamp(bytes);

		are_same = bytes->is_wrong || is_same_file(path, &known);
		if (!are_same)
			snprintf(why, RR_OPENED_WHY, "%s has changed", path);
		else if (!bytes->is_wrong)
			add_opened(opened, RR_OPENED_READ, path);
	}
	return are_same && !bytes->is_wrong;
}
