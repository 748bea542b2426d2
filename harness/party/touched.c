/* SPDX-License-Identifier: MIT */
#include "touched.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "opened.h"

/* ---- One run ---------------------------------------------------------------------------- */

void rr_touches_add(struct rr_touches *touches, enum rr_touched_kind kind, const char *name,
		    bool was_there, bool is_changed)
{
	for (size_t i = 0; i < touches->n; i++) {
		struct rr_touch *touch = &touches->all[i];

		if (touch->kind != kind || strcmp(touch->name, name) != 0)
			continue;
		touch->is_changed |= is_changed;
		return;
	}
	if (touches->n == RR_TOUCHES_MOST)
		return;
	if (touches->n == RR_TOUCHES_MOST - 1) {
		kind = RR_TOUCHED_UNKNOWN;
		name = "more files than are noted";
		is_changed = true;
	}
	rr_array_grow(&touches->all, touches->n, sizeof(*touches->all));
	touches->all[touches->n++] = (struct rr_touch){ kind, was_there, is_changed,
							rr_strdup(name) };
}

void rr_touches_release(struct rr_touches *touches)
{
	for (size_t i = 0; i < touches->n; i++)
		free(touches->all[i].name);
	free(touches->all);
	*touches = (struct rr_touches){ 0 };
}

static bool begins_with(const char *text, const char *part)
{
	return strncmp(text, part, strlen(part)) == 0;
}

/* Is it of a language's runtime, which no program reads: a lock of PHP's opcache, a JVM's counters? */
static bool is_of_runtime(const char *name)
{
	return begins_with(name, "/tmp/.ZendSem.") || begins_with(name, "/tmp/hsperfdata_");
}

char *rr_touched_path(const char *path, bool follows, const char *own)
{
	char whole[PATH_MAX], *parent, *name, *last;
	size_t n = strlen(path);
	struct stat info;

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (follows && realpath(path, whole)) {
		name = rr_strdup(whole);
	} else {
		parent = rr_strndup(path, n);
		last = strrchr(parent, '/');
		name = rr_strdup(last ? last + 1 : parent);
		if (last)
			last[last == parent] = '\0';
		if (realpath(parent, whole)) {
			char *joined = rr_asprintf("%s%s%s", whole, whole[1] ? "/" : "", name);

			free(name);
			name = joined;
		} else {
			free(name);
			name = rr_strndup(path, n);
		}
		free(parent);
	}
	n = own ? strlen(own) : 0;
	if ((own && begins_with(name, own) && (name[n] == '/' || !name[n])) ||
	    (begins_with(name, "/proc/") && !begins_with(name, "/proc/sys/")) ||
	    rr_opened_is_of_cache(name) || is_of_runtime(name) ||
	    (stat(name, &info) == 0 && S_ISCHR(info.st_mode))) {
		free(name);
		return NULL;
	}
	return name;
}

/* ---- All of them ------------------------------------------------------------------------- */

static uint32_t bit_of_client(struct rr_touched *touched, const char *client)
{
	size_t i = 0;

	while (i < touched->n_clients && strcmp(touched->clients[i], client) != 0)
		i++;
	if (i == RR_TOUCHED_CLIENTS_MAX)
		i--;
	if (i == touched->n_clients)
		snprintf(touched->clients[touched->n_clients++], RR_TOUCHED_NAME, "%s", client);
	return UINT32_C(1) << i;
}

void rr_touched_note(struct rr_touched *touched, const struct rr_touches *touches,
		     const char *client, bool has_ended)
{
	for (size_t i = 0; i < touches->n; i++) {
		const struct rr_touch *touch = &touches->all[i];
		const size_t length = strlen(touch->name);
		char *key = rr_asprintf("%c%s", (char)touch->kind + 'a', touch->name);
		struct stat info;
		const bool is_gone = lstat(touch->name, &info) != 0;
		bool is_new;
		const uint32_t number = rr_intern_put(&touched->names, key, length + 2, &is_new);
		struct rr_touched_thing *thing;

		free(key);
		if (is_new)
			rr_array_grow(&touched->things, number, sizeof(*touched->things));
		thing = &touched->things[number];
		if (is_new)
			*thing = (struct rr_touched_thing){ .stays = false };
		thing->clients |= bit_of_client(touched, client);
		thing->stays |= touch->kind != RR_TOUCHED_FILE || touch->was_there ||
				(has_ended && !is_gone);
		thing->was_gone |= is_gone;
		thing->is_changed |= touch->is_changed;
	}
}

bool rr_touched_counts(const struct rr_touched *touched, uint32_t thing)
{
	const struct rr_touched_thing *it = &touched->things[thing];
	const bool is_shared = (it->clients & (it->clients - 1)) != 0;

	return it->is_changed && (it->stays || !it->was_gone || is_shared || !touched->are_equal);
}

void rr_touched_release(struct rr_touched *touched)
{
	rr_intern_release(&touched->names);
	free(touched->things);
	*touched = (struct rr_touched){ .n_clients = 0 };
}
