/* SPDX-License-Identifier: MIT */
/*
 * Random bytes of a program that is checked: they come from a stream of numbers instead of the
 * kernel. A stream has a key, which is made of the page's key (seed and client), of the way from
 * the client's first process to this one (ordinals of children, and programs that it has become),
 * and of the way to this thread (ordinals of threads). So two runs draw the same, and no two
 * processes or threads do.
 *
 * The keys of processes are in the page, by their process ids: a program that is executed finds its
 * own there. From the key it was made with a process has the process id, too, that the program sees
 * where these are fixed (pids.c). A child that was made without this library having seen it is numbered in the order in
 * which such children begin.
 *
 * /dev/urandom and /dev/random are files in memory, of a size that is large for what anybody reads
 * of them.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	FILE_BLOCKS = 64,
	BLOCK_WORDS = 2048,
	REGISTERED_NS = 200 * 1000 * 1000,
	ENTROPY_MAX = 256,
	TEMPORARY_LETTERS = 6,
	TEMPORARY_TRIES = 1000
};

/* What makes one key of another. */
enum kind { KIND_STRAY = 1, KIND_CHILD, KIND_UNSEEN_CHILD, KIND_PROGRAM, KIND_THREAD, KIND_FILE };

/* Of this thread. A thread that nobody has seen begin has no key. */
static __thread struct {
	uint64_t key;
	uint64_t n_words;    /* that were drawn */
	uint64_t n_children; /* threads, processes and files that were made */
} stream __attribute__((tls_model("initial-exec")));

/* Of this process. */
static struct {
	_Atomic int pid, shown;
	_Atomic uint64_t key;
	_Atomic uint64_t n_unseen; /* threads */
} process;

/* ---- Keys ------------------------------------------------------------------------------ */

/* Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators (2014): SplitMix64. */
static uint64_t mix(uint64_t number)
{
	number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
	return number ^ (number >> 31);
}

static uint64_t word_of(uint64_t key, uint64_t n)
{
	return mix(key + n * UINT64_C(0x9e3779b97f4a7c15));
}

/* Never 0, which is no key. */
static uint64_t key_of(uint64_t key, enum kind kind, uint64_t ordinal)
{
	const uint64_t made = word_of(mix(key ^ (uint64_t)kind << 56), ordinal);

	return made ? made : 1;
}

/* ---- The table of processes ------------------------------------------------------------- */

/* The process id that a program sees of the process with that key. RR_PIDS_FIRST itself stands for
 * all processes that are not the program's. */
static int shown_of_key(uint64_t key)
{
	return RR_PIDS_FIRST + 1 + (int)(key % (RR_PIDS - 1));
}

/* The n-th place in which it may be. */
static struct rr_shim_process *place_of(int pid, unsigned n)
{
	return &rr_shim_page()->processes[((unsigned)pid + n) % RR_SHIM_PROCESSES];
}

/* NULL: there is none. */
static struct rr_shim_process *find_process(int pid)
{
	for (unsigned n = 0; n < RR_SHIM_PLACES; n++) {
		struct rr_shim_process *place = place_of(pid, n);

		if (atomic_load(&place->pid) == pid)
			return place;
	}
	return NULL;
}

/* The process's own place, one that is free, or one whose process has ended. */
static struct rr_shim_process *choose_place(int pid)
{
	struct rr_shim_process *found = find_process(pid);

	for (unsigned n = 0; n < RR_SHIM_PLACES && !found; n++) {
		struct rr_shim_process *place = place_of(pid, n);
		const long words[6] = { atomic_load(&place->pid), 0 };

		if (!words[0] || rr_shim_kernel_call(SYS_kill, words) != 0)
			found = place;
	}
	return found ? found : place_of(pid, 0);
}

/* A process and its parent both do so, in any order. Where the lock is not free for long, its holder
 * was killed. */
static void note_process(int pid, uint64_t key, int shown)
{
	struct rr_program_page *page = rr_shim_page();
	const int64_t until_ns = rr_shim_kernel_ns() + REGISTERED_NS;
	const int why = errno;
	struct rr_shim_process *place;

	while (atomic_exchange(&page->is_registering, 1) && rr_shim_kernel_ns() < until_ns)
		rr_shim_kernel_call(SYS_sched_yield, (const long[6]){ 0 });
	place = choose_place(pid);
	if (atomic_load(&place->pid) != pid || atomic_load(&place->shown) != shown) {
		atomic_store(&place->pid, 0);
		atomic_store(&place->shown, shown);
		atomic_store(&place->is_told, 0);
	}
	atomic_store(&place->key, key);
	atomic_store(&place->n_unseen, 0);
	atomic_store(&place->n_spawning, 0);
	atomic_store(&place->pid, pid);
	atomic_store(&page->is_registering, 0);
	errno = why;
}

/* The parent of a child that was made with that key: what it is told of it. The child may be another
 * program by now. */
static int note_child(int pid, uint64_t key)
{
	const int shown = shown_of_key(key);
	struct rr_shim_process *child = find_process(pid);

	if (!child || atomic_load(&child->shown) != shown) {
		note_process(pid, key, shown);
		child = find_process(pid);
	}
	if (!atomic_load(&rr_shim_page()->fixes_pids) || !child)
		return pid;
	atomic_store(&child->is_told, 1);
	return shown;
}

/* This process has that key from now on, and so has the thread that is left in it. */
static void become(uint64_t key, int shown)
{
	const int pid = rr_shim_real_pid();

	note_process(pid, key, shown);
	atomic_store(&process.pid, pid);
	atomic_store(&process.shown, shown);
	atomic_store(&process.key, key);
	stream.key = key;
	stream.n_words = stream.n_children = 0;
}

static void begin_process(uint64_t key)
{
	become(key, shown_of_key(key));
}

static uint64_t own_key(void)
{
	if (!stream.key)
		stream.key = key_of(atomic_load(&process.key), KIND_THREAD,
				    ~atomic_fetch_add(&process.n_unseen, 1));
	return stream.key;
}

void rr_shim_begin_random(void)
{
	struct rr_program_page *page = rr_shim_page();
	struct rr_shim_process *parent =
		find_process((int)rr_shim_kernel_call(SYS_getppid, (const long[6]){ 0 }));
	/* Whoever spawns a child says what its key is, perhaps after that has begun. */
	const int pid = rr_shim_real_pid();
	const int64_t until_ns = rr_shim_kernel_ns() + REGISTERED_NS;

	while (!find_process(pid) && parent && atomic_load(&parent->n_spawning) > 0 &&
	       rr_shim_kernel_ns() < until_ns)
		rr_shim_kernel_call(SYS_sched_yield, (const long[6]){ 0 });
	const struct rr_shim_process *self = find_process(pid);

	if (self)
		become(key_of(atomic_load(&self->key), KIND_PROGRAM, 0), atomic_load(&self->shown));
	else if (parent)
		begin_process(key_of(atomic_load(&parent->key), KIND_UNSEEN_CHILD,
				     atomic_fetch_add(&parent->n_unseen, 1)));
	else
		begin_process(key_of(atomic_load(&page->random_key), KIND_STRAY,
				     atomic_fetch_add(&page->n_strays, 1)));
}

/* A child that was made by clone(2) itself has no key yet. */
static void see_process(void)
{
	if (atomic_load(&process.pid) != rr_shim_real_pid())
		rr_shim_begin_random();
}

/* ---- Process ids ------------------------------------------------------------------------- */

int rr_shim_own_pid(void)
{
	see_process();
	return atomic_load(&process.shown);
}

int rr_shim_own_tid(void)
{
	return rr_shim_real_tid() == rr_shim_real_pid() ? rr_shim_own_pid() :
							  shown_of_key(own_key());
}

int rr_shim_shown_pid(int pid, bool is_child)
{
	const struct rr_shim_process *found = pid > 0 ? find_process(pid) : NULL;

	if (pid <= 0 || (is_child && !(found && atomic_load(&found->is_told))))
		return pid;
	return found ? atomic_load(&found->shown) : RR_PIDS_FIRST;
}

int rr_shim_real_pid_of(int shown)
{
	const struct rr_program_page *page = rr_shim_page();

	if (!page || shown <= RR_PIDS_FIRST || !atomic_load(&page->fixes_pids))
		return shown;
	for (size_t i = 0; i < RR_SHIM_PROCESSES; i++) {
		if (atomic_load(&page->processes[i].shown) == shown)
			return atomic_load(&page->processes[i].pid);
	}
	return shown == rr_shim_own_tid() ? rr_shim_real_tid() : shown;
}

/* ---- Processes and threads that are made ----------------------------------------------- */

pid_t fork(void)
{
	const uint64_t key = rr_shim_page() ? key_of(own_key(), KIND_CHILD, ++stream.n_children) :
					      0;
	const pid_t pid = RR_SHIM_NEXT(fork)();

	if (pid == 0 && key)
		begin_process(key);
	return pid > 0 && key ? note_child(pid, key) : pid;
}

/* It may be a fork(2), and a function that returned twice from here could not return. */
pid_t vfork(void)
{
	return fork();
}

typedef int spawn_function(pid_t *restrict pid, const char *restrict path,
			   const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
			   char *const environment[restrict]);

static int spawn(spawn_function *next, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const argv[], char *const environment[])
{
	struct rr_shim_process *self = rr_shim_page() ? find_process(rr_shim_real_pid()) : NULL;
	pid_t child;
	int result;

	if (!self)
		return next(pid, path, actions, attributes, argv, environment);
	atomic_fetch_add(&self->n_spawning, 1);
	result = next(&child, path, actions, attributes, argv, environment);
	if (result == 0) {
		child = note_child(child, key_of(own_key(), KIND_CHILD, ++stream.n_children));
		if (pid)
			*pid = child;
	}
	atomic_fetch_sub(&self->n_spawning, 1);
	return result;
}

int posix_spawn(pid_t *restrict pid, const char *restrict path,
		const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
		char *const environment[restrict])
{
	return spawn(RR_SHIM_NEXT(posix_spawn), pid, path, actions, attributes, argv, environment);
}

int posix_spawnp(pid_t *restrict pid, const char *restrict file,
		 const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
		 char *const environment[restrict])
{
	return spawn(RR_SHIM_NEXT(posix_spawnp), pid, file, actions, attributes, argv, environment);
}

/* What a thread is to do, with its key. */
struct beginning {
	void *(*function)(void *);
	void *argument;
	uint64_t key;
};

static void *begin_thread(void *context)
{
	const struct beginning beginning = *(struct beginning *)context;

	free(context);
	stream.key = beginning.key;
	return beginning.function(beginning.argument);
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
		   void *(*function)(void *), void *restrict argument)
{
	struct beginning *beginning = rr_shim_page() ? malloc(sizeof(*beginning)) : NULL;
	int result;

	if (!beginning)
		return RR_SHIM_NEXT(pthread_create)(thread, attributes, function, argument);
	*beginning = (struct beginning){ function, argument,
					 key_of(own_key(), KIND_THREAD, ++stream.n_children) };
	result = RR_SHIM_NEXT(pthread_create)(thread, attributes, begin_thread, beginning);
	if (result != 0)
		free(beginning);
	return result;
}

/* ---- Drawing --------------------------------------------------------------------------- */

/* From that word of a stream on. */
static void fill(uint64_t key, uint64_t first, void *bytes, size_t n)
{
	for (size_t at = 0; at < n; at += sizeof(key)) {
		const uint64_t word = word_of(key, first + at / sizeof(key));
		const size_t left = n - at;

		memcpy((char *)bytes + at, &word, left < sizeof(word) ? left : sizeof(word));
	}
}

bool rr_shim_draw(void *bytes, size_t n)
{
	struct rr_program_page *page = rr_shim_page();

	if (!page)
		return false;
	see_process();
	fill(own_key(), stream.n_words + 1, bytes, n);
	stream.n_words += (n + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	atomic_fetch_add(&page->n_drawn, n);
	return true;
}

/* The kernel says what is wrong with flags that it does not know. */
ssize_t getrandom(void *bytes, size_t n, unsigned flags)
{
	const long words[6] = { (long)bytes, (long)n, (long)flags };

	if (!(flags & ~(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE)) && rr_shim_draw(bytes, n))
		return (ssize_t)n;
	return rr_shim_kernel_call(SYS_getrandom, words);
}

int getentropy(void *bytes, size_t n)
{
	if (n <= ENTROPY_MAX)
		return getrandom(bytes, n, 0) == (ssize_t)n ? 0 : -1;
	errno = EIO;
	return -1;
}

void arc4random_buf(void *bytes, size_t n)
{
	if (!rr_shim_draw(bytes, n))
		RR_SHIM_NEXT(arc4random_buf)(bytes, n);
}

uint32_t arc4random(void)
{
	uint32_t number;

	arc4random_buf(&number, sizeof(number));
	return number;
}

uint32_t arc4random_uniform(uint32_t bound)
{
	uint64_t number;

	arc4random_buf(&number, sizeof(number));
	return bound ? (uint32_t)(number % bound) : 0;
}

/* ---- Names of temporary files ------------------------------------------------------------ */

/* The C library draws them by itself. Replaces six Xs until `make` does not find that the name is
 * there: returns what it does. */
static int make_temporary(char *name, int n_suffix, int flags, int (*make)(const char *, int))
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	const size_t length = strlen(name), n_fixed = TEMPORARY_LETTERS + (size_t)n_suffix;
	char *at = name + length - n_fixed;
	int made = -1;

	if (n_suffix < 0 || length < n_fixed || strspn(at, "X") < TEMPORARY_LETTERS) {
		errno = EINVAL;
		return -1;
	}
	for (int i = 0; i < TEMPORARY_TRIES && made < 0; i++) {
		uint64_t drawn;

		if (!rr_shim_draw(&drawn, sizeof(drawn)))
			rr_shim_kernel_call(SYS_getrandom,
					    (const long[6]){ (long)&drawn, sizeof(drawn) });
		for (int j = 0; j < TEMPORARY_LETTERS; j++, drawn /= sizeof(letters) - 1)
			at[j] = letters[drawn % (sizeof(letters) - 1)];
		made = make(name, flags);
		if (made < 0 && errno != EEXIST)
			return made;
	}
	return made;
}

static int make_file(const char *path, int flags)
{
	return open(path, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
}

static int make_directory(const char *path, int flags)
{
	(void)flags;
	return mkdir(path, 0700);
}

int mkostemps(char *name, int n_suffix, int flags)
{
	return make_temporary(name, n_suffix, flags, make_file);
}

int mkostemp(char *name, int flags)
{
	return mkostemps(name, 0, flags);
}

int mkstemps(char *name, int n_suffix)
{
	return mkostemps(name, n_suffix, 0);
}

int mkstemp(char *name)
{
	return mkostemps(name, 0, 0);
}

int mkostemps64(char *, int, int) __attribute__((alias("mkostemps")));
int mkostemp64(char *, int) __attribute__((alias("mkostemp")));
int mkstemps64(char *, int) __attribute__((alias("mkstemps")));
int mkstemp64(char *) __attribute__((alias("mkstemp")));

char *mkdtemp(char *name)
{
	return make_temporary(name, 0, 0, make_directory) < 0 ? NULL : name;
}

/* ---- The devices ----------------------------------------------------------------------- */

static void write_all(int fd, const void *bytes, size_t n)
{
	const long words[6] = { fd, (long)bytes, (long)n };

	rr_shim_kernel_call(SYS_write, words);
}

/* The kernel's generator of UUIDs, once. */
static void write_uuid(int fd)
{
	unsigned char bytes[16];
	char text[38];

	rr_shim_draw(bytes, sizeof(bytes));
	bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
	for (int i = 0, at = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text[at++] = '-';
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%02x", bytes[i]);
	}
	text[36] = '\n';
	write_all(fd, text, 37);
}

#define UUID_PATH "/proc/sys/kernel/random/uuid"

bool rr_shim_is_random_device(const char *path)
{
	return rr_shim_page() && path &&
	       (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0 ||
		strcmp(path, UUID_PATH) == 0);
}

int rr_shim_open_random(const char *path, bool closes)
{
	const int fd = memfd_create("random", closes ? MFD_CLOEXEC : 0);
	const long begin[6] = { fd, 0, SEEK_SET };

	if (fd < 0)
		return fd;
	see_process();
	if (strcmp(path, UUID_PATH) == 0) {
		write_uuid(fd);
	} else {
		/* All of a stream of its own. */
		const uint64_t key = key_of(own_key(), KIND_FILE, ++stream.n_children);
		uint64_t block[BLOCK_WORDS];

		for (uint64_t i = 0; i < FILE_BLOCKS; i++) {
			fill(key, i * BLOCK_WORDS + 1, block, sizeof(block));
			write_all(fd, block, sizeof(block));
		}
		atomic_fetch_add(&rr_shim_page()->n_drawn, 1);
	}
	rr_shim_kernel_call(SYS_lseek, begin);
	return fd;
}

/* The C library opens the file without asking open(2) of this library. */
FILE *fopen(const char *path, const char *mode)
{
	char real[RR_SHIM_PROC_PATH];
	int fd;

	if (!rr_shim_is_random_device(path)) {
		if (strpbrk(mode, "wa"))
			rr_shim_note_made(path);
		return RR_SHIM_NEXT(fopen)(rr_shim_real_path(path, real), mode);
	}
	fd = rr_shim_open_random(path, strchr(mode, 'e'));
	return fd < 0 ? NULL : fdopen(fd, "r");
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));
