/* SPDX-License-Identifier: MIT */
/* A race as a Mermaid sequence diagram, for Markdown pages. */
#include <string.h>

#include "base/text.h"
#include "model.h"

enum { TEXT_MOST = 120 };

struct chart {
	FILE *out;
	const struct rr_picture *picture;
	unsigned active; /* clients with a bar */
};

/* To the end of the line. Characters that mean something to Mermaid, or to the
 * HTML that it makes, become entities; long texts are shortened. */
static void chart_text(FILE *out, const char *text)
{
	const size_t most = rr_plain_fit(text, TEXT_MOST);

	for (size_t i = 0; i < most; i++) {
		if (strchr("#;<>&\"%$", text[i]))
			fprintf(out, "#%d;", text[i]);
		else
			putc(text[i], out);
	}
	fputs(text[most] ? "…\n" : "\n", out);
}

static char letter_of(const struct rr_lane *lane)
{
	return lane->is_server ? 's' : 'c';
}

/* ---- Notes --------------------------------------------------------------- */

/* Over everybody, from the first to the last in the picture. */
static void chart_note_across(struct chart *chart, const char *mark, const char *text)
{
	const struct rr_picture *picture = chart->picture;
	const struct rr_lane *last = &picture->lanes[picture->n_lanes - 1];

	fprintf(chart->out, "    Note over c0,%c%d: %s", letter_of(last), last->index, mark);
	chart_text(chart->out, text);
}

static void chart_note_over(struct chart *chart, char letter, int index, const char *text)
{
	fprintf(chart->out, "    Note over %c%d: ", letter, index);
	chart_text(chart->out, text);
}

/* ---- Rows ---------------------------------------------------------------- */

/* A client has a bar while it is in its critical section. */
static void chart_bar(struct chart *chart, int client, bool is_inside)
{
	const unsigned bit = 1U << client;

	if (is_inside == ((chart->active & bit) != 0))
		return;
	fprintf(chart->out, "    %s c%d\n", is_inside ? "activate" : "deactivate", client);
	chart->active ^= bit;
}

static void chart_row(struct chart *chart, const struct rr_row *row)
{
	const struct rr_picture *picture = chart->picture;

	if (row->broke)
		fputs("    rect rgb(253, 228, 214)\n", chart->out);
	if (row->kind == RR_ROW_MESSAGE) {
		const bool is_lost = row->fate == RR_FATE_LOST;

		if (row->sends) {
			fprintf(chart->out, "    c%d->>s%d: ", row->client, row->server);
			chart_text(chart->out, row->text);
		}
		if (row->fate == RR_FATE_WAITS) {
			chart_note_over(chart, 'c', row->client, "waits for the reply");
		} else if (row->fate != RR_FATE_NONE) {
			fprintf(chart->out, "    s%d%sc%d: ", row->server, is_lost ? "--x" : "-->>",
				row->client);
			chart_text(chart->out, is_lost ? "reply lost" : row->reply);
		}
	} else if (row->kind == RR_ROW_MARK) {
		const enum rr_step_kind kind = row->event->step->kind;

		if (kind == RR_STEP_ENTER)
			chart_bar(chart, row->client, true);
		chart_note_over(chart, 'c', row->client, row->text);
		if (kind == RR_STEP_LEAVE || kind == RR_STEP_CRASH)
			chart_bar(chart, row->client, false);
	} else {
		chart_note_across(chart, "", row->text);
	}
	for (size_t i = 0; i < picture->race->n_keys; i++) {
		if (row->labels[i])
			chart_note_over(chart, 's', picture->keys[i].server, row->labels[i]);
	}
	if (row->broke) {
		chart_note_across(chart, "✗ ", row->broke);
		fputs("    end\n", chart->out);
	}
	if (row->why)
		chart_note_across(chart, "! ", row->why);
}

void rr_write_mermaid(FILE *out, const struct rr_picture *picture)
{
	struct chart chart = { .out = out, .picture = picture };

	fputs("sequenceDiagram\n    title ", out);
	chart_text(out, picture->title);
	for (size_t i = 0; i < picture->n_lanes; i++) {
		const struct rr_lane *lane = &picture->lanes[i];

		fprintf(out, "    participant %c%d as ", letter_of(lane), lane->index);
		chart_text(out, lane->name);
	}
	for (size_t i = 0; i < picture->n_rows; i++)
		chart_row(&chart, &picture->rows[i]);
	for (size_t i = 0; i < picture->race->n_clients; i++)
		chart_bar(&chart, (int)i, false);
	if (picture->is_complete)
		chart_note_across(&chart, "Found: ", picture->verdict);
}
