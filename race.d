race.o: harness/race/race.c harness/base/files.h harness/base/error.h \
  harness/base/memory.h harness/base/text.h harness/race/parser.h \
  harness/race/race.h harness/cluster/cluster.h harness/base/machine.h \
  harness/cluster/guardian.h harness/cluster/keys.h lib/redislock.h \
  scenarios/strategy.h lib/driver.h harness/cluster/topology.h

harness/base/files.h:

harness/base/error.h:

harness/base/memory.h:

harness/base/text.h:

harness/race/parser.h:

harness/race/race.h:

harness/cluster/cluster.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

lib/redislock.h:

scenarios/strategy.h:

lib/driver.h:

harness/cluster/topology.h:
