/* SPDX-License-Identifier: MIT */
/* Texts of little programs, read. */
#include "little.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CAD_SCRIPT \
	"if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) end return 0"

/* Where a `break` leads to, until the end of its loop is known. */
enum { BEHIND_LOOP = LITTLE_OPS + 1 };

struct reader {
	struct little *little;
	const char *at;
	struct rdl_word token; /* the next one; without length at the end */
};

static struct rdl_word word_of(const char *text)
{
	return (struct rdl_word){ text, strlen(text) };
}

/* ---- Tokens ---------------------------------------------------------------------- */

/* Goes on to the next; returns the one that was there. */
static struct rdl_word take(struct reader *reader)
{
	const struct rdl_word token = reader->token;

	reader->at += strspn(reader->at, " \t\n");
	reader->token = (struct rdl_word){ reader->at, strcspn(reader->at, " \t\n;{}") };
	if (reader->token.length == 0 && *reader->at)
		reader->token.length = 1;
	reader->at += reader->token.length;
	return token;
}

static bool is_word(struct rdl_word token, const char *text)
{
	return token.length == strlen(text) && memcmp(token.text, text, token.length) == 0;
}

static bool is_next(const struct reader *reader, const char *text)
{
	return is_word(reader->token, text);
}

static void expect(struct reader *reader, const char *text)
{
	cr_assert(is_next(reader, text), "'%s' is expected before '%.*s%s' in: %s", text,
		  (int)reader->token.length, reader->token.text, reader->at, reader->little->text);
	take(reader);
}

static bool is_register(struct rdl_word token)
{
	return token.length == 1 && islower((unsigned char)token.text[0]);
}

static int take_register(struct reader *reader)
{
	cr_assert(is_register(reader->token), "a register is expected before '%s' in: %s",
		  reader->at, reader->little->text);
	return take(reader).text[0] - 'a';
}

static struct little_operand take_operand(struct reader *reader)
{
	const struct rdl_word token = take(reader);

	if (is_word(token, "self"))
		return (struct little_operand){ .kind = LITTLE_SELF };
	if (is_register(token))
		return (struct little_operand){ LITTLE_REGISTER, token.text[0] - 'a' };
	cr_assert(isdigit((unsigned char)token.text[0]), "a number is expected, not '%.*s' in: %s",
		  (int)token.length, token.text, reader->little->text);
	return (struct little_operand){ LITTLE_NUMBER, atoi(token.text) };
}

static char take_sign(struct reader *reader)
{
	static const struct {
		const char *text;
		char sign;
	} signs[] = { { "==", '=' }, { "!=", '!' }, { "<", '<' }, { ">=", '>' },
		      { "+", '+' },  { "-", '-' },  { "%", '%' } };
	const struct rdl_word token = take(reader);

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (is_word(token, signs[i].text))
			return signs[i].sign;
	}
	cr_assert_fail("a sign is expected, not '%.*s' in: %s", (int)token.length, token.text,
		       reader->little->text);
	return 0;
}

/* ---- Statements -------------------------------------------------------------------- */

static void read_block(struct reader *reader);

static struct little_op *add_op(struct reader *reader, int kind)
{
	struct little *little = reader->little;

	cr_assert_lt(little->n_ops, LITTLE_OPS, "too long: %s", little->text);
	little->ops[little->n_ops] = (struct little_op){ .kind = kind, .to = -1 };
	return &little->ops[little->n_ops++];
}

static void add_word(struct little_command *command, struct rdl_word word)
{
	cr_assert_lt(command->n_words, LITTLE_WORDS);
	command->words[command->n_words++] = word;
}

static void read_command(struct reader *reader, struct little_op *op, int to)
{
	struct little_command *command = &op->commands[op->n_commands];

	cr_assert_lt(op->n_commands++, LITTLE_LANES);
	*command = (struct little_command){ .to = to };
	if (is_next(reader, "CAD")) {
		take(reader);
		add_word(command, word_of("EVAL"));
		add_word(command, word_of(CAD_SCRIPT));
		add_word(command, word_of("1"));
	}
	while (!is_next(reader, ";"))
		add_word(command, take(reader));
	take(reader);
}

static bool is_command(const struct reader *reader)
{
	return isupper((unsigned char)reader->token.text[0]);
}

static void read_both(struct reader *reader)
{
	struct little_op *op = add_op(reader, LITTLE_SEND);

	expect(reader, "{");
	while (!is_next(reader, "}")) {
		int to = -1;

		if (!is_command(reader)) {
			to = take_register(reader);
			expect(reader, "=");
		}
		read_command(reader, op, to);
	}
	take(reader);
	if (op->n_commands == 0)
		reader->little->n_ops--;
}

/* x = ... */
static void read_assignment(struct reader *reader)
{
	const int to = take_register(reader);
	struct little_op *op;

	expect(reader, "=");
	if (is_command(reader)) {
		read_command(reader, add_op(reader, LITTLE_SEND), to);
		return;
	}
	op = add_op(reader, LITTLE_LET);
	op->to = to;
	op->a = take_operand(reader);
	if (!is_next(reader, ";")) {
		op->sign = take_sign(reader);
		op->b = take_operand(reader);
	}
	expect(reader, ";");
}

static struct little_op *read_test(struct reader *reader)
{
	struct little_op *op = add_op(reader, LITTLE_TEST);

	op->a = take_operand(reader);
	op->sign = take_sign(reader);
	op->b = take_operand(reader);
	return op;
}

static void read_if(struct reader *reader)
{
	struct little_op *test = read_test(reader), *jump;

	read_block(reader);
	test->target = reader->little->n_ops;
	if (!is_next(reader, "else"))
		return;
	take(reader);
	jump = add_op(reader, LITTLE_JUMP);
	test->target = reader->little->n_ops;
	read_block(reader);
	jump->target = reader->little->n_ops;
}

static void read_while(struct reader *reader)
{
	struct little *little = reader->little;
	const size_t begin = little->n_ops;
	struct little_op *test = read_test(reader);

	read_block(reader);
	add_op(reader, LITTLE_JUMP)->target = begin;
	test->target = little->n_ops;
	for (size_t i = begin; i < little->n_ops; i++) {
		if (little->ops[i].kind == LITTLE_JUMP && little->ops[i].target == BEHIND_LOOP)
			little->ops[i].target = little->n_ops;
	}
}

static void read_statement(struct reader *reader)
{
	const struct rdl_word token = reader->token;

	if (is_command(reader)) {
		read_command(reader, add_op(reader, LITTLE_SEND), -1);
		return;
	}
	if (is_register(token)) {
		read_assignment(reader);
		return;
	}
	take(reader);
	if (is_word(token, "both")) {
		read_both(reader);
	} else if (is_word(token, "if")) {
		read_if(reader);
	} else if (is_word(token, "while")) {
		read_while(reader);
	} else if (is_word(token, "print")) {
		add_op(reader, LITTLE_PRINT)->a = take_operand(reader);
		expect(reader, ";");
	} else if (is_word(token, "break")) {
		add_op(reader, LITTLE_JUMP)->target = BEHIND_LOOP;
		expect(reader, ";");
	} else {
		cr_assert(is_word(token, "end"), "'%.*s' is no statement: %s", (int)token.length,
			  token.text, reader->little->text);
		add_op(reader, LITTLE_END);
		expect(reader, ";");
	}
}

static void read_block(struct reader *reader)
{
	expect(reader, "{");
	while (!is_next(reader, "}"))
		read_statement(reader);
	take(reader);
}

/* ---- Programs ---------------------------------------------------------------------- */

struct little *little_new(const char *text)
{
	struct little *little = calloc(1, sizeof(*little));
	struct reader reader = { .little = little };

	cr_assert_not_null(little);
	little->text = strdup(text);
	cr_assert_not_null(little->text);
	reader.at = little->text;
	take(&reader);
	while (reader.token.length > 0)
		read_statement(&reader);
	add_op(&reader, LITTLE_END);
	return little;
}

void little_free(struct little *little)
{
	if (little)
		free(little->text);
	free(little);
}
