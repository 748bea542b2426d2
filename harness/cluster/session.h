/* SPDX-License-Identifier: MIT */
/* What every subcommand that runs something needs: signals, the guardian and
 * a fleet of servers, opened together and closed together. */
#ifndef RR_SESSION_H
#define RR_SESSION_H

#include "fleet.h"

struct rr_session {
	struct rr_signals signals;
	struct rr_guardian guardian;
	char prefix[32]; /* of every key */
};

/* Before any thread or connection exists. Complains by itself. */
enum rr_exit rr_session_open(struct rr_session *session);

/* Ends the guardian, and with it all servers. Safe after a failed open. */
void rr_session_close(struct rr_session *session);

/* A fleet of private servers, none started yet; cpu -1 = not pinned. */
struct rr_fleet rr_session_private_fleet(struct rr_session *session,
					 const char *program,
					 enum rr_persistence persistence,
					 int cpu);

/* A fleet of the user's own servers. Their keys are entrusted to the guardian;
 * each is asked for a PING. Complains by itself. */
enum rr_exit rr_session_own_fleet(struct rr_session *session,
				  struct rr_fleet *fleet,
				  const struct rl_address *addresses, size_t n,
				  int n_keys);

#endif
