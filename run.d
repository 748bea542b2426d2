run.o: harness/suite/run.c harness/base/memory.h harness/base/pool.h \
  harness/base/machine.h harness/base/processes.h harness/base/error.h \
  harness/suite/suite.h harness/base/cases.h harness/base/format.h \
  harness/base/option.h scenarios/strategy.h lib/driver.h \
  lib/redislock.h harness/base/shard.h

harness/base/memory.h:

harness/base/pool.h:

harness/base/machine.h:

harness/base/processes.h:

harness/base/error.h:

harness/suite/suite.h:

harness/base/cases.h:

harness/base/format.h:

harness/base/option.h:

scenarios/strategy.h:

lib/driver.h:

lib/redislock.h:

harness/base/shard.h:
