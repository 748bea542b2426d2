/* SPDX-License-Identifier: MIT */
/*
 * Markdown as the HTML of a page, by the library md4c. Texts that come from programs, servers
 * and files are written into Markdown with rr_markdown_print() (base/text.h), so that they show
 * themselves.
 *
 * The HTML is well-formed XML. Headings have the ids that GitHub gives them, but that the second of
 * equal ones ends in -2 and not in -1; tables and listings can be scrolled, and columns that are aligned to the right have the class "number".
 */
#ifndef RR_MARKDOWN_H
#define RR_MARKDOWN_H

#include <stdbool.h>
#include <stdio.h>

struct rr_markdown {
	/*
	 * A file of docs/: HTML in it stays HTML, and it may have images. In other texts HTML is
	 * text; a paragraph that begins with bold text is a lead, good with ✓ and bad with ✗; and
	 * the first cell of a row is its head. If that is a link to "#ID", the row has that id.
	 */
	bool is_document;
	const char *table; /* the class of the tables; NULL = none */
	/* Classes of cells, up to a pair of NULL: a piece of a cell's HTML, "<td>...</td>", and the
	 * class of cells with it. The first pair that fits counts. NULL = no classes. */
	const char *const (*classes)[2];
	/* Returns where a link leads, malloc'd; NULL: its words are shown alone. Without this function
	 * links stay as they are, and links to "#..." and to other sites always do. */
	char *(*find_target)(void *context, const char *target);
	/* Writes an image of a document. */
	void (*print_image)(void *context, FILE *out, const char *source, const char *words);
	void *context;
};

/* Writes the HTML of `text` to `out`, and frees `text`. */
void rr_markdown_print_html(FILE *out, char *text, const struct rr_markdown *how);

#endif
