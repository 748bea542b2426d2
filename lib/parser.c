/* SPDX-License-Identifier: MIT */
#include "parser.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "redislock.h"

/* ---- Memory ------------------------------------------------------------ */

struct rdl_arena_chunk {
	struct rdl_arena_chunk *next;
	_Alignas(max_align_t) char bytes[];
};

void *rdl_arena_take(struct rdl_arena *arena, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	struct rdl_arena_chunk *chunk;
	void *piece;

	size = (size + align - 1) / align * align;
	if (size <= sizeof(arena->first) - arena->used) {
		piece = arena->first + arena->used;
		arena->used += size;
		return piece;
	}
	chunk = malloc(sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk->bytes;
}

void rdl_arena_reset(struct rdl_arena *arena)
{
	while (arena->chunks) {
		struct rdl_arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
	arena->used = 0;
	arena->n_elements = 0;
	arena->is_too_much = false;
}

/* ---- Replies ----------------------------------------------------------- */

#if HIREDIS_MAJOR >= 1
typedef size_t parsed_count;
#else
typedef int parsed_count;
#endif

/* The place of a parsed value: its slot in the array around it, or a new
 * root. */
static struct rdl_reply *place(const redisReadTask *task)
{
	struct rdl_arena *arena = task->privdata;

	if (task->parent) {
		struct rdl_reply *around = task->parent->obj;

		return &around->elements[task->idx];
	}
	return rdl_arena_take(arena, sizeof(struct rdl_reply));
}

static void *parsed_string(const redisReadTask *task, char *text, size_t length)
{
	struct rdl_reply *reply = place(task);
	char *copy = rdl_arena_take(task->privdata, length + 1);

	if (!reply || !copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	*reply = (struct rdl_reply){ .text = copy, .length = length };
	if (task->type == REDIS_REPLY_ERROR)
		reply->type = RDL_REPLY_FAILED;
	else if (task->type == REDIS_REPLY_STATUS)
		reply->type = RDL_REPLY_STATUS;
	else
		reply->type = RDL_REPLY_STRING;
	return reply;
}

static void *parsed_array(const redisReadTask *task, parsed_count count)
{
	const size_t length = (size_t)count;
	struct rdl_arena *arena = task->privdata;
	struct rdl_reply *reply, *elements;

	/* Of all arrays: a few bytes announce one, and it has its memory then. */
	arena->is_too_much = length > RDL_REPLY_ELEMENTS_MAX - arena->n_elements;
	if (arena->is_too_much)
		return NULL;
	arena->n_elements += length;
	reply = place(task);
	elements = rdl_arena_take(arena, (length + 1) * sizeof(*elements));
	if (!reply || !elements)
		return NULL;
	*reply = (struct rdl_reply){ .type = RDL_REPLY_ARRAY,
				     .elements = elements,
				     .length = length };
	return reply;
}

static void *parsed_integer(const redisReadTask *task, long long value)
{
	struct rdl_reply *reply = place(task);

	if (reply)
		*reply = (struct rdl_reply){ .type = RDL_REPLY_INTEGER, .integer = value };
	return reply;
}

static void *parsed_nil(const redisReadTask *task)
{
	struct rdl_reply *reply = place(task);

	if (reply)
		*reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	return reply;
}

#if HIREDIS_MAJOR >= 1
/* Only a client that has asked for them is sent such: what a server sends all the same. */
static void *parsed_double(const redisReadTask *task, double value, char *text, size_t length)
{
	(void)value;
	return parsed_string(task, text, length);
}

static void *parsed_bool(const redisReadTask *task, int value)
{
	return parsed_integer(task, value);
}
#endif

static void forget_parsed(void *object)
{
	(void)object; /* the arena owns it */
}

void rdl_parser_attach(struct redisReader *reader, struct rdl_arena *arena)
{
	static redisReplyObjectFunctions functions = {
		.createString = parsed_string,
		.createArray = parsed_array,
		.createInteger = parsed_integer,
		.createNil = parsed_nil,
#if HIREDIS_MAJOR >= 1
		.createDouble = parsed_double,
		.createBool = parsed_bool,
#endif
		.freeObject = forget_parsed,
	};

	reader->fn = &functions;
	reader->privdata = arena;
}
