/* SPDX-License-Identifier: MIT */
/*
 * The filter that a watched process installs before it becomes the program: the kernel asks redrace
 * about each connect(2) of it and of its children, and about each call that may change a file by its
 * name. Where all files matter, the kernel asks about each call
 * that names a file, too, unless the preloaded library has noted the path itself and says so in the
 * sixth argument: one question costs two switches between processes. What would connect or open unseen
 * is refused as by a kernel that lacks it: TCP Fast Open in sendto(2), sendmsg(2) and sendmmsg(2), and
 * io_uring.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/marks.h"
#include "guardian.h"
#include "guardian_protocol.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

#ifdef NATIVE

#define HERE (-1)
#define AT(directory, path)     \
	{                       \
		directory, path \
	}

/* Those of open flags that may change a file: other ones only read. */
enum { WRITE_FLAGS = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };

static const struct rr_write_call write_calls[] = {
#ifdef SYS_open
	{ SYS_open, 1, RR_WRITES_BY_FLAGS, 1, { AT(HERE, 0) } },
	{ SYS_creat, 1, RR_WRITES_CREAT, 0, { AT(HERE, 0) } },
	{ SYS_mkdir, 1, RR_WRITES_NEW, 0, { AT(HERE, 0) } },
	{ SYS_mknod, 1, RR_WRITES_NEW, 0, { AT(HERE, 0) } },
	{ SYS_link, 1, RR_WRITES_NEW, 0, { AT(HERE, 1) } },
	{ SYS_symlink, 1, RR_WRITES_NEW, 0, { AT(HERE, 1) } },
	{ SYS_rename, 2, RR_WRITES_MOVES, 0, { AT(HERE, 0), AT(HERE, 1) } },
	{ SYS_unlink, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_rmdir, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_chmod, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_chown, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_lchown, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_utime, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_utimes, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_futimesat, 1, RR_WRITES_THERE, 0, { AT(0, 1) } },
#endif
#ifdef SYS_renameat
	{ SYS_renameat, 2, RR_WRITES_MOVES, 0, { AT(0, 1), AT(2, 3) } },
#endif
	{ SYS_openat, 1, RR_WRITES_BY_FLAGS, 2, { AT(0, 1) } },
	{ SYS_openat2, 1, RR_WRITES_BY_HOW, 2, { AT(0, 1) } },
	{ SYS_mkdirat, 1, RR_WRITES_NEW, 0, { AT(0, 1) } },
	{ SYS_mknodat, 1, RR_WRITES_NEW, 0, { AT(0, 1) } },
	{ SYS_linkat, 1, RR_WRITES_NEW, 0, { AT(2, 3) } },
	{ SYS_symlinkat, 1, RR_WRITES_NEW, 0, { AT(1, 2) } },
	{ SYS_renameat2, 2, RR_WRITES_MOVES, 0, { AT(0, 1), AT(2, 3) } },
	{ SYS_unlinkat, 1, RR_WRITES_THERE, 0, { AT(0, 1) } },
	{ SYS_truncate, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_fchmodat, 1, RR_WRITES_THERE, 0, { AT(0, 1) } },
	{ SYS_fchownat, 1, RR_WRITES_THERE, 0, { AT(0, 1) } },
	{ SYS_utimensat, 1, RR_WRITES_THERE, 0, { AT(0, 1) } },
	{ SYS_setxattr, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_lsetxattr, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_removexattr, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_lremovexattr, 1, RR_WRITES_THERE, 0, { AT(HERE, 0) } },
	{ SYS_fchmod, 1, RR_WRITES_THERE, 0, { AT(0, RR_NO_PATH) } },
	{ SYS_fchown, 1, RR_WRITES_THERE, 0, { AT(0, RR_NO_PATH) } },
	{ SYS_fsetxattr, 1, RR_WRITES_THERE, 0, { AT(0, RR_NO_PATH) } },
	{ SYS_fremovexattr, 1, RR_WRITES_THERE, 0, { AT(0, RR_NO_PATH) } },
	{ SYS_chroot, 0, RR_WRITES_ELSEWHERE, 0, { AT(HERE, 0) } },
	{ SYS_pivot_root, 0, RR_WRITES_ELSEWHERE, 0, { AT(HERE, 0) } },
	{ SYS_mount, 0, RR_WRITES_ELSEWHERE, 0, { AT(HERE, 0) } },
	{ SYS_shmget, 0, RR_WRITES_KEYED, 0, { AT(HERE, 0) } },
	{ SYS_semget, 0, RR_WRITES_KEYED, 0, { AT(HERE, 0) } },
	{ SYS_msgget, 0, RR_WRITES_KEYED, 0, { AT(HERE, 0) } },
	{ SYS_mq_open, 0, RR_WRITES_KEYED, 0, { AT(HERE, 0) } },
};

enum { COUNT_WRITES = sizeof(write_calls) / sizeof(write_calls[0]) };

/* Calls that name a file and change none. */
static const unsigned file_calls[] = {
#ifdef SYS_open
	SYS_open,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
#endif
	SYS_openat,
	SYS_openat2,
	SYS_newfstatat,
	SYS_statx,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_readlinkat,
	SYS_execve,
	SYS_execveat,
	SYS_chdir,
	SYS_inotify_add_watch,
};

/* And of programs of 32 bits on x86, whose files are not known: execve, open, openat. */
static const unsigned i386_calls[] = { 11, 5, 295 };

enum { COUNT_FILES = sizeof(file_calls) / sizeof(file_calls[0]), FILTER_MAX = 250 };

struct filter {
	unsigned short n;
	struct sock_filter all[FILTER_MAX];
};

static void add(struct filter *filter, struct sock_filter instruction)
{
	filter->all[filter->n++] = instruction;
}

#define LOAD(offset) add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset))
#define LOAD_FIELD(name) LOAD(offsetof(struct seccomp_data, name))
#define LOAD_ARGUMENT(i) LOAD(offsetof(struct seccomp_data, args) + 8 * (i))
#define LOAD_HIGH(i) LOAD(offsetof(struct seccomp_data, args) + 8 * (i) + 4)
#define JUMP(test, value, n_true, n_false) \
	add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | (test) | BPF_K, value, n_true, n_false))
#define SKIP_UNLESS(value, n) JUMP(BPF_JEQ, value, 0, n)
#define SKIP_IF(value, n) JUMP(BPF_JEQ, value, n, 0)
#define SKIP_UNLESS_SET(bits, n) JUMP(BPF_JSET, bits, 0, n)
#define RETURN(action) add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action))
#define REFUSE(number) RETURN(SECCOMP_RET_ERRNO | (number))

/* Returns the listener on which the kernel asks; -1: errno. `flags` beside that there is one. */
static int install(unsigned flags, bool files)
{
	const unsigned char n = sizeof(i386_calls) / sizeof(i386_calls[0]);
	struct filter whole = { .n = 0 }, *filter = &whole;
	struct sock_fprog program = { .filter = whole.all };

	/* Programs of 32 bits on x86 have other numbers, and one for all calls of sockets, too. */
	LOAD_FIELD(arch);
	SKIP_UNLESS(AUDIT_ARCH_I386, (unsigned char)(8 + 2 * n));
	LOAD_FIELD(nr);
	for (unsigned char i = 0; i < n; i++) {
		SKIP_UNLESS(i386_calls[i], 1);
		RETURN(SECCOMP_RET_USER_NOTIF);
	}
	SKIP_UNLESS(RR_I386_CONNECT, 1);
	RETURN(SECCOMP_RET_USER_NOTIF);
	SKIP_UNLESS(RR_I386_SOCKETCALL, 3);
	LOAD_ARGUMENT(0);
	SKIP_UNLESS(RR_I386_SOCKETCALL_CONNECT, 1);
	RETURN(SECCOMP_RET_USER_NOTIF);
	RETURN(SECCOMP_RET_ALLOW);
	LOAD_FIELD(arch);
	SKIP_IF(NATIVE, 1);
	RETURN(SECCOMP_RET_ALLOW);
	LOAD_FIELD(nr);
	SKIP_UNLESS(SYS_connect, 1);
	RETURN(SECCOMP_RET_USER_NOTIF);
	SKIP_UNLESS(SYS_io_uring_setup, 1);
	REFUSE(ENOSYS);
	SKIP_UNLESS(SYS_sendmsg, 4);
	LOAD_ARGUMENT(2);
	SKIP_UNLESS_SET(MSG_FASTOPEN, 1);
	REFUSE(EOPNOTSUPP);
	RETURN(SECCOMP_RET_ALLOW);
	SKIP_IF(SYS_sendto, 1);
	SKIP_UNLESS(SYS_sendmmsg, 4);
	LOAD_ARGUMENT(3);
	SKIP_UNLESS_SET(MSG_FASTOPEN, 1);
	REFUSE(EOPNOTSUPP);
	RETURN(SECCOMP_RET_ALLOW);
	for (unsigned i = 0; i < COUNT_WRITES; i++) {
		if (write_calls[i].how != RR_WRITES_BY_FLAGS) {
			SKIP_UNLESS(write_calls[i].number, 1);
			RETURN(SECCOMP_RET_USER_NOTIF);
			continue;
		}
		/* The library says so, too, of a file that holds no state. */
		SKIP_UNLESS(write_calls[i].number, 9);
		LOAD_ARGUMENT(write_calls[i].flags);
		SKIP_UNLESS_SET(WRITE_FLAGS, 6);
		LOAD_ARGUMENT(5);
		SKIP_UNLESS((unsigned)RR_NOTED_CALL, 3);
		LOAD_HIGH(5);
		SKIP_UNLESS((unsigned)(RR_NOTED_CALL >> 32), 1);
		RETURN(SECCOMP_RET_ALLOW);
		RETURN(SECCOMP_RET_USER_NOTIF);
		LOAD_FIELD(nr);
	}
	/* A call that names a file is asked about; not one of an open file alone, as fstat(3) makes
	 * it. */
	if (files) {
		for (unsigned i = 0; i < COUNT_FILES; i++)
			SKIP_IF(file_calls[i], (unsigned char)(COUNT_FILES - i));
		RETURN(SECCOMP_RET_ALLOW);
		SKIP_UNLESS(SYS_newfstatat, 3);
		LOAD_ARGUMENT(3);
		SKIP_UNLESS(AT_EMPTY_PATH, 5);
		RETURN(SECCOMP_RET_ALLOW);
		SKIP_UNLESS(SYS_statx, 3);
		LOAD_ARGUMENT(2);
		SKIP_UNLESS(AT_EMPTY_PATH, 1);
		RETURN(SECCOMP_RET_ALLOW);
		LOAD_ARGUMENT(5);
		SKIP_UNLESS((unsigned)RR_NOTED_CALL, 3);
		LOAD_HIGH(5);
		SKIP_UNLESS((unsigned)(RR_NOTED_CALL >> 32), 1);
		RETURN(SECCOMP_RET_ALLOW);
		RETURN(SECCOMP_RET_USER_NOTIF);
	} else {
		RETURN(SECCOMP_RET_ALLOW);
	}
	program.len = whole.n;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    flags | SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

const struct rr_write_call *rr_write_call_find(long number)
{
	for (size_t i = 0; i < COUNT_WRITES; i++) {
		if ((long)write_calls[i].number == number)
			return &write_calls[i];
	}
	return NULL;
}

int guardian_watch(bool files)
{
	/* A call that redrace has begun to deal with is not begun again after a signal. */
	const unsigned wanted = SECCOMP_FILTER_FLAG_SPEC_ALLOW |
				SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	int listener = install(wanted, files);

	/* Without the right to administrate the system a filter is for who gains no rights. */
	if (listener < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		listener = install(wanted, files);
	if (listener < 0 && errno == EINVAL)
		listener = install(SECCOMP_FILTER_FLAG_SPEC_ALLOW, files);
	return listener;
}

#else

const struct rr_write_call *rr_write_call_find(long number)
{
	(void)number;
	return NULL;
}

int guardian_watch(bool files)
{
	(void)files;
	errno = ENOSYS;
	return -1;
}

#endif
