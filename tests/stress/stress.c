/* SPDX-License-Identifier: MIT */
/*
 * stress SECONDS [SEED]: the library's threads at work while servers die. For a program that is
 * compiled with a sanitizer: make lib-stress.
 *
 *	SINGLES threads take locks of every kind on one server, extended by themselves, by a thread
 *	of their own or by the renewer that all share, while the server is killed and started again;
 *	QUORUMS threads take one lock on a quorum of five, of which up to two are dead;
 *	QUEUERS threads put items into a delay queue on the first server, and take them: they end
 *	some, hold some longer, return some, and forget some.
 *
 * Every server writes an append-only file and syncs it always, so that a restart forgets
 * nothing. Then it has to hold that a holder who has time left is alone, or among those it
 * shares with; that fencing numbers rise; that every item is done at most once, and none is lost.
 * Exit: 0 it holds, 1 it does not, 64 usage, 70 a server cannot be started, 130 interrupted.
 */
#include <err.h>
#include <pthread.h>
#include <redislock.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	SINGLES = 8,
	QUORUMS = 4,
	QUEUERS = 3,
	WORKERS = SINGLES + QUORUMS + QUEUERS,
	KEYS = 2, /* of each kind */
	NODES = 5,
	SERVERS = NODES + 1, /* the last one is that of all but the quorum */
	DEAD_MAX = 2,
	TTL_MS = 1000,
	QUORUM_TTL_MS = 2000,
	TIMEOUT_MS = 300,
	NODE_MS = 100,
	WAIT_MS = 300,
	HOLD_MAX_MS = 20000,
	SHORT_HOLD_MS = 1500,
	PERMITS = 2,
	ITEMS = 200000,
	ATTEMPTS_MAX = 4,
};

extern char **environ;

struct server {
	struct rdl_address address;
	char directory[64];
	pid_t pid;       /* 0 = dead */
	long long at_ms; /* when it is killed or started next */
};

/* What the holders of one lock are judged by. */
struct guarded {
	_Atomic long long stays[WORKERS]; /* until when, in us, each may believe to hold it; times
					   * two, and 1 where it shares it */
	_Atomic long long number;
};

/* A kind of lock, as all are used. */
struct kind {
	const char *name;
	int sharers; /* how many may hold it together; 0 = one alone */
	void *(*make)(struct rdl_link **links, const char *key, long hold_max_ms);
	/* *number is left alone where it draws none. */
	enum rdl_outcome (*acquire)(void *lock, long ttl_ms, long long *number);
	enum rdl_outcome (*extend)(void *lock, long ttl_ms); /* NULL = it does so itself */
	enum rdl_outcome (*renew)(struct rdl_renewer *renewer, void *lock, long hold_max_ms);
	long (*remaining_ms)(const void *lock);
	enum rdl_outcome (*release)(void *lock);
	void (*free)(void *lock);
};

enum { KINDS = 7, QUORUM = KINDS - 1 };

struct stress {
	struct server servers[SERVERS];
	struct guarded keys[KINDS][KEYS];
	struct rdl_renewer *renewer, *quorum_renewer;
	_Atomic bool stops, failed;
	_Atomic long held[KINDS], renewed, losses;
	_Atomic long put, done, returned, dead;
	_Atomic char is_put[ITEMS]; /* and must be somewhere */
	long kills;
};

struct worker {
	struct stress *stress;
	int number;
	unsigned random;
	pthread_t thread;
};

static long long clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now); /* by which leases are counted */
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static long long clock_ms(void)
{
	return clock_us() / 1000;
}

static void sleep_us(long us)
{
	const struct timespec pause = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&pause, NULL);
}

/* ---- Servers ------------------------------------------------------------- */

static void start_server(struct server *server)
{
	char *const argv[] = { "redis-server",
			       "--port",
			       "0",
			       "--unixsocket",
			       server->address.host,
			       "--dir",
			       server->directory,
			       "--appendonly",
			       "yes",
			       "--appendfsync",
			       "always",
			       "--save",
			       "",
			       "--logfile",
			       "/dev/null",
			       NULL };

	if (posix_spawnp(&server->pid, argv[0], NULL, NULL, argv, environ) != 0)
		err(70, "cannot start redis-server");
}

static void kill_server(struct server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	server->pid = 0;
}

static void open_servers(struct stress *stress, const char *directory)
{
	for (int i = 0; i < SERVERS; i++) {
		struct server *server = &stress->servers[i];

		snprintf(server->directory, sizeof(server->directory), "%.50s/%d", directory, i);
		if (mkdir(server->directory, 0700) != 0)
			err(70, "%s", server->directory);
		server->address.is_unix = true;
		snprintf(server->address.host, sizeof(server->address.host), "%.50s/%d/socket",
			 directory, i);
		start_server(server);
	}
}

/* Until it answers. */
static void await_server(const struct server *server)
{
	struct rdl_link *link = rdl_link_new(&server->address, TIMEOUT_MS);
	const long long begun = clock_ms();
	struct rdl_reply reply;

	while (rdl_run(link, &reply, "PING") != RDL_OK) {
		if (clock_ms() - begun > 120000)
			errx(70, "a server does not answer: %s", rdl_link_error(link));
		sleep_us(20000);
	}
	rdl_link_free(link);
}

/* For how long a server is dead: the last one now and then for longer than a lease. */
static long dead_ms(unsigned *random, int i)
{
	if (i < NODES)
		return rand_r(random) % 1500;
	return rand_r(random) % 4 ? rand_r(random) % 400 : TTL_MS + rand_r(random) % TTL_MS;
}

/* Kills those whose time has come, and starts them again. */
static void do_harm(struct stress *stress, unsigned *random)
{
	int dead = 0;

	for (int i = 0; i < NODES; i++)
		dead += stress->servers[i].pid == 0;
	for (int i = 0; i < SERVERS; i++) {
		struct server *server = &stress->servers[i];

		if (clock_ms() < server->at_ms)
			continue;
		if (server->pid == 0) {
			start_server(server);
			server->at_ms = clock_ms() + 500 + rand_r(random) % 2500;
			dead -= i < NODES;
		} else if (i == NODES || dead < DEAD_MAX) {
			kill_server(server);
			server->at_ms = clock_ms() + dead_ms(random, i);
			dead += i < NODES;
			stress->kills++;
		}
	}
}

/* ---- Staying ------------------------------------------------------------- */

static void complain(struct stress *stress, const char *what, int by)
{
	fprintf(stderr, "stress: %s, says %d\n", what, by);
	stress->failed = true;
}

/* Works for a while. What it may believe is stored for the others, and a clock reading later two
 * of them must not both believe it, unless they share it. */
static void stay(struct worker *worker, const struct kind *kind, struct guarded *guarded,
		 const void *lock)
{
	const int pieces = 1 + rand_r(&worker->random) % (rand_r(&worker->random) % 6 ? 20 : 100);
	const int shares = kind->sharers > 0;

	for (int i = 0; i < pieces; i++) {
		const long long until_us = clock_us() + kind->remaining_ms(lock) * 1000;
		long long now_us;
		int sharers = 0;

		atomic_store(&guarded->stays[worker->number], until_us * 2 + shares);
		now_us = clock_us();
		for (int other = 0; other < WORKERS && until_us > now_us; other++) {
			const long long stays = atomic_load(&guarded->stays[other]);

			if (stays / 2 <= now_us)
				continue;
			sharers++; /* itself as well */
			if (other != worker->number && !(shares && stays % 2))
				complain(worker->stress, "two holders have time left",
					 worker->number);
		}
		if (shares && sharers > kind->sharers)
			complain(worker->stress, "too many holders have time left", worker->number);
		sleep_us(rand_r(&worker->random) % (rand_r(&worker->random) % 8 ? 30000 : 400000));
	}
	atomic_store(&guarded->stays[worker->number], 0);
}

/* ---- The kinds of locks ------------------------------------------------------ */

static const struct rdl_policy policy = { .wait_ms = WAIT_MS };

/* How one kind's functions look from the table. */
#define KIND(name)                                         \
	static long name##_remaining_ms(const void *lock)  \
	{                                                  \
		return rdl_##name##_remaining_ms(lock);    \
	}                                                  \
	static enum rdl_outcome name##_release(void *lock) \
	{                                                  \
		return rdl_##name##_release(lock);         \
	}                                                  \
	static void name##_free(void *lock)                \
	{                                                  \
		rdl_##name##_free(lock);                   \
	}

#define EXTENDED(name, add)                                                                        \
	static enum rdl_outcome name##_extend(void *lock, long ttl_ms)                             \
	{                                                                                          \
		return rdl_##name##_extend(lock, ttl_ms);                                          \
	}                                                                                          \
	static enum rdl_outcome name##_renew(struct rdl_renewer *renewer, void *lock, long max_ms) \
	{                                                                                          \
		return add(renewer, lock, max_ms);                                                 \
	}

#define MADE(name, call)                                                                     \
	static void *name##_make(struct rdl_link **links, const char *key, long hold_max_ms) \
	{                                                                                    \
		(void)hold_max_ms;                                                           \
		return call;                                                                 \
	}

#define ACQUIRED(name, call)                                                               \
	static enum rdl_outcome name##_acquire(void *lock, long ttl_ms, long long *number) \
	{                                                                                  \
		(void)number;                                                              \
		return call;                                                               \
	}

KIND(lock)
KIND(renewed)
KIND(fair)
KIND(semaphore)
KIND(rwlock)
KIND(quorum)
EXTENDED(lock, rdl_renewer_add)
EXTENDED(fair, rdl_renewer_add_fair)
EXTENDED(semaphore, rdl_renewer_add_semaphore)
EXTENDED(rwlock, rdl_renewer_add_rwlock)
EXTENDED(quorum, rdl_renewer_add_quorum)
MADE(lock, rdl_lock_new(links[0], key))
MADE(renewed, rdl_renewed_new(links[0], key, hold_max_ms))
MADE(fair, rdl_fair_new(links[0], key, NULL))
MADE(semaphore, rdl_semaphore_new(links[0], key, PERMITS))
MADE(rwlock, rdl_rwlock_new(links[0], key))
MADE(quorum, rdl_quorum_new(links, NODES, key, NODE_MS))
ACQUIRED(lock, rdl_lock_acquire_fenced(lock, ttl_ms, &policy, number))
ACQUIRED(renewed, rdl_renewed_acquire_fenced(lock, ttl_ms, &policy, number))
ACQUIRED(fair, rdl_fair_acquire_fenced(lock, ttl_ms, &policy, number))
ACQUIRED(semaphore, rdl_semaphore_acquire(lock, ttl_ms, &policy))
ACQUIRED(rwlock, rdl_rwlock_write_acquire(lock, ttl_ms, &policy))
ACQUIRED(read, rdl_rwlock_read_acquire(lock, ttl_ms, &policy))
ACQUIRED(quorum, rdl_quorum_acquire(lock, ttl_ms, &policy))

#define OPS(name)                                                                            \
	.make = name##_make, .remaining_ms = name##_remaining_ms, .release = name##_release, \
	.free = name##_free

static const struct kind kinds[KINDS] = {
	{ "renewed", .acquire = renewed_acquire, OPS(renewed) },
	{ "lock", .acquire = lock_acquire, .extend = lock_extend, .renew = lock_renew, OPS(lock) },
	{ "fair", .acquire = fair_acquire, .extend = fair_extend, .renew = fair_renew, OPS(fair) },
	{ "semaphore", .sharers = PERMITS, .acquire = semaphore_acquire, .extend = semaphore_extend,
	  .renew = semaphore_renew, OPS(semaphore) },
	{ "writer", .acquire = rwlock_acquire, .extend = rwlock_extend, .renew = rwlock_renew,
	  OPS(rwlock) },
	{ "reader", .sharers = WORKERS, .acquire = read_acquire, .extend = rwlock_extend,
	  .renew = rwlock_renew, OPS(rwlock) },
	[QUORUM] = { "quorum", .acquire = quorum_acquire, .extend = quorum_extend,
		     .renew = quorum_renew, OPS(quorum) },
};

/* The token lock and the renewed one are one lock, and so are readers and writers. */
static const int lock_of[KINDS] = { 0, 0, 2, 3, 4, 4, QUORUM };

/* ---- Holding ------------------------------------------------------------- */

/* Only while it has time left is a number judged: a late one is what fencing is for. */
static void judge_number(struct worker *worker, const struct kind *kind, struct guarded *guarded,
			 long long number, const void *lock)
{
	const long long before = number ? atomic_exchange(&guarded->number, number) : 0;

	if (number && before >= number && kind->remaining_ms(lock) > 0)
		complain(worker->stress, "a fencing number does not rise", worker->number);
}

/* Takes a lock of the kind, stays, has it extended or not, and releases it or not. */
static void hold(struct worker *worker, int i, struct rdl_link **links, struct rdl_renewer *renewer,
		 long ttl_ms)
{
	const struct kind *kind = &kinds[i];
	const int key = i == QUORUM ? 0 : rand_r(&worker->random) % KEYS;
	const long max_ms = rand_r(&worker->random) % 4 ? HOLD_MAX_MS : SHORT_HOLD_MS;
	struct guarded *guarded = &worker->stress->keys[lock_of[i]][key];
	bool is_renewed = false;
	long long number = 0;
	char name[24];
	void *lock;

	snprintf(name, sizeof(name), "%s:%d", kinds[lock_of[i]].name, key);
	lock = kind->make(links, name, max_ms);
	if (kind->acquire(lock, ttl_ms, &number) == RDL_OK) {
		worker->stress->held[i]++;
		judge_number(worker, kind, guarded, number, lock);
		if (kind->renew && rand_r(&worker->random) % 3)
			is_renewed = kind->renew(renewer, lock, max_ms) == RDL_OK;
		worker->stress->renewed += is_renewed;
		stay(worker, kind, guarded, lock);
		if (kind->extend && !is_renewed) {
			kind->extend(lock, ttl_ms);
			stay(worker, kind, guarded, lock);
		}
		if (is_renewed && rand_r(&worker->random) % 4 == 0)
			rdl_renewer_remove(renewer, lock);
		if (rand_r(&worker->random) % 8)
			kind->release(lock);
	}
	kind->free(lock);
}

static void *hold_singles(void *argument)
{
	struct worker *worker = argument;
	struct stress *stress = worker->stress;
	struct rdl_link *link = rdl_link_new(&stress->servers[NODES].address, TIMEOUT_MS);

	while (!stress->stops)
		hold(worker, rand_r(&worker->random) % QUORUM, &link, stress->renewer, TTL_MS);
	rdl_link_free(link);
	return NULL;
}

static void *hold_quorum(void *argument)
{
	struct worker *worker = argument;
	struct stress *stress = worker->stress;
	struct rdl_link *links[NODES];

	for (int i = 0; i < NODES; i++)
		links[i] = rdl_link_new(&stress->servers[i].address, NODE_MS);
	while (!stress->stops)
		hold(worker, QUORUM, links, stress->quorum_renewer, QUORUM_TTL_MS);
	for (int i = 0; i < NODES; i++)
		rdl_link_free(links[i]);
	return NULL;
}

/* ---- The delay queue --------------------------------------------------------- */

static void put_item(struct stress *stress, struct rdl_delay_queue *queue, unsigned *random)
{
	const long item = stress->put++;
	char id[24];

	snprintf(id, sizeof(id), "%ld", item);
	if (item < ITEMS && rdl_delay_queue_put(queue, id, rand_r(random) % 50) == RDL_OK)
		stress->is_put[item] = 1;
}

/* Holds it longer, and then ends it, returns it, or leaves it to the end of its hold. */
static void work_on(struct stress *stress, struct rdl_delay_queue *queue, const char *id,
		    unsigned *random)
{
	char counter[32];

	snprintf(counter, sizeof(counter), "done:%s", id);
	if (rand_r(random) % 3 == 0)
		rdl_delay_queue_prolong(queue, id, 100 + rand_r(random) % 400);
	sleep_us(rand_r(random) % (rand_r(random) % 8 ? 5000 : 400000));
	switch (rand_r(random) % 4) {
	case 0:
		stress->returned += rdl_delay_queue_give_back(queue, id, rand_r(random) % 50) ==
				    RDL_OK;
		break;
	case 1:
		break;
	default:
		stress->done += rdl_delay_queue_done(queue, id, "INCR %s", counter) == RDL_OK;
	}
}

static void *queue_up(void *argument)
{
	struct worker *worker = argument;
	struct stress *stress = worker->stress;
	unsigned *random = &worker->random;
	struct rdl_link *link = rdl_link_new(&stress->servers[NODES].address, TIMEOUT_MS);
	struct rdl_delay_queue *queue = rdl_delay_queue_new(link, "queue");
	char id[24];

	rdl_delay_queue_set_limit(queue, ATTEMPTS_MAX);
	while (!stress->stops) {
		if (rand_r(random) % 2)
			put_item(stress, queue, random);
		if (rdl_delay_queue_wait(queue, 200, id, sizeof(id),
					 &(struct rdl_policy){ .wait_ms = 20 }) == RDL_OK)
			work_on(stress, queue, id, random);
		if (rand_r(random) % 16 == 0 &&
		    rdl_delay_queue_dead(queue, 0, id, sizeof(id)) == RDL_OK)
			stress->dead += rdl_delay_queue_revive(queue, id, 0) == RDL_OK;
	}
	rdl_delay_queue_free(queue);
	rdl_link_free(link);
	return NULL;
}

/* Where an item is: how often it was done, in the queue, or dead. */
static long long places_of(struct stress *stress, struct rdl_link *link, long item)
{
	static const char script[] =
		"local n = tonumber(redis.call('GET', 'done:' .. ARGV[1]) or 0) "
		"for _, set in ipairs({'queue:due', 'queue:processing'}) do "
		"if redis.call('ZSCORE', set, ARGV[1]) then n = n + 1 end end "
		"return n + #redis.call('LPOS', 'queue:dead', ARGV[1], 'COUNT', 0)";
	struct rdl_reply reply;

	if (rdl_run_script(link, &reply, script, "0 %ld", item) == RDL_OK)
		return reply.integer;
	fprintf(stderr, "stress: %s\n", rdl_link_error(link));
	stress->failed = true;
	return 1;
}

/* At the end, when no worker is left and the server is there. */
static void judge_queue(struct stress *stress)
{
	struct rdl_link *link = rdl_link_new(&stress->servers[NODES].address, 120000);

	for (long item = 0; item < stress->put && item < ITEMS; item++) {
		const long long places = places_of(stress, link, item);

		if (places > 1)
			complain(stress, "an item was done twice, or is in two places", (int)item);
		if (places == 0 && stress->is_put[item])
			complain(stress, "an item is lost", (int)item);
	}
	rdl_link_free(link);
}

static void on_loss(void *context, void *lock)
{
	struct stress *stress = context;

	(void)lock;
	stress->losses++;
}

/* ---- All of it ------------------------------------------------------------- */

static volatile sig_atomic_t is_interrupted;

static void on_signal(int number)
{
	is_interrupted = number;
}

static void run_for(struct stress *stress, long seconds, unsigned seed)
{
	struct worker workers[WORKERS];
	const long long until_ms = clock_ms() + seconds * 1000;
	struct rdl_link *link = rdl_link_new(&stress->servers[NODES].address, TIMEOUT_MS);

	stress->renewer = rdl_renewer_new(link, on_loss, stress);
	stress->quorum_renewer = rdl_renewer_new(link, on_loss, stress);
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){ .stress = stress,
					      .number = i,
					      .random = seed + (unsigned)i };
		if (pthread_create(&workers[i].thread, NULL,
				   i < SINGLES           ? hold_singles :
				   i < SINGLES + QUORUMS ? hold_quorum :
							   queue_up,
				   &workers[i]) != 0)
			errx(70, "cannot start a thread");
	}
	while (clock_ms() < until_ms && !stress->failed && !is_interrupted) {
		do_harm(stress, &seed);
		sleep_us(10000);
	}
	stress->stops = true;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	rdl_renewer_free(stress->renewer);
	rdl_renewer_free(stress->quorum_renewer);
	rdl_link_free(link);
}

/* What was counted. On a busy machine some seconds may be too short for each kind of lock. */
static bool report(const struct stress *stress, long seconds, unsigned seed)
{
	bool is_some = false, is_all = stress->done > 0, good;

	printf("stress: %ld s, seed %u:", seconds, seed);
	for (int i = 0; i < KINDS; i++) {
		printf(" %s %ld,", kinds[i].name, stress->held[i]);
		is_some = is_some || stress->held[i] > 0;
		is_all = is_all && stress->held[i] > 0;
	}
	good = !stress->failed && (seconds < 30 ? is_some : is_all);
	printf(" %ld in a renewer; %ld items put, %ld done, %ld returned, %ld revived; %ld losses, %ld servers killed: %s\n",
	       stress->renewed, stress->put, stress->done, stress->returned, stress->dead,
	       stress->losses, stress->kills, good ? "right" : "WRONG");
	return good;
}

int main(int argc, char **argv)
{
	static struct stress stress;
	const long seconds = argc > 1 ? atol(argv[1]) : 0;
	const unsigned seed = argc > 2 ? (unsigned)atol(argv[2]) : (unsigned)getpid();
	char directory[] = "/tmp/rdl-stress-XXXXXX", command[64];
	bool good;

	if (seconds < 1 || argc > 3) {
		fputs("usage: stress SECONDS [SEED]\n", stderr);
		return 64;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (!mkdtemp(directory))
		err(70, "%s", directory);
	open_servers(&stress, directory);
	for (int i = 0; i < SERVERS; i++)
		await_server(&stress.servers[i]);
	run_for(&stress, seconds, seed);
	if (!stress.servers[NODES].pid)
		start_server(&stress.servers[NODES]);
	await_server(&stress.servers[NODES]);
	judge_queue(&stress);
	for (int i = 0; i < SERVERS; i++) {
		if (stress.servers[i].pid)
			kill_server(&stress.servers[i]);
	}
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command) != 0)
		warnx("%s is left", directory);
	good = report(&stress, seconds, seed);
	return is_interrupted ? 130 : good ? 0 : 1;
}
