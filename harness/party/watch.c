/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "cluster/cluster.h"

enum { PATH_SIZE = 60, WHOLE_SIZE = 2 * PATH_MAX + 2, STACK_SIZE = 256 * 1024, PAGE = 4096 };

bool rr_watch_read(pid_t thread, uintptr_t at, void *into, size_t size)
{
	char path[PATH_SIZE];
	ssize_t n;
	int fd, why;

	/* Containers permit this more often than process_vm_readv(2). */
	snprintf(path, sizeof(path), "/proc/%d/mem", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : pread(fd, into, size, (off_t)at);
	why = n < 0 ? errno : EIO;
	if (fd >= 0)
		close(fd);
	errno = why;
	return n == (ssize_t)size;
}

/* ---- Files ------------------------------------------------------------------------------ */

/* What a call names. */
struct file_call {
	int directory;
	uintptr_t path;
	char kind;
};

/* False: nobody knows which files it is about. */
static bool find_file(const struct seccomp_data *call, struct file_call *file)
{
	const __u64 *words = call->args;

	if (call->arch == AUDIT_ARCH_I386)
		return false;
	*file = (struct file_call){ (int)words[0], (uintptr_t)words[1], RR_NOTED_SEEN };
	switch (call->nr) {
#ifdef SYS_open
	case SYS_open:
		*file = (struct file_call){ AT_FDCWD, (uintptr_t)words[0],
					    rr_noted_kind_of_open((int)words[1]) };
		return true;
	case SYS_stat:
	case SYS_lstat:
	case SYS_access:
	case SYS_readlink:
#endif
	case SYS_chdir:
		*file = (struct file_call){ AT_FDCWD, (uintptr_t)words[0], RR_NOTED_SEEN };
		return true;
	case SYS_execve:
		*file = (struct file_call){ AT_FDCWD, (uintptr_t)words[0], RR_NOTED_READ };
		return true;
	case SYS_inotify_add_watch:
		file->directory = AT_FDCWD;
		return true;
	case SYS_openat:
		file->kind = rr_noted_kind_of_open((int)words[2]);
		return true;
	case SYS_openat2:
	case SYS_execveat:
		file->kind = RR_NOTED_READ;
		return true;
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_readlinkat:
		return true;
	default:
		return false;
	}
}

/* A string of another process, page by page: the next one need not be there. -1: it cannot be read,
 * or is too long. */
static long read_path(pid_t thread, uintptr_t at, char path[PATH_MAX])
{
	size_t n = 0;

	while (n < PATH_MAX) {
		const size_t left = PAGE - (at + n) % PAGE;
		const size_t size = left < PATH_MAX - n ? left : PATH_MAX - n;
		const char *end;

		if (!rr_watch_read(thread, at + n, path + n, size))
			return -1;
		end = memchr(path + n, '\0', size);
		if (end)
			return end - path;
		n += size;
	}
	errno = ENOENT; /* the kernel finds none of that name, either */
	return -1;
}

/* Puts the directory before a path that is relative. False: nobody knows which that is. */
static bool make_whole(pid_t thread, int directory, const char *path, char whole[WHOLE_SIZE])
{
	char link[PATH_SIZE];
	ssize_t n;

	if (path[0] == '/') {
		snprintf(whole, WHOLE_SIZE, "%s", path);
		return true;
	}
	if (directory == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", thread);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", thread, directory);
	n = readlink(link, whole, PATH_MAX);
	/* A pipe has no name. */
	if (n == PATH_MAX || (n > 0 && whole[0] != '/'))
		errno = ENOENT;
	if (n <= 0 || n == PATH_MAX || whole[0] != '/')
		return false;
	whole[n] = '\0';
	/* An open file alone. */
	if (path[0])
		snprintf(whole + n, WHOLE_SIZE - PATH_MAX, "/%s", path);
	return true;
}

/* ---- Files that are changed --------------------------------------------------------------- */

static int64_t argument(const struct seccomp_notif *asked, int which)
{
	return (int64_t)asked->data.args[which];
}

static void note_unknown(struct rr_watch *watch, const char *what)
{
	rr_touches_add(watch->writes, RR_TOUCHED_UNKNOWN, what, false, true);
}

/* The flags of a call that opens a file; -1: they cannot be read, as the kernel cannot, or the path is
 * one below another root, and that is noted. */
static int64_t flags_of(struct rr_watch *watch, const struct seccomp_notif *asked,
			const struct rr_write_call *call)
{
	struct open_how how;

	if (call->how == RR_WRITES_BY_FLAGS)
		return (int)argument(asked, call->flags);
	if (call->how == RR_WRITES_CREAT)
		return O_CREAT | O_WRONLY | O_TRUNC;
	if (!rr_watch_read((pid_t)asked->pid, (uintptr_t)argument(asked, call->flags), &how,
			   sizeof(how)))
		return -1;
	if (!(how.resolve & RESOLVE_IN_ROOT))
		return (int64_t)how.flags;
	if ((how.flags & O_ACCMODE) != O_RDONLY || how.flags & (O_CREAT | O_TRUNC))
		note_unknown(watch, "files below another root (RESOLVE_IN_ROOT)");
	return -1;
}

/* The whole path of a file that a call names, or has open. False: there is none, or it cannot be read
 * by us, and that is noted. */
static bool find_path(struct rr_watch *watch, const struct seccomp_notif *asked, int directory,
		      int path, char whole[WHOLE_SIZE])
{
	static const struct {
		const char *of_all, *of_thread;
	} own[] = { { "/proc/self/", "" },     { "/proc/thread-self/", "" },
		    { "/dev/fd/", "fd/" },     { "/dev/stdin", "fd/0" },
		    { "/dev/stdout", "fd/1" }, { "/dev/stderr", "fd/2" } };
	const pid_t thread = (pid_t)asked->pid;
	const uintptr_t at = path == RR_NO_PATH ? 0 : (uintptr_t)argument(asked, path);
	char text[PATH_MAX] = "";

	/* futimens(3) has no path, too. */
	if ((at && read_path(thread, at, text) < 0) ||
	    !make_whole(thread, directory < 0 ? AT_FDCWD : (int)argument(asked, directory), text,
			whole)) {
		if (errno != EIO && errno != EFAULT && errno != ENOENT && errno != EBADF)
			note_unknown(watch, "files of a program that redrace may not look into");
		return false;
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		const size_t n = strlen(own[i].of_all);

		if (strncmp(whole, own[i].of_all, n) != 0)
			continue;
		snprintf(text, sizeof(text), "/proc/%d/%s%s", thread, own[i].of_thread, whole + n);
		snprintf(whole, WHOLE_SIZE, "%s", text);
		break;
	}
	return true;
}

/* Can a file be made there, or one be removed? */
static bool can_change_parent(const char *path)
{
	char *parent = rr_strdup(path);
	bool can;

	*strrchr(parent, '/') = '\0';
	can = access(*parent ? parent : "/", W_OK) == 0;
	free(parent);
	return can;
}

/* Will a call that opens it with these flags change it, or permit to? */
static bool opens_to_write(const char *path, int64_t flags, bool is_there)
{
	struct stat info;

	if (flags < 0 || flags & O_PATH || (flags & O_TMPFILE) == O_TMPFILE)
		return false;
	if (!is_there)
		return flags & O_CREAT && can_change_parent(path);
	return !(flags & O_CREAT && flags & O_EXCL) &&
	       ((flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC) && access(path, W_OK) == 0 &&
	       stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* Notes what the call is about to change; one that will be refused changes nothing. */
static void note_write(struct rr_watch *watch, const struct seccomp_notif *asked,
		       const struct rr_write_call *call)
{
	const bool opens = call->how <= RR_WRITES_CREAT;
	const int64_t flags = opens ? flags_of(watch, asked, call) : 0;

	if (call->how == RR_WRITES_ELSEWHERE)
		note_unknown(watch, "files of a program that changes its root or its mounts");
	if (call->how == RR_WRITES_KEYED && argument(asked, 0) != IPC_PRIVATE)
		note_unknown(watch, "shared memory, semaphores or queues of System V or mq_open");
	for (unsigned i = 0; i < call->n_paths; i++) {
		char whole[WHOLE_SIZE], *name, *real;
		const char *rest;
		struct stat info;
		bool is_there, changes, tries, is_copy;

		if (!find_path(watch, asked, call->paths[i].directory, call->paths[i].path, whole))
			return;
		name = rr_touched_path(whole, opens, watch->own);
		if (!name)
			continue;
		/* The program sees its copy at the place of the directory. */
		is_copy = watch->copy && rr_fresh_has(watch->fresh, name, &rest);
		real = is_copy ? rr_asprintf("%s%s", watch->copy, rest) : rr_strdup(name);
		is_there = lstat(real, &info) == 0;
		changes = opens                      ? opens_to_write(real, flags, is_there) :
			  call->how == RR_WRITES_NEW ? !is_there && can_change_parent(real) :
			  i > 0                      ? can_change_parent(real) :
			  call->how == RR_WRITES_MOVES ?
				  is_there && can_change_parent(real) :
				  is_there && (access(real, W_OK) == 0 || can_change_parent(real));
		tries = is_there &&
			(opens ? flags > 0 && flags & O_EXCL : call->how == RR_WRITES_NEW);
		if (changes || tries)
			rr_touches_add(watch->writes, RR_TOUCHED_FILE, name, is_there || is_copy,
				       changes);
		free(name);
		free(real);
		/* A file that is not there is not moved. */
		if (!changes)
			return;
	}
}

static void note_file(struct rr_program_page *page, const struct seccomp_notif *asked)
{
	char path[PATH_MAX], whole[WHOLE_SIZE];
	struct file_call file;

	if (!find_file(&asked->data, &file)) {
		atomic_store(&page->has_unnoted, 1);
		return;
	}
	/* The kernel refuses what it cannot read either, and a directory that is not open. */
	if (file.kind && read_path((pid_t)asked->pid, file.path, path) >= 0 &&
	    make_whole((pid_t)asked->pid, file.directory, path, whole))
		rr_program_page_note(page, file.kind, whole, strlen(whole));
	else if (file.kind && errno != EIO && errno != EFAULT && errno != ENOENT)
		atomic_store(&page->has_unnoted, 1);
}

static void note_call(struct rr_watch *watch, const struct seccomp_notif *asked)
{
	const bool is_i386 = asked->data.arch == AUDIT_ARCH_I386;
	const struct rr_write_call *write = is_i386 ? NULL : rr_write_call_find(asked->data.nr);

	if (is_i386 && watch->writes)
		note_unknown(watch, "files of a program of 32 bits");
	else if (write && watch->writes)
		note_write(watch, asked, write);
	/* Who only changes a file does not depend on what is in it. */
	if (watch->page->notes_files &&
	    (!write || write->how == RR_WRITES_BY_FLAGS || write->how == RR_WRITES_BY_HOW ||
	     write->how == RR_WRITES_ELSEWHERE))
		note_file(watch->page, asked);
}

/* ---- Calls ------------------------------------------------------------------------------ */

/* False: it is none. */
static bool is_connect(const struct seccomp_notif *asked, struct rr_watched_call *call)
{
	const struct seccomp_data *data = &asked->data;
	uint32_t words[3];

	*call = (struct rr_watched_call){ asked->id, (pid_t)asked->pid, (int)data->args[0],
					  (uintptr_t)data->args[1], (socklen_t)data->args[2] };
	if (data->arch != AUDIT_ARCH_I386)
		return data->nr == SYS_connect;
	if (data->nr == RR_I386_SOCKETCALL &&
	    rr_watch_read(call->thread, call->at, words, sizeof(words))) {
		call->fd = (int)words[0];
		call->at = words[1];
		call->size = words[2];
	}
	return data->nr == RR_I386_SOCKETCALL || data->nr == RR_I386_CONNECT;
}

/* Until nobody is left to ask about, or it is to stop. */
static void *answer_all(void *context)
{
	struct rr_watch *watch = context;
	struct pollfd ready[] = { { .fd = watch->listener, .events = POLLIN },
				  { .fd = watch->stop_fds[0], .events = POLLIN } };

	while (!ready[1].revents && !(ready[0].revents & POLLHUP)) {
		union {
			struct seccomp_notif asked;
			char room[512]; /* a kernel may know of more fields */
		} of = { .room = "" };
		struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
		struct rr_watched_call call;
		bool is_handed = false;

		if (poll(ready, 2, -1) < 0 || !(ready[0].revents & POLLIN))
			continue;
		atomic_store(&watch->is_busy, 1);
		if (ioctl(watch->listener, SECCOMP_IOCTL_NOTIF_RECV, &of) == 0) {
			if (is_connect(&of.asked, &call))
				is_handed = write(watch->handed_fd, &call, sizeof(call)) ==
					    (ssize_t)sizeof(call);
			else
				note_call(watch, &of.asked);
			answer.id = of.asked.id;
			if (!is_handed)
				ioctl(watch->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
		}
		atomic_fetch_add(&watch->n_answered, 1);
		atomic_store(&watch->is_busy, 0);
	}
	close(watch->handed_fd);
	return NULL;
}

bool rr_watch_is_asked(struct rr_watch *watch, unsigned *n_answered)
{
	struct pollfd ready = { .fd = watch->listener, .events = POLLIN };
	/* In this order: the thread is busy before it takes a question, and has counted it before
	 * it is not busy any more. */
	const bool waits = poll(&ready, 1, 0) == 1 && ready.revents & POLLIN;
	const bool is_busy = atomic_load(&watch->is_busy);
	const unsigned before = *n_answered;

	*n_answered = atomic_load(&watch->n_answered);
	return waits || is_busy || *n_answered != before;
}

/* ---- Beginning and end ------------------------------------------------------------------ */

bool rr_watch_open(struct rr_watch *watch, int listener, struct rr_program_page *page)
{
	int calls[2];
	pthread_attr_t attributes;
	sigset_t all, before;

	watch->listener = listener;
	watch->page = page;
	if (listener < 0)
		return true;
	if (pipe2(calls, O_CLOEXEC) != 0)
		return false;
	watch->calls_fd = calls[0];
	watch->handed_fd = calls[1];
	fcntl(calls[0], F_SETFL, O_NONBLOCK);
	if (pipe2(watch->stop_fds, O_CLOEXEC) != 0)
		return false;
	/* Signals are for the main thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	errno = pthread_create(&watch->thread, &attributes, answer_all, watch);
	watch->runs = errno == 0;
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return watch->runs;
}

void rr_watch_close(struct rr_watch *watch)
{
	const int fds[] = { watch->listener, watch->calls_fd, watch->stop_fds[0] };

	if (watch->stop_fds[1] >= 0)
		close(watch->stop_fds[1]);
	if (watch->runs)
		pthread_join(watch->thread, NULL);
	else if (watch->handed_fd >= 0)
		close(watch->handed_fd);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	*watch = RR_WATCH_NONE;
}
