# SPDX-License-Identifier: MIT
# Wrong: deployments are counted by GET and SET; of two at once one is lost.
count=$(redis-cli -u "$REDIS_URL" GET deployments)
redis-cli -u "$REDIS_URL" SET deployments $((count + 1))
