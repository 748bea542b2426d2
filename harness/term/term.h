/* SPDX-License-Identifier: MIT */
/*
 * Every value that crosses a boundary (a word, a command, a reply, a random value, a time of day in a
 * text) is a number: terms.h. Renaming exchanges values in it (renaming.h), times.h finds the times.
 *
 * Nothing is known here of clients and servers.
 */
#ifndef RR_TERM_H
#define RR_TERM_H

#include "intern.h"
#include "renaming.h"
#include "terms.h"
#include "times.h"

#endif
