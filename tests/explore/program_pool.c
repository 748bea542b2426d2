/* SPDX-License-Identifier: MIT */
/* What random programs are made of. */
#include "programs.h"

#define KEY PROGRAM_KEY
#define OTHER PROGRAM_OTHER

#define GET_SELF "redis.call('GET',KEYS[1])"

/* Not every one that writes says so by its reply, or by the keys that it names. */
#define INCR_SCRIPT "return {redis.call('INCR',KEYS[1])}"
#define READ_SCRIPT "return {" GET_SELF "}"
#define SILENT_SCRIPT "redis.call('INCR',KEYS[1]) return false"
#define ZERO_SCRIPT "redis.call('SET',KEYS[1],'1') return 0"
#define UNDONE_SCRIPT "redis.call('DEL',KEYS[1]) return {false}"
#define SWAP_SCRIPT                                                           \
	"if " GET_SELF "=='1' then return redis.call('SET',KEYS[1],'2') end " \
	"return false"
#define REMOVE_SCRIPT                                                     \
	"if " GET_SELF "=='1' then return redis.call('DEL',KEYS[1]) end " \
	"return 0"
#define COPY_SCRIPT                                                       \
	"local v=" GET_SELF " if v then redis.call('SET',KEYS[2],v) end " \
	"return v"
#define UNDECLARED_SCRIPT "return redis.call('INCR','b')"
#define LOCAL_CALL_SCRIPT "local call = redis.call call('APPEND',KEYS[1],'7') return 0"
#define INDIRECT_SCRIPT                                            \
	"local name = 'S'..'ET' local call = redis[('ca')..'ll'] " \
	"call(name,'a','9') return 1"
#define FAILING_SCRIPT "redis.call('INCR','a') return redis.call('LPUSH','a','x')"
#define LEASE_SCRIPT                                                         \
	"if redis.call('SET',KEYS[1],'1','NX','EX','50') then return 1 end " \
	"return redis.call('PTTL',KEYS[1])"
#define TAKE_SCRIPT "return redis.call('LPOP',KEYS[1])"
#define MOVE_SCRIPT                           \
	"local v=redis.call('RPOP',KEYS[1]) " \
	"if v then redis.call('RPUSH','m',v) end return 0"
#define SHOUT_SCRIPT "return redis.call('PUBLISH','c','s')"

#define EVAL_NONE(script)           \
	{                           \
		"EVAL", script, "0" \
	}
#define EVAL_ONE(script)                 \
	{                                \
		"EVAL", script, "1", KEY \
	}
#define EVAL_TWO(script)                        \
	{                                       \
		"EVAL", script, "2", KEY, OTHER \
	}

static const struct program_command string_begins[] = {
	{ { "SET", KEY, "1" } },
	{ { "SET", KEY, "5", "EX", "100" } },
	{ { "MSET", KEY, "1", OTHER, "2" } },
	{ { "INCR", KEY } },
};

static const struct program_command strings[] = {
	{ { "GET", KEY } },
	{ { "GET", KEY } },
	{ { "SET", KEY, "1" } },
	{ { "SET", KEY, "2" } },
	{ { "SETNX", KEY, "1" } },
	{ { "DEL", KEY } },
	{ { "INCR", KEY } },
	{ { "INCR", KEY } },
	{ { "SET", KEY, "3", "NX" } },
	{ { "SET", KEY, "4", "XX" } },
	{ { "SET", KEY, "6", "GET" } },
	{ { "SET", KEY, "8", "KEEPTTL" } },
	{ { "GETDEL", KEY } },
	{ { "GETSET", KEY, "5" } },
	{ { "APPEND", KEY, "1" } },
	{ { "SETRANGE", KEY, "2", "x" } },
	{ { "MSETNX", KEY, "1", OTHER, "2" } },
	{ { "MGET", KEY, OTHER } },
	{ { "EXISTS", KEY, OTHER } },
	{ { "DEL", KEY, OTHER } },
	{ { "RENAME", KEY, OTHER } },
	{ { "RENAMENX", KEY, OTHER } },
	{ { "COPY", KEY, OTHER } },
	{ { "COPY", KEY, OTHER, "REPLACE" } },
	{ { "DBSIZE" } },
	{ { "FLUSHDB" } },
	{ { "SELECT", "1" } },
	{ { "SELECT", "0" } },
	{ { "SWAPDB", "0", "1" } },
	{ { "MOVE", KEY, "1" } },
	{ { "SETBIT", KEY, "3", "1" } },
	{ { "INCRBY", KEY, "x" } },
};

static const struct program_command scripts[] = {
	{ EVAL_ONE(INCR_SCRIPT) },        { EVAL_ONE(READ_SCRIPT) },
	{ EVAL_ONE(SILENT_SCRIPT) },      { EVAL_ONE(ZERO_SCRIPT) },
	{ EVAL_ONE(UNDONE_SCRIPT) },      { EVAL_ONE(SWAP_SCRIPT) },
	{ EVAL_ONE(REMOVE_SCRIPT) },      { EVAL_TWO(COPY_SCRIPT) },
	{ EVAL_NONE(UNDECLARED_SCRIPT) }, { EVAL_ONE(LOCAL_CALL_SCRIPT) },
	{ EVAL_NONE(INDIRECT_SCRIPT) },   { EVAL_NONE(FAILING_SCRIPT) },
	{ EVAL_ONE(LEASE_SCRIPT) },       { { "GET", KEY } },
	{ { "SET", KEY, "1" } },          { { "PTTL", KEY } },
};

static const struct program_command list_begins[] = {
	{ { "RPUSH", KEY, "1" } },
	{ { "RPUSH", KEY, "7", "8" } },
	{ { "LPUSH", KEY, "3" } },
};

static const struct program_command lists[] = {
	{ { "RPUSH", KEY, "1" } },
	{ { "RPUSH", KEY, "1", "2" } },
	{ { "LPUSH", KEY, "3" } },
	{ { "LPUSH", KEY, "4" } },
	{ { "RPUSH", KEY, "5" } },
	{ { "RPUSHX", KEY, "6" } },
	{ { "LPOP", KEY } },
	{ { "RPOP", KEY } },
	{ { "LLEN", KEY } },
	{ { "LRANGE", KEY, "0", "-1" } },
	{ { "LREM", KEY, "0", "1" } },
	{ { "LMOVE", KEY, OTHER, "LEFT", "LEFT" } },
	{ { "LTRIM", KEY, "0", "0" } },
	{ { "LSET", KEY, "0", "9" } },
	{ { "LINSERT", KEY, "BEFORE", "1", "0" } },
	{ { "RPOPLPUSH", KEY, OTHER } },
	{ { "SORT", KEY } },
	{ EVAL_ONE(TAKE_SCRIPT) },
	{ EVAL_ONE(MOVE_SCRIPT) },
	{ { "DEL", KEY } },
	{ { "TYPE", KEY } },
};

static const struct program_command pops[] = {
	{ { "RPUSH", KEY, "1" } },
	{ { "RPUSH", KEY, "5", "2" } },
	{ { "LPUSH", KEY, "3" } },
	{ { "LPOP", KEY } },
	{ { "LRANGE", KEY, "0", "-1" } },
	{ { "BLPOP", KEY, "0" } },
	{ { "BLPOP", KEY, OTHER, "0" } },
	{ { "BRPOP", KEY, "0" } },
	{ { "BLPOP", KEY, "1" } },
	{ { "BLPOP", KEY, OTHER, "0.25" } },
	{ { "BRPOP", KEY, "50" } },
	{ { "BRPOPLPUSH", KEY, OTHER, "0" } },
	{ { "BLMOVE", KEY, OTHER, "RIGHT", "LEFT", "30" } },
	{ { "BLMPOP", "0", "2", KEY, OTHER, "LEFT" } },
	{ { "BLMPOP", "20", "1", KEY, "RIGHT", "COUNT", "2" } },
	{ { "BZPOPMIN", "z", "10" } },
	{ { "ZADD", "z", "1", "p" } },
	{ { "XADD", "x", "1-1", "f", "1" } },
	{ { "XREAD", "BLOCK", "5000", "STREAMS", "x", "0" } },
	{ { "XREAD", "BLOCK", "0", "COUNT", "1", "STREAMS", "x", "0" } },
	{ { "DEL", KEY } },
	{ { "SLEEP", "10" } },
	{ { "EXPIRE", KEY, "15" } },
};

static const struct program_command hash_begins[] = {
	{ { "HSET", KEY, "f", "1" } },
	{ { "HSET", KEY, "f", "1", "g", "2" } },
};

static const struct program_command hashes[] = {
	{ { "HSET", KEY, "f", "1" } },
	{ { "HSET", KEY, "g", "2", "f", "3" } },
	{ { "HSETNX", KEY, "f", "4" } },
	{ { "HGET", KEY, "f" } },
	{ { "HDEL", KEY, "f" } },
	{ { "HDEL", KEY, "f", "g" } },
	{ { "HINCRBY", KEY, "f", "1" } },
	{ { "HGETALL", KEY } },
	{ { "HLEN", KEY } },
	{ { "HEXISTS", KEY, "g" } },
	{ { "HMGET", KEY, "f", "g" } },
	{ { "HKEYS", KEY } },
	{ { "HSTRLEN", KEY, "f" } },
	{ { "HINCRBYFLOAT", KEY, "g", "0.5" } },
	{ { "DEL", KEY } },
	{ { "EXPIRE", KEY, "100" } },
	{ { "HVALS", KEY } },
	{ { "RENAME", KEY, OTHER } },
};

/* At most three members: the order of more depends on the size that their table has,
 * which no command tells, and which an SADD in vain can change. */
static const struct program_command set_begins[] = {
	{ { "SADD", KEY, "1" } },
	{ { "SADD", KEY, "1", "p" } },
};

static const struct program_command sets[] = {
	{ { "SADD", KEY, "1" } },
	{ { "SADD", KEY, "2", "1" } },
	{ { "SADD", KEY, "p" } },
	{ { "SREM", KEY, "1" } },
	{ { "SREM", KEY, "p", "2" } },
	{ { "SCARD", KEY } },
	{ { "SISMEMBER", KEY, "p" } },
	{ { "SMISMEMBER", KEY, "1", "2" } },
	{ { "SMOVE", KEY, OTHER, "1" } },
	{ { "SINTERSTORE", "s", KEY, OTHER } },
	{ { "SUNIONSTORE", OTHER, "s", "t" } },
	{ { "SDIFF", KEY, OTHER } },
	{ { "SMEMBERS", KEY } },
	{ { "SINTERCARD", "2", KEY, OTHER } },
	{ { "DEL", KEY } },
	{ { "SMEMBERS", KEY } },
};

static const struct program_command zset_begins[] = {
	{ { "ZADD", KEY, "1", "p", "2", "q" } },
	{ { "ZADD", KEY, "1", "p" } },
};

static const struct program_command zsets[] = {
	{ { "ZADD", KEY, "1", "p" } },
	{ { "ZADD", KEY, "NX", "3", "p" } },
	{ { "ZADD", KEY, "XX", "GT", "CH", "2", "p" } },
	{ { "ZADD", KEY, "INCR", "1", "q" } },
	{ { "ZINCRBY", KEY, "1", "p" } },
	{ { "ZREM", KEY, "p" } },
	{ { "ZSCORE", KEY, "p" } },
	{ { "ZRANK", KEY, "q" } },
	{ { "ZCARD", KEY } },
	{ { "ZCOUNT", KEY, "1", "2" } },
	{ { "ZPOPMIN", KEY } },
	{ { "ZPOPMAX", KEY } },
	{ { "ZRANGE", KEY, "0", "-1", "WITHSCORES" } },
	{ { "ZRANGEBYSCORE", KEY, "-inf", "1" } },
	{ { "ZREMRANGEBYSCORE", KEY, "-inf", "1" } },
	{ { "ZRANGESTORE", OTHER, KEY, "0", "0" } },
	{ { "ZUNIONSTORE", OTHER, "2", "z", "y" } },
	{ { "DEL", KEY } },
};

static const struct program_command stream_begins[] = {
	{ { "XADD", KEY, "1-1", "f", "1" } },
};

static const struct program_command streams[] = {
	{ { "XADD", KEY, "1-1", "f", "1" } },
	{ { "XADD", KEY, "1-2", "f", "2" } },
	{ { "XADD", KEY, "2-*", "f", "3" } },
	{ { "XADD", KEY, "3-1", "f", "4" } },
	{ { "XADD", KEY, "NOMKSTREAM", "4-1", "f", "5" } },
	{ { "XADD", KEY, "MAXLEN", "1", "5-1", "f", "6" } },
	{ { "XDEL", KEY, "1-1" } },
	{ { "XDEL", KEY, "1-2", "3-1" } },
	{ { "XTRIM", KEY, "MAXLEN", "1" } },
	{ { "XLEN", KEY } },
	{ { "XRANGE", KEY, "-", "+" } },
	{ { "XREVRANGE", KEY, "+", "-" } },
	{ { "XREAD", "COUNT", "1", "STREAMS", KEY, "1-1" } },
	{ { "XSETID", KEY, "9-1" } },
	{ { "DEL", KEY } },
	{ { "XLEN", KEY } },
};

/* When an entry was delivered is a part of what is stored. */
static const struct program_command group_begins[] = {
	{ { "XGROUP", "CREATE", KEY, "g", "0", "MKSTREAM" } },
};

static const struct program_command groups[] = {
	{ { "XADD", KEY, "1-1", "f", "1" } },
	{ { "XADD", KEY, "1-2", "f", "2" } },
	{ { "XGROUP", "CREATE", KEY, "g", "0" } },
	{ { "XDEL", KEY, "1-1" } },
	{ { "XREADGROUP", "GROUP", "g", "me", "COUNT", "1", "STREAMS", KEY, ">" } },
	{ { "XREADGROUP", "GROUP", "g", "you", "STREAMS", KEY, ">" } },
	{ { "XREADGROUP", "GROUP", "g", "you", "STREAMS", KEY, "0" } },
	{ { "XACK", KEY, "g", "1-1" } },
	{ { "XPENDING", KEY, "g" } },
	{ { "XCLAIM", KEY, "g", "me", "0", "1-1" } },
	{ { "SLEEP", "1" } },
	{ { "XAUTOCLAIM", KEY, "g", "me", "500", "0" } },
};

static const struct program_command clock_streams[] = {
	{ { "XADD", KEY, "*", "f", "1" } },
	{ { "XADD", KEY, "*", "f", "2" } },
	{ { "XADD", KEY, "MAXLEN", "1", "*", "f", "6" } },
	{ { "XADD", KEY, "1-1", "f", "1" } },
	{ { "SLEEP", "1" } },
	{ { "SLEEP", "2" } },
	{ { "XLEN", KEY } },
	{ { "XRANGE", KEY, "-", "+" } },
	{ { "XTRIM", KEY, "MINID", "1900000000500" } },
	{ { "TIME" } },
	{ { "EXPIREAT", KEY, "1900000003" } },
	{ { "DEL", KEY } },
	{ EVAL_NONE("return redis.call('TIME')[1]") },
	{ { "XADD", KEY, "NOMKSTREAM", "*", "f", "5" } },
};

static const struct program_command life_begins[] = {
	{ { "SET", KEY, "5", "EX", "100" } },
	{ { "SETEX", KEY, "30", "4" } },
	{ { "SET", KEY, "1" } },
	{ { "PSETEX", KEY, "1500", "4" } },
};

static const struct program_command lives[] = {
	{ { "EXPIRE", KEY, "100" } },
	{ { "EXPIRE", KEY, "200", "NX" } },
	{ { "EXPIRE", KEY, "60", "LT" } },
	{ { "EXPIRE", KEY, "300", "GT" } },
	{ { "PEXPIRE", KEY, "2500" } },
	{ { "PERSIST", KEY } },
	{ { "EXPIRE", KEY, "-1" } },
	{ { "TTL", KEY } },
	{ { "PTTL", KEY } },
	{ { "SETEX", KEY, "50", "1" } },
	{ { "PSETEX", KEY, "700", "2" } },
	{ { "GETEX", KEY, "EX", "40" } },
	{ { "GETEX", KEY, "PERSIST" } },
	{ { "SET", KEY, "8", "KEEPTTL" } },
	{ { "SET", KEY, "9" } },
	{ { "SET", KEY, "3", "NX", "PX", "900" } },
	{ { "GET", KEY } },
	{ { "EXISTS", KEY } },
	{ { "SLEEP", "1" } },
	{ { "SLEEP", "45" } },
	{ { "RENAME", KEY, OTHER } },
	{ { "COPY", KEY, OTHER } },
	{ EVAL_ONE(LEASE_SCRIPT) },
	{ { "INCR", KEY } },
	{ { "DBSIZE" } },
	{ { "READ", "clock" } },
};

static const struct program_command dates[] = {
	{ { "EXPIREAT", KEY, "1900000050" } },
	{ { "EXPIREAT", KEY, "1900000002" } },
	{ { "EXPIRE", KEY, "20" } },
	{ { "PEXPIREAT", KEY, "1900000001500", "NX" } },
	{ { "EXPIREAT", KEY, "1800000000" } },
	{ { "EXPIRETIME", KEY } },
	{ { "PEXPIRETIME", KEY } },
	{ { "SET", KEY, "1", "EXAT", "1900000010" } },
	{ { "GETEX", KEY, "PXAT", "1900000030000" } },
	{ { "TTL", KEY } },
	{ { "SLEEP", "1" } },
	{ { "SLEEP", "5" } },
	{ { "TIME" } },
	{ { "GET", KEY } },
	{ { "PERSIST", KEY } },
	{ { "DEL", KEY } },
};

static const struct program_command transactions[] = {
	{ { "WATCH", KEY } },
	{ { "WATCH", KEY, OTHER } },
	{ { "WATCH", KEY } },
	{ { "UNWATCH" } },
	{ { "MULTI" } },
	{ { "MULTI" } },
	{ { "EXEC" } },
	{ { "EXEC" } },
	{ { "DISCARD" } },
	{ { "RESET" } },
	{ { "GET", KEY } },
	{ { "SET", KEY, "1" } },
	{ { "SET", KEY, "2" } },
	{ { "INCR", KEY } },
	{ { "DEL", KEY } },
	{ { "APPEND", KEY, "2" } },
	{ { "GET" } },
	{ { "NOSUCHCOMMAND" } },
	{ { "LPUSH", KEY, "1" } },
	{ { "EXPIRE", KEY, "10" } },
	{ { "SLEEP", "15" } },
	{ { "SELECT", "1" } },
	{ { "SELECT", "0" } },
	{ { "FLUSHALL" } },
	{ { "PUBLISH", "c", "1" } },
	{ EVAL_ONE(INCR_SCRIPT) },
};

static const struct program_command message_begins[] = {
	{ { "SUBSCRIBE", "c" } },
	{ { "SUBSCRIBE", "d" } },
};

static const struct program_command messages[] = {
	{ { "SUBSCRIBE", "c" } },
	{ { "SUBSCRIBE", "d" } },
	{ { "SUBSCRIBE", "c" } },
	{ { "PSUBSCRIBE", "?" } },
	{ { "UNSUBSCRIBE", "c" } },
	{ { "PUBLISH", "c", "1" } },
	{ { "PUBLISH", "c", "2" } },
	{ { "PUBLISH", "d", "3" } },
	{ { "LISTEN", "10" } },
	{ { "LISTEN", "10" } },
	{ { "LISTEN", "20" } },
	{ { "PUBSUB", "NUMSUB", "c" } },
	{ EVAL_NONE(SHOUT_SCRIPT) },
	{ { "GET", "a" } },
	{ { "INCR", "a" } },
	{ { "WATCH", "a" } },
	{ { "MULTI" } },
	{ { "EXEC" } },
};

static const char *const string_keys[] = { "a", "a", "b", NULL };
static const char *const list_keys[] = { "l", "l", "m", NULL };
static const char *const hash_keys[] = { "h", "h", "i", NULL };
static const char *const set_keys[] = { "s", "s", "t", NULL };
static const char *const zset_keys[] = { "z", "z", "y", NULL };
static const char *const stream_keys[] = { "x", "x", "w", NULL };

#define POOL(name, keys, begins, commands, is_absolute)                                 \
	{                                                                               \
		name, keys, commands, begins, sizeof(commands) / sizeof((commands)[0]), \
			sizeof(begins) / sizeof((begins)[0]), is_absolute               \
	}

const struct program_pool program_pools[] = {
	POOL("strings", string_keys, string_begins, strings, false),
	POOL("scripts", string_keys, string_begins, scripts, false),
	POOL("lists", list_keys, list_begins, lists, false),
	POOL("pops", list_keys, list_begins, pops, false),
	POOL("hashes", hash_keys, hash_begins, hashes, false),
	POOL("sets", set_keys, set_begins, sets, false),
	POOL("zsets", zset_keys, zset_begins, zsets, false),
	POOL("streams", stream_keys, stream_begins, streams, false),
	POOL("groups", stream_keys, group_begins, groups, true),
	POOL("clock streams", stream_keys, stream_begins, clock_streams, true),
	POOL("lives", string_keys, life_begins, lives, false),
	POOL("dates", string_keys, life_begins, dates, true),
	POOL("transactions", string_keys, string_begins, transactions, false),
	POOL("messages", string_keys, message_begins, messages, false),
};
const size_t n_program_pools = sizeof(program_pools) / sizeof(program_pools[0]);
