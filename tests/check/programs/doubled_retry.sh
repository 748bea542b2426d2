# SPDX-License-Identifier: MIT
# Wrong: what has no reply is sent again, though it may have been done.
for attempt in 1 2 3; do
	case $(redis-cli -u "$REDIS_URL" RPUSH jobs resize 2>/dev/null) in
	[0-9]*) exit 0 ;;
	esac
done
exit 1
