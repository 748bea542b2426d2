/* SPDX-License-Identifier: MIT */
/*
 * The environment of checked programs. What differs from one shell, terminal, login or CI job to the
 * next is not given to them, unless the user names it: a verdict that is kept would hold for one job
 * only, or for another one without right. All else is given, and is a part of what a verdict depends
 * on.
 */
#ifndef RR_VARIABLES_H
#define RR_VARIABLES_H

#include <stddef.h>
#include <stdio.h>

enum { RR_LEFT_OUT_MAX = 500 };

/* Names of our variables that programs are not given: ends in NULL, malloc'd, as each is. `named`: those
 * that they are given all the same. */
char **rr_variables_left_out(const char *const *named, size_t n_named);
void rr_variables_free(char **left_out);

/* Writes all others, in the order of their names, each with its NUL. */
void rr_variables_write(FILE *out, char **left_out);

#endif
