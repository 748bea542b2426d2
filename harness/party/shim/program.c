/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program that is checked: its clocks stand still but for what the
 * page says, and sleeping and waiting for a time-out ends when redrace says so.
 *
 * This file maps the page and hands out its slots; clocks.c, sleeping.c,
 * descriptors.c, threads.c, alarms.c, files.c, pids.c and random.c stand for functions of the C library. Those
 * that it calls by itself are not seen. A static program keeps the kernel's time.
 *
 * Allocators read the clock while they start: until this library's constructor has
 * run, the kernel is asked. Nothing here allocates. A preloaded library has no caller
 * that could own its state: hence the static struct.
 */
#include "shim.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A look at whether the time is over comes after a part of the time that the wait has
 * lasted really: who is kept waiting for long costs little. */
#define LOOK_MIN_NS INT64_C(1000000)
#define LOOK_MAX_NS INT64_C(50000000)
enum { LOOK_PART = 4 };

static struct {
	struct rr_program_page *page;
} shim;

/* The linker of Go leaves a note of that name in the program, which comes first. */
static int look_for_go(struct dl_phdr_info *info, size_t size, void *found)
{
	static const char name[] = "Go";

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const ElfW(Nhdr) *note =
			(const void *)((const char *)info->dlpi_addr + header->p_vaddr);

		if (header->p_type == PT_NOTE && header->p_memsz >= sizeof(*note) + sizeof(name) &&
		    note->n_namesz >= sizeof(name) && memcmp(note + 1, name, sizeof(name)) == 0)
			*(int *)found = 1;
	}
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv(RR_PROGRAM_PAGE_VARIABLE);
	struct rr_program_page *page;
	int has_go = 0;
	const int fd = path ? (int)rr_shim_kernel_call(SYS_openat,
						       (const long[6]){ AT_FDCWD, (long)path,
									O_RDWR | O_CLOEXEC, 0, 0,
									(long)RR_NOTED_CALL }) :
			      -1;

	if (fd < 0)
		return;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return;
	shim.page = page;
	rr_shim_begin_random();
	dl_iterate_phdr(look_for_go, &has_go);
	if (has_go)
		atomic_store(&page->has_go, 1);
	if (dlsym(RTLD_DEFAULT, "uv_queue_work"))
		atomic_store(&page->has_uv, 1);
	rr_shim_note_libraries();
	atomic_store(&page->has_shim, 1);
}

/* More may have been loaded meanwhile. */
__attribute__((destructor)) static void end(void)
{
	if (shim.page)
		rr_shim_note_libraries();
}

struct rr_program_page *rr_shim_page(void)
{
	return shim.page;
}

int64_t rr_shim_ns(const struct timespec *time)
{
	const int64_t most = INT64_MAX / RR_SHIM_SECOND_NS / 4;

	if (time->tv_sec > most)
		return most * RR_SHIM_SECOND_NS;
	return time->tv_sec * RR_SHIM_SECOND_NS + time->tv_nsec;
}

/* ---- Slots --------------------------------------------------------------------- */

bool rr_shim_wait_begin(struct rr_shim_wait *wait, int64_t duration_ns)
{
	const int thread = rr_shim_real_tid();
	struct rr_waiter *slot = NULL;

	if (!shim.page)
		return false;
	rr_shim_forget_reads();
	/* A signal's handler may have left a wait by longjmp(). */
	for (int i = 0; i < RR_WAITERS_MAX; i++) {
		struct rr_waiter *left = &shim.page->waiters[i];

		if (atomic_load(&left->thread) == thread) {
			atomic_store(&left->thread, 0);
			atomic_store(&left->state, RR_WAITER_NONE);
		}
	}
	for (int i = 0; i < RR_WAITERS_MAX && !slot; i++) {
		int none = RR_WAITER_NONE;

		if (atomic_compare_exchange_strong(&shim.page->waiters[i].state, &none,
						   RR_WAITER_TAKEN))
			slot = &shim.page->waiters[i];
	}
	if (!slot)
		return false;
	atomic_store(&slot->thread, thread);
	*wait = (struct rr_shim_wait){ slot, atomic_fetch_add(&slot->ticket, 1) + 1,
				       rr_shim_kernel_ns() };
	atomic_store(&slot->is_brief, 0);
	atomic_store(&slot->until_ns, atomic_load(&shim.page->passed_ns) + duration_ns);
	atomic_store(&slot->state, RR_WAITER_WAITS);
	return true;
}

/* A slot that is another's by now was taken away, because its time was over. */
bool rr_shim_wait_is_over(const struct rr_shim_wait *wait)
{
	return atomic_load(&wait->slot->state) != RR_WAITER_WAITS ||
	       atomic_load(&wait->slot->ticket) != wait->ticket;
}

void rr_shim_wait_end(struct rr_shim_wait *wait)
{
	if (atomic_load(&wait->slot->ticket) != wait->ticket)
		return;
	atomic_store(&wait->slot->thread, 0);
	atomic_store(&wait->slot->state, RR_WAITER_NONE);
}

/* ---- Looks --------------------------------------------------------------------- */

static int64_t look_ns(const struct rr_shim_wait *wait, int64_t now_ns)
{
	const int64_t part_ns = (now_ns - wait->begun_ns) / LOOK_PART;

	if (part_ns < LOOK_MIN_NS)
		return LOOK_MIN_NS;
	return part_ns < LOOK_MAX_NS ? part_ns : LOOK_MAX_NS;
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ ns / RR_SHIM_SECOND_NS, ns % RR_SHIM_SECOND_NS };
}

struct timespec rr_shim_look(const struct rr_shim_wait *wait)
{
	return timespec_of(look_ns(wait, rr_shim_kernel_ns()));
}

struct timespec rr_shim_look_end(const struct rr_shim_wait *wait)
{
	const int64_t now_ns = rr_shim_kernel_ns();

	return timespec_of(now_ns + look_ns(wait, now_ns));
}
