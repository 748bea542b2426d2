given.o: harness/check/given.c harness/check/given.h \
  harness/check/check.h harness/base/error.h harness/cluster/cluster.h \
  harness/base/machine.h harness/cluster/guardian.h \
  harness/cluster/keys.h lib/redislock.h scenarios/strategy.h \
  lib/driver.h harness/cluster/topology.h harness/draw/draw.h \
  harness/base/format.h harness/race/race.h harness/explore/explore.h \
  harness/base/cases.h harness/base/option.h harness/base/progress.h \
  harness/scheduler/scheduler.h harness/scheduler/attempt.h \
  harness/base/random.h harness/scheduler/counting.h \
  harness/scheduler/client_run.h harness/scheduler/terms.h \
  harness/base/bytes.h harness/scheduler/intern.h \
  harness/scheduler/renaming.h harness/scheduler/free_replay.h \
  harness/scheduler/actions.h harness/scheduler/asker.h \
  harness/scheduler/scripts.h harness/base/memory.h \
  harness/scheduler/transitions.h harness/scheduler/words.h \
  harness/scheduler/times.h harness/suite/suite.h harness/base/shard.h \
  harness/base/reply.h harness/base/resp.h harness/base/files.h

harness/check/given.h:

harness/check/check.h:

harness/base/error.h:

harness/cluster/cluster.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

lib/redislock.h:

scenarios/strategy.h:

lib/driver.h:

harness/cluster/topology.h:

harness/draw/draw.h:

harness/base/format.h:

harness/race/race.h:

harness/explore/explore.h:

harness/base/cases.h:

harness/base/option.h:

harness/base/progress.h:

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

harness/base/memory.h:

harness/scheduler/transitions.h:

harness/scheduler/words.h:

harness/scheduler/times.h:

harness/suite/suite.h:

harness/base/shard.h:

harness/base/reply.h:

harness/base/resp.h:

harness/base/files.h:
