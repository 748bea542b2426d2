# SPDX-License-Identifier: MIT
# Wrong: who crashes between INCR and EXPIRE leaves a limit that never ends.
hits=$(redis-cli -u "$REDIS_URL" INCR hits:ada)
[ "$hits" -gt 1 ] || redis-cli -u "$REDIS_URL" EXPIRE hits:ada 60
[ "$hits" -le 5 ]
