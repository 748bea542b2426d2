/* SPDX-License-Identifier: MIT */
/*
 * Apps and their requests as clients of a search. Each process of the app is one, with those
 * requests that it gets, and so is each request that asks Redis and no app: what they have in
 * common is Redis alone, so that each is learned by itself. All together they are run when
 * something is played. A client is a program, redrace-app (app/app.c). An app that is started
 * again when it has crashed is a client of its own, with the same requests: those that have begun
 * before never come to it.
 */
#ifndef RR_APPS_H
#define RR_APPS_H

#include "base/files.h"
#include "base/marks.h"
#include "check.h"
#include "client/client.h"

enum { RR_APP_WORDS = RR_REQUESTS_MAX + 4 };

struct rr_apps {
	size_t n; /* clients; 0 = there is no app */
	struct rr_instance_app clients[RR_PROGRAMS_MAX];
	struct rr_request_place places[RR_REQUESTS_MAX];     /* of each request */
	uint8_t again[RR_PROGRAMS_MAX];                      /* see rr_program */
	const char *commands[RR_PROGRAMS_MAX][RR_APP_WORDS]; /* of each client */
	char names[RR_PROGRAMS_MAX][RR_CLIENT_NAME];
	const char *name_of[RR_PROGRAMS_MAX];
	char *lines[RR_REQUESTS_MAX]; /* of requests those that are no commands, malloc'd */
	const char *requests[RR_REQUESTS_MAX]; /* all of them */
	char driver[RR_PATH_SIZE];             /* "" = it is missing */
};

/* Deals the requests out, and says in the configuration of programs who is whose. Clients that do
 * the same have the same command line there. The apps must outlive the programs. */
void rr_apps_make(struct rr_apps *apps, const struct rr_check_options *options, size_t n_requests,
		  struct rr_programs_config *config);
void rr_apps_release(struct rr_apps *apps);

#endif
