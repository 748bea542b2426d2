/* SPDX-License-Identifier: MIT */
/*
 * What the program that stands for an app and its requests (party/app/app.c) tells redrace, as
 * arguments of ECHO on a connection of each request, and on one more:
 *
 *	redrace:request 2	the request may begin; answered when it does
 *	redrace:answer 2	its answer is written down
 *	redrace:end		all have their answers; answered when the app waits
 *
 * In races the requests and their answers stand behind these words instead of the number.
 *
 * A request that begins with RR_MARK_LINE is no command, but a line for the app's standard input.
 *
 * An answer is written down in records: RR_MARK_RECORD, the request's number, its exit status, the
 * HTTP status that the app sent last (0 = none), and from the next line on what it has printed, as
 * much as is written in one piece; the next record goes on. There a byte RR_MARK_RECORD or
 * RR_MARK_ESCAPE is RR_MARK_ESCAPE and the byte with RR_MARK_ESCAPED changed. A record of number 0 is
 * about an app that has ended by itself, with its status and the last line that it has printed.
 */
#ifndef RR_MARKS_H
#define RR_MARKS_H

#include <stdint.h>

#define RR_MARK_REQUEST "redrace:request "
#define RR_MARK_ANSWER "redrace:answer "
#define RR_MARK_END "redrace:end"
#define RR_MARK_RECORD '\x1e'
#define RR_MARK_ESCAPE '\x1f'
#define RR_MARK_ESCAPED 0x40
#define RR_MARK_LINE '\n'

/* What stands behind the commands of a connection that a program has closed: RESET, not spelled as
 * a client's own, for it is drawn as what it is. */
#define RR_MARK_CLOSED "Reset"

/* What the program exits with that has written in one line why there is nothing to be
 * checked. */
enum { RR_APP_FAILED = 97, RR_REQUESTS_MAX = 8 };

/* The sixth argument of a system call that names a file, and has no sixth argument. A preloaded
 * library says so that it has noted the path (party/program_page.h), and the kernel need not ask
 * redrace about the call (cluster/guardian_watch.c). */
#define RR_NOTED_CALL UINT64_C(0x7265647261636521)

#endif
