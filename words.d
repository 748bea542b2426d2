words.o: harness/scheduler/words.c harness/scheduler/words.h \
  harness/base/error.h harness/scheduler/client_run.h \
  harness/scheduler/terms.h harness/base/bytes.h lib/driver.h \
  lib/redislock.h harness/scheduler/intern.h \
  harness/scheduler/transitions.h harness/base/option.h \
  harness/base/format.h scenarios/strategy.h harness/base/text.h

harness/scheduler/words.h:

harness/base/error.h:

harness/scheduler/client_run.h:

harness/scheduler/terms.h:

harness/base/bytes.h:

lib/driver.h:

lib/redislock.h:

harness/scheduler/intern.h:

harness/scheduler/transitions.h:

harness/base/option.h:

harness/base/format.h:

scenarios/strategy.h:

harness/base/text.h:
