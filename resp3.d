resp3.o: harness/check/resp3.c harness/check/resp3.h lib/driver.h \
  lib/redislock.h harness/base/reply.h harness/base/resp.h

harness/check/resp3.h:

lib/driver.h:

lib/redislock.h:

harness/base/reply.h:

harness/base/resp.h:
