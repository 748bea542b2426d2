/* SPDX-License-Identifier: MIT */
/*
 * What one client does, as the table of its program says. The table is about a client
 * `self`, which equal clients share; here names that are self's have become the
 * client's own: random values in what it sends, and back in what it hears
 * (rr_program: heard_as_self, sent_as_own).
 */
#ifndef RR_CLIENT_VIEW_H
#define RR_CLIENT_VIEW_H

#include "client_table.h"

struct rr_client_view {
	struct rr_client_table *table;
	int client;
	bool is_another; /* than `self` */
	/* States that the client has come to, by their numbers in the table: its own
	 * copies. */
	struct rr_client_state *states;
	uint32_t n_states; /* that there is room for */
	uint32_t *heard;   /* replies as self hears them, by the numbers of those that the
			    * client hears, + 1; 0 = not known yet */
	uint32_t n_heard;
};

/* The table must outlive the view. False: table->error. */
bool rr_client_view_init(struct rr_client_view *view, struct rr_client_table *table, int client);
void rr_client_view_release(struct rr_client_view *view);

/* What self hears instead. */
struct rr_input rr_client_view_as_self(struct rr_client_view *view, const struct rr_input *input);

/* As rr_client_table_ask(). The state that the row leads to can be looked at then. */
const struct rr_client_row *rr_client_view_ask(struct rr_client_view *view, uint32_t state,
					       const struct rr_input *input, int64_t passed_ns);

/* Of fibers: does the client itself do what self has done? Runs all attempts again. */
bool rr_client_view_verify(struct rr_client_view *view);

#endif
