/* SPDX-License-Identifier: MIT */
/*
 * Which files a program opens or looks for, also in vain, and which libraries it has mapped: what it
 * does may depend on them. Paths are noted in the page, with the working directory before them.
 * This file is the quick way: the kernel asks redrace about each call that names a file and that
 * does not come from here (cluster/guardian_watch.c), such as those that the C library makes by
 * itself.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Noting -------------------------------------------------------------------------- */

/* The directory that a path begins at: its length, 0 = nobody knows. */
static size_t name_directory(int directory, char *text, size_t size)
{
	char link[40];
	long length;

	if (directory == AT_FDCWD) {
		const long words[6] = { (long)text, (long)size };

		length = rr_shim_kernel_call(SYS_getcwd, words) - 1;
	} else {
		const long words[6] = { AT_FDCWD,   (long)link, (long)text,
					(long)size, 0,          (long)RR_NOTED_CALL };

		snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
		length = rr_shim_kernel_call(SYS_readlinkat, words);
	}
	return length > 0 && (size_t)length < size && text[0] == '/' ? (size_t)length : 0;
}

/* False: the kernel has to ask redrace. */
static bool note_at(char kind, int directory, const char *path)
{
	struct rr_program_page *page = rr_shim_page();
	const int why = errno;
	char whole[PATH_MAX];
	const size_t length = path ? strnlen(path, PATH_MAX) : 0;
	size_t n = 0;

	if (!page || !page->notes_files || length == 0 || length > PATH_MAX / 2)
		return false;
	if (path[0] == '/') {
		rr_program_page_note(page, kind, path, length);
		return true;
	}
	n = name_directory(directory, whole, PATH_MAX - length - 1);
	if (n > 0) {
		whole[n] = '/';
		memcpy(whole + n + 1, path, length);
		rr_program_page_note(page, kind, whole, n + 1 + length);
	}
	errno = why;
	return n > 0;
}

long rr_shim_file_call(long number, const long words[6], char kind)
{
	char real[RR_SHIM_PROC_PATH];
	long noted[6];

	memcpy(noted, words, sizeof(noted));
	noted[1] = (long)rr_shim_real_path((const char *)words[1], real);
	if (note_at(kind, (int)words[0], (const char *)noted[1]))
		noted[5] = (long)RR_NOTED_CALL;
	return rr_shim_kernel_call(number, noted);
}

static int note_library(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	if (info->dlpi_name && info->dlpi_name[0] == '/')
		note_at(RR_NOTED_READ, AT_FDCWD, info->dlpi_name);
	return 0;
}

void rr_shim_note_libraries(void)
{
	char path[PATH_MAX];
	ssize_t n;

	if (!rr_shim_page()->notes_files)
		return;
	n = readlink("/proc/self/exe", path, sizeof(path));
	if (n > 0 && (size_t)n < sizeof(path))
		rr_program_page_note(rr_shim_page(), RR_NOTED_READ, path, (size_t)n);
	dl_iterate_phdr(note_library, NULL);
}

/* ---- open ---------------------------------------------------------------------------- */

/* The kernel asks redrace about it (party/touched.h), but not where there can be no state. */
static int open_to_write(const long words[6])
{
	const char *path = (const char *)words[1];
	char real[RR_SHIM_PROC_PATH];
	long noted[6];

	memcpy(noted, words, sizeof(noted));
	noted[1] = (long)rr_shim_real_path(path, real);
	note_at(rr_noted_kind_of_open((int)words[2]), (int)words[0], (const char *)noted[1]);
	if (path &&
	    (strcmp(path, "/dev/null") == 0 || (rr_shim_is_private(path) && !strstr(path, "/../"))))
		noted[5] = (long)RR_NOTED_CALL;
	return (int)rr_shim_kernel_call(SYS_openat, noted);
}

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
	const long words[6] = { directory, (long)path, flags, (long)mode };

	if (rr_shim_is_random_device(path))
		return rr_shim_open_random(path, flags & O_CLOEXEC);
	if (flags & O_CREAT)
		rr_shim_note_made(path);
	if (!(flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)))
		return (int)rr_shim_file_call(SYS_openat, words, RR_NOTED_READ);
	return open_to_write(words);
}

/* The mode that may be the next argument; without O_CREAT nobody looks at it. */
#define TAKE_MODE(flags, mode)                 \
	do {                                   \
		va_list list;                  \
                                               \
		va_start(list, flags);         \
		(mode) = va_arg(list, mode_t); \
		va_end(list);                  \
	} while (0)

int open(const char *path, int flags, ...)
{
	mode_t mode;

	TAKE_MODE(flags, mode);
	return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int openat(int directory, const char *path, int flags, ...)
{
	mode_t mode;

	TAKE_MODE(flags, mode);
	return open_at(directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...) __attribute__((alias("openat")));

/* What calls with two arguments become with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));
int __openat_2(int directory, const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags) __attribute__((alias("__openat_2")));

int __open_2(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags, 0);
}

int __openat_2(int directory, const char *path, int flags)
{
	return open_at(directory, path, flags, 0);
}

/* ---- Looking ------------------------------------------------------------------------- */

int access(const char *path, int mode)
{
	const long words[6] = { AT_FDCWD, (long)path, mode };

	return (int)rr_shim_file_call(SYS_faccessat, words, RR_NOTED_SEEN);
}

ssize_t readlink(const char *restrict path, char *restrict text, size_t size)
{
	const long words[6] = { AT_FDCWD, (long)path, (long)text, (long)size };

	return rr_shim_file_call(SYS_readlinkat, words, RR_NOTED_SEEN);
}

int statx(int directory, const char *restrict path, int flags, unsigned mask,
	  struct statx *restrict file)
{
	const long words[6] = { directory, (long)path, flags, (long)mask, (long)file };

	return (int)rr_shim_file_call(SYS_statx, words, RR_NOTED_SEEN);
}

/* ---- When files were changed ----------------------------------------------------------- */

/*
 * By the program's clock: one that has been since the program began was changed just now. (A server
 * that looks how old the heartbeats of its workers are, files all of them, would find them years old:
 * gunicorn.) What is older is as it was.
 */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "both are what the kernel fills in");

static void put_own(struct timespec *time)
{
	const struct rr_program_page *page = rr_shim_page();
	const int64_t now_ns = rr_shim_now(CLOCK_REALTIME);

	if (!page || rr_shim_ns(time) < atomic_load(&page->begun_ns))
		return;
	time->tv_sec = now_ns / RR_SHIM_SECOND_NS;
	time->tv_nsec = now_ns % RR_SHIM_SECOND_NS;
}

static int look(int directory, const char *path, struct stat *file, int flags)
{
	const long words[6] = { directory, (long)path, (long)file, flags };
	const int result = (int)rr_shim_file_call(SYS_newfstatat, words, RR_NOTED_SEEN);

	if (result != 0)
		return result;
	put_own(&file->st_atim);
	put_own(&file->st_mtim);
	put_own(&file->st_ctim);
	return 0;
}

int stat(const char *restrict path, struct stat *restrict file)
{
	return look(AT_FDCWD, path, file, 0);
}

int stat64(const char *restrict path, struct stat64 *restrict file)
{
	return look(AT_FDCWD, path, (struct stat *)file, 0);
}

int lstat(const char *restrict path, struct stat *restrict file)
{
	return look(AT_FDCWD, path, file, AT_SYMLINK_NOFOLLOW);
}

int lstat64(const char *restrict path, struct stat64 *restrict file)
{
	return look(AT_FDCWD, path, (struct stat *)file, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *file)
{
	return look(fd, "", file, AT_EMPTY_PATH);
}

int fstat64(int fd, struct stat64 *file)
{
	return look(fd, "", (struct stat *)file, AT_EMPTY_PATH);
}

int fstatat(int directory, const char *restrict path, struct stat *restrict file, int flags)
{
	return look(directory, path, file, flags);
}

int fstatat64(int directory, const char *restrict path, struct stat64 *restrict file, int flags)
{
	return look(directory, path, (struct stat *)file, flags);
}
