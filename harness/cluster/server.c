/* SPDX-License-Identifier: MIT */
/* One private server: its configuration, its start, its end, and what is done so that
 * the next race can have it: emptying one takes a fiftieth of the time that a
 * start takes. */
#include "server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/processes.h"
#include "base/text.h"
#include "command.h"
#include "link.h"

enum { PORT_TRIES = 5, LOG_BYTES_MAX = 1 << 20, SUSPECT_MS = 1000, VERSION_MS = 800 };

/* ---- Asking it ------------------------------------------------------------------- */

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

/* The number after a name in INFO; -1 = it is not there. */
static long long info_number(const char *info, const char *name)
{
	const char *found = strstr(info, name);

	return found ? atoll(found + strlen(name)) : -1;
}

bool rr_server_replication(struct rr_server *server, struct rr_replication *found)
{
	struct rdl_reply reply;

	*found = (struct rr_replication){ .offset = -1 };
	if (server->state != RR_SERVER_RUNNING ||
	    rdl_run(server->admin, &reply, "INFO replication") != RDL_OK || !reply.text)
		return false;
	found->is_primary = strstr(reply.text, "role:master") != NULL;
	found->is_linked = strstr(reply.text, "master_link_status:up") != NULL;
	found->n_replicas = (int)info_number(reply.text, "connected_slaves:");
	found->offset = info_number(reply.text, found->is_primary ? "master_repl_offset:" :
								    "slave_repl_offset:");
	return true;
}

/* ---- redis.conf --------------------------------------------------------------------- */

static const char for_all[] = "unixsocket redis.sock\n"
			      "unixsocketperm 700\n"
			      "daemonize no\n"
			      "loglevel warning\n";

/*
 * Links do not time out when the clock leaps. Replicas are sent a file: sent
 * through a pipe, a snapshot waits for others to ask for it (by the clock) and
 * may then be taken as complete a second late. Who keeps nothing on disk does
 * not keep that file either. The timer, which the monotonic clock drives, is
 * made fast. Snapshots are not compressed, so that values can be found in a
 * DUMP. A script could connect to any server by MIGRATE, and a race may come from
 * anybody.
 */
static const char for_races[] = "hz 100\n"
				"repl-diskless-sync no\n"
				"rdb-del-sync-files yes\n"
				"repl-timeout 1000000000\n"
				"shutdown-timeout 0\n"
				"rdbcompression no\n"
				"rename-command MIGRATE \"\"\n";

/* How the program itself says DEBUG. Clients have none, unless the race wants it. */
static void debug_command(const struct rr_cluster *cluster, const struct rr_server *server,
			  char *name, size_t size)
{
	snprintf(name, size, "DEBUG%s%.16s", server->options.debug ? "" : "-",
		 server->options.debug ? "" : cluster->password);
}

/*
 * Where time stands still, keys that have expired go when a command asks for them,
 * and only then. What servers do in between depends on real time: Redis 8 removes
 * a key in the last millisecond in which commands still find it.
 */
static bool expires_lazily(const struct rr_cluster *cluster, const struct rr_server *server)
{
	return cluster->options.clock == RR_CLUSTER_FROZEN &&
	       server->options.role != RR_ROLE_SENTINEL;
}

/* Rules of a race concern others; the program itself comes as this user. */
static bool has_own_user(const struct rr_cluster *cluster, const struct rr_server *server)
{
	return cluster->options.clock != RR_CLUSTER_REAL && server->options.role == RR_ROLE_ALONE;
}

/* Its port, and what it is told of others there: whose replica it is, which primary it watches, that
 * it is a node of a Redis Cluster. */
static void write_network(FILE *file, const struct rr_cluster *cluster,
			  const struct rr_server *server)
{
	const struct rr_server_options *options = &server->options;
	const int master = options->replica_of ? rr_cluster_find(cluster, options->replica_of) : -1;

	fprintf(file, "port %d\n", server->port);
	if (!server->port)
		return;
	fprintf(file, "bind 127.0.0.1\nrequirepass %s\n", cluster->password);
	if (options->role == RR_ROLE_SENTINEL) {
		/* Two of three agree. A fail-over that fails is tried again after two of its
		 * time-outs. */
		fprintf(file,
			"sentinel monitor " RR_SERVICE_NAME " 127.0.0.1 %d 2\n"
			"sentinel auth-pass " RR_SERVICE_NAME " %s\n"
			"sentinel sentinel-pass %s\n"
			"sentinel down-after-milliseconds " RR_SERVICE_NAME " %d\n"
			"sentinel failover-timeout " RR_SERVICE_NAME " 1000\n"
			"sentinel parallel-syncs " RR_SERVICE_NAME " 2\n",
			cluster->servers[master].port, cluster->password, cluster->password,
			RR_DOWN_AFTER_MS);
		return;
	}
	/*
	 * Replicas come as a user of their own, so that this one can be taken away from
	 * them, and whatever password a race gives to others.
	 */
	fprintf(file,
		"masterauth %s\n"
		"user " RR_REPLICA_USER " on >%s +psync +replconf +ping\n"
		"masteruser " RR_REPLICA_USER "\n",
		cluster->password, cluster->password);
	/* They are sent a snapshot at once, not after five seconds, and what they miss is
	 * kept long enough that most need none. */
	if (options->role != RR_ROLE_ALONE)
		fprintf(file, "repl-diskless-sync-delay 0\n"
			      "repl-backlog-size 16mb\n"
			      "repl-ping-replica-period 1\n");
	if (options->role == RR_ROLE_NODE)
		fprintf(file,
			"cluster-enabled yes\n"
			"cluster-config-file nodes.conf\n"
			"cluster-port %d\n"
			"cluster-node-timeout %d\n"
			"cluster-replica-validity-factor 0\n"
			"cluster-migration-barrier 100\n",
			server->bus_port, RR_DOWN_AFTER_MS);
	if (master >= 0)
		fprintf(file, "replicaof 127.0.0.1 %d\n", cluster->servers[master].port);
}

/* The settings are in a file rather than words of the command line, which every user of the machine
 * could read the password from. */
static void write_settings(FILE *file, const struct rr_cluster *cluster,
			   const struct rr_server *server)
{
	const struct rr_server_options *options = &server->options;

	fputs(for_all, file);
	if (options->role == RR_ROLE_SENTINEL) {
		write_network(file, cluster, server);
		return;
	}
	if (cluster->options.clock != RR_CLUSTER_REAL)
		fputs(for_races, file);
	fprintf(file, "save \"%s\"\n", options->rdb ? "1 1" : "");
	fprintf(file, "maxmemory %lld\n", options->maxmemory);
	/* The allocator's thread would spin under a clock that stands still. */
	if (rr_cluster_has_time(cluster))
		fputs("jemalloc-bg-thread no\n", file);
	if (has_own_user(cluster, server))
		fprintf(file, "user " RR_OWN_USER " on >%s ~* &* +@all\n", cluster->own_password);
	if (options->debug) {
		fputs("enable-debug-command yes\n", file);
	} else if (expires_lazily(cluster, server)) {
		char name[32];

		debug_command(cluster, server, name, sizeof(name));
		fprintf(file, "enable-debug-command local\nrename-command DEBUG %s\n", name);
	}
	static const char *const fsync[] = {
		[RR_AOF_NONE] = "no",
		[RR_AOF_NO] = "no",
		[RR_AOF_EVERYSEC] = "everysec",
		[RR_AOF_ALWAYS] = "always",
	};

	fprintf(file, "appendonly %s\nappendfsync %s\n", options->aof == RR_AOF_NONE ? "no" : "yes",
		fsync[options->aof]);
	if (cluster->options.databases)
		fprintf(file, "databases %d\n", cluster->options.databases);
	write_network(file, cluster, server);
	for (size_t i = 0; options->config && options->config[i]; i++)
		fprintf(file, "%s\n", options->config[i]);
}

static bool write_conf(const struct rr_cluster *cluster, const struct rr_server *server,
		       struct rr_error *error)
{
	const mode_t mask = umask(077);
	char path[128];
	bool is_written;
	FILE *file;

	snprintf(path, sizeof(path), "%s/redis.conf", server->process.directory);
	file = fopen(path, "we");
	umask(mask);
	if (file) {
		write_settings(file, cluster, server);
		is_written = !ferror(file);
		if (fclose(file) == 0 && is_written)
			return true;
	}
	return rr_error_file(error, "write", path);
}

/* ---- The program that is to be a server ------------------------------------------- */

/* Starts the program with --version in a process group of its own, its output into the
 * pipe; it ends with us. -1 = it cannot be started. */
static pid_t ask_version(const char *program, const int pipe_ends[2])
{
	const pid_t asker = getpid();
	const pid_t pid = fork();
	int nothing;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != asker) /* it died before that was set */
		_exit(1);
	setpgid(0, 0);
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(nothing, STDIN_FILENO);
	dup2(pipe_ends[1], STDOUT_FILENO);
	dup2(pipe_ends[1], STDERR_FILENO);
	execlp(program, program, "--version", (char *)NULL);
	_exit(1);
}

/* "Redis server v=7.0.15 ..." or "Valkey server v=9.1.0 ...", written at once. */
static bool tells_a_version(const char *program)
{
	char said[200] = "";
	struct pollfd ready = { .events = POLLIN };
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return true;
	pid = ask_version(program, ends);
	close(ends[1]);
	ready.fd = ends[0];
	if (pid > 0 && poll(&ready, 1, VERSION_MS) == 1 &&
	    read(ends[0], said, sizeof(said) - 1) < 0)
		said[0] = '\0';
	close(ends[0]);
	if (pid > 0) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL); /* it may have no group of its own yet */
		waitpid(pid, NULL, 0);
	}
	return strstr(said, " server v=");
}

/* Can it be a server still, which was started then and does not answer yet? Ask again and again,
 * beginning with *is_settled = false. */
static bool is_likely(struct rr_cluster *cluster, const struct rr_server *server, int64_t begun_ns,
		      bool *is_settled, struct rr_error *error)
{
	const char *program = cluster->options.program;
	char path[128];
	struct stat info;

	/* A server says little before it answers; yes(1) fills the disk. */
	snprintf(path, sizeof(path), "%s/log", server->process.directory);
	if (stat(path, &info) == 0 && info.st_size > LOG_BYTES_MAX)
		return rr_error_set(
			error, RR_ERROR_REDIS,
			"'%.300s' is not a redis-server: it writes without an end and does not answer",
			program);
	if (*is_settled || rr_clock_ns() - begun_ns < SUSPECT_MS * INT64_C(1000000))
		return true;
	*is_settled = true;
	if (tells_a_version(program))
		return true;
	if (!rr_signals_wait(&cluster->session->signals, 0))
		return rr_error_interrupted(error);
	return rr_error_set(
		error, RR_ERROR_REDIS,
		"'%.300s' is not a redis-server: it does not answer, and --version shows none",
		program);
}

/* ---- Its process ----------------------------------------------------------------- */

static bool launch_server(struct rr_cluster *cluster, struct rr_server *server,
			  struct rr_error *error)
{
	/* Servers run in directories of their own. Links are kept, for a server looks at its own
	 * name. */
	const char *named = cluster->options.program;
	char *here = named[0] != '/' && strchr(named, '/') ? getcwd(NULL, 0) : NULL;
	char *program = rr_asprintf("%s%s%s", here ? here : "", here ? "/" : "", named);
	const char *const argv[] = { program, "redis.conf",
				     server->options.role == RR_ROLE_SENTINEL ? "--sentinel" : NULL,
				     NULL };
	char page[128];
	const char *const environment[] = { "LD_PRELOAD=./clock.so", page, NULL };
	struct rr_error why = { 0 };
	bool good;

	free(here);
	if (!write_conf(cluster, server, error)) {
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

/* Ends of texts included. */
static uint64_t mix_reply(uint64_t digest, const struct rdl_reply *reply)
{
	if (reply->type != RDL_REPLY_ARRAY)
		return reply->text ? rr_bytes_digest(digest, reply->text, reply->length + 1) :
				     digest;
	for (size_t i = 0; i < reply->length; i++)
		digest = mix_reply(digest, &reply->elements[i]);
	return digest;
}

/* Of all that a client can configure; 0 = it did not answer. */
static uint64_t digest_configuration(struct rr_server *server)
{
	struct rdl_reply reply;
	uint64_t digest;

	if (rdl_run(server->admin, &reply, "CONFIG GET *") != RDL_OK)
		return 0;
	digest = mix_reply(0, &reply);
	if (rdl_run(server->admin, &reply, "ACL LIST") == RDL_OK)
		digest = mix_reply(digest, &reply);
	return digest;
}

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
		/* An older server has not got all that could be forbidden. */
		return (rdl_run(server->admin, &reply, "COMMAND INFO %s", name) == RDL_OK &&
			reply.type == RDL_REPLY_ARRAY && reply.length == 1 &&
			reply.elements[0].type == RDL_REPLY_NIL) ||
		       rr_error_set(error, RR_ERROR_REDIS,
				    "clients of a race cannot be kept from %s on this server: %s",
				    name, why);
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

		/* A word for each part of the line between blanks. */
		const char *end = line + strcspn(line, "\n");

		while (line < end && command.n_words < RDL_WORDS_MAX) {
			const size_t length = strcspn(line, " \n");

			command.words[command.n_words++] = (struct rdl_word){ line, length };
			line += length + (line + length < end);
		}
		line = end + (*end == '\n');
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
	const int64_t begun_ns = rr_clock_ns();
	int64_t deadline_ns = 0;
	bool is_settled = false;
	struct rdl_reply reply;
	int status;

	while (rdl_run(server->admin, &reply, "PING") != RDL_OK) {
		if (rr_guardian_has_ended(guardian, &server->process, &status)) {
			char path[128], read[512], end[RR_PROCESS_END_SIZE];
			char line[320] = ""; /* the last that it wrote */
			FILE *log;

			snprintf(path, sizeof(path), "%s/log", server->process.directory);
			log = fopen(path, "re");
			while (log && fgets(read, sizeof(read), log)) {
				read[strcspn(read, "\n")] = '\0';
				if (read[0])
					snprintf(line, sizeof(line), ": %.300s", read);
			}
			if (log)
				fclose(log);
			return rr_error_set(error, RR_ERROR_REDIS,
					    "'%s'%s%s %s before it answered%s",
					    cluster->options.program,
					    server->name[0] ? " for server " : "", server->name,
					    rr_process_end(status, end), line);
		}
		if (!rr_guardian_is_there(guardian, error))
			return false;
		if (!is_likely(cluster, server, begun_ns, &is_settled, error) ||
		    !rr_server_wait(cluster, limit_ms, &deadline_ns, "the start of a server",
				    error)) {
			rr_guardian_signal(guardian, &server->process, SIGKILL);
			return false;
		}
	}
	server->state = RR_SERVER_RUNNING;
	if (expires_lazily(cluster, server)) {
		char name[32];

		debug_command(cluster, server, name, sizeof(name));
		rdl_run(server->admin, &reply, "%s SET-ACTIVE-EXPIRE 0", name);
	}
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
		/* Its last words are either the reason or what it does about it. */
		if (tries == PORT_TRIES || error->kind != RR_ERROR_REDIS ||
		    (!strstr(error->text, "in use") && !strstr(error->text, "listening")))
			return false;
		*error = (struct rr_error){ 0 };
	}
}

bool rr_server_make(struct rr_cluster *cluster, struct rr_server *server, struct rr_error *error)
{
	static const char setting[] = "requirepass ";
	const char *const *line = server->options.config;

	if (!rr_guardian_prepare(&cluster->session->guardian, &server->process, error))
		return false;
	server->state = RR_SERVER_DOWN;
	server->address = (struct rdl_address){ .is_unix = true };
	snprintf(server->address.host, sizeof(server->address.host), "%s/redis.sock",
		 server->process.directory);
	/* Where the race sets one, its clients say it, and not we for them. */
	while (line && *line && strncmp(*line, setting, strlen(setting)) != 0)
		line++;
	if (server->options.tcp && !(line && *line))
		memcpy(server->address.password, cluster->password, sizeof(cluster->password));
	server->own = server->address;
	if (has_own_user(cluster, server)) {
		memcpy(server->own.user, RR_OWN_USER, sizeof(RR_OWN_USER));
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
	if (server->page)
		munmap(server->page, sizeof(*server->page));
	*server = (struct rr_server){ .state = RR_SERVER_DECLARED };
}

/* ---- For the next race --------------------------------------------------------- */

bool rr_server_is_plain(const struct rr_server_options *options)
{
	return options->role == RR_ROLE_ALONE && options->aof == RR_AOF_NONE && !options->rdb &&
	       !options->debug && !options->tcp && options->maxmemory == 0 &&
	       !options->replica_of && !options->config;
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
