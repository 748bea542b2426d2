/* SPDX-License-Identifier: MIT */
#include "../peer_process.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 32, TIMEOUT_MS = 300000, SKIPPED = 77 };

void peer_need(const char *name)
{
	char command[128], said[512];
	int code;

	snprintf(command, sizeof(command), "tests/bench/locks/run %s versions 2>&1", name);
	code = support_shell(command, said, sizeof(said));
	said[strcspn(said, "\n")] = '\0';
	if (code == SKIPPED)
		cr_skip_test("%s: %s", name, said);
	cr_assert_eq(code, 0, "%s: %s", command, said);
}

/* In the child: the session's blocked signals are not its own. */
static _Noreturn void become(const char *const words[], int socket)
{
	char *argv[WORDS_MAX] = { "tests/bench/locks/run" };
	sigset_t none;

	for (size_t i = 0; words[i] && i + 2 < WORDS_MAX; i++)
		argv[i + 1] = (char *)words[i];
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(socket, STDIN_FILENO);
	dup2(socket, STDOUT_FILENO);
	execv(argv[0], argv);
	_exit(127);
}

void peer_start(struct peer_process *peer, const char *const words[])
{
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	fflush(NULL);
	peer->pid = fork();
	cr_assert_geq(peer->pid, 0);
	if (peer->pid == 0)
		become(words, ends[1]);
	close(ends[1]);
	peer->socket = ends[0];
}

json_t *peer_answer(struct peer_process *peer)
{
	struct pollfd ready = { .fd = peer->socket, .events = POLLIN };
	char line[512];
	size_t used = 0;
	json_t *answer;

	while (used + 1 < sizeof(line) && (used == 0 || line[used - 1] != '\n')) {
		if (poll(&ready, 1, TIMEOUT_MS) < 1 || read(peer->socket, line + used, 1) != 1)
			break;
		used++;
	}
	line[used] = '\0';
	answer = json_loads(line, 0, NULL);
	cr_assert_not_null(answer, "the peer said '%s'", line);
	return answer;
}

bool peer_says(struct peer_process *peer, const char *field)
{
	json_t *answer = peer_answer(peer);
	const json_t *value = json_object_get(answer, field);
	const bool truth = json_is_true(value);

	cr_assert(json_is_boolean(value), "the peer did not tell '%s'", field);
	json_decref(answer);
	return truth;
}

int peer_end(struct peer_process *peer)
{
	int status;

	shutdown(peer->socket, SHUT_WR);
	cr_assert_eq(waitpid(peer->pid, &status, 0), peer->pid);
	close(peer->socket);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
