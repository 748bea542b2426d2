/* SPDX-License-Identifier: MIT */
/* Is a stream that a program has begun one of commands to Redis? */
#include <ctype.h>
#include <string.h>

#include "outside.h"

/* A command's name is shorter; a line of Redis's is at most 64 KB, and a client's first one short. */
enum { NAME_MAX = 32, LINE_MAX = 8 * 1024 };

/* The commands of Redis and Valkey without those of modules, with a space before and after each: a
 * line that begins with another word is not worth asking the server for. */
static const char commands[] =
	" acl append asking auth bgrewriteaof bgsave bitcount bitfield bitfield_ro bitop bitpos "
	"blmove blmpop blpop brpop brpoplpush bzmpop bzpopmax bzpopmin client cluster command "
	"config copy dbsize debug decr decrby del delex delifeq digest discard dump echo eval "
	"eval_ro evalsha evalsha_ro exec exists expire expireat expiretime failover fcall "
	"fcall_ro flushall flushdb function geoadd geodist geohash geopos georadius georadius_ro "
	"georadiusbymember georadiusbymember_ro geosearch geosearchstore get getbit getdel getex "
	"getrange getset hdel hello hexists hexpire hexpireat hexpiretime hget hgetall hgetdel "
	"hgetex hincrby hincrbyfloat hkeys hlen hmget hmset hpersist hpexpire hpexpireat "
	"hpexpiretime hpttl hrandfield hscan hset hsetex hsetnx hstrlen httl hvals incr incrby "
	"incrbyfloat info keys lastsave latency lcs lindex linsert llen lmove lmpop lolwut lpop "
	"lpos lpush lpushx lrange lrem lset ltrim memory mget migrate module monitor move mset "
	"msetex msetnx multi object persist pexpire pexpireat pexpiretime pfadd pfcount pfdebug "
	"pfmerge pfselftest ping psetex psubscribe psync pttl publish pubsub punsubscribe quit "
	"randomkey readonly readwrite rename renamenx replconf replicaof reset restore restore- "
	"asking role rpop rpoplpush rpush rpushx sadd save scan scard script sdiff sdiffstore "
	"select set setbit setex setnx setrange shutdown sinter sintercard sinterstore sismember "
	"slaveof slowlog smembers smismember smove sort sort_ro spop spublish srandmember srem "
	"sscan ssubscribe strlen subscribe substr sunion sunionstore sunsubscribe swapdb sync "
	"time touch ttl type unlink unsubscribe unwatch vadd vcard vdim vemb vgetattr vinfo "
	"vismember vlinks vrandmember vrem vsetattr vsim wait waitaof watch xack xackdel xadd "
	"xautoclaim xclaim xdel xdelex xgroup xinfo xlen xpending xrange xread xreadgroup "
	"xrevrange xsetid xtrim zadd zcard zcount zdiff zdiffstore zincrby zinter zintercard "
	"zinterstore zlexcount zmpop zmscore zpopmax zpopmin zrandmember zrange zrangebylex "
	"zrangebyscore zrangestore zrank zrem zremrangebylex zremrangebyrank zremrangebyscore "
	"zrevrange zrevrangebylex zrevrangebyscore zrevrank zscan zscore zunion zunionstore ";

/* "GET / HTTP/1.1", and others that end with a version of their protocol. */
static bool ends_with_version(const char *line, size_t n)
{
	static const char *const protocols[] = { " HTTP/", " RTSP/", " SIP/", " ICAP/" };

	while (n > 0 && isspace((unsigned char)line[n - 1]))
		n--;
	while (n > 0 && (isdigit((unsigned char)line[n - 1]) || line[n - 1] == '.'))
		n--;
	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
		const size_t length = strlen(protocols[i]);

		if (n > length && strncmp(line + n - length, protocols[i], length) == 0)
			return true;
	}
	return false;
}

/* What the next command is, as far as it is there. */
static enum rr_first judge(const char *bytes, size_t n, size_t *n_harmless)
{
	const size_t first = bytes[0] == '"' || bytes[0] == '\'';
	const char *end = memchr(bytes, '\n', n);
	size_t length = 0, at = 1;

	/* "*3\r" begins an array of words; "*" is held until that is known. */
	if (bytes[0] == '*') {
		at += at < n && bytes[at] == '-';
		while (at < n && isdigit((unsigned char)bytes[at]))
			at++;
		if (at == n)
			return RR_FIRST_UNDECIDED;
		return bytes[at] == '\r' && isdigit((unsigned char)bytes[at - 1]) ? RR_FIRST_REDIS :
										    RR_FIRST_OTHER;
	}
	/* Or it is a name, which may be in quotes. */
	while (first + length < n && !isspace((unsigned char)bytes[first + length]) &&
	       !(first && bytes[first + length] == bytes[0]))
		length++;
	if (length > NAME_MAX || memchr(bytes + first, '\0', length))
		return RR_FIRST_OTHER;
	/* Is it a command's name, or may it become one? */
	const char *word = bytes + first;
	const bool is_whole = first + length < n;
	char sought[NAME_MAX + 3] = " ";

	for (size_t i = 0; i < length; i++)
		sought[1 + i] = (char)tolower((unsigned char)word[i]);
	if (is_whole)
		sought[1 + length] = ' ';
	if (strstr(commands, sought) == NULL)
		return RR_FIRST_OTHER;
	if (!end) {
		*n_harmless += n;
		return n < LINE_MAX ? RR_FIRST_UNDECIDED : RR_FIRST_OTHER;
	}
	*n_harmless += (size_t)(end - bytes);
	return ends_with_version(bytes, (size_t)(end - bytes)) ? RR_FIRST_OTHER : RR_FIRST_INLINE;
}

/* How many bytes of text there are up to the end of the line, or to that of all. */
static size_t text_of_line(const char *bytes, size_t n)
{
	size_t length = 0;

	while (length < n && bytes[length] != '\n' &&
	       (isprint((unsigned char)bytes[length]) || isspace((unsigned char)bytes[length])))
		length++;
	return length;
}

/* How long a whole line of text is at the beginning, without a version at its end; 0 = there is
 * none. */
static size_t plain_line(const char *bytes, size_t n)
{
	const size_t length = text_of_line(bytes, n);

	return length == n || bytes[length] != '\n' || ends_with_version(bytes, length) ?
		       0 :
		       length + 1;
}

enum rr_first rr_first_bytes(const char *bytes, size_t n, size_t *n_harmless)
{
	size_t at = 0, length, ignored;
	enum rr_first first;

	/* Redis skips empty lines. */
	while (at < n && isspace((unsigned char)bytes[at]))
		at++;
	*n_harmless = at;
	if (at == n)
		return RR_FIRST_UNDECIDED;
	first = judge(bytes + at, n - at, n_harmless);
	/* A line that is no command is an error for Redis, which goes on with the next one. */
	while (first == RR_FIRST_OTHER && (length = plain_line(bytes + at, n - at)) > 0 &&
	       at + length < n) {
		const enum rr_first next = judge(bytes + at + length, n - at - length, &ignored);

		at += length;
		if (next == RR_FIRST_REDIS || next == RR_FIRST_INLINE)
			first = RR_FIRST_INLINE;
	}
	/* Nothing but such lines, the last one perhaps in part: what comes next may be a command, until
	 * the server has answered. */
	if (first == RR_FIRST_OTHER && n < LINE_MAX &&
	    (plain_line(bytes + at, n - at) == n - at ||
	     text_of_line(bytes + at, n - at) == n - at)) {
		*n_harmless = n;
		return RR_FIRST_UNDECIDED;
	}
	return first;
}
