/* SPDX-License-Identifier: MIT */
/* Numbers and bytes in a file of our own, written one after the other, and read again by
 * somebody who trusts none of it. */
#ifndef RR_BYTES_H
#define RR_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void rr_bytes_put_number(FILE *out, int64_t number);
void rr_bytes_put(FILE *out, const void *bytes, size_t length);

/* What is left to be read. */
struct rr_bytes {
	const unsigned char *at, *end;
};

/* The next bytes that were put, which stay where they are; none, if they are not whole. */
const void *rr_bytes_take(struct rr_bytes *bytes, size_t *length);

/* A digest of bytes, which goes on from the one of those before; the first is 0. */
uint64_t rr_bytes_digest(uint64_t before, const void *bytes, size_t length);

#endif
