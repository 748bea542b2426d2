# SPDX-License-Identifier: MIT
# Right: a script removes the hour if its list is empty, and another one puts a job into both.
redis() { redis-cli -u "$REDIS_URL" "$@"; }

put="redis.call('RPUSH', KEYS[1], ARGV[1]) redis.call('ZADD', KEYS[2], 9, 9)"
sweep="if redis.call('LLEN', KEYS[1]) == 0 then redis.call('ZREM', KEYS[2], 9) end"
case $1 in
put)
	redis EVAL "$put" 2 at:9 hours "call bob"
	;;
take)
	while job=$(redis LPOP at:9) && [ -n "$job" ]; do
		redis RPUSH jobs "$job"
	done
	redis EVAL "$sweep" 2 at:9 hours
	;;
esac >/dev/null
