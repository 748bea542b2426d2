guided.o: harness/play/guided.c harness/play/guided.h \
  harness/play/environment.h harness/base/error.h \
  harness/cluster/cluster.h harness/base/machine.h \
  harness/cluster/guardian.h harness/cluster/keys.h lib/redislock.h \
  scenarios/strategy.h lib/driver.h harness/cluster/topology.h \
  harness/race/race.h harness/play/play.h harness/play/recorder.h \
  harness/scheduler/scheduler.h harness/scheduler/attempt.h \
  harness/base/random.h harness/scheduler/counting.h \
  harness/scheduler/client_run.h harness/scheduler/terms.h \
  harness/base/bytes.h harness/scheduler/intern.h \
  harness/scheduler/renaming.h harness/scheduler/free_replay.h \
  harness/scheduler/actions.h harness/scheduler/asker.h \
  harness/scheduler/scripts.h harness/base/memory.h \
  harness/scheduler/transitions.h harness/base/option.h \
  harness/base/format.h harness/scheduler/words.h \
  harness/scheduler/times.h harness/product/product.h \
  harness/product/client_view.h harness/product/client_table.h \
  harness/product/key_use.h harness/product/learning.h \
  harness/product/live.h harness/product/server_table.h \
  harness/base/files.h harness/base/reply.h harness/base/text.h \
  lib/link.h lib/command.h lib/parser.h lib/route.h lib/address.h \
  lib/tls.h

harness/play/guided.h:

harness/play/environment.h:

harness/base/error.h:

harness/cluster/cluster.h:

harness/base/machine.h:

harness/cluster/guardian.h:

harness/cluster/keys.h:

lib/redislock.h:

scenarios/strategy.h:

lib/driver.h:

harness/cluster/topology.h:

harness/race/race.h:

harness/play/play.h:

harness/play/recorder.h:

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

harness/base/option.h:

harness/base/format.h:

harness/scheduler/words.h:

harness/scheduler/times.h:

harness/product/product.h:

harness/product/client_view.h:

harness/product/client_table.h:

harness/product/key_use.h:

harness/product/learning.h:

harness/product/live.h:

harness/product/server_table.h:

harness/base/files.h:

harness/base/reply.h:

harness/base/text.h:

lib/link.h:

lib/command.h:

lib/parser.h:

lib/route.h:

lib/address.h:

lib/tls.h:
