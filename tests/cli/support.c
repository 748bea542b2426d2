/* SPDX-License-Identifier: MIT */
#include "../support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "party/sockets.h"

void support_open(struct support *support, size_t n)
{
	const struct rr_cluster_options options = {
		.program = "redis-server",
		.clock = RR_CLUSTER_REAL,
		.cpu = -1,
	};
	struct rr_error error = { 0 };

	cr_assert(rr_session_open(&support->session, &error) &&
			  rr_cluster_open(&support->cluster, &support->session, &options, &error),
		  "%s", error.text);
	support_need(support, n);
}

void support_close(struct support *support)
{
	rr_cluster_close(&support->cluster);
	rr_session_close(&support->session);
}

void support_need(struct support *support, size_t n)
{
	struct rr_error error = { 0 };

	cr_assert(rr_cluster_need(&support->cluster, n, &error), "%s", error.text);
	for (size_t i = 0; i < n; i++)
		support->addresses[i] = *rr_cluster_address(&support->cluster, (int)i);
}

void support_inject(struct support *support, size_t i, enum rr_fault fault)
{
	const struct rr_injection injection = { .fault = fault };
	struct rr_error error = { 0 };

	cr_assert(rr_cluster_inject(&support->cluster, (int)i, &injection, &error), "%s",
		  error.text);
}

struct rdl_link *support_link(struct support *support, size_t i)
{
	struct rdl_link *link = rdl_link_new(&support->cluster.servers[i].address, RR_TIMEOUT_MS);

	cr_assert_eq(rdl_link_connect(link), RDL_OK, "%s", rdl_link_error(link));
	return link;
}

/* Somebody else may take a free port before the server does. */
unsigned support_listen(struct rdl_link *link)
{
	struct rdl_reply reply;

	rdl_run(link, &reply, "CONFIG SET bind 127.0.0.1");
	for (int i = 0; i < 100; i++) {
		const unsigned port = rr_sockets_free_port();

		if (port && rdl_run(link, &reply, "CONFIG SET port %d", (int)port) == RDL_OK)
			return port;
	}
	cr_assert_fail("no free port: %s", rdl_link_error(link));
	return 0;
}

const char *support_ask(struct rdl_link *link, const char *command, const char *argument)
{
	static char text[256];
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link, &reply, "%s %s", command, argument), RDL_OK, "%s: %s", command,
		     rdl_link_error(link));
	if (reply.type == RDL_REPLY_INTEGER)
		snprintf(text, sizeof(text), "%lld", reply.integer);
	else
		snprintf(text, sizeof(text), "%s", reply.text ? reply.text : "(nil)");
	return text;
}

void support_client_open(struct support_client *client, struct support *support,
			 const struct rr_strategy *strategy, const struct rdl_driver *driver)
{
	memset(client, 0, sizeof(*client));
	rdl_mutex_init(&client->mutex);
	client->n_links = 1 + strategy->lock.servers;
	for (size_t i = 0; i < client->n_links; i++) {
		client->links[i] = support_link(support, i);
		rdl_link_set_driver(client->links[i], driver);
	}
	client->client = (struct rr_client){
		.data = client->links[0],
		.lock_nodes = client->links + 1,
		.n_lock_nodes = strategy->lock.servers,
		.counter = "counter",
		.lock = "lock",
		.mutex = &client->mutex,
		.ttl_ms = 10000,
	};
	if (strategy->open)
		cr_assert_eq(strategy->open(&client->client), RDL_OK);
}

void support_client_close(struct support_client *client, const struct rr_strategy *strategy)
{
	if (strategy->close)
		strategy->close(&client->client);
	for (size_t i = 0; i < client->n_links; i++)
		rdl_link_free(client->links[i]);
	rdl_mutex_destroy(&client->mutex);
}

const char *support_lacks(struct support *support, const struct rr_strategy *strategy)
{
	struct rdl_link *link;
	const char *lacking;

	if (!strategy->lacks)
		return NULL;
	link = support_link(support, 0);
	lacking = strategy->lacks(link, "spare");
	rdl_link_free(link);
	return lacking;
}

struct rr_run support_run(struct support *support, const struct rr_strategy *strategy, int threads,
			  long increments)
{
	return (struct rr_run){
		.strategy = strategy,
		.cluster = &support->cluster,
		.prefix = support->session.prefix,
		.threads = threads,
		.processes = 1,
		.increments = increments,
		.warmup = 50,
		.keys = 1,
		.ttl_ms = 10000,
		.seed = 42,
	};
}

struct rr_measurement *support_measure(struct support *support, const struct rr_run *run)
{
	struct rr_measurement *measurement = calloc(1, sizeof(*measurement));
	struct rr_error error = { .kind = RR_ERROR_NONE };
	const bool measured = rr_bench_run(run, &support->session.signals, NULL, measurement, NULL,
					   &error);

	cr_assert(measured, "run failed: %s", error.text);
	return measurement;
}

/* `make accept`: what comes is what is wanted from now on. */
static void accept_golden(const char *path, const char *actual)
{
	FILE *golden = fopen(path, "we");

	cr_assert_not_null(golden, "cannot write %s", path);
	fputs(actual, golden);
	cr_assert_eq(fclose(golden), 0, "cannot write %s", path);
}

void support_assert_golden(const char *name, const char *actual)
{
	char path[128], wanted[16384];
	FILE *golden;
	size_t n;

	snprintf(path, sizeof(path), "tests/golden/%s", name);
	if (getenv("RR_ACCEPT"))
		accept_golden(path, actual);
	golden = fopen(path, "re");
	cr_assert_not_null(golden, "no %s", path);
	n = fread(wanted, 1, sizeof(wanted) - 1, golden);
	wanted[n] = '\0';
	fclose(golden);
	cr_assert_str_eq(actual, wanted, "%s differs:\n%s", path, actual);
}

void support_directory(char path[SUPPORT_DIRECTORY])
{
	const char *tmp = getenv("TMPDIR");
	const int length = snprintf(path, SUPPORT_DIRECTORY, "%s/rr-test-XXXXXX",
				    tmp && *tmp ? tmp : "/tmp");

	cr_assert_lt(length, SUPPORT_DIRECTORY, "TMPDIR is too long for the sockets of tests: %s",
		     tmp);
	cr_assert_not_null(mkdtemp(path), "cannot make '%s'", path);
}

void support_remove(const char *path)
{
	char command[SUPPORT_DIRECTORY + 16], output[256];

	snprintf(command, sizeof(command), "rm -rf '%s' 2>&1", path);
	cr_assert_eq(support_shell(command, output, sizeof(output)), 0, "%s", output);
}

/* A session blocks signals that a shell needs to wait for its children. */
static FILE *open_shell(const char *command)
{
	sigset_t none, before;
	FILE *pipe;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &before);
	pipe = popen(command, "re");
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pipe;
}

/* Into the log, which tests/run-all shows when a test failed. */
static void log_errors(const char *command, FILE *errors)
{
	char line[512];

	rewind(errors);
	while (fgets(line, sizeof(line), errors)) {
		line[strcspn(line, "\n")] = '\0';
		cr_log_info("%.60s...: %s", command, line);
	}
	fclose(errors);
}

int support_shell(const char *command, char *output, size_t size)
{
	char whole[4096], rest[4096];
	size_t used = 0, n;
	FILE *pipe, *errors = tmpfile();
	int status;

	cr_assert_not_null(errors);
	snprintf(whole, sizeof(whole),
		 "exec 2>>/dev/fd/%d; REDRACE=${REDRACE:-build/redrace}; export REDRACE; %s",
		 fileno(errors), command);
	pipe = open_shell(whole);
	cr_assert_not_null(pipe);
	while ((n = fread(output + used, 1, size - 1 - used, pipe)) > 0)
		used += n;
	output[used] = '\0';
	while (fread(rest, 1, sizeof(rest), pipe) > 0)
		; /* a closed pipe would be the command's end */
	status = pclose(pipe);
	log_errors(command, errors);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

long support_asleep_ms(pid_t pid)
{
	long long ran_ns = 0, delayed_ns = 0;
	char path[40];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	file = fopen(path, "re");
	cr_assert(file && fscanf(file, "%lld %lld", &ran_ns, &delayed_ns) == 2, "%s", path);
	fclose(file);
	return (long)((rr_clock_ns() - ran_ns - delayed_ns) / 1000000);
}

static int captured = -1;

/* A pipe, for a test may limit the size of files. */
void support_capture_errors(void)
{
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	fflush(stderr);
	cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
	captured = ends[0];
}

void support_assert_error(const char *part)
{
	char text[1024];
	ssize_t n;

	fflush(stderr);
	n = read(captured, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	cr_assert_not_null(strstr(text, part), "no '%s' in: %s", part, text);
}
