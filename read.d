read.o: harness/suite/read.c harness/base/files.h harness/base/error.h \
  harness/base/memory.h harness/base/text.h harness/suite/nodes.h \
  harness/suite/suite.h harness/base/cases.h harness/base/format.h \
  harness/base/machine.h harness/base/option.h scenarios/strategy.h \
  lib/driver.h lib/redislock.h harness/base/shard.h

harness/base/files.h:

harness/base/error.h:

harness/base/memory.h:

harness/base/text.h:

harness/suite/nodes.h:

harness/suite/suite.h:

harness/base/cases.h:

harness/base/format.h:

harness/base/machine.h:

harness/base/option.h:

scenarios/strategy.h:

lib/driver.h:

lib/redislock.h:

harness/base/shard.h:
