/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "server.h"

const char *rr_ignored_field(const char *pattern)
{
	const char *field = "";
	bool is_in_brackets = false;

	for (const char *at = pattern; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '[' || *at == ']')
			is_in_brackets = *at == '[';
		else if (*at == '.' && !is_in_brackets && at > pattern)
			field = at + 1;
	}
	return strcmp(field, "*") == 0 ? "" : field;
}
