/* SPDX-License-Identifier: MIT */
/* Passwords: hidden where they stand in a text, read where nobody sees them. */
#ifndef RR_SECRET_H
#define RR_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/* Overwrites user and password of every URI in the text, what stands between
 * :// and @, with asterisks: an argument, which ps shows, too. */
void rr_secrets_blank(char *text);

/* A malloc'd copy with *** in their place. */
char *rr_secrets_hide(const char *text);

/* The first line of a file. */
bool rr_secret_from_file(const char *path, char *secret, size_t size, struct rr_error *error);

/* Asked for on the terminal, without showing it. */
bool rr_secret_ask(const char *prompt, char *secret, size_t size, struct rr_error *error);

#endif
