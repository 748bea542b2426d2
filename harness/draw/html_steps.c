/* SPDX-License-Identifier: MIT */
/* The steps of a race on a page: a picture, and a list that style.css shows in its place
 * where the page is narrow; what each client believes against what the server holds; and
 * what a reader is asked before the step that breaks. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "html.h"

enum { CHOICES_MAX = 5, COUNT_SIZE = 12 };

size_t rr_html_step_of(const struct rr_picture *picture, size_t row)
{
	const struct rr_row *rows = picture->rows;

	/* What was there at the beginning. */
	if (!rows[row].event && rows[row].kind != RR_ROW_FOLD)
		return 0;
	for (size_t i = row; i < picture->n_rows; i++) {
		if (rows[i].number)
			return rows[i].number;
	}
	while (row > 0 && !rows[row].number)
		row--;
	return rows[row].number;
}

/* ---- Overwrites ---------------------------------------------------------- */

bool rr_html_overwrites(const struct rr_html *html, size_t row)
{
	for (size_t i = 0; i < html->knowledge->n_overwrites; i++) {
		if (html->knowledge->overwrites[i].write == row)
			return true;
	}
	return false;
}

/* The number of the first step after which that client's look is stale. */
static size_t find_stale_step(const struct rr_html *html, const struct rr_overwrite *overwrite)
{
	const struct rr_row *rows = html->picture->rows;
	const int client = rows[overwrite->look].client;

	for (size_t i = overwrite->look; i < overwrite->between; i++) {
		const unsigned stale = html->knowledge->rows[i].stale[overwrite->key];

		if (rows[i].number && stale >> client & 1)
			return rows[i].number;
	}
	return rows[overwrite->between].number;
}

char *rr_html_overwrite(const struct rr_html *html, size_t row, size_t number, size_t *from)
{
	static const char *const marks[RR_OVERWRITES_MAX] = { "①", "②", "③", "④", "⑤",
							      "⑥", "⑦", "⑧", "⑨" };
	const struct rr_overwrite *overwrite = &html->knowledge->overwrites[number];
	const struct rr_row *rows = html->picture->rows;
	const struct rr_row *look = &rows[overwrite->look];
	const struct rr_row *between = &rows[overwrite->between];

	*from = rows[row].number;
	if (row == overwrite->look) {
		*from = find_stale_step(html, overwrite);
		return rr_words("%s the last that %s sees of %s; stale from step %zu on",
				marks[number], look->client_name,
				html->picture->keys[overwrite->key].name, *from);
	}
	if (row == overwrite->between)
		return rr_words("%s what %s saw in step %zu is not what is there now",
				marks[number], look->client_name, look->number);
	if (row == overwrite->write)
		return rr_words(
			"%s replaces what %s wrote in step %zu, which %s has not seen since step %zu",
			marks[number], between->client_name, between->number, look->client_name,
			look->number);
	return NULL;
}

/* ---- Beliefs --------------------------------------------------------------- */

/* JSON as the value of an attribute; takes it. */
static void print_json(FILE *out, json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);

	rr_xml_text(out, text);
	free(text);
	json_decref(json);
}

static void print_belief_rows(const struct rr_html *html, const struct rr_row_knowledge *row)
{
	const struct rr_race *race = html->picture->race;

	for (size_t key = 0; key < race->n_keys; key++) {
		rr_xml_print(html->out,
			     "<tr><th scope=\"row\"><code>%s</code></th><td><code>%s</code></td>",
			     html->picture->keys[key].name, row->held[key]);
		for (size_t i = 0; i < race->n_clients; i++) {
			const char *known = row->known[key][i];
			const bool stale = row->stale[key] >> i & 1;

			fputs("<td>", html->out);
			if (known)
				rr_xml_print(html->out, "<code>%s</code>", known);
			else
				fputs("<span class=\"quiet\">–</span>", html->out);
			fputs(stale ? " <strong class=\"bad\">stale</strong></td>" : "</td>",
			      html->out);
		}
		fputs("</tr>\n", html->out);
	}
}

/* A reader sees what is worth seeing: the table as it is before the step that is asked
 * about, else at the end. */
void rr_html_beliefs(const struct rr_html *html)
{
	const struct rr_race *race = html->picture->race;
	const size_t n = html->picture->n_rows;
	const bool is_asked = html->asked_row < n && html->asked_row > 0;
	const size_t row = is_asked ? html->asked_row - 1 : n > 0 ? n - 1 : 0;
	size_t number = 0; /* of the last step up to it */

	if (race->n_keys == 0)
		return;
	for (size_t i = 0; i <= row; i++)
		number = html->picture->rows[i].number ? html->picture->rows[i].number : number;
	rr_xml_print(
		html->out,
		"<aside class=\"beliefs panel\" aria-label=\"Beliefs: %s\">\n"
		"<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"What clients believe: %s\">"
		"<table>\n",
		html->picture->title, html->picture->title);
	rr_xml_print(
		html->out,
		"<caption>What each client has last seen of a key, and what the server holds, <span class=\"when\">after step %zu</span></caption>\n",
		number);
	fputs("<thead><tr><th scope=\"col\">key</th><th scope=\"col\">server</th>", html->out);
	for (size_t i = 0; i < race->n_clients; i++)
		rr_xml_print(html->out, "<th scope=\"col\" class=\"c%zu\">%s</th>", i % 4,
			     html->picture->lanes[html->picture->client_lanes[i]].name);
	fputs("</tr></thead>\n<tbody>\n", html->out);
	print_belief_rows(html, &html->knowledge->rows[row]);
	fputs("</tbody></table></div></aside>\n", html->out);
}

/* The value, and behind it whether it is stale; null = not known. */
static json_t *json_belief(const char *value, bool stale)
{
	return value ? json_pack("[s, b]", value, stale) : json_null();
}

/* ---- The question ---------------------------------------------------------- */

size_t rr_html_find_asked(const struct rr_picture *picture, const struct rr_knowledge *knowledge)
{
	for (size_t i = 0; i < picture->n_rows; i++) {
		if (picture->rows[i].broke && picture->rows[i].number)
			return i;
	}
	if (knowledge->n_overwrites > 0)
		return knowledge->overwrites[0].write;
	for (size_t i = 0; i < picture->n_rows; i++) {
		if (picture->rows[i].why && picture->rows[i].number)
			return i;
	}
	return picture->n_rows;
}

struct choices {
	size_t n;
	const char *all[CHOICES_MAX];
};

static int compare_choices(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_choice(struct choices *choices, const char *text)
{
	for (size_t i = 0; i < choices->n; i++) {
		if (!text || strcmp(choices->all[i], text) == 0)
			return;
	}
	if (text && choices->n < CHOICES_MAX)
		choices->all[choices->n++] = text;
}

static void print_question(const struct rr_html *html, const char *question, const char *about,
			   const char *answer, struct choices *choices)
{
	const struct rr_row *row = &html->picture->rows[html->asked_row];
	json_t *list = json_array();

	qsort(choices->all, choices->n, sizeof(choices->all[0]), compare_choices);
	for (size_t i = 0; i < choices->n; i++)
		json_array_append_new(list, json_string(choices->all[i]));
	rr_xml_print(html->out,
		     " data-ask=\"Step %zu, %s: %s. %s%s?\" data-answer=\"%s\" data-choices=\"",
		     row->number, row->client_name ? row->client_name : "nobody", row->text,
		     question, about, answer);
	print_json(html->out, list);
	putc('"', html->out);
}

/* What a key holds after it. */
static void ask_for_value(const struct rr_html *html, size_t key)
{
	const struct rr_row_knowledge *rows = html->knowledge->rows;
	const char *answer = rows[html->asked_row].held[key];
	struct choices choices = { 0 };

	add_choice(&choices, answer);
	for (size_t i = 0; i < html->picture->n_rows; i++)
		add_choice(&choices, rows[i].held[key]);
	add_choice(&choices, "(nil)");
	print_question(html, "What is then in ", html->picture->keys[key].name, answer, &choices);
}

/* The question, its answer and some to pick from, as attributes of that row. */
static void print_question_attributes(const struct rr_html *html)
{
	const struct rr_picture *picture = html->picture;
	const struct rr_row *row = &picture->rows[html->asked_row];
	const struct rr_knowledge *knowledge = html->knowledge;
	struct choices choices = { 0 };
	size_t key = 0;

	if (row->event && row->event->step->kind == RR_STEP_ENTER) {
		/* How many are in their critical sections. */
		char counts[CHOICES_MAX][COUNT_SIZE];
		const int n = __builtin_popcount(row->inside);

		for (int i = 0; i < CHOICES_MAX; i++) {
			snprintf(counts[i], COUNT_SIZE, "%d", i);
			if (i <= n + 1)
				add_choice(&choices, counts[i]);
		}
		if (n < CHOICES_MAX)
			print_question(html, "How many clients are in their critical sections now",
				       "", counts[n], &choices);
		return;
	}
	for (size_t i = 0; i < knowledge->n_overwrites; i++) {
		if (knowledge->overwrites[i].write == html->asked_row) {
			ask_for_value(html, knowledge->overwrites[i].key);
			return;
		}
	}
	while (key < picture->race->n_keys && !row->values[key])
		key++;
	if (key < picture->race->n_keys)
		ask_for_value(html, key);
	if (key < picture->race->n_keys || !row->reply)
		return;
	add_choice(&choices, row->reply);
	for (size_t i = html->asked_row + 1; i-- > 0;)
		add_choice(&choices, picture->rows[i].reply);
	print_question(html, "What is the reply", "", row->reply, &choices);
}

/* ---- The list ------------------------------------------------------------ */

static void print_item(const struct rr_html *html, size_t index, bool can_step)
{
	const struct rr_row *row = &html->picture->rows[index];

	fputs("<li", html->out);
	if (can_step) {
		fprintf(html->out, " data-step=\"%zu\"", rr_html_step_of(html->picture, index));

		/* What the script needs to move the table on. */
		const struct rr_race *race = html->picture->race;
		const struct rr_row_knowledge *knowledge = &html->knowledge->rows[index];
		json_t *list = json_array();

		for (size_t key = 0; key < race->n_keys; key++) {
			json_array_append_new(list, json_belief(knowledge->held[key], false));
			for (size_t i = 0; i < race->n_clients; i++)
				json_array_append_new(list,
						      json_belief(knowledge->known[key][i],
								  knowledge->stale[key] >> i & 1));
		}
		fputs(" data-beliefs=\"", html->out);
		print_json(html->out, list);
		putc('"', html->out);
	}
	if (can_step && index == html->asked_row)
		print_question_attributes(html);
	if (row->number)
		rr_xml_print(html->out, " value=\"%zu\"", row->number);
	else
		fputs(" class=\"note\"", html->out);
	rr_xml_print(html->out, ">%s", row->sentence ? row->sentence : row->text);
	for (size_t i = 0; i < html->picture->race->n_keys; i++) {
		if (row->values[i])
			rr_xml_print(html->out, " <code class=\"value\">%s = %s</code>",
				     html->picture->keys[i].name, row->values[i]);
	}
	if (row->broke)
		rr_xml_print(html->out, " <strong class=\"bad\">✗ %s</strong>", row->broke);
	if (row->why)
		rr_xml_print(html->out, " <span>! %s</span>", row->why);
	for (size_t i = 0; i < html->knowledge->n_overwrites; i++) {
		size_t from;
		char *words = rr_html_overwrite(html, index, i, &from);

		if (words)
			rr_xml_print(html->out, " <span data-from=\"%zu\">%s</span>", from, words);
		free(words);
	}
	fputs("</li>\n", html->out);
}

void rr_html_steps(const struct rr_html *html, bool can_step)
{
	fputs("<div class=\"lanes\">\n", html->out);
	rr_svg_embed(html);
	fputs("<ol>\n", html->out);
	for (size_t i = 0; i < html->picture->n_rows; i++)
		print_item(html, i, can_step);
	fputs("</ol></div>\n", html->out);
}
