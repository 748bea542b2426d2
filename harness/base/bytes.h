/* SPDX-License-Identifier: MIT */
/* Numbers and bytes in a file of our own, written one after the other, and read again by
 * somebody who trusts none of it. */
#ifndef RR_BYTES_H
#define RR_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void rr_bytes_put_number(FILE *out, int64_t number);
void rr_bytes_put(FILE *out, const void *bytes, size_t length);

/* What is left to be read. Once something was not as it has to be, it is wrong for good, and
 * all that is taken is 0 and empty. */
struct rr_bytes {
	const unsigned char *at, *end;
	bool is_wrong;
};

/* A number in [min, max]; else it is wrong, and min is returned. */
int64_t rr_bytes_take_number(struct rr_bytes *bytes, int64_t min, int64_t max);

/* The bytes stay where they are. */
const void *rr_bytes_take(struct rr_bytes *bytes, size_t *length);

/* How many things follow, of which each takes a byte at least. */
size_t rr_bytes_take_count(struct rr_bytes *bytes);

/* A digest of bytes, which goes on from the one of those before; the first is 0. */
uint64_t rr_bytes_digest(uint64_t before, const void *bytes, size_t length);

#endif
