/* SPDX-License-Identifier: MIT */
/* An OpenAPI document (3, or Swagger 2), as FastAPI, Nest and Spring serve it: its paths, with a body that
 * fits the schema. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "project.h"

/* A schema may refer to itself, and so make a body of any size. */
enum { DEPTH_MOST = 8, VALUES_MOST = 500 };

struct document {
	const json_t *root;
	int n_values; /* that were made for this body */
};

/* What "#/components/schemas/Order" names; the schema itself, if it refers to none. */
static const json_t *resolve(const json_t *root, const json_t *schema)
{
	for (int depth = 0; schema && depth < DEPTH_MOST; depth++) {
		const char *reference = json_string_value(json_object_get(schema, "$ref"));
		const json_t *found = root;

		if (!reference || strncmp(reference, "#/", 2) != 0)
			return schema;
		for (reference += 2; found && *reference; reference += *reference == '/') {
			const size_t n = strcspn(reference, "/");

			found = json_object_getn(found, reference, n);
			reference += n;
		}
		schema = found;
	}
	return schema;
}

static json_t *make_string(const json_t *schema)
{
	static const struct {
		const char *format, *value;
	} formats[] = {
		{ "date-time", "2026-01-01T00:00:00Z" },
		{ "date", "2026-01-01" },
		{ "uuid", "00000000-0000-4000-8000-000000000001" },
		{ "email", "ada@example.org" },
	};
	const char *format = json_string_value(json_object_get(schema, "format"));
	const json_int_t least = json_integer_value(json_object_get(schema, "minLength"));
	char text[65] = "a";

	for (size_t i = 0; format && i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(format, formats[i].format) == 0)
			return json_string(formats[i].value);
	}
	for (json_int_t i = 0; i < least && i + 1 < (json_int_t)sizeof(text); i++)
		text[i] = 'a';
	return json_string(text);
}

/* A value of that schema, a new reference. */
static json_t *make_value(struct document *document, const json_t *schema, int depth)
{
	static const char *const given[] = { "example", "const", "default" };
	static const char *const lists[] = { "enum", "examples" };
	static const char *const choices[] = { "anyOf", "oneOf" };
	const json_t *types, *properties, *parts, *required;
	const char *type, *name;
	json_t *value, *property;
	size_t i;

	schema = resolve(document->root, schema);
	if (!schema || depth > DEPTH_MOST || ++document->n_values > VALUES_MOST)
		return json_null();
	for (i = 0; i < 3; i++) {
		value = json_object_get(schema, given[i]);
		if (value && !json_is_null(value))
			return json_incref(value);
	}
	for (i = 0; i < 2; i++) {
		value = json_array_get(json_object_get(schema, lists[i]), 0);
		if (value)
			return json_incref(value);
	}
	for (i = 0; i < 2; i++) {
		value = json_array_get(json_object_get(schema, choices[i]), 0);
		if (value)
			return make_value(document, value, depth + 1);
	}
	types = json_object_get(schema, "type");
	type = json_string_value(json_is_array(types) ? json_array_get(types, 0) : types);
	properties = json_object_get(schema, "properties");
	parts = json_object_get(schema, "allOf");
	if (type && strcmp(type, "array") == 0)
		return json_pack("[o]",
				 make_value(document, json_object_get(schema, "items"), depth + 1));
	if (type && (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)) {
		const json_int_t least = json_integer_value(json_object_get(schema, "minimum"));

		return json_integer(least > 1 ? least : 1);
	}
	if (type && strcmp(type, "boolean") == 0)
		return json_true();
	if (type && strcmp(type, "string") == 0)
		return make_string(schema);
	/* Of an object what is required, or else all. */
	value = json_object();
	json_array_foreach((json_t *)parts, i, property) {
		json_t *part = make_value(document, property, depth + 1);

		json_object_update(value, part);
		json_decref(part);
	}
	required = json_object_get(schema, "required");
	json_object_foreach((json_t *)properties, name, property) {
		bool is_wanted = json_array_size(required) == 0;

		for (i = 0; i < json_array_size(required); i++) {
			const char *word = json_string_value(json_array_get(required, i));

			is_wanted |= word && strcmp(name, word) == 0;
		}
		if (is_wanted)
			json_object_set_new(value, name, make_value(document, property, depth + 1));
	}
	return value;
}

/* The body of an operation, malloc'd; NULL = it has none, or not in JSON. */
static char *make_body(const json_t *root, const json_t *operation)
{
	const json_t *body = resolve(root, json_object_get(operation, "requestBody"));
	const json_t *content = json_object_get(json_object_get(body, "content"),
						"application/json");
	const json_t *schema = json_object_get(content, "schema");
	struct document document = { .root = root };
	json_t *value = json_object_get(content, "example"), *parameter;
	char *text, *made;
	FILE *out;
	size_t i;

	/* Swagger 2 has it among the parameters. */
	json_array_foreach(json_object_get(operation, "parameters"), i, parameter) {
		const char *in = json_string_value(json_object_get(parameter, "in"));

		if (in && strcmp(in, "body") == 0)
			schema = json_object_get(parameter, "schema");
	}
	if (!schema && !value)
		return NULL;
	value = value ? json_incref(value) : make_value(&document, schema, 0);
	text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	json_decref(value);
	/* It will stand in '...' of a shell. */
	out = rr_open_text(&made);
	for (const char *at = text; at && *at; at++) {
		if (*at == '\'')
			fputs("\\u0027", out);
		else
			fputc(*at, out);
	}
	fclose(out);
	free(text);
	return made;
}

bool rr_routes_of_openapi(struct rr_routes *routes, const char *text, const char *from)
{
	static const char *const methods[] = { "post", "put", "patch", "delete", "get" };
	json_t *root = json_loads(text, 0, NULL), *paths = json_object_get(root, "paths"), *item;
	const json_t *server = json_array_get(json_object_get(root, "servers"), 0);
	const char *base = json_string_value(json_object_get(root, "basePath"));
	const char *path;
	bool is_one;

	if (!base)
		base = json_string_value(json_object_get(server, "url"));
	if (!base || base[0] != '/' || strcmp(base, "/") == 0)
		base = "";
	is_one = json_is_object(paths) &&
		 (json_object_get(root, "openapi") || json_object_get(root, "swagger"));
	json_object_foreach(is_one ? paths : NULL, path, item) {
		for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
			const json_t *operation = json_object_get(item, methods[i]);
			char *whole = rr_asprintf("%s%s", base, path);

			if (operation)
				rr_routes_add(routes, methods[i], whole, make_body(root, operation),
					      from);
			free(whole);
		}
	}
	json_decref(root);
	return is_one;
}
