# SPDX-License-Identifier: MIT
# Right: the hosts are a set.
redis-cli -u "$REDIS_URL" SADD hosts "$REDRACE_CLIENT"
