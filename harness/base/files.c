/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format.h"
#include "machine.h"
#include "memory.h"
#include "text.h"

enum { READER_LOOK_US = 20000 };

char *rr_files_read(const char *path, enum rr_error_kind kind, size_t most_mib, size_t *length,
		    struct rr_error *error)
{
	FILE *file = fopen(path, "re"), *into;
	char chunk[1 << 16], *text;
	size_t n, total = 0;
	bool good = true;

	if (!file) {
		rr_error_set(error, errno == ENOENT || errno == ENOTDIR ? RR_ERROR_USAGE : kind,
			     "cannot read '%s': %s", path, strerror(errno));
		return NULL;
	}
	into = rr_open_memory(&text, length);
	while (good && (n = fread(chunk, 1, sizeof(chunk), file)) > 0) {
		fwrite(chunk, 1, n, into);
		total += n;
		good = total <= most_mib << 20 ||
		       rr_error_set(error, RR_ERROR_DATA,
				    "'%s' is larger than %zu MiB: name a smaller one", path,
				    most_mib);
	}
	if (good && ferror(file))
		good = rr_error_set(error, kind, "cannot read '%s': %s", path, strerror(errno));
	fclose(file);
	if (fclose(into) != 0)
		rr_out_of_memory();
	if (good)
		return text;
	free(text);
	return NULL;
}

bool rr_files_make_directory(const char *path, struct rr_error *error)
{
	char partial[RR_PATH_SIZE];
	struct stat info;

	if (strlen(path) >= sizeof(partial)) {
		errno = ENAMETOOLONG;
		return rr_error_file(error, "create", path);
	}
	for (const char *at = path; *at; at++) {
		const size_t length = strcspn(at + 1, "/") + 1;

		at += length - 1;
		memcpy(partial, path, (size_t)(at + 1 - path));
		partial[at + 1 - path] = '\0';
		if (mkdir(partial, 0777) != 0 && errno != EEXIST)
			return rr_error_file(error, "create", path);
	}
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return true;
	errno = ENOTDIR;
	return rr_error_file(error, "create", path);
}

bool rr_files_make_new_directory(const char *path, struct rr_error *error)
{
	return mkdir(path, 0777) == 0 || rr_error_file(error, "create", path);
}

/* ---- Replacing a file ----------------------------------------------------------- */

/* Writes all of it and closes the file; false, and errno: EAGAIN says that nobody reads. */
static bool write_and_close(int fd, const char *text, size_t length)
{
	int why = fd < 0 ? errno : 0;

	while (!why && length > 0) {
		const ssize_t written = write(fd, text, length);
		struct pollfd pipe = { .fd = fd, .events = POLLOUT };

		/* A pipe that does not wait is full: its reader makes room within some seconds. */
		if (written < 0 && (errno == EINTR ||
				    (errno == EAGAIN && poll(&pipe, 1, 1000 * RR_FILES_READER_S))))
			continue;
		if (written <= 0) {
			why = written < 0 ? errno : ENOSPC;
			break;
		}
		text += written;
		length -= (size_t)written;
	}
	if (fd >= 0 && close(fd) != 0 && !why)
		why = errno;
	errno = why;
	return why == 0;
}

/* These are links, also to files, and have to be followed. */
static bool is_descriptor(const char *path)
{
	static const char *const names[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(path, names[i]) == 0)
			return true;
	}
	return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* What was closed is replaced by what nobody reads (main.c), which the name would open for
 * writing as well. */
static bool is_closed(const char *path)
{
	const int fd = strcmp(path, "/dev/stdout") == 0 ? STDOUT_FILENO :
		       strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO :
							  -1;

	if (fd < 0 || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
		return false;
	errno = EBADF;
	return true;
}

static bool is_pipe(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISFIFO(info.st_mode);
}

/* A device, a pipe or a socket, and what stands for a descriptor: root's
 * `-o /dev/stdout` must not leave a file of that name to everybody. */
static bool is_special(const char *path)
{
	struct stat info;

	return is_descriptor(path) ||
	       (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

/* A pipe that nobody reads is waited for a little: its reader may be on its way. Looks are
 * counted, for where processors are busy the reader is late, too. */
static bool write_special(const char *path, int how, const char *text, size_t length)
{
	int looks = RR_FILES_READER_S * 1000000 / READER_LOOK_US;
	sigset_t before;
	bool good;
	int fd;

	rr_signals_let(&before);
	do {
		fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK | how);
		if (fd >= 0 || errno != ENXIO || !is_pipe(path))
			break;
		usleep(READER_LOOK_US);
		errno = ENXIO;
	} while (--looks > 0);
	/* Standard output may wait, for somebody who pages through it. */
	if (fd >= 0 && (is_descriptor(path) || !is_pipe(path)))
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	good = write_and_close(fd, text, length);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return good;
}

/* A name beside `path` that nobody can know before. */
static bool name_beside(const char *path, char other[RR_PATH_SIZE])
{
	const char *slash = strrchr(path, '/');
	const int folder = slash ? (int)(slash + 1 - path) : 0;
	unsigned long number[2];

	if (getrandom(number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return false;
	if (snprintf(other, RR_PATH_SIZE, "%.*s.redrace-%016lx%016lx", folder, path, number[0],
		     number[1]) < RR_PATH_SIZE)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/* Renames what is there under another name; that name is gone in any case. */
static bool put_in_place(bool is_there, const char *other, const char *path)
{
	int why;

	if (is_there && rename(other, path) == 0)
		return true;
	why = errno;
	unlink(other);
	errno = why;
	return false;
}

bool rr_files_can_write(const char *path, struct rr_error *error)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? rr_asprintf("%.*s", (int)(slash + 1 - path), path) : rr_strdup(".");
	const bool is_kept = is_special(path);
	struct stat info;
	bool good;
	int why;

	/* Another name beside it can be renamed if it is no directory, and its own can be written. */
	good = is_kept ? access(path, W_OK) == 0 && !is_closed(path) :
			 access(folder, W_OK | X_OK) == 0;
	why = errno;
	free(folder);
	errno = why;
	if (good && !is_kept && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
		errno = EISDIR;
		good = false;
	}
	return good || rr_error_file(error, "write", path);
}

/* A file was not written, and errno says why. */
static bool cannot_write(const char *path, struct rr_error *error)
{
	const char *what = errno == ENXIO && is_pipe(path) ?
				   "no process has opened this pipe to read it" :
			   errno == EAGAIN ?
				   "the process that has opened this pipe has read nothing" :
				   NULL;

	if (!what)
		return rr_error_file(error, "write", path);
	return rr_error_set(error, RR_ERROR_FILE, "cannot write '%s': %s in %d s", path, what,
			    RR_FILES_READER_S);
}

bool rr_files_replace(const char *path, const char *text, size_t length, struct rr_error *error)
{
	char other[RR_PATH_SIZE];
	sigset_t before;
	bool good;
	int fd;

	if (is_special(path)) {
		good = write_special(path, O_TRUNC, text, length);
	} else if ((good = name_beside(path, other))) {
		rr_signals_hold(&before);
		fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		good = fd >= 0 && put_in_place(write_and_close(fd, text, length), other, path);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	return good || cannot_write(path, error);
}

bool rr_files_append(const char *path, const char *text, size_t length, struct rr_error *error)
{
	return (is_special(path) ?
			write_special(path, O_APPEND, text, length) :
			write_and_close(open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666),
					text, length)) ||
	       cannot_write(path, error);
}

bool rr_draft_is_for_page(const char *path, struct rr_error *error)
{
	enum rr_format format;

	if (!path && isatty(STDOUT_FILENO))
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"where to? A page would fill the terminal: name a file with -o FILE");
	return !path || rr_format_of_file(path, 1U << RR_FORMAT_HTML, &format) ||
	       rr_error_set(error, RR_ERROR_USAGE,
			    "--output '%s': a page is HTML: expected .html at its end", path);
}

void rr_draft_open(struct rr_draft *draft)
{
	*draft = (struct rr_draft){ 0 };
	draft->out = rr_open_memory(&draft->text, &draft->length);
}

bool rr_draft_replace(struct rr_draft *draft, const char *path, struct rr_error *error)
{
	if (fclose(draft->out) != 0)
		rr_out_of_memory();
	if (!error->kind && path)
		rr_files_replace(path, draft->text, draft->length, error);
	else if (!error->kind)
		fwrite(draft->text, 1, draft->length, stdout);
	free(draft->text);
	return !error->kind;
}

/* ---- Folders --------------------------------------------------------------------- */

char **rr_files_list(const char *folder, const char *suffix, size_t *n)
{
	struct dirent **entries = NULL;
	const int found = scandir(folder, &entries, NULL, alphasort);
	char **names = rr_calloc(found > 0 ? (size_t)found : 0, sizeof(*names));

	*n = 0;
	if (found >= 0)
		errno = 0;
	for (int i = 0; i < found; i++) {
		if (entries[i]->d_name[0] != '.' && rr_ends_in(entries[i]->d_name, suffix))
			names[(*n)++] = rr_strdup(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return names;
}

void rr_files_free_list(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

bool rr_files_program_directory(char path[RR_PATH_SIZE])
{
	const ssize_t length = readlink("/proc/self/exe", path, RR_PATH_SIZE - 1);

	if (length <= 0)
		return false;
	path[length] = '\0';
	*strrchr(path, '/') = '\0';
	return true;
}

bool rr_files_find_folder(const char *in_tree, const char *installed, char path[RR_PATH_SIZE])
{
	/* From the program's own directory. */
	const char *const above[] = { "..", "../..", "../share/redrace" };
	char program[RR_PATH_SIZE];
	bool is_known;

	snprintf(path, RR_PATH_SIZE, "%s", in_tree);
	if (access(path, R_OK) == 0)
		return true;
	is_known = rr_files_program_directory(program);
	for (size_t i = 0; is_known && i < 3; i++) {
		snprintf(path, RR_PATH_SIZE, "%.900s/%s/%.80s", program, above[i],
			 i < 2 ? in_tree : installed);
		if (access(path, R_OK) == 0)
			return true;
	}
	path[0] = '\0';
	return false;
}

bool rr_files_link(const char *path, const char *target, struct rr_error *error)
{
	char other[RR_PATH_SIZE];
	sigset_t before;
	bool good;

	if (!name_beside(path, other))
		return rr_error_file(error, "link", path);
	rr_signals_hold(&before);
	good = symlink(target, other) == 0 && put_in_place(true, other, path);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return good || rr_error_file(error, "link", path);
}

void *rr_files_map_new(const char *path, size_t size)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	void *memory = MAP_FAILED;

	if (fd < 0)
		return NULL;
	errno = posix_fallocate(fd, 0, (off_t)size);
	if (errno == 0)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}
