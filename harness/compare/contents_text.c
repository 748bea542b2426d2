/* SPDX-License-Identifier: MIT */
/* What a server holds, in lines for readers: all that is compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reply.h"
#include "base/text.h"
#include "contents.h"

bool rr_contents_has_type(const struct rdl_reply *key, const char *type)
{
	return key[RR_KEY_TYPE].length == strlen(type) && strcmp(key[RR_KEY_TYPE].text, type) == 0;
}

static void print_time(FILE *file, const struct rdl_reply *left_ms, const char *before)
{
	if (left_ms->integer >= 0)
		fprintf(file, "%sfor %.15g s", before, (double)left_ms->integer / 1000);
}

static void print_set(FILE *file, const struct rdl_reply *value)
{
	fputc('{', file);
	for (size_t i = 0; i < value->length; i++) {
		fputs(i ? ", " : "", file);
		rr_write_reply(file, &value->elements[i]);
	}
	fputc('}', file);
}

static void print_hash(FILE *file, const struct rdl_reply *value)
{
	fputc('{', file);
	for (size_t i = 0; i < value->length; i += RR_HASH_GROUP) {
		const struct rdl_reply *field = &value->elements[i];

		fputs(i ? ", " : "", file);
		rr_write_reply(file, &field[0]);
		fputs(": ", file);
		rr_write_reply(file, &field[1]);
		print_time(file, &field[2], " ");
	}
	fputc('}', file);
}

static void print_scores(FILE *file, const struct rdl_reply *value)
{
	fputc('{', file);
	for (size_t i = 0; i < value->length; i += 2) {
		fputs(i ? ", " : "", file);
		rr_write_reply(file, &value->elements[i]);
		fprintf(file, ": %s", value->elements[i + 1].text);
	}
	fputc('}', file);
}

static void print_registers(FILE *file, const struct rdl_reply *value)
{
	fputs("HyperLogLog {", file);
	for (size_t i = 0; i < value->length; i += 2)
		fprintf(file, "%s%lld: %lld", i ? ", " : "", value->elements[i].integer,
			value->elements[i + 1].integer);
	fputc('}', file);
}

/* Names and values of what XINFO says. */
static void print_attributes(FILE *file, const struct rdl_reply *attributes, const char *before)
{
	for (size_t i = 0; i + 1 < attributes->length; i += 2) {
		const struct rdl_reply *name = &attributes->elements[i], *value = name + 1;

		fprintf(file, "%s%s ", before, name->text);
		if (value->type == RDL_REPLY_STRING)
			rr_write_bare_word(file, value->text, value->length);
		else
			rr_write_reply(file, value);
		before = ", ";
	}
}

static void print_if_any(FILE *file, const char *what, const struct rdl_reply *list)
{
	if (list->length == 0)
		return;
	fputs(what, file);
	rr_write_reply(file, list);
}

static void print_stream(FILE *file, const struct rdl_reply *value)
{
	const struct rdl_reply *groups = &value->elements[RR_STREAM_GROUPS];

	rr_write_reply(file, &value->elements[RR_STREAM_ENTRIES]);
	print_attributes(file, &value->elements[RR_STREAM_ATTRIBUTES], ", ");
	for (size_t i = 0; i < groups->length; i++) {
		const struct rdl_reply *group = groups->elements[i].elements;

		fputs(", group ", file);
		rr_write_quoted(file, group[RR_GROUP_NAME].text, group[RR_GROUP_NAME].length);
		print_attributes(file, &group[RR_GROUP_ATTRIBUTES], " (");
		print_if_any(file, ", consumers ", &group[RR_GROUP_CONSUMERS]);
		print_if_any(file, ", pending ", &group[RR_GROUP_PENDING]);
		fputc(')', file);
	}
}

static void print_value(FILE *file, const struct rdl_reply *key)
{
	static const struct {
		const char *type;
		void (*print)(FILE *file, const struct rdl_reply *value);
	} types[] = {
		{ "string", rr_write_reply }, { "functions", rr_write_reply },
		{ "list", rr_write_reply },   { "HyperLogLog", print_registers },
		{ "set", print_set },         { "zset", print_scores },
		{ "hash", print_hash },       { "stream", print_stream },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (rr_contents_has_type(key, types[i].type)) {
			types[i].print(file, &key[RR_KEY_VALUE]);
			return;
		}
	}
	fprintf(file, "%s ", key[RR_KEY_TYPE].text);
	rr_write_reply(file, &key[RR_KEY_VALUE]);
}

void rr_contents_print_key(FILE *file, const struct rdl_reply *key)
{
	const long long database = key[RR_KEY_DATABASE].integer;
	const struct rdl_reply *name;
	char *plain;
	bool is_plain;

	if (database > 0)
		fprintf(file, "db %lld: ", database);
	if (database < 0)
		fputs("functions ", file);
	/* As it is, if nothing else in a line could be meant; else in quotes. */
	name = &key[RR_KEY_NAME];
	plain = rr_plain_bytes(name->text, name->length);
	is_plain = strlen(plain) == name->length && name->length > 0 &&
		   memcmp(plain, name->text, name->length) == 0 && !strpbrk(plain, "\"\\") &&
		   !strstr(plain, " = ") && strncmp(plain, "db ", 3) != 0 &&
		   strncmp(plain, "functions ", 10) != 0;
	if (is_plain)
		fputs(plain, file);
	else
		rr_write_quoted(file, name->text, name->length);
	free(plain);
	fputs(" = ", file);
	print_value(file, key);
	print_time(file, &key[RR_KEY_LEFT_MS], ", ");
	fputc('\n', file);
}
