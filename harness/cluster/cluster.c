/* SPDX-License-Identifier: MIT */
/* Sessions and clusters: their beginning and end, and the list of servers. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "server.h"

const char *const rr_persistence_names[RR_PERSIST_KINDS] = {
	[RR_PERSIST_NONE] = "none",
	[RR_PERSIST_RDB] = "rdb",
	[RR_PERSIST_EVERYSEC] = "everysec",
	[RR_PERSIST_ALWAYS] = "always",
};

/* ---- Sessions ------------------------------------------------------------- */

bool rr_session_open(struct rr_session *session, struct rr_error *error)
{
	*session = (struct rr_session){ .guardian.socket = -1 };
	if (!rr_signals_open(&session->signals))
		return rr_error_set(error, RR_ERROR_INTERNAL, "cannot watch signals");
	if (!rr_keys_fresh_prefix(session->prefix))
		return rr_error_set(error, RR_ERROR_INTERNAL, "no random bytes");
	return rr_guardian_start(&session->guardian, error);
}

void rr_session_close(struct rr_session *session)
{
	rr_guardian_stop(&session->guardian);
	rr_signals_close(&session->signals);
}

/* ---- The list of servers ---------------------------------------------------- */

int rr_cluster_find(const struct rr_cluster *cluster, const char *name)
{
	for (size_t i = 0; i < cluster->n_servers; i++) {
		if (strcmp(cluster->servers[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}

bool rr_cluster_declare(struct rr_cluster *cluster, const char *name,
			const struct rr_server_options *options, int *server,
			struct rr_error *error)
{
	struct rr_server *declared = &cluster->servers[cluster->n_servers];

	if (cluster->n_servers == RR_CLUSTER_SERVERS)
		return rr_error_set(error, RR_ERROR_USAGE, "more than %d servers",
				    RR_CLUSTER_SERVERS);
	if (strlen(name) >= RR_SERVER_NAME)
		return rr_error_set(error, RR_ERROR_USAGE, "the name '%s' is too long", name);
	if (*name && rr_cluster_find(cluster, name) >= 0)
		return rr_error_set(error, RR_ERROR_USAGE, "two servers are called '%s'", name);
	if (options->replica_of) {
		/* A master must listen on a port before its replica can be declared. */
		const int master = rr_cluster_find(cluster, options->replica_of);

		if (master < 0)
			return rr_error_set(error, RR_ERROR_USAGE,
					    "a replica of '%s', which is not a server",
					    options->replica_of);
		if (!cluster->servers[master].options.tcp)
			return rr_error_set(error, RR_ERROR_USAGE,
					    "a replica of '%s', which has no TCP port",
					    options->replica_of);
	}
	*declared = (struct rr_server){ .options = *options };
	if (options->replica_of)
		declared->options.tcp = true;
	snprintf(declared->name, sizeof(declared->name), "%s", name);
	*server = (int)cluster->n_servers++;
	return true;
}

const struct rdl_address *rr_cluster_address(const struct rr_cluster *cluster, int server)
{
	return &cluster->servers[server].address;
}

const struct rdl_address *rr_cluster_own_address(const struct rr_cluster *cluster, int server)
{
	return &cluster->servers[server].own;
}

enum rr_server_state rr_cluster_state(struct rr_cluster *cluster, int server)
{
	struct rr_server *it = &cluster->servers[server];
	int status;

	if ((it->state == RR_SERVER_RUNNING || it->state == RR_SERVER_HUNG) &&
	    cluster->is_private &&
	    rr_guardian_has_ended(&cluster->session->guardian, &it->process, &status)) {
		it->state = RR_SERVER_DOWN;
		it->is_used_up = true;
		it->was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
				 !it->kills_itself;
	}
	return it->state;
}

bool rr_cluster_is_whole(struct rr_cluster *cluster, struct rr_error *error)
{
	for (size_t i = 0; i < cluster->n_servers; i++) {
		const struct rr_server *it = &cluster->servers[i];

		rr_cluster_state(cluster, (int)i);
		if (it->was_killed)
			return rr_error_set(error, RR_ERROR_REDIS,
					    "another process has killed the server%s%s",
					    it->name[0] ? " " : "", it->name);
	}
	return !cluster->is_private || rr_guardian_is_there(&cluster->session->guardian, error);
}

/* ---- Starting --------------------------------------------------------------- */

static bool take_spare(struct rr_cluster *cluster, struct rr_server *server)
{
	const char *rights = server->options.rights;
	char name[RR_SERVER_NAME];

	if (!rr_server_is_plain(&server->options) || cluster->n_spare == 0)
		return false;
	memcpy(name, server->name, sizeof(name));
	*server = cluster->spare[--cluster->n_spare];
	memcpy(server->name, name, sizeof(name));
	server->options.rights = rights;
	rr_page_set_time(cluster, server);
	return true;
}

bool rr_cluster_start(struct rr_cluster *cluster, struct rr_error *error)
{
	bool is_new[RR_CLUSTER_SERVERS] = { false };

	/* Launched in order, for a replica needs its master's port. */
	for (size_t i = 0; i < cluster->n_servers; i++) {
		struct rr_server *server = &cluster->servers[i];

		if (server->state != RR_SERVER_DECLARED)
			continue;
		is_new[i] = !take_spare(cluster, server);
		if (is_new[i] ? !rr_server_make(cluster, server, error) :
				!rr_server_restrict(server, error))
			return false;
	}
	for (size_t i = 0; i < cluster->n_servers; i++) {
		if (is_new[i] && !rr_server_await_up(cluster, &cluster->servers[i], error))
			return false;
	}
	return true;
}

bool rr_cluster_need(struct rr_cluster *cluster, size_t n, struct rr_error *error)
{
	const enum rr_persistence kind = cluster->options.persistence;
	const struct rr_server_options options = {
		.rdb = kind == RR_PERSIST_RDB,
		.aof = kind == RR_PERSIST_EVERYSEC ? RR_AOF_EVERYSEC :
		       kind == RR_PERSIST_ALWAYS   ? RR_AOF_ALWAYS :
						     RR_AOF_NONE,
	};
	int server;

	while (cluster->is_private && cluster->n_servers < n) {
		if (!rr_cluster_declare(cluster, "", &options, &server, error))
			return false;
	}
	return !cluster->is_private || rr_cluster_start(cluster, error);
}

void rr_cluster_reset(struct rr_cluster *cluster)
{
	rr_page_restart_time(cluster);
	for (size_t i = 0; i < cluster->n_servers; i++) {
		struct rr_server *server = &cluster->servers[i];

		if (server->state == RR_SERVER_RUNNING && cluster->n_spare < RR_CLUSTER_SPARE &&
		    rr_server_scrub(cluster, server))
			cluster->spare[cluster->n_spare++] = *server;
		else
			rr_server_discard(cluster, server);
	}
	cluster->n_servers = 0;
}

/* ---- Beginning and end -------------------------------------------------------- */

/* Starts a first server and spares it. */
static bool try_out(struct rr_cluster *cluster, struct rr_error *error)
{
	struct rr_server server = { 0 };
	bool good = rr_server_make(cluster, &server, error) &&
		    rr_server_await_up(cluster, &server, error);

	if (good && server.page && !rr_page_is_followed(cluster, &server))
		good = rr_error_set(
			error, RR_ERROR_SKIPPED,
			"the library of the clocks does nothing to '%s': time really passes",
			cluster->options.program);
	if (good)
		cluster->spare[cluster->n_spare++] = server;
	else
		rr_server_discard(cluster, &server);
	return good;
}

bool rr_cluster_open(struct rr_cluster *cluster, struct rr_session *session,
		     const struct rr_cluster_options *options, struct rr_error *error)
{
	*cluster =
		(struct rr_cluster){ .session = session, .options = *options, .is_private = true };
	if (!rdl_token_fresh(NULL, cluster->password) ||
	    !rdl_token_fresh(NULL, cluster->own_password))
		return rr_error_set(error, RR_ERROR_INTERNAL, "no random bytes");
	if (options->clock == RR_CLUSTER_REAL)
		return true;
	rr_shim_find(options->shim, cluster->shim, sizeof(cluster->shim));
	rr_page_restart_time(cluster);
	if (cluster->shim[0] == '\0')
		rr_error_set(
			error, RR_ERROR_SKIPPED,
			"the library of the clocks (redrace-clock.so) is not next to the program: time really passes");
	else if (try_out(cluster, error))
		return true;
	/* Only these are reasons to do without it. */
	if (error->kind == RR_ERROR_SKIPPED && options->is_told)
		*error = (struct rr_error){ .kind = RR_ERROR_NONE };
	else if (!rr_error_set_aside(error, RR_ERROR_SKIPPED))
		return false;
	cluster->shim[0] = '\0';
	rr_page_restart_time(cluster);
	return try_out(cluster, error);
}

bool rr_cluster_open_own(struct rr_cluster *cluster, struct rr_session *session,
			 const struct rdl_address *addresses, size_t n, int n_keys,
			 struct rr_error *error)
{
	*cluster = (struct rr_cluster){
		.session = session,
		.options = { .clock = RR_CLUSTER_REAL, .cpu = -1 },
	};
	for (size_t i = 0; i < n; i++) {
		if (addresses[i].kind == RDL_ADDRESS_CLUSTER)
			rr_keys_tag_prefix(session->prefix);
	}
	for (size_t i = 0; i < n; i++) {
		struct rr_key_set keys = { .address = addresses[i], .n_keys = n_keys };

		struct rdl_link *link = rdl_link_new(&addresses[i], RR_TIMEOUT_MS);
		struct rdl_reply reply;
		char where[300];
		bool good;

		if (!link)
			rr_out_of_memory();
		rdl_address_print(&addresses[i], where, sizeof(where));
		good = rdl_run(link, &reply, "PING") == RDL_OK ||
		       strncmp(rdl_link_error(link), "NOPERM", 6) == 0 ||
		       rr_error_set(error, RR_ERROR_REDIS, "cannot use %s: %s", where,
				    rdl_link_error(link));
		rdl_link_free(link);
		if (!good)
			return false;
		memcpy(keys.prefix, session->prefix, sizeof(keys.prefix));
		if (!rr_guardian_own_keys(&session->guardian, &keys, error))
			return false;
		cluster->servers[cluster->n_servers++] = (struct rr_server){
			.address = addresses[i],
			.state = RR_SERVER_RUNNING,
		};
	}
	return true;
}

void rr_cluster_close(struct rr_cluster *cluster)
{
	for (size_t i = 0; i < cluster->n_servers; i++)
		rr_server_discard(cluster, &cluster->servers[i]);
	for (size_t i = 0; i < cluster->n_spare; i++)
		rr_server_discard(cluster, &cluster->spare[i]);
	cluster->n_servers = cluster->n_spare = 0;
}

/* ---- What is known of it ------------------------------------------------------- */

bool rr_cluster_has_time(const struct rr_cluster *cluster)
{
	return cluster->shim[0] != '\0';
}

/* What the program is that was tried out, "Redis 7.0.15"; "" = not known. */
static void find_version(const struct rr_cluster *cluster, char *version, size_t size)
{
	/* What INFO calls a server's version. Forks also say which version of Redis they
	 * are like: hence they come first. */
	static const struct {
		const char *field, *product;
	} products[] = {
		{ "\nvalkey_version:", "Valkey" },
		{ "\nredict_version:", "Redict" },
		{ "\nredis_version:", "Redis" },
	};
	struct rdl_reply reply;
	const char *found = NULL;

	version[0] = '\0';
	if (cluster->n_spare == 0 ||
	    rdl_run(cluster->spare[0].admin, &reply, "INFO server") != RDL_OK || !reply.text)
		return;
	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
		found = strstr(reply.text, products[i].field);
		if (!found)
			continue;
		found += strlen(products[i].field);
		snprintf(version, size, "%s %.*s", products[i].product, (int)strcspn(found, "\r\n"),
			 found);
		return;
	}
}

const char *rr_strategy_lacking(const struct rr_strategy *strategy,
				const struct rdl_address *address, const char *spare_key)
{
	struct rdl_link *link = rdl_link_new(address, RR_TIMEOUT_MS);
	const char *lacks;

	if (!link)
		rr_out_of_memory();
	lacks = strategy->lacks ? strategy->lacks(link, spare_key) : NULL;
	rdl_link_free(link);
	return lacks;
}

struct rr_workplace *rr_workplace_new(const struct rr_cluster_options *options,
				      struct rr_error *error)
{
	struct rr_workplace *place = rr_calloc(1, sizeof(*place));

	if (!rr_session_open(&place->session, error) ||
	    !rr_cluster_open(&place->cluster, &place->session, options, error)) {
		rr_workplace_free(place);
		return NULL;
	}
	find_version(&place->cluster, place->version, sizeof(place->version));
	return place;
}

void rr_workplace_free(struct rr_workplace *place)
{
	if (!place)
		return;
	rr_cluster_close(&place->cluster);
	rr_session_close(&place->session);
	free(place);
}
