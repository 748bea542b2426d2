run_lanes.o: harness/scheduler/run_lanes.c harness/base/memory.h \
  harness/base/reply.h lib/driver.h lib/redislock.h \
  harness/scheduler/run.h harness/base/wire.h harness/base/resp.h \
  harness/scheduler/client_run.h harness/scheduler/terms.h \
  harness/base/bytes.h harness/scheduler/intern.h \
  harness/scheduler/fiber.h lib/link.h lib/command.h lib/parser.h \
  lib/route.h lib/address.h lib/tls.h

harness/base/memory.h:

harness/base/reply.h:

lib/driver.h:

lib/redislock.h:

harness/scheduler/run.h:

harness/base/wire.h:

harness/base/resp.h:

harness/scheduler/client_run.h:

harness/scheduler/terms.h:

harness/base/bytes.h:

harness/scheduler/intern.h:

harness/scheduler/fiber.h:

lib/link.h:

lib/command.h:

lib/parser.h:

lib/route.h:

lib/address.h:

lib/tls.h:
