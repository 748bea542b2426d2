#!/bin/sh
# SPDX-License-Identifier: MIT
# The documents' counter: read, add one, write. Two of these lose an update.
#
#	redrace check -- sh examples/check/counter.sh
value=$(redis-cli -u "$REDIS_URL" GET counter)
redis-cli -u "$REDIS_URL" SET counter $((value + 1))
