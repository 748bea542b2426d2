/* SPDX-License-Identifier: MIT */
#include "xml.h"

#include <stdarg.h>
#include <string.h>

static void write_escaped(FILE *out, const char *text, size_t length)
{
	static const char special[] = "&<>\"'";
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;",
						"&quot;", "&#39;" };

	for (size_t i = 0; i < length; i++) {
		const char *found = strchr(special, text[i]);

		if (found)
			fputs(entities[found - special], out);
		else
			putc(text[i], out);
	}
}

void rr_xml_text(FILE *out, const char *text)
{
	if (text)
		write_escaped(out, text, strlen(text));
}

void rr_xml_print(FILE *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	for (; *format; format++) {
		if (*format != '%') {
			putc(*format, out);
		} else if (*++format == 's') {
			rr_xml_text(out, va_arg(arguments, const char *));
		} else if (*format == 'd') {
			fprintf(out, "%d", va_arg(arguments, int));
		} else if (*format == 'z') {
			fprintf(out, "%zu", va_arg(arguments, size_t));
			format++;
		} else if (*format == '.') {
			const int length = va_arg(arguments, int);

			write_escaped(out, va_arg(arguments, const char *),
				      (size_t)length);
			format += 2;
		}
	}
	va_end(arguments);
}
