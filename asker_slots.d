asker_slots.o: harness/scheduler/asker_slots.c \
  harness/scheduler/asker_state.h harness/scheduler/asker.h \
  harness/scheduler/scripts.h lib/driver.h lib/redislock.h \
  harness/scheduler/terms.h harness/base/bytes.h \
  harness/scheduler/intern.h harness/cluster/cluster.h \
  harness/base/error.h harness/base/machine.h harness/cluster/guardian.h \
  harness/cluster/keys.h scenarios/strategy.h harness/cluster/topology.h \
  harness/base/reply.h lib/link.h lib/command.h lib/parser.h lib/route.h \
  lib/address.h lib/tls.h

harness/scheduler/asker_state.h:

harness/scheduler/asker.h:

harness/scheduler/scripts.h:

lib/driver.h:

lib/redislock.h:

harness/scheduler/terms.h:

harness/base/bytes.h:

harness/scheduler/intern.h:

harness/cluster/cluster.h:

harness/base/error.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

scenarios/strategy.h:

harness/cluster/topology.h:

harness/base/reply.h:

lib/link.h:

lib/command.h:

lib/parser.h:

lib/route.h:

lib/address.h:

lib/tls.h:
