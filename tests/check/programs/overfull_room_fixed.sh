# SPDX-License-Identifier: MIT
# Right: a script looks and takes the place, and who was let in gives it back.
redis() { redis-cli -u "$REDIS_URL" "$@"; }

enter="if redis.call('GET', KEYS[1]) == '1' then return 'full' end redis.call('INCR', KEYS[1]) return 'in'"
[ "$(redis EVAL "$enter" 1 room:taken)" = in ] || exit 1
redis RPUSH guests "$REDRACE_CLIENT" >/dev/null
redis DECR room:taken >/dev/null
