/* SPDX-License-Identifier: MIT */
/* The guardian's own life: see guardian.h for what it is for. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/marks.h"
#include "guardian.h"
#include "guardian_protocol.h"

enum {
	KEY_SETS_MAX = 32,
	DELETE_MS = 2000,
	LOOK_MS = 200,
	DEAF_MS = RR_SIGNAL_END_MS - LOOK_MS,
	INHERITED_MAX = 256, /* descriptors; the program has opened few by then */
	PATH_SIZE = 96,
};

/* A process, under its number. */
struct entry {
	bool is_used; /* its directory is there */
	pid_t pid;    /* 0 = nothing runs */
	pid_t group;  /* of what was started last, which may go on without it */
};

struct guardian_state {
	const char *base;
	int socket;   /* to the program */
	int here;     /* the directory in which the program was started */
	int children; /* a signalfd: one of them has ended */
	pid_t program;
	int64_t looked_ns;     /* at whether it hears signals */
	int64_t deaf_since_ns; /* 0 = it always did */
	int n_key_sets;
	struct entry entries[RR_GUARDED_MAX];
	struct rr_key_set key_sets[KEY_SETS_MAX];
};

/* ---- Directories -------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

void rr_guardian_remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void entry_directory(const struct guardian_state *state, int index, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/%d", state->base, index);
}

/* ---- A program that does not hear ------------------------------------------ */

/* Does a signal wait that asks the process to end? */
static bool is_deaf(pid_t process)
{
	const unsigned long ending = 1UL << (SIGINT - 1) | 1UL << (SIGTERM - 1) |
				     1UL << (SIGHUP - 1);
	unsigned long pending = 0, blocked = 0;
	char path[40], line[128];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)process);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status)) {
		sscanf(line, "ShdPnd: %lx", &pending);
		sscanf(line, "SigBlk: %lx", &blocked);
	}
	if (status)
		fclose(status);
	return (pending & blocked & ending) != 0;
}

/* Ends the program some time after a signal that it has not heard at once, though
 * it may have heard it since. */
static void look_after_program(struct guardian_state *state)
{
	const int64_t now_ns = rr_clock_ns();

	if (now_ns - state->looked_ns < LOOK_MS * INT64_C(1000000))
		return;
	state->looked_ns = now_ns;
	if (!state->deaf_since_ns && is_deaf(state->program))
		state->deaf_since_ns = now_ns;
	if (state->deaf_since_ns && now_ns - state->deaf_since_ns >= DEAF_MS * INT64_C(1000000) &&
	    getppid() == state->program)
		kill(state->program, SIGALRM);
}

/* ---- Messages ---------------------------------------------------------------- */

/* Room for one descriptor beside a message. */
union passed {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* Sends a message with a descriptor; -1 = without. False: errno. */
static bool send_with(int socket, const void *message, size_t size, int fd)
{
	union passed passed = { .header = { .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS,
					    .cmsg_len = CMSG_LEN(sizeof(fd)) } };
	struct iovec part = { (void *)message, size };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&passed.header), &fd, sizeof(fd));
		header.msg_control = &passed;
		header.msg_controllen = sizeof(passed);
	}
	return sendmsg(socket, &header, MSG_NOSIGNAL) == (ssize_t)size;
}

ssize_t guardian_receive_with(int socket, void *message, size_t size, int *fd)
{
	union passed passed;
	struct iovec part = { message, size };
	struct msghdr header = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &passed,
				 .msg_controllen = sizeof(passed) };
	const ssize_t n = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *found = n < 0 ? NULL : CMSG_FIRSTHDR(&header);

	*fd = -1;
	if (found && found->cmsg_level == SOL_SOCKET && found->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(found), sizeof(*fd));
	return n;
}

/* ---- Processes that end ------------------------------------------------------ */

static void send_message(const struct guardian_state *state, const struct guardian_message *message)
{
	send_with(state->socket, message, sizeof(*message), -1);
}

static void note_end(struct guardian_state *state, pid_t pid, int status)
{
	for (int i = 0; i < RR_GUARDED_MAX; i++) {
		const struct guardian_message message = { .index = i, .status = status };

		if (state->entries[i].pid != pid)
			continue;
		state->entries[i].pid = 0;
		send_message(state, &message);
	}
}

static void reap(struct guardian_state *state)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		note_end(state, pid, status);
}

/* Ends what was started last, with its group. Of that some may go on when the process has
 * ended: they are the guardian's children, and as long as there is one, the group's
 * number is nobody else's. */
static void end_process(struct guardian_state *state, const struct entry *entry)
{
	int status;
	pid_t pid;

	if (entry->pid) {
		kill(-entry->group, SIGKILL);
		kill(entry->pid, SIGKILL);
	}
	while (entry->group && (pid = waitpid(-entry->group, &status, WNOHANG)) >= 0) {
		if (pid == 0)
			kill(-entry->group, SIGKILL);
		if (pid > 0 || (pid = waitpid(-entry->group, &status, 0)) > 0)
			note_end(state, pid, status);
	}
	/* It may have left its group. */
	if (entry->pid && waitpid(entry->pid, &status, 0) == entry->pid)
		note_end(state, entry->pid, status);
}

/* ---- Starting a process -------------------------------------------------------- */

/* What a child says before it has become the program. */
struct start {
	bool is_bind;  /* error_number is that of bind_directory() */
	bool is_watch; /* of the listener, which comes with it if there is one; or it has failed */
	int error_number;
	int address_error; /* with the listener: of personality(2) */
};

/* As execvp(3). Nobody can answer yet what the kernel would ask about a watched process: whoever
 * starts it has noted the program. */
static void execute(char *const argv[])
{
	static char shell[] = "/bin/sh";
	const char *directories = strchr(argv[0], '/') ? "" : getenv("PATH"), *end;
	char *words[GUARDIAN_WORDS + 2] = { shell }, path[PATH_MAX];
	int why = ENOENT;

	for (directories = directories ? directories : "/bin:/usr/bin"; directories;
	     directories = *end ? end + 1 : NULL) {
		end = strchrnul(directories, ':');
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - directories), directories,
			 end > directories ? "/" : "", argv[0]);
		syscall(SYS_execve, path, argv, environ, 0, 0, RR_NOTED_CALL);
		if (errno == ENOEXEC) {
			words[1] = path;
			for (int i = 1; argv[i] && i < GUARDIAN_WORDS; i++)
				words[i + 1] = argv[i];
			syscall(SYS_execve, shell, words, environ, 0, 0, RR_NOTED_CALL);
			return;
		}
		if (errno == EACCES)
			why = EACCES;
		else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE &&
			 errno != ENODEV && errno != ETIMEDOUT)
			return;
	}
	errno = why;
}

/* Writes a file of the child's own in /proc. */
static bool write_own(const char *name, const char *text)
{
	char path[PATH_SIZE];
	int fd;
	bool good;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return good;
}

/* In a namespace of the child's own, which also who is not root can have: one directory is seen at the
 * place of another. False: errno. */
static bool bind_directory(const char *from, const char *at)
{
	char user[60], group[60];

	if (unshare(CLONE_NEWNS) != 0) {
		snprintf(user, sizeof(user), "%d %d 1", (int)getuid(), (int)getuid());
		snprintf(group, sizeof(group), "%d %d 1", (int)getgid(), (int)getgid());
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !write_own("setgroups", "deny") ||
		    !write_own("uid_map", user) || !write_own("gid_map", group))
			return false;
	}
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount(from, at, NULL, MS_BIND, NULL) == 0;
}

/* Goes to where the program was started: by its path, at which something may be bound. */
static bool go_here(const struct guardian_state *state, bool is_bound)
{
	char link[PATH_SIZE], path[PATH_MAX];
	ssize_t n;

	if (!is_bound)
		return fchdir(state->here) == 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", state->here);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return chdir(path) == 0;
}

/* In the child: becomes it, or says to `failed` why not. */
static _Noreturn void become_process(const struct guardian_state *state,
				     const struct guardian_request *request, const char *path,
				     int failed)
{
	char *argv[GUARDIAN_WORDS + 1] = { NULL };
	char *word = (char *)request->words;
	char log_path[PATH_SIZE + 8];
	struct start why = { .is_watch = true };
	sigset_t none;
	int log;

	for (int i = 0; i < request->n_argv; i++, word += strlen(word) + 1)
		argv[i] = word;
	for (int i = 0; i < request->n_environment; i++, word += strlen(word) + 1)
		putenv(word);
	if (request->is_bound && !bind_directory(word, word + strlen(word) + 1)) {
		why = (struct start){ .is_bind = true, .error_number = errno };
		send_with(failed, &why, sizeof(why), -1);
		_exit(127);
	}
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0); /* not setsid(): a session is a scheduling group */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rr_placement_pin(request->cpu);
	dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
	snprintf(log_path, sizeof(log_path), "%s/log", path);
	log = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (log >= 0 &&
	    (request->runs_here ? go_here(state, request->is_bound) : chdir(path) == 0)) {
		dup2(log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		if (request->is_watched) {
			const int listener = guardian_watch(request->watches_files);

			why.error_number = listener < 0 ? errno : 0;
			why.address_error = personality(ADDR_NO_RANDOMIZE) < 0 ? errno : 0;
			send_with(failed, &why, sizeof(why), listener);
		}
		execute(argv);
	}
	why = (struct start){ .error_number = errno };
	send_with(failed, &why, sizeof(why), -1);
	_exit(127);
}

/* Until the child has become the process or has said why not: notes that in the answer, and
 * returns the listener of one that is watched, or -1. It may have been stopped before: then it is
 * waited for as long as the program is there. */
static int await_start(struct guardian_state *state, int failed, struct guardian_message *answer)
{
	struct pollfd ready[] = {
		{ .fd = failed, .events = POLLIN },
		{ .fd = state->socket },
	};
	int listener = -1;

	for (;;) {
		struct start said;
		int fd;

		poll(ready, 2, LOOK_MS);
		look_after_program(state);
		if (!ready[0].revents && !ready[1].revents)
			continue;
		if (!ready[0].revents || guardian_receive_with(failed, &said, sizeof(said), &fd) !=
						 (ssize_t)sizeof(said))
			return listener;
		if (!said.is_watch) {
			answer->error_number = said.error_number;
			answer->bind_error = said.is_bind ? said.error_number : 0;
			waitpid(answer->pid, NULL, 0);
			return listener;
		}
		answer->watch_error = said.error_number;
		answer->address_error = said.address_error;
		listener = fd;
	}
}

/* Returns the listener of what is watched, or -1. */
static int spawn(struct guardian_state *state, const struct guardian_request *request,
		 struct guardian_message *answer)
{
	struct entry *entry = &state->entries[request->index];
	int failed[2], listener = -1;
	char path[PATH_SIZE];

	if (entry->pid || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, failed) != 0) {
		answer->error_number = entry->pid ? EBUSY : errno;
		return -1;
	}
	entry_directory(state, request->index, path);
	answer->pid = fork();
	if (answer->pid == 0)
		become_process(state, request, path, failed[1]);
	if (answer->pid < 0)
		answer->error_number = errno;
	close(failed[1]);
	if (answer->pid > 0) {
		setpgid(answer->pid, answer->pid);
		listener = await_start(state, failed[0], answer);
	}
	close(failed[0]);
	if (!answer->error_number)
		entry->pid = entry->group = answer->pid;
	return listener;
}

/* ---- Life and end ------------------------------------------------------- */

void guardian_end_children(void)
{
	char path[48];
	int pid, n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	do {
		FILE *children = fopen(path, "re");

		for (n = 0; children && fscanf(children, "%d", &pid) == 1; n++) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		if (children)
			fclose(children);
	} while (n > 0);
}

/* Out of the program's reach: group, signals, terminal, pipes and directory. */
static void detach(struct guardian_state *state)
{
	sigset_t signals;
	int null;

	/* What the program had open: where few files may be, it would be missed when the
	 * directories are removed. */
	for (int fd = STDERR_FILENO + 1; fd < INHERITED_MAX; fd++) {
		if (fd != state->socket)
			close(fd);
	}
	setpgid(0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	signal(SIGCHLD, SIG_DFL); /* or children would end unseen */
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	state->children = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
	state->here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (chdir("/") != 0)
		return;
}

/* Until the program asks for something. False: it is gone. */
static bool await_request(struct guardian_state *state, struct guardian_request *request)
{
	static char words[GUARDIAN_WORDS_SIZE];
	const struct iovec parts[] = { { request, sizeof(*request) }, { words, sizeof(words) } };
	struct pollfd ready[] = { { .fd = state->socket, .events = POLLIN },
				  { .fd = state->children, .events = POLLIN } };
	struct signalfd_siginfo info;

	do {
		poll(ready, 2, LOOK_MS);
		while (read(state->children, &info, sizeof(info)) > 0)
			continue;
		reap(state);
		look_after_program(state);
	} while (!ready[0].revents);
	if (readv(state->socket, parts, 2) < (ssize_t)sizeof(*request))
		return false;
	request->words = words;
	return true;
}

void guardian_process(int socket, char *base)
{
	struct guardian_state state = { .base = base, .socket = socket, .program = getppid() };
	struct guardian_request request;

	detach(&state);
	/* The first word to the program: whether there is a directory. */
	struct guardian_message message = { .number = 0 };
	const char *made = mkdtemp(base);

	if (made)
		memcpy(message.unique, base + strlen(base) - GUARDIAN_UNIQUE, GUARDIAN_UNIQUE);
	else
		message.error_number = errno;
	send_message(&state, &message);
	if (made == NULL)
		return;
	while (await_request(&state, &request)) {
		reap(&state);

		struct guardian_message answer = { .number = request.number };
		struct entry *entry = &state.entries[request.index];
		const pid_t pid = entry->pid; /* not reaped yet, so it is nobody else's */
		int i = 0, listener = -1, status;
		char path[PATH_SIZE];

		switch (request.kind) {
		case GUARDIAN_PREPARE:
			/* A directory, under the first number that is free. */
			while (i < RR_GUARDED_MAX && state.entries[i].is_used)
				i++;
			answer.index = i;
			entry_directory(&state, i, path);
			if (i == RR_GUARDED_MAX)
				answer.error_number = EAGAIN;
			else if (mkdir(path, 0700) != 0)
				answer.error_number = errno;
			else
				state.entries[i] = (struct entry){ .is_used = true };
			break;
		case GUARDIAN_SPAWN:
			listener = spawn(&state, &request, &answer);
			break;
		case GUARDIAN_PING:
			break;
		case GUARDIAN_SIGNAL:
			if (pid == 0) {
				answer.error_number = ESRCH;
			} else if (request.signal == SIGKILL) {
				end_process(&state, entry);
			} else {
				kill(pid, request.signal);
				if (request.signal == SIGSTOP &&
				    waitpid(pid, &status, WUNTRACED) == pid && !WIFSTOPPED(status))
					note_end(&state, pid, status);
			}
			break;
		case GUARDIAN_KILL:
			end_process(&state, entry);
			*entry = (struct entry){ .is_used = false };
			entry_directory(&state, request.index, path);
			rr_guardian_remove_tree(path);
			break;
		case GUARDIAN_OWN_KEYS:
			if (state.n_key_sets == KEY_SETS_MAX)
				answer.error_number = EAGAIN;
			else
				state.key_sets[state.n_key_sets++] = request.keys;
			break;
		}
		send_with(state.socket, &answer, sizeof(answer), listener);
		if (listener >= 0)
			close(listener);
	}
	for (int i = 0; i < RR_GUARDED_MAX; i++)
		end_process(&state, &state.entries[i]);
	guardian_end_children();
	rr_guardian_remove_tree(state.base);
	for (int i = 0; i < state.n_key_sets; i++) {
		const struct rr_key_set *keys = &state.key_sets[i];
		struct rdl_link *link = rdl_link_new(&keys->address, DELETE_MS);

		if (link)
			rr_keys_delete(link, keys->prefix, keys->n_keys);
		rdl_link_free(link);
	}
}
