/* SPDX-License-Identifier: MIT */
/* Files and servers that the programs of a check have touched besides Redis (party/touched.h), and
 * --allow-outside. State that is not allowed takes a yes away, for it is not compared. */
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "verdict.h"

enum { SHOWN = 10 };

/* ---- The option -------------------------------------------------------------------------- */

/* Is it HOST:PORT? A path of that form is written with a slash: ./a:80. */
static bool is_server(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && !strchr(text, '/') && colon[1 + strspn(colon + 1, "0123456789")] == '\0';
}

bool rr_check_outside_reads(const char *text)
{
	char address[RR_ADDRESS_SIZE];

	return text[0] && ((!is_server(text) && strncmp(text, "unix:", 5) != 0) ||
			   rr_redis_at_read(text, address));
}

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

/* As paths of files are noted, malloc'd. */
static char *whole_path(const char *text)
{
	char here[PATH_MAX] = "", *path, *whole;
	const char *rest = text + strlen(text);

	if (text[0] != '/' && !getcwd(here, sizeof(here)))
		here[0] = '\0';
	/* Of a pattern only the directory is looked for. */
	if (is_pattern(text)) {
		rest = strpbrk(text, "*?[");
		while (rest > text && rest[-1] != '/')
			rest--;
	}
	path = rr_asprintf("%s%s%.*s", here, *here ? "/" : "", (int)(rest - text), text);
	whole = *path ? rr_touched_path(path, true, NULL) : NULL;
	if (whole && *rest) {
		char *joined = rr_asprintf("%s%s%s", whole, whole[1] ? "/" : "", rest);

		free(whole);
		whole = joined;
	}
	if (!whole)
		whole = rr_strdup(text);
	free(path);
	return whole;
}

void rr_check_outside_open(struct rr_check *check)
{
	for (size_t i = 0; i < check->options->n_outside; i++) {
		const char *text = check->options->outside[i];

		/* "*" is everything, also what has no name. */
		if (strcmp(text, "*") == 0)
			check->allowed_paths[check->n_allowed_paths++] = rr_strdup(text);
		else if (is_server(text))
			rr_redis_places_add(&check->allowed_servers, text);
		else
			check->allowed_paths[check->n_allowed_paths++] =
				whole_path(strncmp(text, "unix:", 5) == 0 ? text + 5 : text);
	}
}

void rr_check_outside_release(struct rr_check *check)
{
	for (size_t i = 0; i < check->n_allowed_paths; i++)
		free(check->allowed_paths[i]);
	rr_touched_release(&check->touched);
}

/* Does a path name the other, too: in a directory, or next to a file by a longer name, as PATH-journal
 * and PATH.lock? */
static bool covers(const char *path, const char *name)
{
	const size_t n = strlen(path);

	return (strncmp(path, name, n) == 0 &&
		(!name[n] || strchr("/-.~", name[n]) || path[n - 1] == '/')) ||
	       (is_pattern(path) && fnmatch(path, name, 0) == 0);
}

static bool is_allowed(const struct rr_check *check, const char *name)
{
	bool is = rr_redis_at_find(&check->allowed_servers.named, name) >= 0;

	for (size_t i = 0; i < check->n_allowed_paths; i++)
		is |= covers(check->allowed_paths[i], name);
	return is;
}

/* ---- Files and servers -------------------------------------------------------------------- */

static const char *const kinds[] = {
	[RR_TOUCHED_FILE] = "file",
	[RR_TOUCHED_SERVER] = "server",
	[RR_TOUCHED_UNKNOWN] = "unknown",
};

/* By kind, and then by name. */
static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *rr_checked_outside(const struct rr_check *check)
{
	const struct rr_touched *touched = &check->touched;
	const char **keys;
	json_t *all = rr_record_outside(&check->record);
	size_t n = 0;

	if (all)
		return all;
	all = json_array();
	keys = rr_calloc(touched->names.n + 1, sizeof(*keys));
	for (uint32_t i = 0; i < touched->names.n; i++) {
		if (rr_touched_counts(touched, i))
			keys[n++] = rr_intern_get(&touched->names, i);
	}
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < n; i++) {
		const uint32_t number = rr_intern_find(&touched->names, keys[i],
						       strlen(keys[i]) + 1);
		json_t *clients = json_array();

		for (size_t k = 0; k < touched->n_clients; k++) {
			if (touched->things[number].clients >> k & 1)
				json_array_append_new(clients, json_string(touched->clients[k]));
		}
		json_array_append_new(all, json_pack("{s:s, s:o, s:o, s:b}", "kind",
						     kinds[keys[i][0] - 'a'], "name",
						     rr_case_text(keys[i] + 1), "clients", clients,
						     "is_allowed", is_allowed(check, keys[i] + 1)));
	}
	free(keys);
	return all;
}

bool rr_checked_has_outside(const struct rr_check *check)
{
	json_t *all = rr_checked_outside(check);
	const json_t *thing;
	bool has = false;
	size_t i;

	json_array_foreach(all, i, thing)
		has |= !json_is_true(json_object_get(thing, "is_allowed"));
	json_decref(all);
	return has;
}

static const char *name_of(const json_t *thing)
{
	const char *name = json_string_value(json_object_get(thing, "name"));

	return name ? name : "";
}

/* Those that are allowed, or those that are not, but what another one covers. */
static json_t *roots(const json_t *all, bool are_allowed)
{
	json_t *some = json_array();
	const json_t *thing, *other;
	size_t i, k;

	json_array_foreach((json_t *)all, i, thing) {
		bool is_covered = json_is_true(json_object_get(thing, "is_allowed")) != are_allowed;

		/* A shorter name comes first. */
		json_array_foreach(some, k, other)
			is_covered |= covers(name_of(other), name_of(thing));
		if (!is_covered)
			json_array_append(some, (json_t *)thing);
	}
	return some;
}

void rr_checked_add_outside(json_t *not_compared, const struct rr_check *check)
{
	json_t *all = rr_checked_outside(check), *some = roots(all, false);
	const json_t *thing;
	size_t i;

	json_array_foreach(some, i, thing) {
		const char *kind = json_string_value(json_object_get(thing, "kind"));

		json_array_append_new(not_compared,
				      strcmp(kind, kinds[RR_TOUCHED_UNKNOWN]) == 0 ?
					      json_string(name_of(thing)) :
					      json_sprintf("the %s %s", kind, name_of(thing)));
	}
	json_decref(some);
	json_decref(all);
}

/* False: redrace has not seen which it is. */
static bool has_name(const json_t *thing)
{
	return strcmp(json_string_value(json_object_get(thing, "kind")), "unknown") != 0;
}

static void print_some(FILE *out, const json_t *some, const char *heading, bool has_hint)
{
	const size_t n = json_array_size(some);
	const json_t *thing, *client;
	char *names, *hint;
	FILE *list = rr_open_text(&names), *options = rr_open_text(&hint);
	size_t i, k;

	json_array_foreach((json_t *)some, i, thing) {
		const json_t *clients = json_object_get(thing, "clients");
		char *plain = rr_plain(name_of(thing));

		if (i == SHOWN)
			fprintf(list, ", and %zu more", n - SHOWN);
		if (i < SHOWN) {
			fprintf(list, "%s%s (", i ? ", " : "", plain);
			json_array_foreach((json_t *)clients, k, client)
				fprintf(list, "%s%s", k ? ", " : "", json_string_value(client));
			fputc(')', list);
			fputs(" --allow-outside ", options);
			rr_shell_word(options, has_name(thing) ? name_of(thing) : "*");
		}
		free(plain);
	}
	fclose(list);
	fclose(options);
	if (n > 0)
		rr_print_sentence(out, 2, 4, "%s: %s.", heading, names);
	if (n > 0 && has_hint)
		rr_print_sentence(out, 2, 4,
				  "If nothing that is to be right depends on it, allow it:%s.",
				  hint);
	free(names);
	free(hint);
}

void rr_checked_print_outside(FILE *out, const struct rr_check *check)
{
	json_t *all = rr_checked_outside(check);
	json_t *state = roots(all, false), *allowed = roots(all, true);
	const char *limit = check->result->found ? NULL : rr_checked_limit(check).id;

	print_some(out, state, "Touched besides Redis, and not compared",
		   limit && strcmp(limit, "outside") == 0);
	print_some(out, allowed, "Touched besides Redis, and not compared, as --allow-outside says",
		   false);
	json_decref(state);
	json_decref(allowed);
	json_decref(all);
}
