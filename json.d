json.o: harness/draw/json.c harness/base/cases.h harness/base/error.h \
  harness/base/format.h harness/base/memory.h harness/base/text.h \
  harness/draw/model.h harness/draw/draw.h harness/race/race.h \
  harness/cluster/cluster.h harness/base/machine.h \
  harness/cluster/guardian.h harness/cluster/keys.h lib/redislock.h \
  scenarios/strategy.h lib/driver.h harness/cluster/topology.h

harness/base/cases.h:

harness/base/error.h:

harness/base/format.h:

harness/base/memory.h:

harness/base/text.h:

harness/draw/model.h:

harness/draw/draw.h:

harness/race/race.h:

harness/cluster/cluster.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

lib/redislock.h:

scenarios/strategy.h:

lib/driver.h:

harness/cluster/topology.h:
