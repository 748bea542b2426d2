/* SPDX-License-Identifier: MIT */
/* JSON as results are printed, also into the log of a CI. */
#ifndef RR_JSON_H
#define RR_JSON_H

#include <jansson.h>
#include <stdio.h>

/* With a newline at its end. "##[", which is a command to a runner of GitHub wherever it
 * stands in a line, is \u0023#[ in there, which says the same; `flags` are jansson's. */
void rr_json_print(const json_t *root, size_t flags, FILE *out);

#endif
