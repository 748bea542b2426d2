/* SPDX-License-Identifier: MIT */
/* Markdown as HTML: what is in texts of programs shows itself, and what a page needs is there. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/markdown.h"
#include "base/memory.h"
#include "base/text.h"

static const struct rr_markdown plain = { 0 };

/* The HTML of `text`; malloc'd. */
static char *html_of(const char *text, const struct rr_markdown *how)
{
	char *html;
	FILE *out = rr_open_text(&html);

	rr_markdown_print_html(out, rr_strdup(text), how);
	fclose(out);
	return html;
}

static void assert_html(const char *text, const struct rr_markdown *how, const char *wanted)
{
	char *html = html_of(text, how);

	cr_assert_not_null(strstr(html, wanted), "no %s in: %s", wanted, html);
	free(html);
}

/* ---- Texts of others -------------------------------------------------------------------- */

static const char *const hostile[] = {
	"<script>alert(1)</script>",
	"a|b",
	"|",
	"`code` ``` `",
	"*bold* **bold**",
	"_it_ __it__",
	"~~gone~~",
	"[a](javascript:x)",
	"![a](b.png)",
	"[a]: http://x",
	"<http://x>",
	"http://x www.x.y a@b.cd",
	"&lt; &#60; & &x",
	"\\ \\* \\\\|",
	"\\",
	"# 1",
	"- 1",
	"-",
	"---",
	"+ 1",
	"***",
	"> 1",
	"1. a",
	"12) a",
	"-1.5",
	"===",
	"| --- |",
	"</td></tr></table>",
	"<a id=\"x\"></a>",
	"✗ 赢",
};

/* The text between `before` and `after` of Markdown stands between those of the HTML. */
static void assert_show_themselves(const char *before, const char *after, const char *html_before,
				   const char *html_after)
{
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		char *markdown, *wanted;
		FILE *out = rr_open_text(&markdown);

		fputs(before, out);
		rr_markdown_text(out, hostile[i]);
		fputs(after, out);
		fclose(out);
		out = rr_open_text(&wanted);
		fputs(html_before, out);
		rr_xml_text(out, hostile[i]);
		fputs(html_after, out);
		fclose(out);
		assert_html(markdown, &plain, wanted);
		free(markdown);
		free(wanted);
	}
}

Test(markdown, texts_show_themselves_wherever_they_stand)
{
	assert_show_themselves("", "\n", "<p>", "</p>");
	assert_show_themselves("text\n\n", "\n\ntext\n", "<p>", "</p>");
	assert_show_themselves("- ", "\n- x\n", "<li>", "</li>");
	assert_show_themselves("- x: ", ": x\n", "<li>x: ", ": x</li>");
	assert_show_themselves("## x ", "\n", "\">x ", "</h2>");
	assert_show_themselves("|a|b|c|\n|---|---|---|\n| x | ", " | y |\n", "<td>",
			       "</td>\n<td>y</td>");
	assert_show_themselves("|a|b|\n|---|---|\n| ", " | y |\n", "<th scope=\"row\">",
			       "</th>\n<td>y</td>");
	assert_show_themselves("x [", "](y.html) z\n", "<a href=\"y.html\">", "</a>");
	assert_show_themselves("**✗ ", ".**\n", "<p class=\"lead bad\"><strong>✗ ",
			       ".</strong></p>");
}

Test(markdown, lines_and_bytes_of_texts_stay_within_a_cell)
{
	char *markdown, *html;
	FILE *out = rr_open_text(&markdown);

	fputs("|a|b|\n|---|---|\n", out);
	rr_markdown_print(out, "| %s | %.*s |\n| y | %zu |\n", "a\nb\tc ::error::x", 3,
			  "\x01\xff*d", (size_t)7);
	fclose(out);
	html = html_of(markdown, &plain);
	cr_assert_not_null(strstr(html, ">a\\nb\\tc \\x3a:error::x</th>\n<td>\\x01\\xff*</td>"),
			   "%s", html);
	cr_assert_not_null(strstr(html, ">y</th>\n<td>7</td>"), "%s", html);
	free(html);
	free(markdown);
}

/* ---- Pages ------------------------------------------------------------------------------- */

static char *find_target(void *context, const char *target)
{
	return strcmp(target, "a.md") == 0 ? rr_asprintf("%s.html", (const char *)context) : NULL;
}

static void print_image(void *context, FILE *out, const char *source, const char *words)
{
	(void)context;
	fprintf(out, "{%s: %s}", source, words);
}

static const struct rr_markdown document = {
	.is_document = true,
	.find_target = find_target,
	.print_image = print_image,
	.context = (void *)"b",
};

Test(markdown, documents_have_html_links_anchors_and_images)
{
	assert_html("<a id=\"x\"></a>y<br>z\n", &document, "<p><a id=\"x\"></a>y<br/>z</p>");
	assert_html(
		"[`q`](a.md) [r](c.md) [s](#t) [u](https://v/)\n", &document,
		"<p><a href=\"b.html\"><code>q</code></a> r <a href=\"#t\">s</a> <a href=\"https://v/\">u</a></p>");
	assert_html("![one](p.svg)\n", &document, "<p>{p.svg: one}</p>");
	assert_html("## `A`'s *b* & c_d, 竞态!\n", &document, "<h2 id=\"as-b--c_d-竞态\">");
	assert_html("# A\n\n## B\n\n## B\n\n## B-2\n\n### B\n", &document,
		    "<h1 id=\"a\">A</h1>\n<h2 id=\"b\">B</h2>\n<h2 id=\"b-2\">B</h2>\n"
		    "<h2 id=\"b-2-2\">B-2</h2>\n<h3 id=\"b-3\">B</h3>");
	assert_html("**b** c\n", &document, "<p><strong>b</strong> c</p>");
	assert_html("| | b |\n|---|---|\n| c | d |\n", &document, "<th scope=\"col\">b</th>");
	assert_html("| | b |\n|---|---|\n| c | d |\n", &document, "<td>c</td>\n<td>d</td>");
}

Test(markdown, tables_of_pages_have_heads_of_rows_ids_and_classes)
{
	static const char *const classes[][2] = { { ">yes</td>", "safe" }, { NULL, NULL } };
	const struct rr_markdown how = { .table = "words", .classes = classes };
	static const char text[] = "## T & U\n\n| a | b | c |\n|---|--:|---|\n"
				   "| [X-1](#X-1) | 5 | yes |\n| x | 6 | yes, no |\n";

	assert_html(text, &how, "aria-label=\"Table 1: T &amp; U\"><table class=\"words\">");
	assert_html(text, &how, "<tr id=\"X-1\">\n<th scope=\"row\"><a href=\"#X-1\">X-1</a></th>");
	assert_html(text, &how, "<td class=\"number\">5</td>\n<td class=\"safe\">yes</td>");
	assert_html(text, &how, "<td>yes, no</td>");
	assert_html("<b>x</b>\n", &how, "<p>&lt;b&gt;x&lt;/b&gt;</p>");
}

Test(markdown, html_that_is_not_closed_stays_as_it_is)
{
	assert_html("<div>\n<td>x\n<h2>y\n</div>\n", &document, "<td>x\n<h2>y");
}
