/* SPDX-License-Identifier: MIT */
#include "token.h"

#include <sys/random.h>

const char rl_compare_and_delete[] =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then "
	"return redis.call('DEL', KEYS[1]) else return 0 end";

bool rl_token_fresh(char token[RL_TOKEN_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[RL_TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	for (int i = 0; i < RL_TOKEN_BYTES; i++) {
		token[2 * i] = digits[bytes[i] >> 4];
		token[2 * i + 1] = digits[bytes[i] & 15];
	}
	token[2 * RL_TOKEN_BYTES] = '\0';
	return true;
}
