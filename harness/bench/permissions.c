/* SPDX-License-Identifier: MIT */
/*
 * Permissions are tried rather than asked for: who has few of them may seldom ask
 * (ACL DRYRUN, ACL GETUSER), and whether a strategy can do without a command, as
 * locks are released by a transaction where scripts are forbidden, shows when it
 * does. What follows a refusal is tried, too, so that most of what is missing is
 * told at once.
 */
#include "permissions.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 24, NAME_SIZE = 32, TRY_TTL_MS = 10000 };

struct attempt {
	struct rl_driver driver;
	struct rl_link *links[RR_CLUSTER_SERVERS];
	size_t n_links;
	char command[NAME_SIZE]; /* sent last, as ACL calls it */
	char refused[NAMES_MAX][NAME_SIZE];
	size_t n_refused;
	bool lacks_keys, lacks_channels;
	bool has_failed;
	bool is_silent; /* a server has not answered: others will tell why */
};

/* ---- What is refused ----------------------------------------------------- */

static void append_lower(char *name, const struct rl_word *word)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < word->length && n + 1 < NAME_SIZE; i++)
		name[n++] = (char)tolower((unsigned char)word->text[i]);
	name[n] = '\0';
}

/* "set", "script|load". */
static enum rl_outcome note_command(void *context, struct rl_link *link, struct rl_command *command)
{
	struct attempt *attempt = context;

	(void)link;
	attempt->command[0] = '\0';
	append_lower(attempt->command, &command->words[0]);
	if (strcmp(attempt->command, "script") == 0 && command->n_words > 1) {
		strcat(attempt->command, "|");
		append_lower(attempt->command, &command->words[1]);
	}
	return RL_OK;
}

static void add_refused(struct attempt *attempt, const char *name)
{
	for (size_t i = 0; i < attempt->n_refused; i++) {
		if (strcmp(attempt->refused[i], name) == 0)
			return;
	}
	if (attempt->n_refused < NAMES_MAX)
		snprintf(attempt->refused[attempt->n_refused++], NAME_SIZE, "%s", name);
}

/* The texts differ from version to version. */
static enum rl_outcome judge_reply(void *context, struct rl_link *link,
				   const struct rl_reply *reply, enum rl_outcome outcome)
{
	struct attempt *attempt = context;
	const bool is_refused = outcome == RL_ERROR && reply->type == RL_REPLY_FAILED;
	const char *text = is_refused ? reply->text : "";

	(void)link;
	if (strstr(text, "executing the script can't run"))
		add_refused(attempt, "what its scripts call");
	else if (strncmp(text, "NOPERM", 6) != 0)
		return outcome;
	else if (strstr(text, "channel"))
		attempt->lacks_channels = true;
	else if (strstr(text, " key"))
		attempt->lacks_keys = true;
	else
		add_refused(attempt, attempt->command);
	return outcome;
}

static const struct rl_driver_ops watching = {
	.send = note_command,
	.done = judge_reply,
};

/* ---- Trying -------------------------------------------------------------- */

static bool connect_attempt(struct attempt *attempt, const struct rr_cluster *cluster, size_t n)
{
	attempt->driver = (struct rl_driver){ &watching, attempt };
	for (size_t i = 0; i < n; i++) {
		struct rl_link *link = rl_link_new(&cluster->servers[i].address, RR_TIMEOUT_MS);

		if (!link)
			return false;
		attempt->links[attempt->n_links++] = link;
		if (rl_link_connect(link) != RL_OK)
			return false;
		rl_link_set_driver(link, &attempt->driver);
	}
	return true;
}

static void close_attempt(struct attempt *attempt)
{
	for (size_t i = 0; i < attempt->n_links; i++)
		rl_link_free(attempt->links[i]);
}

static void try_part(struct attempt *attempt, struct rr_client *client,
		     enum rl_outcome (*part)(struct rr_client *client))
{
	enum rl_outcome outcome;

	if (!part || attempt->is_silent)
		return;
	outcome = part(client);
	attempt->has_failed |= outcome != RL_OK;
	attempt->is_silent = outcome == RL_UNKNOWN;
}

/* One increment, whatever is refused of it. */
static void try_strategy(struct attempt *attempt, const struct rr_strategy *strategy,
			 const char *prefix)
{
	char counter[RR_KEY_SIZE], lock[RR_KEY_SIZE];
	struct rl_mutex mutex;
	struct rr_client client = {
		.data = attempt->links[0],
		.lock_nodes = attempt->links + 1,
		.n_lock_nodes = attempt->n_links - 1,
		.counter = counter,
		.lock = lock,
		.mutex = &mutex,
		.ttl_ms = TRY_TTL_MS,
	};

	rr_keys_counter(counter, prefix, 0);
	rr_keys_lock(lock, prefix, 0);
	rl_mutex_init(&mutex);
	if (!strategy->open || strategy->open(&client) == RL_OK) {
		try_part(attempt, &client, strategy->acquire);
		try_part(attempt, &client, strategy->increment);
		try_part(attempt, &client, strategy->release);
		if (strategy->close)
			strategy->close(&client);
	}
	rl_mutex_destroy(&mutex);
}

/* What every run does itself: the counter read, all keys deleted. */
static void try_run(struct attempt *attempt, const char *prefix)
{
	char counter[RR_KEY_SIZE];
	struct rl_reply reply;

	rr_keys_counter(counter, prefix, 0);
	for (size_t i = 0; i < attempt->n_links; i++) {
		if (rr_keys_delete(attempt->links[i], prefix, 1) != RL_OK)
			attempt->has_failed = true;
	}
	if (rl_run(attempt->links[0], &reply, "GET %s", counter) != RL_OK)
		attempt->has_failed = true;
}

/* ---- Telling ------------------------------------------------------------- */

static void name_user(struct attempt *attempt, char *name, size_t size)
{
	const struct rl_address *address = rl_link_address(attempt->links[0]);
	struct rl_reply reply;

	rl_link_set_driver(attempt->links[0], NULL);
	if (rl_run(attempt->links[0], &reply, "ACL WHOAMI") == RL_OK && reply.text)
		snprintf(name, size, "%s", reply.text);
	else
		snprintf(name, size, "%s", address->user[0] ? address->user : "default");
}

static void add_text(char lacks[RR_LACKS_SIZE], const char *sign, const char *name)
{
	const size_t n = strlen(lacks);

	snprintf(lacks + n, RR_LACKS_SIZE - n, " %s%s", sign, name);
}

/* Prefixes differ in their random part alone. */
static void tell_lacks(struct attempt *attempt, const char *prefix, char lacks[RR_LACKS_SIZE])
{
	const char *pattern = prefix[0] == '{' ? "{redrace:*" : "redrace:*";
	char user[130];

	name_user(attempt, user, sizeof(user));
	snprintf(lacks, RR_LACKS_SIZE, "user '%s' lacks", user);
	for (size_t i = 0; i < attempt->n_refused; i++)
		add_text(lacks, strchr(attempt->refused[i], ' ') ? "" : "+", attempt->refused[i]);
	if (attempt->lacks_keys)
		add_text(lacks, "~", pattern);
	if (attempt->lacks_channels)
		add_text(lacks, "&", pattern);
}

/* Nothing is tried with what everybody has who has set up nothing, nor where no
 * answer comes. Servers without ACLs have no limits. */
static bool is_unlimited(struct rl_link *link)
{
	struct rl_reply reply;
	bool has_commands = false, has_keys = false;

	if (rl_run(link, &reply, "ACL GETUSER default") != RL_OK)
		return reply.type != RL_REPLY_FAILED || strstr(reply.text, "unknown command");
	if (rl_link_address(link)->user[0] || reply.type != RL_REPLY_ARRAY)
		return false;
	for (size_t i = 0; i < reply.length; i++) {
		const struct rl_reply *part = &reply.elements[i];
		const char *text = part->text ? part->text : "";

		if (part->type == RL_REPLY_ARRAY && part->length == 1 && part->elements[0].text)
			text = part->elements[0].text;
		has_commands |= strcmp(text, "+@all") == 0;
		has_keys |= strcmp(text, "~*") == 0 || strcmp(text, "*") == 0;
	}
	return has_commands && has_keys;
}

static void try_all(struct attempt *attempt, const struct rr_strategy *strategy, const char *prefix)
{
	struct rl_reply reply;

	if (strategy) {
		try_strategy(attempt, strategy, prefix);
		for (size_t i = 0; i < attempt->n_links; i++) {
			rl_link_set_driver(attempt->links[i], NULL);
			rl_run(attempt->links[i], &reply, "UNWATCH");
			rr_keys_delete(attempt->links[i], prefix, 1);
		}
	} else {
		try_run(attempt, prefix);
	}
}

bool rr_lacks_permission(const struct rr_strategy *strategy, const struct rr_cluster *cluster,
			 const char *prefix, char lacks[RR_LACKS_SIZE])
{
	const size_t n = strategy ? 1 + strategy->lock.servers : cluster->n_servers;
	struct attempt attempt = { .n_links = 0 };
	bool lacks_any = false;

	if (connect_attempt(&attempt, cluster, n)) {
		rl_link_set_driver(attempt.links[0], NULL);
		lacks_any = !is_unlimited(attempt.links[0]);
		rl_link_set_driver(attempt.links[0], &attempt.driver);
	}
	if (lacks_any) {
		try_all(&attempt, strategy, prefix);
		lacks_any = attempt.has_failed &&
			    (attempt.n_refused || attempt.lacks_keys || attempt.lacks_channels);
	}
	if (lacks_any)
		tell_lacks(&attempt, prefix, lacks);
	close_attempt(&attempt);
	return lacks_any;
}
