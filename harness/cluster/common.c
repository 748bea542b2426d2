/* SPDX-License-Identifier: MIT */
/* What every part of a cluster needs: messages, and waiting. */
#include <stdarg.h>
#include <stdio.h>

#include "cluster_parts.h"

enum rr_exit cluster_fail(char error[RR_CLUSTER_ERROR], enum rr_exit code,
			  const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, RR_CLUSTER_ERROR, format, arguments);
	va_end(arguments);
	return code;
}

enum rr_exit cluster_refused(const struct rr_server *server,
			     char error[RR_CLUSTER_ERROR])
{
	return cluster_fail(error, RR_EXIT_REDIS, "%s: %s", server->name,
			    rl_link_error(server->admin));
}

enum rr_exit cluster_need_shim(const struct rr_cluster *cluster,
			       char error[RR_CLUSTER_ERROR])
{
	if (rr_cluster_has_time(cluster))
		return RR_EXIT_OK;
	return cluster_fail(
		error, RR_EXIT_SKIPPED,
		"this needs the clock shim, which this server does not run with");
}

int64_t cluster_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

bool cluster_wait(struct rr_cluster *cluster, int timeout_ms,
		  int64_t *deadline_ns)
{
	const int64_t now_ns = cluster_clock_ns(CLOCK_MONOTONIC);

	if (*deadline_ns == 0)
		*deadline_ns = now_ns + timeout_ms * INT64_C(1000000);
	if (now_ns >= *deadline_ns || cluster->session->signals.interrupted)
		return false;
	rr_signals_wait(&cluster->session->signals, 1);
	return true;
}

enum rr_exit cluster_late(const struct rr_cluster *cluster, const char *what,
			  char error[RR_CLUSTER_ERROR])
{
	if (cluster->session->signals.interrupted)
		return cluster_fail(error, RR_EXIT_INTERRUPTED, "interrupted");
	return cluster_fail(error, RR_EXIT_REDIS, "%s did not happen in time",
			    what);
}
