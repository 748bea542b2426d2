# SPDX-License-Identifier: MIT
# Wrong: who finds that there is room takes a place, and who finds none gives one back all the same.
redis() { redis-cli -u "$REDIS_URL" "$@"; }

seated=no
if [ "$(redis GET room:taken)" != 1 ]; then
	redis INCR room:taken
	seated=yes
	redis RPUSH guests "$REDRACE_CLIENT"
fi >/dev/null
[ "$(redis GET room:taken)" = 0 ] || redis DECR room:taken >/dev/null
[ $seated = yes ]
