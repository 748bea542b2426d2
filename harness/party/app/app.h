/* SPDX-License-Identifier: MIT */
/* What redrace-app needs of the system. */
#ifndef RR_APP_H
#define RR_APP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/marks.h"

/* A command in which {app} is replaced; malloc'd. */
char *app_fill_in(const char *command, unsigned port);

/* Runs a command by the shell, with that PORT, which prints to `output`; its exit status, 128 and the
 * number of the signal that ended it. */
int app_run(const char *command, unsigned port, int output);

/* ---- What a request says to the app (forward.c) ---------------------------------- */

/* A port of a request's own, from which a thread passes on all bytes to the app and back. */
struct app_forward {
	unsigned port;      /* that requests connect to */
	unsigned app_port;  /* where the app is */
	int listener;       /* of `port` */
	_Atomic int status; /* of the last response by HTTP, but for 1xx; 0 = none */
};

/* NULL: there is no port to be had, or no app. It ends with the process. */
const struct app_forward *app_forward_begin(unsigned app_port);

/* Of the last response so far. */
int app_forward_status(const struct app_forward *forward);

/* Does anybody listen on the port? */
bool app_listens(unsigned port);

/* Another port on which a process of ours listens; 0: there is none. */
unsigned app_other_port(unsigned port);

/* How many processes of ours take what comes to the port. */
size_t app_count_workers(unsigned port);

/* A connection to Redis; -1: none. */
int app_connect(void);

/* Sends ECHO with a mark; waits for a reply. False: the connection is closed. */
void app_send_mark(int connection, const char *mark);
bool app_await_reply(int connection);

/* How many children there are. One whose parent has ended is ours. */
size_t app_count_children(void);

/* Ends all children, and theirs. */
void app_end_children(void);

#endif
