# SPDX-License-Identifier: MIT
# Right: the signal stays until somebody takes it.
redis() { redis-cli -u "$REDIS_URL" "$@" >/dev/null; }

leave="redis.call('DEL', KEYS[2]) redis.call('LPUSH', KEYS[2], 1) redis.call('DEL', KEYS[1])"
until redis-cli -u "$REDIS_URL" SET door "$REDRACE_CLIENT" NX | grep -q OK; do
	redis BLPOP door:open 0
done
redis INCR visits
redis EVAL "$leave" 2 door door:open
