/* SPDX-License-Identifier: MIT */
/*
 * Are two ends equal, different, or were parts of them not compared? An end is the data that
 * servers hold (contents.h), and how each program ended and what it printed (endings.h), or what
 * an app answered (party.h). It is compared (judge.h) with the ends of serial executions
 * (serial.h), apart from what crashed clients leave (leftovers.h); which commands depend on each
 * other says where it comes from (dependencies.h). A search is not known here, only the product
 * of which it looks at the states.
 *
 *	equal         byte for byte, once random values that differ between two runs have one name;
 *	              of output, tokens that differ between two runs with the same replies are left
 *	              out (party/varying.c), and so is what the user names
 *	not compared  values that move with the clock: their keys are noted (rr_contents_note_moved())
 *	different     all else
 *
 * The skeptic compares by a rule of its own, and does not include this.
 */
#ifndef RR_COMPARE_H
#define RR_COMPARE_H

#include "party/party.h"
#include "contents.h"
#include "dependencies.h"
#include "judge.h"
#include "leftovers.h"
#include "serial.h"

#endif
