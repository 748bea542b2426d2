# SPDX-License-Identifier: MIT
# Wrong: who leaves signals that the door is open, and takes the signal away at once: whoever has found
# the door closed, and waits for the signal only now, waits for ever.
redis() { redis-cli -u "$REDIS_URL" "$@" >/dev/null; }

leave="redis.call('LPUSH', KEYS[2], 1) redis.call('DEL', KEYS[1])"
until redis-cli -u "$REDIS_URL" SET door "$REDRACE_CLIENT" NX | grep -q OK; do
	redis BLPOP door:open 0
done
redis INCR visits
redis EVAL "$leave" 2 door door:open
redis DEL door:open
