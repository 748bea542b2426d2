overview.o: harness/site/overview.c harness/site/pages.h \
  harness/base/files.h harness/base/error.h harness/claims/claims.h \
  harness/base/cases.h harness/base/format.h harness/base/shard.h \
  scenarios/claim.h harness/cluster/cluster.h harness/base/machine.h \
  harness/cluster/guardian.h harness/cluster/keys.h lib/redislock.h \
  scenarios/strategy.h lib/driver.h harness/cluster/topology.h \
  harness/matrix/matrix.h harness/explore/explore.h \
  harness/base/option.h harness/base/progress.h harness/draw/draw.h \
  harness/race/race.h harness/scheduler/scheduler.h \
  harness/scheduler/attempt.h harness/base/random.h \
  harness/scheduler/counting.h harness/scheduler/client_run.h \
  harness/scheduler/terms.h harness/base/bytes.h \
  harness/scheduler/intern.h harness/scheduler/renaming.h \
  harness/scheduler/free_replay.h harness/scheduler/actions.h \
  harness/scheduler/asker.h harness/scheduler/scripts.h \
  harness/base/memory.h harness/scheduler/transitions.h \
  harness/scheduler/words.h harness/scheduler/times.h \
  harness/site/site.h harness/base/text.h harness/report/report.h \
  harness/check/check.h harness/suite/suite.h

harness/site/pages.h:

harness/base/files.h:

harness/base/error.h:

harness/claims/claims.h:

harness/base/cases.h:

harness/base/format.h:

harness/base/shard.h:

scenarios/claim.h:

harness/cluster/cluster.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

lib/redislock.h:

scenarios/strategy.h:

lib/driver.h:

harness/cluster/topology.h:

harness/matrix/matrix.h:

harness/explore/explore.h:

harness/base/option.h:

harness/base/progress.h:

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

harness/base/memory.h:

harness/scheduler/transitions.h:

harness/scheduler/words.h:

harness/scheduler/times.h:

harness/site/site.h:

harness/base/text.h:

harness/report/report.h:

harness/check/check.h:

harness/suite/suite.h:
