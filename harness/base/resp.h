/* SPDX-License-Identifier: MIT */
/*
 * The server's side of Redis's protocol (RESP2, redis.io/docs/reference/protocol-spec):
 * requests are read, replies are written.
 */
#ifndef RR_RESP_H
#define RR_RESP_H

#include <stdio.h>

#include "driver.h"

enum rr_resp_result {
	RR_RESP_COMPLETE,
	RR_RESP_PARTIAL,   /* more bytes are needed */
	RR_RESP_EMPTY,     /* an empty line, which servers skip */
	RR_RESP_MALFORMED, /* no request of this protocol */
	RR_RESP_TOO_LONG,  /* more than RDL_WORDS_MAX words */
};

/* The request at the beginning of `bytes`: an array of bulk strings, or words on one
 * line, as they are typed into a terminal. Its words point into `bytes`, where quotes of a
 * whole line are taken away; *used is how many bytes it takes. */
enum rr_resp_result rr_resp_parse(char *bytes, size_t n, struct rdl_command *command, size_t *used);

/* The word that begins at *at, up to a blank or the end, with the quotes and escapes of
 * redis-cli, and moves on. It is written where it stands. False: a quote does not end; or
 * the word goes on behind one and may not, which redis-cli does not allow. */
bool rr_take_word(char **at, const char *end, bool goes_on, struct rdl_word *word);

/* Writes a reply as a server does. False: the file cannot take it. */
bool rr_resp_write(FILE *file, const struct rdl_reply *reply);

#endif
