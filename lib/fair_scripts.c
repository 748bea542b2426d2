/* SPDX-License-Identifier: MIT */
#include "fair_scripts.h"

/* KEYS: the lock, the line, and perhaps the key whose value comes along. */
#define RL_CARRY \
	"local function carried() " \
	"if not KEYS[3] then return false end " \
	"local value = redis.pcall('GET', KEYS[3]) " \
	"return type(value) == 'string' and value end "

/* Gives the lock to the first in line who listens, or who is asking right now;
 * those who do not are gone, and so is what is no token: SET would refuse its
 * lease, and the holder could not give the lock back. Returns its token. */
#define RL_HAND_OVER \
	RL_CARRY \
	"local function hand_over(asking) " \
	"while true do " \
	"local first = redis.call('LPOP', KEYS[2]) " \
	"if not first then return false end " \
	"local object, ttl = string.match(first, '^(%x+):%d+:(%d+)$') " \
	"local ms = tonumber(ttl or 0) " \
	"if ms >= 1 and ms <= 2^52 then " \
	"redis.call('SET', KEYS[1], first, 'PX', ttl) " \
	"if first == asking then return first end " \
	"local value = carried() " \
	"if redis.call('PUBLISH', KEYS[1] .. ':wake:' .. object, " \
	"first .. (value and '=' .. value or '')) > 0 then return first end " \
	"end end end "

/* ARGV: our token, its lease, 1 if it may be in line already. Ours: {1, value}.
 * One script: between looking and standing in line the lock could come free,
 * and nobody would be woken. */
const char rl_fair_ask[] =
	RL_HAND_OVER
	"local holder = redis.call('GET', KEYS[1]) "
	"if holder == ARGV[1] then "
	"redis.call('PEXPIRE', KEYS[1], ARGV[2]) return {1, carried()} end "
	"if not holder and redis.call('EXISTS', KEYS[2]) == 0 then "
	"redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) "
	"return {1, carried()} end "
	"if ARGV[3] == '0' or not redis.call('LPOS', KEYS[2], ARGV[1]) then "
	"redis.call('RPUSH', KEYS[2], ARGV[1]) end "
	"if not holder and hand_over(ARGV[1]) == ARGV[1] then "
	"return {1, carried()} end "
	"return {0}";

/* ARGV: our token. 1: it was ours. One script: whoever came between the look
 * and the hand-over would lose the lock to it. */
#define RL_GIVE_BACK \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end " \
	"if not hand_over('') then redis.call('DEL', KEYS[1]) end " \
	"return 1"

const char rl_fair_give_back[] = RL_HAND_OVER RL_GIVE_BACK;
const char rl_fair_leave[] =
	RL_HAND_OVER "redis.call('LREM', KEYS[2], 0, ARGV[1]) " RL_GIVE_BACK;
