reply.o: harness/base/reply.c harness/base/reply.h lib/driver.h \
  lib/redislock.h harness/base/memory.h harness/base/text.h

harness/base/reply.h:

lib/driver.h:

lib/redislock.h:

harness/base/memory.h:

harness/base/text.h:
