/* SPDX-License-Identifier: MIT */
/* The shim's file, and the pages that the program shares with it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cluster_parts.h"

/* ---- The shim's file ------------------------------------------------------ */

/* path = what DIRECTORY/name resolves to; false if there is no such file. */
static bool resolve(const char *directory, const char *name, char *path,
		    size_t size)
{
	char joined[PATH_MAX], resolved[PATH_MAX];

	if (snprintf(joined, sizeof(joined), "%s%s%s", directory,
		     *directory ? "/" : "", name) >= (int)sizeof(joined))
		return false;
	if (!realpath(joined, resolved) || strlen(resolved) >= size)
		return false;
	strcpy(path, resolved);
	return true;
}

void cluster_find_shim(const char *wanted, char *path, size_t size)
{
	char directory[PATH_MAX - 64];
	ssize_t length;

	path[0] = '\0';
	if (wanted) {
		resolve("", wanted, path, size);
		return;
	}
	length = readlink("/proc/self/exe", directory, sizeof(directory) - 1);
	if (length <= 0)
		return;
	directory[length] = '\0';
	*strrchr(directory, '/') = '\0';
	if (!resolve(directory, "redrace-clock.so", path, size))
		resolve(directory, "../libexec/redrace/redrace-clock.so", path,
			size);
}

/* ---- Pages ---------------------------------------------------------------- */

static int make_file(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	/* Blocks now rather than SIGBUS later. */
	if (fd >= 0 &&
	    posix_fallocate(fd, 0, sizeof(struct rr_clock_page)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

enum rr_exit cluster_make_page(const struct rr_cluster *cluster,
			       struct rr_server *server,
			       char error[RR_CLUSTER_ERROR])
{
	char path[128];
	void *page;
	int fd;

	if (!rr_cluster_has_time(cluster))
		return RR_EXIT_OK;
	/* LD_PRELOAD is split at spaces and colons; this path has none. */
	snprintf(path, sizeof(path), "%s/clock.so", server->ward.directory);
	if (symlink(cluster->shim, path) != 0)
		return cluster_fail(error, RR_EXIT_FILE, "cannot make '%s': %s",
				    path, strerror(errno));
	snprintf(path, sizeof(path), "%s/clock", server->ward.directory);
	fd = make_file(path);
	page = fd < 0 ? MAP_FAILED :
			mmap(NULL, sizeof(*server->page),
			     PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (page == MAP_FAILED)
		return cluster_fail(error, RR_EXIT_FILE, "cannot make '%s': %s",
				    path, strerror(errno));
	server->page = page;
	cluster_set_page(cluster, server);
	return RR_EXIT_OK;
}

void cluster_drop_page(struct rr_server *server)
{
	if (server->page)
		munmap(server->page, sizeof(*server->page));
	server->page = NULL;
}

void cluster_set_page(const struct rr_cluster *cluster,
		      struct rr_server *server)
{
	const int64_t ns =
		cluster->epoch_ns + cluster->moved_ns + server->skew_ns;

	if (!server->page)
		return;
	if (cluster->options.clock == RR_CLUSTER_FROZEN)
		atomic_store(&server->page->frozen_ns, ns);
	else
		atomic_store(&server->page->offset_ns, ns);
}

static struct rr_synced *find_synced(const struct rr_server *server,
				     const char *name)
{
	const unsigned n = atomic_load(&server->page->n_synced);

	for (unsigned i = 0; i < n; i++) {
		if (strcmp(server->page->synced[i].name, name) == 0)
			return &server->page->synced[i];
	}
	return NULL;
}

int64_t cluster_synced(const struct rr_server *server, const char *name)
{
	const struct rr_synced *file = find_synced(server, name);

	return file ? atomic_load(&file->length) : 0;
}

void cluster_limit_synced(struct rr_server *server, const char *name,
			  int64_t length)
{
	struct rr_synced *file = find_synced(server, name);

	if (file && atomic_load(&file->length) > length)
		atomic_store(&file->length, length);
}
