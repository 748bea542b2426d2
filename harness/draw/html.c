/* SPDX-License-Identifier: MIT */
/* A race as a part of a page: a sentence, the steps, what clients believe, what was
 * found, how to play it again. All of it is there without a script. */
#include "html.h"

#include <stdlib.h>
#include <string.h>

#include "assets.h"
#include "base/memory.h"
#include "base/text.h"

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
static const char page_bar[] =
	"<header class=\"bar scripted\"><span class=\"name\">redrace</span>"
	"<button type=\"button\" id=\"large\" aria-pressed=\"false\">Large type</button>"
	"<button type=\"button\" id=\"dark\" aria-pressed=\"false\">Dark</button></header>\n";

void rr_page_begin_among(FILE *out, const char *title, const char *navigation)
{
	fputs(page_head, out);
	rr_xml_print(out, "<title>%s</title>\n", title);
	fprintf(out, "<style>/*<![CDATA[*/\n%s/*]]>*/</style>\n</head>\n<body>\n%s%s<main>\n",
		rr_asset_style_css, navigation ? navigation : "", page_bar);
}

void rr_page_begin(FILE *out, const char *title)
{
	rr_page_begin_among(out, title, NULL);
}

void rr_page_end(FILE *out, const char *script)
{
	fprintf(out, "</main>\n<script>//<![CDATA[\n%s%s//]]></script>\n</body>\n</html>\n",
		rr_asset_page_js, script ? script : "");
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

		/* "2 increments, 1 lost" rather than "update lost: expected 2, actual 1, lost
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
	if (picture->no_finding)
		rr_xml_print(html->out, "%s", picture->no_finding);
	fputs(picture->n_findings ? ".</strong></p>\n" : "</strong></p>\n", html->out);
}

/* ---- What was found ------------------------------------------------------ */

static void print_findings(const struct rr_html *html)
{
	const struct rr_picture *picture = html->picture;

	if (picture->n_findings == 0)
		return;
	put_heading(html, "What was found");
	fputs("<dl>\n", html->out);
	for (size_t i = 0; i < picture->n_findings; i++)
		rr_xml_print(html->out, "<dt>✗ %s</dt>\n<dd>%s</dd>\n",
			     picture->findings[i].heading, picture->findings[i].meaning);
	fputs("</dl>\n", html->out);
}

static void print_sayings(const struct rr_html *html)
{
	const struct rr_picture *picture = html->picture;

	if (picture->race->n_sayings == 0 || !picture->is_complete)
		return;
	put_heading(html, "What the document says");
	fputs("<ul>\n", html->out);
	for (size_t i = 0; i < picture->race->n_sayings; i++)
		rr_xml_print(html->out, "<li>%s</li>\n", picture->sayings[i]);
	fputs("</ul>\n", html->out);
}

/* ---- How to play it again ------------------------------------------------ */

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
	rr_html_steps(&safe, false);
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
	html.asked_row = rr_html_find_asked(picture, &knowledge);
	rr_xml_print(out, "<article class=\"race\" id=\"%s\">\n<h%d>%s</h%d>\n", html.id,
		     html.heading - 1, picture->title, html.heading - 1);
	print_sentence(&html);
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
	rr_html_steps(&html, true);
	fputs("</div>\n", out);
	if (article->safe)
		print_safe(&html, article);
	fputs("</div>\n", out);
	rr_html_beliefs(&html);
	fputs("</div>\n", out);
	print_findings(&html);
	print_sayings(&html);

	const char *command = article->command;
	char *race;
	FILE *memory = rr_open_text(&race);

	rr_trace_write(memory, html.picture->trace);
	fclose(memory);
	put_heading(&html, "Play it again");
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

	if (article && article->is_part) {
		write_article(out, picture, article);
		return;
	}
	rr_page_begin(out, picture->title);
	write_article(out, picture, article ? article : &plain);
	rr_page_end(out, rr_race_script);
}
