# SPDX-License-Identifier: MIT
# Right: INCR counts a deployment in one command.
redis-cli -u "$REDIS_URL" INCR deployments
