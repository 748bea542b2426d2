/* SPDX-License-Identifier: MIT */
/*
 * The filter that a watched process installs before it becomes the program: the kernel asks redrace
 * about each connect(2) of it and of its children. What would connect unseen is refused as by a
 * kernel that lacks it: TCP Fast Open in sendto(2), sendmsg(2) and sendmmsg(2), and io_uring.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guardian.h"
#include "guardian_protocol.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

#ifdef NATIVE

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define LOAD_FIELD(name) LOAD(offsetof(struct seccomp_data, name))
#define LOAD_ARGUMENT(i) LOAD(offsetof(struct seccomp_data, args) + 8 * (i))
#define SKIP_UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n)
#define SKIP_IF(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, n, 0)
#define SKIP_UNLESS_SET(bits, n) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, n)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define REFUSE(number) RETURN(SECCOMP_RET_ERRNO | (number))

/* Returns the listener on which the kernel asks; -1: errno. `flags` beside that there is one. */
static int install(unsigned flags)
{
	/* Programs of 32 bits on x86 have other numbers, and one for all calls of sockets, too. */
	struct sock_filter filter[] = {
		LOAD_FIELD(arch),
		SKIP_UNLESS(AUDIT_ARCH_I386, 8),
		LOAD_FIELD(nr),
		SKIP_UNLESS(RR_I386_CONNECT, 1),
		RETURN(SECCOMP_RET_USER_NOTIF),
		SKIP_UNLESS(RR_I386_SOCKETCALL, 3),
		LOAD_ARGUMENT(0),
		SKIP_UNLESS(RR_I386_SOCKETCALL_CONNECT, 1),
		RETURN(SECCOMP_RET_USER_NOTIF),
		RETURN(SECCOMP_RET_ALLOW),

		SKIP_IF(NATIVE, 1),
		RETURN(SECCOMP_RET_ALLOW),
		LOAD_FIELD(nr),
		SKIP_UNLESS(SYS_connect, 1),
		RETURN(SECCOMP_RET_USER_NOTIF),
		SKIP_UNLESS(SYS_io_uring_setup, 1),
		REFUSE(ENOSYS),
		SKIP_UNLESS(SYS_sendmsg, 4),
		LOAD_ARGUMENT(2),
		SKIP_UNLESS_SET(MSG_FASTOPEN, 1),
		REFUSE(EOPNOTSUPP),
		RETURN(SECCOMP_RET_ALLOW),
		SKIP_IF(SYS_sendto, 1),
		SKIP_UNLESS(SYS_sendmmsg, 3),
		LOAD_ARGUMENT(3),
		SKIP_UNLESS_SET(MSG_FASTOPEN, 1),
		REFUSE(EOPNOTSUPP),
		RETURN(SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    flags | SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

int guardian_watch(void)
{
	/* A call that redrace has begun to deal with is not begun again after a signal. */
	const unsigned wanted = SECCOMP_FILTER_FLAG_SPEC_ALLOW |
				SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	int listener = install(wanted);

	/* Without the right to administrate the system a filter is for who gains no rights. */
	if (listener < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		listener = install(wanted);
	if (listener < 0 && errno == EINVAL)
		listener = install(SECCOMP_FILTER_FLAG_SPEC_ALLOW);
	return listener;
}

#else

int guardian_watch(void)
{
	errno = ENOSYS;
	return -1;
}

#endif
