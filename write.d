write.o: harness/race/write.c harness/base/memory.h harness/base/reply.h \
  lib/driver.h lib/redislock.h harness/base/text.h harness/race/parser.h \
  harness/race/race.h harness/base/error.h harness/cluster/cluster.h \
  harness/base/machine.h harness/cluster/guardian.h \
  harness/cluster/keys.h scenarios/strategy.h harness/cluster/topology.h

harness/base/memory.h:

harness/base/reply.h:

lib/driver.h:

lib/redislock.h:

harness/base/text.h:

harness/race/parser.h:

harness/race/race.h:

harness/base/error.h:

harness/cluster/cluster.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

scenarios/strategy.h:

harness/cluster/topology.h:
