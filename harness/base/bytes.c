/* SPDX-License-Identifier: MIT */
#include "bytes.h"

#include <string.h>

enum { NUMBER_MAX = 10, DIGIT_BITS = 7 };

/* ---- Writing ------------------------------------------------------------------------- */

/* Seven bits in a byte, the lowest first; the sign comes lowest, so that small numbers are
 * short. */
void rr_bytes_put_number(FILE *out, int64_t number)
{
	uint64_t rest = (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);

	for (; rest >= 1U << DIGIT_BITS; rest >>= DIGIT_BITS)
		fputc((int)(rest & 127) | 128, out);
	fputc((int)rest, out);
}

void rr_bytes_put(FILE *out, const void *bytes, size_t length)
{
	rr_bytes_put_number(out, (int64_t)length);
	fwrite(bytes, 1, length, out);
}

/* ---- Reading ------------------------------------------------------------------------- */

const void *rr_bytes_take(struct rr_bytes *bytes, size_t *length)
{
	const unsigned char *at = bytes->at;
	uint64_t digits = 0;

	for (unsigned i = 0; i < NUMBER_MAX && at < bytes->end; i++) {
		const unsigned char byte = *at++;

		digits |= (uint64_t)(byte & 127) << (i * DIGIT_BITS);
		if (byte >= 128)
			continue;
		if (digits & 1 || digits >> 1 > (uint64_t)(bytes->end - at))
			break;
		*length = digits >> 1;
		bytes->at = at + *length;
		return at;
	}
	*length = 0;
	return "";
}

/* ---- Digests ------------------------------------------------------------------------- */

static uint64_t mix(uint64_t digest, uint64_t word)
{
	digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return digest ^ digest >> 32;
}

uint64_t rr_bytes_digest(uint64_t before, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t digest = mix(before, length), word;

	for (; length >= sizeof(word); length -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		digest = mix(digest, word);
	}
	word = 0;
	memcpy(&word, at, length);
	return mix(digest, word);
}
