/* SPDX-License-Identifier: MIT */
/* What a reader is asked before the step that breaks. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "html.h"

enum { CHOICES_MAX = 5, COUNT_SIZE = 12 };

struct choices {
	size_t n;
	const char *all[CHOICES_MAX];
};

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

void rr_html_print_json(FILE *out, json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);

	rr_xml_text(out, text);
	free(text);
	json_decref(json);
}

static json_t *list_choices(const struct choices *choices)
{
	json_t *list = json_array();

	for (size_t i = 0; i < choices->n; i++)
		json_array_append_new(list, json_string(choices->all[i]));
	return list;
}

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

	qsort(choices->all, choices->n, sizeof(choices->all[0]), compare_choices);
	rr_xml_print(html->out,
		     " data-ask=\"Step %zu, %s: %s. %s%s?\" data-answer=\"%s\" data-choices=\"",
		     row->number, row->client_name ? row->client_name : "nobody", row->text,
		     question, about, answer);
	rr_html_print_json(html->out, list_choices(choices));
	putc('"', html->out);
}

/* How many are in their critical sections. */
static void ask_for_count(const struct rr_html *html, const struct rr_row *row)
{
	char counts[CHOICES_MAX][COUNT_SIZE];
	const int n = __builtin_popcount(row->inside);
	struct choices choices = { 0 };

	for (int i = 0; i < CHOICES_MAX; i++) {
		snprintf(counts[i], COUNT_SIZE, "%d", i);
		if (i <= n + 1)
			add_choice(&choices, counts[i]);
	}
	if (n < CHOICES_MAX)
		print_question(html, "How many clients are in their critical sections now", "",
			       counts[n], &choices);
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

static void ask_for_reply(const struct rr_html *html, const struct rr_row *row)
{
	struct choices choices = { 0 };

	add_choice(&choices, row->reply);
	for (size_t i = html->asked_row + 1; i-- > 0;)
		add_choice(&choices, html->picture->rows[i].reply);
	print_question(html, "What is the reply", "", row->reply, &choices);
}

void rr_html_question_attributes(const struct rr_html *html)
{
	const struct rr_picture *picture = html->picture;
	const struct rr_row *row = &picture->rows[html->asked_row];
	const struct rr_knowledge *knowledge = html->knowledge;
	size_t key = 0;

	if (row->event && row->event->step->kind == RR_STEP_ENTER) {
		ask_for_count(html, row);
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
	else if (row->reply)
		ask_for_reply(html, row);
}
