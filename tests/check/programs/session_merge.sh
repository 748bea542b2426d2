# SPDX-License-Identifier: MIT
# Wrong: the list of hosts is one string that is read, added to and written back.
hosts=$(redis-cli -u "$REDIS_URL" GET hosts)
redis-cli -u "$REDIS_URL" SET hosts "$hosts$REDRACE_CLIENT;"
