# SPDX-License-Identifier: MIT
# Wrong: who has found the list of an hour empty removes it, and the hour, when something may have been
# put there since.
redis() { redis-cli -u "$REDIS_URL" "$@"; }

case $1 in
put)
	redis RPUSH at:9 "call bob"
	redis ZADD hours 9 9
	;;
take)
	while job=$(redis LPOP at:9) && [ -n "$job" ]; do
		redis RPUSH jobs "$job"
	done
	if [ "$(redis LLEN at:9)" = 0 ]; then
		redis DEL at:9
		redis ZREM hours 9
	fi
	;;
esac >/dev/null
