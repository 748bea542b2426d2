/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"

enum { LIMIT_MS = 120000 };

/* The figure in the line "INCR","57636.89",... */
static bool parse(const struct rr_child *child, double *per_s)
{
	static const char begin[] = "\"INCR\",\"";
	char line[256];

	if (!rr_child_line(child, begin, line, sizeof(line)))
		return false;
	*per_s = strtod(line + strlen(begin), NULL);
	return *per_s > 0;
}

enum rr_exit rr_peer_incr(const struct rr_cluster *cluster, int connections,
			  long requests, double *per_s)
{
	char clients[16], number[24];
	const char *const argv[] = {
		"redis-benchmark", "-s", cluster->servers[0].address.host, "-t", "incr",
		"-c", clients, "-n", number, "--csv", NULL,
	};
	struct rr_child child;
	enum rr_exit code;

	snprintf(clients, sizeof(clients), "%d", connections);
	snprintf(number, sizeof(number), "%ld", requests);
	code = rr_child_run(&child, argv, cluster->options.cpu, LIMIT_MS, &cluster->session->signals);
	if (code != RR_EXIT_OK)
		return code;
	if (rr_child_exited(&child, RR_CHILD_NOT_FOUND))
		return rr_complain(RR_EXIT_SKIPPED,
				   "redis-benchmark is not on PATH; install redis-tools (make deps)");
	if (!parse(&child, per_s))
		return rr_complain(RR_EXIT_INTERNAL,
				   "redis-benchmark gave no result");
	return RR_EXIT_OK;
}
