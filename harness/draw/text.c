/* SPDX-License-Identifier: MIT */
/*
 * A race as a table: a row for each step, a column for each client and key.
 * Where clients have no room side by side, they share a column; remarks stand
 * next to the table, or below their rows.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "draw.h"
#include "model.h"

/* ---- The columns: which there are, where, and how wide ------------------- */

enum column_kind { ONE_CLIENT, ALL_CLIENTS, KEY, REMARKS };

struct column {
	enum column_kind kind;
	int index; /* of the client or key */
	const char *head;
	size_t at;
	size_t width;
	size_t extra;         /* what of the width is not for text */
	size_t least;         /* of what is for text */
	const char *left;     /* of this row, not on paper yet; NULL = nothing */
	const char *reply;    /* in the cell, where " => " stands; NULL = it has none */
	size_t command_lines; /* that the cell's command may take */
};

enum {
	SHEET_COLUMNS_MAX = RR_RACE_CLIENTS_MAX + RR_KEYS_SHOWN_MAX + 1,
	GAP = 2,   /* between columns */
	ARROW = 9, /* room for an arrow, where there are arrows */
};

enum rr_paint { RR_PLAIN, RR_BOLD, RR_DIM, RR_RED, RR_YELLOW, RR_CYAN, RR_MAGENTA };

/* Writes lines of text: in the characters the terminal has, with colour where it may be. */
struct rr_pen {
	FILE *out;
	const struct rr_style *style;
	size_t column; /* where the next character goes */
	size_t blanks; /* not written yet */
	enum rr_paint paint;
};

struct sheet {
	const struct rr_picture *picture;
	struct rr_pen pen;
	size_t n;
	struct column columns[SHEET_COLUMNS_MAX];
	size_t numbers;                     /* width of the steps' numbers */
	size_t width;                       /* of the table */
	size_t gutter;                      /* before a client's cell: whether it is inside */
	bool is_shared;                     /* all clients share a column */
	bool has_arrows;                    /* two clients, and a key between them */
	const char *now[RR_KEYS_SHOWN_MAX]; /* keys' values; NULL = not seen */
};

enum {
	RULE_EXTRA = 9,    /* of a rule, without its text */
	CLIENT_MOST = 42,  /* wider cells are wrapped */
	CLIENT_LEAST = 12, /* narrower ones are not readable */
	SHARED_LEAST = 28, /* the same where one column is all clients', if there is room */
	KEY_MOST = 24,
	KEY_LEAST = 5,
	HEAD_LEAST = 12, /* of a key's name; longer ones can be cut */
	REMARKS_MOST = 40,
	REMARKS_LEAST = 20,
};

/* Something happens that no client does: a line across the table. */
static bool sheet_is_rule(const struct rr_row *row)
{
	return row->kind == RR_ROW_TIME || row->kind == RR_ROW_FAULT;
}

/* What stands in the row; NULL = nothing. */
static const char *sheet_cell(const struct column *column, const struct rr_row *row)
{
	switch (column->kind) {
	case ONE_CLIENT:
		return row->client == column->index ? row->action : NULL;
	case ALL_CLIENTS:
		return row->sentence;
	case KEY:
		return row->values[column->index];
	default:
		return row->remark;
	}
}

/* As wide as its widest cell, within limits. */
static void add_column(struct sheet *sheet, enum column_kind kind, int index, const char *head)
{
	const size_t most = kind == KEY ? KEY_MOST : CLIENT_MOST;
	struct column *column = &sheet->columns[sheet->n++];
	const size_t name = rr_plain_width(head);
	size_t width = name;

	*column = (struct column){
		.kind = kind, .index = index, .head = head, .least = CLIENT_LEAST
	};
	if (kind == KEY)
		column->least = name < KEY_LEAST || sheet->is_shared ? KEY_LEAST :
				name < HEAD_LEAST                    ? name :
								       HEAD_LEAST;
	if (kind == ONE_CLIENT)
		column->extra = sheet->gutter + (sheet->has_arrows ? ARROW : 0);
	for (size_t i = 0; i < sheet->picture->n_rows; i++) {
		const char *cell = sheet_cell(column, &sheet->picture->rows[i]);
		const size_t wide = cell ? rr_plain_width(cell) : 0;

		width = wide > width ? wide : width;
	}
	column->width = (width < most ? width : most) + column->extra;
}

static void add_columns(struct sheet *sheet)
{
	const struct rr_picture *picture = sheet->picture;
	const struct rr_race *race = picture->race;

	sheet->n = 0;
	sheet->has_arrows = !sheet->is_shared && race->n_clients == 2 && race->n_keys == 1;
	if (sheet->is_shared)
		add_column(sheet, ALL_CLIENTS, 0, "clients");
	for (size_t i = 0; !sheet->is_shared && i < picture->n_lanes; i++) {
		const struct rr_lane *lane = &picture->lanes[i];

		if (!lane->is_server)
			add_column(sheet, ONE_CLIENT, lane->index, lane->name);
		if (sheet->has_arrows && sheet->n == 1)
			add_column(sheet, KEY, 0, picture->keys[0].name);
	}
	for (size_t i = 0; !sheet->has_arrows && i < race->n_keys; i++)
		add_column(sheet, KEY, (int)i, picture->keys[i].name);
}

static bool shrink_columns(struct sheet *sheet, size_t width)
{
	size_t total = sheet->numbers;

	for (size_t i = 0; i < sheet->n; i++)
		total += GAP + sheet->columns[i].width;
	for (; total > width; total--) {
		/* The widest column that can give something up does. */
		struct column *widest = NULL;

		for (size_t i = 0; i < sheet->n; i++) {
			struct column *column = &sheet->columns[i];

			if (column->width - column->extra > column->least &&
			    (!widest || column->width > widest->width))
				widest = column;
		}
		if (!widest)
			return false;
		widest->width--;
	}
	return true;
}

/* Remarks stand next to the columns, if there is room for them there. */
static void sheet_lay_out(struct sheet *sheet, size_t width)
{
	const struct rr_picture *picture = sheet->picture;
	struct column *remarks;
	/* Rules are as wide as the table, which may be narrower than their texts: `rule` is what
	 * these ask for. */
	size_t last = 0, rule = 0, at;

	for (size_t i = 0; i < picture->n_rows; i++) {
		const struct rr_row *row = &picture->rows[i];
		const size_t wide = RULE_EXTRA + rr_plain_width(row->text);

		last = row->number ? row->number : last;
		if (row->inside)
			sheet->gutter = 2;
		if (sheet_is_rule(row) && wide > rule)
			rule = wide;
	}
	sheet->numbers = (size_t)snprintf(NULL, 0, "%2zu", last);
	add_columns(sheet);
	if (!shrink_columns(sheet, width)) {
		sheet->is_shared = true;
		add_columns(sheet);
		sheet->columns[0].least = SHARED_LEAST;
		if (!shrink_columns(sheet, width)) {
			sheet->columns[0].least = CLIENT_LEAST;
			shrink_columns(sheet, width);
		}
	}
	at = sheet->numbers + GAP;
	for (size_t i = 0; i < sheet->n; i++) {
		sheet->columns[i].at = at;
		at += sheet->columns[i].width + GAP;
	}
	sheet->width = rule < width ? rule : width;
	if (sheet->width < at - GAP)
		sheet->width = at - GAP;
	at = sheet->width + GAP;
	if (!picture->has_remarks || at + REMARKS_LEAST > width)
		return;
	remarks = &sheet->columns[sheet->n++];
	*remarks = (struct column){ .kind = REMARKS, .at = at, .head = "" };
	remarks->width = width - at < REMARKS_MOST ? width - at : REMARKS_MOST;
}

enum {
	INDENT = 4,            /* of notes, and of remarks below their rows */
	LINES_MOST = 6,        /* of a cell; the last one then ends in "…" */
	COMMAND_LEAST = 2,     /* lines of a command, however long its reply is */
	REPLY_LINES_MOST = 12, /* of a reply, which says what happened */
	TOKEN_LEAST = 32,      /* hexadecimal digits of a lock's token */
};

/* ---- Lines, without blanks at their ends --------------------------------- */

static void pen_paint(struct rr_pen *pen, enum rr_paint paint)
{
	static const char *const codes[] = {
		[RR_PLAIN] = "0",     [RR_BOLD] = "0;1",  [RR_DIM] = "0;2",      [RR_RED] = "0;31",
		[RR_YELLOW] = "0;33", [RR_CYAN] = "0;36", [RR_MAGENTA] = "0;35",
	};

	if (pen->style->colour && paint != pen->paint)
		fprintf(pen->out, "\033[%sm", codes[paint]);
	pen->paint = paint;
}

/* What stands for a character that ASCII lacks, as wide as the character. */
static char ascii_of(const char *character)
{
	static const struct {
		const char *character;
		char ascii;
	} known[] = { { "─", '-' }, { "═", '=' }, { "┃", '|' }, { "▶", '>' },
		      { "◀", '<' }, { "✗", 'X' }, { "–", '-' }, { "…", '~' } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strncmp(character, known[i].character, strlen(known[i].character)) == 0)
			return known[i].ascii;
	}
	return '?';
}

static void pen_text(struct rr_pen *pen, const char *text, size_t length)
{
	for (; length > 0 && pen->blanks > 0; pen->blanks--)
		putc(' ', pen->out);
	for (size_t i = 0; i < length; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c < 0x80 || !pen->style->ascii)
			putc(c, pen->out);
		else if ((c & 0xc0) != 0x80) /* a character's first byte */
			putc(ascii_of(text + i), pen->out);
	}
	pen->column += rr_plain_width(text) - rr_plain_width(text + length);
}

static void pen_string(struct rr_pen *pen, const char *text)
{
	pen_text(pen, text, strlen(text));
}

/* Repeats a character of one column until the pen is at `column`. */
static void pen_fill(struct rr_pen *pen, const char *character, size_t column)
{
	while (pen->column < column)
		pen_string(pen, character);
}

static void pen_go(struct rr_pen *pen, size_t column)
{
	if (column > pen->column) {
		pen->blanks += column - pen->column;
		pen->column = column;
	}
}

static void pen_end_line(struct rr_pen *pen)
{
	pen_paint(pen, RR_PLAIN);
	putc('\n', pen->out);
	pen->blanks = 0;
	pen->column = 0;
}

/* A paragraph whose lines all begin at `column`, the first where the pen is. */
static void pen_wrap(struct rr_pen *pen, const char *text, size_t column)
{
	const enum rr_paint paint = pen->paint;

	do {
		const size_t room = pen->style->width > pen->column ?
					    pen->style->width - pen->column :
					    1;
		const char *line = text;
		const size_t length = rr_plain_line(&text, room);

		pen_text(pen, line, length);
		pen_end_line(pen);
		if (*text) {
			pen_go(pen, column);
			pen_paint(pen, paint);
		}
	} while (*text);
}

/* ---- Cells --------------------------------------------------------------- */

/* The next line of a cell; `reply` is where its " => " stands, NULL = nowhere. A line ends
 * before the => when the reply would be torn off. */
static size_t next_line(const char **text, const char *reply, size_t width)
{
	const char *line = *text;
	const size_t head = reply && reply > line ? (size_t)(reply - line) : 0;

	if (rr_plain_width(line) <= width) {
		*text += strlen(line);
		return strlen(line);
	}
	if (head == 0 || rr_plain_fit(line, width) < head)
		return rr_plain_line(text, width);
	*text = reply + 1;
	return head;
}

/* A new cell: where its reply begins, and how many lines there are for its command. Of a cell
 * with too many lines the command is shortened: the reply is what happened. */
static void table_begin(struct column *column, const struct rr_row *row)
{
	const size_t width = column->width - column->extra;
	const char *rest = column->left = sheet_cell(column, row);
	size_t lines = 0, of_reply;

	column->reply = NULL;
	column->command_lines = LINES_MOST;
	if (!rest || !row->reply || column->kind == KEY || column->kind == REMARKS)
		return;
	column->reply = rest + strlen(rest) - strlen(row->reply) - strlen(" => ");
	while (*rest) {
		next_line(&rest, column->reply, width);
		lines++;
	}
	of_reply = rr_plain_lines(column->reply + 1, width);
	if (lines > LINES_MOST)
		column->command_lines = of_reply + COMMAND_LEAST < LINES_MOST ?
						LINES_MOST - of_reply :
						COMMAND_LEAST;
}

static void table_line(struct rr_pen *pen, struct column *column, size_t line)
{
	const char *text = column->left;
	const size_t width = column->width - column->extra;
	const bool is_command = text && column->reply && text < column->reply;
	size_t most = is_command    ? column->command_lines :
		      column->reply ? column->command_lines + REPLY_LINES_MOST :
				      LINES_MOST;
	size_t length, digits;

	if (!text || !*text)
		return;
	length = next_line(&column->left, column->reply, width);
	digits = strspn(text, "0123456789abcdef");
	/* A token that is wider than its column is known by its first digits. */
	if (column->kind == KEY && digits >= TOKEN_LEAST && !text[digits] && digits > width)
		most = 1;
	if (line + 1 < most || !*column->left || (is_command && column->left > column->reply)) {
		pen_text(pen, text, length);
		return;
	}
	pen_text(pen, text, rr_plain_fit(text, width - 1));
	pen_string(pen, "…");
	column->left = is_command ? column->reply + 1 : NULL;
}

/* From where the pen is to `end`. */
static void table_arrow(struct rr_pen *pen, bool is_right, size_t end)
{
	if (!is_right)
		pen_string(pen, "◀");
	pen_fill(pen, "─", is_right ? end - 1 : end);
	if (is_right)
		pen_string(pen, "▶");
}

/* With arrows, the key stands to the right of the first client, to the left of the second; they
 * point to it, or from it where the client only reads. The value that an arrow points to is there
 * in any case. */
static void table_cell(struct sheet *sheet, struct column *column, const struct rr_row *row,
		       size_t line)
{
	struct rr_pen *pen = &sheet->pen;
	const bool has_arrow = sheet->has_arrows && line == 0 && row->kind == RR_ROW_MESSAGE;
	const bool points = has_arrow && row->client == column->index; /* of a client */
	const bool is_second = sheet->has_arrows && column->index == 1;
	const char *text = column->left;

	pen_go(pen, column->at);
	switch (column->kind) {
	case ONE_CLIENT:
		if (is_second && points)
			table_arrow(pen, !row->sends, column->at + ARROW - 1);
		if (is_second)
			pen_go(pen, column->at + ARROW);
		if (row->inside & 1U << column->index)
			pen_string(pen, "┃");
		pen_go(pen, column->at + (is_second ? ARROW : 0) + sheet->gutter);
		table_line(pen, column, line);
		if (!is_second && points) {
			pen_go(pen, pen->column + 1);
			table_arrow(pen, row->sends, column->at + column->width);
		}
		break;
	case REMARKS:
		if (!text || !*text)
			break;
		pen_paint(pen, row->broke ? RR_RED : RR_YELLOW);
		pen_text(pen, text, rr_plain_line(&column->left, column->width));
		break;
	default:
		if (column->kind == KEY && !text && has_arrow)
			column->left = sheet->now[column->index];
		table_line(pen, column, line);
		break;
	}
}

/* ---- Rows ---------------------------------------------------------------- */

static bool is_row_done(const struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->n; i++) {
		const char *left = sheet->columns[i].left;

		if (left && *left)
			return false;
	}
	return true;
}

static void table_cells(struct sheet *sheet, const struct rr_row *row, size_t line)
{
	for (; line == 0 || !is_row_done(sheet); line++) {
		for (size_t i = 0; i < sheet->n; i++)
			table_cell(sheet, &sheet->columns[i], row, line);
		pen_end_line(&sheet->pen);
	}
}

/* A line across: time passes, or something happens to a server. Values that
 * changed stand in it, if its text has left their columns free. */
static void table_rule(struct sheet *sheet, const struct rr_row *row)
{
	const char *glyph = row->kind == RR_ROW_TIME ? "─" : "═";
	struct rr_pen *pen = &sheet->pen;

	pen_go(pen, sheet->numbers + GAP);
	pen_paint(pen, row->kind == RR_ROW_TIME ? RR_CYAN : RR_MAGENTA);
	pen_fill(pen, glyph, pen->column + 2);
	pen_go(pen, pen->column + 1);
	pen_text(pen, row->text, rr_plain_fit(row->text, sheet->width - pen->column));
	pen_go(pen, pen->column + 1);
	for (size_t i = 0; i < sheet->n; i++) {
		struct column *column = &sheet->columns[i];

		if (column->kind == KEY && column->left && pen->column < column->at) {
			pen_fill(pen, glyph, column->at - 1);
			table_cell(sheet, column, row, 0);
			pen_go(pen, pen->column + 1);
		}
	}
	pen_fill(pen, glyph, sheet->width);
	if (sheet->columns[sheet->n - 1].kind == REMARKS)
		table_cell(sheet, &sheet->columns[sheet->n - 1], row, 0);
	pen_end_line(pen);
	table_cells(sheet, row, 1);
}

/* A remark that has no column stands below its row. */
static void table_row(struct sheet *sheet, const struct rr_row *row)
{
	struct rr_pen *pen = &sheet->pen;
	char number[24];

	for (size_t i = 0; i < sheet->n; i++)
		table_begin(&sheet->columns[i], row);
	for (size_t i = 0; i < RR_KEYS_SHOWN_MAX; i++)
		sheet->now[i] = row->values[i] ? row->values[i] : sheet->now[i];
	snprintf(number, sizeof(number), "%2zu", row->number);
	if (row->number)
		pen_string(pen, number);
	if (sheet_is_rule(row)) {
		table_rule(sheet, row);
	} else if (row->is_across) {
		pen_go(pen, INDENT);
		pen_paint(pen, RR_DIM);
		if (row->kind == RR_ROW_NOTE) {
			pen_string(pen, pen->style->ascii ? "--" : "–");
			pen_go(pen, pen->column + 1);
		}
		pen_wrap(pen, row->text, pen->column);
		table_cells(sheet, row, 1);
	} else {
		table_cells(sheet, row, 0);
	}
	if (!row->remark || sheet->columns[sheet->n - 1].kind == REMARKS)
		return;
	pen_go(pen, INDENT);
	pen_paint(pen, row->broke ? RR_RED : RR_YELLOW);
	pen_wrap(pen, row->remark, INDENT + 2);
}

/* ---- The whole ----------------------------------------------------------- */

static void table_rows(struct sheet *sheet, size_t n)
{
	struct rr_pen *pen = &sheet->pen;

	/* A name that is wider than its column has several lines: cut, two keys might look alike. */
	for (size_t i = 0; i < sheet->n; i++)
		sheet->columns[i].left = sheet->columns[i].head;
	for (bool is_first = true; is_first || !is_row_done(sheet); is_first = false) {
		pen_paint(pen, RR_BOLD);
		if (is_first)
			pen_string(pen, " #");
		for (size_t i = 0; i < sheet->n; i++) {
			/* The head of a column begins above its text. */
			struct column *column = &sheet->columns[i];
			size_t begin = column->at, width;

			if (column->kind == ONE_CLIENT)
				begin += column->index == 1 ? column->extra : sheet->gutter;
			width = column->at + column->width - begin;
			pen_go(pen, begin);
			if (column->left && *column->left) {
				const char *text = column->left;

				pen_text(pen, text, rr_plain_line(&column->left, width));
			}
		}
		pen_end_line(pen);
	}
	pen_paint(pen, RR_DIM);
	pen_fill(pen, "─", sheet->width);
	pen_end_line(pen);
	for (size_t i = 0; i < n; i++)
		table_row(sheet, &sheet->picture->rows[i]);
}

void rr_write_rows(FILE *out, const struct rr_picture *picture, size_t n)
{
	struct sheet sheet = { .picture = picture, .pen = { .out = out, .style = picture->style } };

	sheet_lay_out(&sheet, picture->style->width);
	table_rows(&sheet, n);
}

void rr_write_text(FILE *out, const struct rr_picture *picture)
{
	struct sheet sheet = { .picture = picture, .pen = { .out = out, .style = picture->style } };
	struct rr_pen *pen = &sheet.pen;

	sheet_lay_out(&sheet, picture->style->width);
	pen_paint(pen, RR_BOLD);
	if (!picture->style->only_steps) {
		pen_wrap(pen, picture->title, 0);
		if (*picture->claims)
			pen_wrap(pen, picture->claims, strlen("claim "));
		pen_end_line(pen);
	}
	table_rows(&sheet, picture->n_rows);
	if (picture->fates & 1U << RR_FATE_LOST)
		pen_wrap(pen, "(lost): executed, and the client never sees the reply.", 0);
	if (picture->fates & 1U << RR_FATE_WAITS)
		pen_wrap(pen, "(waits): no reply yet.", 0);
	for (size_t i = 0; i < picture->n_tokens; i++) {
		const struct rr_shown_token *token = &picture->tokens[i];
		char *line = rr_words("%s is %.*s", token->name, (int)token->length, token->text);

		pen_wrap(pen, line, 2);
		free(line);
	}
	if (picture->style->only_steps && picture->is_complete)
		return;
	pen_end_line(pen);
	if (picture->is_found)
		pen_paint(pen, RR_RED);
	if (picture->no_finding)
		pen_wrap(pen, picture->no_finding, 0);
	if (!picture->is_complete)
		return;
	for (size_t i = 0; i < picture->n_findings; i++) {
		pen_paint(pen, RR_RED);
		pen_string(pen, "✗ ");
		pen_wrap(pen, picture->findings[i].heading, 2);
		pen_go(pen, 2);
		pen_wrap(pen, picture->findings[i].meaning, 2);
	}
	for (size_t i = 0; i < picture->race->n_sayings; i++)
		pen_wrap(pen, picture->sayings[i], 2);
}
