/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

bool rr_error_set(struct rr_error *error, enum rr_error_kind kind,
		  const char *format, ...)
{
	va_list arguments;

	if (error->kind != RR_ERROR_NONE)
		return false;
	error->kind = kind;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return false;
}

bool rr_error_interrupted(struct rr_error *error)
{
	return rr_error_set(error, RR_ERROR_INTERRUPTED, "%s", "");
}

bool rr_error_no_memory(struct rr_error *error)
{
	return rr_error_set(error, RR_ERROR_INTERNAL, "out of memory");
}
