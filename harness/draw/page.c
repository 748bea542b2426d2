/* SPDX-License-Identifier: MIT */
/* What all pages of HTML begin and end with. A page is one file that asks nothing of
 * the network, and is well-formed XML as well. */
#include "assets.h"
#include "base/text.h"
#include "draw.h"

/* A browser is told as well that nothing comes from elsewhere. */
static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
	"<meta charset=\"utf-8\"/>\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\"/>\n"
	"<link rel=\"icon\" href=\"data:,\"/>\n";

/* Hidden where there is no script to answer them. */
static const char page_bar[] =
	"<header class=\"bar scripted\"><span class=\"name\">redrace</span>"
	"<button type=\"button\" id=\"large\" aria-pressed=\"false\">Large type</button>"
	"<button type=\"button\" id=\"dark\" aria-pressed=\"false\">Dark</button></header>\n";

void rr_page_begin(FILE *out, const char *title)
{
	fputs(page_head, out);
	rr_xml_print(out, "<title>%s</title>\n", title);
	fprintf(out, "<style>/*<![CDATA[*/\n%s/*]]>*/</style>\n", rr_asset_style_css);
	fprintf(out, "</head>\n<body>\n%s<main>\n", page_bar);
}

void rr_page_end(FILE *out, const char *script)
{
	fputs("</main>\n", out);
	fprintf(out, "<script>//<![CDATA[\n%s%s//]]></script>\n", rr_asset_page_js,
		script ? script : "");
	fputs("</body>\n</html>\n", out);
}
