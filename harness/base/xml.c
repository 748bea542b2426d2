/* SPDX-License-Identifier: MIT */
#include "xml.h"

#include <stdlib.h>
#include <string.h>

#include "plain.h"

void rr_xml_part(FILE *out, const char *text, size_t length)
{
	static const char special[] = "&<>\"'";
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;",
						"&quot;", "&#39;" };

	for (size_t i = 0; i < length; i++) {
		const char *found = strchr(special, text[i]);

		if (found)
			fputs(entities[found - special], out);
		else
			putc(text[i], out);
	}
}

void rr_xml_text(FILE *out, const char *text)
{
	if (text)
		rr_xml_part(out, text, strlen(text));
}

void rr_xml_any(FILE *out, const char *text)
{
	char *plain = rr_plain(text);

	rr_xml_text(out, plain);
	free(plain);
}
