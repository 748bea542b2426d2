/* SPDX-License-Identifier: MIT */
/* The steps of a race as a table with a lane for each client and server. Where the page
 * is narrow, style.css makes it a list. */
#include "base/text.h"
#include "html.h"

enum { FEW_LANES = 3, SOME_LANES = 5, MANY_LANES = 8, COLOURS = 4 };

static const char *const marks[RR_OVERWRITES_MAX] = { "①", "②", "③", "④", "⑤", "⑥", "⑦", "⑧", "⑨" };

/* ---- Lanes --------------------------------------------------------------- */

static size_t lane_of_server(const struct rr_picture *picture, int server)
{
	return picture->server_lanes[server < 0 ? 0 : server];
}

/* A client's lane is drawn on the side that is away from the servers. */
static bool is_right_of_servers(const struct rr_picture *picture, size_t lane)
{
	return picture->race->n_servers > 0 && lane > picture->server_lanes[0];
}

static bool is_between(size_t lane, size_t a, size_t b)
{
	return (lane > a && lane < b) || (lane > b && lane < a);
}

static void print_lane_class(const struct rr_html *html, const struct rr_row *row, size_t index)
{
	const struct rr_picture *picture = html->picture;
	const struct rr_lane *lane = &picture->lanes[index];
	const unsigned bit = 1U << lane->index;
	const unsigned gone = lane->is_server ? row->down : row->gone;
	const bool passes = row->kind == RR_ROW_MESSAGE &&
			    is_between(index, picture->client_lanes[row->client],
				       lane_of_server(picture, row->server));

	fputs("<td class=\"lane", html->out);
	if (lane->is_server)
		fputs(" server", html->out);
	else
		rr_xml_print(html->out, " client c%d", lane->index % COLOURS);
	fputs(!lane->is_server && row->inside & bit ? " inside" : "", html->out);
	fputs(gone & bit ? " gone" : "", html->out);
	fputs(!lane->is_server && is_right_of_servers(picture, index) ? " right" : "", html->out);
	if (passes)
		rr_xml_print(html->out, " pass p%d", row->client % COLOURS);
	fputs("\">", html->out);
}

/* What a client does, and the beginning of its arrow. */
static void print_action(const struct rr_html *html, const struct rr_row *row)
{
	const bool at = row->kind == RR_ROW_MESSAGE && html->picture->race->n_servers > 1;

	rr_xml_print(html->out, "<div class=\"do\"><span class=\"what\"><b class=\"who\">%s</b> ",
		     row->client_name);
	if (at)
		rr_xml_print(html->out, "@%s ", row->server_name);
	if (row->sends && row->fate == RR_FATE_NONE)
		fputs("writes ", html->out);
	rr_xml_print(html->out, "<code>%s</code>", row->text);
	if (row->reply)
		rr_xml_print(html->out, " <span class=\"reply\">⇒ <code>%s</code></span>",
			     row->reply);
	fputs("</span>", html->out);
	if (row->kind == RR_ROW_MESSAGE)
		fputs("<i class=\"arrow\"></i>", html->out);
	fputs("</div>", html->out);
}

/* The values of a server's keys that this step has changed; -1 = of all servers. */
static void print_values(const struct rr_html *html, const struct rr_row *row, int server)
{
	const struct rr_shown_key *keys = html->picture->keys;

	for (size_t i = 0; i < html->picture->race->n_keys; i++) {
		if (row->labels[i] && (server < 0 || keys[i].server == server))
			rr_xml_print(html->out, "<code class=\"value\">%s = %s</code> ",
				     server < 0 ? keys[i].name : keys[i].label, row->values[i]);
	}
}

static void print_arrival(const struct rr_html *html, const struct rr_row *row, size_t index)
{
	const struct rr_picture *picture = html->picture;
	const int server = picture->lanes[index].index;
	const bool arrives = row->kind == RR_ROW_MESSAGE && row->server == server;
	const bool from_left = arrives && picture->client_lanes[row->client] < index;
	bool changes = false;

	for (size_t i = 0; i < picture->race->n_keys; i++)
		changes |= row->values[i] && picture->keys[i].server == server;
	if (!arrives && !changes)
		return;
	rr_xml_print(html->out, "<div class=\"do\"><i class=\"%s p%d\"></i>",
		     from_left ? "arrow head" : "gap", arrives ? row->client % COLOURS : 0);
	print_values(html, row, server);
	rr_xml_print(html->out, "<i class=\"%s p%d\"></i></div>",
		     arrives && !from_left ? "arrow head" : "gap",
		     arrives ? row->client % COLOURS : 0);
}

static void print_lanes_of_row(const struct rr_html *html, const struct rr_row *row)
{
	const struct rr_picture *picture = html->picture;

	if (row->is_across) {
		rr_xml_print(html->out, "<td class=\"across\" colspan=\"%zu\">%s ",
			     picture->n_lanes, row->text);
		print_values(html, row, -1);
		fputs("</td>", html->out);
		return;
	}
	for (size_t i = 0; i < picture->n_lanes; i++) {
		const struct rr_lane *lane = &picture->lanes[i];

		print_lane_class(html, row, i);
		if (lane->is_server)
			print_arrival(html, row, i);
		else if (row->client == lane->index)
			print_action(html, row);
		fputs("</td>", html->out);
	}
}

/* ---- Remarks ------------------------------------------------------------- */

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

/* What a row has to do with a write that replaces what its writer has not seen. */
static void print_overwrite(const struct rr_html *html, size_t index, size_t number)
{
	const struct rr_overwrite *overwrite = &html->knowledge->overwrites[number];
	const struct rr_row *rows = html->picture->rows;
	const struct rr_row *look = &rows[overwrite->look];
	const struct rr_row *between = &rows[overwrite->between];
	const char *key = html->picture->keys[overwrite->key].name;

	if (index != overwrite->look && index != overwrite->between && index != overwrite->write)
		return;
	/* Who steps sees it when it is so. */
	rr_xml_print(html->out, "<span class=\"join\" data-from=\"%zu\">%s ",
		     index == overwrite->look ? find_stale_step(html, overwrite) :
						rows[index].number,
		     marks[number]);
	if (index == overwrite->look)
		rr_xml_print(html->out,
			     "the last that %s sees of <code>%s</code>; stale from step %zu on",
			     look->client_name, key, find_stale_step(html, overwrite));
	else if (index == overwrite->between)
		rr_xml_print(html->out, "what %s saw in step %zu is not what is there now",
			     look->client_name, look->number);
	else
		rr_xml_print(
			html->out,
			"<strong>replaces what %s wrote in step %zu</strong>, which %s has not seen since step %zu",
			between->client_name, between->number, look->client_name, look->number);
	fputs("</span> ", html->out);
}

/* The first of them is drawn as a line beside the remarks. */
static const char *class_of_line(const struct rr_html *html, size_t index)
{
	const struct rr_overwrite *first = &html->knowledge->overwrites[0];

	if (html->knowledge->n_overwrites == 0 || index < first->look || index > first->write)
		return "";
	return index == first->look  ? " line first" :
	       index == first->write ? " line last" :
				       " line";
}

static void print_remarks(const struct rr_html *html, size_t index)
{
	const struct rr_row *row = &html->picture->rows[index];

	rr_xml_print(html->out, "<td class=\"remarks%s\">", class_of_line(html, index));
	if (row->broke)
		rr_xml_print(html->out, "<strong class=\"bad\">✗ %s</strong> ", row->broke);
	if (row->why)
		rr_xml_print(html->out, "<span>! %s</span> ", row->why);
	for (size_t i = 0; i < html->knowledge->n_overwrites; i++)
		print_overwrite(html, index, i);
	fputs("</td>", html->out);
}

/* ---- Rows ---------------------------------------------------------------- */

static bool is_overwrite(const struct rr_html *html, size_t index)
{
	for (size_t i = 0; i < html->knowledge->n_overwrites; i++) {
		if (html->knowledge->overwrites[i].write == index)
			return true;
	}
	return false;
}

/* A row without a number comes with the step after it: that is where it is shown. */
static size_t step_of(const struct rr_picture *picture, size_t index)
{
	size_t last = 0;

	for (size_t i = index; i < picture->n_rows; i++) {
		if (picture->rows[i].number)
			return picture->rows[i].number;
	}
	for (size_t i = 0; i < index; i++) {
		if (picture->rows[i].number)
			last = picture->rows[i].number;
	}
	return last;
}

static void print_row(const struct rr_html *html, size_t index, bool can_step)
{
	const struct rr_row *row = &html->picture->rows[index];

	rr_xml_print(html->out, "<tr class=\"%s%s\"",
		     row->broke || is_overwrite(html, index) ? "broke" :
		     row->why                                ? "why" :
							       "step",
		     row->is_across ? " note" : "");
	if (can_step) {
		rr_xml_print(html->out, " data-step=\"%zu\"",
			     row->event ? step_of(html->picture, index) : 0);
		rr_html_belief_attributes(html, index);
	}
	if (can_step && index == html->asked_row)
		rr_html_question_attributes(html);
	fputs("><th scope=\"row\" class=\"n\">", html->out);
	if (row->number)
		rr_xml_print(html->out, "%zu", row->number);
	fputs("</th>", html->out);
	print_lanes_of_row(html, row);
	print_remarks(html, index);
	fputs("</tr>\n", html->out);
}

static const char *width_class(size_t n_lanes)
{
	return n_lanes <= FEW_LANES  ? "few" :
	       n_lanes <= SOME_LANES ? "some" :
	       n_lanes <= MANY_LANES ? "many" :
				       "too-many";
}

void rr_html_lanes(const struct rr_html *html, bool can_step)
{
	const struct rr_picture *picture = html->picture;

	rr_xml_print(
		html->out,
		"<div class=\"lanes %s\"><table>\n<caption>%s, step by step</caption>\n"
		"<colgroup><col class=\"n\"/><col span=\"%zu\"/><col class=\"remarks\"/></colgroup>\n"
		"<thead><tr><th scope=\"col\" class=\"n\">#</th>",
		width_class(picture->n_lanes), picture->title, picture->n_lanes);
	for (size_t i = 0; i < picture->n_lanes; i++) {
		const struct rr_lane *lane = &picture->lanes[i];

		if (lane->is_server)
			fputs("<th scope=\"col\" class=\"server\">", html->out);
		else
			rr_xml_print(html->out, "<th scope=\"col\" class=\"c%d%s\">",
				     lane->index % COLOURS,
				     is_right_of_servers(picture, i) ? " right" : "");
		rr_xml_print(html->out, "%s</th>", lane->name);
	}
	fputs("<th scope=\"col\" class=\"remarks\">remarks</th></tr></thead>\n<tbody>\n",
	      html->out);
	for (size_t i = 0; i < picture->n_rows; i++)
		print_row(html, i, can_step);
	fputs("</tbody></table></div>\n", html->out);
}
