/* SPDX-License-Identifier: MIT */
/* A trace for other programs; docs/races.md describes the members. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "base/plain.h"
#include "wording.h"

enum { SCHEMA = 1 };

/* NULL as null. */
static json_t *text(const char *value)
{
	char *plain = rr_plain(value);
	json_t *json = plain ? json_string(plain) : json_null();

	free(plain);
	return json;
}

static void put(json_t *object, const char *name, json_t *value)
{
	json_object_set_new(object, name, value);
}

/* ---- What takes part -------------------------------------------------------------- */

static json_t *claims(const struct rr_race *race)
{
	json_t *array = json_array();
	const char *at = race->claims;

	for (size_t n; *(at += strspn(at, " \t")); at += n) {
		n = strcspn(at, " \t");
		json_array_append_new(array, json_stringn(at, n));
	}
	return array;
}

static json_t *clients(const struct rr_race *race)
{
	json_t *array = json_array();

	for (size_t i = 0; i < race->n_actors; i++)
		json_array_append_new(array, text(race->actors[i].name));
	return array;
}

static json_t *servers(const struct rr_race *race)
{
	json_t *array = json_array();

	for (size_t i = 0; i < race->n_servers; i++)
		json_array_append_new(array, text(race->servers[i].name));
	return array;
}

/* ---- Steps ------------------------------------------------------------------------- */

static json_t *keys(const struct rr_race *race, const struct rr_event *event)
{
	json_t *object = json_object();

	for (size_t i = 0; i < race->n_keys; i++) {
		if (event->keys[i])
			put(object, race->keys[i], text(event->keys[i]));
	}
	return object;
}

static json_t *step(const struct rr_trace *trace, const struct rr_event *event)
{
	const struct rr_race *race = trace->race;
	const struct rr_step *step = event->step;
	json_t *object = json_object();
	char *words = rr_wording_step(trace, event);

	if (step->kind != RR_STEP_NOTE)
		put(object, "number",
		    json_integer((json_int_t)rr_rows_number(
			    trace, (int)(step - race->steps))));
	put(object, "line", json_integer(step->line));
	put(object, "round", json_integer(step->repetition));
	put(object, "kind", text(rr_wording_kind(step)));
	put(object, "client",
	    text(step->actor >= 0 ? race->actors[step->actor].name : NULL));
	put(object, "server",
	    text(step->server >= 0 ? race->servers[step->server].name : NULL));
	put(object, "text", text(words));
	put(object, "reply", text(event->reply));
	put(object, "expected", text(step->expected));
	put(object, "differs", json_boolean(event->differs));
	put(object, "broke", text(event->remark));
	put(object, "why", text(step->remark));
	put(object, "at_ns", json_integer(event->at_ns));
	put(object, "keys", keys(race, event));
	free(words);
	return object;
}

static json_t *steps(const struct rr_trace *trace)
{
	json_t *array = json_array();

	for (size_t i = 0; i < trace->n_events; i++)
		json_array_append_new(array, step(trace, &trace->events[i]));
	return array;
}

/* ---- The verdict ------------------------------------------------------------------ */

static json_t *findings(const struct rr_trace *trace)
{
	json_t *array = json_array();

	for (int i = 0; i < RR_FINDINGS; i++) {
		const enum rr_finding finding = (enum rr_finding)i;
		json_t *object;

		if (!(trace->findings & 1U << i))
			continue;
		object = json_object();
		put(object, "name", text(rr_finding_name(finding)));
		put(object, "figures", text(trace->conclusion[finding]));
		put(object, "meaning", text(rr_finding_meaning(finding)));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *expected(const struct rr_race *race)
{
	json_t *array = json_array();

	for (size_t i = 0; i < race->n_verdicts; i++)
		json_array_append_new(array, text(race->verdicts[i]));
	return array;
}

static json_t *sayings(const struct rr_trace *trace)
{
	json_t *array = json_array();

	for (size_t i = 0; i < trace->race->n_sayings; i++) {
		const struct rr_saying *saying = &trace->race->sayings[i];
		json_t *object = json_object();

		put(object, "claim", text(saying->claim));
		put(object, "line", json_integer(saying->line));
		put(object, "step",
		    saying->step < 0 ? json_null() :
				       json_integer((json_int_t)rr_rows_number(
					       trace, saying->step)));
		put(object, "says", text(saying->says));
		put(object, "holds",
		    json_boolean(rr_trace_saying_holds(trace, saying)));
		json_array_append_new(array, object);
	}
	return array;
}

bool rr_draw_json(FILE *out, const struct rr_trace *trace)
{
	const struct rr_race *race = trace->race;
	json_t *root = json_object();
	bool written;

	put(root, "schema", json_integer(SCHEMA));
	put(root, "race", text(race->path));
	put(root, "title", text(race->title));
	put(root, "claims", claims(race));
	put(root, "clients", clients(race));
	put(root, "servers", servers(race));
	put(root, "steps", steps(trace));
	put(root, "findings", findings(trace));
	put(root, "expected", expected(race));
	put(root, "as_written", json_boolean(trace->as_written));
	put(root, "documents", sayings(trace));
	written = json_dumpf(root, out, JSON_INDENT(2)) == 0;
	json_decref(root);
	if (written)
		putc('\n', out);
	return written;
}
