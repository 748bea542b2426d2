/* SPDX-License-Identifier: MIT */
/*
 * Which files a program opens, also in vain, and which libraries it has mapped: what it does
 * may depend on them. Paths are noted in the page, as they are when the working directory is
 * put before them. What the C library opens by itself (a locale, a time zone) is not seen.
 */
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Noting -------------------------------------------------------------------------- */

static void note(char kind, const char *path, size_t length)
{
	struct rr_program_page *page = rr_shim_page();
	const size_t size = length + 2;
	const uint64_t at = atomic_fetch_add(&page->n_opened, size);

	if (at + size > sizeof(page->opened))
		return;
	memcpy(page->opened + at + 1, path, length);
	page->opened[at] = kind;
}

/* The directory that a path begins at: its length, 0 = nobody knows. */
static size_t name_directory(int directory, char *text, size_t size)
{
	char link[40];
	long length;

	if (directory == AT_FDCWD) {
		const long words[6] = { (long)text, (long)size };

		length = rr_shim_kernel_call(SYS_getcwd, words) - 1;
	} else {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
		length = readlink(link, text, size);
	}
	return length > 0 && (size_t)length < size && text[0] == '/' ? (size_t)length : 0;
}

static void note_at(int directory, const char *path, bool is_written)
{
	const char kind = is_written ? RR_OPENED_WRITTEN : RR_OPENED_READ;
	const int why = errno;
	char whole[PATH_MAX];
	const size_t length = path ? strnlen(path, PATH_MAX) : 0;
	size_t n = 0;

	if (!rr_shim_page() || length == 0 || length > PATH_MAX / 2)
		return;
	if (path[0] == '/') {
		note(kind, path, length);
	} else if ((n = name_directory(directory, whole, PATH_MAX - length - 1)) > 0) {
		whole[n] = '/';
		memcpy(whole + n + 1, path, length);
		note(kind, whole, n + 1 + length);
	}
	errno = why;
}

static int note_library(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	if (info->dlpi_name && info->dlpi_name[0] == '/')
		note_at(AT_FDCWD, info->dlpi_name, false);
	return 0;
}

void rr_shim_note_libraries(void)
{
	char path[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	if (n > 0 && (size_t)n < sizeof(path))
		note(RR_OPENED_READ, path, (size_t)n);
	dl_iterate_phdr(note_library, NULL);
}

/* ---- open ---------------------------------------------------------------------------- */

/* Is it only written, so that what was in there is of no importance? */
static bool is_written(int flags)
{
	return (flags & O_ACCMODE) == O_WRONLY || flags & (O_CREAT | O_TRUNC);
}

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
	const long words[6] = { directory, (long)path, flags, (long)mode };

	note_at(directory, path, is_written(flags));
	return (int)rr_shim_kernel_call(SYS_openat, words);
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

/* ---- fopen --------------------------------------------------------------------------- */

/* "r" and "r+" read what is there. */
FILE *fopen(const char *path, const char *mode)
{
	note_at(AT_FDCWD, path, mode && mode[0] != 'r');
	return RR_SHIM_NEXT(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

/* ---- execve -------------------------------------------------------------------------- */

/* A static program has nobody who notes it. */
int execve(const char *path, char *const argv[], char *const environment[])
{
	const long words[6] = { (long)path, (long)argv, (long)environment };

	note_at(AT_FDCWD, path, false);
	return (int)rr_shim_kernel_call(SYS_execve, words);
}
