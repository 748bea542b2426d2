/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <string.h>

enum rr_exit rr_session_open(struct rr_session *session)
{
	char error[400];

	*session = (struct rr_session){ .guardian.socket = -1 };
	if (!rr_signals_open(&session->signals))
		return rr_complain(RR_EXIT_INTERNAL, "cannot watch signals");
	if (!rr_keys_fresh_prefix(session->prefix))
		return rr_complain(RR_EXIT_INTERNAL, "no random bytes");
	if (!rr_guardian_start(&session->guardian, error, sizeof(error)))
		return rr_complain(RR_EXIT_FILE, "%s", error);
	return RR_EXIT_OK;
}

void rr_session_close(struct rr_session *session)
{
	rr_guardian_stop(&session->guardian);
	rr_signals_close(&session->signals);
}

struct rr_fleet rr_session_private_fleet(struct rr_session *session,
					 const char *program,
					 enum rr_persistence persistence,
					 int cpu)
{
	return (struct rr_fleet){
		.guardian = &session->guardian,
		.signals = &session->signals,
		.program = program,
		.persistence = persistence,
		.cpu = cpu,
		.is_private = true,
	};
}

static enum rr_exit greet(const struct rl_address *address)
{
	struct rl_link *link = rl_link_new(address, RR_TIMEOUT_MS);
	struct rl_reply reply;
	enum rr_exit code = RR_EXIT_OK;
	char where[300];

	if (!link)
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	rl_address_print(address, where, sizeof(where));
	if (rl_run(link, &reply, "PING") != RL_OK)
		code = rr_complain(RR_EXIT_REDIS, "cannot use %s: %s", where,
				   rl_link_error(link));
	rl_link_free(link);
	return code;
}

enum rr_exit rr_session_own_fleet(struct rr_session *session,
				  struct rr_fleet *fleet,
				  const struct rl_address *addresses, size_t n,
				  int n_keys)
{
	*fleet = (struct rr_fleet){ .guardian = &session->guardian,
				    .signals = &session->signals,
				    .cpu = -1 };
	for (size_t i = 0; i < n; i++) {
		struct rr_key_set keys = { .address = addresses[i],
					   .n_keys = n_keys };
		const enum rr_exit code = greet(&addresses[i]);

		if (code != RR_EXIT_OK)
			return code;
		memcpy(keys.prefix, session->prefix, sizeof(keys.prefix));
		if (!rr_guardian_own_keys(&session->guardian, &keys))
			return rr_complain(RR_EXIT_INTERNAL,
					   "the guardian process is gone");
		fleet->addresses[fleet->n_servers++] = addresses[i];
	}
	return RR_EXIT_OK;
}
