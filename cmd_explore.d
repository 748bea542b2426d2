cmd_explore.o: harness/cmd_explore.c harness/base/machine.h \
  harness/base/text.h harness/commands.h harness/base/error.h \
  harness/base/option.h harness/base/format.h scenarios/strategy.h \
  lib/driver.h lib/redislock.h harness/report/report.h \
  harness/check/check.h harness/cluster/cluster.h \
  harness/cluster/guardian.h harness/cluster/keys.h \
  harness/cluster/topology.h harness/draw/draw.h harness/race/race.h \
  harness/explore/explore.h harness/base/cases.h harness/base/progress.h \
  harness/scheduler/scheduler.h harness/scheduler/attempt.h \
  harness/base/random.h harness/scheduler/counting.h \
  harness/scheduler/client_run.h harness/scheduler/terms.h \
  harness/base/bytes.h harness/scheduler/intern.h \
  harness/scheduler/renaming.h harness/scheduler/free_replay.h \
  harness/scheduler/actions.h harness/scheduler/asker.h \
  harness/scheduler/scripts.h harness/base/memory.h \
  harness/scheduler/transitions.h harness/scheduler/words.h \
  harness/scheduler/times.h harness/suite/suite.h harness/base/shard.h

harness/base/machine.h:

harness/base/text.h:

harness/commands.h:

harness/base/error.h:

harness/base/option.h:

harness/base/format.h:

scenarios/strategy.h:

lib/driver.h:

lib/redislock.h:

harness/report/report.h:

harness/check/check.h:

harness/cluster/cluster.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

harness/cluster/topology.h:

harness/draw/draw.h:

harness/race/race.h:

harness/explore/explore.h:

harness/base/cases.h:

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
