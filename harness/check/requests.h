/* SPDX-License-Identifier: MIT */
/*
 * What programs ask that is no step, because only their own connection can notice it; and
 * what cannot be judged. By the names of commands: whatever is not named here is a step.
 */
#ifndef RR_REQUESTS_H
#define RR_REQUESTS_H

#include "command.h"

/* Is a word that one, in whichever letters? */
bool rr_request_word_is(const struct rl_word *word, const char *text);

/* Is the first word `name`, and the second one of these? */
bool rr_request_has_second(const struct rl_command *command, const char *name,
			   const char *const *seconds);

/* (P|S)(UN)SUBSCRIBE: their replies are among the messages. */
bool rr_request_subscribes(const struct rl_command *command);

/* A real server is asked once, and says the same to all. */
bool rr_request_is_asked_once(const struct rl_command *command);

/* Accepted, whatever it says, for it is about this connection alone. */
bool rr_request_is_accepted(const struct rl_command *command);

/* CLIENT ID and CLIENT GETNAME. */
bool rr_request_is_about_itself(const struct rl_command *command);

/* It may leave something on its connection when that is closed. */
bool rr_request_makes_dirty(const struct rl_command *command);

/* It cannot be judged: it is answered by more than replies and messages, or it is about
 * more than the data and the connection. */
bool rr_request_is_refused(const struct rl_command *command);

/* HELLO 3. */
bool rr_request_wants_resp3(const struct rl_command *command);

enum rr_mark { RR_MARK_NONE, RR_MARK_ENTER, RR_MARK_LEAVE };

/* The marks of a critical section: ECHO redrace:enter, ECHO redrace:leave. */
enum rr_mark rr_request_mark(const struct rl_command *command);

#endif
