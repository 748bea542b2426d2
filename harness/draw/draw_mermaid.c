/* SPDX-License-Identifier: MIT */
/* A race as a Mermaid sequence diagram, for Markdown pages. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "base/plain.h"
#include "wording.h"

enum { TEXT_MOST = 120 };

struct chart {
	FILE *out;
	const struct rr_rows *rows;
	const struct rr_race *race;
	unsigned active; /* clients with a bar */
};

/* Characters that mean something to Mermaid, or to the HTML that it makes, as
 * entities; long texts shortened. */
static void put_text(FILE *out, const char *text)
{
	const size_t most = rr_plain_fit(text, TEXT_MOST);

	for (size_t i = 0; i < most; i++) {
		if (strchr("#;<>&\"%$", text[i]))
			fprintf(out, "#%d;", text[i]);
		else
			putc(text[i], out);
	}
	if (text[most])
		fputs("…", out);
}

static void put_plain(FILE *out, const char *text)
{
	char *plain = rr_plain(text);

	put_text(out, plain ? plain : "");
	free(plain);
}

/* ---- Who takes part --------------------------------------------------------------- */

static void put_client(struct chart *chart, size_t i)
{
	fprintf(chart->out, "    participant c%zu as ", i);
	put_plain(chart->out, chart->race->actors[i].name);
	putc('\n', chart->out);
}

static void put_server(struct chart *chart, size_t i)
{
	fprintf(chart->out, "    participant s%zu as ", i);
	put_plain(chart->out, chart->race->servers[i].name);
	putc('\n', chart->out);
}

/* One server stands between two clients. */
static void put_participants(struct chart *chart)
{
	const struct rr_race *race = chart->race;
	const bool between = race->n_actors == 2 && race->n_servers == 1;

	for (size_t i = 0; i < race->n_actors; i++) {
		if (between && i == 1)
			put_server(chart, 0);
		put_client(chart, i);
	}
	for (size_t i = 0; !between && i < race->n_servers; i++)
		put_server(chart, i);
}

/* ---- Rows ---------------------------------------------------------------------------- */

/* A note over everybody, from the first to the last in the picture. */
static void put_note_across(struct chart *chart, const char *mark,
			    const char *text)
{
	const struct rr_race *race = chart->race;
	const bool between = race->n_actors == 2 && race->n_servers == 1;

	fprintf(chart->out, "    Note over c0,%c%zu: %s", between ? 'c' : 's',
		between ? (size_t)1 : race->n_servers - 1, mark);
	put_text(chart->out, text ? text : "");
	putc('\n', chart->out);
}

static void put_note(struct chart *chart, char kind, int index,
		     const char *mark, const char *text)
{
	fprintf(chart->out, "    Note over %c%d: %s", kind, index, mark);
	put_text(chart->out, text);
	putc('\n', chart->out);
}

static void put_message(struct chart *chart, const struct rr_row *row)
{
	static const char *const arrows[] = { [RR_FATE_CAME] = "-->>",
					      [RR_FATE_LOST] = "--x",
					      [RR_FATE_WAITS] = "" };
	FILE *out = chart->out;

	if (rr_row_sends(row)) {
		fprintf(out, "    c%d->>s%d: ", row->actor, row->server);
		put_text(out, row->text ? row->text : "");
		putc('\n', out);
	}
	if (row->fate == RR_FATE_WAITS) {
		put_note(chart, 'c', row->actor, "", "waits for the reply");
	} else if (row->fate != RR_FATE_NONE) {
		fprintf(out, "    s%d%sc%d: ", row->server, arrows[row->fate],
			row->actor);
		put_text(out, row->fate == RR_FATE_LOST ? "reply lost" :
			      row->reply	       ? row->reply :
							 "");
		putc('\n', out);
	}
}

static void put_bar(struct chart *chart, int client, bool is_inside)
{
	const unsigned bit = 1U << client;

	if (is_inside == ((chart->active & bit) != 0))
		return;
	fprintf(chart->out, "    %s c%d\n",
		is_inside ? "activate" : "deactivate", client);
	chart->active ^= bit;
}

static void put_mark(struct chart *chart, const struct rr_row *row)
{
	const enum rr_step_kind kind = row->event->step->kind;

	if (kind == RR_STEP_ENTER)
		put_bar(chart, row->actor, true);
	put_note(chart, 'c', row->actor, "", row->text ? row->text : "");
	if (kind == RR_STEP_LEAVE || kind == RR_STEP_CRASH)
		put_bar(chart, row->actor, false);
}

/* Values of keys that changed, at their servers. */
static void put_keys(struct chart *chart, const struct rr_row *row)
{
	for (size_t i = 0; i < chart->race->n_keys; i++) {
		const char *key = chart->race->keys[i];
		size_t length;
		const int server =
			rr_rows_server_of(chart->race, key, &length);
		char *text = NULL;

		if (!row->keys[i] || asprintf(&text, "%.*s = %s", (int)length,
					      key, row->keys[i]) < 0)
			continue;
		put_note(chart, 's', server, "", text);
		free(text);
	}
}

static void put_row(struct chart *chart, const struct rr_row *row)
{
	if (row->broke)
		fputs("    rect rgb(253, 228, 214)\n", chart->out);
	if (row->kind == RR_ROW_MESSAGE)
		put_message(chart, row);
	else if (row->kind == RR_ROW_MARK)
		put_mark(chart, row);
	else
		put_note_across(chart, "", row->text);
	put_keys(chart, row);
	if (row->broke) {
		put_note_across(chart, "✗ ", row->broke);
		fputs("    end\n", chart->out);
	}
	if (row->why)
		put_note_across(chart, "! ", row->why);
}

/* ---- The whole ------------------------------------------------------------------------ */

static void put_verdict(struct chart *chart)
{
	char verdict[400];

	if (!rr_rows_are_complete(chart->rows->trace))
		return;
	rr_trace_verdict(chart->rows->trace, verdict, sizeof(verdict));
	put_note_across(chart, "Found: ", verdict);
}

void rr_draw_mermaid(FILE *out, const struct rr_rows *rows)
{
	struct chart chart = { .out = out, .rows = rows,
			       .race = rows->trace->race };

	fputs("sequenceDiagram\n    title ", out);
	put_plain(out, chart.race->title);
	putc('\n', out);
	put_participants(&chart);
	for (size_t i = 0; i < rows->n; i++)
		put_row(&chart, &rows->rows[i]);
	for (int i = 0; i < (int)chart.race->n_actors; i++)
		put_bar(&chart, i, false);
	put_verdict(&chart);
}
