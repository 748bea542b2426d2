/* SPDX-License-Identifier: MIT */
/* Links and locks ask which process runs them; no fork may deceive them, with
 * the page that remembers the answer or without. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link.h"

static bool knows_itself(const struct rdl_link *link)
{
	return rdl_process(link) == getpid() && rdl_process(link) == getpid();
}

/* A child, and a child of it, whatever glibc knows of them. */
static void be_child(const struct rdl_link *link)
{
	const bool good = knows_itself(link);
	const long grandchild = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	int status = 1;

	if (grandchild == 0)
		_exit(!knows_itself(link));
	waitpid((pid_t)grandchild, &status, 0);
	_exit(!good || status != 0);
}

static void assert_no_fork_deceives(const struct rdl_link *link)
{
	int status = 1;
	pid_t pid;

	cr_assert(knows_itself(link));
	pid = fork();
	if (pid == 0)
		be_child(link);
	waitpid(pid, &status, 0);
	cr_assert_eq(status, 0);
	cr_assert(knows_itself(link));
}

Test(process, is_known_in_children_and_their_children)
{
	struct rdl_link link = { .process = rdl_process_page_new() };

	cr_assert_not_null(link.process, "Linux has MADV_WIPEONFORK since 4.14");
	assert_no_fork_deceives(&link);
	rdl_process_page_free(link.process);
}

Test(process, is_asked_for_each_time_where_there_can_be_no_page)
{
	const struct rdl_link link = { .process = NULL };

	assert_no_fork_deceives(&link);
}
