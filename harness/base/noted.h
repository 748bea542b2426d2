/* SPDX-License-Identifier: MIT */
/* The sixth argument of a system call that names a file, and has no sixth argument. A preloaded
 * library says so that it has noted the path (party/program_page.h), and the kernel need not ask
 * redrace about the call (cluster/guardian_watch.c). */
#ifndef RR_NOTED_H
#define RR_NOTED_H

#include <stdint.h>

#define RR_NOTED_CALL UINT64_C(0x7265647261636521)

#endif
