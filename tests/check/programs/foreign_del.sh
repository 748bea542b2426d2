# SPDX-License-Identifier: MIT
# Wrong: who gives a seat back that was held too long gives back what another has bought.
redis() { redis-cli -u "$REDIS_URL" "$@"; }

case $1 in
buy)
	[ "$(redis SET seat:12A "sold to $REDRACE_CLIENT" NX)" = OK ] || exit 1
	;;
hold)
	[ "$(redis SET seat:12A "held by $REDRACE_CLIENT" NX PX 3000)" = OK ] || exit 1
	redis DEL seat:12A
	;;
esac
