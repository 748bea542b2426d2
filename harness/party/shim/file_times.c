/* SPDX-License-Identifier: MIT */
/*
 * When files were changed, by the program's clock: one that has been since the program began was
 * changed just now. (A server that looks how old the heartbeats of its workers are, files all of
 * them, would find them years old: gunicorn.) What is older is as it was.
 */
#include "shim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

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
