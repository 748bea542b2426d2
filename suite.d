suite.o: harness/suite/suite.c harness/suite/suite.h harness/base/cases.h \
  harness/base/error.h harness/base/format.h harness/base/machine.h \
  harness/base/option.h scenarios/strategy.h lib/driver.h \
  lib/redislock.h harness/base/shard.h harness/base/memory.h \
  harness/base/pool.h harness/base/processes.h harness/base/text.h

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

harness/base/memory.h:

harness/base/pool.h:

harness/base/processes.h:

harness/base/text.h:
