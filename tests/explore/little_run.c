/* SPDX-License-Identifier: MIT */
/* What little programs do: from one command to the next. */
#include "little.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Registers hold names of clients as numbers from here on. Ops that a program may do
 * without a command. */
enum { NAMES = 1000000, LOCAL_MAX = 1000, TEXT_SIZE = 24 };

/* ---- Values -------------------------------------------------------------------------- */

static void print_value(int32_t value, char text[TEXT_SIZE])
{
	if (value >= NAMES)
		snprintf(text, TEXT_SIZE, "me-%c", 'A' + value - NAMES);
	else
		snprintf(text, TEXT_SIZE, "%d", value);
}

static int32_t value_of(const struct rdl_reply *reply)
{
	if (reply->type == RDL_REPLY_INTEGER)
		return (int32_t)reply->integer;
	if (reply->type == RDL_REPLY_STATUS)
		return 1;
	if (reply->type != RDL_REPLY_STRING)
		return reply->type == RDL_REPLY_NIL ? 0 : -1;
	if (strncmp(reply->text, "me-", 3) == 0)
		return NAMES + reply->text[3] - 'A';
	return atoi(reply->text);
}

static int32_t evaluate(struct little_operand operand, int self, const struct little_position *at)
{
	if (operand.kind == LITTLE_SELF)
		return NAMES + self;
	return operand.kind == LITTLE_REGISTER ? at->registers[operand.number] : operand.number;
}

static int32_t calculate(const struct little_op *op, int self, const struct little_position *at)
{
	const int32_t a = evaluate(op->a, self, at), b = evaluate(op->b, self, at);

	if (op->sign && strchr("+-%", op->sign) && (a >= NAMES || b >= NAMES))
		return -1;
	switch (op->sign) {
	case '-':
		return a - b;
	case '%':
		return a % b;
	case '=':
		return a == b;
	case '!':
		return a != b;
	case '<':
		return a < b;
	case '>':
		return a >= b;
	case '+':
		return a + b;
	default:
		return a;
	}
}

/* ---- Steps ----------------------------------------------------------------------------- */

static void print(struct little_position *at, int32_t value)
{
	char text[TEXT_SIZE];
	const size_t length = strlen(at->said);

	print_value(value, text);
	snprintf(at->said + length, sizeof(at->said) - length, "%s ", text);
}

/* One op that is no command. */
static void do_op(const struct little_op *op, int self, struct little_position *at)
{
	at->op++;
	if (op->kind == LITTLE_LET)
		at->registers[op->to] = calculate(op, self, at);
	else if (op->kind == LITTLE_PRINT)
		print(at, evaluate(op->a, self, at));
	else if (op->kind == LITTLE_JUMP || !calculate(op, self, at))
		at->op = (uint32_t)op->target;
}

/* On to the next command, or the end: one that calculates for ever ends, too. Registers mean
 * nothing behind that. */
static void go_on(const struct little *little, int self, struct little_position *at)
{
	const struct little_op *op = &little->ops[at->op];

	for (int i = 0; op->kind != LITTLE_SEND && op->kind != LITTLE_END; i++) {
		do_op(op, self, at);
		if (i == LOCAL_MAX)
			at->op = (uint32_t)little->n_ops - 1;
		op = &little->ops[at->op];
	}
	at->owed = (1U << op->n_commands) - 1;
	if (op->kind == LITTLE_END)
		memset(at->registers, 0, sizeof(at->registers));
}

void little_begin(const struct little *little, int self, struct little_position *at)
{
	memset(at, 0, sizeof(*at));
	go_on(little, self, at);
}

/* May a server say that to the command? What is tried must be possible. */
static bool is_answer(const struct little_command *command, enum rdl_reply_type type)
{
	static const struct {
		const char *name;
		enum rdl_reply_type may_be[2];
	} answers[] = {
		{ "GET", { RDL_REPLY_STRING, RDL_REPLY_NIL } },
		{ "SET", { RDL_REPLY_STATUS, RDL_REPLY_NIL } },
		{ "SETNX", { RDL_REPLY_INTEGER, RDL_REPLY_INTEGER } },
		{ "INCR", { RDL_REPLY_INTEGER, RDL_REPLY_INTEGER } },
		{ "DEL", { RDL_REPLY_INTEGER, RDL_REPLY_INTEGER } },
	};
	const struct rdl_word name = command->words[0];

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (strncmp(name.text, answers[i].name, name.length) == 0 &&
		    answers[i].name[name.length] == '\0')
			return type == answers[i].may_be[0] || type == answers[i].may_be[1] ||
			       type == RDL_REPLY_FAILED;
	}
	return true;
}

void little_hear(const struct little *little, int self, struct little_position *at, int lane,
		 const struct rdl_reply *reply)
{
	const struct little_command *command = &little->ops[at->op].commands[lane];
	const int to = command->to;

	cr_assert(at->owed >> lane & 1);
	cr_assert(is_answer(command, reply->type), "%.*s is answered with type %d",
		  (int)command->words[0].length, command->words[0].text, reply->type);
	if (to >= 0)
		at->registers[to] = value_of(reply);
	at->owed &= ~(1U << lane);
	if (at->owed)
		return;
	at->op++;
	go_on(little, self, at);
}

/* ---- Commands ---------------------------------------------------------------------------- */

uint32_t little_sent(const struct little *little, int self, const struct little_position *at,
		     int lane, struct rr_terms *terms)
{
	const struct little_command *command = &little->ops[at->op].commands[lane];
	struct rdl_command sent = { .n_words = command->n_words };
	char texts[LITTLE_WORDS][TEXT_SIZE];

	for (size_t i = 0; i < command->n_words; i++) {
		const struct rdl_word word = command->words[i];

		sent.words[i] = word;
		if (word.text[0] == '$')
			print_value(at->registers[word.text[1] - 'a'], texts[i]);
		else if (word.length == 4 && memcmp(word.text, "self", 4) == 0)
			print_value(NAMES + self, texts[i]);
		else
			continue;
		sent.words[i] = (struct rdl_word){ texts[i], strlen(texts[i]) };
	}
	return rr_terms_command(terms, &sent);
}
