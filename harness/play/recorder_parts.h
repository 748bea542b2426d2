/* SPDX-License-Identifier: MIT */
/* What the files that make up a recorder share. */
#ifndef RR_RECORDER_PARTS_H
#define RR_RECORDER_PARTS_H

#include "recorder.h"

/* ---- recorder.c -------------------------------------------------------------- */

/* A copy that lives as long as the race. */
char *recorder_keep(struct rr_recorder *recorder, const char *text, size_t length);

/* Another step of `client` (-1 = nobody's), to be completed and told; where there is no
 * room, one that nobody is told of. */
struct rr_step *recorder_add_step(struct rr_recorder *recorder, enum rr_step_kind kind, int client);
void recorder_tell(struct rr_recorder *recorder, struct rr_step *step,
		   const struct rr_action *action);

/* One that is complete with its client: enters, leaves, counts, crashes. */
void recorder_add_mark(struct rr_recorder *recorder, enum rr_step_kind kind, int client);

struct rr_recorded_connection *recorder_connection(struct rr_recorder *recorder, size_t server,
						   uint16_t slot);

/* A connection without a name of its own counts as its client's first. */
int recorder_client(const struct rr_recorder *recorder, uint16_t slot);

/* Of the lane that an action is about. */
uint16_t recorder_slot(const struct rr_recorder *recorder, const struct rr_action *action,
		       uint8_t lane);

/* ---- recorder_commands.c ----------------------------------------------------- */

/* The words of a command by its number; `reply`: to it, NULL = none is known. */
void recorder_keep_words(struct rr_recorder *recorder, struct rr_step *step, uint32_t number,
			 const struct rl_reply *reply);

/* Reply number `reply` as a pattern. */
const char *recorder_keep_reply(struct rr_recorder *recorder, uint32_t reply);

/* A command that a server has executed, and one that none has. */
void recorder_add_executed(struct rr_recorder *recorder, const struct rr_action *action);
void recorder_add_answer(struct rr_recorder *recorder, const struct rr_action *action);

/* The client leaves when what it sent from within its critical section is done. */
void recorder_leave_later(struct rr_recorder *recorder, const struct rr_action *action);

#endif
