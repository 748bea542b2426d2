# SPDX-License-Identifier: MIT
# Right: a script counts and sets the end in one step.
hits=$(redis-cli -u "$REDIS_URL" EVAL "local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return n" 1 hits:ada 60)
[ "$hits" -le 5 ]
