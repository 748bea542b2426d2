# SPDX-License-Identifier: MIT
# Wrong: who crashes between SETNX and EXPIRE leaves a lock that never ends.
[ "$(redis-cli -u "$REDIS_URL" SETNX lock 1)" = 1 ] || exit 1
redis-cli -u "$REDIS_URL" EXPIRE lock 60 >/dev/null
redis-cli -u "$REDIS_URL" INCR counter >/dev/null
redis-cli -u "$REDIS_URL" DEL lock >/dev/null
