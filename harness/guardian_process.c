/* SPDX-License-Identifier: MIT */
/* The guardian's own life: see guardian.h for what it is for. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian_protocol.h"
#include "placement.h"

enum { WARDS_MAX = 64, KEY_SETS_MAX = 32, ARGV_MAX = 48, DELETE_MS = 2000,
       ORPHAN_ROUNDS = 100 };

struct ward {
	pid_t pid; /* 0 = has ended */
	int status;
};

struct guardian_state {
	const char *base;
	int n_wards;
	struct ward wards[WARDS_MAX];
	int n_key_sets;
	struct rr_key_set key_sets[KEY_SETS_MAX];
};

/* ---- Directories -------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *info, int type,
			struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

void guardian_remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void ward_directory(const struct guardian_state *state, int index,
			   char *path, size_t size)
{
	snprintf(path, size, "%s/%d", state->base, index);
}

/* ---- Starting and ending a ward ----------------------------------------- */

static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: becomes the server, or writes errno to `failed`. */
static void become(const struct guardian_request *request, const char *path,
		   int failed)
{
	char *argv[ARGV_MAX + 1] = { NULL };
	char *word = (char *)request->words;
	int log;

	for (int i = 0; i < request->n_words && i < ARGV_MAX; i++) {
		argv[i] = word;
		word += strlen(word) + 1;
	}
	reset_signals();
	setpgid(0, 0); /* not setsid(): a session is a scheduling group */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rr_placement_pin(request->cpu);
	log = open("/dev/null", O_RDONLY);
	dup2(log, STDIN_FILENO);
	if (chdir(path) == 0) {
		log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		execvp(argv[0], argv);
	}
	if (write(failed, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

/* Forks the ward; 0, or the errno of what failed. */
static int launch(const struct guardian_request *request, const char *path,
		  pid_t *pid)
{
	int failed[2], number = 0;

	if (pipe2(failed, O_CLOEXEC) != 0)
		return errno;
	*pid = fork();
	if (*pid == 0)
		become(request, path, failed[1]);
	if (*pid < 0)
		number = errno;
	close(failed[1]);
	if (*pid > 0 && read(failed[0], &number, sizeof(number)) > 0)
		waitpid(*pid, NULL, 0);
	close(failed[0]);
	return number;
}

static void spawn(struct guardian_state *state,
		  const struct guardian_request *request,
		  struct guardian_answer *answer)
{
	struct ward *ward = &state->wards[state->n_wards];
	char path[96];

	if (state->n_wards == WARDS_MAX) {
		answer->error_number = EAGAIN;
		return;
	}
	ward_directory(state, state->n_wards, path, sizeof(path));
	if (mkdir(path, 0700) != 0) {
		answer->error_number = errno;
		return;
	}
	answer->error_number = launch(request, path, &answer->pid);
	if (answer->error_number) {
		guardian_remove_tree(path);
		return;
	}
	ward->pid = answer->pid;
	answer->index = state->n_wards++;
}

static void end_ward(struct guardian_state *state, int index)
{
	struct ward *ward = &state->wards[index];
	char path[96];

	if (ward->pid) {
		kill(-ward->pid, SIGKILL); /* whatever it started, too */
		kill(ward->pid, SIGKILL);
		waitpid(ward->pid, &ward->status, 0);
		ward->pid = 0;
	}
	ward_directory(state, index, path, sizeof(path));
	guardian_remove_tree(path);
}

/* ---- Requests ------------------------------------------------------------ */

static void reap(struct guardian_state *state)
{
	for (int i = 0; i < state->n_wards; i++) {
		struct ward *ward = &state->wards[i];

		if (ward->pid &&
		    waitpid(ward->pid, &ward->status, WNOHANG) == ward->pid)
			ward->pid = 0;
	}
}

static void own_keys(struct guardian_state *state,
		     const struct guardian_request *request,
		     struct guardian_answer *answer)
{
	if (state->n_key_sets == KEY_SETS_MAX)
		answer->error_number = EAGAIN;
	else
		state->key_sets[state->n_key_sets++] = request->keys;
}

static struct guardian_answer answer_to(struct guardian_state *state,
					const struct guardian_request *request)
{
	struct guardian_answer answer = { .index = request->index };
	const bool known = request->index >= 0 &&
			   request->index < state->n_wards;

	if (request->kind == GUARDIAN_SPAWN)
		spawn(state, request, &answer);
	else if (request->kind == GUARDIAN_OWN_KEYS)
		own_keys(state, request, &answer);
	else if (!known)
		answer.error_number = ESRCH;
	else if (request->kind == GUARDIAN_KILL)
		end_ward(state, request->index);
	if (known && request->kind == GUARDIAN_STATUS) {
		reap(state);
		answer.pid = state->wards[request->index].pid;
		answer.status = state->wards[request->index].status;
	}
	return answer;
}

/* ---- Life and end ------------------------------------------------------- */

static void delete_keys(const struct rr_key_set *keys)
{
	struct rl_link *link = rl_link_new(&keys->address, DELETE_MS);

	if (link)
		rr_keys_delete(link, keys->prefix, keys->n_keys);
	rl_link_free(link);
}

/* Kills what became our child because its parent has ended, such as a server
 * that made a daemon of itself. */
static void end_orphans(void)
{
	for (int round = 0; round < ORPHAN_ROUNDS; round++) {
		FILE *children = fopen("/proc/thread-self/children", "re");
		int pid;

		if (!children)
			return;
		while (fscanf(children, "%d", &pid) == 1)
			kill(pid, SIGKILL);
		fclose(children);
		if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD)
			return;
	}
}

static void clean_up(struct guardian_state *state)
{
	for (int i = 0; i < state->n_wards; i++)
		end_ward(state, i);
	end_orphans();
	guardian_remove_tree(state->base);
	for (int i = 0; i < state->n_key_sets; i++)
		delete_keys(&state->key_sets[i]);
}

/* Out of the program's reach: group, signals, terminal and pipes. */
static void detach(void)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int unwanted[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE,
				 SIGTSTP, SIGTTIN, SIGTTOU };

	setpgid(0, 0);
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		signal(unwanted[i], SIG_IGN);
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	if (chdir("/") != 0)
		return;
}

void guardian_process(int socket, const char *base)
{
	struct guardian_state state = { .base = base };
	struct guardian_request request;

	detach();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	while (recv(socket, &request, sizeof(request), 0) ==
	       (ssize_t)sizeof(request)) {
		const struct guardian_answer answer =
			answer_to(&state, &request);

		if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	clean_up(&state);
}
