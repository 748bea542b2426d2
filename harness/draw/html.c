/* SPDX-License-Identifier: MIT */
/* A race as a part of a page: a sentence, the steps, what clients believe, what was
 * found, how to replay it. All of it is there without a script. */
#include "html.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "assets.h"
#include "base/memory.h"
#include "base/text.h"

enum { CHOICES_MAX = 5, COUNT_SIZE = 12 };

const char *const rr_race_script = rr_asset_race_js;

/* ---- Pages: one file that asks nothing of the network, and is well-formed XML --- */

/* A browser is told as well that nothing comes from elsewhere. */
static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
	"<meta charset=\"utf-8\"/>\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\"/>\n"
	"<link rel=\"icon\" href=\"data:,\"/>\n";

/* Hidden where there is no script to answer them. */
static const char page_switches[] =
	"<span class=\"switches scripted\"><button type=\"button\" id=\"large\" aria-pressed=\"false\">Large type</button>"
	"<button type=\"button\" id=\"dark\" aria-pressed=\"false\">Dark</button></span>";

void rr_page_top(FILE *out, const char *navigation)
{
	if (navigation)
		fprintf(out,
			"<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header class=\"site\">%s%s</header>\n",
			navigation, page_switches);
	else
		fprintf(out,
			"<header class=\"bar scripted\"><span class=\"name\">redrace</span>%s</header>\n",
			page_switches);
	fputs("<main id=\"main\" tabindex=\"-1\">\n", out);
}

void rr_page_begin(FILE *out, const char *title, const char *navigation)
{
	fputs(page_head, out);
	rr_xml_print(out, "<title>%s</title>\n", title);
	fprintf(out, "<style>/*<![CDATA[*/\n%s/*]]>*/</style>\n</head>\n<body>\n",
		rr_asset_style_css);
	rr_page_top(out, navigation);
}

void rr_page_end(FILE *out, const char *script)
{
	fprintf(out, "</main>\n<script>//<![CDATA[\n%s%s//]]></script>\n</body>\n</html>\n",
		rr_asset_page_js, script ? script : "");
}

/* ---- The steps: which one a row belongs to ------------------------------- */

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
		/* The first step after which that look is stale. */
		*from = between->number;
		for (size_t i = overwrite->between; i-- > overwrite->look;) {
			const unsigned stale = html->knowledge->rows[i].stale[overwrite->key];

			if (rows[i].number && stale >> look->client & 1)
				*from = rows[i].number;
		}
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

/* What clients believe and servers hold at one step; a script moves it on. A reader sees what is
 * worth seeing: the table as it is before the step that is asked about, else at the end. */
static void print_beliefs(const struct rr_html *html)
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
	for (size_t key = 0; key < race->n_keys; key++) {
		const struct rr_row_knowledge *after = &html->knowledge->rows[row];

		rr_xml_print(html->out,
			     "<tr><th scope=\"row\"><code>%s</code></th><td><code>%s</code></td>",
			     html->picture->keys[key].name, after->held[key]);
		for (size_t i = 0; i < race->n_clients; i++) {
			const char *known = after->known[key][i];
			const bool stale = after->stale[key] >> i & 1;

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
	fputs("</tbody></table></div></aside>\n", html->out);
}

/* ---- The question ---------------------------------------------------------- */

/* Which step a reader is to predict: the first one that breaks something, or replaces what its
 * writer has not seen, or decides. */
static size_t find_asked(const struct rr_picture *picture, const struct rr_knowledge *knowledge)
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
		     row->number, row->client_name ? row->client_name : "no client", row->text,
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

/* What the script needs to move the table of beliefs on: of each key what is held and what each
 * client knows, as [value, is it stale], or null for what is not known. */
static json_t *json_of_beliefs(const struct rr_race *race, const struct rr_row_knowledge *row)
{
	json_t *list = json_array();

	for (size_t key = 0; key < race->n_keys; key++) {
		for (size_t i = 0; i <= race->n_clients; i++) {
			const char *value = i ? row->known[key][i - 1] : row->held[key];
			const bool stale = i && row->stale[key] >> (i - 1) & 1;

			json_array_append_new(list, value ? json_pack("[s, b]", value, stale) :
							    json_null());
		}
	}
	return list;
}

/* The steps: drawn, and as a list for where there is no room for that, and for those who cannot
 * see it. Those that one can step through have data-step. */
static void print_steps(const struct rr_html *html, bool can_step)
{
	const struct rr_picture *picture = html->picture;
	FILE *out = html->out;

	fputs("<div class=\"lanes\">\n", out);
	rr_svg_embed(html);
	fputs("<ol>\n", out);
	for (size_t i = 0; i < picture->n_rows; i++) {
		const struct rr_row *row = &picture->rows[i];

		fputs("<li", out);
		if (can_step) {
			fprintf(out, " data-step=\"%zu\" data-beliefs=\"",
				rr_html_step_of(picture, i));
			print_json(out, json_of_beliefs(picture->race, &html->knowledge->rows[i]));
			putc('"', out);
		}
		if (can_step && i == html->asked_row)
			print_question_attributes(html);
		if (row->number)
			rr_xml_print(out, " value=\"%zu\"", row->number);
		else
			fputs(" class=\"note\"", out);
		rr_xml_print(out, ">%s", row->sentence ? row->sentence : row->text);
		for (size_t k = 0; k < picture->race->n_keys; k++) {
			if (row->values[k])
				rr_xml_print(out, " <code class=\"value\">%s = %s</code>",
					     picture->keys[k].name, row->values[k]);
		}
		if (row->broke)
			rr_xml_print(out, " <strong class=\"bad\">✗ %s</strong>", row->broke);
		if (row->why)
			rr_xml_print(out, " <span>! %s</span>", row->why);
		for (size_t k = 0; k < html->knowledge->n_overwrites; k++) {
			size_t from;
			char *words = rr_html_overwrite(html, i, k, &from);

			if (words)
				rr_xml_print(out, " <span data-from=\"%zu\">%s</span>", from,
					     words);
			free(words);
		}
		fputs("</li>\n", out);
	}
	fputs("</ol></div>\n", out);
}

/* ---- The article -------------------------------------------------------- */

/* A heading of a part of the article. */
static void put_heading(const struct rr_html *html, const char *text)
{
	rr_xml_print(html->out, "<h%d>%s</h%d>\n", html->heading, text, html->heading);
}

/* ---- The sentence -------------------------------------------------------- */

static void print_sentence(const struct rr_html *html)
{
	const struct rr_picture *picture = html->picture;
	const bool bad = picture->n_findings > 0 || picture->is_found;

	rr_xml_print(html->out, "<p class=\"lead %s\"><strong>%s ", bad ? "bad" : "good",
		     bad ? "✗" : "✓");
	for (size_t i = 0; i < picture->n_findings; i++) {
		fputs(i ? "; " : "", html->out);

		/* "2 increments, 1 lost" rather than "lost update: expected 2, actual 1, lost
		 * 1". */
		const struct rr_found *found = &picture->findings[i];
		const struct rr_trace *trace = html->picture->trace;
		const char *lost = strstr(found->figures, ", lost ");
		size_t n = 0;

		for (size_t j = 0; j < trace->n_events; j++)
			n += trace->events[j].step->kind == RR_STEP_COUNT;
		if (lost && found->name == rr_finding_name(RR_UPDATE_LOST))
			rr_xml_print(html->out, "%zu increment%s, %s lost", n, n == 1 ? "" : "s",
				     lost + strlen(", lost "));
		else
			rr_xml_text(html->out, found->heading);
	}
	if (picture->n_findings)
		fputs(picture->no_finding ? ". " : ".", html->out);
	if (picture->no_finding)
		rr_xml_print(html->out, "%s", picture->no_finding);
	fputs("</strong></p>\n", html->out);
}

/* ---- How to read it, and how to replay it -------------------------------- */

static const char legend[] =
	"<details class=\"legend\"><summary>How to read it</summary>\n<ul>\n"
	"<li>Each column is a lane, of a client or a server; time goes down. An arrow is a command, a dashed one its reply.</li>\n"
	"<li>A thick lane: the client is in its critical section. A dotted one: the client or the server is not there.</li>\n"
	"<li>A box on a server's lane: a key and its new value. (nil): it is not there.</li>\n"
	"<li>✗: this step breaks something. !: the step that decides, and why. ① joins what a client saw with the write that replaces what it did not see.</li>\n"
	"</ul></details>\n";

/* ---- The whole ----------------------------------------------------------- */

/* The same with something safe. */
static void print_safe(const struct rr_html *html, const struct rr_article *article)
{
	struct rr_picture picture;
	struct rr_knowledge knowledge;
	struct rr_html safe = *html;

	rr_picture_make(&picture, article->safe, true);
	rr_knowledge_make(&knowledge, &picture);
	safe.picture = &picture;
	safe.knowledge = &knowledge;
	safe.asked_row = picture.n_rows;
	fputs("<section class=\"safer\">\n", html->out);
	rr_xml_print(html->out, "<h%d>What is safe: %s</h%d>\n<p>%s</p>\n", html->heading,
		     article->safe_name, html->heading, picture.title);
	print_sentence(&safe);
	print_steps(&safe, false);
	fputs("</section>\n", html->out);
	rr_knowledge_free(&knowledge);
	rr_picture_free(&picture);
}

static void write_article(FILE *out, const struct rr_picture *picture,
			  const struct rr_article *article)
{
	struct rr_knowledge knowledge;
	struct rr_html html = {
		.out = out,
		.picture = picture,
		.knowledge = &knowledge,
		.id = article->id,
		.heading = article->is_part ? 3 : 2,
	};

	rr_knowledge_make(&knowledge, picture);
	html.asked_row = find_asked(picture, &knowledge);
	rr_xml_print(out, "<article class=\"race\" id=\"%s\">\n<h%d>%s</h%d>\n", html.id,
		     html.heading - 1, article->heading ? article->heading : picture->title,
		     html.heading - 1);
	print_sentence(&html);
	if (article->ends)
		rr_xml_print(out, "<pre>%s</pre>\n", article->ends);
	if (*picture->claims)
		rr_xml_print(out, "<p class=\"quiet\">%s</p>\n", picture->claims);
	/* Shown when there is a script. */
	fputs("<div class=\"stepper scripted\">\n"
	      "<div class=\"controls\">"
	      "<button type=\"button\" data-go=\"start\">Start</button>"
	      "<button type=\"button\" data-go=\"back\">Back</button>"
	      "<button type=\"button\" data-go=\"next\" class=\"main\">Next step</button>"
	      "<button type=\"button\" data-go=\"end\">End</button>"
	      "<button type=\"button\" data-go=\"all\">Show all</button>"
	      "<span class=\"where\">all steps</span>"
	      "<span class=\"quiet keys\"><kbd>←</kbd> <kbd>→</kbd> <kbd>Home</kbd> <kbd>End</kbd></span></div>\n"
	      "<form class=\"ask\" hidden=\"hidden\">\n",
	      html.out);
	rr_xml_print(
		html.out,
		"<p class=\"question\" id=\"%s-question\"></p>\n"
		"<div class=\"controls\"><span class=\"choices controls\"></span>"
		"<input type=\"text\" size=\"14\" autocomplete=\"off\" aria-labelledby=\"%s-question\"/>"
		"<button type=\"submit\">Answer</button>"
		"<button type=\"button\" data-go=\"reveal\">Show me</button></div>\n"
		"</form>\n<p class=\"verdict\" role=\"status\"></p>\n"
		"<p class=\"announced unseen\" role=\"status\"></p>\n</div>\n",
		html.id, html.id);
	rr_xml_print(out, "<div class=\"body%s\">\n<div class=\"sides%s\"><div class=\"played\">",
		     picture->race->n_clients <= 3 && !article->safe ? " beside" : "",
		     article->safe ? " two" : "");
	print_steps(&html, true);
	fputs("</div>\n", out);
	if (article->safe)
		print_safe(&html, article);
	fputs("</div>\n", out);
	print_beliefs(&html);
	fputs("</div>\n", out);
	if (article->why) {
		/* "Why (lost update):" is the heading of what follows. */
		const char *lines = article->why;
		const bool has_heading = strncmp(lines, "Why", 3) == 0;
		const size_t length = has_heading ? rr_take_line(&lines) : 0;
		char *heading = has_heading ? rr_strndup(article->why, length - 1) :
					      rr_strdup("Why");

		put_heading(&html, heading);
		rr_xml_print(out, "<pre>%s</pre>\n", lines);
		free(heading);
	}
	if (picture->n_findings > 0) {
		put_heading(&html, "What was found");
		fputs("<dl>\n", out);
		for (size_t i = 0; i < picture->n_findings; i++)
			rr_xml_print(out, "<dt>✗ %s</dt>\n<dd>%s</dd>\n",
				     picture->findings[i].heading, picture->findings[i].meaning);
		fputs("</dl>\n", out);
	}
	if (picture->race->n_sayings > 0 && picture->is_complete) {
		put_heading(&html, "What the document says");
		fputs("<ul>\n", out);
		for (size_t i = 0; i < picture->race->n_sayings; i++)
			rr_xml_print(out, "<li>%s</li>\n", picture->sayings[i]);
		fputs("</ul>\n", out);
	}

	const char *command = article->command;
	char *race;
	FILE *memory = rr_open_text(&race);

	rr_trace_write(memory, html.picture->trace);
	fclose(memory);
	put_heading(&html, "Replay");
	if (command)
		rr_xml_print(
			html.out,
			"<pre id=\"%s-command\">%s</pre>\n<button type=\"button\" class=\"scripted\" data-copy=\"%s-command\">Copy</button>\n",
			html.id, command, html.id);
	rr_xml_print(
		html.out,
		"<details class=\"file\"%s><summary>As a file, for <code>redrace play FILE</code></summary>\n<pre id=\"%s-file\">",
		command ? "" : " open=\"open\"", html.id);
	rr_xml_text(html.out, race);
	rr_xml_print(
		html.out,
		"</pre>\n<button type=\"button\" class=\"scripted\" data-copy=\"%s-file\">Copy</button></details>\n",
		html.id);
	free(race);
	fprintf(out, "%s</article>\n", legend);
	rr_knowledge_free(&knowledge);
}

void rr_draw_article(FILE *out, const struct rr_trace *trace, const struct rr_article *article)
{
	struct rr_picture picture;

	rr_picture_make(&picture, trace, true);
	write_article(out, &picture, article);
	rr_picture_free(&picture);
}

void rr_write_html(FILE *out, const struct rr_picture *picture)
{
	static const struct rr_article plain = { .id = "race" };
	const struct rr_article *article = picture->style ? picture->style->article : NULL;

	rr_page_begin(out, article && article->heading ? article->heading : picture->title, NULL);
	write_article(out, picture, article ? article : &plain);
	rr_page_end(out, rr_race_script);
}
