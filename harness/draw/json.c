/* SPDX-License-Identifier: MIT */
/* A trace for other programs; docs/races.md describes the members. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cases.h"
#include "base/memory.h"
#include "base/text.h"
#include "model.h"

enum { SCHEMA = 1 };

/* NULL as null. */
static json_t *json_text(const char *value)
{
	char *plain = rr_plain(value);
	json_t *json = plain ? json_string(plain) : json_null();

	free(plain);
	return json;
}

static json_t *json_number(size_t number)
{
	return json_integer((json_int_t)number);
}

static json_t *json_claims(const struct rr_race *race)
{
	json_t *array = json_array();
	const char *at = race->claims;

	for (size_t n; *(at += strspn(at, " \t")); at += n) {
		n = strcspn(at, " \t");
		json_array_append_new(array, json_stringn(at, n));
	}
	return array;
}

static json_t *json_names(const struct rr_picture *picture, bool servers)
{
	json_t *array = json_array();

	for (size_t i = 0; i < picture->n_lanes; i++) {
		const struct rr_lane *lane = &picture->lanes[i];

		if (lane->is_server == servers)
			json_array_append_new(array, json_text(lane->name));
	}
	return array;
}

/* ---- Steps --------------------------------------------------------------- */

static json_t *json_values(const struct rr_race *race, const struct rr_event *event)
{
	json_t *object = json_object();

	for (size_t i = 0; i < race->n_keys; i++) {
		if (event->keys[i])
			json_object_set_new(object, race->keys[i], json_text(event->keys[i]));
	}
	return object;
}

static json_t *json_step(const struct rr_race *race, const struct rr_row *row)
{
	const struct rr_event *event = row->event;
	const struct rr_step *step = event->step;
	json_t *number = row->number ? json_number(row->number) : NULL;

	return json_pack(
		"{s:o*, s:i, s:i, s:s, s:s?, s:s?, s:s, s:o, s:o, s:b, s:o, s:s?, s:I, s:o}",
		"number", number, "line", step->line, "round", step->repetition, "kind",
		rr_step_kind_word(step), "client", row->client_name, "server", row->server_name,
		"text", row->text, "reply", json_text(event->reply), "expected",
		json_text(step->expected), "differs", event->differs, "broke",
		json_text(event->remark), "why", row->why, "at_ns", (json_int_t)event->at_ns,
		"keys", json_values(race, event));
}

static json_t *json_steps(const struct rr_picture *picture)
{
	json_t *array = json_array();

	for (size_t i = 0; i < picture->n_rows; i++) {
		if (picture->rows[i].event)
			json_array_append_new(array, json_step(picture->race, &picture->rows[i]));
	}
	return array;
}

/* ---- The verdict --------------------------------------------------------- */

static json_t *json_findings(const struct rr_picture *picture)
{
	json_t *array = json_array();

	for (size_t i = 0; i < picture->n_findings; i++) {
		const struct rr_found *found = &picture->findings[i];

		json_array_append_new(array,
				      json_pack("{s:s, s:s, s:s}", "name", found->name, "figures",
						found->figures, "meaning", found->meaning));
	}
	return array;
}

static json_t *json_expected(const struct rr_race *race)
{
	json_t *array = json_array();

	for (size_t i = 0; i < race->n_verdicts; i++)
		json_array_append_new(array, json_text(race->verdicts[i]));
	return array;
}

static json_t *json_sayings(const struct rr_trace *trace)
{
	const struct rr_race *race = trace->race;
	json_t *array = json_array();

	for (size_t i = 0; i < race->n_sayings; i++) {
		const struct rr_saying *saying = &race->sayings[i];
		const size_t step = saying->step < 0 ?
					    0 :
					    rr_step_number(race, &race->steps[saying->step]);
		json_t *number = step ? json_number(step) : NULL;

		json_array_append_new(array,
				      json_pack("{s:o, s:i, s:o?, s:o, s:b}", "claim",
						json_text(saying->claim), "line", saying->line,
						"step", number, "says", json_text(saying->says),
						"holds", rr_trace_saying_holds(trace, saying)));
	}
	return array;
}

void rr_write_json(FILE *out, const struct rr_picture *picture)
{
	const struct rr_race *race = picture->race;
	json_t *root = json_pack("{s:i, s:o, s:o, s:o, s:o*, s:o, s:o, s:o, s:o, s:o, s:b, s:o}",
				 "schema", SCHEMA, "race", json_text(race->path), "title",
				 json_text(race->title), "claims", json_claims(race), "shows",
				 race->shows ? json_text(race->shows) : NULL, "clients",
				 json_names(picture, false), "servers", json_names(picture, true),
				 "steps", json_steps(picture), "findings", json_findings(picture),
				 "expected", json_expected(race), "as_written",
				 picture->trace->as_written, "documents",
				 json_sayings(picture->trace));

	if (!root)
		rr_out_of_memory();
	rr_json_print(root, JSON_INDENT(2), out);
	json_decref(root);
}
