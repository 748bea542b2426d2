/* SPDX-License-Identifier: MIT */
#include "token.h"

#include "driver.h"

const char rl_compare_and_delete[] =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then "
	"return redis.call('DEL', KEYS[1]) else return 0 end";

enum { RANDOM_BYTES = (RL_TOKEN_SIZE - 1) / 2 };

bool rl_token_fresh(const struct rl_link *link, char token[RL_TOKEN_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[RANDOM_BYTES];

	if (!rl_random(link, bytes, sizeof(bytes)))
		return false;
	for (int i = 0; i < RANDOM_BYTES; i++) {
		token[2 * i] = digits[bytes[i] >> 4];
		token[2 * i + 1] = digits[bytes[i] & 15];
	}
	token[2 * RANDOM_BYTES] = '\0';
	return true;
}
