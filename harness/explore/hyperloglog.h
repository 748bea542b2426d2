/* SPDX-License-Identifier: MIT */
/* A HyperLogLog as Redis keeps it in a string, dense or sparse, beside the count that it
 * remembers. Its registers alone are what it means. */
#ifndef RR_HYPERLOGLOG_H
#define RR_HYPERLOGLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RR_HYPERLOGLOG_REGISTERS = 1 << 14 };

/* Takes the registers out of a string. False: it is one like any other. */
bool rr_hyperloglog_read(const char *text, size_t length, uint8_t *registers);

#endif
