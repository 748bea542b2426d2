/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "variables.h"

enum {
	ARGUMENTS_MAX = 256,
	BACKLOG = 64,
	VARIABLES_MAX = 16 + RR_LEFT_OUT_MAX,
	TEXT_SIZE = 512,
	LOOK_NS = 100 * 1000,          /* between two looks at its threads, or */
	LOOK_PART = 4,                 /* a part of the time it has been busy for */
	BUSY_NS = 20 * 1000 * 1000,    /* until short waits for it end */
	SEEN_NS = 10 * 1000 * 1000,    /* counts at most, from look to look */
	OUTPUT_LINE = 120,             /* behind what is kept of its output */
	READS_MAX = 16,                /* of its output at once: it may never end */
	STRAY_NS = 1000 * 1000 * 1000, /* of its own: a process that left the group may end then */
	STRAY_LOOK_NS = 5 * 1000 * 1000,
	STRAY_SEEN_NS = 200 * 1000 * 1000, /* a look at one without an environment takes 100 ms */
	LAST_NS = 2000 * 1000 * 1000,      /* for what it has sent elsewhere to leave */
	/* Who sleeps although bytes have come for him takes them later: he does one thing
	 * after the other. Bytes that were not taken over may wait for the last ones to be
	 * acknowledged, 40 ms at most. */
	UNREAD_NS = 5 * 1000 * 1000,
	UNSENT_NS = 60 * 1000 * 1000,
};

/* Where it may take Redis to be, each with data of its own. */
static unsigned n_places(const struct rr_process *process)
{
	const unsigned n = process->plan->config->places->named.n_places;

	return n ? n : 1;
}

/* ---- The command line --------------------------------------------------------- */

/* The files that are looked at for a program, on PATH; the last one is run. */
static void note_program(struct rr_program_page *page, const char *name)
{
	const char *directories = strchr(name, '/') ? "" : getenv("PATH"), *end;
	char path[PATH_MAX], here[PATH_MAX] = "";

	for (; directories; directories = *end ? end + 1 : NULL) {
		const size_t n = (size_t)((end = strchrnul(directories, ':')) - directories);

		if ((n > 0 ? directories[0] : name[0]) != '/' && !getcwd(here, sizeof(here)))
			here[0] = '\0';
		snprintf(path, sizeof(path), "%s%s%.*s%s%s", here, *here ? "/" : "", (int)n,
			 directories, n > 0 ? "/" : "", name);
		rr_program_page_note(page, RR_NOTED_READ, path, strlen(path));
		if (access(path, X_OK) == 0)
			return;
	}
}

/* What a program is given. It ends in NULL, and the caller frees it. */
static void make_environment(const struct rr_process *process, char *words[VARIABLES_MAX])
{
	const struct rr_process_plan *plan = process->plan;
	const struct rr_process_config *config = plan->config;
	const struct rr_redis_port *own = &process->listeners[0];
	const char *node_options = getenv("NODE_OPTIONS");
	size_t n = 0;

	words[n++] = rr_asprintf("REDIS_URL=redis://127.0.0.1:%u", own->port);
	words[n++] = rr_asprintf("REDIS_HOST=127.0.0.1");
	words[n++] = rr_asprintf("REDIS_PORT=%u", own->port);
	words[n++] = rr_asprintf("REDIS_SOCKET=%s", own->socket_path);
	words[n++] = rr_asprintf("REDRACE_CLIENT=%s", plan->name);
	words[n++] = rr_asprintf("TMPDIR=%s/tmp", process->guarded.directory);
	/* Which way round a set of strings is walked through shall be the same. */
	if (!getenv("PYTHONHASHSEED"))
		words[n++] = rr_asprintf("PYTHONHASHSEED=0");
	if (config->preload) {
		words[n++] = rr_asprintf("LD_PRELOAD=%s", config->preload);
		words[n++] = rr_asprintf(RR_PROGRAM_PAGE_VARIABLE "=%s", process->clock.path);
	}
	if (config->preload && config->node_preload)
		words[n++] = rr_asprintf("NODE_OPTIONS=%s%s--require \"%s\"",
					 node_options ? node_options : "", node_options ? " " : "",
					 config->node_preload);
	/* bash begins its random numbers with the time and its process id. It expands this name of
	 * a file that has nothing for it, and so begins them with what the shim gives it. */
	if (config->preload && !getenv("BASH_ENV"))
		words[n++] = rr_asprintf("BASH_ENV=/dev/null${REDRACE[RANDOM=SRANDOM]}");
	if (plan->is_app)
		words[n++] = rr_asprintf("PORT=%u", process->app_port);
	if (config->is_unbuffered && !getenv("PYTHONUNBUFFERED"))
		words[n++] = rr_asprintf("PYTHONUNBUFFERED=1");
	/* Several threads of a pool end in any order. */
	if (!getenv(RR_UV_THREADS))
		words[n++] = rr_asprintf(RR_UV_THREADS "=1");
	/* A name alone takes the variable away (putenv(3)). */
	for (size_t i = 0; config->left_out && config->left_out[i]; i++)
		words[n++] = rr_strdup(config->left_out[i]);
	words[n] = NULL;
}

static bool launch(struct rr_process *process, struct rr_error *error)
{
	const struct rr_process_plan *plan = process->plan;
	const struct rr_process_config *config = plan->config;
	struct rr_program_page *page = process->clock.page;
	const struct rr_redis_port *own = &process->listeners[0];
	char *argv[ARGUMENTS_MAX + 1] = { NULL }, *environment[VARIABLES_MAX], *key;
	struct rr_error why = { 0 };
	uint64_t seed = config->seed;
	bool good;

	make_environment(process, environment);
	note_program(page, plan->argv[0]);
	for (size_t i = 0; plan->argv[i] && i < ARGUMENTS_MAX; i++) {
		/* An argument in which {url}, {host}, {port} and {socket} are replaced. */
		const char *argument = plan->argv[i];

		static const char *const names[] = { "{url}", "{host}", "{port}", "{socket}" };
		char url[TEXT_SIZE], port[TEXT_SIZE], *text;
		const char *const values[] = { url, "127.0.0.1", port, own->socket_path };
		FILE *file = rr_open_text(&text);

		snprintf(url, sizeof(url), "redis://127.0.0.1:%u", own->port);
		snprintf(port, sizeof(port), "%u", own->port);
		while (*argument) {
			size_t k = 0;

			while (k < 4 && strncmp(argument, names[k], strlen(names[k])) != 0)
				k++;
			if (k < 4)
				fputs(values[k], file);
			else
				fputc(*argument, file);
			argument += k < 4 ? strlen(names[k]) : 1;
		}
		fclose(file);
		argv[i] = text;
	}
	process->guarded.runs_here = process->guarded.is_watched = true;
	process->guarded.watches_files = config->opened != NULL;
	process->guarded.bound_from = config->fresh ? process->copy : NULL;
	process->guarded.bound_at = config->fresh ? config->fresh->directory : NULL;
	page->redis_at = config->places->named;
	page->redis_at.n_places = n_places(process);
	for (unsigned i = 0; i < n_places(process); i++) {
		page->redis_at.ports[i] = own[i].port;
		memcpy(page->redis_at.paths[i], own[i].socket_path, sizeof(own[i].socket_path));
	}
	/* Of its streams of random bytes. */
	if (!seed && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint64_t)rr_clock_ns();
	key = rr_asprintf("%" PRIu64 " %u %s", seed, config->life, plan->name);
	atomic_store(&page->random_key, rr_bytes_digest(0, key, strlen(key)));
	free(key);
	atomic_store(&page->fixes_pids, config->pids && *config->pids == RR_PIDS_FIXED);
	good = rr_guardian_run(config->guardian, &process->guarded, (const char *const *)argv,
			       (const char *const *)environment, -1, &why);
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	for (size_t i = 0; environment[i]; i++)
		free(environment[i]);
	if (config->unfixed && process->guarded.address_error)
		*config->unfixed = process->guarded.address_error;
	return good || rr_error_set(error, why.kind == RR_ERROR_FILE ? RR_ERROR_USAGE : why.kind,
				    "%s", why.text);
}

/* ---- Beginning and end ----------------------------------------------------------- */

/* Listens at a TCP port of 127.0.0.1 and a unix socket in `directory`, whose owner removes it. False:
 * errno. */
static bool open_ports(struct rr_process *process, unsigned place, const char *directory)
{
	struct rr_redis_port *it = &process->listeners[place];
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un file = { .sun_family = AF_UNIX };
	const int length = snprintf(file.sun_path, sizeof(file.sun_path),
				    place ? "%s/redis%u.sock" : "%s/redis.sock", directory, place);
	socklen_t size = sizeof(address);

	it->tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (it->tcp_fd < 0 || bind(it->tcp_fd, (struct sockaddr *)&address, size) != 0 ||
	    listen(it->tcp_fd, BACKLOG) != 0 ||
	    getsockname(it->tcp_fd, (struct sockaddr *)&address, &size) != 0)
		return false;
	it->port = ntohs(address.sin_port);
	if (length < 0 || (size_t)length >= sizeof(file.sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(it->socket_path, file.sun_path, sizeof(it->socket_path));
	it->unix_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return it->unix_fd >= 0 && bind(it->unix_fd, (struct sockaddr *)&file, sizeof(file)) == 0 &&
	       listen(it->unix_fd, BACKLOG) == 0;
}

struct rr_process *rr_process_start(const struct rr_process_plan *plan, struct rr_error *error)
{
	const struct rr_process_config *config = plan->config;
	struct rr_process *process = rr_calloc(1, sizeof(*process));
	const char *directory = process->guarded.directory;
	char path[sizeof(process->guarded.directory) + 8];

	process->plan = plan;
	process->output_fd = -1;
	for (size_t i = 0; i < RR_REDIS_AT_MAX; i++)
		process->listeners[i] = (struct rr_redis_port){ .tcp_fd = -1, .unix_fd = -1 };
	process->outside = (struct rr_outside){ .listener = -1, .events_fd = -1 };
	process->watch = RR_WATCH_NONE;
	process->app_port = plan->is_app ? rr_sockets_free_port() : 0;
	if (!rr_guardian_prepare(config->guardian, &process->guarded, error)) {
		free(process);
		return NULL;
	}
	if (config->fresh && config->runs_together)
		snprintf(process->copy, sizeof(process->copy), "%s", config->fresh->together);
	else if (config->fresh)
		snprintf(process->copy, sizeof(process->copy), "%s/fresh", directory);
	if (config->fresh && !config->runs_together &&
	    !rr_fresh_copy(config->fresh, process->copy, error))
		goto failed;
	for (unsigned i = 0; i < n_places(process); i++) {
		if (!open_ports(process, i, directory)) {
			rr_error_set(error, RR_ERROR_INTERNAL,
				     "cannot open a port for the program: %s", strerror(errno));
			goto failed;
		}
	}
	/* A directory for its files, the FIFO to which the guardian appends what it prints, and its
	 * clock. */
	snprintf(path, sizeof(path), "%s/tmp", directory);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/log", directory);
	if (mkfifo(path, 0600) == 0)
		process->output_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (process->output_fd < 0 ||
	    !rr_program_clock_open(&process->clock, directory, config->start_ns, config->holds_day,
				   config->opened != NULL)) {
		rr_error_set(error, RR_ERROR_FILE, "cannot make the program's files in '%s': %s",
			     directory, strerror(errno));
		goto failed;
	}
	if (!launch(process, error))
		goto failed;
	/* What it connects to is asked from now on. */
	process->outside.listener = process->guarded.watch_fd;
	process->outside.app_port = process->app_port;
	process->outside.group = process->guarded.pid;
	process->outside.page = process->clock.page;
	process->outside.places = config->places;
	process->outside.notes_servers = config->touched != NULL;
	if (process->guarded.watch_fd < 0)
		*config->unwatched = process->guarded.watch_error;
	process->watch.writes = config->touched ? &process->writes : NULL;
	process->watch.own = config->guardian->base;
	process->watch.fresh = config->fresh;
	process->watch.copy = process->copy[0] ? process->copy : NULL;
	if (rr_watch_open(&process->watch, process->guarded.watch_fd, process->clock.page) &&
	    rr_outside_open(&process->outside, process->watch.calls_fd))
		return process;
	rr_error_set(error, RR_ERROR_INTERNAL, "cannot watch the program's connections: %s",
		     strerror(errno));
failed:
	rr_process_free(process);
	return NULL;
}

static void close_descriptor(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void rr_process_free(struct rr_process *process)
{
	if (!process)
		return;
	rr_guardian_kill(process->plan->config->guardian, &process->guarded);
	for (int i = 0; i < RR_PROCESS_CONNECTIONS; i++)
		rr_wire_release(&process->connections[i]);
	for (size_t i = 0; i < RR_REDIS_AT_MAX; i++) {
		close_descriptor(&process->listeners[i].tcp_fd);
		close_descriptor(&process->listeners[i].unix_fd);
	}
	rr_watch_close(&process->watch);
	rr_outside_close(&process->outside);
	if (process->clock.page && !process->plan->config->places->lost[0]) {
		const char *lost = rr_note_text(&process->clock.page->redis_at.lost[0]);

		snprintf(process->plan->config->places->lost, RR_ADDRESS_SIZE, "%s",
			 lost ? lost : "");
	}
	rr_opened_note(process->plan->config->opened, process->clock.page, process->outside.other);
	if (process->plan->config->touched) {
		struct rr_touched *touched = process->plan->config->touched;

		rr_touched_note(touched, &process->writes, process->plan->name, process->has_ended);
		rr_touched_note(touched, &process->outside.servers, process->plan->name,
				process->has_ended);
	}
	rr_touches_release(&process->writes);
	rr_touches_release(&process->outside.servers);
	close_descriptor(&process->output_fd);
	rr_process_files_close(&process->files);
	rr_queue_ends_release(&process->ends);
	rr_program_clock_close(&process->clock);
	free(process->output);
	free(process);
}

/* ---- What comes of it -------------------------------------------------------------- */

static void add_output(struct rr_process *process, const char *bytes, size_t n)
{
	const size_t room = RR_PROCESS_OUTPUT - process->n_output, kept = n < room ? n : room;

	if (process->n_output + kept > process->output_size) {
		process->output_size = 2 * (process->n_output + kept);
		process->output = rr_realloc(process->output, process->output_size + OUTPUT_LINE,
					     1);
	}
	memcpy(process->output + process->n_output, bytes, kept);
	process->n_output += kept;
	/* Adds what is behind the bytes that are kept to two digests, a block at a time. */
	const char *rest = bytes + kept;
	size_t left = n - kept;

	while (left > 0) {
		const size_t at = process->n_more % RR_PROCESS_BLOCK;
		const size_t space = RR_PROCESS_BLOCK - at, taken = left < space ? left : space;

		memcpy(process->block + at, rest, taken);
		process->n_more += taken;
		rest += taken;
		left -= taken;
		for (int i = 0; taken == space && i < 2; i++)
			process->digests[i] = rr_bytes_digest(process->digests[i] + (uint64_t)i,
							      process->block, RR_PROCESS_BLOCK);
	}
}

struct rdl_word rr_process_output(struct rr_process *process)
{
	const size_t n_last = process->n_more % RR_PROCESS_BLOCK;
	uint64_t digests[2];
	char *end;

	if (!process->output)
		return (struct rdl_word){ "", 0 };
	end = process->output + process->n_output;
	*end = '\0';
	if (!process->n_more)
		return (struct rdl_word){ process->output, process->n_output };
	for (int i = 0; i < 2; i++)
		digests[i] = rr_bytes_digest(process->digests[i] + (uint64_t)i, process->block,
					     n_last);
	return (struct rdl_word){
		process->output,
		process->n_output + (size_t)snprintf(end, OUTPUT_LINE,
						     "\n[%" PRIu64 " more bytes, digest %016" PRIx64
						     "%016" PRIx64 "]\n",
						     process->n_more, digests[0], digests[1])
	};
}

static bool accept_connections(struct rr_process *process, unsigned place, int listener,
			       struct rr_error *error)
{
	const struct rr_process_config *config = process->plan->config;
	const int yes = 1;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		int i = 0;

		if (rr_peer_is_stranger(fd, process->guarded.pid, config->guardian->pid,
					process->listeners[place].port, process->listeners[0].port,
					config->strangers)) {
			close(fd);
			continue;
		}
		if (!rr_outside_take_led(&process->outside)) {
			close(fd);
			return rr_error_set(error, RR_ERROR_DATA, "client %s %s",
					    process->plan->name, process->outside.why);
		}
		while (i < RR_PROCESS_CONNECTIONS && process->connections[i].is_open)
			i++;
		if (i == RR_PROCESS_CONNECTIONS) {
			close(fd);
			return rr_error_set(
				error, RR_ERROR_DATA,
				"client %s opened more than %d connections: make its pool smaller",
				process->plan->name, RR_PROCESS_CONNECTIONS);
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
		rr_wire_begin(&process->connections[i], fd);
		process->places[i] = (uint8_t)place;
		process->spent_ns = 0;
	}
	return true;
}

/* No request of Redis begins as a handshake does. */
static bool begins_as_tls(const char *bytes, size_t n)
{
	return n > 1 && memcmp(bytes, "\x16\x03", 2) == 0;
}

/* Hands on all whole requests that have come on a connection, which the owner may cut. */
static bool take_requests(struct rr_process *process, int number, struct rr_error *error)
{
	const struct rr_process_plan *plan = process->plan;
	struct rr_wire *wire = &process->connections[number];
	enum rr_resp_result result = RR_RESP_COMPLETE;
	const int yes = 1;

	process->spent_ns = 0;
	while (wire->is_open && result == RR_RESP_COMPLETE) {
		struct rdl_command command;

		result = rr_wire_take(wire, &command);
		if (result == RR_RESP_COMPLETE ?
			    begins_as_tls(command.words[0].text, command.words[0].length) :
			    begins_as_tls(wire->bytes, wire->n))
			return rr_error_set(
				error, RR_ERROR_DATA,
				"client %s speaks TLS to Redis, which redrace's does not: give it a plain connection for the check, as with redis:// instead of rediss://",
				plan->name);
		if (result == RR_RESP_COMPLETE &&
		    !plan->on_request(plan->context, number, &command))
			return false;
	}
	if (result == RR_RESP_MALFORMED || result == RR_RESP_TOO_LONG) {
		return rr_error_set(
			error, RR_ERROR_DATA,
			result == RR_RESP_TOO_LONG ?
				"client %s sent a command of more than %d words: send it in parts" :
				"client %s sent something that is not a request of the Redis protocol (TLS, or HTTP?): connect a client of Redis to this port, and send commands of up to %d words",
			process->plan->name, RDL_WORDS_MAX);
	}
	/* A program that has not turned Nagle's algorithm off sleeps while its kernel keeps the
	 * next short write back, until the one before is acknowledged. */
	if (wire->is_open)
		setsockopt(wire->fd, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof(yes));
	else if (result == RR_RESP_PARTIAL)
		plan->on_close(plan->context, number);
	return true;
}

/* Deals with what has come, waiting for it so long. -1: the error; else how many
 * things have come. */
static int take_events(struct rr_process *process, int64_t timeout_ns, struct rr_error *error)
{
	/* Connections, the ports, and the rest. */
	struct pollfd list[RR_PROCESS_CONNECTIONS + 2 * RR_REDIS_AT_MAX + 3];
	const struct pollfd *ports = &list[RR_PROCESS_CONNECTIONS];
	const struct pollfd *output = ports + 2 * n_places(process);
	const struct timespec timeout = { 0, timeout_ns };
	int n = 0, n_ready;

	for (; n < RR_PROCESS_CONNECTIONS; n++)
		list[n] = (struct pollfd){
			process->connections[n].is_open ? process->connections[n].fd : -1, POLLIN, 0
		};
	for (unsigned i = 0; i < n_places(process); i++) {
		list[n++] = (struct pollfd){ process->listeners[i].tcp_fd, POLLIN, 0 };
		list[n++] = (struct pollfd){ process->listeners[i].unix_fd, POLLIN, 0 };
	}
	list[n++] = (struct pollfd){ process->output_fd, POLLIN, 0 };
	list[n++] = (struct pollfd){ process->plan->config->guardian->socket, POLLIN, 0 };
	list[n++] = (struct pollfd){ process->outside.events_fd, POLLIN, 0 };
	n_ready = ppoll(list, (nfds_t)n, &timeout, NULL);
	if (rr_outside_is_used(&process->outside) || (n_ready > 0 && output[2].revents)) {
		const bool good = rr_outside_take(&process->outside);

		if (process->outside.unwatched)
			*process->plan->config->unwatched = process->outside.unwatched;
		if (!good) {
			rr_error_set(error, RR_ERROR_DATA, "client %s %s", process->plan->name,
				     process->outside.why);
			return -1;
		}
	}
	if (n_ready <= 0)
		return 0;
	if (output->revents) {
		char bytes[4096];
		ssize_t n_read = 1;

		for (int i = 0; i < READS_MAX && n_read > 0; i++) {
			n_read = read(process->output_fd, bytes, sizeof(bytes));
			if (n_read > 0)
				add_output(process, bytes, (size_t)n_read);
		}
		if (n_read == 0)
			close_descriptor(&process->output_fd);
	}
	for (unsigned i = 0; i < 2 * n_places(process); i++) {
		if (ports[i].revents && !accept_connections(process, i / 2, ports[i].fd, error))
			return -1;
	}
	for (int i = 0; i < RR_PROCESS_CONNECTIONS; i++) {
		if (list[i].revents && !take_requests(process, i, error))
			return -1;
	}
	return n_ready;
}

/* ---- Whether it has ended ------------------------------------------------------------ */

/* Has it ended, and whatever it left in the background? */
static bool note_end(struct rr_process *process)
{
	/* What the guardian says of others is read here, too. */
	process->has_ended = rr_guardian_has_said_end(process->plan->config->guardian,
						      &process->guarded, &process->status);
	return process->has_ended && kill(-process->guarded.pid, 0) != 0;
}

/* Returns how much of the time between two looks a program had, which a busy machine gives less of: a
 * thread that is not asleep has had what it ran. Nor has anybody hung while we did not look: from look
 * to look at most `most_ns` count. */
static int64_t spent_between(const struct rr_process_look *before,
			     const struct rr_process_look *look, int64_t passed_ns, int64_t most_ns)
{
	const int64_t seen_ns = passed_ns < most_ns ? passed_ns : most_ns;

	if (look->awake && look->awake == before->awake)
		return look->ran_ns - before->ran_ns;
	return look->awake && look->ran_ns < seen_ns ? look->ran_ns : seen_ns;
}

/* Whoever has left the process group goes on unseen, unless it ends soon, because its parent
 * has: so does a port of Erlang. */
static bool has_stray(const struct rr_process *process)
{
	const struct rr_guardian *guardian = process->plan->config->guardian;
	const unsigned port = process->listeners[0].port;
	const struct timespec pause = { 0, STRAY_LOOK_NS };
	struct rr_process_tree tree = { .guardian = guardian->pid, .clock = &process->clock };
	struct rr_process_look look = { .sleeps = false };
	int64_t looked_ns = rr_clock_ns(), spent_ns = 0;

	while ((tree.pid = rr_process_tree_stray(guardian, port)) && spent_ns < STRAY_NS &&
	       nanosleep(&pause, NULL) == 0) {
		const struct rr_process_look before = look;
		const int64_t before_ns = looked_ns;

		look = rr_process_tree_look(&tree);
		looked_ns = rr_clock_ns();
		spent_ns += spent_between(&before, &look, looked_ns - before_ns, STRAY_SEEN_NS);
	}
	return tree.pid != 0;
}

/* Takes what it has sent and printed last. */
static enum rr_process_end end_process(struct rr_process *process, struct rr_error *error)
{
	const bool has_left_stray = has_stray(process);
	const int64_t until_ns = rr_clock_ns() + LAST_NS;
	int n;

	while ((n = take_events(process, 0, error)) > 0 ||
	       (n == 0 && rr_outside_holds_bytes(&process->outside) && rr_clock_ns() < until_ns)) {
		note_end(process);
		if (!rr_guardian_is_there(process->plan->config->guardian, error))
			return RR_PROCESS_FAILED;
	}
	if (n < 0)
		return RR_PROCESS_FAILED;
	if (!has_left_stray)
		return RR_PROCESS_ENDED;
	rr_error_set(
		error, RR_ERROR_DATA,
		"client %s left a process running in a group of its own (setsid, a daemon), which cannot be followed: start it in the foreground",
		process->plan->name);
	return RR_PROCESS_FAILED;
}

/* ---- Whether it waits ---------------------------------------------------------------- */

/* Does all of it sleep, since before what has come was taken? For that, two looks in a
 * row have to see the same, and nobody may have been on his way before them: he looks
 * like a sleeper until he notices that he was woken. */
static bool is_quiet(struct rr_process *process, bool has_come)
{
	const struct rr_process_look before = process->look;
	const int64_t before_ns = process->looked_ns;
	const bool is_waking = rr_program_clock_is_waking(&process->clock);
	const struct rr_process_tree tree = {
		.pid = process->guarded.pid,
		.guardian = process->plan->config->guardian->pid,
		.has_ended = process->has_ended,
		.clock = &process->clock,
		.threads = process->plan->is_app ? &process->threads : NULL,
		.files = &process->files,
	};

	process->look = rr_process_tree_look(&tree);
	process->look.sleeps &= !rr_watch_is_asked(&process->watch, &process->n_answered);
	process->look.sleeps &= !is_waking;
	process->looked_ns = rr_clock_ns();
	process->spent_ns += spent_between(&before, &process->look, process->looked_ns - before_ns,
					   SEEN_NS);
	if (process->look.sleeps || has_come)
		process->busy_ns = rr_clock_ns();
	return !has_come && before.sleeps && process->look.sleeps &&
	       before.stamp == process->look.stamp;
}

/* Is nothing under way to or from an app? */
static bool has_taken_all(struct rr_process *process)
{
	const struct rr_queues before = process->queues;
	const struct rr_queues *queues = &process->queues;
	const int64_t now_ns = rr_clock_ns();

	if (!process->app_port)
		return true;
	process->queues = rr_queues_look(process->app_port, &process->ends,
					 rr_outside_calls_app(&process->outside));
	if (!queues->sent && !queues->received)
		return true;
	if (queues->sent != before.sent || queues->received != before.received ||
	    !process->queued_ns)
		process->queued_ns = now_ns;
	return now_ns - process->queued_ns >= (queues->sent ? UNSENT_NS : UNREAD_NS);
}

enum rr_process_end rr_process_wait(struct rr_process *process, struct rr_error *error)
{
	const struct rr_process_config *config = process->plan->config;
	const int64_t limit_ns = config->patience_ms * INT64_C(1000000);
	bool looks_again = false;
	int n = 0;

	process->spent_ns = 0;
	process->looked_ns = process->busy_ns = rr_clock_ns();
	process->look.sleeps = false;
	for (;;) {
		/* Who has computed for long goes on for long: he is looked at less often. */
		const int64_t part_ns = (rr_clock_ns() - process->busy_ns) / LOOK_PART;
		int64_t wait_ns = part_ns > LOOK_NS ? part_ns : LOOK_NS;

		/* Where all sleep, no time passes before the second look: waiting costs more than
		 * to look, and nothing that ran between the two is hidden from their stamps. */
		looks_again = process->look.sleeps && (n > 0 || !looks_again);
		if (looks_again) {
			sched_yield();
			wait_ns = 0;
		}
		n = take_events(process, wait_ns, error);
		if (n < 0)
			return RR_PROCESS_FAILED;
		if ((config->until_ns != 0 && rr_clock_ns() > config->until_ns) ||
		    (config->signals && !rr_signals_wait(config->signals, 0))) {
			rr_error_set(error, RR_ERROR_INTERRUPTED, "interrupted");
			return RR_PROCESS_FAILED;
		}
		if (note_end(process))
			return end_process(process, error);
		if (!rr_guardian_is_there(config->guardian, error))
			return RR_PROCESS_FAILED;
		if (!is_quiet(process, n > 0)) {
			process->queued_ns = 0;
			if (rr_clock_ns() - process->busy_ns >= BUSY_NS) {
				rr_program_clock_wake_busy(&process->clock);
				process->busy_ns = rr_clock_ns();
			}
		} else if (!has_taken_all(process)) {
			continue;
		} else if (process->plan->owes(process->plan->context,
					       rr_program_clock_left_ns(&process->clock))) {
			return RR_PROCESS_STOPPED;
		} else if (!rr_outside_is_awaited(&process->outside) &&
			   rr_program_clock_wake(&process->clock)) {
			process->look.sleeps = false;
		}
		if (process->spent_ns > limit_ns)
			return RR_PROCESS_HANGS;
	}
}

/* ---- What it hears --------------------------------------------------------------------- */

void rr_process_write(struct rr_process *process, int connection, const char *text, size_t length)
{
	atomic_fetch_add(&process->clock.page->n_heard, 1);
	rr_wire_write(&process->connections[connection], text, length);
}

void rr_process_cut(struct rr_process *process, int connection)
{
	atomic_fetch_add(&process->clock.page->n_heard, 1);
	rr_wire_close(&process->connections[connection]);
}
