/* SPDX-License-Identifier: MIT */
/* Picks the format and the style of a picture; tells what is not as written. */
#include "draw.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/text.h"
#include "model.h"

enum { WIDTH = 80, WIDTH_LEAST = 40, WIDTH_MOST = 160 };

struct rr_style rr_draw_style(FILE *out, bool ascii)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *force = getenv("CLICOLOR_FORCE"); /* a pager shows it, as that of the demo */
	const bool is_terminal = isatty(fileno(out));
	const bool visible = is_terminal || (force && *force && strcmp(force, "0") != 0);
	size_t width = is_terminal ? rr_terminal_size(fileno(out)).ws_col : 0;

	if (width == 0)
		width = WIDTH;
	else if (width < WIDTH_LEAST)
		width = WIDTH_LEAST;
	else if (width > WIDTH_MOST)
		width = WIDTH_MOST;
	setlocale(LC_CTYPE, ""); /* the one that nl_langinfo() tells of */
	return (struct rr_style){
		.ascii = ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
		.colour = visible && !(no_colour && *no_colour) && rr_terminal_is_smart(),
		.width = width,
	};
}

static void write_as_race(FILE *out, const struct rr_picture *picture)
{
	rr_trace_write(out, picture->trace);
}

void rr_draw(FILE *out, const struct rr_trace *trace, enum rr_format format,
	     const struct rr_style *style)
{
	static void (*const writers[RR_FORMATS])(FILE * out, const struct rr_picture *picture) = {
		[RR_FORMAT_TEXT] = rr_write_text, [RR_FORMAT_MERMAID] = rr_write_mermaid,
		[RR_FORMAT_SVG] = rr_write_svg,   [RR_FORMAT_HTML] = rr_write_html,
		[RR_FORMAT_JSON] = rr_write_json, [RR_FORMAT_RACE] = write_as_race,
	};
	struct rr_picture picture;

	rr_picture_make(&picture, trace, format != RR_FORMAT_JSON);
	picture.style = style;
	writers[format](out, &picture);
	rr_picture_free(&picture);
}

/* Drawn as it will be if everything goes on as it is written, up to where it is. */
void rr_draw_so_far(FILE *out, const struct rr_trace *trace, const struct rr_style *style)
{
	const struct rr_race *race = trace->race;
	struct rr_trace foreseen = *trace;
	struct rr_picture picture;

	foreseen.n_events = race->n_steps;
	foreseen.events = rr_calloc(race->n_steps, sizeof(*foreseen.events));
	for (size_t i = 0; i < race->n_steps; i++)
		foreseen.events[i] = i < trace->n_events ?
					     trace->events[i] :
					     (struct rr_event){
						     .step = &race->steps[i],
						     .reply = (char *)race->steps[i].expected,
					     };
	rr_picture_make(&picture, &foreseen, false);
	picture.style = style;
	rr_write_rows(out, &picture, picture.n_rows - (race->n_steps - trace->n_events));
	rr_picture_free(&picture);
	free(foreseen.events);
}

void rr_draw_difference(FILE *out, const struct rr_trace *trace)
{
	const struct rr_race *race = trace->race;
	const struct rr_event *last;
	char *path;

	if (trace->as_written || trace->n_events == 0)
		return;
	last = &trace->events[trace->n_events - 1];
	path = rr_plain(race->path);
	if (last->differs) {
		char *words = rr_step_words(trace, last);
		char *expected = rr_plain(rr_step_expectation(last->step));
		char *actual = rr_plain(last->reply);
		char *client = rr_plain(race->clients[last->step->client].name);

		fprintf(out, "%s:%d: step %zu, %s: %s\n", path, last->step->line,
			rr_step_number(race, last->step), client, words);
		fprintf(out, "  expected  %s\n", expected);
		fprintf(out, "  actual    %s\n", actual ? actual : "nothing");
		free(words);
		free(expected);
		free(actual);
		free(client);
	} else if (trace->n_events == race->n_steps) {
		char expected[RR_VERDICT_SIZE], computed[400];

		rr_trace_verdict(trace, computed, sizeof(computed));
		fprintf(out, "%s:%d: the verdict differs\n  expected  %s\n  computed  %s\n", path,
			race->verdict_line, rr_race_verdict(race, expected, sizeof(expected)),
			computed);
	}
	free(path);
}
