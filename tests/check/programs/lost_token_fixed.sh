# SPDX-License-Identifier: MIT
# Right: the lease of who crashes ends by itself.
redis() { redis-cli -u "$REDIS_URL" "$@"; }

[ "$(redis SET holder "$REDRACE_CLIENT" NX EX 10)" = OK ] || exit 1
redis INCR orders >/dev/null
redis DEL holder >/dev/null
