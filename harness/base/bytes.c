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

static bool take_digits(struct rr_bytes *bytes, uint64_t *number)
{
	*number = 0;
	for (unsigned i = 0; i < NUMBER_MAX && bytes->at < bytes->end; i++) {
		const unsigned char byte = *bytes->at++;

		*number |= (uint64_t)(byte & 127) << (i * DIGIT_BITS);
		if (byte < 128)
			return true;
	}
	return false;
}

int64_t rr_bytes_take_number(struct rr_bytes *bytes, int64_t min, int64_t max)
{
	uint64_t digits;
	int64_t number;

	if (bytes->is_wrong || !take_digits(bytes, &digits)) {
		bytes->is_wrong = true;
		return min;
	}
	number = (int64_t)(digits >> 1 ^ (digits & 1 ? UINT64_MAX : 0));
	bytes->is_wrong = number < min || number > max;
	return bytes->is_wrong ? min : number;
}

size_t rr_bytes_take_count(struct rr_bytes *bytes)
{
	return (size_t)rr_bytes_take_number(bytes, 0, bytes->end - bytes->at);
}

const void *rr_bytes_take(struct rr_bytes *bytes, size_t *length)
{
	const void *at;

	*length = rr_bytes_take_count(bytes);
	/* The number itself has taken some of what was left. */
	if (bytes->is_wrong || (ptrdiff_t)*length > bytes->end - bytes->at) {
		bytes->is_wrong = true;
		*length = 0;
		return "";
	}
	at = bytes->at;
	bytes->at += *length;
	return at;
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
