/* SPDX-License-Identifier: MIT */
#include "process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The state of a thread, a letter of proc(5). */
static char thread_state(const char *path)
{
	char text[512];
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	const char *name_end;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 'X';
	text[n] = '\0';
	name_end = strrchr(text, ')');
	return name_end && name_end[1] ? name_end[2] : 'X';
}

static bool family_sleeps(pid_t pid);

static bool children_sleep(const char *path)
{
	FILE *file = fopen(path, "re");
	bool sleep = true;
	int child;

	while (file && sleep && fscanf(file, "%d", &child) == 1)
		sleep = family_sleeps(child);
	if (file)
		fclose(file);
	return sleep;
}

/* Do all threads of a process and its children wait for something? */
static bool family_sleeps(pid_t pid)
{
	char path[320];
	const struct dirent *entry;
	bool sleep = true;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && sleep && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid,
			 entry->d_name);
		sleep = strchr("SZTtXI", thread_state(path)) != NULL;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid,
			 entry->d_name);
		sleep = sleep && children_sleep(path);
	}
	if (tasks)
		closedir(tasks);
	return sleep;
}

/* Those whose parent has ended are children of the launcher. */
static bool orphans_sleep(pid_t pid, pid_t launcher)
{
	char path[80];
	FILE *file;
	bool sleep = true;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", launcher,
		 launcher);
	file = fopen(path, "re");
	while (file && sleep && fscanf(file, "%d", &child) == 1)
		sleep = child == pid || getpgid(child) != pid ||
			family_sleeps(child);
	if (file)
		fclose(file);
	return sleep;
}

bool rr_process_tree_sleeps(pid_t pid, pid_t launcher)
{
	return family_sleeps(pid) && orphans_sleep(pid, launcher);
}

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
