/* SPDX-License-Identifier: MIT */
/* Memory, or the end of the process. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* No destructors and no buffers of stdio: a worker shares them with its parent. */
void rr_out_of_memory(void)
{
	static const char line[] = "redrace: out of memory\n";

	(void)!write(STDERR_FILENO, line, sizeof(line) - 1);
	_exit(RR_EXIT_INTERNAL);
}

static void *check_memory(void *memory)
{
	if (!memory)
		rr_out_of_memory();
	return memory;
}

void *rr_malloc(size_t size)
{
	return check_memory(malloc(size ? size : 1));
}

void *rr_calloc(size_t n, size_t size)
{
	return check_memory(calloc(n ? n : 1, size ? size : 1));
}

void *rr_realloc(void *memory, size_t n, size_t size)
{
	return check_memory(reallocarray(memory, n ? n : 1, size ? size : 1));
}

char *rr_strdup(const char *text)
{
	return check_memory(strdup(text));
}

char *rr_strndup(const char *text, size_t length)
{
	return check_memory(strndup(text, length));
}

void *rr_memdup(const void *bytes, size_t size)
{
	return memcpy(rr_malloc(size), bytes, size);
}

char *rr_vasprintf(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		rr_out_of_memory();
	return text;
}

char *rr_asprintf(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = rr_vasprintf(format, arguments);
	va_end(arguments);
	return text;
}

FILE *rr_open_text(char **text)
{
	static _Thread_local size_t unread;

	return rr_open_memory(text, &unread);
}

FILE *rr_open_memory(char **text, size_t *size)
{
	return check_memory(open_memstream(text, size));
}

FILE *rr_open_fixed(char *text, size_t size)
{
	text[0] = text[size - 1] = '\0';
	return check_memory(fmemopen(text, size - 1, "w"));
}
