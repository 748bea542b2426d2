doctor.o: harness/doctor/doctor.c harness/doctor/doctor.h \
  harness/base/error.h harness/base/format.h harness/cluster/cluster.h \
  harness/base/machine.h harness/cluster/guardian.h \
  harness/cluster/keys.h lib/redislock.h scenarios/strategy.h \
  lib/driver.h harness/cluster/topology.h harness/base/array.h \
  harness/base/memory.h harness/base/cases.h harness/base/text.h \
  build/version.h

harness/doctor/doctor.h:

harness/base/error.h:

harness/base/format.h:

harness/cluster/cluster.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

lib/redislock.h:

scenarios/strategy.h:

lib/driver.h:

harness/cluster/topology.h:

harness/base/array.h:

harness/base/memory.h:

harness/base/cases.h:

harness/base/text.h:

build/version.h:
