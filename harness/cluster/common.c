/* SPDX-License-Identifier: MIT */
/* What every part of a world needs: messages, and waiting. */
#include <stdarg.h>
#include <stdio.h>

#include "world_parts.h"

enum rr_exit world_fail(char error[RR_WORLD_ERROR], enum rr_exit code,
			const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, RR_WORLD_ERROR, format, arguments);
	va_end(arguments);
	return code;
}

enum rr_exit world_refused(const struct rr_server *server,
			   char error[RR_WORLD_ERROR])
{
	return world_fail(error, RR_EXIT_REDIS, "%s: %s", server->name,
			  rl_link_error(server->admin));
}

enum rr_exit world_need_shim(const struct rr_world *world,
			     char error[RR_WORLD_ERROR])
{
	if (rr_world_has_time(world))
		return RR_EXIT_OK;
	return world_fail(error, RR_EXIT_SKIPPED,
			  "this needs the clock shim, which this server does not run with");
}

int64_t world_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

bool world_wait(struct rr_world *world, int timeout_ms, int64_t *deadline_ns)
{
	const int64_t now_ns = world_clock_ns(CLOCK_MONOTONIC);

	if (*deadline_ns == 0)
		*deadline_ns = now_ns + timeout_ms * INT64_C(1000000);
	if (now_ns >= *deadline_ns || world->session->signals.interrupted)
		return false;
	rr_signals_wait(&world->session->signals, 1);
	return true;
}

enum rr_exit world_late(const struct rr_world *world, const char *what,
			char error[RR_WORLD_ERROR])
{
	if (world->session->signals.interrupted)
		return world_fail(error, RR_EXIT_INTERRUPTED, "interrupted");
	return world_fail(error, RR_EXIT_REDIS, "%s did not happen in time",
			  what);
}
