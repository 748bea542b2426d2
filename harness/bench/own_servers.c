/* SPDX-License-Identifier: MIT */
/* The user's own servers: --redis and REDRACE_REDIS, and their passwords, which
 * need not stand in either. */
#include "own_servers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"

/* Cuts a list of URIs at the commas before a scheme; others stand between the
 * hosts of one. The first, and the others in *rest; NULL = there is none. */
static char *cut_uri(char **rest)
{
	char *one = *rest + strspn(*rest, ",");
	char *comma = strchr(one, ',');

	while (comma) {
		const char *scheme = strstr(comma, "://");

		if (!scheme || memchr(comma + 1, ',', (size_t)(scheme - comma - 1)))
			comma = strchr(comma + 1, ',');
		else
			break;
	}
	*rest = comma ? comma + 1 : one + strlen(one);
	if (comma)
		*comma = '\0';
	return *one ? one : NULL;
}

static bool take_list(struct rr_bench_options *options, const char *name, char *list,
		      struct rr_error *error)
{
	char *rest = list, why[400];

	options->n_redis = 0;
	for (char *one = cut_uri(&rest); one; one = cut_uri(&rest)) {
		const bool is_one_more = options->n_redis < RR_CLUSTER_SERVERS;
		const bool is_good = is_one_more &&
				     rl_address_parse(&options->redis[options->n_redis], one, why,
						      sizeof(why));

		rr_secrets_blank(one);
		if (!is_one_more)
			return rr_error_set(error, RR_ERROR_USAGE, "%s: more than %d servers", name,
					    RR_CLUSTER_SERVERS);
		if (!is_good)
			return rr_error_set(error, RR_ERROR_USAGE, "%s: %s", name, why);
		options->n_redis++;
	}
	return options->n_redis ||
	       rr_error_set(error, RR_ERROR_USAGE, "%s: no server is named", name);
}

bool rr_take_own_servers(void *into, char *list, struct rr_error *error)
{
	return take_list(into, "--redis", list, error);
}

static bool take_environment(struct rr_bench_options *options, struct rr_error *error)
{
	const char *set = getenv("REDRACE_REDIS");
	char *list;
	bool good;

	if (options->n_redis || !set || !*set)
		return true;
	list = rr_strdup(set);
	good = take_list(options, "REDRACE_REDIS", list, error);
	free(list);
	return good;
}

/* ---- Passwords ----------------------------------------------------------- */

static bool read_password(const struct rr_bench_options *options, char *password, size_t size,
			  struct rr_error *error)
{
	const char *set = getenv("REDISCLI_AUTH");

	if (options->password_file)
		return rr_secret_from_file(options->password_file, password, size, error);
	if (options->asks_password)
		return rr_secret_ask("Password of the servers: ", password, size, error);
	if (set && strlen(set) >= size)
		return rr_error_set(error, RR_ERROR_USAGE, "REDISCLI_AUTH is longer than %zu bytes",
				    size - 1);
	memcpy(password, set ? set : "", set ? strlen(set) + 1 : 1);
	return true;
}

static bool add_passwords(struct rr_bench_options *options, struct rr_error *error)
{
	char password[sizeof(options->redis[0].password)];

	if (!read_password(options, password, sizeof(password), error))
		return false;
	for (size_t i = 0; i < options->n_redis; i++) {
		if (!options->redis[i].password[0])
			memcpy(options->redis[i].password, password, sizeof(password));
	}
	return true;
}

bool rr_complete_own_servers(struct rr_bench_options *options, struct rr_error *error)
{
	const bool has_way = options->password_file || options->asks_password;

	if (!take_environment(options, error))
		return false;
	if (options->password_file && options->asks_password)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--redis-password-file and --askpass exclude each other; leave one out");
	if (has_way && !options->n_redis)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--redis-password-file and --askpass are for your own servers; name them by --redis or REDRACE_REDIS");
	return !options->n_redis || add_passwords(options, error);
}

/* ---- What goes together --------------------------------------------------- */

static bool is_same_server(const struct rl_address *a, const struct rl_address *b)
{
	char one[1200], other[1200];
	struct rl_address first = *a, second = *b;

	first.db = second.db = 0;
	rl_address_print(&first, one, sizeof(one));
	rl_address_print(&second, other, sizeof(other));
	return strcmp(one, other) == 0;
}

bool rr_check_own_servers(const struct rr_bench_options *options, struct rr_error *error)
{
	if (options->pin == RR_PIN_SAME)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--pin same moves the servers too, and those of --redis are yours; leave it out");
	if (options->persistence != RR_PERSIST_NONE)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--persistence is for private servers; those of --redis are not configured");
	for (size_t i = 1; i < options->n_redis; i++) {
		for (size_t j = i + 1; j < options->n_redis; j++) {
			if (is_same_server(&options->redis[i], &options->redis[j]))
				return rr_error_set(
					error, RR_ERROR_USAGE,
					"--redis: lock servers %zu and %zu are the same; they must be independent",
					i, j);
		}
	}
	return true;
}
