/* SPDX-License-Identifier: MIT */
/* Texts in XML, and so in SVG and HTML. */
#ifndef RR_XML_H
#define RR_XML_H

#include <stdio.h>

/* Printable text with &, <, >, " and ' as entities; NULL is "". */
void rr_xml_text(FILE *out, const char *text);
void rr_xml_part(FILE *out, const char *text, size_t length);

/* The same of a text that may hold anything. */
void rr_xml_any(FILE *out, const char *text);

#endif
