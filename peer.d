peer.o: harness/check/peer.c harness/check/peer.h \
  harness/check/process_tree.h harness/cluster/cluster.h \
  harness/base/error.h harness/base/machine.h harness/cluster/guardian.h \
  harness/cluster/keys.h lib/redislock.h scenarios/strategy.h \
  lib/driver.h harness/cluster/topology.h harness/check/program_clock.h \
  harness/check/program_page.h harness/check/sockets.h

harness/check/peer.h:

harness/check/process_tree.h:

harness/cluster/cluster.h:

harness/base/error.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

lib/redislock.h:

scenarios/strategy.h:

lib/driver.h:

harness/cluster/topology.h:

harness/check/program_clock.h:

harness/check/program_page.h:

harness/check/sockets.h:
