/* SPDX-License-Identifier: MIT */
/* What an execution on real servers is in the middle of: of live.c, which goes on with it,
 * and live_look.c, which says who can go on. */
#ifndef RR_LIVE_STATE_H
#define RR_LIVE_STATE_H

#include "live.h"
#include "product.h"

struct live_client {
	bool is_idle; /* its next attempt is to begin */
	int64_t idle_since_ns, paused_until_ns;
	uint64_t used;             /* lanes whose connection is open */
	struct rr_run_tally tally; /* when it crashed */
};

struct rr_live {
	struct rr_live_config config;
	size_t n_servers; /* whose tables have been made */
	struct rr_server_table tables[RR_PRODUCT_SERVERS];
	struct rr_product product;
	struct rr_state state;
	struct rr_actions log; /* of what is being done */
	struct live_client clients[RR_PRODUCT_CLIENTS];
	bool is_opening; /* no attempt begins */
	int64_t now_ns;
	struct rr_live_view view;
};

/* What a thread of a client waits for (live_look.c). */
void live_look_at_thread(const struct rr_live *live, size_t client, uint8_t thread,
			 struct rr_thread_view *view);

#endif
