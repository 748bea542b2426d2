# SPDX-License-Identifier: MIT
# Wrong: the token of who crashes is nowhere, and nobody is let in any more.
redis() { redis-cli -u "$REDIS_URL" "$@"; }

[ -n "$(redis LPOP tokens)" ] || exit 1
redis INCR orders >/dev/null
redis RPUSH tokens token >/dev/null
