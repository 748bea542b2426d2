# SPDX-License-Identifier: MIT
# Right: a token is given back by whoever has struck the note of it.
redis() { redis-cli -u "$REDIS_URL" "$@"; }

if [ "$(redis HDEL noted token)" = 1 ]; then
	redis RPUSH tokens token
fi >/dev/null
