# SPDX-License-Identifier: MIT
# Right: HSETNX with the job's number does nothing the second time.
for attempt in 1 2 3; do
	case $(redis-cli -u "$REDIS_URL" HSETNX jobs "$REDRACE_CLIENT" resize 2>/dev/null) in
	[0-9]*) exit 0 ;;
	esac
done
exit 1
