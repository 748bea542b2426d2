judge.o: harness/suite/judge.c harness/base/memory.h \
  harness/suite/suite.h harness/base/cases.h harness/base/error.h \
  harness/base/format.h harness/base/machine.h harness/base/option.h \
  scenarios/strategy.h lib/driver.h lib/redislock.h harness/base/shard.h

harness/base/memory.h:

harness/suite/suite.h:

harness/base/cases.h:

harness/base/error.h:

harness/base/format.h:

harness/base/machine.h:

harness/base/option.h:

scenarios/strategy.h:

lib/driver.h:

lib/redislock.h:

harness/base/shard.h:
