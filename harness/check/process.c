/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"

enum {
	ARGUMENTS_MAX = 256,
	TEXT_SIZE = 512,
	LOOK_NS = 100 * 1000,          /* between two looks at its threads, or */
	LOOK_PART = 16,                /* a part of the time it has been busy for */
	BUSY_NS = 20 * 1000 * 1000,    /* until short waits for it end */
	SEEN_NS = 10 * 1000 * 1000,    /* counts at most, from look to look */
	OUTPUT_LINE = 120,             /* behind what is kept of its output */
	READS_MAX = 16,                /* of its output at once: it may never end */
	STRAY_NS = 1000 * 1000 * 1000, /* whoever left the group may end with its parent */
	STRAY_LOOK_NS = 5 * 1000 * 1000,
	LAST_NS = 2000 * 1000 * 1000, /* for what it has sent elsewhere to leave */
	/* Who sleeps although bytes have come for him takes them later: he does one thing
	 * after the other. Bytes that were not taken over may wait for the last ones to be
	 * acknowledged, 40 ms at most. */
	UNREAD_NS = 5 * 1000 * 1000,
	UNSENT_NS = 60 * 1000 * 1000,
};

/* ---- The command line --------------------------------------------------------- */

/* An argument in which {url}, {host}, {port} and {socket} are replaced. */
static char *fill_in(const struct rr_endpoint *endpoint, const char *argument)
{
	static const char *const names[] = { "{url}", "{host}", "{port}", "{socket}" };
	char url[TEXT_SIZE], port[TEXT_SIZE], *text;
	const char *const values[] = { url, "127.0.0.1", port, endpoint->socket_path };
	size_t size;
	FILE *file = rr_open_memory(&text, &size);

	snprintf(url, sizeof(url), "redis://127.0.0.1:%u", endpoint->port);
	snprintf(port, sizeof(port), "%u", endpoint->port);
	while (*argument) {
		size_t i = 0;

		while (i < 4 && strncmp(argument, names[i], strlen(names[i])) != 0)
			i++;
		if (i < 4)
			fputs(values[i], file);
		else
			fputc(*argument, file);
		argument += i < 4 ? strlen(names[i]) : 1;
	}
	fclose(file);
	return text;
}

static bool launch(struct rr_process *process, struct rr_error *error)
{
	const struct rr_process_plan *plan = process->plan;
	const struct rr_endpoint *endpoint = &process->endpoint;
	char *argv[ARGUMENTS_MAX + 1] = { NULL };
	char words[9][TEXT_SIZE];
	const char *environment[12] = { words[0], words[1], words[2], words[3], words[4], words[5] };
	size_t n = 6;
	struct rr_error why = { 0 };
	bool good;

	snprintf(words[0], TEXT_SIZE, "REDIS_URL=redis://127.0.0.1:%u", endpoint->port);
	snprintf(words[1], TEXT_SIZE, "REDIS_HOST=127.0.0.1");
	snprintf(words[2], TEXT_SIZE, "REDIS_PORT=%u", endpoint->port);
	snprintf(words[3], TEXT_SIZE, "REDIS_SOCKET=%s", endpoint->socket_path);
	snprintf(words[4], TEXT_SIZE, "REDRACE_CLIENT=%s", plan->owner.name);
	/* Which way round a set of strings is walked through shall be the same. */
	snprintf(words[5], TEXT_SIZE, "PYTHONHASHSEED=0");
	if (plan->config->preload) {
		snprintf(words[6], TEXT_SIZE, "LD_PRELOAD=%s", plan->config->preload);
		snprintf(words[7], TEXT_SIZE, RR_PROGRAM_PAGE_VARIABLE "=%s", process->clock.path);
		environment[n++] = words[6];
		environment[n++] = words[7];
	}
	if (plan->is_app) {
		snprintf(words[8], TEXT_SIZE, "PORT=%u", process->app_port);
		environment[n++] = words[8];
	}
	if (plan->config->is_unbuffered && !getenv("PYTHONUNBUFFERED"))
		environment[n++] = "PYTHONUNBUFFERED=1";
	/* Several threads of a pool end in any order. */
	if (!getenv(RR_UV_THREADS))
		environment[n] = RR_UV_THREADS "=1";
	for (size_t i = 0; plan->argv[i] && i < ARGUMENTS_MAX; i++)
		argv[i] = fill_in(endpoint, plan->argv[i]);
	process->guarded.runs_here = process->guarded.is_watched = true;
	atomic_store(&process->clock.page->redis_port, endpoint->port);
	good = rr_guardian_run(plan->config->guardian, &process->guarded, (const char *const *)argv,
			       environment, -1, &why);
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	return good || rr_error_set(error, why.kind == RR_ERROR_FILE ? RR_ERROR_USAGE : why.kind,
				    "%s", why.text);
}

/* ---- Beginning and end ----------------------------------------------------------- */

/* What it connects to is asked from now on. */
static bool watch(struct rr_process *process, struct rr_error *error)
{
	const struct rr_process_config *config = process->plan->config;

	process->outside.watch_fd = process->guarded.watch_fd;
	process->outside.redis_port = process->endpoint.port;
	process->outside.app_port = process->app_port;
	process->outside.socket_path = process->endpoint.socket_path;
	if (process->guarded.watch_fd < 0)
		*config->unwatched = process->guarded.watch_error;
	return rr_outside_open(&process->outside) ||
	       rr_error_set(error, RR_ERROR_INTERNAL, "cannot watch the program's connections: %s",
			    strerror(errno));
}

static bool is_stranger(void *context, int fd)
{
	const struct rr_process *process = context;
	const struct rr_process_config *config = process->plan->config;

	return rr_peer_is_stranger(fd, process->guarded.pid, config->guardian->pid,
				   process->endpoint.port, config->strangers);
}

static bool open_port(struct rr_process *process, struct rr_error *error)
{
	struct rr_endpoint_owner owner = process->plan->owner;

	owner.is_stranger = is_stranger;
	owner.process = process;
	return rr_endpoint_open(&process->endpoint, &owner, process->guarded.directory) ||
	       rr_error_set(error, RR_ERROR_INTERNAL, "cannot open a port for the program: %s",
			    strerror(errno));
}

/* Its clock, and the FIFO to which the guardian appends what it prints. */
static bool make_files(struct rr_process *process, struct rr_error *error)
{
	const struct rr_process_config *config = process->plan->config;
	const char *directory = process->guarded.directory;
	char path[sizeof(process->guarded.directory) + 8];

	snprintf(path, sizeof(path), "%s/log", directory);
	if (mkfifo(path, 0600) == 0)
		process->output_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return (process->output_fd >= 0 &&
		rr_program_clock_open(&process->clock, directory, config->start_ns,
				      config->holds_day)) ||
	       rr_error_set(error, RR_ERROR_FILE, "cannot make the program's files in '%s': %s",
			    directory, strerror(errno));
}

struct rr_process *rr_process_start(const struct rr_process_plan *plan, struct rr_error *error)
{
	struct rr_process *process = rr_calloc(1, sizeof(*process));

	process->plan = plan;
	process->output_fd = -1;
	process->outside = (struct rr_outside){ .watch_fd = -1, .events_fd = -1 };
	process->app_port = plan->is_app ? rr_sockets_free_port() : 0;
	if (!rr_guardian_prepare(plan->config->guardian, &process->guarded, error)) {
		free(process);
		return NULL;
	}
	if (open_port(process, error) && make_files(process, error) && launch(process, error) &&
	    watch(process, error))
		return process;
	rr_process_free(process);
	return NULL;
}

static void close_output(struct rr_process *process)
{
	if (process->output_fd >= 0)
		close(process->output_fd);
	process->output_fd = -1;
}

void rr_process_set_turns(struct rr_process *process, enum rr_turns turns)
{
	atomic_store(&process->clock.page->turns, turns);
}

void rr_process_free(struct rr_process *process)
{
	if (!process)
		return;
	rr_guardian_kill(process->plan->config->guardian, &process->guarded);
	rr_endpoint_close(&process->endpoint);
	rr_outside_close(&process->outside);
	close_output(process);
	rr_process_files_close(&process->files);
	rr_program_clock_close(&process->clock);
	free(process->output);
	free(process);
}

/* ---- What comes of it -------------------------------------------------------------- */

/* Adds what is behind the bytes that are kept to two digests, a block at a time. */
static void digest_output(struct rr_process *process, const char *bytes, size_t n)
{
	while (n > 0) {
		const size_t at = process->n_more % RR_PROCESS_BLOCK;
		const size_t room = RR_PROCESS_BLOCK - at, taken = n < room ? n : room;

		memcpy(process->block + at, bytes, taken);
		process->n_more += taken;
		bytes += taken;
		n -= taken;
		for (int i = 0; taken == room && i < 2; i++)
			process->digests[i] = rr_bytes_digest(process->digests[i] + (uint64_t)i,
							      process->block, RR_PROCESS_BLOCK);
	}
}

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
	digest_output(process, bytes + kept, n - kept);
}

struct rl_word rr_process_output(struct rr_process *process)
{
	const size_t n_last = process->n_more % RR_PROCESS_BLOCK;
	uint64_t digests[2];
	char *end;

	if (!process->output)
		return (struct rl_word){ "", 0 };
	end = process->output + process->n_output;
	*end = '\0';
	if (!process->n_more)
		return (struct rl_word){ process->output, process->n_output };
	for (int i = 0; i < 2; i++)
		digests[i] = rr_bytes_digest(process->digests[i] + (uint64_t)i, process->block,
					     n_last);
	return (struct rl_word){
		process->output,
		process->n_output + (size_t)snprintf(end, OUTPUT_LINE,
						     "\n[%" PRIu64 " more bytes, digest %016" PRIx64
						     "%016" PRIx64 "]\n",
						     process->n_more, digests[0], digests[1])
	};
}

static void read_output(struct rr_process *process)
{
	char bytes[4096];
	ssize_t n = 1;

	for (int i = 0; i < READS_MAX && n > 0; i++) {
		n = read(process->output_fd, bytes, sizeof(bytes));
		if (n > 0)
			add_output(process, bytes, (size_t)n);
	}
	if (n == 0)
		close_output(process);
}

/* False: it talks to another Redis. */
static bool take_outside(struct rr_process *process, struct rr_error *error)
{
	const bool good = rr_outside_take(&process->outside);

	if (process->outside.unwatched)
		*process->plan->config->unwatched = process->outside.unwatched;
	return good ||
	       rr_error_set(
		       error, RR_ERROR_DATA,
		       "client %s connected to Redis at %s instead of $REDIS_URL, and its command was held back: let it connect to REDIS_URL, REDIS_HOST and REDIS_PORT, or REDIS_SOCKET",
		       process->plan->owner.name, process->outside.address);
}

/* Deals with what has come, waiting for it so long. -1: the error; else how many
 * things have come. */
static int take_events(struct rr_process *process, int64_t timeout_ns, struct rr_error *error)
{
	struct pollfd list[RR_ENDPOINT_DESCRIPTORS + 3];
	struct pollfd *output = &list[RR_ENDPOINT_DESCRIPTORS];
	const struct timespec timeout = { 0, timeout_ns };
	int n_ready;

	rr_endpoint_list(&process->endpoint, list);
	output[0] = (struct pollfd){ process->output_fd, POLLIN, 0 };
	output[1] = (struct pollfd){ process->plan->config->guardian->socket, POLLIN, 0 };
	output[2] = (struct pollfd){ process->outside.events_fd, POLLIN, 0 };
	n_ready = ppoll(list, RR_ENDPOINT_DESCRIPTORS + 3, &timeout, NULL);
	if ((rr_outside_is_used(&process->outside) || (n_ready > 0 && output[2].revents)) &&
	    !take_outside(process, error))
		return -1;
	if (n_ready <= 0)
		return 0;
	if (output->revents)
		read_output(process);
	return rr_endpoint_take(&process->endpoint, list, error) ? n_ready : -1;
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

/* Whoever has left the process group goes on unseen, unless it ends soon, because its parent
 * has: so does a port of Erlang. */
static bool has_stray(const struct rr_process *process)
{
	const struct timespec pause = { 0, STRAY_LOOK_NS };
	const int64_t until_ns = rr_clock_ns() + STRAY_NS;
	bool has;

	do
		has = rr_process_tree_has_strays(process->plan->config->guardian,
						 process->endpoint.port);
	while (has && rr_clock_ns() < until_ns && nanosleep(&pause, NULL) == 0);
	return has;
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
		"client %s left a process running in a group of its own (setsid, a daemon), which cannot be followed",
		process->plan->owner.name);
	return RR_PROCESS_FAILED;
}

/* ---- Whether it waits ---------------------------------------------------------------- */

/* Of its time since the look before, which a starved program has less of than there was: a thread
 * that is not asleep has had what it ran. Nor has anybody hung while we did not look. */
static int64_t spent_since(struct rr_process *process, const struct rr_process_look *before)
{
	const struct rr_process_look *look = &process->look;
	const int64_t now_ns = rr_clock_ns();
	const int64_t passed_ns = now_ns - process->looked_ns;
	const int64_t seen_ns = passed_ns < SEEN_NS ? passed_ns : SEEN_NS;

	process->looked_ns = now_ns;
	if (look->awake && look->awake == before->awake)
		return look->ran_ns - before->ran_ns;
	return look->awake && look->ran_ns < seen_ns ? look->ran_ns : seen_ns;
}

/* Does all of it sleep, since before what has come was taken? For that, two looks in a
 * row have to see the same, and nobody may have been on his way before them: he looks
 * like a sleeper until he notices that he was woken. */
static bool is_quiet(struct rr_process *process, bool has_come)
{
	const struct rr_process_look before = process->look;
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
	process->look.sleeps &= !is_waking;
	process->endpoint.spent_ns += spent_since(process, &before);
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
	process->queues = rr_queues_look(process->app_port);
	if (!queues->sent && !queues->received)
		return true;
	if (queues->sent != before.sent || queues->received != before.received ||
	    !process->queued_ns)
		process->queued_ns = now_ns;
	return now_ns - process->queued_ns >= (queues->sent ? UNSENT_NS : UNREAD_NS);
}

/* Who has computed for long goes on for long: he is looked at less often. */
static int64_t until_look(const struct rr_process *process)
{
	const int64_t part_ns = (rr_clock_ns() - process->busy_ns) / LOOK_PART;

	return part_ns > LOOK_NS ? part_ns : LOOK_NS;
}

static bool is_called_off(const struct rr_process *process, struct rr_error *error)
{
	struct rr_signals *signals = process->plan->config->signals;
	const int64_t until_ns = process->plan->config->until_ns;
	bool is_over = until_ns != 0 && rr_clock_ns() > until_ns;

	if (signals)
		is_over |= !rr_signals_wait(signals, 0);
	if (is_over)
		rr_error_set(error, RR_ERROR_INTERRUPTED, "interrupted");
	return is_over;
}

enum rr_process_end rr_process_wait(struct rr_process *process, struct rr_error *error)
{
	const int64_t limit_ns = process->plan->config->patience_ms * INT64_C(1000000);

	process->endpoint.spent_ns = 0;
	process->looked_ns = process->busy_ns = rr_clock_ns();
	process->look.sleeps = false;
	for (;;) {
		const int n = take_events(process, until_look(process), error);

		if (n < 0 || is_called_off(process, error))
			return RR_PROCESS_FAILED;
		if (note_end(process))
			return end_process(process, error);
		if (!rr_guardian_is_there(process->plan->config->guardian, error))
			return RR_PROCESS_FAILED;
		if (!is_quiet(process, n > 0)) {
			process->queued_ns = 0;
			if (rr_clock_ns() - process->busy_ns >= BUSY_NS) {
				rr_program_clock_wake_busy(&process->clock);
				process->busy_ns = rr_clock_ns();
			}
		} else if (!has_taken_all(process)) {
			continue;
		} else if (process->plan->owes(process->plan->owner.context,
					       rr_program_clock_left_ns(&process->clock))) {
			return RR_PROCESS_STOPPED;
		} else if (!rr_outside_is_awaited(&process->outside) &&
			   rr_program_clock_wake(&process->clock)) {
			process->look.sleeps = false;
		}
		if (process->endpoint.spent_ns > limit_ns)
			return RR_PROCESS_HANGS;
	}
}

/* ---- What it hears --------------------------------------------------------------------- */

void rr_process_write(struct rr_process *process, int connection, const char *text, size_t length)
{
	atomic_fetch_add(&process->clock.page->n_heard, 1);
	rr_wire_write(&process->endpoint.connections[connection], text, length);
}

void rr_process_cut(struct rr_process *process, int connection)
{
	atomic_fetch_add(&process->clock.page->n_heard, 1);
	rr_wire_close(&process->endpoint.connections[connection]);
}
