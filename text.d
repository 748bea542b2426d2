text.o: harness/draw/text.c harness/base/text.h harness/draw/sheet.h \
  harness/draw/model.h harness/draw/draw.h harness/base/format.h \
  harness/base/error.h harness/race/race.h harness/cluster/cluster.h \
  harness/base/machine.h harness/cluster/guardian.h \
  harness/cluster/keys.h lib/redislock.h scenarios/strategy.h \
  lib/driver.h harness/cluster/topology.h harness/draw/pen.h

harness/base/text.h:

harness/draw/sheet.h:

harness/draw/model.h:

harness/draw/draw.h:

harness/base/format.h:

harness/base/error.h:

harness/race/race.h:

harness/cluster/cluster.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

lib/redislock.h:

scenarios/strategy.h:

lib/driver.h:

harness/cluster/topology.h:

harness/draw/pen.h:
