finding_names.o: harness/check/finding_names.c harness/base/memory.h \
  harness/base/text.h harness/check/verdict.h harness/check/apps.h \
  harness/base/files.h harness/base/error.h harness/base/marks.h \
  harness/check/check.h harness/cluster/cluster.h harness/base/machine.h \
  harness/cluster/guardian.h harness/cluster/keys.h lib/redislock.h \
  scenarios/strategy.h lib/driver.h harness/cluster/topology.h \
  harness/draw/draw.h harness/base/format.h harness/race/race.h \
  harness/explore/explore.h harness/base/cases.h harness/base/option.h \
  harness/base/progress.h harness/scheduler/scheduler.h \
  harness/scheduler/attempt.h harness/base/random.h \
  harness/scheduler/counting.h harness/scheduler/client_run.h \
  harness/scheduler/terms.h harness/base/bytes.h \
  harness/scheduler/intern.h harness/scheduler/renaming.h \
  harness/scheduler/free_replay.h harness/scheduler/actions.h \
  harness/scheduler/asker.h harness/scheduler/scripts.h \
  harness/scheduler/transitions.h harness/scheduler/words.h \
  harness/scheduler/times.h harness/suite/suite.h harness/base/shard.h \
  harness/check/programs.h harness/check/instance.h \
  harness/check/endings.h harness/check/handover.h \
  harness/check/process_tree.h harness/check/program_clock.h \
  harness/check/program_page.h harness/check/names.h \
  harness/check/lane.h harness/check/opened.h harness/check/process.h \
  harness/check/endpoint.h harness/base/wire.h harness/base/resp.h \
  harness/check/peer.h harness/check/queues.h harness/check/sockets.h \
  harness/check/kept.h harness/check/given.h

harness/base/memory.h:

harness/base/text.h:

harness/check/verdict.h:

harness/check/apps.h:

harness/base/files.h:

harness/base/error.h:

harness/base/marks.h:

harness/check/check.h:

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

harness/scheduler/transitions.h:

harness/scheduler/words.h:

harness/scheduler/times.h:

harness/suite/suite.h:

harness/base/shard.h:

harness/check/programs.h:

harness/check/instance.h:

harness/check/endings.h:

harness/check/handover.h:

harness/check/process_tree.h:

harness/check/program_clock.h:

harness/check/program_page.h:

harness/check/names.h:

harness/check/lane.h:

harness/check/opened.h:

harness/check/process.h:

harness/check/endpoint.h:

harness/base/wire.h:

harness/base/resp.h:

harness/check/peer.h:

harness/check/queues.h:

harness/check/sockets.h:

harness/check/kept.h:

harness/check/given.h:
