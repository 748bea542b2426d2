/* SPDX-License-Identifier: MIT */
/* The formats that commands write: their names for --format, the suffixes of the
 * files that are written in them. A command takes some of them, as a set of bits. */
#ifndef RR_FORMAT_H
#define RR_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

enum rr_format {
	RR_FORMAT_TEXT,
	RR_FORMAT_JSON,
	RR_FORMAT_JUNIT,  /* XML, as CI systems read it */
	RR_FORMAT_TAP,    /* the Test Anything Protocol */
	RR_FORMAT_GITHUB, /* annotations of a GitHub workflow */
	RR_FORMAT_MARKDOWN,
	RR_FORMAT_HTML,
	RR_FORMAT_SVG,
	RR_FORMAT_MERMAID,
	RR_FORMAT_RACE,    /* the race as it went, to be played again */
	RR_FORMAT_GOBENCH, /* text of Go's benchmarks, for benchstat */
	RR_FORMATS
};

/* A set of one; for sets, these are joined by |. */
#define RR_ONLY(format) (1U << (format))

enum {
	/* For other programs: base/cases.h. */
	RR_CASE_FORMATS = RR_ONLY(RR_FORMAT_JSON) | RR_ONLY(RR_FORMAT_JUNIT) |
			  RR_ONLY(RR_FORMAT_TAP) | RR_ONLY(RR_FORMAT_GITHUB),
	/* What every command that has results writes. */
	RR_RESULT_FORMATS = RR_CASE_FORMATS | RR_ONLY(RR_FORMAT_TEXT),
	/* What pictures are: draw/draw.h. */
	RR_PICTURE_FORMATS = RR_ONLY(RR_FORMAT_TEXT) | RR_ONLY(RR_FORMAT_JSON) |
			     RR_ONLY(RR_FORMAT_HTML) | RR_ONLY(RR_FORMAT_SVG) |
			     RR_ONLY(RR_FORMAT_MERMAID) | RR_ONLY(RR_FORMAT_RACE)
};

enum { RR_FORMAT_LIST = 160 };

/* "text", "json", ... */
extern const char *const rr_format_names[RR_FORMATS];

/* The one of the set with that name. False: there is none. */
bool rr_format_find(const char *name, unsigned formats, enum rr_format *format);

/* The one of the set that a file's suffix asks for; RR_FORMATS when it has no
 * suffix. False: it has another one. */
bool rr_format_of_file(const char *path, unsigned formats, enum rr_format *format);

/* "text, json or junit", ".txt, .json or .xml": all of the set. */
const char *rr_format_list(unsigned formats, char list[RR_FORMAT_LIST]);
const char *rr_format_suffixes(unsigned formats, char list[RR_FORMAT_LIST]);

/* ---- Where results go ---------------------------------------------------- */

enum { RR_OUTPUTS_MAX = 8 };

/* What --format and -o have asked for: one way for all commands with results. */
struct rr_outputs {
	enum rr_format printed; /* on standard output */
	size_t n;               /* besides: files */
	struct rr_output {
		const char *path;
		enum rr_format format; /* RR_FORMATS: the printed one */
	} files[RR_OUTPUTS_MAX];
};

/* One more file, in the format of its suffix. False: that is none of the set, or it
 * cannot be written. */
bool rr_outputs_add(struct rr_outputs *outputs, const char *path, unsigned formats,
		    struct rr_error *error);

/* Leaves the files out that are written in one of the set. */
void rr_outputs_drop(struct rr_outputs *outputs, unsigned formats);

/* Is anything printed or written in one of the set? */
bool rr_outputs_have(const struct rr_outputs *outputs, unsigned formats);

#endif
