# SPDX-License-Identifier: MIT
# Wrong: who comes back late looks whether the token is still noted, and gives it back when somebody who
# takes it for left behind has done so: there are two.
redis() { redis-cli -u "$REDIS_URL" "$@"; }

if [ "$(redis HEXISTS noted token)" = 1 ]; then
	redis HDEL noted token
	redis RPUSH tokens token
fi >/dev/null
