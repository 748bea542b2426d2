# SPDX-License-Identifier: MIT
# Right: a script gives the seat back only if it is still held by whoever asks.
redis() { redis-cli -u "$REDIS_URL" "$@"; }

give_back="if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
case $1 in
buy)
	[ "$(redis SET seat:12A "sold to $REDRACE_CLIENT" NX)" = OK ] || exit 1
	;;
hold)
	[ "$(redis SET seat:12A "held by $REDRACE_CLIENT" NX PX 3000)" = OK ] || exit 1
	redis EVAL "$give_back" 1 seat:12A "held by $REDRACE_CLIENT"
	;;
esac
