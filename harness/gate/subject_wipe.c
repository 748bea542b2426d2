/* SPDX-License-Identifier: MIT */
/* A server that forgets everything, as a restart without files makes it do. */
#include "subject_inside.h"

void rr_subject_wipe(struct rr_subject *subject, int server)
{
	struct rl_link *link = subject->servers[server];
	struct rl_reply reply;

	subject->is_wiped = true;
	rr_gate_disconnect(subject->gate, server);
	rl_run(link, &reply, "FLUSHALL");
	rl_run(link, &reply, "SCRIPT FLUSH");
	rl_run(link, &reply, "CLIENT KILL TYPE pubsub");
	rl_run(link, &reply, "CLIENT KILL TYPE normal SKIPME yes");
}
