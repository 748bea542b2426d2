/* SPDX-License-Identifier: MIT */
/*
 * Which process runs this? Everything that a link or a lock holds belongs to
 * one, and a child that got a copy by fork() must not use it: each command asks
 * several times. getpid() is a system call, 14 of them for each increment under
 * a token lock and 50 under a quorum of five. The answer is kept on a page that
 * the kernel empties in the child of every fork, however that is made.
 */
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "link.h"

struct rdl_process_page {
	_Atomic pid_t process; /* 0 = not known here yet */
};

/* Emulators may take any advice and follow none. */
static bool is_advice_followed(void *page, size_t size)
{
	return madvise(page, size, -1) != 0 && madvise(page, size, MADV_WIPEONFORK) == 0;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

struct rdl_process_page *rdl_process_page_new(void)
{
	const size_t size = page_size();
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	if (is_advice_followed(page, size))
		return page;
	munmap(page, size);
	return NULL;
}

void rdl_process_page_free(struct rdl_process_page *page)
{
	if (page)
		munmap(page, page_size());
}

pid_t rdl_process(const struct rdl_link *link)
{
	struct rdl_process_page *page = link->process;
	pid_t process;

	if (!page)
		return getpid();
	process = atomic_load_explicit(&page->process, memory_order_relaxed);
	if (process)
		return process;
	process = getpid();
	atomic_store_explicit(&page->process, process, memory_order_relaxed);
	return process;
}
