/* SPDX-License-Identifier: MIT */
#include "process_tree.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"

enum {
	TEXT_SIZE = 512,
	PATH_SIZE = 320,
	EXEC_NS = 1000 * 1000, /* what exec(3) may take, so often */
	EXEC_LOOKS = 100,
	THREADS_FIELD = 20, /* of proc(5)'s stat: num_threads */
};

/* A look that goes on. */
struct sight {
	const struct rr_process_tree *tree;
	struct rr_process_look look;
	size_t n_threads; /* that have not ended */
};

/* Text becomes a string. False: it cannot be read. */
static bool read_text(int fd, char text[TEXT_SIZE])
{
	const ssize_t n = fd >= 0 ? pread(fd, text, TEXT_SIZE - 1, 0) : -1;

	text[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

/* ---- Open files ----------------------------------------------------------------- */

static const char *const file_names[RR_THREAD_FILES] = { "stat", "syscall", "schedstat",
							 "children" };

static void close_files(struct rr_thread_files *files)
{
	for (int i = 0; i < RR_THREAD_FILES; i++) {
		if (files->fds[i] >= 0)
			close(files->fds[i]);
		files->fds[i] = -1;
	}
}

void rr_process_files_close(struct rr_process_files *files)
{
	while (files->n > 0)
		close_files(&files->of[--files->n]);
	if (files->threads)
		closedir(files->threads);
	if (files->children)
		fclose(files->children);
	*files = (struct rr_process_files){ 0 };
}

/* Those of a thread. Behind the last place: `spare`, to be closed. */
static struct rr_thread_files *files_of(struct rr_process_files *files, int thread,
					struct rr_thread_files *spare)
{
	struct rr_thread_files *of = spare;

	for (size_t i = 0; files && i < files->n; i++) {
		struct rr_thread_files *it = &files->of[i];

		if (it->thread == thread) {
			it->seen = files->n_looks;
			return it;
		}
		if (files->n_looks - it->seen > 2)
			of = it;
	}
	if (of != spare)
		close_files(of);
	else if (files && files->n < RR_FILES_MAX)
		of = &files->of[files->n++];
	*of = (struct rr_thread_files){ thread, files ? files->n_looks : 0, { -1, -1, -1, -1 } };
	return of;
}

/* A file that was opened is of the thread that had that number then: if it has ended, another
 * one may have it now. */
static bool read_file(struct rr_thread_files *files, const char *directory,
		      enum rr_thread_file file, char text[TEXT_SIZE])
{
	char path[PATH_SIZE];
	int *fd = &files->fds[file];

	if (read_text(*fd, text))
		return true;
	if (*fd >= 0)
		close(*fd);
	snprintf(path, sizeof(path), "%s/%s", directory, file_names[file]);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	return read_text(*fd, text);
}

/* ---- A thread ------------------------------------------------------------------ */

/* The state of a thread, a letter of proc(5), in the text of its stat. */
static char state_in(const char *text)
{
	const char *name_end = strrchr(text, ')');

	return name_end && name_end[1] ? name_end[2] : 'X';
}

/* How often and how long a thread has run; one that waits for time, its ticket. */
static uint64_t thread_stamp(const struct sight *sight, struct rr_thread_files *files,
			     const char *directory, const char *thread)
{
	const uint64_t begin = rr_bytes_digest(0, thread, strlen(thread));
	const uint64_t ticket = rr_program_clock_ticket(sight->tree->clock, files->thread);
	char text[TEXT_SIZE];

	if (ticket)
		return rr_bytes_digest(begin, &ticket, sizeof(ticket));
	read_file(files, directory, RR_THREAD_SCHEDSTAT, text);
	return rr_bytes_digest(begin, text, strlen(text));
}

/* ---- A process ------------------------------------------------------------------- */

static void look_at_family(struct sight *sight, pid_t pid);

static void look_at_children(struct sight *sight, struct rr_thread_files *files,
			     const char *directory)
{
	char path[PATH_SIZE], text[TEXT_SIZE], *end = text;
	FILE *file;
	int child;

	/* All of them, or there are more than fit in there. */
	if (read_file(files, directory, RR_THREAD_CHILDREN, text) && strlen(text) < TEXT_SIZE - 1) {
		while (sight->look.sleeps && (child = (int)strtol(end, &end, 10)) > 0)
			look_at_family(sight, child);
		return;
	}
	snprintf(path, sizeof(path), "%s/children", directory);
	file = fopen(path, "re");
	while (file && sight->look.sleeps && fscanf(file, "%d", &child) == 1)
		look_at_family(sight, child);
	if (file)
		fclose(file);
}

/* Returns how many threads the process has, or 0 where it has ended. */
static long look_at_thread(struct sight *sight, pid_t pid, const char *thread)
{
	struct rr_thread_files spare = { 0, 0, { -1, -1, -1, -1 } };
	struct rr_thread_files *files = files_of(sight->tree->files, atoi(thread), &spare);
	char directory[PATH_SIZE - 16], text[TEXT_SIZE];
	long n_threads;
	char state;

	snprintf(directory, sizeof(directory), "/proc/%d/task/%s", pid, thread);
	read_file(files, directory, RR_THREAD_STAT, text);
	/* How many threads its process has, by the same text; 0 = it has ended. */
	const char *field = strrchr(text, ')');

	for (int i = 2; i < THREADS_FIELD && field; i++)
		field = strchr(field + 1, ' ');
	n_threads = field ? strtol(field, NULL, 10) : 0;
	state = state_in(text);
	sight->n_threads += !strchr("ZX", state);
	sight->look.sleeps = strchr("SZTtXI", state) != NULL;
	/* Is it only about to sleep, as its state says already? One that reaps a child has that
	 * state all the while, and may be kept from its processor. The file about its system call
	 * is read when it has left its processor or has another state ("running"). Without the
	 * right to read it (ptrace(2)) the state has to do. */
	if (sight->look.sleeps && read_file(files, directory, RR_THREAD_SYSCALL, text))
		sight->look.sleeps = strncmp(text, "running", strlen("running")) != 0;
	if (sight->look.sleeps) {
		const uint64_t stamp = thread_stamp(sight, files, directory, thread);

		sight->look.stamp += stamp;
		if (sight->tree->threads && sight->tree->threads->n < RR_THREADS_MAX)
			sight->tree->threads->of[sight->tree->threads->n++] =
				(struct rr_thread){ atoi(thread), stamp };
		look_at_children(sight, files, directory);
	} else if (state != 'D' && read_file(files, directory, RR_THREAD_SCHEDSTAT, text)) {
		sight->look.awake = files->thread;
		sight->look.ran_ns = strtoll(text, NULL, 10);
	}
	close_files(&spare);
	return n_threads;
}

/* Do all threads of a process and its children wait for something? Most processes have one thread,
 * which says so itself: listing the others costs as much as looking at it. It cannot have begun
 * another one since, if it has not run. */
static void look_at_family(struct sight *sight, pid_t pid)
{
	/* That of the program is read again where it is kept open. */
	DIR **kept = sight->tree->files && pid == sight->tree->pid ? &sight->tree->files->threads :
								     NULL;
	const struct dirent *entry;
	char first[16], path[PATH_SIZE];
	DIR *threads = NULL;

	snprintf(first, sizeof(first), "%d", pid);
	if (look_at_thread(sight, pid, first) == 1)
		return;
	if (kept && (threads = *kept))
		rewinddir(threads);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (!threads)
		threads = opendir(path);
	while (threads && sight->look.sleeps && (entry = readdir(threads))) {
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, first) != 0)
			look_at_thread(sight, pid, entry->d_name);
	}
	if (kept)
		*kept = threads;
	else if (threads)
		closedir(threads);
}

/* ---- A program ------------------------------------------------------------------- */

/* Has a child of the guardian ended, so that it will say so at once? The first thread
 * of a process may end before the others, of which the kernel counts it as one. */
static bool is_dead(pid_t pid)
{
	char path[PATH_SIZE], text[TEXT_SIZE];
	struct stat tasks;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	read_text(fd, text);
	if (fd >= 0)
		close(fd);
	if (!strchr("ZX", state_in(text)))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return stat(path, &tasks) != 0 || tasks.st_nlink <= 3;
}

/* Those whose parent has ended are children of the guardian. */
static void look_at_orphans(struct sight *sight)
{
	const struct rr_process_tree *tree = sight->tree;
	FILE *file = tree->files ? tree->files->children : NULL;
	char path[PATH_SIZE];
	int child;

	if (file)
		rewind(file);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", tree->guardian, tree->guardian);
	if (!file)
		file = fopen(path, "re");
	while (file && sight->look.sleeps && fscanf(file, "%d", &child) == 1) {
		if (child == tree->pid || getpgid(child) != tree->pid)
			continue;
		sight->look.sleeps = !is_dead(child);
		look_at_family(sight, child);
	}
	if (tree->files)
		tree->files->children = file;
	else if (file)
		fclose(file);
}

struct rr_process_look rr_process_tree_look(const struct rr_process_tree *tree)
{
	struct sight sight = { tree, { .sleeps = true }, 0 };

	if (tree->threads)
		tree->threads->n = 0;
	if (tree->files)
		tree->files->n_looks++;
	if (!tree->has_ended) {
		look_at_family(&sight, tree->pid);
		if (sight.n_threads == 0 && is_dead(tree->pid))
			sight.look.sleeps = false;
	}
	if (sight.look.sleeps)
		look_at_orphans(&sight);
	return sight.look;
}

/* ---- Strays ---------------------------------------------------------------------- */

unsigned rr_process_tree_port(pid_t pid)
{
	static const char name[] = "REDIS_PORT=";
	const struct timespec pause = { 0, EXEC_NS };
	char path[PATH_SIZE], *word = NULL;
	bool is_known = false;
	size_t capacity = 0;
	unsigned port = 0;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	/* There is no environment while exec(3) replaces the process. */
	for (int i = 0; i < EXEC_LOOKS && !is_known && !is_dead(pid); i++) {
		FILE *file = fopen(path, "re");

		while (file && getdelim(&word, &capacity, '\0', file) > 0) {
			is_known = true;
			if (strncmp(word, name, strlen(name)) == 0)
				port = (unsigned)atoi(word + strlen(name));
		}
		if (file)
			fclose(file);
		if (!is_known)
			nanosleep(&pause, NULL);
	}
	free(word);
	return port;
}

/* One that has left its group, and whose parent has ended; 0: there is none. */
static pid_t find_stray(const struct rr_guardian *guardian, unsigned port)
{
	char path[PATH_SIZE];
	pid_t found = 0;
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", guardian->pid, guardian->pid);
	file = fopen(path, "re");
	while (file && !found && fscanf(file, "%d", &child) == 1) {
		const pid_t group = getpgid(child);
		unsigned its;

		if (group <= 0 || rr_guardian_has_group(guardian, group))
			continue;
		/* Whoever has no port in its environment may be anybody's, and is taken for ours: a
		 * daemon often cleans it. */
		its = rr_process_tree_port(child);
		if (!is_dead(child) && (its == 0 || its == port))
			found = child;
	}
	if (file)
		fclose(file);
	return found;
}

/* The list of children may lack one while others end: a second look has all. */
pid_t rr_process_tree_stray(const struct rr_guardian *guardian, unsigned port)
{
	const pid_t found = find_stray(guardian, port);

	return found ? found : find_stray(guardian, port);
}
