/* SPDX-License-Identifier: MIT */
/* Texts in XML, and so in SVG and HTML. */
#ifndef RR_XML_H
#define RR_XML_H

#include <stdio.h>

/* Printable text with &, <, >, " and ' as entities; NULL is "". */
void rr_xml_text(FILE *out, const char *text);

/* Like fprintf(), with its texts written as rr_xml_text() does; the format has
 * %s, %.*s, %d and %zu only. */
void rr_xml_print(FILE *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
