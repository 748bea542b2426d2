/* SPDX-License-Identifier: MIT */
#include "process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_SIZE = 512, PATH_SIZE = 320 };

/* A look that goes on. */
struct sight {
	const struct rr_process_tree *tree;
	struct rr_process_look look;
};

/* How much of a file there is; text becomes a string. */
static size_t read_text(const char *path, char text[TEXT_SIZE])
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd >= 0 ? read(fd, text, TEXT_SIZE - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* ---- A thread ------------------------------------------------------------------ */

/* The state of a thread, a letter of proc(5). */
static char thread_state(const char *path)
{
	char text[TEXT_SIZE];
	const char *name_end;

	if (read_text(path, text) == 0)
		return 'X';
	name_end = strrchr(text, ')');
	return name_end && name_end[1] ? name_end[2] : 'X';
}

/* FNV-1a. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) *
		       UINT64_C(0x100000001b3);
	return hash;
}

/* How often and how long a thread has run; one that waits for time, its ticket. */
static uint64_t thread_stamp(const struct sight *sight, const char *directory,
			     const char *thread)
{
	const uint64_t begin =
		hash_text(UINT64_C(0xcbf29ce484222325), thread);
	const uint64_t ticket = rr_program_clock_ticket(sight->tree->clock,
							(pid_t)atoi(thread));
	char path[PATH_SIZE], text[TEXT_SIZE];

	if (ticket)
		return (begin ^ ticket) * UINT64_C(0x100000001b3);
	snprintf(path, sizeof(path), "%s/schedstat", directory);
	read_text(path, text);
	return hash_text(begin, text);
}

/* ---- A process ------------------------------------------------------------------- */

static void look_at_family(struct sight *sight, pid_t pid);

static void look_at_children(struct sight *sight, const char *directory)
{
	char path[PATH_SIZE];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "%s/children", directory);
	file = fopen(path, "re");
	while (file && sight->look.sleeps && fscanf(file, "%d", &child) == 1)
		look_at_family(sight, child);
	if (file)
		fclose(file);
}

static void look_at_thread(struct sight *sight, pid_t pid, const char *thread)
{
	char directory[PATH_SIZE - 16], path[PATH_SIZE];

	snprintf(directory, sizeof(directory), "/proc/%d/task/%s", pid, thread);
	snprintf(path, sizeof(path), "%s/stat", directory);
	if (!strchr("SZTtXI", thread_state(path))) {
		sight->look.sleeps = false;
		return;
	}
	sight->look.stamp += thread_stamp(sight, directory, thread);
	look_at_children(sight, directory);
}

/* Do all threads of a process and its children wait for something? */
static void look_at_family(struct sight *sight, pid_t pid)
{
	char path[PATH_SIZE];
	const struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && sight->look.sleeps && (entry = readdir(tasks))) {
		if (entry->d_name[0] != '.')
			look_at_thread(sight, pid, entry->d_name);
	}
	if (tasks)
		closedir(tasks);
}

/* ---- A program ------------------------------------------------------------------- */

/* Has a child of the launcher ended, so that it will say so at once? The first thread
 * of a process may end before the others, of which the kernel counts it as one. */
static bool is_dead(pid_t pid)
{
	char path[PATH_SIZE];
	struct stat tasks;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!strchr("ZX", thread_state(path)))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return stat(path, &tasks) != 0 || tasks.st_nlink <= 3;
}

/* Those whose parent has ended are children of the launcher. */
static void look_at_orphans(struct sight *sight)
{
	const struct rr_process_tree *tree = sight->tree;
	char path[PATH_SIZE];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
		 tree->launcher, tree->launcher);
	file = fopen(path, "re");
	while (file && sight->look.sleeps && fscanf(file, "%d", &child) == 1) {
		if (child == tree->pid || getpgid(child) != tree->pid)
			continue;
		sight->look.sleeps = !is_dead(child);
		look_at_family(sight, child);
	}
	if (file)
		fclose(file);
}

struct rr_process_look rr_process_tree_look(const struct rr_process_tree *tree)
{
	struct sight sight = { tree, { true, 0 } };

	if (!tree->has_ended) {
		sight.look.sleeps = !is_dead(tree->pid);
		look_at_family(&sight, tree->pid);
	}
	look_at_orphans(&sight);
	return sight.look;
}

/* ---- Strays ---------------------------------------------------------------------- */

static bool has_port(const char *pid, unsigned port)
{
	char path[280], wanted[32], *word = NULL;
	size_t capacity = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	snprintf(wanted, sizeof(wanted), "REDIS_PORT=%u", port);
	file = fopen(path, "re");
	while (file && !found && getdelim(&word, &capacity, '\0', file) > 0)
		found = strcmp(word, wanted) == 0;
	if (file)
		fclose(file);
	free(word);
	return found;
}

bool rr_process_tree_has_strays(unsigned port)
{
	const struct dirent *entry;
	bool found = false;
	DIR *all = opendir("/proc");

	while (all && !found && (entry = readdir(all)))
		found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			has_port(entry->d_name, port);
	if (all)
		closedir(all);
	return found;
}
