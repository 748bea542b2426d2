/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

void rr_json_print(const json_t *root, size_t flags, FILE *out)
{
	char *text = json_dumps(root, flags);
	const char *rest = text;

	if (!text)
		rr_out_of_memory();
	/* Outside of strings there is no such thing. */
	for (const char *at; (at = strstr(rest, "##[")); rest = at + 1)
		fprintf(out, "%.*s\\u0023", (int)(at - rest), rest);
	fputs(rest, out);
	putc('\n', out);
	free(text);
}
