serializability.o: harness/explore/serializability.c \
  harness/base/memory.h harness/explore/dependencies.h \
  harness/explore/contents.h harness/explore/explore.h \
  harness/base/cases.h harness/base/error.h harness/base/format.h \
  harness/base/option.h scenarios/strategy.h lib/driver.h \
  lib/redislock.h harness/base/progress.h harness/cluster/cluster.h \
  harness/base/machine.h harness/cluster/guardian.h \
  harness/cluster/keys.h harness/cluster/topology.h harness/draw/draw.h \
  harness/race/race.h harness/scheduler/scheduler.h \
  harness/scheduler/attempt.h harness/base/random.h \
  harness/scheduler/counting.h harness/scheduler/client_run.h \
  harness/scheduler/terms.h harness/base/bytes.h \
  harness/scheduler/intern.h harness/scheduler/renaming.h \
  harness/scheduler/free_replay.h harness/scheduler/actions.h \
  harness/scheduler/asker.h harness/scheduler/scripts.h \
  harness/scheduler/transitions.h harness/scheduler/words.h \
  harness/scheduler/times.h harness/product/product.h \
  harness/product/client_view.h harness/product/client_table.h \
  harness/product/key_use.h harness/product/learning.h \
  harness/product/live.h harness/product/server_table.h \
  harness/explore/search.h harness/explore/graph.h \
  harness/explore/judge.h harness/explore/serial.h \
  harness/explore/mutants.h harness/explore/walks.h \
  harness/explore/why.h

harness/base/memory.h:

harness/explore/dependencies.h:

harness/explore/contents.h:

harness/explore/explore.h:

harness/base/cases.h:

harness/base/error.h:

harness/base/format.h:

harness/base/option.h:

scenarios/strategy.h:

lib/driver.h:

lib/redislock.h:

harness/base/progress.h:

harness/cluster/cluster.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

harness/cluster/topology.h:

harness/draw/draw.h:

harness/race/race.h:

harness/scheduler/scheduler.h:

harness/scheduler/attempt.h:

harness/base/random.h:

harness/scheduler/counting.h:

harness/scheduler/client_run.h:

harness/scheduler/terms.h:

harness/base/bytes.h:

harness/scheduler/intern.h:

harness/scheduler/renaming.h:

harness/scheduler/free_replay.h:

harness/scheduler/actions.h:

harness/scheduler/asker.h:

harness/scheduler/scripts.h:

harness/scheduler/transitions.h:

harness/scheduler/words.h:

harness/scheduler/times.h:

harness/product/product.h:

harness/product/client_view.h:

harness/product/client_table.h:

harness/product/key_use.h:

harness/product/learning.h:

harness/product/live.h:

harness/product/server_table.h:

harness/explore/search.h:

harness/explore/graph.h:

harness/explore/judge.h:

harness/explore/serial.h:

harness/explore/mutants.h:

harness/explore/walks.h:

harness/explore/why.h:
