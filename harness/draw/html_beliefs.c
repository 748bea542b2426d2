/* SPDX-License-Identifier: MIT */
/* What each client believes against what the server holds. */
#include "base/text.h"
#include "html.h"

/* A reader sees what is worth seeing: the table as it is before the step that is asked
 * about, else at the end. */
static size_t row_of_table(const struct rr_html *html)
{
	const size_t n = html->picture->n_rows;

	return html->asked_row < n && html->asked_row > 0 ? html->asked_row - 1 : n > 0 ? n - 1 : 0;
}

/* The number of the last step up to a row; 0 = before the first one. */
static size_t step_of_row(const struct rr_picture *picture, size_t row)
{
	for (size_t i = row + 1; i-- > 0;) {
		if (picture->rows[i].number)
			return picture->rows[i].number;
	}
	return 0;
}

static void print_belief(const struct rr_html *html, const struct rr_row_knowledge *row, size_t key,
			 size_t client)
{
	const char *known = row->known[key][client];
	const bool stale = row->stale[key] >> client & 1;

	fputs("<td>", html->out);
	if (known)
		rr_xml_print(html->out, "<code>%s</code>", known);
	else
		fputs("<span class=\"quiet\">–</span>", html->out);
	fputs(stale ? " <strong class=\"bad\">stale</strong></td>" : "</td>", html->out);
}

static void print_belief_rows(const struct rr_html *html, const struct rr_row_knowledge *row)
{
	const struct rr_race *race = html->picture->race;

	for (size_t key = 0; key < race->n_keys; key++) {
		rr_xml_print(html->out,
			     "<tr><th scope=\"row\"><code>%s</code></th><td><code>%s</code></td>",
			     html->picture->keys[key].name, row->held[key]);
		for (size_t i = 0; i < race->n_clients; i++)
			print_belief(html, row, key, i);
		fputs("</tr>\n", html->out);
	}
}

void rr_html_beliefs(const struct rr_html *html)
{
	const struct rr_race *race = html->picture->race;
	const size_t row = row_of_table(html);

	if (race->n_keys == 0)
		return;
	fputs("<aside class=\"beliefs panel\" aria-label=\"Beliefs\">\n"
	      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"What clients believe\">"
	      "<table>\n",
	      html->out);
	rr_xml_print(
		html->out,
		"<caption>What each client has last seen of a key, and what the server holds, <span class=\"when\">after step %zu</span></caption>\n",
		step_of_row(html->picture, row));
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

void rr_html_belief_attributes(const struct rr_html *html, size_t row)
{
	const struct rr_race *race = html->picture->race;
	const struct rr_row_knowledge *knowledge = &html->knowledge->rows[row];
	json_t *list = json_array();

	for (size_t key = 0; key < race->n_keys; key++) {
		json_array_append_new(list, json_belief(knowledge->held[key], false));
		for (size_t i = 0; i < race->n_clients; i++)
			json_array_append_new(list, json_belief(knowledge->known[key][i],
								knowledge->stale[key] >> i & 1));
	}
	fputs(" data-beliefs=\"", html->out);
	rr_html_print_json(html->out, list);
	putc('"', html->out);
}
