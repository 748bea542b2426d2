/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a server: its wall clock is what a shared page says, what it takes
 * from /dev/urandom can be the same each time, and its fsync can be slow or deadly. The monotonic clock is left alone, for the
 * server's event loop waits by it; but the server may not read it from the
 * processor by itself.
 *
 * Allocators read the clock while they start, and a wrapper that asks the
 * loader for the real function then waits for itself; so until this library's
 * constructor has run, and wherever it does not matter, the kernel is asked
 * directly. Nothing of that allocates. A preloaded library has no caller that
 * could own its state: hence the one static struct.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "cluster/clock_page.h"

enum { RANDOM_BYTES = 1024 };

typedef int clock_function(clockid_t, struct timespec *);
typedef FILE *open_function(const char *, const char *);

static struct {
	struct rr_clock_page *page; /* NULL: nothing is changed */
	clock_function *real;       /* by way of the vDSO */
	pid_t pid;                  /* children that save snapshots differ */
	pthread_mutex_t recording;
	unsigned char random[RANDOM_BYTES];
} shim = { .recording = PTHREAD_MUTEX_INITIALIZER };

static struct rr_clock_page *map_page(const char *path)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	struct rr_clock_page *page;

	if (fd < 0)
		return NULL;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

__attribute__((constructor)) static void attach_page(void)
{
	const char *path = getenv(RR_CLOCK_PAGE_VARIABLE);
	void *real = dlsym(RTLD_NEXT, "clock_gettime");

	memcpy(&shim.real, &real, sizeof(real));
	shim.pid = getpid();
	if (path)
		shim.page = map_page(path);
	if (shim.page)
		atomic_store(&shim.page->pid, shim.pid);
}

/* ---- The clock ------------------------------------------------------------ */

static int real_time(clockid_t clock, struct timespec *time)
{
	if (shim.real)
		return shim.real(clock, time);
	return (int)syscall(SYS_clock_gettime, clock, time);
}

/* Not errno, not the stack of a signal handler: safe wherever time is read. */
static void wall_time(struct timespec *time)
{
	int64_t ns = shim.page ? atomic_load(&shim.page->frozen_ns) : 0;

	if (ns == 0) {
		real_time(CLOCK_REALTIME, time);
		if (!shim.page)
			return;
		ns = time->tv_sec * INT64_C(1000000000) + time->tv_nsec +
		     atomic_load(&shim.page->offset_ns);
	}
	time->tv_sec = ns / 1000000000;
	time->tv_nsec = ns % 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
		return real_time(clock, now);
	wall_time(now);
	return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec precise;

	(void)zone; /* obsolete, and nobody fills it in */
	wall_time(&precise);
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *result)
{
	struct timespec now;

	wall_time(&now);
	if (result)
		*result = now.tv_sec;
	return now.tv_sec;
}

/*
 * From 9.1 on Valkey asks for the wall clock only once a millisecond, and
 * between adds what the processor's cycle counter says, so that its time runs
 * on and a time that is set comes late. It counts cycles only if it learns from this file
 * how fast they are; else it asks each time, as other servers do.
 */
static FILE *open_other(const char *which, const char *path, const char *mode)
{
	open_function *next;
	void *found;

	if (shim.page && strcmp(path, "/proc/cpuinfo") == 0) {
		errno = ENOENT;
		return NULL;
	}
	if (shim.page && atomic_load(&shim.page->seed) && strcmp(path, "/dev/urandom") == 0) {
		/*
		 * Servers take 64 bytes from /dev/urandom when they start, and make all that is
		 * random of these: the seed of their hash tables, which gives the order of a set's
		 * members, and their names among other servers. Each start of each server has
		 * others, and the same ones in the next run.
		 */
		struct rr_random random = { .state = atomic_load(&shim.page->seed) << 32 |
						     atomic_fetch_add(&shim.page->n_seeded, 1) };

		for (size_t i = 0; i < sizeof(shim.random); i += sizeof(uint64_t)) {
			const uint64_t word = rr_random_next(&random);

			memcpy(&shim.random[i], &word, sizeof(word));
		}
		return fmemopen(shim.random, sizeof(shim.random), "r");
	}
	found = dlsym(RTLD_NEXT, which);
	memcpy(&next, &found, sizeof(next));
	return next ? next(path, mode) : NULL;
}

FILE *fopen(const char *restrict path, const char *restrict mode)
{
	return open_other("fopen", path, mode);
}

FILE *fopen64(const char *restrict path, const char *restrict mode)
{
	return open_other("fopen64", path, mode);
}

/* ---- The disk ------------------------------------------------------------- */

/* The last part of the path behind a descriptor; false if it has none. */
static bool name_of(int fd, char name[RR_SYNCED_NAME])
{
	char link[32] = "/proc/self/fd/", path[512], digits[12];
	const char *last;
	size_t n = 0, to = strlen(link);
	ssize_t length;

	do {
		digits[n++] = (char)('0' + fd % 10);
		fd /= 10;
	} while (fd);
	while (n)
		link[to++] = digits[--n];
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	last = strrchr(path, '/');
	if (!last || strlen(last + 1) >= RR_SYNCED_NAME)
		return false;
	strcpy(name, last + 1);
	return true;
}

/* What is written while the disk is busy is not covered: the length counts
 * from before. In a child that saves a snapshot nothing is recorded, for its
 * copy of the mutex may be held for ever. */
static int synchronise(long call, int fd)
{
	const bool is_server = shim.page && getpid() == shim.pid;
	struct stat before;
	int result;

	if (!is_server)
		return (int)syscall(call, fd);
	if (atomic_exchange(&shim.page->die_in_sync, 0))
		kill(shim.pid, SIGKILL);
	if (fstat(fd, &before) != 0)
		return -1;
	const int64_t us = atomic_load(&shim.page->sync_delay_us);
	struct timespec left = { us / 1000000, us % 1000000 * 1000 };

	while (us > 0 && nanosleep(&left, &left) != 0)
		continue;
	result = (int)syscall(call, fd);
	if (result == 0 && S_ISREG(before.st_mode)) {
		/* A name is written before it is counted: readers need no lock. */
		const int64_t length = before.st_size;
		struct rr_clock_page *page = shim.page;
		char name[RR_SYNCED_NAME];
		unsigned n, i = 0;

		if (name_of(fd, name)) {
			pthread_mutex_lock(&shim.recording);
			n = atomic_load(&page->n_synced);
			while (i < n && strcmp(page->synced[i].name, name) != 0)
				i++;
			if (i < RR_SYNCED_MAX)
				atomic_store(&page->synced[i].length, length);
			if (i == n && i < RR_SYNCED_MAX) {
				strcpy(page->synced[i].name, name);
				atomic_store(&page->n_synced, n + 1);
			}
			pthread_mutex_unlock(&shim.recording);
		}
	}
	return result;
}

int fsync(int fd)
{
	return synchronise(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return synchronise(SYS_fdatasync, fd);
}
