/* SPDX-License-Identifier: MIT */
/* The guardian's own life: see guardian.h for what it is for. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian_wards.h"

enum { KEY_SETS_MAX = 32, DELETE_MS = 2000, ORPHAN_ROUNDS = 100 };

struct guardian_state {
	struct guardian_wards wards;
	int n_key_sets;
	struct rr_key_set key_sets[KEY_SETS_MAX];
};

/* ---- Requests ------------------------------------------------------------ */

static void own_keys(struct guardian_state *state,
		     const struct guardian_request *request,
		     struct guardian_answer *answer)
{
	if (state->n_key_sets == KEY_SETS_MAX)
		answer->error_number = EAGAIN;
	else
		state->key_sets[state->n_key_sets++] = request->keys;
}

static void tell_status(const struct guardian_ward *ward,
			struct guardian_answer *answer)
{
	answer->pid = ward->pid;
	answer->status = ward->status;
}

/* What is asked of a ward that there is. */
static void serve_ward(struct guardian_state *state,
		       const struct guardian_request *request,
		       struct guardian_answer *answer)
{
	struct guardian_ward *ward = &state->wards.list[request->index];

	guardian_reap(&state->wards);
	switch (request->kind) {
	case GUARDIAN_SPAWN:
		guardian_spawn(&state->wards, request, answer);
		break;
	case GUARDIAN_STATUS:
		tell_status(ward, answer);
		break;
	case GUARDIAN_SIGNAL:
		guardian_signal(ward, request->signal, answer);
		break;
	default:
		guardian_end(&state->wards, request->index);
	}
}

static struct guardian_answer answer_to(struct guardian_state *state,
					const struct guardian_request *request)
{
	struct guardian_answer answer = { .index = request->index };

	if (request->kind == GUARDIAN_PREPARE)
		guardian_prepare(&state->wards, &answer);
	else if (request->kind == GUARDIAN_OWN_KEYS)
		own_keys(state, request, &answer);
	else if (request->index < 0 || request->index >= state->wards.n ||
		 !state->wards.list[request->index].is_used)
		answer.error_number = ESRCH;
	else
		serve_ward(state, request, &answer);
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
	for (int i = 0; i < state->wards.n; i++) {
		if (state->wards.list[i].is_used)
			guardian_end(&state->wards, i);
	}
	end_orphans();
	guardian_remove_tree(state->wards.base);
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
	struct guardian_state state = { .wards.base = base };
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
