/* SPDX-License-Identifier: MIT */
/* An execution's inside, for the files that make it up. */
#ifndef RR_EXECUTION_PARTS_H
#define RR_EXECUTION_PARTS_H

#include "execution.h"
#include "servers.h"

enum { EXECUTION_ANSWERS = 64, EXECUTION_MUTEXES = 160 };

struct executed_client {
	struct rr_client_run *run; /* NULL: it has crashed */
	struct rr_run_tally tally; /* then */
	size_t n_answers;          /* that it has not taken */
	struct kept_answer {
		uint8_t lane, kind;
		uint32_t reply;
	} answers[EXECUTION_ANSWERS];
	uint64_t is_open; /* lanes that have a connection */
	uint64_t is_cut;  /* whose connection is gone, unknown to it */
	int64_t read_ns;  /* when it last read its clock */
	int64_t paused_until_ns;
	int64_t since_ns[RR_RUN_THREADS];  /* that they stand there */
	uint64_t blocked_at[RR_RUN_LANES]; /* when its command had to wait */
};

struct rr_execution {
	struct rr_execution_config config;
	size_t n_clients;
	struct rr_servers servers;
	struct executed_client clients[RR_EXECUTION_CLIENTS];
	bool is_opening; /* no attempt begins */
	int64_t now_ns;
	uint64_t n_changes;            /* after which a command may wait no more */
	int owners[EXECUTION_MUTEXES]; /* threads' numbers + 1; 0 = free */
	struct rr_execution_view view;
	struct rr_error error;
};

static inline const struct rr_run_view *run_view(const struct executed_client *client)
{
	return rr_client_run_view(client->run);
}

static inline size_t client_number(const struct rr_execution *execution,
				   const struct executed_client *client)
{
	return (size_t)(client - execution->clients);
}

static inline size_t lane_server(const struct rr_execution *execution, uint8_t lane)
{
	return (size_t)rr_lane_server(execution->config.program, lane);
}

static inline uint16_t lane_slot(const struct rr_execution *execution,
				 const struct executed_client *client, uint8_t lane)
{
	return (uint16_t)(client_number(execution, client) * RR_RUN_ORDINALS +
			  (size_t)rr_lane_ordinal(execution->config.program, lane));
}

static inline bool client_has_ended(const struct executed_client *client)
{
	return !client->run || run_view(client)->stops[0].kind == RR_STOP_ENDED;
}

static inline uint64_t lane_bit(uint8_t lane)
{
	return UINT64_C(1) << lane;
}

/* ---- execution_client.c ----------------------------------------------------- */

void execution_note(const struct rr_execution *execution, const struct rr_action *action);

/* Asks a server; false: the execution's error. */
bool execution_ask(struct rr_execution *execution, size_t server,
		   const struct rr_question *question, struct rr_heard *heard);

/* The client runs on as long as what it waits for is there. */
bool execution_settle(struct rr_execution *execution, struct executed_client *client);

/* The command that is to be executed next on a lane; NULL = none. */
const struct rr_sent *execution_next_sent(const struct executed_client *client, uint8_t lane);

/* When the time is over of a command that waits. */
int64_t execution_time_out_at(const struct rr_execution *execution,
			      const struct executed_client *client, uint8_t lane, uint32_t command);

/* The next command on a lane is executed. `answer`: what its client hears of it. */
enum rr_did execution_execute(struct rr_execution *execution, struct executed_client *client,
			      uint8_t lane, enum rr_answer_kind answer);

/* When a thread can go on, from what it waits for; and it does. */
int64_t execution_stop_ready_ns(struct rr_execution *execution,
				const struct executed_client *client, uint8_t thread);
enum rr_did execution_go_on(struct rr_execution *execution, struct executed_client *client,
			    uint8_t thread);

/* Closes a connection; the server has noticed then. */
bool execution_close_lane(struct rr_execution *execution, struct executed_client *client,
			  uint8_t lane);

/* ---- execution.c ------------------------------------------------------------ */

/* Servers are connected once; clients live from the beginning. */
bool execution_begin_anew(struct rr_execution *execution);
void execution_end_runs(struct rr_execution *execution);
bool execution_tick(struct rr_execution *execution, int64_t ns);

#endif
