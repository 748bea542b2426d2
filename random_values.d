random_values.o: harness/check/random_values.c \
  harness/check/random_values.h harness/check/instance.h \
  harness/check/endings.h harness/scheduler/scheduler.h \
  harness/scheduler/attempt.h harness/base/random.h scenarios/strategy.h \
  lib/driver.h lib/redislock.h harness/scheduler/counting.h \
  harness/scheduler/client_run.h harness/scheduler/terms.h \
  harness/base/bytes.h harness/scheduler/intern.h \
  harness/scheduler/renaming.h harness/cluster/cluster.h \
  harness/base/error.h harness/base/machine.h harness/cluster/guardian.h \
  harness/cluster/keys.h harness/cluster/topology.h \
  harness/scheduler/free_replay.h harness/scheduler/actions.h \
  harness/scheduler/asker.h harness/scheduler/scripts.h \
  harness/base/memory.h harness/scheduler/transitions.h \
  harness/base/option.h harness/base/format.h harness/scheduler/words.h \
  harness/scheduler/times.h harness/check/handover.h \
  harness/check/process_tree.h harness/check/program_clock.h \
  harness/check/program_page.h harness/check/names.h \
  harness/check/lane.h harness/check/opened.h harness/check/process.h \
  harness/check/endpoint.h harness/base/wire.h harness/base/resp.h \
  harness/check/peer.h harness/check/queues.h harness/check/sockets.h \
  harness/check/tokens.h harness/product/product.h \
  harness/product/client_view.h harness/product/client_table.h \
  harness/product/key_use.h harness/product/learning.h \
  harness/product/live.h harness/product/server_table.h \
  harness/base/reply.h

harness/check/random_values.h:

harness/check/instance.h:

harness/check/endings.h:

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

harness/base/memory.h:

harness/scheduler/transitions.h:

harness/base/option.h:

harness/base/format.h:

harness/scheduler/words.h:

harness/scheduler/times.h:

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

harness/check/tokens.h:

harness/product/product.h:

harness/product/client_view.h:

harness/product/client_table.h:

harness/product/key_use.h:

harness/product/learning.h:

harness/product/live.h:

harness/product/server_table.h:

harness/base/reply.h:
