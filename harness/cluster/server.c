/* SPDX-License-Identifier: MIT */
/* One private server: its start, its end, and what is done so that
 * the next race can have it: emptying one takes a fiftieth of the time that a
 * start takes. */
#include "server.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/processes.h"
#include "base/text.h"
#include "command.h"
#include "link.h"

enum { PORT_TRIES = 5 };

bool rr_server_wait(struct rr_cluster *cluster, int timeout_ms, int64_t *deadline_ns,
		    const char *what, struct rr_error *error)
{
	struct rr_signals *signals = &cluster->session->signals;
	const int64_t now_ns = rr_clock_ns();

	if (*deadline_ns == 0)
		*deadline_ns = now_ns + timeout_ms * INT64_C(1000000);
	if (now_ns < *deadline_ns && !signals->interrupted) {
		rr_signals_wait(signals, 1);
		return true;
	}
	if (what && signals->interrupted)
		rr_error_interrupted(error);
	else if (what)
		rr_error_set(error, RR_ERROR_REDIS, "%s did not happen in time", what);
	return false;
}

bool rr_server_refused(const struct rr_server *server, struct rr_error *error)
{
	return rr_error_set(error, RR_ERROR_REDIS, "%s: %s", server->name,
			    rdl_link_error(server->admin));
}

bool rr_server_run(struct rr_server *server, struct rr_error *error, const char *format, ...)
{
	struct rdl_command command = { .n_words = 0 };
	struct rdl_reply reply;
	va_list arguments;
	bool is_parsed;

	va_start(arguments, format);
	is_parsed = rdl_command_parse(&command, format, arguments);
	va_end(arguments);
	return (is_parsed && rdl_run_command(server->admin, &reply, &command) == RDL_OK) ||
	       rr_server_refused(server, error);
}

/* A TCP port that is free at the moment; 0 = none. */
static int free_port(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int port = 0;

	if (fd < 0)
		return 0;
	if (bind(fd, (struct sockaddr *)&address, size) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &size) == 0)
		port = ntohs(address.sin_port);
	close(fd);
	return port;
}

/* ---- Its process ----------------------------------------------------------------- */

static bool launch_server(struct rr_cluster *cluster, struct rr_server *server,
			  struct rr_error *error)
{
	char *program = rr_program_locate(cluster->options.program);
	const char *const argv[] = { program, "redis.conf",
				     server->options.role == RR_ROLE_SENTINEL ? "--sentinel" : NULL,
				     NULL };
	char page[128];
	const char *const environment[] = { "LD_PRELOAD=./clock.so", page, NULL };
	struct rr_error why = { 0 };
	bool good;

	if (!rr_conf_write(cluster, server, error)) {
		free(program);
		return false;
	}
	snprintf(page, sizeof(page), RR_CLOCK_PAGE_VARIABLE "=%s/clock", server->process.directory);
	if (server->page)
		atomic_store(&server->page->pid, 0);
	server->kills_itself = false; /* the one before may have */
	good = rr_guardian_run(&cluster->session->guardian, &server->process, argv,
			       server->page ? environment : NULL, cluster->options.cpu, &why);
	free(program);
	if (!good && why.kind != RR_ERROR_FILE)
		return rr_error_set(error, why.kind, "%s", why.text);
	return good ||
	       rr_error_set(
		       error, RR_ERROR_REDIS,
		       "cannot start a server: %.500s; install redis-server (make deps) or name one with --redis-server PATH",
		       why.text);
}

/* The last line that a server wrote; "" when it wrote none. */
static void last_log_line(const struct rr_server *server, char *line, size_t size)
{
	char path[128], read[512];
	FILE *log;

	line[0] = '\0';
	snprintf(path, sizeof(path), "%s/log", server->process.directory);
	log = fopen(path, "re");
	if (!log)
		return;
	while (fgets(read, sizeof(read), log)) {
		read[strcspn(read, "\n")] = '\0';
		if (read[0])
			snprintf(line, size, ": %.300s", read);
	}
	fclose(log);
}

static uint64_t digest_configuration(struct rr_server *server);

/* A script that starts the server as its child would be stopped and killed in the
 * server's place. */
static bool is_server_itself(const struct rr_cluster *cluster, struct rr_server *server,
			     struct rr_error *error)
{
	static const char name[] = "process_id:";
	const char *found = NULL;
	struct rdl_reply reply;

	if (server->page && rdl_run(server->admin, &reply, "INFO server") == RDL_OK && reply.text)
		found = strstr(reply.text, name);
	return !found || atol(found + strlen(name)) == server->process.pid ||
	       rr_error_set(
		       error, RR_ERROR_REDIS,
		       "'%.500s' starts the server as a child of its own, which cannot be stopped or killed then; let it end with: exec redis-server \"$@\"",
		       cluster->options.program);
}

/* Appends a word for each blank-separated part of the line; its length. */
static size_t add_rules(struct rdl_command *command, const char *line)
{
	const size_t length = strcspn(line, "\n");

	for (size_t at = 0; at < length && command->n_words < RDL_WORDS_MAX;) {
		const size_t word = strcspn(line + at, " \n");

		command->words[command->n_words++] = (struct rdl_word){ line + at, word };
		at += word + (at + word < length);
	}
	return length;
}

/* Such as an older server, which has not got all that could be forbidden. */
static bool is_unknown(struct rr_server *server, const char *name)
{
	struct rdl_reply reply;

	return rdl_run(server->admin, &reply, "COMMAND INFO %s", name) == RDL_OK &&
	       reply.type == RDL_REPLY_ARRAY && reply.length == 1 &&
	       reply.elements[0].type == RDL_REPLY_NIL;
}

static void note_denied(struct rr_server *server, const struct rdl_word *rule)
{
	rr_add_text(server->denied, sizeof(server->denied), "%s%.*s", server->denied[0] ? " " : "",
		    (int)rule->length, rule->text);
}

/* A line that is refused as a whole: its first rule, "-NAME", is what matters, for the
 * others only give parts of it back. */
static bool restrict_by_rule(struct rr_server *server, struct rdl_command *rules,
			     struct rr_error *error)
{
	const size_t n_words = rules->n_words;
	struct rdl_reply reply;
	char why[160], name[64];

	rules->n_words = 4;
	if (rdl_run_command(server->admin, &reply, rules) != RDL_OK) {
		snprintf(why, sizeof(why), "%s", rdl_link_error(server->admin));
		snprintf(name, sizeof(name), "%.*s", (int)rules->words[3].length - 1,
			 rules->words[3].text + 1);
		if (!is_unknown(server, name))
			return rr_error_set(
				error, RR_ERROR_REDIS,
				"clients of a race cannot be kept from %s on this server: %s", name,
				why);
		return true;
	}
	note_denied(server, &rules->words[3]);
	for (size_t i = 4; i < n_words; i++) {
		rules->words[3] = rules->words[i];
		rdl_run_command(server->admin, &reply, rules);
	}
	return true;
}

bool rr_server_restrict(struct rr_server *server, struct rr_error *error)
{
	const char *line = server->options.rights;
	struct rdl_reply reply;

	server->denied[0] = '\0';
	while (line && *line) {
		struct rdl_command command = {
			.n_words = 3,
			.words = { { "ACL", 3 }, { "SETUSER", 7 }, { "default", 7 } },
		};

		line += add_rules(&command, line);
		line += *line == '\n';
		if (rdl_run_command(server->admin, &reply, &command) == RDL_OK)
			note_denied(server, &command.words[3]);
		else if (!restrict_by_rule(server, &command, error))
			return false;
	}
	return true;
}

bool rr_server_await_up(struct rr_cluster *cluster, struct rr_server *server,
			struct rr_error *error)
{
	struct rr_guardian *guardian = &cluster->session->guardian;
	const int limit_ms = cluster->options.start_ms ? cluster->options.start_ms : RR_START_MS;
	struct rr_suspicion suspicion = { .begun_ns = rr_clock_ns() };
	int64_t deadline_ns = 0;
	struct rdl_reply reply;
	int status;

	while (rdl_run(server->admin, &reply, "PING") != RDL_OK) {
		if (rr_guardian_has_ended(guardian, &server->process, &status)) {
			char line[320], end[RR_PROCESS_END_SIZE];

			last_log_line(server, line, sizeof(line));
			return rr_error_set(error, RR_ERROR_REDIS,
					    "'%s'%s%s %s before it answered%s",
					    cluster->options.program,
					    server->name[0] ? " for server " : "", server->name,
					    rr_process_end(status, end), line);
		}
		if (!rr_guardian_is_there(guardian, error))
			return false;
		if (!rr_program_is_likely(&suspicion, cluster, server, error) ||
		    !rr_server_wait(cluster, limit_ms, &deadline_ns, "the start of a server",
				    error)) {
			rr_guardian_signal(guardian, &server->process, SIGKILL);
			return false;
		}
	}
	server->state = RR_SERVER_RUNNING;
	rr_conf_stop_expiry(cluster, server);
	if (!is_server_itself(cluster, server, error) || !rr_server_restrict(server, error))
		return false;
	if (server->pristine == 0 && cluster->options.clock != RR_CLUSTER_REAL)
		server->pristine = digest_configuration(server);
	return true;
}

bool rr_server_start_again(struct rr_cluster *cluster, struct rr_server *server,
			   struct rr_error *error)
{
	return launch_server(cluster, server, error) && rr_server_await_up(cluster, server, error);
}

/* Then the race's clients say it, and not we for them. */
static bool has_password_of_race(const struct rr_server_options *options)
{
	const char *const *line = options->config;
	static const char setting[] = "requirepass ";

	while (line && *line && strncmp(*line, setting, strlen(setting)) != 0)
		line++;
	return line && *line;
}

/* Its last words are either the reason or what it does about it. */
static bool is_port_taken(const struct rr_error *error)
{
	return error->kind == RR_ERROR_REDIS &&
	       (strstr(error->text, "in use") || strstr(error->text, "listening"));
}

/* Replicas are told the port before anybody has seen that it can be had, so one
 * with a port is waited for at once and may be given another. */
static bool start_with_port(struct rr_cluster *cluster, struct rr_server *server,
			    struct rr_error *error)
{
	for (int tries = 1;; tries++) {
		server->port = free_port();
		if (server->options.role == RR_ROLE_NODE)
			server->bus_port = free_port();
		if (rr_server_start_again(cluster, server, error))
			return true;
		if (tries == PORT_TRIES || !is_port_taken(error))
			return false;
		*error = (struct rr_error){ 0 };
	}
}

bool rr_server_make(struct rr_cluster *cluster, struct rr_server *server, struct rr_error *error)
{
	if (!rr_guardian_prepare(&cluster->session->guardian, &server->process, error))
		return false;
	server->state = RR_SERVER_DOWN;
	server->address = (struct rdl_address){ .is_unix = true };
	snprintf(server->address.host, sizeof(server->address.host), "%s/redis.sock",
		 server->process.directory);
	if (server->options.tcp && !has_password_of_race(&server->options))
		memcpy(server->address.password, cluster->password, sizeof(cluster->password));
	server->own = server->address;
	if (rr_conf_has_own_user(cluster, server)) {
		memcpy(server->own.user, rr_own_user, sizeof(rr_own_user));
		memcpy(server->own.password, cluster->own_password, sizeof(cluster->own_password));
	}
	server->admin = rdl_link_new(&server->own, RR_TIMEOUT_MS);
	if (!server->admin)
		rr_out_of_memory();
	if (!rr_page_make(cluster, server, error))
		return false;
	return server->options.tcp ? start_with_port(cluster, server, error) :
				     launch_server(cluster, server, error);
}

void rr_server_discard(struct rr_cluster *cluster, struct rr_server *server)
{
	if (server->process.directory[0])
		rr_guardian_kill(&cluster->session->guardian, &server->process);
	rdl_link_free(server->admin);
	rr_page_drop(server);
	*server = (struct rr_server){ .state = RR_SERVER_DECLARED };
}

/* ---- For the next race --------------------------------------------------------- */

bool rr_server_is_plain(const struct rr_server_options *options)
{
	return options->role == RR_ROLE_ALONE && options->aof == RR_AOF_NONE && !options->rdb &&
	       !options->debug && !options->tcp && options->maxmemory == 0 &&
	       !options->replica_of && !options->config;
}

/* FNV-1a, ends of texts included. */
static uint64_t mix_reply(uint64_t digest, const struct rdl_reply *reply)
{
	if (reply->type == RDL_REPLY_ARRAY) {
		for (size_t i = 0; i < reply->length; i++)
			digest = mix_reply(digest, &reply->elements[i]);
		return digest;
	}
	for (size_t i = 0; reply->text && i <= reply->length; i++)
		digest = (digest ^ (unsigned char)reply->text[i]) * UINT64_C(1099511628211);
	return digest;
}

/* Of all that a client can configure; 0 = it did not answer. */
static uint64_t digest_configuration(struct rr_server *server)
{
	uint64_t digest = UINT64_C(14695981039346656037);
	struct rdl_reply reply;

	if (rdl_run(server->admin, &reply, "CONFIG GET *") != RDL_OK)
		return 0;
	digest = mix_reply(digest, &reply);
	if (rdl_run(server->admin, &reply, "ACL LIST") == RDL_OK)
		digest = mix_reply(digest, &reply);
	return digest;
}

void rr_server_remove_data(struct rr_server *server)
{
	static const char *const names[] = { "dump.rdb", "dump.rdb.aside", "appendonlydir",
					     "appendonly.aof" };
	char path[160];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", server->process.directory, names[i]);
		rr_guardian_remove_tree(path);
	}
	if (server->page)
		atomic_store(&server->page->n_synced, 0);
}

bool rr_server_scrub(const struct rr_cluster *cluster, struct rr_server *server)
{
	struct rdl_reply reply;

	if (server->is_used_up || !rr_server_is_plain(&server->options))
		return false;
	server->skew_ns = 0;
	rr_page_set_time(cluster, server);
	/* A client of the race may have closed this connection. */
	if (rdl_run(server->admin, &reply, "PING") != RDL_OK &&
	    rdl_run(server->admin, &reply, "PING") != RDL_OK)
		return false;
	if (server->options.rights &&
	    rdl_run(server->admin, &reply, "ACL SETUSER default +@all") != RDL_OK)
		return false;
	server->options.rights = NULL;
	/* All at once; some servers do not know all of these. */
	int n = 0;

	n += rdl_queue(server->admin, "CLIENT UNPAUSE") == RDL_OK;
	n += rdl_queue(server->admin, "CLIENT KILL TYPE normal SKIPME yes") == RDL_OK;
	n += rdl_queue(server->admin, "CLIENT KILL TYPE pubsub") == RDL_OK;
	n += rdl_queue(server->admin, "CLIENT KILL TYPE replica") == RDL_OK;
	n += rdl_queue(server->admin, "FLUSHALL") == RDL_OK;
	n += rdl_queue(server->admin, "SCRIPT FLUSH") == RDL_OK;
	n += rdl_queue(server->admin, "FUNCTION FLUSH") == RDL_OK;
	n += rdl_queue(server->admin, "SLOWLOG RESET") == RDL_OK;
	n += rdl_queue(server->admin, "LATENCY RESET") == RDL_OK;
	n += rdl_queue(server->admin, "CONFIG RESETSTAT") == RDL_OK;
	if (n != 10 || rdl_flush(server->admin) != RDL_OK)
		return false;
	while (n-- > 0) {
		if (rdl_receive(server->admin, &reply) != RDL_OK && reply.type != RDL_REPLY_FAILED)
			return false;
	}
	if (server->pristine == 0 || digest_configuration(server) != server->pristine)
		return false;
	rr_server_remove_data(server); /* the race may have saved something */
	return true;
}
