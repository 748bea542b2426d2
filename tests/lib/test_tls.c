/* SPDX-License-Identifier: MIT */
/* Links over TLS, to a real server with a certificate made for the test. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../party.h"
#include "party/sockets.h"
#include "tls.h"

enum { TLS_MS = 10000, SHORT_MS = 2000, BIG = 300000 };

static struct support support;
static struct rr_guarded server;
static char directory[SUPPORT_DIRECTORY];
static int port;

/* "redis-2.pem" would do, too: one certificate is the server's, ours, and the
 * authority for both. */
static bool make_certificate(void)
{
	static char output[1000];

	return support_shell(
		       "cd $TLS_HOME && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=redrace -addext subjectAltName=IP:127.0.0.1,DNS:localhost 2>&1",
		       output, sizeof(output)) == 0;
}

static struct rdl_link *tls_link(const char *parameters, int timeout_ms)
{
	char uri[600], error[300] = "";
	struct rdl_address address;

	snprintf(uri, sizeof(uri), "rediss://127.0.0.1:%d%s", port, parameters);
	cr_assert(rdl_address_parse(&address, uri, error, sizeof(error)), "%s", error);
	return rdl_link_new(&address, timeout_ms);
}

/* Ours is shown and the server's is looked at. */
static struct rdl_link *good_link(int timeout_ms)
{
	char parameters[300];

	snprintf(parameters, sizeof(parameters),
		 "/1?ca=%s/cert.pem&cert=%s/cert.pem&key=%s/key.pem", directory, directory,
		 directory);
	return tls_link(parameters, timeout_ms);
}

static void start_server(void)
{
	struct rr_error error = { 0 };
	char number[16], cert[100], key[100];
	const char *const argv[] = { "redis-server",
				     "--port",
				     "0",
				     "--tls-port",
				     number,
				     "--bind",
				     "127.0.0.1",
				     "--save",
				     "",
				     "--tls-cert-file",
				     cert,
				     "--tls-key-file",
				     key,
				     "--tls-ca-cert-file",
				     cert,
				     NULL };

	snprintf(number, sizeof(number), "%d", port);
	snprintf(cert, sizeof(cert), "%s/cert.pem", directory);
	snprintf(key, sizeof(key), "%s/key.pem", directory);
	cr_assert(rr_guardian_prepare(&support.session.guardian, &server, &error) &&
			  rr_guardian_run(&support.session.guardian, &server, argv, NULL, -1,
					  &error),
		  "%s", error.text);
}

/* Answers, or has ended: it was built without TLS. */
static bool await_server(void)
{
	const long begun_ms = monotonic_ms();
	struct rdl_link *link = good_link(TLS_MS);
	bool good;
	int status;

	while (!(good = rdl_link_connect(link) == RDL_OK) &&
	       !rr_guardian_has_ended(&support.session.guardian, &server, &status) &&
	       monotonic_ms() - begun_ms < 120000)
		rdl_sleep_ns(link, 10000000);
	rdl_link_free(link);
	return good;
}

static void close_tls(void)
{
	support_close(&support);
	support_remove(directory);
}

static void open_tls(void)
{
	support_open(&support, 0);
	support_directory(directory);
	setenv("TLS_HOME", directory, 1);
	port = (int)rr_sockets_free_port();
	if (!RDL_HAS_TLS || !make_certificate()) {
		close_tls();
		cr_skip_test("no OpenSSL: neither its headers nor its program may be missing");
	}
	start_server();
	if (await_server())
		return;
	close_tls();
	cr_skip_test("this redis-server has no TLS");
}

static void assert_refused(const char *parameters, const char *why)
{
	struct rdl_link *link = tls_link(parameters, TLS_MS);

	cr_assert_eq(rdl_link_connect(link), RDL_ERROR, "%s", parameters);
	cr_assert_not_null(strstr(rdl_link_error(link), why), "%s: %s", parameters,
			   rdl_link_error(link));
	rdl_link_free(link);
}

/* Those that have a connection of their own: a renewer, the fair lock's messages. */
static void check_locks(struct rdl_link *link)
{
	struct rdl_renewed *renewed = rdl_renewed_new(link, "renewed", 60000);
	struct rdl_renewer *renewer = rdl_renewer_new(link, NULL, NULL);
	struct rdl_lock *lock = rdl_lock_new(link, "shared");
	struct rdl_link *waiting = good_link(TLS_MS);
	struct rdl_fair *fair = rdl_fair_new(link, "fair", NULL);
	struct rdl_fair *next = rdl_fair_new(waiting, "fair", NULL);
	struct rdl_holder holder;
	long long number;

	cr_assert_eq(rdl_renewed_acquire_fenced(renewed, 1000, NULL, &number), RDL_OK);
	cr_assert_eq(rdl_lock_try(lock, 1000), RDL_OK);
	cr_assert_eq(rdl_renewer_add(renewer, lock, 60000), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_fair_try(fair, 60000), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_fair_try_fenced(next, 60000, &number), RDL_BUSY);
	cr_assert_eq(rdl_inspect(link, "fair", &holder), RDL_OK);
	cr_assert_eq(holder.n_waiting, 1);
	cr_assert_eq(rdl_fair_release(fair), RDL_OK);
	cr_assert_eq(rdl_fair_wait(next, TLS_MS), RDL_OK);
	cr_assert_eq(rdl_fair_number(next), 1);
	cr_assert_eq(rdl_fair_release(next), RDL_OK);
	rdl_sleep_ns(link, 1200000000);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	rdl_fair_free(next);
	rdl_fair_free(fair);
	rdl_link_free(waiting);
	rdl_lock_free(lock);
	rdl_renewer_free(renewer);
	rdl_renewed_free(renewed);
}

Test(tls, a_link_is_one_like_any_other, .timeout = 600)
{
	static char big[BIG + 1];
	struct rdl_link *link;
	struct rdl_lock *lock;
	struct rdl_reply reply;

	open_tls();
	link = good_link(TLS_MS);
	memset(big, 'x', BIG);
	cr_assert_eq(rdl_queue(link, "SET big %s", big), RDL_OK);
	cr_assert_eq(rdl_queue(link, "GET big"), RDL_OK);
	cr_assert_eq(rdl_flush(link), RDL_OK);
	cr_assert_eq(rdl_receive(link, &reply), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_receive(link, &reply), RDL_OK);
	cr_assert_eq(reply.length, BIG);
	cr_assert_eq(memcmp(reply.text, big, BIG), 0);
	lock = rdl_lock_new(link, "lock");
	cr_assert_eq(rdl_lock_try(lock, 60000), RDL_OK);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	check_locks(link);
	cr_assert_eq(rdl_run(link, &reply, "CLIENT KILL TYPE normal SKIPME no"), RDL_OK);
	cr_assert_eq(rdl_run(link, &reply, "PING"), RDL_UNKNOWN);
	cr_assert_eq(rdl_run(link, &reply, "GET big"), RDL_OK, "%s", rdl_link_error(link));
	rdl_lock_free(lock);
	rdl_link_free(link);
	close_tls();
}

/* A child has a connection of its own, and the parent's stays as it was. */
static void check_fork(void)
{
	struct rdl_link *link = good_link(TLS_MS);
	struct rdl_reply reply;
	int status;
	pid_t pid;

	cr_assert_eq(rdl_run(link, &reply, "INCR forks"), RDL_OK);
	pid = fork();
	if (pid == 0)
		_exit(rdl_run(link, &reply, "INCR forks") == RDL_OK && reply.integer == 2 ? 0 : 1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	cr_assert_eq(rdl_run(link, &reply, "INCR forks"), RDL_OK);
	cr_assert_eq(reply.integer, 3);
	rdl_link_free(link);
}

static void check_limits(void)
{
	struct rdl_link *open = good_link(SHORT_MS);
	struct rdl_link *closed = good_link(SHORT_MS);
	const long begun_ms = monotonic_ms();
	struct rdl_reply reply;

	cr_assert_eq(rdl_link_connect(open), RDL_OK, "%s", rdl_link_error(open));
	cr_assert_eq(kill(server.pid, SIGSTOP), 0);
	cr_assert_eq(rdl_run(open, &reply, "PING"), RDL_UNKNOWN);
	cr_assert_eq(rdl_link_connect(closed), RDL_ERROR);
	cr_assert_not_null(strstr(rdl_link_error(closed), "in time"));
	cr_assert_lt(monotonic_ms() - begun_ms, 20 * SHORT_MS);
	cr_assert_eq(kill(server.pid, SIGCONT), 0);
	rdl_link_free(open);
	rdl_link_free(closed);
}

Test(tls, limits_and_forks, .timeout = 600)
{
	open_tls();
	check_fork();
	check_limits();
	close_tls();
}

Test(tls, a_certificate_is_looked_at, .timeout = 600)
{
	char parameters[300];
	struct rdl_link *link;
	struct rdl_reply reply;

	open_tls();
	assert_refused("", "certificate is refused: self");
	snprintf(parameters, sizeof(parameters), "?ca=%s/cert.pem&sni=elsewhere.example",
		 directory);
	assert_refused(parameters, "certificate is refused: hostname mismatch");
	snprintf(parameters, sizeof(parameters), "?ca=%s/cert.pem&sni=127.0.0.2", directory);
	assert_refused(parameters, "certificate is refused: IP address");
	assert_refused("?ca=/nowhere.pem", "cannot use the authority");
	snprintf(parameters, sizeof(parameters), "?verify=no&cert=%s/cert.pem&key=%s/key.pem",
		 directory, directory);
	link = tls_link(parameters, TLS_MS);
	cr_assert_eq(rdl_run(link, &reply, "PING"), RDL_OK, "%s", rdl_link_error(link));
	rdl_link_free(link);
	/* The server asks for one, and says so when the handshake is over. */
	link = tls_link("?verify=no", TLS_MS);
	cr_assert_neq(rdl_run(link, &reply, "PING"), RDL_OK);
	rdl_link_free(link);
	close_tls();
}

Test(tls, uris)
{
	static const char *const bad[] = {
		"redis://h?ca=x",        "rediss://h?ca=",
		"rediss://h?cert=x",     "rediss://h?key=x",
		"rediss://h?verify=yes", "rediss://h/1?x",
		"redisss://h",           "rediss+sentinel://h?ca=x/s",
	};
	struct rdl_address a;
	char text[300];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_not(rdl_address_parse(&a, bad[i], text, sizeof(text)), "'%s' was taken",
			      bad[i]);
	if (!rdl_address_parse(&a, "rediss+sentinel://u:p@h,i/s/2?ca=%2fa%26&sni=n", text,
			       sizeof(text))) {
		cr_assert_not(RDL_HAS_TLS, "%s", text);
		cr_assert_not_null(strstr(text, "built without"), "%s", text);
		return;
	}
	cr_assert(a.is_tls && !a.is_unverified);
	cr_assert_str_eq(a.ca, "/a&");
	cr_assert_str_eq(a.sni, "n");
	cr_assert_eq(a.db, 2);
	rdl_address_print(&a, text, sizeof(text));
	cr_assert_str_eq(text, "rediss+sentinel://h:26379,i/s/2");
}
