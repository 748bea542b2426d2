/* SPDX-License-Identifier: MIT */
/* Looking at replies. */
#include <errno.h>
#include <stdlib.h>

#include "redislock.h"

bool rl_reply_number(const struct rl_reply *reply, long long *value)
{
	char *end;

	if (reply->type == RL_REPLY_INTEGER) {
		*value = reply->integer;
		return true;
	}
	if (reply->type != RL_REPLY_STRING || reply->length == 0)
		return false;
	errno = 0;
	*value = strtoll(reply->text, &end, 10);
	return errno == 0 && *end == '\0';
}
