/* SPDX-License-Identifier: MIT */
#include "hyperloglog.h"

#include <string.h>

enum { REGISTERS = RR_HYPERLOGLOG_REGISTERS, REGISTER_BITS = 6, HEADER = 16 };

/* Bits in a row, as hyperloglog.c has them, the lowest first. */
static void read_dense(const unsigned char *bytes, uint8_t *registers)
{
	for (size_t i = 0; i < REGISTERS; i++) {
		const size_t at = i * REGISTER_BITS / 8, bit = i * REGISTER_BITS % 8;
		const unsigned next = bit > 8 - REGISTER_BITS ? bytes[at + 1] : 0;

		registers[i] = (bytes[at] | next << 8) >> bit & ((1U << REGISTER_BITS) - 1);
	}
}

/* Runs of equal registers: 00nnnnnn and 01nnnnnn nnnnnnnn of zeros, 1vvvvvnn of values.
 * False: it is no such thing. */
static bool read_sparse(const unsigned char *bytes, size_t length, uint8_t *registers)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++) {
		const unsigned byte = bytes[i];
		size_t run = (byte & 0x80 ? byte & 3 : byte & 0x3f) + 1;

		if ((byte & 0xc0) == 0x40 && i + 1 == length)
			return false;
		if ((byte & 0xc0) == 0x40)
			run = ((byte & 0x3f) << 8 | bytes[++i]) + 1;
		if (n + run > REGISTERS)
			return false;
		memset(registers + n, byte & 0x80 ? (int)(byte >> 2 & 0x1f) + 1 : 0, run);
		n += run;
	}
	return n == REGISTERS;
}

/* Behind the header: encoding, three bytes that are 0, the remembered count. */
bool rr_hyperloglog_read(const char *text, size_t length, uint8_t *registers)
{
	const unsigned char *bytes = (const unsigned char *)text;

	if (length < HEADER || memcmp(bytes, "HYLL", 4) != 0 || memcmp(bytes + 5, "\0\0\0", 3) != 0)
		return false;
	if (bytes[4] == 1)
		return read_sparse(bytes + HEADER, length - HEADER, registers);
	if (bytes[4] || length != HEADER + REGISTERS * REGISTER_BITS / 8)
		return false;
	read_dense(bytes + HEADER, registers);
	return true;
}
