terms.o: harness/scheduler/terms.c harness/scheduler/terms.h \
  harness/base/bytes.h lib/driver.h lib/redislock.h \
  harness/scheduler/intern.h harness/base/array.h harness/base/memory.h \
  harness/base/random.h harness/base/reply.h

harness/scheduler/terms.h:

harness/base/bytes.h:

lib/driver.h:

lib/redislock.h:

harness/scheduler/intern.h:

harness/base/array.h:

harness/base/memory.h:

harness/base/random.h:

harness/base/reply.h:
