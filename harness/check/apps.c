/* SPDX-License-Identifier: MIT */
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- Who is whose ------------------------------------------------------------------ */

static bool names_any(const char *command, const char *const *names)
{
	bool does = false;

	for (; *names; names++)
		does |= strstr(command, *names) != NULL;
	return does;
}

/* Does a request lead to Redis, and to no app? */
static bool is_direct(const char *request)
{
	static const char *const redis[] = { "{url}",   "{host}",   "{port}", "{socket}",
					     "$REDIS_", "${REDIS_", NULL };
	static const char *const app[] = { "{app}", "PORT", NULL };
	char *rest = rr_strdup(request);
	char *at;
	bool is;

	/* The port of Redis is no app's. */
	while ((at = strstr(rest, "REDIS_PORT")))
		memcpy(at, "REDIS_port", strlen("REDIS_port"));
	is = request[0] != RR_MARK_LINE && names_any(rest, redis) && !names_any(rest, app);
	free(rest);
	return is;
}

static void name_client(struct rr_apps *apps, size_t client, const char *name, char which)
{
	snprintf(apps->names[client], RR_CLIENT_NAME, which ? "%s%c" : "%s", name, which);
	apps->name_of[client] = apps->names[client];
}

/* ---- Their command lines ----------------------------------------------------------- */

static bool are_same_words(const char *const *a, const char *const *b)
{
	size_t i = 0;

	while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
		i++;
	return !a[i] && !b[i];
}

void rr_apps_make(struct rr_apps *apps, const struct rr_check_options *options, size_t n_requests,
		  const char *jar, struct rr_programs_config *config)
{
	const size_t n_apps = (size_t)options->n_apps;
	const size_t n_most = RR_RUN_CLIENTS - (options->search.compare.restarts ? n_apps : 0);
	size_t n_dealt = 0;

	rr_preload_find("redrace-app", apps->driver, sizeof(apps->driver));
	for (size_t i = 0; i < n_requests; i++) {
		const size_t which = options->n_requests == 1 ? 0 : i;

		if (options->is_line[which])
			apps->lines[i] = rr_asprintf("%c%s", RR_MARK_LINE,
						     options->requests[which]);
		apps->requests[i] = apps->lines[i] ? apps->lines[i] : options->requests[which];
	}
	for (size_t i = 0; i < n_apps; i++) {
		apps->clients[apps->n].has_app = true;
		apps->commands[apps->n][1] = options->app;
		apps->commands[apps->n][2] = options->ready ? options->ready : "";
		apps->commands[apps->n][3] = jar;
		name_client(apps, apps->n++, "app", options->n_apps > 1 ? (char)('A' + i) : '\0');
	}
	for (size_t i = 0; i < n_requests; i++) {
		const bool is_alone = apps->n < n_most && is_direct(apps->requests[i]);

		if (is_alone) {
			apps->commands[apps->n][1] = apps->commands[apps->n][2] = "";
			apps->commands[apps->n][3] = jar;
			name_client(apps, apps->n++, "direct", (char)('1' + i));
		}
		const size_t client = is_alone ? apps->n - 1 : n_dealt++ % n_apps;
		struct rr_instance_app *app = &apps->clients[client];

		apps->places[i] = (struct rr_request_place){ (uint8_t)client,
							     (uint8_t)app->n_requests };
		if (apps->lines[i])
			app->unanswered |= 1U << app->n_requests;
		apps->commands[client][4 + app->n_requests++] = apps->requests[i];
		config->requests.unanswered |= apps->lines[i] ? 1U << i : 0;
	}
	for (size_t i = 0; i < n_apps && options->search.compare.restarts; i++) {
		/* It is called newapp, or newappB. */
		memcpy(apps->commands[apps->n], apps->commands[i], sizeof(apps->commands[i]));
		apps->clients[apps->n] = apps->clients[i];
		apps->again[apps->n] = (uint8_t)(i + 1);
		snprintf(apps->names[apps->n], RR_CLIENT_NAME, "new%s", apps->names[i]);
		apps->name_of[apps->n] = apps->names[apps->n];
		apps->n++;
	}
	for (size_t i = 0; i < apps->n; i++) {
		apps->commands[i][0] = apps->driver;
		/* Of clients that do the same, that of the first. */
		size_t k = 0;

		while (!are_same_words(apps->commands[k], apps->commands[i]))
			k++;
		config->argv[i] = apps->commands[k];
		snprintf(config->names[i], RR_CLIENT_NAME, "%s", apps->names[i]);
	}
	config->n_clients = apps->n;
	config->requests.n = n_requests;
	config->requests.commands = apps->requests;
	config->requests.places = apps->places;
	config->requests.again = options->search.compare.restarts ? apps->again : NULL;
	config->instances.apps = apps->clients;
}

void rr_apps_release(struct rr_apps *apps)
{
	for (size_t i = 0; i < RR_REQUESTS_MAX; i++)
		free(apps->lines[i]);
	*apps = (struct rr_apps){ .n = 0 };
}
