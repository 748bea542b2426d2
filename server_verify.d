server_verify.o: harness/product/server_verify.c harness/base/memory.h \
  harness/product/server_state.h harness/scheduler/scheduler.h \
  harness/scheduler/attempt.h harness/base/random.h scenarios/strategy.h \
  lib/driver.h lib/redislock.h harness/scheduler/counting.h \
  harness/scheduler/client_run.h harness/scheduler/terms.h \
  harness/base/bytes.h harness/scheduler/intern.h \
  harness/scheduler/renaming.h harness/cluster/cluster.h \
  harness/base/error.h harness/base/machine.h harness/cluster/guardian.h \
  harness/cluster/keys.h harness/cluster/topology.h \
  harness/scheduler/free_replay.h harness/scheduler/actions.h \
  harness/scheduler/asker.h harness/scheduler/scripts.h \
  harness/scheduler/transitions.h harness/base/option.h \
  harness/base/format.h harness/scheduler/words.h \
  harness/scheduler/times.h harness/product/server_table.h

harness/base/memory.h:

harness/product/server_state.h:

harness/scheduler/scheduler.h:

harness/scheduler/attempt.h:

harness/base/random.h:

scenarios/strategy.h:

lib/driver.h:

lib/redislock.h:

harness/scheduler/counting.h:

harness/scheduler/client_run.h:

harness/scheduler/terms.h:

harness/base/bytes.h:

harness/scheduler/intern.h:

harness/scheduler/renaming.h:

harness/cluster/cluster.h:

harness/base/error.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

harness/cluster/topology.h:

harness/scheduler/free_replay.h:

harness/scheduler/actions.h:

harness/scheduler/asker.h:

harness/scheduler/scripts.h:

harness/scheduler/transitions.h:

harness/base/option.h:

harness/base/format.h:

harness/scheduler/words.h:

harness/scheduler/times.h:

harness/product/server_table.h:
