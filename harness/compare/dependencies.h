/* SPDX-License-Identifier: MIT */
/*
 * A schedule on one server, and which of its commands depend on each other.
 *
 * Two commands depend on each other if they do not commute where they met: in the one order a
 * reply or what the server holds is another than in the other. No list of ours says which do:
 * the server table is asked.
 */
#ifndef RR_DEPENDENCIES_H
#define RR_DEPENDENCIES_H

#include "contents.h"
#include "judge.h"
#include "product/product.h"

/* ---- Whose commands are (owners.c) ------------------------------------------------ */

/* Owners are clients, or requests to apps and, behind these, apps without requests. */
enum { RR_NOBODY = 255, RR_OWNERS_MAX = 2 * RR_RUN_CLIENTS, RR_OWNER_NAME = 24 };

/* Of each action; RR_NOBODY: no request has begun yet. False: of a command it cannot be told. */
bool rr_owners_find(struct rr_product *product, const struct rr_actions *actions, uint8_t *owners);

/* "A", "request 1", "appA". */
const char *rr_owner_name(const struct rr_program *program, uint8_t owner,
			  char name[RR_OWNER_NAME]);

/* ---- Histories --------------------------------------------------------------------- */

/* What a server was asked, or that time has passed. */
struct rr_history_event {
	const struct rr_action *action;
	uint8_t owner;
	struct rr_question question;
	uint32_t before, after; /* the server's states */
	size_t step;            /* its number in the picture; 0 = it is in none */
	bool is_command, passes;
};

/* Two commands, each first once: states of the server. */
struct rr_met {
	uint32_t from;          /* where they met */
	uint32_t first, second; /* behind the one alone, the other alone */
	uint32_t both, swapped; /* behind both, in their order and in the other */
};

enum rr_dependency_kind {
	RR_DEPENDS_MISSED, /* the first would have heard something else behind the second */
	RR_DEPENDS_SAW,    /* the second heard what it would not have without the first */
	RR_DEPENDS_AFTER,  /* what they leave is another */
};

struct rr_dependency {
	const struct rr_history_event *a, *b; /* of two owners, in their order */
	enum rr_dependency_kind kind;
	bool reads;  /* the one that heard it changes nothing */
	bool hides;  /* nothing is left of what the first one wrote */
	bool orders; /* in the other order something is another: they do not commute */
	struct rr_met met;
};

struct rr_history {
	const struct rr_program *program;
	struct rr_contents *contents;
	uint32_t end; /* the server's state */
	size_t n;
	struct rr_history_event *events;
	size_t n_dependencies;
	struct rr_dependency *dependencies;
};

/* The state of the server at the end. `owners`: NULL = they are the clients. */
uint32_t rr_history_follow(struct rr_history *history, const struct rr_program *program,
			   struct rr_contents *contents, const struct rr_actions *actions,
			   const size_t *steps, const uint8_t *owners);
void rr_history_release(struct rr_history *history);

/* False: there are too many commands. */
bool rr_history_find_dependencies(struct rr_history *history);

/* The shortest circle of owners, each of which depends on the one before; how many they are,
 * 0 = there is none. Of two clients it is the dependency that tells most. */
size_t rr_history_circle(const struct rr_history *history,
			 const struct rr_dependency *circle[RR_OWNERS_MAX]);

/* The anomaly where two owners are such a circle. `nearest`: the server's state at the end of a
 * serial order that is near; RR_NO_ID = there is none. */
enum rr_anomaly rr_history_anomaly(const struct rr_history *history, int x, int y,
				   uint32_t nearest);

/* Finds a key of one state, as rr_contents_list() has it, in another one; NULL: it is not there, or the
 * table has an error. Has it the same value in two states? */
const struct rdl_reply *rr_history_find(const struct rr_history *history, uint32_t state,
					const struct rdl_reply *key);
bool rr_history_is_same(const struct rr_history *history, uint32_t a, uint32_t b,
			const struct rdl_reply *key);

#endif
