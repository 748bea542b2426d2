/* SPDX-License-Identifier: MIT */
/*
 * The project in the working directory, as far as its files say: how its server is started, and which
 * requests it takes. `redrace init` writes a first suite of that. Nothing of the project is run here,
 * but for a Python that is asked which packages it has.
 *
 * Order: rr_sources_read, then rr_project_find and rr_routes_of_sources; each has a release.
 */
#ifndef RR_PROJECT_H
#define RR_PROJECT_H

#include <stdbool.h>
#include <stddef.h>

/* Source files, in the order of their paths, without those of tests and of packages. */
struct rr_sources {
	size_t n;
	struct rr_source {
		char *path; /* "src/server.js" */
		char *text;
	} * all;
};

void rr_sources_read(struct rr_sources *sources);
void rr_sources_release(struct rr_sources *sources);

struct rr_project {
	char *app;            /* starts its server, for the shell; NULL = none was found */
	char *build;          /* makes it before; or NULL */
	char *from;           /* what says so: "package.json, scripts.start"; or NULL */
	bool takes_one;       /* one request after the other: concurrent ones need two of it */
	const char *language; /* NULL = unknown */
	const char *script;   /* how a script in that language would be run */
};

void rr_project_find(struct rr_project *project, const struct rr_sources *sources);
void rr_project_release(struct rr_project *project);

/* ---- Requests (routes.c, openapi.c) -------------------------------------------------- */

enum { RR_ROUTES_MAX = 40, RR_ROUTE_METHOD = 8 };

struct rr_routes {
	size_t n;
	struct rr_route {
		char method[RR_ROUTE_METHOD];
		char *path; /* with values for its parameters: "/items/1" */
		char *body; /* JSON without ' in it; or NULL */
		char *from; /* "server.js:12" */
		bool has_parameters;
	} all[RR_ROUTES_MAX];
};

/* Adds those that look like routes of a framework. */
void rr_routes_of_sources(struct rr_routes *routes, const struct rr_sources *sources);

/* Adds those of an OpenAPI document, which was found at `from`. False: the text is none. */
bool rr_routes_of_openapi(struct rr_routes *routes, const char *text, const char *from);

/* Sorts them: first those that change something, log-ins last. */
void rr_routes_sort(struct rr_routes *routes);

/* Is it one by which a user logs in? */
bool rr_route_logs_in(const struct rr_route *route);

void rr_routes_release(struct rr_routes *routes);

/* Adds a route, if it is new, and neither a page of its documentation nor of its health. The path is as a
 * framework has it, "/items/:id", "/items/<int:id>", "/items/{id}"; the body becomes the list's. */
void rr_routes_add(struct rr_routes *routes, const char *method, const char *path, char *body,
		   const char *from);

#endif
