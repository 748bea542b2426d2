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

static json_t *json_step(const struct rr_race *race, const struct rr_row *row)
{
	const struct rr_event *event = row->event;
	const struct rr_step *step = event->step;
	json_t *number = row->number ? json_integer((json_int_t)row->number) : NULL;
	json_t *values = json_object();

	for (size_t i = 0; i < race->n_keys; i++) {
		if (event->keys[i])
			json_object_set_new(values, race->keys[i], json_text(event->keys[i]));
	}
	return json_pack(
		"{s:o*, s:i, s:i, s:s, s:s?, s:s?, s:s, s:o, s:o, s:b, s:o, s:s?, s:I, s:o}",
		"number", number, "line", step->line, "round", step->repetition, "kind",
		rr_step_kind_word(step), "client", row->client_name, "server", row->server_name,
		"text", row->text, "reply", json_text(event->reply), "expected",
		json_text(step->expected), "differs", event->differs, "broke",
		json_text(event->remark), "why", row->why, "at_ns", (json_int_t)event->at_ns,
		"keys", values);
}

static json_t *json_saying(const struct rr_trace *trace, const struct rr_saying *saying)
{
	const struct rr_race *race = trace->race;
	const size_t step = saying->step < 0 ? 0 : rr_step_number(race, &race->steps[saying->step]);

	return json_pack("{s:o, s:i, s:o?, s:o, s:b}", "claim", json_text(saying->claim), "line",
			 saying->line, "step", step ? json_integer((json_int_t)step) : NULL, "says",
			 json_text(rr_finding_id(saying->says)), "holds",
			 rr_trace_saying_holds(trace, saying));
}

void rr_write_json(FILE *out, const struct rr_picture *picture)
{
	const struct rr_race *race = picture->race;
	json_t *claims = json_array(), *steps = json_array(), *findings = json_array();
	json_t *expected = json_array(), *sayings = json_array(), *root;
	const char *claim = race->claims;

	for (size_t n; *(claim += strspn(claim, " \t")); claim += n) {
		n = strcspn(claim, " \t");
		json_array_append_new(claims, json_stringn(claim, n));
	}
	for (size_t i = 0; i < picture->n_rows; i++) {
		if (picture->rows[i].event)
			json_array_append_new(steps, json_step(race, &picture->rows[i]));
	}
	for (size_t i = 0; i < picture->n_findings; i++) {
		const struct rr_found *found = &picture->findings[i];

		json_array_append_new(
			findings, json_pack("{s:s, s:s, s:s}", "name", rr_finding_id(found->name),
					    "figures", found->figures, "meaning", found->meaning));
	}
	for (size_t i = 0; i < race->n_verdicts; i++)
		json_array_append_new(expected, json_text(rr_finding_id(race->verdicts[i])));
	for (size_t i = 0; i < race->n_sayings; i++)
		json_array_append_new(sayings, json_saying(picture->trace, &race->sayings[i]));
	root = json_pack("{s:i, s:o, s:o, s:o, s:o*, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "schema",
			 SCHEMA, "race", json_text(race->path), "title", json_text(race->title),
			 "claims", claims, "shows", race->shows ? json_text(race->shows) : NULL,
			 "clients", json_names(picture, false), "servers",
			 json_names(picture, true), "steps", steps, "findings", findings,
			 "expected", expected, "as_written", picture->trace->as_written,
			 "documents", sayings);
	if (!root)
		rr_out_of_memory();
	rr_json_print(root, JSON_INDENT(2), out);
	json_decref(root);
}
