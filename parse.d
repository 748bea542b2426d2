parse.o: harness/race/parse.c harness/base/array.h harness/base/memory.h \
  harness/base/resp.h lib/driver.h lib/redislock.h harness/base/text.h \
  harness/race/parser.h harness/race/race.h harness/base/error.h \
  harness/cluster/cluster.h harness/base/machine.h \
  harness/cluster/guardian.h harness/cluster/keys.h scenarios/strategy.h \
  harness/cluster/topology.h

harness/base/array.h:

harness/base/memory.h:

harness/base/resp.h:

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
